/**
 * The composer: plain text, the slash-command menu, and a command's options with choices and autocomplete.
 *
 * Two states: text (one textarea), and command (`this.leaf` is set; one field for each option, required ones first). What is
 * wrong is said beside the composer and nothing is sent; what could not be sent stays where it was typed.
 */

import { avatar, el, icon } from "/static/dom.js";
import { flatten, fold, nest, parse, search, TYPE } from "/static/commands.js";

const DEBOUNCE_MS = 150; // Discord's client waits about this long before it asks for suggestions
const MAX_CHOICES = 25; // Discord's limit of an autocomplete answer

export class Composer {
  /** `context`: see app.js. */
  constructor(context) {
    this.context = context;
    this.leaf = null;
    this.fields = [];
    this.items = []; // what the popup offers: [{node, pick()}]
    this.active = -1;
    this.timer = 0;
    this.asked = 0; // the newest autocomplete question; older answers are dropped

    this.text = el("textarea", {
      rows: "1",
      maxlength: "2000",
      dataset: { testid: "composer" },
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": "composer-popup",
      autocomplete: "off",
      enterkeyhint: "send",
    });
    this.command = el("div", { class: "command", hidden: true });
    this.sendButton = el("button", { type: "submit", class: "icon-button send", dataset: { testid: "send" } }, icon("send"));
    this.problem = el("div", { class: "composer-problem", role: "alert", hidden: true, dataset: { testid: "composer-problem" } });
    this.popup = el("div", { class: "composer-popup", id: "composer-popup", hidden: true });
    this.form = el("form", { class: "composer" }, this.text, this.command, this.sendButton);
    this.node = el("div", { class: "composer-wrap" }, this.popup, this.problem, this.form);

    this.text.addEventListener("input", () => this.typed());
    this.text.addEventListener("focus", () => this.typed());
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.node.addEventListener("focusout", (event) => !this.node.contains(event.relatedTarget) && this.close());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.leaf === null) this.sendText();
      else this.sendCommand();
    });
  }

  /** Names, language or commands changed: say everything anew and keep what is typed. */
  refresh() {
    const { word, channelName, channelId } = this.context;
    const label = word("message", { channel: `#${channelName(channelId)}` });
    this.text.placeholder = label;
    this.text.setAttribute("aria-label", label);
    this.sendButton.setAttribute("aria-label", word("send"));
    this.leaves = flatten(this.context.commands, this.context.locale);
    if (this.leaf === null) {
      if (document.activeElement === this.text) this.typed();
      return;
    }
    const leaf = this.leaves.find((each) => each.id === this.leaf.id && each.name === this.leaf.name);
    if (leaf === undefined) this.leave();
  }

  focus() {
    (this.leaf === null ? this.text : (this.fields[0]?.input ?? this.sendButton)).focus();
  }

  say(text) {
    this.problem.hidden = text === null;
    this.problem.textContent = text ?? "";
  }

  // --- text -------------------------------------------------------------------------------------------------------------

  typed() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight, 200)}px`;
    const slash = /^\/([^\n]*)$/.exec(this.text.value);
    if (slash === null) {
      this.close();
      if (this.text.value !== "") this.say(null);
      return;
    }
    const exact = this.leaves.find((leaf) => slash[1].endsWith(" ") && [fold(leaf.shown), fold(leaf.name)].includes(fold(slash[1].trim())));
    if (exact !== undefined && search(this.leaves, slash[1]).length === 1) this.enter(exact);
    else this.offerCommands(slash[1]);
  }

  offerCommands(typed) {
    const { word, bot } = this.context;
    const found = search(this.leaves, typed);
    const items = found.map((leaf) => ({
      node: el(
        "li",
        { role: "option", dataset: { testid: "slash-item", command: leaf.name } },
        avatar(bot.id, bot.name, bot.avatar, "small"),
        el(
          "span",
          { class: "item-text" },
          el(
            "span",
            { class: "item-name" },
            `/${leaf.shown}`,
            leaf.options.map((option) => el("span", { class: `item-option${option.required ? " needed" : ""}` }, option.shown)),
          ),
          el("small", {}, leaf.description),
        ),
        el("span", { class: "item-source" }, bot.name),
      ),
      pick: () => this.enter(leaf),
    }));
    const none = this.leaves.length === 0 ? word("noCommands") : word("noCommand", { text: `/${typed.trim()}` });
    this.offer({ testid: "slash-menu", title: word("commands"), items, none, start: 0 });
  }

  sendText() {
    const { context } = this;
    const content = this.text.value.trim();
    if (content === "") return;
    if (content.startsWith("/") && !content.includes("\n")) {
      this.say(context.word("noCommand", { text: content }));
      return;
    }
    const refused = (state, text) => {
      if (state === "done" || !text) return;
      if (this.leaf === null && this.text.value === "") this.text.value = content;
      this.say(text);
    };
    if (context.act("say", { channel_id: context.channelId, content }, { settled: refused }) === null) {
      this.say(context.word("offlineKept"));
      return;
    }
    this.text.value = "";
    this.typed();
  }

  // --- command ----------------------------------------------------------------------------------------------------------

  enter(leaf) {
    this.leaf = leaf;
    this.say(null);
    this.close();
    this.fields = leaf.options.map((option) => this.field(option));
    const chip = el("span", { class: "command-chip", title: leaf.description }, `/${leaf.shown}`);
    this.command.replaceChildren(chip, ...this.fields.map((field) => field.node));
    this.command.setAttribute("role", "group");
    this.command.setAttribute("aria-label", `/${leaf.shown}: ${leaf.description}`);
    this.command.hidden = false;
    this.text.hidden = true;
    this.text.value = "";
    this.form.classList.add("with-command");
    this.focus();
  }

  leave(text = "") {
    this.leaf = null;
    this.fields = [];
    window.clearTimeout(this.timer);
    this.command.hidden = true;
    this.command.replaceChildren();
    this.text.hidden = false;
    this.text.value = text;
    this.form.classList.remove("with-command");
    this.say(null);
    this.close();
    this.text.focus();
    this.typed();
  }

  field(option) {
    const { word } = this.context;
    const numeric = option.type === TYPE.INTEGER ? "numeric" : option.type === TYPE.NUMBER ? "decimal" : null;
    const input = el("input", {
      type: "text",
      dataset: { testid: `option-${option.name}` },
      role: "combobox",
      "aria-autocomplete": "list",
      "aria-expanded": "false",
      "aria-controls": "composer-popup",
      "aria-label": `${option.shown}: ${option.about}`,
      "aria-required": String(option.required === true),
      inputmode: numeric,
      autocomplete: "off",
      enterkeyhint: "send",
      size: "6",
      disabled: option.type === TYPE.ATTACHMENT,
      placeholder: option.type === TYPE.ATTACHMENT ? word("noUpload") : option.required ? null : word("optional"),
    });
    const node = el(
      "label",
      { class: `pill${option.required ? " needed" : ""}`, title: option.about },
      el("span", { class: "pill-name" }, option.shown),
      input,
    );
    const field = { option, input, node, picked: null };
    input.addEventListener("input", () => {
      field.picked = null;
      this.mark(field, false);
      this.say(null);
      input.size = Math.max(6, Math.min(40, [...input.value].length + 1));
      this.suggest(field);
    });
    input.addEventListener("focus", () => this.suggest(field));
    return field;
  }

  mark(field, wrong) {
    field.node.classList.toggle("invalid", wrong);
    field.input.setAttribute("aria-invalid", String(wrong));
  }

  /** Offer what may stand in `field`: its choices, the people, the channels, or what the bot suggests. */
  suggest(field) {
    const { option, input } = field;
    window.clearTimeout(this.timer);
    this.asked += 1;
    if (option.autocomplete) {
      this.offerValues(field, field.offered ?? [], { loading: true });
      this.timer = window.setTimeout(() => this.ask(field, this.asked), field.offered === undefined ? 0 : DEBOUNCE_MS);
      return;
    }
    const typed = field.picked === null ? fold(input.value.trim()) : "";
    this.offerValues(
      field,
      this.fixedChoices(option)
        .filter((choice) => fold(choice.label).includes(typed))
        .slice(0, MAX_CHOICES),
      {},
    );
  }

  fixedChoices(option) {
    const { word, people, channels } = this.context;
    if (option.type === TYPE.BOOLEAN)
      return [
        { label: word("yes"), value: true },
        { label: word("no"), value: false },
      ];
    if (option.type === TYPE.USER || option.type === TYPE.MENTIONABLE)
      return people.map((person) => ({ label: person.name, value: person.id }));
    if (option.type === TYPE.CHANNEL) {
      const fitting = channels.filter((each) => !option.channel_types?.length || option.channel_types.includes(each.type));
      return fitting.map((each) => ({ label: `#${each.name}`, value: each.id }));
    }
    return option.choices;
  }

  ask(field, asked) {
    const { context, leaf } = this;
    const given = [];
    for (const each of this.fields) {
      const focused = each === field;
      const text = focused && each.picked === null ? each.input.value : null;
      const parsed = parse(each.option, each.input.value, each.picked);
      if (focused) given.push({ name: each.option.name, type: each.option.type, value: text ?? String(each.picked), focused: true });
      else if (parsed !== null && "value" in parsed) given.push({ name: each.option.name, type: each.option.type, value: parsed.value });
    }
    const answered = (choices) => {
      if (asked !== this.asked || this.leaf !== leaf) return;
      field.offered = (choices ?? []).slice(0, MAX_CHOICES).map((choice) => ({
        label: choice.name_localizations?.[context.locale] ?? choice.name,
        value: choice.value,
      }));
      this.offerValues(field, field.offered, {});
    };
    const settled = (state) => state !== "done" && answered([]);
    context.act(
      "complete",
      { channel_id: context.channelId, command: leaf.id, options: nest(leaf, given) },
      { suggestions: answered, settled },
    );
  }

  offerValues(field, choices, { loading = false }) {
    const { word } = this.context;
    const { option, input } = field;
    const items = choices.map((choice) => ({
      node: el(
        "li",
        { role: "option", dataset: { testid: "suggestion", value: String(choice.value) } },
        el("span", { class: "item-text" }, choice.label),
      ),
      pick: () => this.take(field, choice),
    }));
    const free = !option.autocomplete && this.fixedChoices(option).length === 0;
    const title = [el("strong", {}, option.shown), ` ${option.about}`, option.required ? el("em", {}, word("needed")) : null];
    const start = field.picked === null && (input.value.trim() !== "" || option.required) ? 0 : -1;
    this.offer({ testid: "suggestions", title, items, none: free ? null : loading ? "…" : word("noSuggestions"), start });
  }

  take(field, choice) {
    field.picked = choice.value;
    field.input.value = choice.label;
    field.input.size = Math.max(6, Math.min(40, [...choice.label].length + 1));
    this.mark(field, false);
    const next = this.fields.find((each) => each.option.required && each.input.value.trim() === "");
    if (next !== undefined) next.input.focus();
    else {
      field.input.focus();
      this.close();
    }
  }

  sendCommand() {
    const { context, leaf } = this;
    const given = [];
    for (const field of this.fields) {
      const parsed = parse(field.option, field.input.value, field.picked);
      const wrong = parsed !== null && "problem" in parsed;
      this.mark(field, wrong);
      if (wrong) {
        field.input.focus();
        this.say(`${field.option.shown}: ${context.word(...parsed.problem)}`);
        return;
      }
      if (parsed !== null) given.push({ name: field.option.name, type: field.option.type, value: parsed.value });
    }
    if (
      context.act("slash", { channel_id: context.channelId, command: leaf.id, options: nest(leaf, given) }, { command: leaf.shown }) ===
      null
    ) {
      this.say(context.word("offlineKept"));
      return;
    }
    this.leave();
  }

  // --- the popup over the composer --------------------------------------------------------------------------------------

  offer({ testid, title, items, none, start }) {
    this.items = items;
    const same = this.popup.firstElementChild?.dataset.testid === testid;
    const before = same ? this.popup.scrollTop : 0;
    const list = el(
      "ul",
      { role: "listbox", "aria-label": this.context.word("commands") },
      items.map((item) => item.node),
    );
    items.forEach((item, index) => {
      item.node.id = `offer-${index}`;
      item.node.addEventListener("pointermove", () => this.active !== index && this.move(index, false));
      item.node.addEventListener("click", () => item.pick());
    });
    const empty = items.length === 0 && none !== null ? el("div", { class: "popup-none" }, none) : null;
    const content = el("div", { dataset: { testid } }, el("div", { class: "popup-title" }, title), empty, list);
    content.addEventListener("mousedown", (event) => event.preventDefault()); // the focus stays in the field
    this.popup.replaceChildren(content);
    this.popup.hidden = false;
    this.popup.scrollTop = before;
    this.move(items.length > 0 ? start : -1, true);
    document.activeElement?.setAttribute("aria-expanded", "true");
  }

  close() {
    this.popup.hidden = true;
    this.popup.replaceChildren();
    this.items = [];
    this.active = -1;
    for (const input of [this.text, ...this.fields.map((field) => field.input)]) {
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    }
  }

  move(to, scroll) {
    this.active = to;
    this.items.forEach((item, index) => {
      item.node.classList.toggle("active", index === to);
      item.node.setAttribute("aria-selected", String(index === to));
    });
    const input = document.activeElement;
    if (to >= 0) {
      if (this.node.contains(input)) input.setAttribute("aria-activedescendant", this.items[to].node.id);
      if (scroll) this.items[to].node.scrollIntoView({ block: "nearest" });
    } else input?.removeAttribute("aria-activedescendant");
  }

  key(event) {
    if (event.isComposing) return; // the Enter of an input method ends a word, it does not send
    const open = !this.popup.hidden;
    const count = this.items.length;
    const handled = () => {
      event.preventDefault();
      event.stopPropagation();
    };
    if (open && count > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      handled();
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.move(this.active < 0 && step < 0 ? count - 1 : (this.active + step + count) % count, true);
    } else if (event.key === "Enter" && !event.shiftKey && event.target !== this.sendButton) {
      handled();
      if (open && this.active >= 0) this.items[this.active].pick();
      else this.form.requestSubmit();
    } else if (event.key === "Tab" && !event.shiftKey && open && this.active >= 0) this.tab(handled);
    else if (event.key === "Escape") {
      if (open) this.close();
      else if (this.leaf !== null) this.leave();
      else return;
      handled();
    } else if (event.key === "Backspace" && this.leaf !== null && (event.target.value ?? "") === "") {
      handled();
      const at = this.fields.findIndex((field) => field.input === event.target);
      if (at > 0) this.fields[at - 1].input.focus();
      else this.leave(`/${this.leaf.shown}`);
    }
  }

  /** Tab takes the marked item; from an option's field it then goes on to the next one. */
  tab(handled) {
    const at = this.fields.findIndex((field) => field.input === document.activeElement);
    handled();
    this.items[this.active].pick();
    const next = this.fields[at + 1];
    if (at >= 0 && next !== undefined && document.activeElement === this.fields[at].input) next.input.focus();
  }
}
