// The verdict on one move of the bot, as text and marks; draws nothing.

import { looks } from "/static/board/games.js";

const DECIDED_CENTI = 100_000;

/** Kinds of moment, those with a trap first; `calm` and `loose` are moves without one. */
export const VERDICTS = {
  trap: { icon: "trap", label: "trap set" },
  fell: { icon: "trap", label: "you fell into the trap" },
  saw: { icon: "eye", label: "you saw through the trap" },
  slipped: { icon: "slip", label: "avoided the trap, but not the best reply" },
  open: { icon: "wait", label: "trap not answered" },
  calm: { icon: "check", label: "no trap, best reply" },
  loose: { icon: "slip", label: "no trap, but not the best reply" },
  forced: { icon: "dot", label: "only one reply" },
  pending: { icon: "wait", label: "still being analysed" },
  rest: { icon: "dot", label: "not answered" },
};

/** A score in hundredths of a unit; a decided one as its margin ("lost by 42": -4200). */
export function marginOf(centi) {
  return Math.abs(centi) < DECIDED_CENTI ? centi : Math.sign(centi) * (Math.abs(centi) - DECIDED_CENTI);
}

/** The loss by the reply that was played; decided scores count by their margins. */
export function weightOf({ replies, reply: played }) {
  const made = replies.find(({ reply }) => reply === played);
  return made ? marginOf(made.final_centi) - marginOf(Math.min(...replies.map(({ final_centi: score }) => score))) : 0;
}

/** A sum of losses as text: "3.5 discs". */
export function loss(centi, unit) {
  const text = (centi / 100).toFixed(1);
  return unit ? `${text} ${unit}` : text;
}

/** The cost of a reply from the server's text: a number gets a unit, words ("the game") stay unchanged. */
export function cost(text, unit) {
  if (!text) return "–";
  if (!/^[\d.]+$/.test(text)) return text;
  const short = text.replace(/(\.\d)0$/, "$1");
  return unit ? `${short} ${unit}` : short;
}

const MATE = /^#(-?)(\d+)$/;

/** A score as a clause about the person: "it seems +1.25", "you are mated in 2". */
function clause(text, verb, toWhom = "") {
  const [, lost, moves] = MATE.exec(text ?? "") ?? [];
  if (moves) return `you ${lost ? "are mated" : "mate"} in ${moves}`;
  if (/^(won|lost)/.test(text ?? "")) return `it ${verb === "seems" ? verb : "is"} ${text} for you`;
  return `it ${verb} ${scoreText(text)}${toWhom}`;
}

