// The trainer: positions with a bait in which people went wrong, one after the other. The server judges; the solution comes with its answer.

import { Board } from "/static/board/board.js";
import { boardShape, theme } from "/static/board/games.js";
import { call, session, tried } from "/static/common/api.js";
import { announce, el, icon, toast } from "/static/common/dom.js";
import { forgetWho } from "/static/common/header.js";
import { say, sayAll, sayMade } from "/static/common/language.js";
import { play } from "/static/common/sound.js";
import { BaitLine, marksOf, solutionParts } from "/static/train/solution.js";
import { leftOf, nothingWords, originOf, questionOf, strengthOf } from "/static/train/words.js";

const GAMES = ["othello", "chess", "xiangqi", "connect4"];
const KEYS = { h: "hint", s: "skip", r: "show" };
const MAX_SEEN = 100;

export class TrainScreen {
  /** @param {URLSearchParams} query `game`, the game; or `from`, the id of a finished game to find the replies of. */
  constructor(main, query) {
    this.main = main;
    this.from = query.get("from");
    this.game = GAMES.includes(query.get("game")) ? query.get("game") : GAMES[0];
    this.seen = [];
    this.hasKeys = false; // whether the person works with the keyboard
    this.isBusy = false;
    this.isClosed = false;
  }

  open() {
    document.title = `${say("Find the reply")} · Desdemona`;
    this.place = el("div", { class: "train-board", tabindex: "-1" });
    this.side = el("div", { class: "train-side" });
    this.head = el("p", { class: "train-head" });
    this.main.replaceChildren(
      el("div", { class: "train-top" }, el("h1", {}, say("Find the reply")), this.from ? null : this.#games()),
      this.head,
      el("div", { class: "train" }, this.place, this.side),
    );
    this.side.addEventListener("keydown", (event) => this.#onKey(event));
    this.place.addEventListener("keydown", (event) => this.#onKey(event));
    for (const part of [this.side, this.place]) {
      part.addEventListener("pointerdown", () => {
        this.hasKeys = false;
      });
    }
    this.#next();
  }

  close() {
    this.isClosed = true;
  }

  #games() {
    return el(
      "nav",
      { class: "train-games", "aria-label": say("Game") },
      GAMES.map((game) => el("a", { href: `/train?game=${game}`, "data-link": true, "aria-current": game === this.game ? "page" : null }, theme(game).title)),
    );
  }

  /** Send a request; null: it failed, and the person knows. */
  async #ask(method, path, json) {
    if (this.isBusy) return null;
    this.isBusy = true;
    const [answer, error] = await tried(call(method, path, { json }));
    this.isBusy = false;
    if (this.isClosed) return null;
    if (error) {
      if (error.status === 401) forgetWho();
      // Another tab may have answered, or the server restarted: the position has changed.
      if (method === "POST" && [401, 404, 409].includes(error.status)) queueMicrotask(() => this.#next());
      else if (method === "GET") this.#fail(error);
      toast(error.message);
    }
    return answer;
  }

  #fail(error) {
    this.place.replaceChildren();
    this.side.replaceChildren(el("p", {}, error.message), el("button", { type: "button", class: "button", onclick: () => this.#next() }, say("Try again")));
  }

  async #next() {
    const hasAccount = session.person !== null && !this.from;
    const query = new URLSearchParams(this.from ? { from: this.from } : { game: this.game });
    if (!hasAccount && this.seen.length) query.set("seen", this.seen.slice(-MAX_SEEN).join());
    const told = await this.#ask("GET", `/api/train/next?${query}`);
    if (told === null) return;
    this.head.replaceChildren(...[leftOf(told), strengthOf(told.you)].filter(Boolean).map((text) => el("span", {}, text)));
    if (told.position === null) this.#showNothing(told);
    else this.#show(told.position);
  }

  #showNothing(told) {
    this.position = null;
    this.place.replaceChildren();
    const end = this.from
      ? el("a", { class: "button primary", href: "/train", "data-link": true }, say("More positions"))
      : el("a", { class: "button primary", href: "/", "data-link": true }, say("Play a game"));
    this.side.replaceChildren(el("p", {}, nothingWords(told, { game: this.game, isOfGame: this.from !== null, isFirst: !this.seen.length })), end);
    if (this.hasKeys) end.focus({ preventScroll: true });
  }

  // --- A position ----------------------------------------------------------------------------------------

  #show(position) {
    this.position = position;
    this.game = position.game;
    const question = questionOf(position);
    const isTurned = theme(position.game).turns && position.toMove !== position.sides[0];
    this.board = new Board({ game: position.game, label: question, onMove: (reply) => this.#answer(reply), isTurned });
    this.place.replaceChildren(this.board.element);
    this.main.style.setProperty("--shape", boardShape(position.game, position.rows));
    this.told = el("p", { class: "train-told", role: "status" });
    this.buttons = el(
      "div",
      { class: "train-buttons" },
      this.#button("hint", say("Hint"), "H", () => this.#hint()),
      this.#button("skip", say("Skip"), "S", () => this.#skip()),
      this.#button("show", say("Show the reply"), "R", () => this.#answer(null)),
    );
    this.side.replaceChildren(el("h2", { class: "question" }, question), el("p", { class: "hint" }, originOf(position)), this.told, this.buttons);
    this.#drawOpen();
    // The board is where the answer is given, and keys alone suffice; to others a ring around a square would look
    // like a hint.
    (this.hasKeys ? this.#firstLegal() : this.place)?.focus({ preventScroll: true });
    announce(sayAll([question, originOf(position)]));
  }

  #button(name, label, key, onclick) {
    return el("button", { type: "button", class: "button", "data-test": name, "aria-keyshortcuts": key, title: say("Key {key}", { key }), onclick }, label);
  }

  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.position) return;
    this.hasKeys = true;
    if (event.target === this.place && (event.key.startsWith("Arrow") || event.key.toLowerCase() === "n")) {
      event.preventDefault();
      this.#firstLegal()?.focus({ preventScroll: true });
      return;
    }
    const button = this.buttons?.isConnected && this.buttons.querySelector(`[data-test=${KEYS[event.key.toLowerCase()]}]`);
    if (!button) return;
    event.preventDefault();
    button.click();
  }

  #firstLegal() {
    return this.place.querySelector(".square.legal");
  }

