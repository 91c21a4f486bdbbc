/**
 * The frame round the messages: the channel list (a drawer on a phone) and the switch between people.
 */

import { append, avatar, el, icon } from "/static/dom.js";
import { LOCALES } from "/static/words.js";

const CATEGORY = 4;
const THREADS = [10, 11, 12];

export class Sidebar {
  /** `parts` = the page's `{list, panel, menu, backdrop}`; `unread` = a set of channel ids that app.js keeps. */
  constructor(context, parts, unread) {
    Object.assign(this, { context, unread, ...parts });
    this.menu.append(icon("menu"));
    this.menu.addEventListener("click", () => (this.panel.classList.contains("open") ? this.close() : this.open()));
    this.backdrop.addEventListener("click", () => this.close());
    this.panel.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
  }

  open() {
    this.panel.classList.add("open");
    this.backdrop.hidden = false;
    this.menu.setAttribute("aria-expanded", "true");
    (this.list.querySelector("[aria-current]") ?? this.list.querySelector("button"))?.focus();
  }

  close() {
    if (!this.panel.classList.contains("open")) return;
    this.panel.classList.remove("open");
    this.backdrop.hidden = true;
    this.menu.setAttribute("aria-expanded", "false");
    this.menu.focus();
  }

  draw() {
    const { channels, word } = this.context;
    const focused = this.list.contains(document.activeElement) ? document.activeElement.dataset.id : undefined;
    this.menu.setAttribute("aria-label", word("menu"));
    this.list.setAttribute("aria-label", word("channels"));
    const threadsOf = (id) => channels.filter((each) => THREADS.includes(each.type) && each.parent_id === id);
    const plain = channels.filter((each) => !THREADS.includes(each.type) && each.type !== CATEGORY);
    const categories = channels.filter((each) => each.type === CATEGORY);
    const entry = (channel) => el("li", {}, this.item(channel), nested(threadsOf(channel.id)));
    const nested = (threads) =>
      threads.length > 0
        ? el(
            "ul",
            { class: "threads" },
            threads.map((each) => el("li", {}, this.item(each))),
          )
        : null;
    const group = (title, members) => (members.length > 0 ? [el("h2", {}, title), el("ul", {}, members.map(entry))] : []);
    const loose = plain.filter((each) => !categories.some((category) => category.id === each.parent_id));
    this.list.replaceChildren();
    append(this.list, [
      group(word("channels"), loose),
      categories.map((each) =>
        group(
          each.name,
          plain.filter((channel) => channel.parent_id === each.id),
        ),
      ),
    ]);
    if (focused !== undefined) [...this.list.querySelectorAll("button")].find((each) => each.dataset.id === focused)?.focus();
  }

  item(channel) {
    const current = channel.id === this.context.channelId;
    const unread = this.unread.has(channel.id);
    const thread = THREADS.includes(channel.type);
    return el(
      "button",
      {
        type: "button",
        class: `channel${current ? " current" : ""}${unread ? " unread" : ""}`,
        "aria-current": current ? "page" : null,
        title: channel.topic || null,
        dataset: { testid: "channel", name: channel.name, id: channel.id },
        on: { click: () => this.context.openChannel(channel.id) },
      },
      icon(thread ? "thread" : "hash"),
      el("span", { class: "channel-name" }, channel.name),
      unread ? el("span", { class: "unread-dot" }) : null,
    );
  }
}

export class Switcher {
  /** `actions` = `{become(personId), speak(locale)}`. */
  constructor(context, node, actions) {
    Object.assign(this, { context, node, actions });
    this.button = el("button", {
      type: "button",
      class: "switcher-button",
      dataset: { testid: "person-switcher" },
      "aria-haspopup": "dialog",
      "aria-expanded": "false",
    });
    this.panel = el("div", { class: "switcher-panel", role: "dialog", hidden: true });
    node.append(this.button, this.panel);
    this.button.addEventListener("click", () => (this.panel.hidden ? this.open() : this.close(true)));
    node.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("pointerdown", (event) => !node.contains(event.target) && this.close(false));
  }

  open() {
    this.panel.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.panel.querySelector("[aria-pressed=true]")?.focus();
  }

  close(giveBack) {
    if (this.panel.hidden) return;
    this.panel.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    if (giveBack) this.button.focus();
  }

  key(event) {
    if (this.panel.hidden) return;
    if (event.key === "Escape") this.close(true);
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const items = [...this.panel.querySelectorAll("[data-testid=person]")];
    const from = items.indexOf(document.activeElement);
    if (from < 0) return;
    event.preventDefault();
    items[(from + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length].focus();
  }

  draw() {
    const { me, people, word } = this.context;
    const about = (person) => `${word(person.role)} · ${LOCALES[person.locale] ?? person.locale}`;
    this.button.replaceChildren();
    append(this.button, [
      avatar(me.id, me.name, me.avatar, "small"),
      el("span", { class: "switcher-text" }, el("strong", {}, me.name), el("small", {}, about(me))),
      icon("chevron"),
    ]);
    this.button.setAttribute("aria-label", `${me.name}, ${about(me)}. ${word("people")}`);
    this.panel.setAttribute("aria-label", word("people"));
    this.panel.replaceChildren();
    append(this.panel, [
      el("div", { class: "panel-title" }, word("people")),
      el(
        "ul",
        {},
        people.map((person) => this.row(person, about(person))),
      ),
      this.language(),
    ]);
  }

  row(person, about) {
    const { me, word } = this.context;
    const own = new URL(location.href);
    own.searchParams.set("person", person.id);
    const become = () => {
      this.close(true);
      this.actions.become(person.id);
    };
    return el(
      "li",
      { class: "person-row" },
      el(
        "button",
        {
          type: "button",
          class: "person",
          dataset: { testid: "person", name: person.name },
          "aria-pressed": String(person.id === me.id),
          on: { click: become },
        },
        avatar(person.id, person.name, person.avatar, "small"),
        el("span", { class: "switcher-text" }, el("strong", {}, person.name), el("small", {}, about)),
        person.id === me.id ? icon("check") : null,
      ),
      el(
        "a",
        {
          class: "icon-button",
          href: own.href,
          target: "_blank",
          rel: "noopener",
          "aria-label": `${word("openTab")}: ${person.name}`,
          title: word("openTab"),
        },
        icon("link"),
      ),
    );
  }

  /** The language of the person who is looking; a locale that is not in our list is offered as its code. */
  language() {
    const { me, word } = this.context;
    const all = { ...LOCALES, ...(me.locale in LOCALES ? {} : { [me.locale]: me.locale }) };
    const options = Object.entries(all).map(([code, name]) => el("option", { value: code, selected: code === me.locale }, name));
    const choose = (event) => {
      this.actions.speak(event.target.value);
      this.panel.querySelector("select").focus();
    };
    return el(
      "label",
      { class: "language" },
      el("span", {}, word("language")),
      el("select", { dataset: { testid: "locale-select" }, on: { change: choose } }, options),
    );
  }
}
