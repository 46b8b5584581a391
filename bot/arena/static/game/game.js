// One game: follows its stream, holds the server's latest state, and performs the person's actions.

import { ApiError, call, NAME_LOST, session, tried } from "/static/common/api.js";
import { awaitAnswer, cancelChallenge } from "/static/common/challenge.js";
import { announce, confirmDialog, toast } from "/static/common/dom.js";
import { forgetWho } from "/static/common/header.js";
import { CHALLENGES, decline, lookForChallenges } from "/static/common/incoming.js";
import { COLOURS, GameView, otherColour } from "/static/game/game_view.js";
import { StreamedGame } from "/static/game/screen.js";
import { GameTools } from "/static/game/tools.js";
import { play } from "/static/common/sound.js";
import { say } from "/static/common/language.js";

const OPEN_STATES = ["created", "started"];
const RETRY_MS = 1500;
const REFUSALS = {
  401: NAME_LOST,
  403: say("This game does not exist, or it is not yours."),
  404: say("This game does not exist, or it is not yours."),
};

export class GameScreen extends StreamedGame {
  constructor(main, context, id) {
    super(main, context, id);
    this.path = `/api/board/game/stream/${id}`;
    this.state = null;
    this.view = null;
    this.colour = null;
    this.sent = null;
    this.premove = null; // squares of a move to be made when it is the person's turn
    this.gone = false;
    this.rematchId = null;
    this.offerId = null; // the opponent's challenge to a rematch
    this.onChallenges = ({ detail }) => {
      const offer = detail.find(({ rematchOf }) => rematchOf === id)?.id ?? null;
      if (offer && offer !== this.offerId) announce(say("{name} offers a rematch.", { name: this.opponent }));
      this.offerId = offer;
      this.#draw();
    };
    document.addEventListener(CHALLENGES, this.onChallenges);
  }

  close() {
    super.close();
    document.removeEventListener(CHALLENGES, this.onChallenges);
    document.body.classList.remove("in-game");
  }

  get keepAliveS() {
    return this.arena.keepAlive;
  }

  get isOver() {
    return this.state !== null && !OPEN_STATES.includes(this.state.status);
  }

  async prepare() {
    for (;;) {
      const [arena, error] = await tried(call("GET", "/api/arena"));
      if (arena) {
        this.arena = arena;
        return;
      }
      if (this.isClosed || (error.status && error.status < 500)) throw error;
      this.context.showLink("lost");
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  onFailure(error) {
    if ([403, 404].includes(error.status) && this.full === null) {
      this.context.watch(); // somebody else's game, or none at all
      return;
    }
    if (error.status === 401) forgetWho();
    this.showFailure(error, REFUSALS[error.status], say("Start a new game"));
  }

  onLink() {
    this.#draw();
    if (this.isLive) this.screen?.chat.load();
  }

  onEvent(event) {
    if (event.type === "gameFull") this.#onFull(event);
    else if (event.type === "gameState" && this.full) this.#onState(event);
    else if (event.type === "chatLine") this.screen?.chat.load();
    else if (event.type === "opponentGone") {
      this.gone = event.gone;
      this.#draw();
    }
    return this.isOver ? "done" : undefined;
  }

  #onFull(event) {
    const isFirst = this.full === null;
    this.full = event;
    if (isFirst) {
      this.colour = COLOURS.find((colour) => event[colour]?.id === session.person?.id) ?? null;
      const opponent = event[otherColour(this.colour ?? "white")];
      this.opponent = opponent.name;
      this.screen = new GameView(this.main, {
        full: event,
        view: event.state.view,
        variants: this.arena.variants,
        colour: this.colour,
        me: session.person?.name,
        mayTakeBack: this.arena.bots.find(({ id }) => id === opponent.id)?.takebacks ?? true,
        actions: {
          move: (move) => this.#move(move),
          premove: (squares) => this.#setPremove(squares),
          act: (action, query) => this.#act(action, query),
          resign: () => this.#resign(),
          rematch: () => this.#rematch(),
          cancelRematch: () => this.#cancelRematch(),
          declineRematch: () => decline(this.offerId),
        },
      });
      this.tools = new GameTools({ id: this.id, canFlip: this.screen.theme.canFlip, isPublic: this.arena.public });
      this.main.querySelector(".status").append(...this.tools.elements);
      this.screen.chat.load();
    }
    this.#onState(event.state);
  }

  #onState(state) {
    const before = this.view;
    const wasOver = this.isOver;
    const hadOffered = this.#hasOffered("draw");
    const hadAsked = this.#hasOffered("takeback");
    this.state = state;
    this.view = state.view;
    const isNew = before === null || before.moves.join() !== this.view.moves.join();
    const isBack = isNew && before !== null && this.view.moves.length < before.moves.length;
    if (isNew) this.sent = null;
    if (isBack || this.isOver) this.premove = null;
    this.#draw();
    if (isNew && before && this.view.moves.length > before.moves.length) {
      announce(this.screen.wordsOfLastMove(this.view, this.isOver));
      play(this.view.toMove === this.screen.mySide ? "yours" : "move");
    }
    if (isBack) announce(say("The last moves were taken back."));
    if (!isNew && !this.isOver) {
      if (hadOffered && !this.#hasOffered("draw")) toast(say("{name} declined the draw.", { name: this.opponent }), "note");
      if (hadAsked && !this.#hasOffered("takeback")) toast(say("{name} declined the takeback.", { name: this.opponent }), "note");
    }
    this.#playPremove();
    if (this.isOver && !wasOver) this.#onEnd(before !== null);
  }

  /** Whether the person's offer stands: a "draw" or a "takeback". */
  #hasOffered(what) {
    return this.colour !== null && Boolean(this.state?.[`${this.colour[0]}${what}`]);
  }

  #draw() {
    if (!this.state) return;
    const { state, view, isOver, isLive, sent, premove, gone, rematchId, offerId } = this;
    // A challenge must not come between a player and the board.
    document.body.classList.toggle("in-game", this.colour !== null && !isOver);
    this.screen.draw({ state, view, isOver, isLive, sent, premove, gone, rematchId, offerId });
  }

