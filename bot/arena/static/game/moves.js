// The list of moves, which also steps through them, while the game runs and afterwards.

import { call, tried } from "/static/common/api.js";
import { el, icon } from "/static/common/dom.js";
import { letters, moveName } from "/static/board/games.js";
import { say } from "/static/common/language.js";

const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

export class Moves {
  /**
   * @param {object} options `id` of the game; `onShow(step)` receives the step to show, null: the latest;
   *   `onFlip()` turns the board; null: it cannot be turned;
   *   `isNumberedInPairs` as in a game's theme;
   *   `isWatched`: nobody plays here, so that keys step through the moves wherever the focus is, the report included.
   */
  constructor({ id, onShow, onFlip, isWatched, isNumberedInPairs }) {
    this.id = id;
    this.isNumberedInPairs = isNumberedInPairs;
    this.onShow = onShow;
    this.onFlip = onFlip;
    this.isWatched = isWatched;
    this.count = 0;
    this.names = [];
    this.steps = null;
    this.at = null;
    this.closing = false;
    this.isReplay = false; // the game is over
    this.list = el("ol", { class: "moves", "aria-label": say("Moves"), tabindex: "0" });
    this.nav = el(
      "div",
      { class: "step-group", role: "group", "aria-label": say("Step through the game") },
      [["first", say("To the start"), -Infinity], ["left", say("Back"), -1], ["right", say("Forward"), 1], ["last", say("To the end"), Infinity]].map(([name, label, by]) =>
        el("button", { type: "button", class: "icon-button", "aria-label": label, title: label, "data-step": name, onclick: () => this.#step(by) }, icon(name)),
      ),
    );
    const turn = say("Turn the board");
    const flip = onFlip && el("button", { type: "button", class: "icon-button", "aria-label": turn, "aria-keyshortcuts": "f", title: turn, "data-test": "flip", onclick: onFlip }, icon("flip"));
    this.element = el("section", { class: "card moves-card" }, el("div", { class: "card-head" }, el("h2", {}, say("Moves")), el("div", { class: "step-buttons" }, flip, this.nav)), this.list);
    this.onKey = (event) => this.#onKey(event);
    document.addEventListener("keydown", this.onKey, isWatched);
    // Whatever appears beside the list takes room from it.
    this.sizes = new ResizeObserver(() => this.#scrollTo(this.#place((this.at ?? this.count) - 1)));
    this.sizes.observe(this.list);
  }

  close() {
    this.closing = true;
    this.sizes.disconnect();
    document.removeEventListener("keydown", this.onKey, this.isWatched);
  }

  /** Wherever the focus is, but where these keys have another meaning. */
  #onKey(event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!(event.key in KEYS) && !(event.key.toLowerCase() === "f" && this.onFlip)) return;
    if (event.target.closest?.("input, textarea, select, dialog")) return;
    if (!this.isWatched && event.target.closest?.("summary, .report-box, .squares :focus-visible")) return;
    // While the game goes on these scroll the page, unless the person is at the board or the moves.
    if (["Home", "End"].includes(event.key) && !this.isReplay && !this.isWatched && !event.target.closest?.(".game")) return;
    event.preventDefault();
    if (this.isWatched) event.stopPropagation();
    if (event.key in KEYS) this.#step(KEYS[event.key]);
    else this.onFlip();
  }

  /** Whether the board shows an earlier position instead of the latest. */
  get isStepping() {
    return this.at !== null;
  }

  draw(moves) {
    this.names = moves;
    // Columns as wide as the longest name.
    const longest = Math.max(4, ...moves.map((name) => letters(moveName(name))));
    this.list.style.setProperty("--longest", longest);
    if (moves.length < this.count) {
      this.list.replaceChildren(); // after a takeback
      this.count = 0;
    }
    const isNew = moves.length !== this.count;
    if (isNew) this.at = null; // somebody has moved: back to the game
    for (; this.count < moves.length; this.count += 1) {
      const ply = this.count;
      if (ply % 2 === 0) this.list.append(el("li", {}, el("span", { class: "move-number" }, `${this.#numberAt(ply)}`)));
      this.list.lastElementChild.append(el("span", { class: "move", "data-ply": ply }, el("button", { type: "button", tabindex: "-1", onclick: () => this.#show(ply + 1) }, moveName(moves[ply]))));
    }
    if (isNew) this.#mark();
  }

  #numberAt(ply) {
    return 1 + (this.isNumberedInPairs ? ply / 2 : this.names.slice(0, ply).filter((name) => name !== "pass").length);
  }

  /**
   * Colour the replies by the verdicts on the bot's moves before them: [{ply, kind, label}]; a move without a reply
   * itself. `person`: the replies' player, for somebody else; null: they look at it themselves.
   */
  judge(verdicts) {
    for (const { ply, kind, label } of verdicts) {
      const place = this.#place(ply + 1) ?? this.#place(ply);
      if (!place) continue;
      place.dataset.verdict = kind;
      place.title = label;
    }
  }

  /** Load the positions of the moves so far, unless they are at hand. */
  async loadSteps() {
    if (this.steps?.slice(1).map(({ name }) => name).join() === this.names.join()) return;
    const [replay] = await tried(call("GET", `/api/arena/game/${this.id}`));
    if (replay === null) return; // without them the list stays a list
    this.steps = replay.steps.map((step, ply) => ({ ...step, ply }));
    this.nav.dataset.loaded = "";
  }

  /** Show the move that the page's address names by its ply, as in `/game/ID#12`. */
  showAddressed() {
    const ply = /^#([0-9]{1,4})$/.exec(location.hash)?.[1];
    if (ply !== undefined && ply < this.count) this.#show(Number(ply) + 1);
  }

  #step(by) {
    this.#show((this.at ?? this.count) + by);
  }

  async #show(wanted) {
    const at = Math.max(0, Math.min(this.count, wanted));
    this.at = at === this.count ? null : at;
    this.#mark();
    if (this.at !== null) await this.loadSteps();
    if (this.closing || (this.at ?? this.count) !== at) return; // they have gone on meanwhile
    const step = this.at === null ? null : this.steps?.[at];
    if (step === undefined) this.at = null;
    else this.onShow(step);
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
      // Not `disabled`, which would throw the focus away.
      button.setAttribute("aria-disabled", String(["first", "left"].includes(button.dataset.step) ? at === 0 : at === this.count));
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
