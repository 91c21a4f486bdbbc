/**
 * The sandbox's page: one person's view of a loopback Discord, over the WebSocket of docs/sandbox.md.
 *
 * This module owns the state and the socket; the others draw. It holds no rule of Discord: what may be pressed or sent is
 * the sandbox's to refuse, and a refusal is shown where it was caused.
 *
 * `context`, handed to everything that draws: who is looking (`me`, `locale`, `word`), what things are called (`person`,
 * `userName`, `channelName`), and what can be done (`act`, `openChannel`, `dismiss`).
 */

import { avatar, el, icon } from "/static/dom.js";
import { Composer } from "/static/composer.js";
import { tick } from "/static/markdown.js";
import { continues, dayLine, displayName, dots, FLAG, renderMessage, sameDay } from "/static/messages.js";
import { openModal } from "/static/modal.js";
import { Sidebar, Switcher } from "/static/people.js";
import { drawStatus } from "/static/status.js";
import { word } from "/static/words.js";

const BACKOFF_MS = [300, 700, 1500, 3000, 5000]; // the last one repeats
const NEAR_BOTTOM_PX = 80;
const BOT_COLOUR = "#6a71ea";

const at = (id) => document.getElementById(id);
const address = new URL(location.href);
const pending = new Map(); // nonce -> what to do with its answers
const messages = new Map(); // of the open channel, by id, oldest first
const nodes = new Map();
const unread = new Set();
let socket = null;
let attempt = 0;
let personId = address.searchParams.get("person");
let modal = null;
let status = null;
let nonces = 0;
let stuck = true; // the newest message is in view and stays so

const context = {
  me: { id: "", name: "", locale: navigator.language, role: "learner" },
  people: [],
  channels: [],
  commands: [],
  bot: { id: "", name: "Studyhall", avatar: null },
  channelId: address.searchParams.get("channel"),
  failures: new Map(), // message id -> what went wrong with the last press
  chosen: new Map(), // "message:custom_id" -> values, until the message changes
  get locale() {
    return context.me.locale;
  },
  word: (key, values) => word(context.me.locale, key, values),
  person: (id) => (id === context.bot.id ? context.bot : context.people.find((each) => each.id === id)),
  userName: (id) => context.person(id)?.name ?? id,
  channelName: (id) => context.channels.find((each) => each.id === id)?.name ?? "…",
  followsUp: (message) => {
    const used = message.interaction_metadata?.id;
    if (used === undefined) return false;
    const first = [...messages.values()].find((each) => each.interaction_metadata?.id === used);
    return first !== undefined && first.id !== message.id;
  },
  isPending: (key) => [...pending.values()].some((each) => each.key === key),
  openChannel,
  act,
  dismiss: (id) => {
    act("dismiss", { message_id: id });
    removeMessage(id);
  },
  grown: () => stuck && toBottom(),
};

const composer = new Composer(context);
const sidebar = new Sidebar(context, { list: at("channels"), panel: at("sidebar"), menu: at("menu"), backdrop: at("backdrop") }, unread);
const switcher = new Switcher(context, at("switcher"), { become, speak });

// --- the socket -----------------------------------------------------------------------------------------------------------

