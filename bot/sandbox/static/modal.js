/**
 * A modal as a native <dialog>: the browser keeps the focus inside, closes on Esc and gives the focus back.
 *
 * It checks what Discord's client checks before it submits (required, lengths, how many are chosen) and stays open until
 * the sandbox says that the bot answered: what was typed is never lost to a failed submit.
 */

import { append, el, icon } from "/static/dom.js";
import { channelOptions, emojiText, peopleOptions } from "/static/components.js";
import { markdown } from "/static/markdown.js";
import { selectMenu } from "/static/select.js";

let serial = 0;

/** Show `modal` (Discord's object). Returns `{close()}`; `closed()` is called once it is gone, however that came about. */
export function openModal({ modal, modal_id: modalId }, context, closed) {
  const fields = [];
  const error = el("div", { class: "modal-error", role: "alert", hidden: true });
  const submit = el("button", { type: "submit", class: "button primary" }, context.word("submit"));
  const content = (modal.components ?? []).map((component) => row(component, fields, context));
  serial += 1;
  const titleId = `modal-title-${serial}`;
  const form = el(
    "form",
    { novalidate: true },
    el(
      "header",
      {},
      el("h2", { id: titleId }, modal.title),
      el(
        "button",
        { type: "button", class: "icon-button", "aria-label": context.word("cancel"), on: { click: () => dialog.close() } },
        icon("close"),
      ),
    ),
    el("div", { class: "modal-body" }, content),
    error,
    el(
      "footer",
      {},
      el("button", { type: "button", class: "button plain", on: { click: () => dialog.close() } }, context.word("cancel")),
      submit,
    ),
  );
  const dialog = el("dialog", { class: "modal", dataset: { testid: "modal" }, "aria-labelledby": titleId }, form);

  const waiting = (on) => {
    submit.disabled = on;
    submit.toggleAttribute("aria-busy", on);
  };
  const fail = (text) => {
    waiting(false);
    error.hidden = false;
    error.textContent = text;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    error.hidden = true;
    const wrong = fields.filter((field) => !field.valid());
    if (wrong.length > 0) {
      wrong[0].focus();
      return;
    }
    waiting(true);
    const values = Object.fromEntries(fields.map((field) => [field.id, field.read()]).filter(([, value]) => value !== undefined));
    const settled = (state, text) => (state === "done" ? dialog.close() : fail(text ?? context.word("somethingWrong")));
    if (context.act("submit", { modal_id: modalId, fields: values }, { settled }) === null) fail(context.word("offlineKept"));
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    closed();
  });
  document.body.append(dialog);
  dialog.showModal();
  fields[0]?.focus();
  return { close: () => dialog.close() };
}

/** A top-level component: a label with its control, a text, or the older row with one text input. */
function row(component, fields, context) {
  if (component.type === 10) return el("div", { class: "markup" }, markdown(component.content, context));
  if (component.type === 1)
    return (component.components ?? []).map((child) => labelled({ label: child.label, component: child }, fields, context));
  if (component.type === 18) return labelled(component, fields, context);
  return el("div", { class: "unknown" }, `component type ${component.type}`);
}

function labelled({ label, description, component }, fields, context) {
  serial += 1;
  const id = `field-${serial}`;
  const required = component.type !== 23 && component.required !== false;
  const problem = el("div", { class: "field-problem", id: `${id}-problem`, role: "alert", hidden: true });
  const control = (CONTROLS[component.type] ?? CONTROLS.none)(component, { id, label, required, context });
  const group = control.group === true;
  const caption = [label, required ? el("span", { class: "required", "aria-hidden": "true" }, " *") : null];
  const node = el(
    "div",
    { class: "modal-field", role: group ? "group" : null, "aria-labelledby": group ? `${id}-label` : null },
    control.ownLabel ? null : el(group ? "div" : "label", { class: "modal-label", id: `${id}-label`, for: group ? null : id }, caption),
    description && !control.ownLabel ? el("div", { class: "modal-note", id: `${id}-note` }, description) : null,
  );
  append(node, [control.node, description && control.ownLabel ? el("div", { class: "modal-note" }, description) : null, problem]);
  if (component.custom_id === undefined || control.read === undefined) return node;
  fields.push({
    id: component.custom_id,
    read: control.read,
    focus: control.focus,
    valid: () => {
      const text = control.problem(required);
      problem.hidden = text === null;
      problem.textContent = text ?? "";
      node.classList.toggle("invalid", text !== null);
      control.mark?.(text !== null, problem.id);
      return text === null;
    },
  });
  return node;
}

