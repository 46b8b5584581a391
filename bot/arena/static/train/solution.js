// The solution of a position: which replies are good, the bait with its line, and what the answer was worth.

import { el } from "/static/common/dom.js";
import { say, sayAll, sayMade } from "/static/common/language.js";
import { depthChart } from "/static/report/chart.js";
import { againWords, othersOf, ratingWords } from "/static/train/words.js";

/** The line of a bait as buttons, each of which shows the board after its move; -1 is the position itself. */
export class BaitLine {
  /** @param {{steps: object[], onShow: function(number)}} options `onShow` receives the step to show. */
  constructor({ steps, onShow }) {
    this.onShow = onShow;
    this.at = -1;
    this.buttons = steps.map(({ name }, i) =>
      el("button", { type: "button", class: "line-step", "data-step": i, onclick: () => this.show(this.at === i ? -1 : i) }, name),
    );
    this.element = el("div", { class: "bait-line", role: "group", "aria-label": say("What follows the bait; left and right step through it") }, this.buttons);
    this.element.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      this.show(Math.max(-1, Math.min(this.buttons.length - 1, this.at + by)));
      this.buttons[Math.max(0, this.at)].focus({ preventScroll: true });
    });
  }

  show(at) {
    this.at = at;
    for (const [i, button] of this.buttons.entries()) button.setAttribute("aria-pressed", String(i === at));
    this.onShow(at);
  }
}

/** Marks of the board: the bait, the best reply, and the one that was found. */
export function marksOf({ bait, good, decision, right }) {
  const [best] = good;
  const found = right ? good.find(({ move }) => move === decision.reply) : null;
  const marks = [{ squares: bait.squares, kind: "trap" }];
  if (found !== best) marks.push({ squares: best.squares, kind: "best" });
  if (found) marks.push({ squares: found.squares, kind: "good" });
  return marks.filter(({ squares }) => squares.length);
}

/** The elements of a solution. */
export function solutionParts(told, { game, hasName, isOfGame, line }) {
  const kind = told.right ? "good" : "best";
  return [
    el("h2", { class: `verdict verdict-${kind}`, tabindex: "-1" }, sayMade(told.title)),
    el("p", {}, sayMade(told.goodText)),
    el("p", {}, sayMade(told.bait.text)),
    line.element,
    depthChart({ decision: told.decision, game, isPlayer: false, isBlind: true }),
    el("p", { class: "hint" }, sayAll([othersOf(told), ratingWords(told, { game, hasName, isOfGame }), againWords(told)])),
    el("p", {}, el("a", { href: `/game/${told.source.game}#${told.source.ply}` }, say("See the game that it is from"))),
  ];
}
