/**
 * Discord's message components as nodes: rows, buttons, selects, and the layout parts of components v2.
 *
 * A part this page does not know is shown as its number, never dropped in silence: the page must not look right while the
 * message is wrong. `view` = `{message, context}`; `context` is described in app.js.
 */

import { bytes, el, icon, safeUrl } from "/static/dom.js";
import { inlineMarkdown, markdown } from "/static/markdown.js";
import { selectMenu } from "/static/select.js";

const BUTTON_STYLES = { 1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "link", 6: "premium" };

export function components(list, view) {
  return (list ?? []).map((component) => (RENDERERS[component.type] ?? unknown)(component, view));
}

const RENDERERS = {
  1: (row, view) => el("div", { class: "row" }, components(row.components, view)),
  2: button,
  3: (component, view) => messageSelect(component, view, component.options ?? []),
  5: (component, view) => messageSelect(component, view, peopleOptions(view.context)),
  7: (component, view) => messageSelect(component, view, peopleOptions(view.context)),
  8: (component, view) => messageSelect(component, view, channelOptions(view.context, component.channel_types)),
  9: section,
  10: (component, view) => el("div", { class: "markup" }, markdown(component.content, view.context)),
  11: (component, view) => el("div", { class: "thumbnail" }, picture(component.media?.url, component.description, view, component.spoiler)),
  12: gallery,
  13: (component, view) => {
    const given = resolve(component.file?.url, view);
    const name = component.name ?? given?.split("/").pop()?.split("?")[0] ?? "file";
    return fileCard(name, component.size, given, component.spoiler, view);
  },
  14: (component) =>
    el("hr", { class: `separator${component.divider === false ? " blank" : ""}${component.spacing === 2 ? " wide" : ""}` }),
  17: container,
};

function unknown(component) {
  return el("div", { class: "unknown" }, `component type ${component.type}`);
}

export function peopleOptions(context) {
  return context.people.map((person) => ({ value: person.id, label: person.name, description: person.role }));
}

export function channelOptions(context, types) {
  return context.channels
    .filter((each) => !types?.length || types.includes(each.type))
    .map((each) => ({ value: each.id, label: `#${each.name}` }));
}

/** An emoji object's text: the character, or `:name:` for a picture of a server. */
export function emojiText(emoji) {
  if (!emoji) return null;
  return emoji.id ? `:${emoji.name}:` : emoji.name;
}

function button(component, view) {
  const { context, message } = view;
  const style = BUTTON_STYLES[component.style] ?? "secondary";
  const emoji = emojiText(component.emoji);
  const beside = component.label ? "true" : null; // beside a label an emoji is decoration
  const content = [
    emoji ? el("span", { class: "emoji", "aria-hidden": beside }, emoji) : null,
    component.label ? el("span", { class: "label" }, component.label) : null,
  ];
  const href = style === "link" ? safeUrl(component.url) : null;
  if (href !== null && !component.disabled) {
    return el("a", { class: "button link", href, target: "_blank", rel: "noopener noreferrer" }, content, icon("link"));
  }
  const key = `${message.id}:${component.custom_id}`;
  const busy = context.isPending(key);
  return el(
    "button",
    {
      type: "button",
      class: `button ${style}`,
      disabled: component.disabled || !component.custom_id,
      "aria-busy": busy ? "true" : null,
      dataset: component.custom_id ? { customId: component.custom_id } : {},
      on: {
        click: () =>
          !context.isPending(key) &&
          context.act("press", { message_id: message.id, custom_id: component.custom_id }, { key, messageId: message.id }),
      },
    },
    content,
    busy ? el("span", { class: "spinner" }) : null,
  );
}

function messageSelect(component, view, options) {
  const { context, message } = view;
  const key = `${message.id}:${component.custom_id}`;
  const preset =
    component.type === 3
      ? options.filter((option) => option.default).map((option) => option.value)
      : (component.default_values ?? []).map((each) => each.id);
  return selectMenu({
    customId: component.custom_id,
    options: options.map((option) => ({ ...option, emoji: emojiText(option.emoji) })),
    chosen: context.chosen.get(key) ?? preset,
    min: component.min_values ?? 1,
    max: component.max_values ?? 1,
    placeholder: component.placeholder,
    label: component.placeholder ?? context.word("pick"),
    disabled: component.disabled,
    busy: context.isPending(key),
    word: context.word,
    change: (values) => {
      context.chosen.set(key, values);
      context.act("select", { message_id: message.id, custom_id: component.custom_id, values }, { key, messageId: message.id });
    },
  }).node;
}

function container(component, view) {
  const colour = component.accent_color ?? null;
  const node = el(
    "div",
    { class: `container${colour === null ? "" : " accented"}`, style: colour === null ? {} : { "--bar": hex(colour) } },
    components(component.components, view),
  );
  return component.spoiler ? cover(node, view) : node;
}

function section(component, view) {
  const accessory = component.accessory ? components([component.accessory], view) : [];
  return el(
    "div",
    { class: "section" },
    el("div", { class: "section-text" }, components(component.components, view)),
    el("div", { class: "accessory" }, accessory),
  );
}

function gallery(component, view) {
  const items = component.items ?? [];
  const cells = items.map((item) => el("div", { class: "cell" }, picture(item.media?.url, item.description, view, item.spoiler)));
  return el("div", { class: `gallery count-${Math.min(items.length, 4)}` }, cells);
}

export function hex(colour) {
  return `#${Number(colour).toString(16).padStart(6, "0")}`;
}

/** Where a picture or file is: `attachment://name` means an upload of the same message. */
export function resolve(url, { message }) {
  const name = /^attachment:\/\/(.+)$/.exec(url ?? "")?.[1];
  if (name === undefined) return url ?? null;
  return (message.attachments ?? []).find((each) => each.filename === name)?.url ?? null;
}

/** A picture that opens large in a new tab; one that cannot be loaded leaves its description and a link. */
export function picture(url, alt, view, spoiler = false, size = {}) {
  const href = safeUrl(resolve(url, view) ?? "about:blank");
  if (href === null) return el("span", { class: "unknown" }, alt || "picture");
  const image = el("img", {
    src: href,
    alt: alt ?? "",
    loading: "lazy",
    referrerpolicy: "no-referrer",
    width: size.width,
    height: size.height,
  });
  const node = el(
    "a",
    { class: "picture", href, target: "_blank", rel: "noopener noreferrer", "aria-label": alt ? null : view.context.word("openTab") },
    image,
  );
  image.addEventListener("error", () => image.replaceWith(el("span", { class: "broken" }, alt || href.split("/").pop())), { once: true });
  image.addEventListener("load", () => view.context.grown?.(), { once: true });
  return spoiler ? cover(node, view) : node;
}

export function fileCard(name, size, url, spoiler, view) {
  const href = url ? safeUrl(url) : null;
  const node = el(
    "div",
    { class: "file" },
    icon("file"),
    el(
      "span",
      { class: "file-text" },
      href ? el("a", { href, download: name }, name) : name,
      size === undefined || size === null ? null : el("small", {}, bytes(size)),
    ),
  );
  return spoiler ? cover(node, view) : node;
}

/** Cover what is a spoiler with a button; pressing it shows what is below for good. */
export function cover(node, { context }) {
  const hidden = el("div", { class: "covered", inert: true }, node);
  const lid = el("button", { type: "button", class: "lid" }, context.word("spoiler"));
  const whole = el("div", { class: "cover" }, hidden, lid);
  lid.addEventListener("click", () => whole.replaceWith(node));
  return whole;
}

export { inlineMarkdown };
