// Odds: what one player gives another before the game. The names are those of the API.

import { say } from "/static/common/language.js";

const NAMES = {
  pawn: say("pawn"),
  knight: say("knight"),
  rook: say("rook"),
  queen: say("queen"),
  "queen+knight": say("queen and knight"),
  "1-corner": say("one corner"),
  "2-corners": say("two corners"),
  "3-corners": say("three corners"),
  horse: say("horse"),
  cannon: say("cannon"),
  "2-horses": say("two horses"),
  chariot: say("chariot"),
};

/** The odds in words, for a label or inside a sentence. */
export const oddsName = (odds) => NAMES[odds] ?? odds;

/** Who gives what: one player lacks pieces, or lets the other begin with corners. */
export function oddsText(odds, giver, taker) {
  const what = oddsName(odds);
  if (!odds.includes("corner")) return say("{name} plays without {what}.", { name: giver, what });
  return taker ? say("{name} begins with {what}.", { name: taker, what }) : say("You begin with {what}.", { what });
}
