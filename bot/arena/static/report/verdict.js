// What the report draws of verdicts and scores; the verdicts themselves are the server's (bot/text/moment_text.py).

import { fromServer, percentText, say, withFractions } from "/static/common/language.js";

const DECIDED_CENTI = 100_000;

/** What each icon of `ICONS` means, for the legend. */
export const ICON_MEANINGS = {
  trap: say("a trap, or its bait taken"),
  eye: say("the trap was seen through: the best reply"),
  check: say("no trap, and the best reply"),
  loose: say("not quite the best reply: it costs less than a tenth of the game"),
  slip: say("a slip: it costs a tenth of the game or more"),
  wait: say("a trap without a reply, or still being analysed"),
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
  rest: "dot",
};

/** A score in hundredths of a unit; a decided one as its margin ("lost by 42": -4200). */
export function marginOf(centi) {
  return Math.abs(centi) < DECIDED_CENTI ? centi : Math.sign(centi) * (Math.abs(centi) - DECIDED_CENTI);
}

/** The cost of a reply from the server's text: a number gets a unit, words ("the game") stay unchanged. */
export function cost(text, unit) {
  if (!text) return "–";
  if (!/^[\d.]+$/.test(text)) return fromServer(text);
  const size = withFractions(text);
  return unit ? say("{n} {unit}", { n: size, unit }) : size;
}

/** A probability as text: "41 %", "under 1 %"; a dash if there is none. */
export function probabilityText(probability) {
  return probability === null || probability === undefined ? "–" : percentText(probability);
}
