// What a bait is to people: how likely they play it, how it looks beside the best reply, what it costs.
// Every sentence about looks is made from the points that the chart draws.

import { number, say, sayAll, sayList } from "/static/common/language.js";

/** The axis of a blind report, whose number of depths must not tell how deep the search was. */
const STEPS = [say("at a glance"), say("a little deeper"), say("deep")];

const PER_PERCENT = 100;

/** Shares in words; the nearest one is said. */
const SHARES = [
  ...[10, 9, 8, 7, 6, 5, 4, 3, 2].map((many) => [1 / many, "one", many]),
  ...[[2, 5], [3, 5], [2, 3], [3, 4], [4, 5], [9, 10]].map(([some, many]) => [some / many, some, many]),
];
const NUMBERS = ["", "", say("two"), say("three"), say("four"), say("five"), say("six"), say("seven"), say("eight"), say("nine"), say("ten")];

/** A probability as a clause's subject and verb: "one player in three plays". */
export function peoplePlay(odds) {
  if (odds >= 0.95) return say("nearly every player plays");
  const [, some, many] = SHARES.reduce((a, b) => (Math.abs(b[0] - odds) < Math.abs(a[0] - odds) ? b : a));
  return some === "one" ? say("one player in {many} plays", { many: NUMBERS[many] }) : say("{some} players in {many} play", { some: NUMBERS[some], many: NUMBERS[many] });
}

/** A share from 0 to 1 as text: "41 %", "under 1 %". */
export function percentText(share) {
  const text = share > 0 && share < 0.01 ? say("under 1 %") : say("{n} %", { n: number(Math.round(100 * share)) });
  return text.replace(" %", "\u00a0%"); // a line never begins with the sign
}

/**
 * Why a game may have no trap, for those who expect one in each.
 * `isShort`: the game was short, or may be.
 * `plainShare`: the share of the bot's games that a player without traps plays, drawn by lot; 0 or none: no lot is drawn.
 */
export function whyNone(name, plainShare, isShort = true) {
  const lot = plainShare ? say("About {share} of {name}’s games, drawn by lot, are played by a plain engine that does not look for traps.", { share: percentText(plainShare), name }) : "";
  return sayAll([isShort ? say("Traps are rare in a short game.") : "", lot]);
}

/** A share of a game, from hundredths of a per cent: "29 % of the game". */
export function gameShare(cost) {
  return say("{share} of the game", { share: percentText(cost / PER_PERCENT / 100) });
}

/** The confirmed baits of a move, the one of the greatest surprise (odds times cost) first; none while that is open, or in a decided position. */
export function baitsOf({ forecast, is_decided: isDecided }) {
  return forecast?.is_confirmed && !isDecided ? [...forecast.baits].sort((a, b) => surprise(b) - surprise(a)) : [];
}

/** By how much a bait is expected to hurt: probability times cost. */
export function surprise({ odds, cost }) {
  return odds * cost;
}

/** Whether it is open if an answered move tempts people: the forecast is missing, or no deeper search has confirmed it. */
export function isUnknown({ forecast, is_decided: isDecided, outcome, replies }) {
  return !isDecided && replies.length > 1 && outcome !== null && outcome !== "unanswered" && !forecast?.is_confirmed;
}

/** Whether it is known if a move tempts people. */
export function isChecked({ forecast }) {
  return Boolean(forecast?.is_confirmed);
}

/** A reply's scores as the chart draws them, the bot's view, from the shallowest search to the deepest. */
export function scoresOf(reply) {
  return reply.looks_centi ?? reply.scores_centi;
}

/** The names of the chart's depths: plies, or the fixed steps of a blind report. */
export function depthNames(reply) {
  return reply.looks_centi ? STEPS : reply.scores_centi.map((_, i) => String(i + 2));
}

/** Where on the chart's axis: "at a glance", "looking 2 to 5 plies ahead". */
function where(reply, places) {
  if (reply.looks_centi) return sayList(places.map((i) => STEPS[i]));
  const plies = places.map((i) => i + 2);
  const isRun = plies.length > 2 && plies.at(-1) - plies[0] === plies.length - 1;
  return isRun ? say("looking {first} to {last} plies ahead", { first: plies[0], last: plies.at(-1) }) : say("looking {plies} plies ahead", { plies: sayList(plies) });
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/**
 * How a bait looks beside the best replies where it looks no worse than any of them.
 * `best` is the one that is drawn; empty: the chart shows no such depth.
 */
export function howItLooks(bait, best, bests) {
  const [mine, drawn] = [scoresOf(bait), scoresOf(best)];
  const rivals = bests.map(scoresOf);
  const places = mine.map((_, i) => i).filter((i) => i < mine.length - 1 && rivals.every((scores) => mine[i] <= scores[i]));
  if (!places.length) return "";
  const isBetter = (i) => mine[i] < drawn[i];
  const words = { where: where(bait, places), best: best.name };
  if (places.every(isBetter)) return capital(say("{where} it looks better than {best}.", words));
  return capital(places.some(isBetter) ? say("{where} it looks at least as good as {best}.", words) : say("{where} it looks as good as {best}.", words));
}
