// The report's two tables: the values of the replies, and the moves that the bot could have played.

import { el } from "/static/common/dom.js";
import { baitsOf } from "/static/report/bait.js";
import { cost, oddsText, scoreText } from "/static/report/verdict.js";

const SHORT = 6; // rows shown before "Show all"

const note = (kind, text) => el("span", { class: `note note-${kind}` }, text);

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
    box.querySelector(".table-scroll").after(el("button", { type: "button", class: "button link", onclick: unfold }, `Show all ${rows.length}`));
  }
  return box;
}

/** The replies to the bot's move from the person's view, best first. */
export function replyTable(decision, { isPlayer, isBlind, unit }) {
  if (!decision.replies.length) return null;
  const sorted = [...decision.replies].sort((a, b) => a.final_centi - b.final_centi);
  const best = sorted[0].final_centi;
  const baits = new Set(baitsOf(decision).map(({ reply }) => reply));
  const hasOdds = sorted.some(({ probability }) => Number.isFinite(probability));
  const rows = sorted.map((reply) => {
    const isPlayed = reply.reply === decision.reply;
    const isBait = baits.has(reply.reply);
    const isBest = reply.final_centi === best;
    return {
      name: reply.name,
      notes: [
        isBest ? note("best", "best") : null,
        isBait ? note("trap", "bait") : null,
        isPlayed ? note("played", isPlayer ? "you" : "played") : null,
      ],
      cells: [scoreText(reply.looks.length > 1 ? reply.looks[0] : null), scoreText(reply.their_text), cost(reply.cost_text), ...(hasOdds ? [oddsText(reply.probability)] : [])],
      isMarked: isPlayed,
      isKey: isPlayed || isBait,
    };
  });
  return table({
    title: `What ${isPlayer ? "your" : "the"} replies were worth`,
    label: "Replies",
    heads: ["Reply", "At a glance", isBlind ? "In fact" : `At ${decision.depth} plies`, unit ? `Cost, ${unit}` : "Cost", ...(hasOdds ? ["Expected"] : [])],
    rows,
    hint: hasOdds ? `Expected: how likely people play it${whoExpects(decision)}.` : null,
  });
}

/** Who gave the replies' probabilities; a blind report does not tell. */
function whoExpects({ forecast, model }) {
  const by = forecast?.model ?? (forecast ? null : model);
  if (!by) return "";
  return by.kind === "looks" ? ", judged by how the replies look" : `, by a model of people (${by.name})`;
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
      notes: [isPlayed ? note("played", "played") : null, isStandard ? note("best", "standard") : null],
      cells: [
        `${candidate.raw_is_bound ? "≤ " : ""}${scoreText(candidate.raw_text)}`,
        isByValue ? scoreText(candidate.value_text) : candidate.raw_is_bound ? "–" : scoreText(candidate.adjusted_text),
        candidate.trap_name ?? "–",
      ],
      isMarked: isPlayed,
      isKey: isPlayed || isStandard,
    };
  });
  const { source } = decision;
  const whose = source ? `the score by ${source.name}` : "the score by plain minimax";
  const bound = source ? "≤: its score for a move that was not analysed further" : "≤: proven too low to matter, so not analysed further";
  const trappy = `Trappy: ${sorted.some(({ adjusted_text: text }) => text.endsWith("%")) ? "the expected score, in per cent," : "the same score"} with the bonus for a deceptive reply`;
  const promise = "Promise: the value of the move, averaged over the replies expected of people; –: it gives up too much";
  return table({
    title: `What ${opponent} could have played`,
    label: "Candidates",
    heads: ["Move", "Standard", isByValue ? "Promise" : "Trappy", "Bonus for"],
    rows,
    hint: `Scores are from ${opponent}'s point of view. Standard: ${whose}. ${isByValue ? promise : trappy}. Bonus for: the reply that gives the bonus, which need not tempt people. ${bound}.`,
  });
}
