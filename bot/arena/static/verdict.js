// What happened at one move of the bot, in words and marks: no drawing here.

import { looks } from "./games.js";

const DECIDED_CENTI = 100_000;

/** Kinds of moment. Those with a trap come first; `calm` and `loose` are moves without one. */
export const VERDICTS = {
  trap: { icon: "trap", label: "trap set" },
  fell: { icon: "trap", label: "you fell into the trap" },
  saw: { icon: "eye", label: "you saw through the trap" },
  slipped: { icon: "slip", label: "not the trap, but not the best either" },
  open: { icon: "wait", label: "trap not answered" },
  calm: { icon: "check", label: "no trap, best reply" },
  loose: { icon: "slip", label: "no trap, but not the best reply" },
  forced: { icon: "dot", label: "only one reply" },
  pending: { icon: "wait", label: "still being looked into" },
  rest: { icon: "dot", label: "not answered" },
};

/** A score as a distance in hundredths of a unit: a decided one counts by its margin ("lost by 42": -4200). */
export function marginOf(centi) {
  return Math.abs(centi) < DECIDED_CENTI ? centi : Math.sign(centi) * (Math.abs(centi) - DECIDED_CENTI);
}

/** What the reply that was played gave away, counted by margins where the game is decided. */
export function weightOf({ replies, reply: played }) {
  const made = replies.find(({ reply }) => reply === played);
  return made ? marginOf(made.final_centi) - marginOf(Math.min(...replies.map(({ final_centi: score }) => score))) : 0;
}

/** A loss in words: "3.5 discs", or "the game" when it decides the game. */
export function cost(centi, unit) {
  if (centi === null || centi === undefined) return "–";
  if (centi >= DECIDED_CENTI / 2) return "the game";
  const text = (centi / 100).toFixed(1);
  return unit ? `${text} ${unit}` : text;
}

/** A score's text with a real minus sign; a dash when there is none. */
export function scoreText(text) {
  return text ? text.replace(/^-/, "−") : "–";
}

function kindOf(decision, isForced) {
  const { outcome, is_trap: isTrap } = decision;
  if (outcome === null && (decision.reply || !decision.is_complete)) return "pending";
  if (outcome === null || outcome === "unanswered") return isTrap ? "open" : "rest";
  if (isForced) return "forced";
  if (outcome === "optimal") return isTrap ? "saw" : "calm";
  if (outcome === "fell") return "fell";
  return isTrap ? "slipped" : "loose";
}

/** The moment when a reply looked its best before the full depth: {text, plies}. */
function glance(reply) {
  return reply?.glance_text ? { text: reply.glance_text, plies: reply.glance_plies } : null;
}

/**
 * Judge one decision of the report.
 * Returns {kind, isTrap, title, story: lines of text, facts: [{kind, term, move, text}], marks: [{square, kind}]}.
 */
export function judge(decision, bot, game) {
  const unit = looks(game).unit;
  const replies = decision.replies;
  const byName = new Map(replies.map((reply) => [reply.reply, reply]));
  const bestScore = Math.min(...replies.map(({ final_centi: score }) => score));
  const bests = replies.filter(({ final_centi: score }) => score === bestScore);
  const isForced = replies.length === 1;
  const isTrap = Boolean(decision.is_trap);
  const isMeant = decision.player === "trappy"; // the other players set traps by accident only
  const kind = kindOf(decision, isForced);
  const bait = isTrap ? byName.get(decision.trap?.reply) : null;
  const played = byName.get(decision.reply) ?? null;
  const best = bests.find(({ reply }) => reply === decision.reply) ?? bests[0] ?? null;
  const price = cost(decision.cost_centi, unit);

  const story = [];
  const seen = glance(bait);
  if (bait) {
    const lure = isMeant ? `${bot} hoped for ${bait.reply}` : `A trap by accident: ${bait.reply} looks better than it is`;
    story.push(
      seen
        ? `${lure}. Looking ${seen.plies} plies ahead it seems ${scoreText(seen.text)} for you; looking ${decision.depth} plies ahead it is ${scoreText(bait.their_text)}.`
        : `${lure}; it is worth ${scoreText(bait.their_text)} to you.`,
    );
  }
  const { title, line } = words({ kind, decision, bot, bait, played, best, price });
  if (line) story.push(line);
  if (isMeant && decision.standard.move !== decision.move && decision.standard.raw_text) {
    story.push(`Plain minimax would have played ${decision.standard.move} (${scoreText(decision.standard.raw_text)}); ${bot} took ${decision.move} (${scoreText(decision.chosen.raw_text)}) for the trap's sake.`);
  }

  const facts = [];
  if (bait && bait !== played) facts.push({ kind: "trap", term: "The bait", move: bait.reply, text: scoreText(bait.their_text) });
  if (played) {
    const text = kind === "forced" ? "forced" : decision.cost_centi ? `cost ${price}` : scoreText(played.their_text);
    facts.push({ kind: kind === "fell" ? "fell" : decision.cost_centi ? "slip" : "good", term: bait && bait === played && kind === "fell" ? "You took the bait" : "You played", move: played.reply, text });
  }
  if (best && best !== played && !isForced) facts.push({ kind: "best", term: "Best was", move: best.reply, text: scoreText(best.their_text) });

  const marks = [];
  const add = (reply, markKind) => reply?.squares?.length && marks.push({ square: reply.squares.at(-1), kind: markKind });
  if (bait && bait !== played) add(bait, "trap");
  if (best && best !== played) add(best, "best");
  if (played) add(played, kind === "fell" ? "fell" : decision.cost_centi ? "played" : "good");
  return { kind, isTrap, title, story, facts, marks };
}

function words({ kind, decision, bot, bait, played, best, price }) {
  switch (kind) {
    case "fell": {
      const rest = `It cost you ${price}; ${best.reply} was the reply to find.`;
      return played === bait
        ? { title: "You fell into the trap", line: `You played it. ${rest}` }
        : { title: "You fell into a trap", line: `You played ${played.reply}, another trap among the replies. ${rest}` };
    }
    case "saw":
      return { title: "You saw through the trap", line: `You played ${played.reply}, the best there was.` };
    case "slipped":
      return { title: "Past the trap, but not the best", line: `You left the bait alone, yet ${played.reply} cost you ${price}; ${best.reply} was better.` };
    case "open":
      return { title: "A trap you never had to answer", line: decision.outcome === null ? "" : "The game ended before your reply." };
    case "calm":
      return { title: "No trap, and you answered best", line: `You played ${played.reply}, one of the best replies.` };
    case "loose":
      return { title: "No trap here", line: `Even so ${played.reply} cost you ${price}; ${best.reply} was better.` };
    case "forced":
      return { title: "You had only one reply", line: `${played.reply === "pass" ? "You had to pass" : `${played.reply} was forced`}, so there was nothing to go wrong.` };
    case "pending":
      return { title: "Still being looked into", line: `${bot} is still working out what the replies were worth.` };
    default:
      return { title: "The last move", line: `The game ended before ${bot}'s move was answered.` };
  }
}
