// One move of the bot in the report: the board at that moment, the story, the chart, the tables.

import { Board } from "/static/board/board.js";
import { depthChart } from "/static/report/chart.js";
import { el, icon } from "/static/common/dom.js";
import { theme } from "/static/board/games.js";
import { candidateTable, replyTable } from "/static/report/tables.js";
import { ICONS } from "/static/report/verdict.js";
import { moveNumber, say } from "/static/common/language.js";

const KEYS = { trap: say("the bait"), best: say("the best reply"), played: say("your reply"), fell: say("your reply, a bait"), good: say("your reply, a good one") };
/** The same for spectators. */
const OTHERS_KEYS = { ...KEYS, played: say("played"), fell: say("played, a bait"), good: say("played, a good one") };

/** The key to the rings on the board, in the same colours. */
function keyLine({ verdict, isPlayer }) {
  if (!verdict.marks.length) return null;
  const text = (kind) => (isPlayer ? KEYS : OTHERS_KEYS)[kind];
  const kinds = [...new Set(verdict.marks.map(({ kind }) => kind))];
  return el("p", { class: "mark-keys", "aria-hidden": "true" }, kinds.map((kind) => el("span", {}, el("span", { class: `key key-${kind}` }), text(kind))));
}

function factList(facts) {
  return el(
    "dl",
    { class: "facts" },
    facts.map(({ kind, term, move, text }) => el("div", { class: `fact fact-${kind}` }, el("dt", {}, term), el("dd", {}, el("strong", {}, move), text ? el("span", {}, text) : null))),
  );
}

function drawPhase(board, phase, { decision, verdict, opponent }) {
  if (phase === "before") {
    board.draw({ rows: decision.rows_before });
    // For moves from square to square, mark only the one that was played: all of them would hide the board.
    const shown = decision.candidates.filter(({ move, squares }) => squares.length === 1 || (squares.length && move === decision.move));
    board.mark(shown.map(({ move, squares }) => ({ squares, kind: move === decision.move ? "chosen" : "option" })));
    board.describe(say("Board before {name} played {move}", { name: opponent, move: decision.name }));
    return;
  }
  board.draw({ rows: decision.rows_after, lastSquares: decision.squares });
  board.mark(verdict.marks);
  const words = verdict.marks.map(({ text }) => text);
  board.describe([say("Board after {name} played {move}", { name: opponent, move: decision.name }), ...words].join("; "));
}

/** The board with a switch between the positions before and after the bot's move. */
function boardBox(context) {
  const board = new Board({ game: context.game, label: "", isTurned: context.isTurned });
  const switches = [["before", say("Before")], ["choice", context.isPlayer ? say("Your choice") : say("The choice")]].map(([phase, label]) =>
    el("button", { type: "button", class: "phase", "data-phase": phase, "data-focus": phase, onclick: () => show(phase) }, label),
  );
  const show = (phase) => {
    drawPhase(board, phase, context);
    for (const button of switches) button.setAttribute("aria-pressed", String(button.dataset.phase === phase));
  };
  show("choice");
  return el("div", { class: "moment-board" }, board.element, keyLine(context), el("div", { class: "phases", role: "group", "aria-label": say("Board") }, switches));
}

/** The elements of one moment; `onStep(by)` goes to an earlier (-1) or later (1) one. */
export function momentParts(context) {
  const { decision, verdict, game, opponent, isPlayer, isBlind, onStep } = context;
  const stepButton = (name, label, by) =>
    el("button", { type: "button", class: "icon-button", "aria-label": label, "data-focus": name, onclick: () => onStep(by) }, icon(name));
  return [
    el(
      "header",
      { class: "moment-head" },
      stepButton("left", say("Earlier move"), -1),
      el(
        "div",
        { class: "moment-title" },
        el("p", { class: "moment-number" }, say("Move {n} · {name} played {move}", { n: moveNumber(decision), name: opponent, move: decision.name })),
        el("h3", {}, icon(ICONS[verdict.kind]), verdict.title),
      ),
      stepButton("right", say("Later move"), 1),
    ),
    el(
      "div",
      { class: "moment-body" },
      boardBox(context),
      el(
        "div",
        { class: "moment-words" },
        verdict.story.map((line) => el("p", {}, line)),
        verdict.facts.length ? factList(verdict.facts) : null,
        depthChart(context),
      ),
    ),
    el(
      "div",
      { class: "moment-tables" },
      replyTable(decision, { isPlayer, isBlind, unit: theme(game).unit }),
      isBlind ? null : candidateTable(decision, { opponent }),
    ),
  ];
}
