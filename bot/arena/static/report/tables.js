// The report's two tables: the values of the replies, and the moves that the bot could have played.

import { el } from "/static/common/dom.js";
import { baitsOf } from "/static/report/bait.js";
import { judgedCost, probabilityText } from "/static/report/verdict.js";
import { say, sayAll, scoreText } from "/static/common/language.js";

const SHORT = 6; // rows shown before "Show all"

const note = (kind, text) => el("span", { class: `note note-${kind}` }, text);

const inOneLine = (text) => el("span", { class: "nobreak" }, text);

/** @param {object[]} rows of {name, notes, cells, isMarked, isKey}; key rows are always shown. */
function table({ title, label, heads, rows, hint }) {
  const isLong = rows.length > SHORT + 2;
  const box = el(
    "section",
    { class: "table-box" },
    el("h4", {}, title),
    el(
      "div",
      { class: "table-scroll", tabindex: "0", role: "region", "aria-label": label },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
        el(
          "tbody",
          {},
          rows.map(({ name, notes, cells, isMarked, isKey }, i) =>
            el(
              "tr",
              { class: isMarked ? "is-played" : null, hidden: isLong && i >= SHORT && !isKey },
              el("th", { scope: "row" }, el("span", { class: "cell-move" }, name), notes),
              cells.map((cell) => el("td", {}, cell)),
            ),
          ),
        ),
      ),
    ),
    hint ? el("p", { class: "hint" }, hint) : null,
  );
  if (box.querySelector("tr[hidden]")) {
    const unfold = (event) => {
      box.querySelectorAll("tr[hidden]").forEach((row) => {
        row.hidden = false;
      });
      event.currentTarget.remove();
    };
    box.querySelector(".table-scroll").after(el("button", { type: "button", class: "button link", onclick: unfold }, say("Show all {n}", { n: rows.length })));
  }
  return box;
}

/** The heads of the columns of scores: a blind report does not tell how deep the last search was. */
function scoreHeads(depth) {
  if (depth === null) return [say("At depth {n}", { n: 2 }), say("At depth {n}", { n: 3 }), say("Deep")];
  return [2, 3].filter((each) => each < depth).concat(depth).map((n) => say("At depth {n}", { n }));
}

/** The replies to the bot's move from the person's view: the judge's best first, then by their scores at the full depth. */
export function replyTable(decision, { isPlayer, isBlind, unit }) {
  if (!decision.replies.length) return null;
  const isFirst = ({ reply }) => Number(reply !== decision.best?.reply);
  const sorted = [...decision.replies].sort((a, b) => isFirst(a) - isFirst(b) || a.final_centi - b.final_centi);
  const heads = scoreHeads(isBlind ? null : decision.depth);
  const baits = new Set(baitsOf(decision).map(({ reply }) => reply));
  const hasProbability = sorted.some(({ probability }) => Number.isFinite(probability));
  const rows = sorted.map((reply) => {
    const isPlayed = reply.reply === decision.reply;
    const isBait = baits.has(reply.reply);
    const isBest = reply.judged?.is_best;
    const early = Array.from({ length: heads.length - 1 }, (_, i) => scoreText(reply.score_texts[i] ?? null));
    const shares = [judgedCost(reply.judged), ...(hasProbability ? [probabilityText(reply.probability)] : [])];
    return {
      name: reply.name,
      notes: [
        isBest ? note("best", say("best")) : null,
        isBait ? note("trap", say("bait")) : null,
        isPlayed ? note("played", isPlayer ? say("you") : say("played")) : null,
      ],
      cells: [...early, scoreText(reply.their_text), ...shares.map(inOneLine)],
      isMarked: isPlayed,
      isKey: isPlayed || isBait,
    };
  });
  return table({
    title: isPlayer ? say("What your replies were worth") : say("Values of the replies"),
    label: say("Replies"),
    heads: [say("Reply"), ...heads, say("Cost by the judge"), ...(hasProbability ? [say("Expected")] : [])],
    rows,
    hint: sayAll([
      unit ? say("Depths count plies from the bot’s move on; scores are in {unit}.", { unit }) : say("Depths count plies from the bot’s move on."),
      say("Judged are the reply played, the best one, the likeliest two, and in positions of the trainer every reply."),
      hasProbability ? whoExpects(decision) : null,
    ]),
  });
}

/** What "Expected" means, and who gave the probabilities; a blind report does not tell. */
function whoExpects({ forecast, model }) {
  const by = forecast?.model ?? (forecast ? null : model);
  if (!by) return say("Expected: probability that people play it.");
  if (by.kind === "looks") return say("Expected: probability that people play it, judged by shallow scores.");
  return say("Expected: probability that people play it, by a model of people ({name}).", by);
}

/** The bot's moves with their standard and trappy minimax scores, or their value against people; best first by the score that decided. */
export function candidateTable(decision, { opponent }) {
  const isByValue = Boolean(decision.chosen.value_text);
  const rank = (candidate) => (isByValue ? (candidate.value ?? -Infinity) : candidate.adjusted_centi);
  const sorted = [...decision.candidates].sort((a, b) => (rank(a) === rank(b) ? b.raw_centi - a.raw_centi : rank(b) - rank(a)));
  const rows = sorted.map((candidate) => {
    const isPlayed = candidate.move === decision.move;
    const isStandard = candidate.move === decision.standard.move;
    return {
      name: candidate.name,
      notes: [isPlayed ? note("played", say("played")) : null, isStandard ? note("best", say("standard")) : null],
      cells: [
        `${candidate.raw_is_bound ? "≤\u00a0" : ""}${scoreText(candidate.raw_text)}`,
        isByValue ? scoreText(candidate.value_text) : candidate.raw_is_bound ? "–" : scoreText(candidate.adjusted_text),
        candidate.trap_name ?? "–",
      ],
      isMarked: isPlayed,
      isKey: isPlayed || isStandard,
    };
  });
  const { source } = decision;
  const whose = source ? say("Standard: the score by {name}.", source) : say("Standard: the score by plain minimax.");
  const bound = source ? say("≤: its score for a move that was not analysed further.") : say("≤: proven too low to matter, so not analysed further.");
  const trappy = sorted.some(({ adjusted_text: text }) => text.endsWith("%")) ? say("Trappy: the expected score, in per cent, with the bonus for a deceptive reply.") : say("Trappy: the same score with the bonus for a deceptive reply.");
  const promise = say("Promise: the value of the move, averaged over the replies expected of people; –: it gives up too much.");
  return table({
    title: say("What {name} could have played", { name: opponent }),
    label: say("Candidates"),
    heads: [say("Move"), say("Standard"), isByValue ? say("Promise") : say("Trappy"), say("Bonus for")],
    rows,
    hint: sayAll([say("Scores are from {name}'s point of view.", { name: opponent }), whose, isByValue ? promise : trappy, say("Bonus for: the reply that gives the bonus, which need not tempt people."), bound]),
  });
}
