// The person's own games, also those that were played in other browsers.

import { ApiError, call, session } from "/static/common/api.js";
import { announce, el } from "/static/common/dom.js";

const RESULTS = {
  win: "Won",
  loss: "Lost",
  draw: "Draw",
  aborted: "Aborted",
  running: "Playing",
};

export class HistoryScreen {
  constructor(main, context) {
    this.main = main;
    this.context = context;
    this.isClosed = false;
  }

  open() {
    if (!session.person) {
      this.#note("Your games are shown to you once you have a name.");
      return;
    }
    this.rows = el("tbody");
    this.status = el("p", { class: "hint", role: "status" }, "Loading…");
    this.more = el("button", { class: "button small", type: "button", hidden: true, "data-test": "older", onclick: () => this.#load() }, "Older games");
    const heads = ["Result", "Game", "Opponent"].map((text) => el("th", { scope: "col" }, text));
    this.table = el("table", { class: "games", hidden: true }, el("caption", { class: "visually-hidden" }, "Your games, the latest first"), el("thead", {}, el("tr", {}, heads, el("th", { scope: "col", class: "when" }, "Date"))), this.rows);
    this.main.replaceChildren(
      el(
        "div",
        { class: "public" },
        el("h1", {}, "Your games"),
        el("p", {}, el("a", { href: `/@/${session.person.name}` }, "Your public page")),
        el("section", { class: "card panel", "aria-label": "Your games" }, this.table, this.status, el("div", { class: "pager" }, this.more)),
      ),
    );
    document.title = "Your games – Desdemona";
    this.before = "";
    this.#load();
  }

  close() {
    this.isClosed = true;
  }

  async #load() {
    this.more.disabled = true;
    let page;
    try {
      page = await call("GET", `/api/arena/games?before=${this.before}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.isClosed) return;
      if (error.status === 401) {
        session.save(null);
        this.context.showWho();
        this.#note("This arena no longer knows your name.");
        return;
      }
      this.status.textContent = error.message;
      this.more.textContent = "Try again";
      this.more.hidden = this.more.disabled = false;
      return;
    }
    if (this.isClosed) return;
    const isFirst = this.before === "";
    const rows = page.games.map((game) => this.#row(game));
    this.rows.append(...rows);
    this.table.hidden = !this.rows.children.length;
    this.status.textContent = this.rows.children.length ? "" : "You have not played a game yet.";
    this.before = page.before ?? "";
    this.more.textContent = "Older games";
    this.more.disabled = false;
    this.more.hidden = page.before === null;
    if (isFirst || !rows.length) return;
    announce(`${rows.length} more games.`);
    // The button may have gone; whoever reads on goes on in the list.
    rows[0].querySelector("a").focus();
  }

  #row({ id, title, clock, rated, side, opponent, result, ratingDiff, createdAt }) {
    const at = new Date(createdAt);
    const diff = ratingDiff === null ? null : el("span", { class: `diff ${ratingDiff < 0 ? "down" : "up"}` }, ` ${ratingDiff < 0 ? "−" : "+"}${Math.abs(ratingDiff)}`);
    const terms = [clock ?? "no clock", rated ? "rated" : "casual", side].join(", ");
    return el(
      "tr",
      {},
      el("td", {}, el("span", { class: `result result-${result}` }, RESULTS[result]), diff),
      el("td", {}, el("a", { href: `/game/${id}`, "data-link": true }, title), " ", el("small", {}, terms)),
      el("td", {}, opponent.name.startsWith("deleted-") ? opponent.name : el("a", { href: `/@/${opponent.name}` }, opponent.name), " ", el("small", {}, String(opponent.rating))),
      el("td", { class: "when" }, el("time", { datetime: at.toISOString() }, at.toLocaleDateString())),
    );
  }

  #note(text) {
    this.main.replaceChildren(el("div", { class: "card notice" }, el("h1", {}, "Your games"), el("p", {}, text), el("a", { class: "button primary", href: "/", "data-link": true }, "Choose a name")));
  }
}