/** A score's text with a proper minus sign and "#3" in words; a dash: there is none. */
export function scoreText(text) {
  const [, lost, moves] = MATE.exec(text ?? "") ?? [];
  if (moves) return `${lost ? "mated" : "mate"} in ${moves}`;
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

/** A probability as text: "41 %", "under 1 %"; a dash: there is none. */
export function oddsText(probability) {
  if (probability === null || probability === undefined) return "–";
  return probability < 0.01 ? "under 1 %" : `${Math.round(100 * probability)} %`;
}

/** The use of a human-move model, by players that have one; empty: none. */
function howModelled({ model, trouble }, bot) {
  if (trouble) return `${bot} could not use her model of people here (${trouble}) and took the best move.`;
  return model ? `${bot} predicted what people reply here (${model.name}) and took the move that promised most.` : "";
}

/** The source of the move, if not the scores of our own search; empty: those. */
function howPicked({ search_mode: mode, pick, pick_text: text, source, depth }, bot) {
  const worth = text ? ` (${scoreText(text)})` : "";
  const unmeant = "no trap was intended";
  const origin = pick?.origin ? ` (${pick.origin})` : "";
  switch (mode) {
    case "strong":
      return pick?.solved
        ? `${bot} solved the game to its end and took the best move${worth}; ${unmeant}.`
        : `${bot} took the best move of her strong search, ${pick?.depth} plies deep${worth}; ${unmeant}.`;
    case "book":
      return `This move is from an opening book${origin}${worth}; ${unmeant}.`;
    case "tablebase":
      return `This move is from an endgame tablebase${worth}; ${unmeant}.`;
    case "explorer":
      return `This move is from an online opening explorer${origin}; ${unmeant}.`;
    case "online_tablebase":
      return `This move is from an online endgame tablebase${origin}${worth}; ${unmeant}.`;
    case "engine_move":
      return `This is the best move of another engine, ${source?.name}, ${pick?.depth} plies deep${worth}; ${unmeant}.`;
    case "lot":
      return `${bot} chose this move at random from those nearly as good as the best, so as not to repeat your last games; ${unmeant}.`;
    case "engine":
      return source ? `The scores are from another engine, ${source.name}, searching ${depth} plies deep.` : "";
    default:
      return "";
  }
}

/** A reply's best score before the full depth: {text, plies}. */
function glance(reply) {
  return reply?.glance_text ? { text: reply.glance_text, plies: reply.glance_plies } : null;
}

/**
 * Judge one decision of the report; of a blind one without a word on which player set the trap, and how.
 * Returns {kind, isTrap, title, story: lines of text, facts: [{kind, term, move, text}], marks: [{squares, name, kind}]}.
 */
export function judge(decision, bot, game, isBlind = false) {
  const unit = looks(game).unit;
  const replies = decision.replies;
  const byName = new Map(replies.map((reply) => [reply.reply, reply]));
  const bestScore = Math.min(...replies.map(({ final_centi: score }) => score));
  const bests = replies.filter(({ final_centi: score }) => score === bestScore);
  const isForced = replies.length === 1;
  const isTrap = Boolean(decision.is_trap);
  const isMeant = decision.sets_traps;
  const kind = kindOf(decision, isForced);
  const bait = isTrap ? byName.get(decision.trap?.reply) : null;
  const played = byName.get(decision.reply) ?? null;
  const best = bests.find(({ reply }) => reply === decision.reply) ?? bests[0] ?? null;
  const price = cost(decision.cost_text, unit);

  const story = [];
  const picked = howPicked(decision, bot);
  if (picked) story.push(picked);
  const modelled = howModelled(decision, bot);
  if (modelled) story.push(modelled);
  const seen = glance(bait);
  if (bait) {
    const lure = isMeant ? `${bot} hoped for ${bait.name}` : `A trap${isBlind ? "" : " by accident"}: ${bait.name} looks better than it is`;
    if (!seen) story.push(`${lure}; ${clause(bait.their_text, "is worth", " to you")}.`);
    else if (isBlind) story.push(`${lure}. At a glance ${clause(seen.text, "seems", " for you")}; in fact ${clause(bait.their_text, "is")}.`);
    else story.push(`${lure}. Looking ${seen.plies} plies ahead ${clause(seen.text, "seems", " for you")}; looking ${decision.depth} plies ahead ${clause(bait.their_text, "is")}.`);
  }
  const { title, line } = words({ kind, decision, bot, bait, played, best, price });
  if (line) story.push(line);
  if (isMeant && decision.standard.move !== decision.move && decision.standard.raw_text) {
    story.push(`${decision.source?.name ?? "Plain minimax"} would have played ${decision.standard.name} (${scoreText(decision.standard.raw_text)}); ${bot} took ${decision.name} (${scoreText(decision.chosen.raw_text)}) ${decision.model ? "for what people reply to it" : "for the trap's sake"}.`);
  }

  const facts = [];
  if (bait && bait !== played) facts.push({ kind: "trap", term: "The bait", move: bait.name, text: scoreText(bait.their_text) });
  if (played) {
    const hasOdds = kind !== "forced" && Number.isFinite(played.probability);
    const surprise = hasOdds ? `, expected in ${oddsText(played.probability)}` : "";
    const text = (kind === "forced" ? "forced" : decision.cost_centi ? `cost ${price}` : scoreText(played.their_text)) + surprise;
    facts.push({ kind: kind === "fell" ? "fell" : decision.cost_centi ? "slip" : "good", term: bait && bait === played && kind === "fell" ? "You took the bait" : "You played", move: played.name, text });
  }
  if (best && best !== played && !isForced) facts.push({ kind: "best", term: "Best was", move: best.name, text: scoreText(best.their_text) });

  const marks = [];
  const add = (reply, markKind) => reply?.squares?.length && marks.push({ squares: reply.squares, name: reply.name, kind: markKind });
  if (bait && bait !== played) add(bait, "trap");
  if (best && best !== played) add(best, "best");
  if (played) add(played, kind === "fell" ? "fell" : decision.cost_centi ? "played" : "good");
  return { kind, isTrap, title, story, facts, marks };
}

function words({ kind, decision, bot, bait, played, best, price }) {
  switch (kind) {
    case "fell": {
      const rest = `It cost you ${price}; ${best.name} was the reply to find.`;
      return played === bait
        ? { title: "You fell into the trap", line: `You played it. ${rest}` }
        : { title: "You fell into a trap", line: `You played ${played.name}, another trap among the replies. ${rest}` };
    }
    case "saw":
      return { title: "You saw through the trap", line: `You played ${played.name}, the best reply.` };
    case "slipped":
      return { title: "Trap avoided, best reply missed", line: `You left the bait alone, but ${played.name} cost you ${price}; ${best.name} was better.` };
    case "open":
      return { title: "A trap you never had to answer", line: decision.outcome === null ? "" : "The game ended before your reply." };
    case "calm":
      return { title: "No trap, and you found the best reply", line: `You played ${played.name}, one of the best replies.` };
    case "loose":
      return { title: "No trap here", line: `Even so ${played.name} cost you ${price}; ${best.name} was better.` };
    case "forced":
      return { title: "You had only one reply", line: `${played.reply === "pass" ? "You had to pass" : `${played.name} was forced`}, so nothing could go wrong.` };
    case "pending":
      return { title: "Still being analysed", line: `${bot} is still working out what the replies were worth.` };
    default:
      return { title: "The last move", line: `The game ended before ${bot}'s move was answered.` };
  }
}
