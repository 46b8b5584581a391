// A board for any game: draws rows of letters, offers the legal moves, and says all of it to a screen reader.

import { chooseDialog, el } from "./dom.js";
import { looks, squareName } from "./games.js";

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function pieceElement(game, letter) {
  if (game === "othello") {
    // Two faces back to back: turning a disc over is one CSS transition.
    return el("span", { class: "piece disc", "data-piece": letter }, el("span", { class: "face black" }), el("span", { class: "face white" }));
  }
  return el("span", { class: `piece glyph glyph-${letter}`, "data-piece": letter }, letter);
}

export class Board {
  /**
   * @param {object} options game key, accessible label, and `onMove(move)` for a board that can be played on.
   */
  constructor({ game, label, onMove = null }) {
    this.game = game;
    this.onMove = onMove;
    this.cells = new Map();
    this.size = "";
    this.legal = [];
    this.touched = [];
    this.isEnabled = false;
    this.focusAt = [0, 0];
    this.grid = el("div", { class: "squares", role: onMove ? "grid" : "img", "aria-label": label });
    this.element = el("div", { class: "board", "data-game": game }, this.grid);
    if (onMove) {
      this.grid.setAttribute("aria-description", "Arrow keys move, N goes to the next legal square, Enter plays.");
      this.grid.addEventListener("keydown", (event) => this.#onKey(event));
      this.grid.addEventListener("click", (event) => this.#onClick(event));
    }
  }

  /**
   * Draw a position.
   * @param {object} view rows, lastSquares, legal ([{move, squares}]); `enabled`: the person may move now.
   */
  draw({ rows, lastSquares = [], legal = [], enabled = false }) {
    this.#build(rows);
    const from = lastSquares.length ? this.cells.get(lastSquares.at(-1)) : null;
    this.legal = enabled ? legal : [];
    this.isEnabled = enabled;
    this.touched = [];
    rows.forEach((row, r) =>
      [...row].forEach((letter, c) => {
        const cell = this.cells.get(squareName(this.game, rows.length, r, c));
        this.#setPiece(cell, letter, from);
        cell.element.classList.toggle("last", lastSquares.includes(cell.name));
        cell.element.classList.remove("pending");
      }),
    );
    this.element.classList.toggle("enabled", enabled);
    this.#showLegal();
  }

  /** Show a move as on its way to the server. */
  setPending(move) {
    const option = this.legal.find((candidate) => candidate.move === move);
    this.isEnabled = false;
    this.legal = [];
    this.element.classList.remove("enabled");
    this.#showLegal();
    for (const square of option?.squares ?? []) this.cells.get(square)?.element.classList.add("pending");
  }

  /** Rings and labels for the report: [{square, kind, text}]; later marks go on top of earlier ones. */
  mark(marks) {
    for (const { element } of this.cells.values()) {
      element.querySelectorAll(".mark").forEach((old) => old.remove());
    }
    for (const { square, kind, text } of marks) {
      this.cells.get(square)?.element.append(el("span", { class: `mark mark-${kind}` }, text ?? ""));
    }
  }

  describe(text) {
    this.grid.setAttribute("aria-label", text);
  }

  #build(rows) {
    const size = rows.map((row) => row.length).join();
    if (size === this.size) return;
    this.size = size;
    this.cells.clear();
    const columns = Math.max(...rows.map((row) => row.length));
    this.element.style.setProperty("--columns", columns);
    this.element.style.setProperty("--rows", rows.length);
    const label = (text) => el("span", {}, text);
    const letters = [...Array(columns)].map((_, c) => String.fromCharCode(97 + c));
    const numbers = rows.map((_, r) => squareName(this.game, rows.length, r, 0).slice(1));
    this.grid.replaceChildren(
      ...rows.map((row, r) =>
        el(
          "div",
          { role: this.onMove ? "row" : "presentation", class: "row" },
          [...row].map((_, c) => this.#makeCell(rows.length, r, c)),
        ),
      ),
    );
    this.element.replaceChildren(
      el("div", { class: "letters", "aria-hidden": "true" }, letters.map(label)),
      el("div", { class: "numbers", "aria-hidden": "true" }, numbers.map(label)),
      this.grid,
    );
    this.focusAt = [0, 0];
  }

  #makeCell(rowCount, row, column) {
    const name = squareName(this.game, rowCount, row, column);
    const attributes = { class: "square", "data-square": name };
    const element = this.onMove
      ? el("button", { ...attributes, type: "button", role: "gridcell", tabindex: row + column === 0 ? "0" : "-1" })
      : el("span", attributes);
    this.cells.set(name, { name, row, column, element, letter: "." });
    return element;
  }

  #setPiece(cell, letter, from) {
    if (cell.letter === letter) return;
    const old = cell.element.querySelector(".piece");
    // The turning runs outwards from the square that was played, as hands do it.
    const distance = from ? Math.max(Math.abs(cell.row - from.row), Math.abs(cell.column - from.column)) : 0;
    if (old && letter !== "." && looks(this.game).flips) {
      old.style.setProperty("--distance", distance);
      old.dataset.piece = letter;
    } else {
      old?.remove();
      if (letter !== ".") {
        const piece = pieceElement(this.game, letter);
        if (cell === from) piece.classList.add("placed");
        cell.element.prepend(piece);
      }
    }
    cell.letter = letter;
  }