  // --- The person's actions ------------------------------------------------------------------------------

  async #move(move) {
    if (this.sent) return;
    const ply = this.view.moves.length;
    this.sent = move;
    this.#draw();
    const [, error] = await tried(call("POST", `/api/board/game/${this.id}/move/${encodeURIComponent(move)}?ply=${ply}`));
    if (!error || this.view.moves.length !== ply) return; // it was played, perhaps after all
    this.sent = null;
    if (error.status !== 0) toast(error.message);
    // Whatever went wrong, show the server's current state.
    this.restart();
    this.#draw();
  }

  #setPremove(squares) {
    this.premove = squares;
    announce(squares ? say("Your next move is set: {move}.", { move: squares.join(" ") }) : say("No next move is set."));
    this.#draw();
  }

  /** Now it is the person's turn: make the move set before, if it is legal. */
  #playPremove() {
    if (!this.premove || this.isOver || this.view.toMove !== this.screen.mySide) return;
    const wanted = this.premove.join();
    this.premove = null;
    // Of several that differ in the piece that a pawn becomes, the most valuable one.
    const fitting = this.view.legal.filter(({ squares }) => squares.join() === wanted);
    if (fitting.length) this.#move(this.screen.board.mostValuable(fitting).move);
    else this.#draw();
  }

  async #act(action, query = "") {
    const [, error] = await tried(call("POST", `/api/board/game/${this.id}/${action}${query}`));
    if (error) toast(error.message);
  }

  async #resign() {
    this.resigning = new AbortController();
    const yes = await confirmDialog({
      signal: this.resigning.signal,
      title: say("Resign this game?"),
      text: this.full.rated ? say("It is rated: resigning counts as a loss.") : say("The game ends at once."),
      yes: say("Resign"),
    });
    if (yes && !this.isOver) await this.#act("resign");
  }

  async #rematch() {
    const waiting = new AbortController();
    this.rematchId = "…";
    this.rematchWait = waiting;
    this.#draw();
    let note = "";
    try {
      const { id } = await call("POST", `/api/board/game/${this.id}/rematch`);
      this.rematchId = id;
      const outcome = await awaitAnswer(id, { signal: waiting.signal, keepAliveS: this.arena.keepAlive });
      if (this.isClosed) return;
      if (outcome.kind === "accepted") {
        this.context.go(`/game/${id}`);
        return;
      }
      if (outcome.kind === "declined") note = say("{name} declined the rematch. {why}", { name: this.opponent, why: outcome.why });
      if (outcome.kind === "expired") note = say("{name} did not answer.", { name: this.opponent });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      note = error.message;
    }
    this.rematchId = null;
    this.#draw();
    if (note) toast(note, "note");
  }

  #cancelRematch() {
    const id = this.rematchId;
    this.rematchWait?.abort();
    if (id && id !== "…") cancelChallenge(id).catch(() => {}); // too late or no link: it expires by itself
  }

  // --- The end -------------------------------------------------------------------------------------------

  #onEnd(sawItEnd) {
    this.context.showLink("live");
    this.resigning?.abort();
    this.isLive = true;
    this.gone = false;
    if (sawItEnd) {
      announce(say("{title}. {detail}", this.screen.result(this.state, this.view)));
      play("end");
    }
    this.screen.chat.watchFarewell();
    this.tools.offer(this.view.files);
    lookForChallenges(); // the opponent may have offered a rematch already
    if (!this.view.moves.length) return;
    if (this.screen.hasReport && this.state.status !== "aborted") this.openReport(this.opponent);
    this.tools.showKeys();
    this.screen.openReplay((ply) => this.report?.showPly(ply));
  }
}
