// The person's own games, also those that were played in other browsers.

import { call, NAME_LOST, session, tried } from "/static/common/api.js";
import { theme } from "/static/board/games.js";
import { announce, el, notice } from "/static/common/dom.js";
import { forgetWho } from "/static/common/header.js";
import { fromServer, say, sayCount, sayDate } from "/static/common/language.js";
import { oddsName } from "/static/common/odds.js";
import { Learned } from "/static/public/learned.js";

const RESULTS = {
  win: say("Won"),
  loss: say("Lost"),
  draw: say("Draw"),
  aborted: say("Aborted"),
  running: say("Playing"),
};

export class HistoryScreen {
  constructor(main) {
    this.main = main;
    this.isClosed = false;
  }

  open() {
    if (!session.person) {
      this.#note(say("Your games are shown to you once you have a name."));
      return;
    }
    this.rows = el("tbody");
    this.status = el("p", { class: "hint", role: "status" }, say("Loading…"));
    this.more = el("button", { class: "button small", type: "button", hidden: true, "data-test": "older", onclick: () => this.#load() }, say("Older games"));
    const heads = [say("Result"), say("Game"), say("Opponent")].map((text) => el("th", { scope: "col" }, text));
    this.table = el("table", { class: "games", hidden: true }, el("caption", { class: "visually-hidden" }, say("Your games, the latest first")), el("thead", {}, el("tr", {}, heads, el("th", { scope: "col", class: "when" }, say("Date")))), this.rows);
    this.main.replaceChildren(
      el(
        "div",
        { class: "public" },
        el("h1", {}, say("Your games")),
        el("p", {}, el("a", { href: `/@/${session.person.name}` }, say("Your public page"))),
        el("section", { class: "card panel", "aria-label": say("Your games") }, this.table, this.status, el("div", { class: "pager" }, this.more)),
        (this.learned = new Learned()).section,
      ),
    );
    this.learned.load();
    document.title = `${say("Your games")} – Desdemona`;
    this.before = "";
    this.#load();
  }

  close() {
    this.isClosed = true;
  }

  async #load() {
    this.more.disabled = true;
    const [page, error] = await tried(call("GET", `/api/arena/games?before=${this.before}`));
    if (this.isClosed) return;
    if (error?.status === 401) {
      forgetWho();
      this.#note(NAME_LOST);
      return;
    }
    if (error) {
      this.status.textContent = error.message;
      this.more.textContent = say("Try again");
      this.more.hidden = this.more.disabled = false;
      return;
    }
    const isFirst = this.before === "";
    const rows = page.games.map((game) => this.#row(game));
    this.rows.append(...rows);
    this.table.hidden = !this.rows.children.length;
    this.status.textContent = this.rows.children.length ? "" : say("You have not played a game yet.");
    this.before = page.before ?? "";
    this.more.textContent = say("Older games");
    this.more.disabled = false;
    this.more.hidden = page.before === null;
    if (isFirst || !rows.length) return;
    announce(sayCount("{n} more game.", "{n} more games.", rows.length));
    // The button may be gone: move the focus on to the list.
    rows[0].querySelector("a").focus();
  }

  #row({ id, game, title, clock, rated, odds, side, opponent, result, ratingDiff, createdAt }) {
    const at = new Date(createdAt);
    const diff = ratingDiff === null ? null : el("span", { class: `diff ${ratingDiff < 0 ? "down" : "up"}` }, ` ${ratingDiff < 0 ? "−" : "+"}${Math.abs(ratingDiff)}`);
    const given = odds ? [say("odds: {what}", { what: oddsName(odds.name) })] : [];
    const terms = [clock ?? say("no clock"), rated ? say("rated") : say("casual"), ...given, theme(game).sides[side] ?? side].join(say(", "));
    return el(
      "tr",
      {},
      el("td", {}, el("span", { class: `result result-${result}` }, RESULTS[result]), diff, el("small", { class: "narrow-when" }, sayDate(at))),
      el("td", {}, el("a", { href: `/game/${id}`, "data-link": true }, fromServer(title)), " ", el("small", {}, terms)),
      el("td", {}, opponent.name.startsWith("deleted-") ? opponent.name : el("a", { href: `/@/${opponent.name}` }, opponent.name), " ", el("small", {}, `${opponent.rating}${opponent.provisional ? "?" : ""}`)),
      el("td", { class: "when" }, el("time", { datetime: at.toISOString() }, sayDate(at))),
    );
  }

  #note(text) {
    this.main.replaceChildren(notice(say("Your games"), text, { href: "/", label: say("Choose a name") }));
  }
}
