// The analysis of a finished game: what the bot's own search thinks of the position on the board.

import { call, tried } from "/static/common/api.js";
import { el, icon } from "/static/common/dom.js";
import { say, scoreText } from "/static/common/language.js";

const WAIT_MS = 250; // somebody who steps quickly does not look at each position

export class Analysis {
  /** @param {object} options `id` of the game, `theme` of the game, `onLines(lines)`: told what to show on the board. */
  constructor({ id, theme, onLines }) {
    this.id = id;
    this.theme = theme;
    this.onLines = onLines;
    this.ply = null;
    this.isOn = false;
    this.timer = null;
    this.known = new Map();
    this.button = el("button", { type: "button", class: "button small", "aria-expanded": "false", "data-test": "analyse", onclick: () => this.#toggle() }, icon("eye"), say("Analyse"));
    this.lines = el("div", { class: "analysis-lines", role: "status" });
    this.element = el("section", { class: "card analysis", "aria-label": say("Analysis"), hidden: true }, this.button, this.lines);
  }

  /** Offer it: the game is over. */
  open(ply) {
    this.element.hidden = false;
    this.ply = ply;
  }

  close() {
    clearTimeout(this.timer);
    this.isOn = false;
  }

  /** Number of moves after which the board shows the position. */
  show(ply) {
    this.ply = ply;
    if (!this.isOn) return;
    clearTimeout(this.timer);
    if (this.known.has(ply)) this.#draw(this.known.get(ply));
    else {
      this.#note(say("Looking…"));
      this.timer = setTimeout(() => this.#load(ply), WAIT_MS);
    }
  }

  #toggle() {
    this.isOn = !this.isOn;
    this.button.setAttribute("aria-expanded", String(this.isOn));
    this.button.lastChild.textContent = this.isOn ? say("Hide the analysis") : say("Analyse");
    clearTimeout(this.timer);
    this.lines.replaceChildren();
    if (this.isOn) this.show(this.ply);
    else this.onLines([]);
  }

  async #load(ply) {
    const [told, error] = await tried(call("GET", `/api/arena/game/${this.id}/analysis?ply=${ply}`));
    if (error) {
      if (this.isOn && this.ply === ply) {
        this.#note(error.message);
        if (error.status === 429) this.timer = setTimeout(() => this.#load(ply), 1000 * Math.min(30, error.waitS || 2));
      }
      return;
    }
    this.known.set(ply, told);
    if (this.isOn && this.ply === ply) this.#draw(told);
  }

  #note(text) {
    this.lines.replaceChildren(el("p", { class: "hint" }, text));
    this.onLines([]);
  }

  #draw({ toMove, depth, lines }) {
    if (!lines.length) {
      this.#note(say("The game is over in this position."));
      return;
    }
    const side = this.theme.sides[toMove] ?? toMove;
    this.lines.replaceChildren(
      el("ol", {}, lines.map(({ score, names }) => el("li", {}, el("strong", {}, scoreText(score)), " ", names.join(" ")))),
      el("p", { class: "hint" }, say("{side} to move, {depth} plies deep; plus is good for {side}.", { side, depth })),
    );
    this.onLines(lines);
  }
}
