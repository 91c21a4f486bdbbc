/**
 * One message as a node, and the list of them: grouping, day lines, and what only this reader sees.
 *
 * A message is drawn anew whenever it changes; nothing of a message lives only in the DOM, except which spoilers are open.
 */

import { avatar, el, icon, link } from "/static/dom.js";
import { components, fileCard, hex, picture } from "/static/components.js";
import { inlineMarkdown, markdown } from "/static/markdown.js";

export const FLAG = { SUPPRESS_EMBEDS: 1 << 2, EPHEMERAL: 1 << 6, LOADING: 1 << 7, V2: 1 << 15 };
const GROUP_MS = 7 * 60 * 1000; // Discord starts a new group after seven minutes

/** Whether `message` continues the group of `before`: same author, soon after, nothing above it to say. */
export function continues(before, message, context) {
  if (!before || before.author?.id !== message.author?.id || usedCommand(message, context) || message.referenced_message) return false;
  if ((before.flags & FLAG.EPHEMERAL) !== (message.flags & FLAG.EPHEMERAL)) return false;
  return Date.parse(message.timestamp) - Date.parse(before.timestamp) < GROUP_MS && sameDay(before.timestamp, message.timestamp);
}

export function sameDay(one, other) {
  return new Date(one).toDateString() === new Date(other).toDateString();
}

/** `{user, name}` of the slash command that this message answers first, or null: a follow-up does not say it again. */
function usedCommand(message, context) {
  const metadata = message.interaction_metadata;
  if (context.followsUp(message)) return null;
  const name = metadata?.name ?? message.interaction?.name;
  const user = metadata?.user ?? message.interaction?.user;
  return user && name && (metadata?.type ?? 2) === 2 ? { user, name } : null;
}

export function displayName(user, context) {
  return context.person(user?.id)?.name ?? user?.global_name ?? user?.username ?? "?";
}

export function renderMessage(message, context) {
  const view = { message, context };
  const flags = message.flags ?? 0;
  const name = displayName(message.author, context);
  const colour = context.person(message.author?.id)?.avatar ?? null;
  const mentioned = (message.mentions ?? []).some((user) => user.id === context.me.id);
  const classes = ["message", flags & FLAG.EPHEMERAL ? "ephemeral" : "", mentioned ? "mentioned" : ""].filter(Boolean).join(" ");
  return el(
    "article",
    { class: classes, dataset: { testid: "message", id: message.id, author: message.author?.id ?? "" }, "aria-label": name },
    above(message, context),
    avatar(message.author?.id, name, colour),
    el(
      "div",
      { class: "message-head" },
      el("span", { class: "author", style: message.author?.bot ? {} : { "--name": colour ?? "inherit" } }, name),
      message.author?.bot ? el("span", { class: "app-tag" }, context.word("app")) : null,
      el(
        "time",
        { class: "when", datetime: message.timestamp, title: fullTime(message.timestamp, context.locale) },
        headTime(message.timestamp, context),
      ),
    ),
    el(
      "time",
      { class: "when-short", "aria-hidden": "true" },
      new Intl.DateTimeFormat(context.locale, { timeStyle: "short" }).format(new Date(message.timestamp)),
    ),
    el(
      "div",
      { class: "message-body" },
      body(message, flags, view, name),
      failure(message, context),
      flags & FLAG.EPHEMERAL ? ephemeralNotice(message, context) : null,
    ),
  );
}

function body(message, flags, view, name) {
  const { context } = view;
  if (flags & FLAG.LOADING) return el("div", { class: "thinking" }, dots(), context.word("thinking", { name }));
  const parts = [];
  if (message.type === 18)
    parts.push(el("div", { class: "markup system" }, `${name} ${context.word("startedThread")}: `, el("strong", {}, message.content)));
  else if (message.content) parts.push(el("div", { class: "markup" }, markdown(message.content, context)));
  const v2 = Boolean(flags & FLAG.V2);
  // Discord shows a file that an embed refers to in that embed only
  const inEmbeds = new Set((message.embeds ?? []).flatMap((each) => [each.image?.url, each.thumbnail?.url]));
  if (!v2) parts.push((message.attachments ?? []).filter((each) => !inEmbeds.has(each.url)).map((each) => attachment(each, view)));
  if (!(flags & FLAG.SUPPRESS_EMBEDS)) parts.push((message.embeds ?? []).map((each) => embed(each, view)));
  parts.push(el("div", { class: v2 ? "components v2" : "components" }, components(message.components, view)));
  if (message.thread) parts.push(threadChip(message.thread, context));
  if (message.edited_timestamp) {
    const edited = el("span", { class: "edited", title: fullTime(message.edited_timestamp, context.locale) }, context.word("edited"));
    const last = message.content ? parts[0].lastElementChild : null;
    if (last?.classList.contains("paragraph")) last.append(edited);
    else parts.push(edited);
  }
  return parts;
}

