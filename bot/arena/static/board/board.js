// A board for any game: draws rows of letters, offers the legal moves, and describes both to screen readers.

import { announce, chooseDialog, el } from "/static/common/dom.js";
import { Drag } from "/static/board/drag.js";
import { pieceElement, pieceName, squareName, theme } from "/static/board/games.js";
import { overlay } from "/static/board/overlay.js";
import { say, sayCount } from "/static/common/language.js";

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
const EDGES = ["top", "bottom", "left"];
const SLIDE_MS = 180;

export class Board {
  /**
   * @param {object} options game key, accessible label, and `onMove(move)` for a board that can be played on;
   *   `isTurned`: shown from the far side of the board as the server sends it;
   *   `onPremove(squares)`: told of a move to be made when it is the person's turn; null: of none any more.
   */
  constructor({ game, label, onMove = null, onPremove = null, isTurned = false }) {
    this.game = game;
    this.theme = theme(game);
    this.onMove = onMove;
    this.onPremove = onPremove;
    this.premover = null; // whose moves may be made ahead
    this.premove = null;
    this.isTurned = isTurned;
    this.cells = new Map();
    this.size = "";
    this.legal = [];
    this.touched = [];
    this.isEnabled = false;
    this.shown = ""; // squares of the latest move on the board
    this.dropped = null; // where a piece has just been dropped: its move needs no animation
    this.grid = el("div", { class: "squares", role: onMove ? "grid" : "img", "aria-label": label });
    this.element = el("div", { class: "board", "data-game": game, "data-surface": this.theme.board }, this.grid);
    if (onMove) {
      this.grid.setAttribute("aria-description", say("Arrow keys move, N goes to the next legal square, Enter selects it, Escape cancels."));
      this.grid.addEventListener("keydown", (event) => this.#onKey(event));
      this.drag = new Drag(this.grid, {
        mayLift: (square) => this.#isFirst(square),
        onLift: (square) => this.#touch([square]),
        onDrop: (square) => this.#drop(square),
      });
      this.grid.addEventListener("click", (event) => this.#onClick(event));
    }
  }

  /**
   * Draw a position.
   * @param {object} view rows, lastSquares, legal ([{move, squares}]), highlights ([{kind, squares, text}]);
   *   `enabled`: the person may move now; `pending`: the move that the server has not confirmed yet;
   *   `premover`: 0 or 1, the side that may move ahead of its turn; `premove`: the squares of such a move.
   */
  draw({ rows, lastSquares = [], legal = [], highlights = [], enabled = false, pending = null, premover = null, premove = null }) {
    this.drag?.cancel();
    const isFirst = !this.cells.size;
    this.#build(rows);
    this.legal = enabled && !pending ? legal : [];
    this.isEnabled = enabled && !pending;
    this.premover = this.isEnabled ? null : premover;
    this.premove = premove;
    if (!this.#beginning(this.touched).length) this.touched = []; // else a redraw, as for a clock, keeps the choice
    const placed = lastSquares.length === 1 ? this.cells.get(lastSquares[0]) : null;
    for (const cell of this.cells.values()) {
      this.#setPiece(cell, rows[cell.from.row][cell.from.column], placed);
      cell.element.classList.remove("pending");
    }
    const sent = pending ? (legal.find(({ move }) => move === pending)?.squares ?? []) : [];
    if (sent.length > 1) this.#goAhead(sent);
    else {
      this.#markLast(lastSquares);
      this.#point(highlights);
      for (const square of sent) this.cells.get(square).element.classList.add("pending");
    }
    const moved = sent.length > 1 ? sent : lastSquares;
    if (moved.length > 1 && moved.join() !== this.shown && !isFirst && this.dropped !== moved.at(-1)) this.#slide(moved);
    this.shown = moved.join();
    this.dropped = null;
    this.element.classList.toggle("enabled", this.isEnabled);
    this.#showLegal();
  }

  /** Show the board from the other side; the caller draws it again. */
  turn() {
    this.isTurned = !this.isTurned;
    this.size = "";
  }

  /** Rings and arrows for the report: [{squares, kind}]; later marks go on top of earlier ones. */
  mark(marks) {
    this.grid.querySelectorAll(".mark, .overlay").forEach((old) => old.remove());
    const arrows = [];
    for (const { squares, kind } of marks) {
      if (squares.length > 1) arrows.push({ from: this.#place(squares[0]), to: this.#place(squares.at(-1)), kind });
      else this.cells.get(squares[0])?.element.append(el("span", { class: `mark mark-${kind}` }));
    }
    if (arrows.length) this.#lay({ arrows });
  }

  /** Name of the piece on a square; empty: none. */
  pieceAt(square) {
    const letter = this.cells.get(square)?.letter ?? ".";
    return letter === "." ? "" : pieceName(this.game, letter);
  }

  describe(text) {
    this.grid.setAttribute("aria-label", text);
  }

  // --- Drawing -------------------------------------------------------------------------------------------

  #build(rows) {
    const size = rows.map((row) => row.length).join();
    if (size === this.size) return;
    this.size = size;
    this.cells.clear();
    this.rows = rows.length;
    this.columns = Math.max(...rows.map((row) => row.length));
    this.element.style.setProperty("--columns", this.columns);
    this.element.style.setProperty("--rows", this.rows);
    this.grid.replaceChildren(
      this.theme.lines?.() ?? "",
      ...rows.map((row, r) => el("div", { role: this.onMove ? "row" : "presentation", class: "row" }, [...row].map((_, c) => this.#makeCell(r, c)))),
    );
    this.element.replaceChildren(...EDGES.map((edge) => this.#edge(edge)), this.grid);
  }

  /** Convert row and column between the server's order and the screen's, in either direction. */
  #turn(row, column) {
    return this.isTurned ? { row: this.rows - 1 - row, column: this.columns - 1 - column } : { row, column };
  }

  #edge(edge) {
    const label = this.theme.edges[edge];
    const isSide = edge === "left";
    const texts = [...Array(label ? (isSide ? this.rows : this.columns) : 0)].map((_, i) => {
      const { row, column } = this.#turn(i, i);
      return isSide ? label(row, this.rows) : label(column, this.columns, (edge === "top") !== this.isTurned);
    });
    return el("div", { class: `edge edge-${edge}`, "aria-hidden": "true" }, texts.map((text) => el("span", {}, text)));
  }

  #makeCell(row, column) {
    const from = this.#turn(row, column);
    const name = squareName(this.game, this.rows, from.row, from.column);
    const attributes = { class: `square${(from.row + from.column) % 2 ? " odd" : ""}`, "data-square": name };
    const element = this.onMove
      ? el("button", { ...attributes, type: "button", role: "gridcell", tabindex: row + column === 0 ? "0" : "-1" })
      : el("span", attributes);
    this.cells.set(name, { name, row, column, from, element, letter: "." });
    return element;
  }

  /** `placed`: the cell where the latest move placed a piece, if it did. */
  #setPiece(cell, letter, placed) {
    if (cell.letter === letter) return;
    const old = cell.element.querySelector(".piece");
    if (old && letter !== "." && this.theme.flips) {
      // Discs flip outwards from the square that was played, as by hand.
      const distance = placed ? Math.max(Math.abs(cell.row - placed.row), Math.abs(cell.column - placed.column)) : 0;
      old.style.setProperty("--distance", distance);
      old.dataset.piece = letter;
    } else {
      old?.remove();
      if (letter !== ".") {
        const piece = pieceElement(this.game, letter);
        if (cell === placed) piece.classList.add("placed");
        cell.element.prepend(piece);
      }
    }
    cell.letter = letter;
  }

  /** Show a piece at its goal before the server has confirmed the move; its answer brings all other changes. */
  #goAhead(squares) {
    const [start, goal] = [this.cells.get(squares[0]), this.cells.get(squares.at(-1))];
    this.#setPiece(goal, start.letter, null);
    this.#setPiece(start, ".", null);
    this.#markLast(squares);
    this.#point([]);
  }

  #markLast(squares) {
    for (const { element, name } of this.cells.values()) element.classList.toggle("last", squares.includes(name));
  }

  /** Animate the piece on the last of these squares as coming from the first. */
  #slide(squares) {
    const [start, goal] = [this.cells.get(squares[0]), this.cells.get(squares.at(-1))];
    const piece = goal?.element.querySelector(".piece");
    if (!start || !piece || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const [a, b] = [start.element.getBoundingClientRect(), goal.element.getBoundingClientRect()];
    goal.element.classList.add("arriving");
    const slide = piece.animate([{ translate: `${a.left - b.left}px ${a.top - b.top}px` }, { translate: "0 0" }], { duration: SLIDE_MS, easing: "ease-out" });
    slide.onfinish = slide.oncancel = () => goal.element.classList.remove("arriving");
  }

  /** Show the highlights of the rules. */
  #point(highlights) {
    for (const { element } of this.cells.values()) delete element.dataset.shows;
    this.grid.querySelector(".overlay")?.remove();
    for (const { kind, squares } of highlights) {
      for (const square of squares) {
        const cell = this.cells.get(square);
        if (cell) cell.element.dataset.shows = `${cell.element.dataset.shows ?? ""} ${kind}`.trim();
      }
    }
    const links = highlights.filter(({ squares }) => squares.length > 1).map(({ kind, squares }) => ({ kind, places: squares.map((square) => this.#place(square)) }));
    if (links.length) this.#lay({ links });
  }

  #lay(drawn) {
    // Before the squares, so that it lies beneath the pieces on boards with transparent squares.
    this.grid.querySelector(".row").before(overlay(this.columns, this.rows, drawn));
  }

  /** The centre of a square, in units of squares. */
  #place(square) {
    const { row, column } = this.cells.get(square);
    return { x: column + 0.5, y: row + 0.5 };
  }

  // --- Moving --------------------------------------------------------------------------------------------

  /** The legal moves that begin with these squares. */
  #beginning(touched) {
    return this.legal.filter(({ squares }) => touched.every((square, i) => squares[i] === square));
  }

  /** Whether a piece on this square can be picked up. */
  #isFirst(square) {
    if (this.premover !== null) return this.#hasSteps && this.#isOwn(square);
    return this.isEnabled && this.legal.some(({ squares }) => squares.length > 1 && squares[0] === square);
  }

  /** Whether a move goes from one square to another, as far as the page knows: pieces of both sides differ in case. */
  get #hasSteps() {
    return Object.keys(this.theme.pieces).some((letter) => letter !== letter.toLowerCase());
  }

  #isOwn(square) {
    const { letter } = this.cells.get(square);
    return letter !== "." && (letter === letter.toLowerCase()) === (this.premover === 1);
  }