/** `served`: the sandbox answered just before. If it then refuses this person, it has never heard of them. */
function connect(served = false) {
  const url = new URL("/sandbox/ws", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  if (personId) url.searchParams.set("person", personId);
  const mine = new WebSocket(url);
  let greeted = false;
  socket = mine;
  mine.addEventListener("message", (event) => {
    if (mine !== socket) return;
    const data = JSON.parse(event.data);
    greeted ||= data.t === "hello";
    RECEIVERS[data.t]?.(data);
  });
  mine.addEventListener("close", () => {
    if (mine !== socket) return;
    for (const nonce of [...pending.keys()]) settle(nonce, "failed", null);
    if (!greeted && served) personId = null; // then whoever the sandbox offers
    banner(context.word("reconnecting"));
    RECEIVERS.status({ status: { ...status, bot: "offline" } });
    setTimeout(() => again(mine), BACKOFF_MS[Math.min(attempt, BACKOFF_MS.length - 1)] * (0.8 + 0.4 * Math.random()));
    attempt += 1;
  });
}

/** Connect once more, having looked whether there is a sandbox at all. */
async function again(mine) {
  const served = await fetch("/", { method: "HEAD" }).then(
    (answer) => answer.ok,
    () => false,
  );
  if (mine === socket) connect(served);
}

/** Send what this person did. Returns its nonce, or null when there is no connection: then nothing was sent. */
function act(kind, fields, meta = {}) {
  if (socket?.readyState !== WebSocket.OPEN) return null;
  nonces += 1;
  const nonce = `${kind}-${nonces}`;
  socket.send(JSON.stringify({ t: kind, nonce, ...fields }));
  if (["slash", "press", "select", "submit", "complete", "say"].includes(kind)) pending.set(nonce, { kind, ...meta });
  if (meta.messageId !== undefined) {
    context.failures.delete(meta.messageId);
    redraw(meta.messageId);
  }
  if (meta.command !== undefined) drawSending();
  return nonce;
}

/** The end of something this person did: `state` is done or failed, `text` what the sandbox said about it. */
function settle(nonce, state, text) {
  const meta = pending.get(nonce);
  if (meta === undefined) return;
  if (meta.command !== undefined && state === "failed") {
    meta.failed = text ?? `${context.word("failed")} – ${context.word("notResponding")}`;
    meta.key = undefined;
  } else pending.delete(nonce);
  meta.settled?.(state, text);
  if (meta.messageId !== undefined) {
    if (state === "failed") context.failures.set(meta.messageId, text ?? context.word("failed"));
    redraw(meta.messageId);
  }
  if (meta.command !== undefined) drawSending();
}

const RECEIVERS = {
  hello(data) {
    attempt = 0;
    banner(null);
    personId = data.person.id;
    Object.assign(context, { me: data.person, people: data.people, channels: data.channels, commands: data.commands });
    context.bot = {
      id: data.bot?.id ?? "",
      name: data.bot?.global_name ?? data.bot?.name ?? data.bot?.username ?? "Studyhall",
      avatar: BOT_COLOUR,
    };
    status = data.status;
    document.documentElement.lang = context.locale;
    const known = context.channels.some((each) => each.id === context.channelId);
    openChannel(known ? context.channelId : data.open);
  },
  history(data) {
    if (data.channel_id !== context.channelId) return;
    messages.clear();
    for (const message of data.messages) messages.set(message.id, message);
    drawAll();
    toBottom();
  },
  message(data) {
    if (data.channel_id !== context.channelId) {
      if (data.op === "create" && data.message.author?.id !== context.me.id) unread.add(data.channel_id);
      sidebar.draw();
    } else if (data.op === "delete") removeMessage(data.message.id);
    else changed(data.message);
  },
  interaction(data) {
    if (data.state !== "pending") settle(data.nonce, data.state, null);
  },
  suggestions(data) {
    pending.get(data.nonce)?.suggestions?.(data.choices);
    pending.delete(data.nonce);
  },
  modal(data) {
    modal?.close();
    const opened = openModal(data, context, () => {
      if (modal === opened) modal = null;
    });
    modal = opened;
  },
  channel(data) {
    const others = context.channels.filter((each) => each.id !== data.channel.id);
    const before = context.channels.findIndex((each) => each.id === data.channel.id);
    if (data.op !== "delete") others.splice(before < 0 ? others.length : before, 0, data.channel);
    context.channels = others;
    if (data.op === "delete" && data.channel.id === context.channelId && others.length > 0) openChannel(others[0].id);
    else drawFrame();
  },
  commands(data) {
    context.commands = data.commands;
    composer.refresh();
  },
  status(data) {
    status = data.status;
    drawStatus(at("status"), status, context.bot.name, context.word);
  },
  refused(data) {
    if (pending.has(data.nonce)) settle(data.nonce, "failed", data.message);
    else composer.say(data.message);
  },
};

// --- what this person does ------------------------------------------------------------------------------------------------

function openChannel(id) {
  if (!id) return;
  const moved = id !== context.channelId;
  context.channelId = id;
  unread.delete(id);
  if (moved) {
    messages.clear();
    drawAll();
  }
  act("open", { channel_id: id });
  address.searchParams.set("person", personId ?? "");
  address.searchParams.set("channel", id);
  history.replaceState(null, "", address);
  sidebar.close();
  drawFrame();
}

/** Be another person: a new socket, the same channel. */
function become(id) {
  if (id === personId) return;
  personId = id;
  attempt = 0;
  modal?.close();
  pending.clear();
  context.failures.clear();
  context.chosen.clear();
  messages.clear();
  drawAll();
  const old = socket;
  connect();
  old?.close();
}

/** Change this person's language; the bot learns of it with the next interaction, as on Discord. */
function speak(locale) {
  act("locale", { locale });
  context.me = { ...context.me, locale };
  context.people = context.people.map((each) => (each.id === context.me.id ? context.me : each));
  document.documentElement.lang = locale;
  drawFrame();
  drawAll();
}

// --- drawing --------------------------------------------------------------------------------------------------------------

function drawFrame() {
  const channel = context.channels.find((each) => each.id === context.channelId);
  at("title").replaceChildren(icon(channel?.type >= 10 && channel?.type <= 12 ? "thread" : "hash"), el("span", {}, channel?.name ?? ""));
  at("topic").textContent = channel?.topic ?? "";
  document.title = `#${channel?.name ?? ""} – Studyhall`;
  at("log").setAttribute("aria-label", `#${channel?.name ?? ""}`);
  at("skip").textContent = context.word("skip");
  at("jump").replaceChildren(context.word("newMessages"), icon("down"));
  sidebar.draw();
  switcher.draw();
  composer.refresh();
  drawStatus(at("status"), status, context.bot.name, context.word);
  drawSending();
  drawEmpty();
}

/** Draw the whole channel: nothing of it is new, so nothing is announced. */
function drawAll() {
  at("log").setAttribute("aria-busy", "true");
  nodes.clear();
  for (const message of messages.values()) nodes.set(message.id, renderMessage(message, context));
  arrange();
  requestAnimationFrame(() => at("log").removeAttribute("aria-busy"));
}

/** Put the nodes in order, with day lines and groups; a node that is in its place stays there. */
function arrange() {
  const wanted = [];
  let before = null;
  for (const message of messages.values()) {
    if (before === null ? !sameDay(message.timestamp, Date.now()) : !sameDay(before.timestamp, message.timestamp)) {
      wanted.push(dayLine(message.timestamp, context.locale));
    }
    const node = nodes.get(message.id);
    node.classList.toggle("grouped", continues(before, message, context));
    wanted.push(node);
    before = message;
  }
  const list = at("messages");
  for (const old of [...list.children]) if (!wanted.includes(old)) old.remove();
  wanted.forEach((node, index) => list.children[index] !== node && list.insertBefore(node, list.children[index] ?? null));
  drawEmpty();
}

function drawEmpty() {
  const empty = at("empty");
  empty.hidden = messages.size > 0 || context.me.id === "";
  if (empty.hidden) return;
  const channel = `#${context.channelName(context.channelId)}`;
  empty.replaceChildren(
    el("span", { class: "empty-mark" }, icon("slash")),
    el("h2", {}, context.word("emptyTitle", { channel })),
    el("p", {}, context.word("emptyHint")),
  );
}

function changed(message) {
  const old = messages.get(message.id);
  for (const key of [...context.chosen.keys()]) if (key.startsWith(`${message.id}:`)) context.chosen.delete(key);
  context.failures.delete(message.id);
  messages.set(message.id, message);
  redraw(message.id, old !== undefined && (old.flags & FLAG.LOADING) !== 0);
  if (old === undefined) {
    if (!stuck && message.author?.id !== context.me.id) at("jump").hidden = false;
    if (message.author?.id === context.me.id) {
      const said = [...pending].find(([, meta]) => meta.kind === "say");
      if (said !== undefined) pending.delete(said[0]);
      toBottom();
    }
  }
}

/**
 * Draw one message anew; the focus stays on the same control, and the newest message stays in view.
 *
 * The list is a live region: it announces a message that is new to it. The node of a message therefore stays, and says by
 * itself whether what changes in it is worth announcing (an awaited answer is, an edit is not).
 */
function redraw(id, announce = false) {
  const message = messages.get(id);
  if (message === undefined) return;
  const old = nodes.get(id);
  const customId = old?.contains(document.activeElement) ? document.activeElement.dataset.customId : undefined;
  const fresh = renderMessage(message, context);
  const node = old?.isConnected ? old : fresh;
  if (node === old) {
    keepSpoilers(old, fresh);
    old.setAttribute("aria-live", announce ? "polite" : "off");
    old.className = fresh.className;
    old.replaceChildren(...fresh.childNodes);
  }
  nodes.set(id, node);
  arrange();
  if (customId !== undefined) [...node.querySelectorAll("[data-custom-id]")].find((each) => each.dataset.customId === customId)?.focus();
  if (stuck) toBottom();
}

/** Spoilers that were open stay open while a message is edited. */
function keepSpoilers(old, node) {
  const shown = new Set([...old.querySelectorAll(".spoiler.shown")].map((each) => each.textContent));
  for (const each of node.querySelectorAll(".spoiler")) if (shown.has(each.textContent)) each.click();
}

function removeMessage(id) {
  messages.delete(id);
  nodes.delete(id);
  context.failures.delete(id);
  arrange();
}

/** The commands that were sent and have no answer yet, or failed; they belong to no message. */
function drawSending() {
  const rows = [...pending].filter(([, meta]) => meta.command !== undefined);
  at("sending").replaceChildren(
    ...rows.map(([nonce, meta]) => {
      const forget = () => {
        pending.delete(nonce);
        drawSending();
      };
      return el(
        "article",
        { class: `message local${meta.failed ? " ephemeral" : ""}`, dataset: { testid: "sending" } },
        el(
          "div",
          { class: "above" },
          el("span", { class: "elbow" }),
          avatar(context.me.id, context.me.name, context.me.avatar, "tiny"),
          el("strong", {}, displayName(context.me, context)),
          el("span", {}, context.word("used")),
          el("span", { class: "command-name" }, `/${meta.command}`),
        ),
        avatar(context.bot.id, context.bot.name, context.bot.avatar),
        el(
          "div",
          { class: "message-head" },
          el("span", { class: "author" }, context.bot.name),
          el("span", { class: "app-tag" }, context.word("app")),
        ),
        meta.failed
          ? el(
              "div",
              { class: "message-body" },
              el("div", { class: "failure", role: "alert", dataset: { testid: "failed" } }, meta.failed),
              el(
                "div",
                { class: "only-you" },
                icon("eye"),
                el("span", {}, context.word("onlyYou")),
                el("span", { "aria-hidden": "true" }, "•"),
                el("button", { type: "button", class: "as-link", on: { click: forget } }, context.word("dismiss")),
              ),
            )
          : el("div", { class: "message-body" }, el("div", { class: "thinking" }, dots(), context.word("sending"))),
      );
    }),
  );
  if (rows.length > 0) toBottom();
}

function banner(text) {
  at("banner").hidden = text === null;
  at("banner").replaceChildren(...(text === null ? [] : [el("span", { class: "spinner", "aria-hidden": "true" }), text]));
}

function toBottom() {
  at("log").scrollTop = at("log").scrollHeight;
  stuck = true;
  at("jump").hidden = true;
}

// --- start ----------------------------------------------------------------------------------------------------------------

at("composer-area").append(composer.node);
at("jump").addEventListener("click", toBottom);
at("skip").addEventListener("click", (event) => {
  event.preventDefault();
  composer.focus();
});
at("log").addEventListener("scroll", () => {
  const log = at("log");
  stuck = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_BOTTOM_PX;
  if (stuck) at("jump").hidden = true;
});
new ResizeObserver(() => stuck && toBottom()).observe(at("log"));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && document.activeElement === document.body) composer.focus();
});
setInterval(() => tick(document, Date.now()), 1000);
connect();
