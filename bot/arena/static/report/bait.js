// What a report has of baits, for tables and charts; the sentences about them are the server's.

import { say } from "/static/common/language.js";

/** The axis of a blind report, whose number of depths must not tell how deep the search was. */
const STEPS = [say("at depth 2"), say("at depth 3"), say("deep")];

/** The baits of a move, *the* bait first; none while that is open, or in a decided position. */
export function baitsOf({ forecast, is_decided: isDecided }) {
  return forecast?.is_judged && !isDecided ? forecast.baits : [];
}

/** A bait's expected loss: probability times cost. */
export function expectedLoss({ probability, cost }) {
  return probability * cost;
}

/** Whether it is open if an answered move tempts people: the forecast is missing, or the judge has not seen its replies. */
export function isUnknown({ forecast, is_decided: isDecided, outcome, replies }) {
  return !isDecided && replies.length > 1 && outcome !== null && outcome !== "unanswered" && !forecast?.is_judged;
}

/** A reply's scores as the chart draws them, the bot's view, from the shallowest search to the deepest. */
export function scoresOf(reply) {
  return reply.shown_centi ?? reply.scores_centi;
}

/** The names of the chart's depths: plies, or the fixed steps of a blind report. */
export function depthNames(reply) {
  return reply.shown_centi ? STEPS : reply.scores_centi.map((_, i) => String(i + 2));
}