  /** A touch of the person whose turn it is not: it makes, or takes back, a move ahead. */
  #touchAhead(square) {
    if (this.premove) {
      this.onPremove(null);
      return;
    }
    const [start] = this.touched;
    if (!this.#hasSteps) {
      if (this.cells.get(square).letter === ".") this.onPremove([square]);
    } else if (start === undefined || (start !== square && this.#isOwn(square))) this.#touch(this.#isOwn(square) ? [square] : []);
    else if (start === square) this.#touch([]);
    else this.onPremove([start, square]);
  }

  #showLegal() {
    const next = new Map(this.#beginning(this.touched).map(({ squares }) => [squares[this.touched.length], squares.length]));
    for (const cell of this.cells.values()) {
      const { classList } = cell.element;
      const isLegal = next.has(cell.name);
      const isPicked = this.touched.includes(cell.name);
      classList.toggle("legal", isLegal);
      classList.toggle("touched", isPicked);
      classList.toggle("premove", this.premove?.includes(cell.name) ?? false);
      classList.toggle("movable", this.#isFirst(cell.name));
      classList.toggle("goal", isLegal && next.get(cell.name) === this.touched.length + 1);
      if (this.onMove) {
        const piece = cell.letter === "." ? say("empty") : pieceName(this.game, cell.letter);
        const last = classList.contains("last") ? say(", last move") : "";
        const isAhead = this.premove?.includes(cell.name);
        const what = isAhead ? say(", premove") : isPicked ? say(", chosen") : !isLegal ? "" : classList.contains("goal") ? say(", legal move") : say(", can move");
        cell.element.setAttribute("aria-label", `${cell.name}, ${piece}${last}${what}`);
        cell.element.setAttribute("aria-disabled", String(!isLegal && !isPicked && this.premover === null));
      }
    }
  }

  #touch(touched) {
    this.touched = touched;
    this.#showLegal();
  }

  #onClick(event) {
    const square = event.target.closest(".square")?.dataset.square;
    if (!square || (!this.isEnabled && this.premover === null)) return;
    this.#focus(this.cells.get(square));
    if (this.premover !== null) {
      this.#touchAhead(square);
      return;
    }
    if (this.touched.at(-1) === square) {
      this.#touch([]); // touched again: deselect
      return;
    }
    // A continuation, else the start of another move, else nothing.
    const touched = [[...this.touched, square], [square]].find((squares) => this.#beginning(squares).length) ?? [];
    this.#touch(touched);
    if (touched.length) this.#finish();
  }

  #drop(square) {
    if (this.premover !== null) {
      if (square && square !== this.touched[0]) this.onPremove([this.touched[0], square]);
      return;
    }
    const touched = [...this.touched, square];
    if (this.touched[0] === square) return; // dropped on its own square: it stays selected
    if (!this.#beginning(touched).length) {
      this.#touch([]);
      return;
    }
    this.dropped = square;
    this.#touch(touched);
    this.#finish();
  }

