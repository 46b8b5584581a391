// A game as anybody sees it: live without scores or traps, and after its end with replay, files and the trap report.

import { ApiError, followUntilStopped } from "/static/common/api.js";
import { theme } from "/static/board/games.js";
import { announce, el } from "/static/common/dom.js";
import { say } from "/static/common/language.js";
import { COLOURS, GameView, otherColour } from "/static/game/game_view.js";
import { GameTools } from "/static/game/tools.js";
import { ReportSection } from "/static/report/report.js";
import { WAYS } from "/static/game/result.js";
import { play } from "/static/common/sound.js";

const STEPS = { ArrowLeft: "left", ArrowRight: "right", Home: "first", End: "last" };
const CROWD_MS = 4000; // all spectators load the replay when a game ends: spread their requests

export class WatchScreen {
  constructor(main, context, id) {
    this.main = main;
    this.context = context;
    this.id = id;
    this.full = null;
    this.closing = new AbortController();
    this.restart = () => {};
    this.onKey = (event) => this.#onKey(event);
  }

  get isOver() {
    return this.full !== null && this.full.state.status !== "started";
  }

  async open() {
    this.main.replaceChildren(el("p", { class: "loading" }, el("span", { class: "spinner", "aria-hidden": "true" }), say("Opening the game…")));
    try {
      while (!this.closing.signal.aborted && !this.isOver) await this.#follow();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#fail(error);
    }
  }

  close() {
    this.closing.abort();
    clearTimeout(this.timer);
    document.removeEventListener("keydown", this.onKey, true);
    this.view?.close();
    this.report?.close();
  }

  #follow() {
    return followUntilStopped(`/api/arena/game/${this.id}/watch`, {
      signal: this.closing.signal,
      keepAliveS: this.full?.keepAlive,
      onStart: (stop) => {
        this.restart = stop;
      },
      onEvent: (event) => this.#onEvent(event),
      onLink: (link) => this.#onLink(link),
    });
  }

  #fail(error) {
    if (this.closing.signal.aborted) return;
    this.context.showLink("live");
    if (error.status === 403) {
      this.context.askName();
      return;
    }
    this.main.replaceChildren(
      el(
        "div",
        { class: "card notice" },
        el("h1", {}, error.status === 404 ? say("There is no such game.") : say("The game cannot be opened.")),
        error.status === 404 ? null : el("p", {}, error.message),
        el("a", { class: "button primary", href: "/", "data-link": true }, say("Play a game")),
      ),
    );
  }

  #onLink(link) {
    this.isLive = link === "live";
    this.context.showLink(link, () => this.restart());
    if (this.full) this.#draw();
  }

  #onEvent(full) {
    const before = this.full;
    this.full = full;
    if (!before) this.#build();
    const { view } = full.state;
    const more = before ? view.moves.length - before.state.view.moves.length : 0;
    this.#draw();
    if (more > 0) {
      announce(this.view.wordsOfLastMove(view, this.isOver));
      play("move");
    }
    if (!this.isOver) return undefined;
    this.#onEnd(before !== null);
    return "done";
  }

  // --- Drawing -------------------------------------------------------------------------------------------

  #build() {
    const { full } = this;
    const { game, title, colours } = full.state.view;
    this.view = new GameView(this.main, {
      full,
      view: full.state.view,
      variants: [{ key: full.variant.key, name: title, game, colours }],
      colour: null,
      me: null,
      actions: {},
    });
    this.view.chat.element.remove(); // what players say to each other is theirs
    this.tools = new GameTools({ id: this.id, canFlip: theme(game).canFlip, isPublic: true });
    if (!this.isOver || full.state.view.moves.length) this.tools.showKeys();
    this.tools.offer(full.files ?? []);
    this.main.querySelector(".status").append(...this.tools.elements);
    document.addEventListener("keydown", this.onKey, true);
  }

  #draw() {
    const { state } = this.full;
    this.view.draw({ state, view: state.view, isOver: this.isOver, isLive: this.isLive, sent: null, premove: null, gone: false, rematchId: null });
    const way = state.winner ? WAYS[state.status]?.(this.full[otherColour(state.winner)].name) : null;
    if (way) this.view.detail.textContent = way;
    document.title = `${this.full.white.name} – ${this.full.black.name} – Desdemona`;
  }

  /** Keys for the replay, wherever the focus is, but where a text is being written or something chosen. */
  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest?.("input, textarea, select, dialog")) return;
    const { moves } = this.view;
    if (event.key.toLowerCase() === "f" && moves.onFlip) moves.onFlip();
    else if (event.key in STEPS) {
      moves.nav.querySelector(`[data-step="${STEPS[event.key]}"]`).click();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // --- The end -------------------------------------------------------------------------------------------

  #onEnd(sawItEnd) {
    this.context.showLink("live");
    this.isLive = true;
    this.#draw();
    this.tools.offer(this.full.files ?? []);
    if (sawItEnd) {
      const { title, detail } = this.view.result(this.full.state, this.full.state.view);
      announce(`${title}. ${detail}`);
      play("end");
    }
    if (!this.full.state.view.moves.length) return;
    this.timer = setTimeout(() => this.#openReplay(), sawItEnd ? Math.random() * CROWD_MS : 0);
  }

  #openReplay() {
    const bot = COLOURS.find((colour) => this.full[colour].title === "BOT");
    if (bot) this.#openReport(this.full[bot].name, this.full[otherColour(bot)].name);
    this.view.openReplay((ply) => this.report?.showPly(ply));
    // Without a bot there is no report to show.
    this.view.reportBox.hidden = !bot;
    if (!bot) this.main.querySelector("[data-test=to-report]")?.remove();
  }

  #openReport(bot, person) {
    this.report = new ReportSection(this.view.reportBox, {
      id: this.id,
      game: this.view.gameKey,
      opponent: bot,
      person,
      isTurned: this.view.board.isTurned,
      onVerdicts: (verdicts) => this.view.moves.judge(verdicts),
    });
    this.report.open();
  }
}
