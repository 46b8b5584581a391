// What the report draws of verdicts and scores; the verdicts themselves are the server's (bot/text/moment_text.py).

import { percentText, say } from "/static/common/language.js";

const DECIDED_CENTI = 100_000;
const WHOLE = 10_000; // the game, in the unit of costs

/** What each icon of `ICONS` means, for the legend. */
export const ICON_MEANINGS = {
  trap: say("a trap, or its bait taken"),
  eye: say("the trap was seen through: a good reply"),
  check: say("no trap, and a good reply"),
  loose: say("not quite the best reply: it costs less than a tenth of the game"),
  slip: say("a slip: it costs a tenth of the game or more"),
  wait: say("a trap without a reply, or not judged yet"),
  dot: say("nothing to judge: only one reply, already decided, or no reply"),
};

/** The icon of each kind of moment. */
export const ICONS = {
  trap: "trap",
  fell: "trap",
  saw: "eye",
  avoided: "loose",
  slipped: "slip",
  open: "wait",
  calm: "check",
  slip: "slip",
  loose: "loose",
  decided: "dot",
  forced: "dot",
  pending: "wait",
  judging: "wait",
  rest: "dot",
};

/** A score in hundredths of a unit; a decided one as its margin ("lost by 42": -4200). */
export function marginOf(centi) {
  return Math.abs(centi) < DECIDED_CENTI ? centi : Math.sign(centi) * (Math.abs(centi) - DECIDED_CENTI);
}

/** A text that can break at the first space after this part of it, and nowhere else. */
function withOneBreak(text, part) {
  const at = text.indexOf(part) + part.length;
  const unbroken = (some) => some.replaceAll(" ", "\u00a0");
  return unbroken(text.slice(0, at)) + unbroken(text.slice(at)).replace("\u00a0", " ");
}

/** What a reply costs by the judge, and to which depth that holds; a dash if it was not judged. */
export function judgedCost(judged) {
  if (!judged) return "–";
  const what = percentText(judged.shown_cost / WHOLE);
  if (judged.is_solved) return withOneBreak(say("{what}, solved", { what }), what);
  return judged.judge_depth === null ? what : withOneBreak(say("{what} to depth {plies}", { what, plies: judged.judge_depth }), what);
}

/** A probability as text: "41 %", "under 1 %"; a dash if there is none. */
export function probabilityText(probability) {
  return probability === null || probability === undefined ? "–" : percentText(probability);
}
