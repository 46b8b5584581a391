// A game as anybody sees it: live without scores or traps, and after its end with replay, files and the trap report.

import { theme } from "/static/board/games.js";
import { announce } from "/static/common/dom.js";
import { say } from "/static/common/language.js";
import { COLOURS, GameView, otherColour } from "/static/game/game_view.js";
import { StreamedGame } from "/static/game/screen.js";
import { GameTools } from "/static/game/tools.js";
import { WAYS } from "/static/game/result.js";
import { play } from "/static/common/sound.js";

const CROWD_MS = 4000; // all spectators load the replay when a game ends: spread their requests

export class WatchScreen extends StreamedGame {
  constructor(main, context, id) {
    super(main, context, id);
    this.path = `/api/arena/game/${id}/watch`;
  }

  get isOver() {
    return this.full !== null && this.full.state.status !== "started";
  }

  get keepAliveS() {
    return this.full?.keepAlive;
  }

  close() {
    super.close();
    clearTimeout(this.timer);
  }

  onFailure(error) {
    if (error.status === 403) this.context.askName();
    else this.showFailure(error, error.status === 404 ? say("There is no such game.") : null, say("Play a game"));
  }

  onLink() {
    if (this.full) this.#draw();
  }

  onEvent(full) {
    const before = this.full;
    this.full = full;
    if (!before) this.#build();
    const { view } = full.state;
    const more = before ? view.moves.length - before.state.view.moves.length : 0;
    this.#draw();
    if (more > 0) {
      announce(this.screen.wordsOfLastMove(view, this.isOver));
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
    this.screen = new GameView(this.main, {
      full,
      view: full.state.view,
      variants: [{ key: full.variant.key, name: title, game, colours }],
      colour: null,
      me: null,
      actions: {},
    });
    this.screen.chat.element.remove(); // what players say to each other is theirs
    this.tools = new GameTools({ id: this.id, canFlip: theme(game).canFlip, isPublic: true });
    if (!this.isOver || full.state.view.moves.length) this.tools.showKeys();
    this.tools.offer(full.files ?? []);
    this.main.querySelector(".status").append(...this.tools.elements);
  }

  #draw() {
    const { state } = this.full;
    this.screen.draw({ state, view: state.view, isOver: this.isOver, isLive: this.isLive, sent: null, premove: null, gone: false, rematchId: null });
    const way = state.winner ? WAYS[state.status]?.(this.full[otherColour(state.winner)].name) : null;
    if (way) this.screen.detail.textContent = way;
    document.title = `${this.full.white.name} – ${this.full.black.name} – Desdemona`;
  }

  // --- The end -------------------------------------------------------------------------------------------

  #onEnd(sawItEnd) {
    this.context.showLink("live");
    this.isLive = true;
    this.#draw();
    this.tools.offer(this.full.files ?? []);
    if (sawItEnd) {
      const { title, detail } = this.screen.result(this.full.state, this.full.state.view);
      announce(`${title}. ${detail}`);
      play("end");
    }
    if (!this.full.state.view.moves.length) return;
    this.timer = setTimeout(() => this.#openReplay(), sawItEnd ? Math.random() * CROWD_MS : 0);
  }

  #openReplay() {
    const bot = COLOURS.find((colour) => this.full[colour].title === "BOT");
    if (bot && this.full.state.status !== "aborted") this.openReport(this.full[bot].name, this.full[otherColour(bot)].name);
    this.screen.openReplay((ply) => this.report?.showPly(ply));
  }
}