  #drawOpen() {
    const { rows, legal, highlights, played } = this.position;
    this.board.draw({ rows, legal, highlights, lastSquares: played.squares, enabled: true });
  }

  async #answer(reply) {
    const { position } = this;
    const path = reply === null ? "/api/train/show" : "/api/train/answer";
    const told = await this.#ask("POST", path, reply === null ? { position: position.id } : { position: position.id, reply });
    if (position !== this.position) return;
    if (told === null) this.#drawOpen();
    else if (told.done) this.#solve(told);
    else this.#miss(told);
  }

  #miss({ reply }) {
    this.#drawOpen();
    this.board.mark([{ squares: reply.squares, kind: reply.isBait ? "fell" : "played" }].filter(({ squares }) => squares.length));
    this.#tell(sayMade(reply.text), reply.isBait ? "fell" : "slip");
  }

  #tell(text, kind) {
    this.told.className = `train-told told-${kind}`;
    this.told.replaceChildren(icon(kind === "fell" || kind === "hint" ? "trap" : "slip"), el("span", {}, text));
  }

  async #hint() {
    const { position } = this;
    const told = await this.#ask("POST", "/api/train/hint", { position: position.id });
    if (told === null || position !== this.position) return;
    this.#drawOpen();
    this.board.mark([{ squares: told.bait.squares, kind: "trap" }].filter(({ squares }) => squares.length));
    this.#tell(sayMade(told.bait.text), "hint");
  }

  async #skip() {
    const { position } = this;
    const told = await this.#ask("POST", "/api/train/skip", { position: position.id });
    if (told === null || position !== this.position) return;
    this.seen.push(position.id);
    this.#next();
  }

  #solve(told) {
    const { position } = this;
    this.seen.push(position.id);
    this.position = null; // nothing is to be answered
    const line = new BaitLine({ steps: told.bait.line, onShow: (at) => this.#showStep(position, told, at) });
    this.#showStep(position, told, -1);
    const next = el("button", { type: "button", class: "button primary", "data-test": "next", onclick: () => this.#next() }, say("Next position"));
    const parts = solutionParts(told, { game: position.game, hasName: session.person !== null, isOfGame: this.from !== null, line });
    this.side.replaceChildren(next, ...parts.filter(Boolean));
    if (told.you) this.head.replaceChildren(...[strengthOf(told.you)].filter(Boolean).map((text) => el("span", {}, text)));
    play(told.right ? "yours" : "move");
    announce(parts.filter((part) => part && ["H2", "P"].includes(part.tagName)).map((part) => part.textContent).join(" "));
    next.focus({ preventScroll: true });
  }

  /** Show the position with its marks (-1), or the board after a move of the bait's line. */
  #showStep(position, told, at) {
    if (at < 0) {
      this.board.draw({ rows: position.rows, lastSquares: position.played.squares, highlights: position.highlights });
      this.board.mark(marksOf(told));
      return;
    }
    const { rows, squares, name } = told.bait.line[at];
    this.board.mark([]);
    this.board.draw({ rows, lastSquares: squares });
    announce(say("After {move}.", { move: name }));
  }
}
