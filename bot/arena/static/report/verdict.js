// What happened at one move of the bot, in words and marks: no drawing here.

import { looks } from "/static/board/games.js";

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

/** A sum of losses in words: "3.5 discs". */
export function loss(centi, unit) {
  const text = (centi / 100).toFixed(1);
  return unit ? `${text} ${unit}` : text;
}

/** What a reply gave away, from the server's text: a number gets a unit, words ("the game") stay as they are. */
export function cost(text, unit) {
  if (!text) return "–";
  if (!/^[\d.]+$/.test(text)) return text;
  const short = text.replace(/(\.\d)0$/, "$1");
  return unit ? `${short} ${unit}` : short;
}

const MATE = /^#(-?)(\d+)$/;

/** A score as half a sentence about the person: "it seems +1.25", "you are mated in 2". */
function saying(text, verb, toWhom = "") {
  const [, lost, moves] = MATE.exec(text ?? "") ?? [];
  return moves ? `you ${lost ? "are mated" : "mate"} in ${moves}` : `it ${verb} ${scoreText(text)}${toWhom}`;
}

/** A score's text with a real minus sign, and "#3" in words; a dash when there is none. */
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

/** A probability in words: "41 %", "under 1 %"; a dash when there is none. */
export function oddsText(probability) {
  if (probability === null || probability === undefined) return "–";
  return probability < 0.01 ? "under 1 %" : `${Math.round(100 * probability)} %`;
}

/** What was expected of the person, of players that reckon with one; empty: nothing. */
function whoWasAsked({ model, trouble }, bot) {
  if (trouble) return `${bot} had to do without her model of people here (${trouble}), and took the best move.`;
  return model ? `${bot} asked what people reply here (${model.name}), and took the move that promised most.` : "";
}

/** What chose the move, where it was not the candidates' scores of our own search; empty: it was. */
function howPicked({ search_mode: mode, pick, pick_text: text, source, depth }, bot) {
  const worth = text ? ` (${scoreText(text)})` : "";
  const unmeant = "no trap was meant";
  switch (mode) {
    case "strong":
      return pick?.solved
        ? `${bot} played the game out to its end in thought and took the best move${worth}; ${unmeant}.`
        : `${bot} took the move that her strong search liked best, ${pick?.depth} plies deep${worth}; ${unmeant}.`;
    case "book":
      return `This move is from an opening book${worth}; ${unmeant}.`;
    case "tablebase":
      return `This move is from a table that knows the ending${worth}; ${unmeant}.`;
    case "lot":
      return `${bot} drew this move by lot from those nearly as good as the best, so as not to play your last games again; ${unmeant}.`;
    case "engine":
      return source ? `The scores are another engine's, ${source.name}, looking ${depth} plies ahead.` : "";
    default:
      return "";
  }
}

/** The moment when a reply looked its best before the full depth: {text, plies}. */
function glance(reply) {
  return reply?.glance_text ? { text: reply.glance_text, plies: reply.glance_plies } : null;
}

/**
 * Judge one decision of the report.
 * Returns {kind, isTrap, title, story: lines of text, facts: [{kind, term, move, text}], marks: [{squares, name, kind}]}.
 */
export function judge(decision, bot, game) {
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
  const asked = whoWasAsked(decision, bot);
  if (asked) story.push(asked);
  const seen = glance(bait);
  if (bait) {
    const lure = isMeant ? `${bot} hoped for ${bait.name}` : `A trap by accident: ${bait.name} looks better than it is`;
    story.push(
      seen
        ? `${lure}. Looking ${seen.plies} plies ahead ${saying(seen.text, "seems", " for you")}; looking ${decision.depth} plies ahead ${saying(bait.their_text, "is")}.`
        : `${lure}; ${saying(bait.their_text, "is worth", " to you")}.`,
    );
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
      return { title: "You saw through the trap", line: `You played ${played.name}, the best there was.` };
    case "slipped":
      return { title: "Past the trap, but not the best", line: `You left the bait alone, yet ${played.name} cost you ${price}; ${best.name} was better.` };
    case "open":
      return { title: "A trap you never had to answer", line: decision.outcome === null ? "" : "The game ended before your reply." };
    case "calm":
      return { title: "No trap, and you answered best", line: `You played ${played.name}, one of the best replies.` };
    case "loose":
      return { title: "No trap here", line: `Even so ${played.name} cost you ${price}; ${best.name} was better.` };
    case "forced":
      return { title: "You had only one reply", line: `${played.reply === "pass" ? "You had to pass" : `${played.name} was forced`}, so there was nothing to go wrong.` };
    case "pending":
      return { title: "Still being looked into", line: `${bot} is still working out what the replies were worth.` };
    default:
      return { title: "The last move", line: `The game ended before ${bot}'s move was answered.` };
  }
}