  /** Play the touched squares if they are a complete move. */
  async #finish() {
    const complete = this.#beginning(this.touched).filter(({ squares }) => squares.length === this.touched.length);
    if (!complete.length) {
      const goals = this.#beginning(this.touched).length;
      announce(sayCount("{square} chosen, {n} move.", "{square} chosen, {n} moves.", goals, { square: this.touched.at(-1) }));
      return;
    }
    const move = complete.length === 1 ? complete[0].move : await this.#choose(complete);
    this.#touch([]);
    if (this.legal.some((other) => other.move === move)) this.onMove(move); // else the position has changed meanwhile
  }

  #worth(letter) {
    return this.theme.worth?.[letter.toUpperCase()] ?? 0;
  }

  /** The piece that a move leaves at its goal, of a move that comes with the board after it. */
  #leaves({ squares, rows }) {
    const { row, column } = this.cells.get(squares.at(-1)).from;
    return rows[row][column];
  }

  /** Of moves with the same squares, the one that leaves the most valuable piece. */
  mostValuable(moves) {
    if (moves.length === 1) return moves[0];
    return moves.reduce((best, move) => (this.#worth(this.#leaves(move)) > this.#worth(this.#leaves(best)) ? move : best));
  }

  /** Let the person choose among moves with the same squares, which leave different pieces there. */
  #choose(options) {
    const choices = options.map((option) => {
      const { move, name } = option;
      const letter = this.#leaves(option);
      return { value: move, label: `${pieceName(this.game, letter)}, ${name}`, letter, picture: letter === "." ? name : pieceElement(this.game, letter) };
    });
    return chooseDialog(say("Which piece?"), choices.sort((a, b) => this.#worth(b.letter) - this.#worth(a.letter)));
  }

  #focus(cell) {
    for (const other of this.cells.values()) other.element.tabIndex = other === cell ? 0 : -1;
    cell.element.focus({ preventScroll: true });
  }

  #onKey(event) {
    const cells = [...this.cells.values()];
    const here = this.cells.get(event.target.dataset?.square);
    if (!here) return;
    const at = (row, column) => cells.find((cell) => cell.row === row && cell.column === column);
    let target = null;
    if (ARROWS[event.key]) target = at(here.row + ARROWS[event.key][0], here.column + ARROWS[event.key][1]) ?? here;
    else if (event.key === "Home") target = at(here.row, 0);
    else if (event.key === "End") target = cells.filter((cell) => cell.row === here.row).at(-1);
    else if (event.key === "Escape") {
      if (this.premove) this.onPremove(null);
      else this.#touch([]);
    }
    else if (event.key.toLowerCase() === "n") {
      // The next legal square, cyclically: finding them with the arrow keys alone is tedious.
      const legal = cells.filter((cell) => cell.element.classList.contains("legal"));
      const index = (cell) => cell.row * 100 + cell.column;
      target = legal.find((cell) => index(cell) > index(here)) ?? legal[0] ?? null;
    }
    if (!target) return;
    event.preventDefault();
    this.#focus(target);
    target.element.scrollIntoView({ block: "nearest" });
  }
}