  /** The legal moves that begin with the squares touched so far. */
  #open() {
    return this.legal.filter(({ squares }) => this.touched.every((square, i) => squares[i] === square));
  }

  #showLegal() {
    const next = new Set(this.#open().map(({ squares }) => squares[this.touched.length]));
    for (const cell of this.cells.values()) {
      const isLegal = next.has(cell.name);
      cell.element.classList.toggle("legal", isLegal);
      cell.element.classList.toggle("touched", this.touched.includes(cell.name));
      if (this.onMove) {
        const piece = cell.letter === "." ? "empty" : (looks(this.game).pieces[cell.letter] ?? cell.letter);
        const last = cell.element.classList.contains("last") ? ", last move" : "";
        cell.element.setAttribute("aria-label", `${cell.name}, ${piece}${last}${isLegal ? ", legal move" : ""}`);
        cell.element.setAttribute("aria-disabled", String(!isLegal));
      }
    }
  }

  async #onClick(event) {
    const square = event.target.closest(".square")?.dataset.square;
    if (!square || !this.isEnabled) return;
    this.#focus(this.cells.get(square));
    const before = this.touched;
    this.touched = [...before, square];
    let open = this.#open();
    if (!open.length) {
      // Not a continuation: perhaps another beginning, otherwise nothing.
      this.touched = [square];
      open = before.length ? this.#open() : [];
    }
    if (!open.length) this.touched = [];
    this.#showLegal();
    const complete = open.filter(({ squares }) => squares.length === this.touched.length);
    if (!complete.length) return;
    const legal = this.legal;
    const move = complete.length === 1 ? complete[0].move : await chooseDialog("Which move?", complete.map((option) => option.move));
    if (move && legal === this.legal) this.onMove(move);
  }

  #focus(cell) {
    for (const other of this.cells.values()) other.element.tabIndex = other === cell ? 0 : -1;
    cell.element.focus();
    this.focusAt = [cell.row, cell.column];
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
      this.touched = [];
      this.#showLegal();
    } else if (event.key.toLowerCase() === "n") {
      // The next legal square, round and round: finding them by arrows alone is a chore.
      const legal = cells.filter((cell) => cell.element.classList.contains("legal"));
      const index = (cell) => cell.row * 100 + cell.column;
      target = legal.find((cell) => index(cell) > index(here)) ?? legal[0] ?? null;
    }
    if (!target) return;
    event.preventDefault();
    this.#focus(target);
  }
}
