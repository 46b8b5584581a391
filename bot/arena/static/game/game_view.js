// The game screen, drawn from the server's state: bars, board, status, buttons, moves, chat.

import { Analysis } from "/static/game/analysis.js";
import { Board } from "/static/board/board.js";
import { Chat } from "/static/game/chat.js";
import { Clocks } from "/static/game/clock.js";
import { el, icon } from "/static/common/dom.js";
import { boardShape, pieceElement, pieceName, theme } from "/static/board/games.js";
import { Moves } from "/static/game/moves.js";
import { oddsText } from "/static/common/odds.js";
import { resultOf } from "/static/game/result.js";
import { fromServer, say, sayAll } from "/static/common/language.js";

export const COLOURS = ["white", "black"];
export const otherColour = (colour) => (colour === "white" ? "black" : "white");

export class GameView {
  constructor(main, { full, view, variants, colour, me, mayTakeBack = true, actions }) {
    this.full = full;
    this.colour = colour;
    this.actions = actions;
    this.mayTakeBack = mayTakeBack; // else the opponent always refuses
    // A variant that the page does not offer looks like its base game, and has the API's name.
    const offered = variants.find(({ key }) => key === full.variant.key);
    this.variant = offered ?? variants.find(({ game }) => game === view.game);
    this.gameName = offered?.name ?? (full.odds ? this.variant.name : full.variant.name);
    this.gameKey = view.game;
    this.theme = theme(this.gameKey);
    this.sides = view.sides;
    this.opponent = full[otherColour(colour ?? "white")].name;
    const bots = COLOURS.map((each) => full[each]).filter(({ title }) => title === "BOT").map(({ name }) => name);
    this.hasReport = bots.length > 0; // reports are about a bot's moves
    this.chat = new Chat(full.id, { me, canTalk: colour !== null, bots });
    this.moves = new Moves({ id: full.id, onShow: (step) => this.#showStep(step), onFlip: this.theme.canFlip ? () => this.#flip() : null, isWatched: colour === null, isNumberedInPairs: this.theme.isNumberedInPairs });
    this.analysis = new Analysis({ id: full.id, theme: this.theme, onLines: (lines) => this.#markLines(lines) });
    this.#build(main, view);
  }

  close() {
    this.clocks.stop();
    this.analysis.close();
    clearInterval(this.firstMoveTimer);
    this.chat.close();
    this.moves.close();
  }

  /** The game's name for the person's side; null for a spectator. */
  get mySide() {
    return this.sides.find((side) => this.#colourOf(side) === this.colour) ?? null;
  }

  #colourOf(side) {
    // The API only has white and black, whatever the game calls its sides.
    return this.variant.colours[side];
  }

  /** Whether the board is shown from the second side. */
  get #isTurned() {
    return this.theme.turns && this.colour !== null && this.colour !== this.#colourOf(this.sides[0]);
  }

  #build(main, view) {
    const { full } = this;
    const below = this.colour ?? this.#colourOf(this.sides[0]);
    const above = otherColour(below);
    const { move: onMove, premove: onPremove } = this.actions;
    const label = say("{game} board", { game: fromServer(this.gameName) });
    this.board = new Board({ game: this.gameKey, label, onMove, onPremove, isTurned: this.#isTurned });
    this.bars = { [above]: this.#bar(above), [below]: this.#bar(below) };
    this.clocks = new Clocks({ white: this.bars.white.clock, black: this.bars.black.clock });
    this.status = el("div", { class: "status-line" });
    this.detail = el("p", { class: "status-detail" });
    this.buttons = el("div", { class: "actions" });
    this.reportBox = el("section", { class: "report-box", id: "report", hidden: true, "aria-label": say("Trap report"), tabindex: "-1" });
    main.style.setProperty("--shape", boardShape(this.gameKey, view.rows));
    const clock = full.clock ? `${full.clock.initial / 60_000}+${full.clock.increment / 1000}` : say("no clock");
    const terms = [fromServer(this.gameName), clock, full.rated ? say("rated") : say("casual")].join(" · ");
    const names = { game: fromServer(this.gameName), one: full[above].name, other: full[below].name };
    main.replaceChildren(
      el("h1", { class: "visually-hidden" }, say("{game}: {one} against {other}", names)),
      el(
        "div",
        { class: "game" },
        (this.table = el("div", { class: "table" }, this.bars[above].element, this.board.element, this.bars[below].element)),
        el(
          "aside",
          { class: "side" },
          el("section", { class: "card status", "aria-label": say("State of the game") }, el("p", { class: "terms" }, terms), full.odds ? el("p", { class: "terms odds" }, oddsText(full.odds.name, full[full.odds.color].name, full[otherColour(full.odds.color)].name)) : null, this.status, this.detail, this.buttons),
          this.analysis.element,
          this.moves.element,
          this.chat.element,
        ),
      ),
      this.reportBox,
    );
  }

  #bar(colour) {
    const player = this.full[colour];
    const clock = el("span", { class: "clock", role: "timer", "aria-label": say("Clock of {name}", player) });
    const count = el("span", { class: "count", title: this.theme.counts });
    const diff = el("span", { class: "diff" });
    const taken = el("span", { class: "taken" });
    const side = this.sides.find((each) => this.#colourOf(each) === colour);
    const rating = `${player.rating}${player.provisional ? "?" : ""}`;
    const element = el(
      "div",
      { class: "bar", "data-colour": colour },
      el("span", { class: `avatar avatar-${side}`, "aria-hidden": "true" }),
      el(
        "span",
        { class: "bar-name" },
        el("strong", {}, player.name),
        player.title === "BOT" ? el("span", { class: "badge" }, "BOT") : null,
        el("span", { class: "rating" }, rating, diff),
        taken,
      ),
      count,
      clock,
    );
    return { element, clock, count, diff, taken };
  }

  // --- Drawing -------------------------------------------------------------------------------------------

  /** Show board and players from the other side. */
  #flip() {
    this.board.turn();
    const [above, , below] = this.table.children;
    this.table.replaceChildren(below, this.board.element, above);
    if (this.step) this.#showStep(this.step);
    else this.draw(this.model);
  }

  draw(model) {
    const { state, view, isOver, isLive, sent, premove } = model;
    this.model = model;
    this.moves.draw(view.names);
    if (!this.moves.isStepping) this.step = null;
    const toMove = isOver || !view.toMove ? null : this.#colourOf(view.toMove);
    const isMine = toMove !== null && toMove === this.colour;
    const legal = isMine ? view.legal : [];
    const canMove = isMine && isLive && !sent;
    if (!this.moves.isStepping) {
      const { rows, lastSquares, highlights } = view;
      const premover = toMove !== null && this.colour !== null && !isMine && isLive && view.moves.length ? this.sides.indexOf(this.mySide) : null;
      this.board.draw({ rows, lastSquares, highlights, legal: legal.filter(({ squares }) => squares.length), enabled: canMove, pending: sent, premover, premove });
      this.#drawTaken(rows);
    }
    if (this.clockState !== state) {
      // The clocks start when both sides have moved, and stand while the server cannot store moves.
      const isRunning = !isOver && state.status === "started" && view.moves.length >= 2 && !view.clocksStand;
      this.clocks.set({ white: state.wtime, black: state.btime }, isRunning ? toMove : null);
      this.clockState = state;
    }
    for (const side of this.sides) {
      const bar = this.bars[this.#colourOf(side)];
      if (!this.moves.isStepping) this.#drawCount(bar, view.counts?.[side]);
      this.#drawDiff(bar.diff, view.ratingDiffs?.[side]);
      bar.element.classList.toggle("turn", toMove === this.#colourOf(side));
      bar.element.classList.toggle("winner", isOver && state.winner === this.#colourOf(side));
    }
    const passes = legal.filter(({ squares }) => !squares.length);
    this.#drawStatus(model, { isMine, mustPass: passes.length > 0 && passes.length === legal.length });
    this.#drawButtons(model, canMove ? passes : []);
    const game = fromServer(this.gameName);
    document.title = isOver ? say("Game over – {game} – Desdemona", { game }) : isMine && isLive ? say("● Your move – {game} – Desdemona", { game }) : `${game} – Desdemona`;
  }

  #drawCount(bar, count) {
    bar.count.textContent = this.theme.counts && count !== undefined ? count : "";
  }

  /** Each side's surplus of captured pieces, in games whose pieces have values. */
  #drawTaken(rows) {
    const { worth } = this.theme;
    if (!worth) return;
    const letters = rows.join("");
    if (this.countedLetters === letters) return;
    this.countedLetters = letters;
    const count = (letter) => letters.split(letter).length - 1;
    const more = Object.keys(worth).map((letter) => ({ letter, by: count(letter) - count(letter.toLowerCase()) }));
    this.sides.forEach((side, i) => {
      const taken = more.flatMap(({ letter, by }) => Array(Math.max(0, i === 0 ? by : -by)).fill(i === 0 ? letter.toLowerCase() : letter));
      const { taken: place } = this.bars[this.#colourOf(side)];
      place.replaceChildren(...taken.map((letter) => el("span", { class: "taken-piece" }, pieceElement(this.gameKey, letter))));
      place.title = taken.map((letter) => pieceName(this.gameKey, letter)).join(", ");
    });
  }

  #drawDiff(face, diff) {
    if (diff === undefined || diff === null) return;
    face.textContent = ` ${diff < 0 ? "−" : "+"}${Math.abs(diff)}`;
    face.classList.toggle("down", diff < 0);
    face.classList.toggle("up", diff >= 0);
  }

  #drawStatus(model, { isMine, mustPass }) {
    const { state, view, isOver, isLive, sent, gone, rematchId, offerId } = model;
    const passed = view.moves.length > 0 && !view.lastSquares.length;
    const pointed = sayAll(view.highlights.map((highlight) => fromServer(highlight.text)));
    let [text, detail] = ["", ""];
    clearInterval(this.firstMoveTimer);
    if (isOver) {
      const result = this.result(state, view);
      text = result.title;
      detail = rematchId ? say("Waiting for {name} to accept the rematch…", { name: this.opponent }) : offerId ? say("{name} offers a rematch.", { name: this.opponent }) : result.detail;
      this.status.dataset.result = result.kind;
    } else if (!isLive) text = say("Reconnecting…");
    else if (sent) text = say("Sending your move…");
    else if (mustPass) [text, detail] = [say("You have no move"), say("You have to pass.")];
    else if (isMine) [text, detail] = [say("Your move"), passed ? say("{name} had no move and passed.", { name: this.opponent }) : pointed];
    else if (this.colour) [text, detail] = [say("{name} is thinking…", { name: this.opponent }), passed ? say("You passed.") : pointed];
    else if (view.mustPass) text = say("{name} has to pass", this.full[this.#colourOf(view.toMove)]);
    else text = say("{name} to move", this.full[this.#colourOf(view.toMove)]);
    if (!isOver && isLive && gone) detail = say("{name} has left the game.", { name: this.opponent });
    else if (!isOver && this.step) detail = say("The board shows an earlier position.");
    else if (!isOver && model.premove) detail = say("Your next move is set. Touch the board to take it back.");
    if (this.status.textContent !== text) this.status.textContent = text;
    const hasDeadline = state.expiration || (isMine && state.slotWanted);
    if (!isOver && isLive && !gone && !this.step && !model.premove && hasDeadline) this.#countDown(state, isMine);
    else if (this.detail.textContent !== detail) this.detail.textContent = detail;
  }

  /** The time for the first move; or for any move, if others wait for the slot. */
  #countDown(state, isMine) {
    const { expiration, slotWanted } = state;
    if (this.expirationOf !== state) {
      this.expirationOf = state;
      const millis = expiration ? expiration.millisToMove - expiration.idleMillis : slotWanted.millisToMove;
      this.expiresAt = performance.now() + millis;
    }
    const show = () => {
      const left = Math.max(0, Math.ceil((this.expiresAt - performance.now()) / 1000));
      if (!expiration) this.detail.textContent = say("Others are waiting for a game. Move within {n} s, or you lose this one.", { n: left });
      else this.detail.textContent = isMine ? say("Make your first move within {n} s.", { n: left }) : say("Time for the first move: {n} s.", { n: left });
    };
    show();
    this.firstMoveTimer = setInterval(show, 500);
  }

  #drawButtons({ state, view, isOver, isLive, gone, rematchId, offerId }, passes) {
    const offers = { white: Boolean(state.wdraw), black: Boolean(state.bdraw) };
    const isOffered = this.colour !== null && offers[otherColour(this.colour)];
    const hasOffered = this.colour !== null && offers[this.colour];
    const back = { white: Boolean(state.wtakeback), black: Boolean(state.btakeback) };
    const isAsked = this.colour !== null && back[otherColour(this.colour)];
    const hasAsked = this.colour !== null && back[this.colour];
    const hasBegun = view.moves.length >= 2;
    const hasMoved = view.moves.length > this.sides.indexOf(this.mySide);
    const signature = JSON.stringify([isOver, passes, isLive, hasBegun, hasMoved, isOffered, hasOffered, isAsked, hasAsked, gone, rematchId, offerId]);
    if (signature === this.buttonSignature) return;
    this.buttonSignature = signature;
    const { move, act, resign, rematch, cancelRematch, declineRematch } = this.actions;
    const button = (name, text, onclick, { kind = "", image = null } = {}) =>
      el("button", { type: "button", class: `button ${kind}`, onclick, "data-test": name, disabled: !isLive && !isOver }, image ? icon(image) : null, text);
    const main = (image) => ({ kind: "primary", image });
    // The request names the number of moves to keep, so that a retry after a lost answer takes back no more.
    const takeBack = (colour) => {
      const { moves, toMove } = this.model.view;
      act("takeback/yes", `?ply=${moves.length - (this.#colourOf(toMove) === colour ? 2 : 1)}`);
    };
    const buttons = [];
    if (isOver) {
      if (this.colour && rematchId) buttons.push(button("rematch-cancel", say("Cancel rematch"), cancelRematch));
      else if (offerId) buttons.push(button("rematch", say("Accept rematch"), rematch, main("again")), button("rematch-no", say("Decline"), declineRematch));
      else if (this.colour) buttons.push(button("rematch", say("Rematch"), rematch, main("again")));
      if (view.moves.length && this.hasReport && state.status !== "aborted") buttons.push(button("to-report", say("See the traps"), () => this.#toReport(), { image: "trap" }));
      buttons.push(el("a", { class: "button", href: "/", "data-link": true, "data-test": "new-game" }, say("New game")));
    } else if (this.colour) {
      for (const pass of passes) buttons.push(button("pass", pass.move === "pass" ? say("Pass") : pass.move, () => move(pass.move), main("skip")));
      if (gone) buttons.push(button("claim", say("Claim the win"), () => act("claim-victory"), main("cup")));
      if (isAsked) {
        buttons.push(button("takeback-yes", say("Allow the takeback"), () => takeBack(otherColour(this.colour)), main("undo")), button("takeback-no", say("Decline the takeback"), () => act("takeback/no")));
      } else if (this.mayTakeBack && !this.full.rated && hasMoved) {
        const takeback = button("takeback", hasAsked ? say("Takeback asked for") : say("Take back"), () => takeBack(this.colour), { image: "undo" });
        takeback.disabled ||= hasAsked;
        buttons.push(takeback);
      }
      if (isOffered) {
        buttons.push(button("draw-yes", say("Accept draw"), () => act("draw/yes"), main("draw")), button("draw-no", say("Decline"), () => act("draw/no")));
      } else if (this.theme.canOfferDraw && hasBegun) {
        const offer = button("draw", hasOffered ? say("Draw offered") : say("Offer draw"), () => act("draw/yes"), { image: "draw" });
        offer.disabled ||= hasOffered;
        buttons.push(offer);
      }
      if (hasBegun) buttons.push(button("resign", say("Resign"), resign, { image: "flag" }));
      else buttons.push(button("abort", say("Abort"), () => act("abort")));
    }
    // Keep the keyboard focus when the row is rebuilt.
    const focused = this.buttons.contains(document.activeElement) ? document.activeElement.dataset.test : null;
    this.buttons.replaceChildren(...buttons);
    if (focused) this.buttons.querySelector(`[data-test="${focused}"]`)?.focus();
  }

  #toReport() {
    this.reportBox.scrollIntoView({ block: "start", behavior: "smooth" });
    this.reportBox.focus({ preventScroll: true });
  }

  /** The last move as a sentence for screen readers. */
  wordsOfLastMove(view, isOver) {
    const side = this.sides[(view.moves.length - 1) % 2];
    const isMine = this.#colourOf(side) === this.colour;
    const { name } = this.full[this.#colourOf(side)];
    const [from, to] = [view.lastSquares[0], view.lastSquares.at(-1)];
    const piece = this.board.pieceAt(to);
    const way = view.lastSquares.length > 1 ? say(", {piece} from {from} to {to}", { piece, from, to }) : "";
    const places = { name, move: `${view.names.at(-1)}${way}` };
    const moved = isMine ? say("You played {move}.", places) : say("{name} played {move}.", places);
    const what = from ? moved : isMine ? say("You passed.") : say("{name} passed.", places);
    const pointed = isOver ? "" : view.highlights.map((highlight) => ` ${fromServer(highlight.text)}`).join("");
    const counts = this.theme.counts && view.counts ? ` ${this.sides.map((each) => `${this.theme.sides[each] ?? each} ${view.counts[each]}`).join(", ")}.` : "";
    return `${what}${pointed}${counts}${!isOver && view.toMove === this.mySide ? ` ${say("Your move.")}` : ""}`;
  }

  result(state, view) {
    const sideOf = (colour) => this.sides.find((side) => this.#colourOf(side) === colour);
    const names = Object.fromEntries(COLOURS.map((colour) => [colour, this.full[colour].name]));
    const next = this.#colourOf(this.sides[view.moves.length % this.sides.length]);
    return resultOf({ state, view, colour: this.colour, names, next, sideOf, theme: this.theme });
  }

  // --- Replay --------------------------------------------------------------------------------------------

  /** After the game, show the report beside the moves that are stepped to: `onPly` receives the ply on the board. */
  openReplay(onPly) {
    this.onPly = onPly;
    this.reportBox.hidden = !this.hasReport || this.model.state.status === "aborted";
    this.moves.isReplay = true;
    this.moves.loadSteps();
    this.moves.showAddressed();
    this.analysis.open(this.model.view.moves.length);
  }

  /** Point at the best move of the analysis. */
  #markLines(lines) {
    this.board.mark(lines.slice(0, 1).map(({ squares }) => ({ squares, kind: "best" })).filter(({ squares }) => squares.length));
  }

  #showStep(step) {
    this.step = step;
    this.board.mark([]);
    if (step === null) {
      this.draw(this.model);
      this.analysis.show(this.model.view.moves.length);
      return;
    }
    this.board.draw({ rows: step.rows, lastSquares: step.squares, highlights: step.highlights });
    this.#drawTaken(step.rows);
    for (const side of this.sides) this.#drawCount(this.bars[this.#colourOf(side)], step.counts?.[side]);
    this.analysis.show(step.ply);
    if (step.ply > 0) this.onPly?.(step.ply - 1);
    if (this.model && !this.model.isOver) this.draw(this.model);
  }
}
