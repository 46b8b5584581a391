// How good the connection is: the time that a small question takes to the server and back, as bars and a number.

import { el, svg } from "/static/common/dom.js";
import { say } from "/static/common/language.js";

const EVERY_MS = 10_000;
const PATIENCE_MS = 5_000;
/** Upper bounds in milliseconds; the last one has no limit. */
const GRADES = [
  { upTo: 120, bars: 4, words: say("The connection is very good: {ms} ms to the server and back.") },
  { upTo: 300, bars: 3, words: say("The connection is good: {ms} ms to the server and back.") },
  { upTo: 700, bars: 2, words: say("The connection is slow: {ms} ms to the server and back.") },
  { upTo: Infinity, bars: 1, words: say("The connection is very slow: {ms} ms to the server and back.") },
];

export class LinkQuality {
  constructor() {
    this.element = el("span", { class: "link-quality", hidden: true });
    this.timer = null;
    this.isClosed = false;
  }

  /** Measure now and then, while the page is seen. */
  async open() {
    while (!this.isClosed) {
      if (!document.hidden) await this.#measure();
      await new Promise((resolve) => {
        this.timer = setTimeout(resolve, EVERY_MS);
      });
    }
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.element.hidden = true;
  }

  async #measure() {
    const began = performance.now();
    try {
      await fetch("/static/icon.svg", { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) });
    } catch {
      this.element.hidden = true; // no connection: the page says so elsewhere
      return;
    }
    if (!this.isClosed) this.#show(Math.max(1, Math.round(performance.now() - began)));
  }

  #show(ms) {
    const { bars, words } = GRADES.find(({ upTo }) => ms <= upTo);
    const bar = (number) => svg("rect", { x: number * 5, y: 12 - number * 4, width: 3, height: 4 + number * 4, class: number < bars ? "" : "off" });
    this.element.hidden = false;
    this.element.dataset.bars = bars;
    this.element.title = words.replace("{ms}", ms);
    this.element.replaceChildren(svg("svg", { viewBox: "0 0 18 16", "aria-hidden": "true", focusable: "false" }, [0, 1, 2, 3].map(bar)), `${ms} ms`);
  }
}
