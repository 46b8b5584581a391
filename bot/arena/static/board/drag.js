// Dragging a piece with mouse, pen or finger. A press without movement remains a click on a square.

const SLACK_PX = { mouse: 4, pen: 6, touch: 9 };
const CLICK_MS = 80; // a click this soon after a drop belongs to it

export class Drag {
  /**
   * @param {Element} grid holds elements of class `square` with pieces in them.
   * @param {object} does `mayLift(square)`, `onLift(square)` and `onDrop(square | null, lifted)`, by square name.
   */
  constructor(grid, { mayLift, onLift, onDrop }) {
    this.grid = grid;
    this.does = { mayLift, onLift, onDrop };
    this.press = null;
    this.droppedAt = -Infinity;
    grid.addEventListener("pointerdown", (event) => this.#onDown(event));
    grid.addEventListener("pointermove", (event) => this.#onMove(event));
    grid.addEventListener("pointerup", (event) => this.#onUp(event));
    grid.addEventListener("pointercancel", () => this.cancel());
    // In the capture phase, before any other listener.
    grid.addEventListener("click", (event) => event.timeStamp - this.droppedAt < CLICK_MS && event.stopImmediatePropagation(), true);
  }

  /** Put a lifted piece back, for instance because the board has changed. */
  cancel() {
    const { press } = this;
    this.press = null;
    this.over?.classList.remove("under");
    this.over = null;
    if (!press?.isLifted) return;
    press.piece.style.removeProperty("translate");
    press.square.classList.remove("lifted");
    this.grid.classList.remove("dragging");
  }

  #onDown(event) {
    this.cancel();
    const square = event.target.closest(".square");
    const piece = square?.querySelector(".piece");
    if (!piece || !event.isPrimary || event.button !== 0 || !this.does.mayLift(square.dataset.square)) return;
    this.press = { square, piece, pointer: event.pointerId, x: event.clientX, y: event.clientY, isLifted: false };
  }

  #onMove(event) {
    const { press } = this;
    if (!press || event.pointerId !== press.pointer) return;
    if (!press.isLifted && !this.#lift(event)) return;
    const { left, top, width, height } = press.square.getBoundingClientRect();
    press.piece.style.translate = `${event.clientX - left - width / 2}px ${event.clientY - top - height / 2}px`;
    const over = this.#squareAt(event);
    if (over === this.over) return;
    this.over?.classList.remove("under");
    over?.classList.add("under");
    this.over = over;
  }

  #lift(event) {
    const { press } = this;
    const distance = Math.hypot(event.clientX - press.x, event.clientY - press.y);
    if (distance < (SLACK_PX[event.pointerType] ?? SLACK_PX.touch)) return false;
    press.isLifted = true;
    this.grid.setPointerCapture(press.pointer);
    press.square.classList.add("lifted");
    this.grid.classList.add("dragging");
    this.does.onLift(press.square.dataset.square);
    return true;
  }

  #onUp(event) {
    const { press } = this;
    if (!press || event.pointerId !== press.pointer) return;
    const goal = press.isLifted ? (this.#squareAt(event)?.dataset.square ?? null) : null;
    this.cancel();
    if (!press.isLifted) return;
    this.droppedAt = event.timeStamp;
    this.does.onDrop(goal, press.square.dataset.square);
  }

  #squareAt({ clientX, clientY }) {
    const square = document.elementFromPoint(clientX, clientY)?.closest(".square");
    return square && this.grid.contains(square) ? square : null;
  }
}
