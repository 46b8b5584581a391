// Two clocks that count down between the server's messages; only the server decides who is out of time.

const LOW_MS = 20_000;
const NO_LIMIT_MS = 2_000_000_000;

export function clockText(ms) {
  if (ms >= NO_LIMIT_MS) return "∞";
  const left = Math.max(0, ms);
  if (left < 10_000) return `0:0${(Math.floor(left / 100) / 10).toFixed(1)}`;
  const seconds = Math.ceil(left / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const pad = (n) => String(n).padStart(2, "0");
  return h ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
}

export class Clocks {
  /** @param {{white: Element, black: Element}} faces */
  constructor(faces) {
    this.faces = faces;
    this.left = { white: 0, black: 0 };
    this.running = null;
    this.since = 0;
    this.timer = null;
  }

  /** Set the server's times: milliseconds left now, and whose clock runs ("white", "black" or null). */
  set(left, running) {
    this.left = { ...left };
    this.running = running;
    this.since = performance.now();
    this.#draw();
  }

  leftOf(colour) {
    const used = this.running === colour ? performance.now() - this.since : 0;
    return this.left[colour] - used;
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
  }

  #draw() {
    this.stop();
    for (const colour of ["white", "black"]) {
      const ms = this.leftOf(colour);
      const face = this.faces[colour];
      const text = clockText(ms);
      if (face.textContent !== text) face.textContent = text;
      face.classList.toggle("running", this.running === colour);
      face.classList.toggle("low", ms < LOW_MS && this.running === colour);
    }
    if (this.running) this.timer = setTimeout(() => this.#draw(), this.leftOf(this.running) < 11_000 ? 100 : 200);
  }
}