const CONTROLS = {
  4: textInput,
  3: (component, about) => select(component, about, component.options ?? []),
  5: (component, about) => select(component, about, peopleOptions(about.context)),
  7: (component, about) => select(component, about, peopleOptions(about.context)),
  8: (component, about) => select(component, about, channelOptions(about.context, component.channel_types)),
  19: (component, { context }) => ({ node: el("div", { class: "unknown" }, context.word("noUpload")) }),
  21: radioGroup,
  22: checkboxGroup,
  23: checkbox,
  none: (component) => ({ node: el("div", { class: "unknown" }, `component type ${component.type}`) }),
};

function textInput(component, { id, required, context }) {
  const long = component.style === 2;
  const max = component.max_length ?? 4000;
  const min = component.min_length ?? 0;
  const input = el(long ? "textarea" : "input", {
    id,
    name: component.custom_id,
    type: long ? null : "text",
    rows: long ? 4 : null,
    placeholder: component.placeholder,
    maxlength: max,
    "aria-required": String(required),
    autocomplete: "off",
    dataset: { customId: component.custom_id },
  });
  input.value = component.value ?? "";
  const count = el("span", { class: "count", "aria-hidden": "true" });
  const recount = () => {
    count.textContent = component.max_length || long ? `${input.value.length} / ${max}` : "";
  };
  input.addEventListener("input", recount);
  recount();
  return {
    node: el("div", { class: "text-input" }, input, count),
    read: () => input.value,
    focus: () => input.focus(),
    mark: (wrong, problemId) => {
      input.setAttribute("aria-invalid", String(wrong));
      input.setAttribute("aria-describedby", problemId);
    },
    problem: () => {
      const { length } = input.value;
      if (length === 0) return required ? context.word("requiredField") : null;
      return length < min ? context.word("tooShort", { min }) : null;
    },
  };
}

function select(component, { label, context, required }, options) {
  const min = required ? Math.max(1, component.min_values ?? 1) : 0;
  const menu = selectMenu({
    customId: component.custom_id,
    options: options.map((option) => ({ ...option, emoji: emojiText(option.emoji) })),
    chosen: options.filter((option) => option.default).map((option) => option.value),
    min: 0, // the list may be closed with too few; the form says so on submit
    max: component.max_values ?? 1,
    placeholder: component.placeholder,
    label,
    word: context.word,
    change: () => undefined,
  });
  return {
    node: menu.node,
    read: menu.values,
    focus: () => menu.node.querySelector("button").focus(),
    problem: () => (menu.values().length < min ? (min === 1 ? context.word("requiredField") : context.word("pickAtLeast", { min })) : null),
  };
}

function choiceList(component, kind, name) {
  const inputs = (component.options ?? []).map((option, index) => {
    const input = el("input", { type: kind, name, id: `${name}-${index}`, value: option.value, checked: option.default === true });
    const note = option.description ? el("small", {}, option.description) : null;
    return { input, node: el("label", { class: "choice", for: input.id }, input, el("span", {}, option.label, note)) };
  });
  const chosen = () => inputs.filter(({ input }) => input.checked).map(({ input }) => input.value);
  return {
    inputs,
    chosen,
    group: true,
    node: el(
      "div",
      { class: "choices" },
      inputs.map(({ node }) => node),
    ),
    focus: () => inputs[0]?.input.focus(),
  };
}

function radioGroup(component, { id, required, context }) {
  const choices = choiceList(component, "radio", id);
  return {
    ...choices,
    read: () => choices.chosen()[0] ?? null,
    problem: () => (required && choices.chosen().length === 0 ? context.word("requiredField") : null),
  };
}

function checkboxGroup(component, { id, required, context }) {
  const choices = choiceList(component, "checkbox", id);
  const max = component.max_values ?? choices.inputs.length;
  const min = required ? Math.max(1, component.min_values ?? 1) : 0;
  choices.node.addEventListener("change", () => {
    const full = choices.chosen().length >= max;
    for (const { input } of choices.inputs) input.disabled = full && !input.checked;
  });
  return {
    ...choices,
    read: choices.chosen,
    problem: () =>
      choices.chosen().length < min ? (min === 1 ? context.word("requiredField") : context.word("pickAtLeast", { min })) : null,
  };
}

function checkbox(component, { id, label }) {
  const input = el("input", { type: "checkbox", id, checked: component.default === true });
  return {
    node: el("label", { class: "choice", for: id }, input, el("span", {}, label)),
    ownLabel: true,
    read: () => input.checked,
    focus: () => input.focus(),
    problem: () => null,
  };
}
