// The list of moves; after the game it also steps through them.

import { ApiError, call } from "/static/common/api.js";
import { el, icon } from "/static/common/dom.js";
import { VERDICTS } from "/static/report/verdict.js";
import { say } from "/static/common/language.js";

const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

export class Moves {
  /** @param {{onShow: function(object|null)}} options `onShow` receives the step to show; null: the latest. */
  constructor({ onShow }) {
    this.onShow = onShow;
    this.count = 0;
    this.steps = null;
    this.at = null;
    this.closing = false;
    this.list = el("ol", { class: "moves", "aria-label": say("Moves"), tabindex: "0" });
    this.nav = el(
      "div",
      { class: "step-buttons", role: "group", "aria-label": say("Step through the game"), hidden: true },
      [["first", say("To the start"), -Infinity], ["left", say("Back"), -1], ["right", say("Forward"), 1], ["last", say("To the end"), Infinity]].map(([name, label, by]) =>
        el("button", { type: "button", class: "icon-button", "aria-label": label, title: label, "data-step": name, onclick: () => this.#step(by) }, icon(name)),
      ),
    );
    this.element = el("section", { class: "card moves-card" }, el("div", { class: "card-head" }, el("h2", {}, say("Moves")), this.nav), this.list);
    this.element.addEventListener("keydown", (event) => {
      if (!this.steps || !(event.key in KEYS)) return;
      event.preventDefault();
      this.#step(KEYS[event.key]);
    });
  }

  close() {
    this.closing = true;
  }

  /** Whether the board shows an earlier position instead of the latest. */
  get isStepping() {
    return this.at !== null;
  }

  draw(moves) {
    // Columns as wide as the longest name.
    const longest = Math.max(4, ...moves.map((name) => name.length));
    this.list.style.setProperty("--longest", longest);
    if (moves.length < this.count) {
      this.list.replaceChildren(); // after a takeback
      this.count = 0;
    }
    const isNew = moves.length !== this.count;
    for (; this.count < moves.length; this.count += 1) {
      const ply = this.count;
      if (ply % 2 === 0) this.list.append(el("li", {}, el("span", { class: "move-number" }, `${ply / 2 + 1}`)));
      this.list.lastElementChild.append(el("span", { class: "move", "data-ply": ply }, moves[ply]));
    }
    if (isNew) this.#mark();
  }

  /** Colour the bot's moves by their verdicts: [{ply, kind, isTrap}]. */
  judge(verdicts) {
    for (const { ply, kind } of verdicts) {
      const place = this.#place(ply);
      if (!place) continue;
      place.dataset.verdict = kind;
      place.title = VERDICTS[kind].label;
    }
  }

  async loadReplay(id) {
    let replay;
    try {
      replay = await call("GET", `/api/arena/game/${id}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return; // the list stays without replay
    }
    if (this.closing) return;
    this.steps = replay.steps.map((step, ply) => ({ ...step, ply }));
    this.nav.hidden = false;
    this.list.querySelectorAll("[data-ply]").forEach((place) => {
      const ply = Number(place.dataset.ply);
      place.replaceChildren(el("button", { type: "button", tabindex: "-1", onclick: () => this.#show(ply + 1) }, place.textContent));
    });
    this.#mark();
  }

  #step(by) {
    this.#show((this.at ?? this.count) + by);
  }

  #show(wanted) {
    const at = Math.max(0, Math.min(this.count, wanted));
    this.at = at === this.count ? null : at;
    this.#mark();
    this.onShow(this.at === null ? null : this.steps[at]);
  }

  #place(ply) {
    return this.list.querySelector(`[data-ply="${ply}"]`);
  }

  #mark() {
    const at = this.at ?? this.count;
    this.list.querySelectorAll(".move.current").forEach((old) => old.classList.remove("current"));
    const place = this.#place(at - 1);
    place?.classList.add("current");
    this.#scrollTo(place);
    for (const button of this.nav.children) {
      button.disabled = ["first", "left"].includes(button.dataset.step) ? at === 0 : at === this.count;
    }
  }

  /** Scroll a move into view within the list; scrollIntoView would scroll the whole page on a phone. */
  #scrollTo(place) {
    const line = place?.closest("li");
    if (!line) {
      this.list.scrollTop = 0;
      return;
    }
    const top = line.offsetTop - this.list.offsetTop;
    const bottom = top + line.offsetHeight;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    else if (bottom > this.list.scrollTop + this.list.clientHeight) {
      // Whole lines only: half a line at the top edge looks broken.
      const height = line.offsetHeight;
      this.list.scrollTop = Math.ceil((bottom - this.list.clientHeight) / height) * height;
    }
  }
}
