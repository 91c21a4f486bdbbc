/**
 * A select menu as an accessible combobox with a listbox, for messages and modals, one value or several.
 *
 * One value is reported as soon as it is chosen; several when the list closes, as Discord does, and only when there are
 * at least `min`. The list lives in the top layer, so that neither the message list nor a modal cuts it off.
 */

import { el, icon } from "/static/dom.js";

let serial = 0;

/**
 * `options` = `[{value, label, description, emoji}]`, `chosen` = the values selected now, `min` and `max` = how many may be,
 * `change(values)` is called with what the person chose. Returns the node and `values()`.
 */
export function selectMenu({ customId, options, chosen, min, max, placeholder, label, disabled, busy, change, word }) {
  serial += 1;
  const listId = `list-${serial}`;
  let values = new Set(chosen);
  let before = [...values];
  let active = -1;

  const shown = el("span", { class: "select-shown" });
  const box = el(
    "button",
    {
      type: "button",
      class: "select-box",
      role: "combobox",
      dataset: { testid: "select", customId },
      disabled: disabled || busy,
      "aria-haspopup": "listbox",
      "aria-expanded": "false",
      "aria-controls": listId,
      "aria-label": label,
      "aria-busy": busy ? "true" : null,
    },
    shown,
    busy ? el("span", { class: "spinner" }) : icon("chevron"),
  );
  const items = options.map((option, index) =>
    el(
      "li",
      { id: `${listId}-${index}`, role: "option", dataset: { testid: "select-option", value: option.value } },
      option.emoji ? el("span", { class: "emoji" }, option.emoji) : null,
      el("span", { class: "option-text" }, el("span", {}, option.label), option.description ? el("small", {}, option.description) : null),
      el("span", { class: "tick" }, icon("check")),
    ),
  );
  const list = el(
    "ul",
    { id: listId, role: "listbox", "aria-multiselectable": max > 1 ? "true" : null, "aria-label": label ?? placeholder },
    items,
  );
  const done =
    max > 1
      ? el("button", { type: "button", class: "button primary small", tabindex: "-1", on: { click: () => close(true) } }, word("done"))
      : null;
  const popup = el("div", { class: "select-popup", popover: "manual" }, list, done);
  const node = el("div", { class: "select" }, box, popup);

  const paint = () => {
    const names = options
      .filter((option) => values.has(option.value))
      .map((option) => `${option.emoji ? `${option.emoji} ` : ""}${option.label}`);
    shown.textContent = names.join(", ") || placeholder || word("pick");
    shown.classList.toggle("placeholder", names.length === 0);
    items.forEach((item, index) => {
      const on = values.has(options[index].value);
      item.setAttribute("aria-selected", String(on));
      item.setAttribute("aria-disabled", String(!on && max > 1 && values.size >= max));
      item.classList.toggle("active", index === active);
    });
    if (active >= 0) box.setAttribute("aria-activedescendant", items[active].id);
    else box.removeAttribute("aria-activedescendant");
  };

  const place = () => {
    const at = box.getBoundingClientRect();
    const below = window.innerHeight - at.bottom - 12;
    const above = at.top - 12;
    const up = below < Math.min(popup.scrollHeight, 240) && above > below;
    popup.style.maxHeight = `${Math.max(120, Math.min(320, up ? above : below))}px`;
    popup.style.width = `${at.width}px`;
    popup.style.left = `${at.left}px`;
    popup.style.top = up ? "auto" : `${at.bottom + 4}px`;
    popup.style.bottom = up ? `${window.innerHeight - at.top + 4}px` : "auto";
  };
  const isOpen = () => box.getAttribute("aria-expanded") === "true";
  const outside = (event) => {
    if (!node.contains(event.target)) close(true);
  };
  const open = () => {
    if (isOpen() || box.disabled) return;
    before = [...values];
    active = Math.max(
      0,
      options.findIndex((option) => values.has(option.value)),
    );
    box.setAttribute("aria-expanded", "true");
    popup.showPopover();
    place();
    paint();
    items[active]?.scrollIntoView({ block: "nearest" });
    document.addEventListener("pointerdown", outside, true);
    window.addEventListener("resize", place);
    document.addEventListener("scroll", place, true);
  };
  /** Close the list; with `keep` what was toggled counts, without it the selection is as before. */
  const close = (keep) => {
    if (!isOpen()) return;
    document.removeEventListener("pointerdown", outside, true);
    window.removeEventListener("resize", place);
    document.removeEventListener("scroll", place, true);
    box.setAttribute("aria-expanded", "false");
    if (popup.isConnected) popup.hidePopover();
    active = -1;
    const changed = values.size !== before.length || before.some((value) => !values.has(value));
    if (!keep || values.size < min) values = new Set(before);
    paint();
    if (keep && changed && values.size >= min) change(ordered());
  };
  const ordered = () => options.map((option) => option.value).filter((value) => values.has(value));
  const toggle = (index) => {
    const { value } = options[index];
    if (max > 1) {
      if (values.has(value)) values.delete(value);
      else if (values.size < max) values.add(value);
      active = index;
      paint();
      return;
    }
    values = values.has(value) && min === 0 ? new Set() : new Set([value]);
    if (before.length === 1 && before[0] === value && min > 0) before = []; // choosing the same again is a choice, too
    close(true);
  };
  const move = (to) => {
    active = (to + options.length) % options.length;
    paint();
    items[active].scrollIntoView({ block: "nearest" });
  };

  items.forEach((item, index) => {
    item.addEventListener("click", () => {
      box.focus();
      toggle(index);
    });
    item.addEventListener("pointermove", () => active !== index && ((active = index), paint()));
  });
  box.addEventListener("click", () => (isOpen() ? close(true) : open()));
  box.addEventListener("keydown", (event) => {
    const keys = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: options.length - 1 };
    if (!isOpen()) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        open();
      }
      return;
    }
    if (event.key in keys) move(keys[event.key]);
    else if (event.key === "Enter" || event.key === " ") toggle(active);
    else if (event.key === "Escape") close(false);
    else if (event.key === "Tab") return close(true);
    else if (event.key.length === 1) {
      const from = options.findIndex((option, index) => index > active && option.label.toLowerCase().startsWith(event.key.toLowerCase()));
      const hit = from >= 0 ? from : options.findIndex((option) => option.label.toLowerCase().startsWith(event.key.toLowerCase()));
      if (hit >= 0) move(hit);
    } else return undefined;
    event.preventDefault();
    event.stopPropagation();
    return undefined;
  });
  paint();
  return { node, values: ordered };
}
