/**
 * Discord's Markdown as DOM nodes. Untrusted text in, nodes out: no string is ever parsed as HTML, and only http(s)
 * addresses become links. What is not Markdown of Discord (tables, images, raw HTML) stays the text that it is.
 *
 * `context` answers what a mention is called: `{locale, userName(id), channelName(id), openChannel(id)}`.
 */

import { el, link, safeUrl } from "/static/dom.js";

const MAX_DEPTH = 12; // deeper nesting than this is shown as text; Discord's own limit is of that order

/** Block Markdown: headings, lists, quotes, code blocks, and inline Markdown inside. */
export function markdown(text, context) {
  const fragment = document.createDocumentFragment();
  blocks(String(text ?? "").replace(/\r\n?/g, "\n"), fragment, context, 0);
  return fragment;
}

/** Inline Markdown only, for titles, labels and the like. */
export function inlineMarkdown(text, context) {
  const fragment = document.createDocumentFragment();
  inline(String(text ?? ""), fragment, context, 0);
  return fragment;
}

const FENCE = /^```(?:([A-Za-z0-9_+\-.#]+)\n)?\n*([^]*?)\n*```\n?/;
const HEADING = /^(#{1,3}) +(.+?)(?: +#+)?$/;
const ITEM = /^( *)([-*]|\d{1,9}\.) +(.*)$/;
const QUOTE = /^> |^>$/;

function blocks(text, parent, context, depth) {
  let paragraph = [];
  const add = (node) => {
    const gap = paragraph.at(-1)?.trim() === "";
    flush();
    if (gap && parent.hasChildNodes()) node.classList.add("gap");
    return parent.appendChild(node);
  };
  const flush = () => {
    const gap = paragraph.length > 0 && paragraph[0] === "" && parent.hasChildNodes();
    const content = paragraph.join("\n").replace(/^\n+|\n+$/g, "");
    if (content !== "") inline(content, parent.appendChild(el("div", { class: gap ? "paragraph gap" : "paragraph" })), context, depth);
    paragraph = [];
  };
  for (let rest = text; rest !== "";) {
    const line = rest.split("\n", 1)[0];
    const after = rest.slice(line.length + 1);
    if (depth < MAX_DEPTH && line.startsWith(">>> ")) {
      blocks(rest.slice(4), add(el("blockquote")), context, depth + 1);
      return;
    }
    if (depth < MAX_DEPTH && QUOTE.test(line)) {
      const quoted = run(rest, (each) => QUOTE.test(each));
      blocks(quoted.map((each) => each.slice(2)).join("\n"), add(el("blockquote")), context, depth + 1);
      rest = rest.slice(quoted.join("\n").length + 1);
      continue;
    }
    const at = line.indexOf("```");
    const fence = at < 0 ? null : FENCE.exec(rest.slice(at));
    if (fence !== null && fence[2].trim() !== "") {
      if (line.slice(0, at).trim() !== "") paragraph.push(line.slice(0, at));
      add(el("pre", { class: "code-block", tabindex: "0", "data-language": fence[1] }, el("code", {}, fence[2])));
      rest = rest.slice(at + fence[0].length);
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading !== null) {
      // h1 and h2 are the page's own; a message's headings start below them
      const level = heading[1].length;
      inline(heading[2], add(el(`h${level + 2}`, { class: `size-${level}` })), context, depth);
    } else if (line.startsWith("-# ") && line.length > 3) {
      inline(line.slice(3), add(el("small", { class: "subtext" })), context, depth);
    } else if (ITEM.test(line)) {
      const taken = run(rest, (each) => ITEM.test(each) || /^ {2,}\S/.test(each));
      list(taken, add(el("div", { class: "list" })), context, depth);
      rest = rest.slice(taken.join("\n").length + 1);
      continue;
    } else {
      paragraph.push(line);
    }
    rest = after;
  }
  flush();
}

/** The lines at the start of `text` for which `holds`. */
function run(text, holds) {
  const all = text.split("\n");
  const end = all.findIndex((line) => !holds(line));
  return end < 0 ? all : all.slice(0, end);
}

/** Nested lists from indented items; a deeper indent opens a list inside the item before it. */
function list(rows, parent, context, depth) {
  const items = [];
  for (const row of rows) {
    const item = ITEM.exec(row);
    if (item === null) items[items.length - 1].text += `\n${row.trim()}`;
    else items.push({ indent: item[1].length, number: item[2].length > 1 ? parseInt(item[2], 10) : null, text: item[3] });
  }
  const open = []; // [{indent, node}], outermost first
  for (const item of items) {
    while (open.length > 0 && item.indent < open[open.length - 1].indent) open.pop();
    const kind = item.number === null ? "UL" : "OL";
    if (open.length > 0 && item.indent < open.at(-1).indent + 2 && open.at(-1).node.tagName !== kind) open.pop(); // bullets end, numbers begin
    const top = open.at(-1);
    if (top === undefined || top.node.tagName !== kind || item.indent >= top.indent + 2) {
      const node = kind === "UL" ? el("ul") : el("ol", { start: item.number });
      (top?.node.lastElementChild ?? top?.node ?? parent).append(node);
      open.push({ indent: item.indent, node });
    }
    inline(item.text, open[open.length - 1].node.appendChild(el("li")), context, depth);
  }
}

// Each rule: what it looks like and which node it becomes; the first that matches wins. No pattern can match one text in two
// ways: backtracking stays polynomial, and no message can make the browser hang.
const SPAN = (tag) => (match, context, depth) => wrap(el(tag), match[1], context, depth);
const RULES = [
  { name: "escape", pattern: /^\\([^0-9A-Za-z\s])/, node: (match) => match[1] },
  { name: "code2", pattern: /^``([^]+?)``(?!`)/, node: (match) => el("code", {}, match[1].trim()) },
  { name: "code", pattern: /^`([^`]+)`(?!`)/, node: (match) => el("code", {}, match[1]) },
  { name: "strongEm", pattern: /^\*\*\*(?=\S)([^]+?)\*\*\*(?!\*)/, node: (m, c, d) => el("em", {}, wrap(el("strong"), m[1], c, d)) },
  { name: "strong", pattern: /^\*\*(?=\S)((?:\\[^]|[^\\])+?)\*\*(?!\*)/, node: SPAN("strong") },
  { name: "underline", pattern: /^__((?:\\[^]|[^\\])+?)__(?!_)/, node: SPAN("u") },
  { name: "em", pattern: /^\*(?=[^\s*])((?:\*\*[^*]+\*\*|\\[^]|[^*\\])+?)\*(?!\*)/, node: SPAN("em") },
  { name: "em2", pattern: /^_((?:__[^_]+__|\\[^]|[^_\\])+?)_(?![0-9A-Za-z_])/, word: true, node: SPAN("em") },
  { name: "strike", pattern: /^~~(?=\S)([^]+?)~~(?!_)/, node: SPAN("s") },
  { name: "spoiler", pattern: /^\|\|([^]+?)\|\|/, node: spoiler },
  {
    name: "masked",
    pattern: /^\[((?:\\.|[^\[\]\\]|\[[^\[\]]*\])+)\]\(\s*<?(https?:\/\/[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)/,
    node: masked,
  },
  { name: "angle", pattern: /^<(https?:\/\/[^\s<>]+)>/, node: (match) => link(match[1], match[1]) },
  { name: "bare", pattern: /^https?:\/\/[^\s<>"]*[^\s<>".,:;!?'\])*_~|]/, word: true, node: (match) => link(match[0], match[0]) },
  { name: "user", pattern: /^<@!?(\d{1,20})>/, node: (m, c) => el("span", { class: "mention" }, `@${c.userName(m[1])}`) },
  { name: "channel", pattern: /^<#(\d{1,20})>/, node: channel },
  { name: "role", pattern: /^<@&(\d{1,20})>/, node: () => el("span", { class: "mention" }, "@role") },
  { name: "command", pattern: /^<\/([^:<>]{1,100}):(\d{1,20})>/, node: (m) => el("span", { class: "mention" }, `/${m[1]}`) },
  { name: "everyone", pattern: /^@(?:everyone|here)\b/, node: (match) => el("span", { class: "mention" }, match[0]) },
  { name: "emoji", pattern: /^<a?(:\w{2,32}:)\d{1,20}>/, node: (match) => match[1] },
  { name: "time", pattern: /^<t:(-?\d{1,13})(?::([tTdDfFsSR]))?>/, node: (m, c) => timestamp(Number(m[1]), m[2] ?? "f", c.locale) },
];
const SPECIAL = /[\\`*_~|[<h@]/g; // every rule starts with one of these

function inline(text, parent, context, depth) {
  let plain = "";
  const flush = () => {
    // a newline in a paragraph is a line break, as in Discord
    plain.split("\n").forEach((part, index) => {
      if (index > 0) parent.append(el("br"));
      if (part !== "") parent.append(part);
    });
    plain = "";
  };
  for (let at = 0; at < text.length;) {
    SPECIAL.lastIndex = at;
    const next = SPECIAL.exec(text)?.index ?? text.length;
    plain += text.slice(at, next);
    at = next;
    if (at >= text.length) break;
    const rest = text.slice(at);
    const inWord = at > 0 && /[0-9A-Za-z]/.test(text[at - 1]);
    let taken = 0;
    for (const rule of depth < MAX_DEPTH ? RULES : []) {
      if (rule.word && inWord) continue;
      const match = rule.pattern.exec(rest);
      if (match === null) continue;
      const node = rule.node(match, context, depth);
      if (node === null) continue;
      flush();
      parent.append(node);
      taken = match[0].length;
      break;
    }
    if (taken === 0) {
      plain += text[at];
      taken = 1;
    }
    at += taken;
  }
  flush();
}

function wrap(node, text, context, depth) {
  inline(text, node, context, depth + 1);
  return node;
}

function masked(match, context, depth) {
  if (safeUrl(match[2]) === null) return null;
  const node = link(match[2]);
  node.title = match[2];
  return wrap(node, match[1], context, depth);
}

function channel(match, context) {
  return el(
    "button",
    { type: "button", class: "mention", on: { click: () => context.openChannel(match[1]) } },
    `#${context.channelName(match[1])}`,
  );
}

/** Hidden until pressed; a screen reader hears that something is hidden, not what. */
function spoiler(match, context, depth) {
  const inner = wrap(el("span", { class: "spoiler-text", "aria-hidden": "true" }), match[1], context, depth);
  const node = el(
    "span",
    { class: "spoiler", role: "button", tabindex: "0", "aria-expanded": "false", "aria-label": context.word("spoiler") },
    inner,
  );
  const show = (event) => {
    if (node.classList.contains("shown")) return;
    event.preventDefault();
    event.stopPropagation();
    node.classList.add("shown");
    inner.removeAttribute("aria-hidden");
    for (const name of ["role", "tabindex", "aria-expanded", "aria-label"]) node.removeAttribute(name);
  };
  node.addEventListener("click", show, true);
  node.addEventListener("keydown", (event) => (event.key === "Enter" || event.key === " ") && show(event));
  return node;
}

const STYLES = {
  t: { timeStyle: "short" },
  T: { timeStyle: "medium" },
  d: { dateStyle: "short" },
  D: { dateStyle: "long" },
  f: { dateStyle: "long", timeStyle: "short" },
  F: { dateStyle: "full", timeStyle: "short" },
  s: { dateStyle: "short", timeStyle: "short" },
  S: { dateStyle: "short", timeStyle: "medium" },
};
const UNITS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

/** `unix` in seconds as a <time> in the reader's locale; style R says how far away it is and is kept true by `tick`. */
function timestamp(unix, style, locale) {
  const at = new Date(unix * 1000);
  if (Number.isNaN(at.getTime())) return null;
  const node = el("time", { class: "timestamp", datetime: at.toISOString(), title: new Intl.DateTimeFormat(locale, STYLES.F).format(at) });
  if (style === "R") Object.assign(node.dataset, { relative: String(unix), locale });
  node.textContent = style === "R" ? relative(unix, locale, Date.now()) : new Intl.DateTimeFormat(locale, STYLES[style]).format(at);
  return node;
}

/** "in 5 seconds", "2 hours ago": `unix` seconds seen from `nowMs` milliseconds. */
export function relative(unix, locale, nowMs) {
  const distance = Math.round(unix - nowMs / 1000);
  const [unit, size] = UNITS.find(([, seconds]) => Math.abs(distance) >= seconds) ?? UNITS[UNITS.length - 1];
  return new Intl.RelativeTimeFormat(locale).format(Math.trunc(distance / size), unit);
}

/** Bring every relative time below `root` up to date; text that did not change is not touched. */
export function tick(root, nowMs) {
  for (const node of root.querySelectorAll("time[data-relative]")) {
    const text = relative(Number(node.dataset.relative), node.dataset.locale, nowMs);
    if (node.textContent !== text) node.textContent = text;
  }
}
