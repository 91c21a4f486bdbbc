/**
 * Build DOM nodes. Text always goes in as text: nothing in this page parses a string as HTML, and the page's
 * Content-Security-Policy (Trusted Types) makes the browser refuse it, too.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element. In `props`, `class`, `dataset`, `style` (CSS custom properties) and `on` (listeners) are special; a value of
 * `true` is an attribute without a value, and `false`, `null` or `undefined` leaves the attribute away.
 */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "style") for (const [key, text] of Object.entries(value)) node.style.setProperty(key, text);
    else if (name === "class") node.className = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/** Append nodes, texts and (nested) lists of them; empty values are skipped. */
export function append(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === "") continue;
    if (Array.isArray(child)) append(node, child);
    else node.append(child);
  }
}

/** The link, or null when the address is not plain http(s): `javascript:` and friends never become a link. */
export function safeUrl(text) {
  try {
    const url = new URL(text, location.href);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

export function link(url, ...children) {
  const href = safeUrl(url);
  if (href === null) return el("span", {}, ...children);
  return el("a", { href, target: "_blank", rel: "noopener noreferrer" }, ...children);
}

const ICONS = {
  menu: "M3 6h18M3 12h18M3 18h18",
  hash: "M9 4 7 20M17 4l-2 16M4 9h16M3 15h16",
  thread: "M5 5h14v10H10l-5 4z",
  chevron: "m6 9 6 6 6-6",
  check: "m5 13 4 4L19 7",
  close: "M6 6l12 12M18 6 6 18",
  send: "M4 12 20 4l-5 16-3-7z",
  link: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  reply: "M4 18v-5a4 4 0 0 1 4-4h12",
  down: "M12 5v14M6 13l6 6 6-6",
  slash: "M16 4 8 20",
};

/** A decorative line icon: it says nothing that the text beside it does not say. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

const PALETTE = ["#d9605f", "#c97b2b", "#7d9a2f", "#2f9a72", "#2b8fb8", "#6f74d9", "#a763c9", "#c7588f"];

/** A person's colour: the one given, or one of the palette by id, always the same. */
export function colourOf(id, given) {
  if (typeof given === "string" && CSS.supports("color", given)) return given;
  let sum = 0;
  for (const letter of String(id)) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
  return PALETTE[sum % PALETTE.length];
}

export function initials(name) {
  const words = String(name)
    .trim()
    .split(/[\s_.-]+/u)
    .filter(Boolean);
  return (
    words
      .slice(0, 2)
      .map((word) => [...word][0])
      .join("")
      .toUpperCase() || "?"
  );
}

/** A round picture of initials; hidden from assistive technology because the name is always beside it. */
export function avatar(id, name, colour, size = "") {
  return el("span", { class: `avatar ${size}`, "aria-hidden": "true", style: { "--avatar": colourOf(id, colour) } }, initials(name));
}

export function bytes(count) {
  if (count < 1000) return `${count} B`;
  if (count < 1e6) return `${(count / 1e3).toFixed(1)} KB`;
  return `${(count / 1e6).toFixed(1)} MB`;
}