/** The line over a message: who used which command, or what it replies to. */
function above(message, context) {
  const used = usedCommand(message, context);
  if (used) {
    const name = displayName(used.user, context);
    return el(
      "div",
      { class: "above" },
      el("span", { class: "elbow" }),
      avatar(used.user.id, name, context.person(used.user.id)?.avatar, "tiny"),
      el("strong", {}, name),
      el("span", {}, context.word("used")),
      el("span", { class: "command-name" }, `/${used.name}`),
    );
  }
  const reply = message.referenced_message;
  if (!reply) return null;
  const name = displayName(reply.author, context);
  return el(
    "div",
    { class: "above" },
    el("span", { class: "elbow" }),
    avatar(reply.author?.id, name, context.person(reply.author?.id)?.avatar, "tiny"),
    el("strong", {}, name),
    el("span", { class: "excerpt" }, inlineMarkdown((reply.content ?? "").split("\n", 1)[0].slice(0, 200), context)),
  );
}

function failure(message, context) {
  const text = context.failures.get(message.id);
  return text ? el("div", { class: "failure", role: "alert", dataset: { testid: "failed" } }, text) : null;
}

function ephemeralNotice(message, context) {
  const dismiss = () => context.dismiss(message.id);
  return el(
    "div",
    { class: "only-you", dataset: { testid: "ephemeral" } },
    icon("eye"),
    el("span", {}, context.word("onlyYou")),
    el("span", { "aria-hidden": "true" }, "•"),
    el("button", { type: "button", class: "as-link", dataset: { testid: "dismiss" }, on: { click: dismiss } }, context.word("dismiss")),
  );
}

function threadChip(thread, context) {
  const open = () => context.openChannel(thread.id);
  return el("button", { type: "button", class: "thread-chip", on: { click: open } }, icon("thread"), el("strong", {}, thread.name));
}

export function dots() {
  return el("span", { class: "dots", "aria-hidden": "true" }, el("i"), el("i"), el("i"));
}

function attachment(each, view) {
  const type = each.content_type ?? "";
  const spoiler = /^SPOILER_/.test(each.filename ?? "");
  if (type.startsWith("image/") || /\.(png|jpe?g|gif|webp|svg)$/i.test(each.filename ?? "")) {
    return el("div", { class: "attachment" }, picture(each.url, each.description ?? each.filename, view, spoiler, each));
  }
  const card = fileCard(each.filename, each.size, each.url, spoiler, view);
  return el(
    "div",
    { class: "attachment" },
    card,
    type.startsWith("audio/") ? el("audio", { controls: true, src: each.url, "aria-label": each.description ?? each.filename }) : null,
  );
}

function embed(each, view) {
  const { context } = view;
  const bar = each.color === null || each.color === undefined ? {} : { "--bar": hex(each.color) };
  const small = (icon, extra) => (icon ? picture(icon, "", view, false, { width: 20, height: 20 }) : extra);
  const footer = [each.footer?.text, each.timestamp ? headTime(each.timestamp, context) : null].filter(Boolean).join(" • ");
  return el(
    "section",
    { class: "embed", style: bar, dataset: { testid: "embed" } },
    el(
      "div",
      { class: "embed-main" },
      each.author
        ? el(
            "div",
            { class: "embed-author" },
            small(each.author.icon_url, null),
            each.author.url ? link(each.author.url, each.author.name) : each.author.name,
          )
        : null,
      each.title
        ? el(
            "div",
            { class: "embed-title" },
            each.url ? link(each.url, inlineMarkdown(each.title, context)) : inlineMarkdown(each.title, context),
          )
        : null,
      each.description ? el("div", { class: "markup" }, markdown(each.description, context)) : null,
      fields(each.fields ?? [], context),
    ),
    each.thumbnail ? el("div", { class: "thumbnail" }, picture(each.thumbnail.url, each.thumbnail.description, view)) : null,
    each.image
      ? el(
          "div",
          { class: "embed-image" },
          picture(each.image.url, each.image.description ?? altOf(each.image.url, view), view, false, each.image),
        )
      : null,
    footer ? el("div", { class: "embed-footer" }, small(each.footer?.icon_url, null), el("span", {}, footer)) : null,
  );
}

/** An embed's picture has no alt text of its own; the upload that it shows may have one. */
function altOf(url, { message }) {
  return (message.attachments ?? []).find((each) => url === each.url || url === `attachment://${each.filename}`)?.description ?? "";
}

/** Inline fields stand side by side, at most three in a row. */
function fields(all, context) {
  if (all.length === 0) return null;
  const rows = [];
  for (const field of all) {
    const last = rows.at(-1);
    if (field.inline && last?.[0].inline && last.length < 3) last.push(field);
    else rows.push([field]);
  }
  return el(
    "div",
    { class: "fields" },
    rows.flatMap((row) =>
      row.map((field) =>
        el(
          "div",
          { class: `field span-${field.inline ? row.length : 1}` },
          el("div", { class: "field-name" }, inlineMarkdown(field.name, context)),
          el("div", { class: "markup" }, markdown(field.value, context)),
        ),
      ),
    ),
  );
}

export function fullTime(iso, locale) {
  return new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" }).format(new Date(iso));
}

function headTime(iso, context) {
  const at = new Date(iso);
  if (sameDay(at, Date.now()))
    return context.word("today", { time: new Intl.DateTimeFormat(context.locale, { timeStyle: "short" }).format(at) });
  return new Intl.DateTimeFormat(context.locale, { dateStyle: "short", timeStyle: "short" }).format(at);
}

export function dayLine(iso, locale) {
  return el(
    "div",
    { class: "day-line", role: "separator" },
    el("span", {}, new Intl.DateTimeFormat(locale, { dateStyle: "long" }).format(new Date(iso))),
  );
}
