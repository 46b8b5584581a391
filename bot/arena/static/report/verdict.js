// The verdict on one move of the bot, as text and marks; draws nothing.

import { looks } from "/static/board/games.js";
import { baitsOf, gameShare, howItLooks, isChecked, peoplePlay } from "/static/report/bait.js";

const DECIDED_CENTI = 100_000;
const ERROR = 1_000; // from this cost on a reply is a slip; hundredths of a per cent of the game

/** What each icon of `VERDICTS` means, for the legend. */
export const ICON_MEANINGS = {
  trap: "a trap, or a fall into it",
  eye: "you saw through the trap: the best reply",
  check: "no trap, and the best reply",
  loose: "not quite the best reply: it costs less than a tenth of the game",
  slip: "a slip: it costs a tenth of the game or more",
  wait: "a trap without a reply, or still being analysed",
  dot: "nothing to judge: only one reply, already decided, or no reply",
};

/** Kinds of moment, those with a trap first; `calm` to `decided` are moves without one that is known. */
export const VERDICTS = {
  trap: { icon: "trap", label: "trap set" },
  fell: { icon: "trap", label: "you fell into the trap" },
  saw: { icon: "eye", label: "you saw through the trap" },
  avoided: { icon: "loose", label: "avoided the trap, but not quite the best reply" },
  slipped: { icon: "slip", label: "avoided the trap, but a slip" },
  open: { icon: "wait", label: "trap not answered" },
  calm: { icon: "check", label: "best reply" },
  slip: { icon: "slip", label: "a slip" },
  loose: { icon: "loose", label: "not quite the best reply" },
  decided: { icon: "dot", label: "already decided" },
  forced: { icon: "dot", label: "only one reply" },
  pending: { icon: "wait", label: "still being analysed" },
  rest: { icon: "dot", label: "not answered" },
};

/** A score in hundredths of a unit; a decided one as its margin ("lost by 42": -4200). */
export function marginOf(centi) {
  return Math.abs(centi) < DECIDED_CENTI ? centi : Math.sign(centi) * (Math.abs(centi) - DECIDED_CENTI);
}

/** The cost of a reply from the server's text: a number gets a unit, words ("the game") stay unchanged. */
export function cost(text, unit) {
  if (!text) return "–";
  if (!/^[\d.]+$/.test(text)) return text;
  const short = text.replace(/(\.\d)0$/, "$1");
  return unit ? `${short} ${unit}` : short;
}

const MATE = /^#(-?)(\d+)$/;

/** A score's text with a proper minus sign and "#3" in words; a dash: there is none. */
export function scoreText(text) {
  const [, lost, moves] = MATE.exec(text ?? "") ?? [];
  if (moves) return `${lost ? "mated" : "mate"} in ${moves}`;
  return text ? text.replace(/^-/, "−") : "–";
}

/** What a reply costs: "29 % of the game (3.5 discs)". */
export function price({ cost: share, cost_text: text }, unit) {
  const isNumber = /^[\d.]+$/.test(text ?? "");
  if (!share) return cost(text, unit);
  return isNumber ? `${gameShare(share)} (${cost(text, unit)})` : gameShare(share);
}

/** A reply at a glance and in fact; only the latter if no shallower search is known. */
function looksText({ looks: texts, their_text: fact }) {
  return texts.length > 1 ? `${scoreText(texts[0])} at a glance, ${scoreText(fact)} in fact` : scoreText(fact);
}

function kindOf(decision, { baits, isForced }) {
  const { outcome, forecast, cost: share } = decision;
  if (outcome === null && (decision.reply || !decision.is_complete)) return "pending";
  if (outcome === null || outcome === "unanswered") return baits.length ? "open" : "rest";
  if (isForced) return "forced";
  if (baits.length && forecast.is_taken) return "fell";
  if (outcome === "optimal") return baits.length ? "saw" : "calm";
  if (baits.length) return share >= ERROR ? "slipped" : "avoided";
  if (decision.is_decided) return "decided";
  return share >= ERROR ? "slip" : "loose";
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
function howPicked({ search_mode: mode, pick, pick_text: text, source, depth, draw }, bot) {
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
    case "trial":
      return `A lot decided between this move and ${draw?.other_name}: one of them sets a trap, the other does not.`;
    case "engine":
      return source ? `The scores are from another engine, ${source.name}, searching ${depth} plies deep.` : "";
    default:
      return "";
  }
}

/** What tempts people after this move, and how it looks beside the best reply. */
function temptation(baits, best, bests, { isMeant, isBlind }) {
  const lead = isBlind || isMeant ? "A trap" : "A trap by accident";
  return baits.map(({ bait, odds, cost: share }, i) => {
    const first = i ? `Another: ${peoplePlay(odds)} ${bait.name}.` : `${lead}: ${peoplePlay(odds)} ${bait.name} here.`;
    return [first, howItLooks(bait, best, bests), `It costs ${gameShare(share)}.`].filter(Boolean).join(" ");
  });
}

/**
 * Judge one decision of the report; of a blind one without a word on which player set the trap, and how.
 * Returns {kind, isTrap, isSlip, title, story: lines of text, facts: [{kind, term, move, text}], marks: [{squares, name, kind}]}.
 */
export function judge(decision, bot, game, isBlind = false) {
  const unit = looks(game).unit;
  const replies = decision.replies;
  const byName = new Map(replies.map((reply) => [reply.reply, reply]));
  const bestScore = Math.min(...replies.map(({ final_centi: score }) => score));
  const bests = replies.filter(({ final_centi: score }) => score === bestScore);
  const isForced = replies.length === 1;
  const baits = baitsOf(decision).map((found) => ({ ...found, bait: byName.get(found.reply) }));
  const isTrap = baits.length > 0;
  const isMeant = decision.sets_traps;
  const kind = kindOf(decision, { baits, isForced });
  const played = byName.get(decision.reply) ?? null;
  const isBait = (reply) => baits.some(({ bait }) => bait === reply);
  const best = bests.find(({ reply }) => reply === decision.reply) ?? bests[0] ?? null;
  const isSlip = kind === "slip" || kind === "slipped";

  const story = [];
  const picked = howPicked(decision, bot);
  if (picked) story.push(picked);
  const modelled = howModelled(decision, bot);
  if (modelled) story.push(modelled);
  story.push(...temptation(baits, best, bests, { isMeant, isBlind }));
  const { title, line } = words({ kind, decision, bot, baits, played, best, isLost: bestScore >= DECIDED_CENTI, unit });
  if (line) story.push(line);
  if (isMeant && decision.standard.move !== decision.move && decision.standard.raw_text) {
    story.push(`${decision.source?.name ?? "Plain minimax"} would have played ${decision.standard.name} (${scoreText(decision.standard.raw_text)}); ${bot} took ${decision.name} (${scoreText(decision.chosen.raw_text)}) for what people reply to it.`);
  }

  const facts = [];
  for (const { bait } of baits) {
    if (bait !== played) facts.push({ kind: "trap", term: baits.length > 1 ? "A bait" : "The bait", move: bait.name, text: looksText(bait) });
  }
  if (played) {
    const hasOdds = kind !== "forced" && Number.isFinite(played.probability);
    const parts = [
      kind === "fell" ? looksText(played) : null,
      kind === "forced" ? "forced" : decision.cost_centi ? `cost ${price(decision, unit)}` : looksText(played),
      hasOdds ? `expected in ${oddsText(played.probability)}` : null,
    ];
    const text = parts.filter(Boolean).join(", ");
    const factKind = kind === "fell" ? "fell" : decision.cost_centi ? "slip" : "good";
    facts.push({ kind: factKind, term: kind === "fell" ? "You took the bait" : "You played", move: played.name, text });
  }
  if (best && best !== played && !isForced) facts.push({ kind: "best", term: "Best was", move: best.name, text: looksText(best) });

  const marks = [];
  const add = (reply, markKind) => reply?.squares?.length && marks.push({ squares: reply.squares, name: reply.name, kind: markKind });
  for (const { bait } of baits) if (bait !== played) add(bait, "trap");
  if (best && best !== played) add(best, "best");
  if (played) add(played, isBait(played) ? "fell" : decision.cost_centi ? "played" : "good");
  return { kind, isTrap, isSlip, title, story, facts, marks };
}

function words({ kind, decision, bot, baits, played, best, isLost, unit }) {
  const trap = baits.length > 1 ? "the traps" : "the trap";
  const missed = () => `${played.name} cost you ${price(decision, unit)}; ${best.name} was better.`;
  switch (kind) {
    case "fell":
      return {
        title: baits.length > 1 ? "You fell into a trap" : "You fell into the trap",
        line: `You played ${baits.length > 1 ? played.name : "it"}; ${best.name} was the reply to find.`,
      };
    case "saw":
      return { title: `You saw through ${trap}`, line: `You played ${played.name}, the best reply.` };
    case "avoided":
      return { title: "Trap avoided, best reply missed", line: `You left the bait alone, but ${missed()}` };
    case "slipped":
      return { title: "Trap avoided, but a slip", line: `You left the bait alone, but ${missed()}` };
    case "open":
      return { title: "A trap you never had to answer", line: decision.outcome === null ? "" : "The game ended before your reply." };
    case "calm":
      return { title: isChecked(decision) ? "No trap, and you found the best reply" : "You found the best reply", line: `You played ${played.name}, one of the best replies.` };
    case "slip":
      return { title: "A slip", line: `${isChecked(decision) ? "There was no bait here. " : ""}${missed()}` };
    case "loose":
      return { title: "Not quite the best reply", line: `${isChecked(decision) ? "There was no bait here. " : ""}${missed()}` };
    case "decided":
      return { title: "Already decided", line: isLost ? `${bot} wins by force here, whatever you reply.` : `You could win by force here. ${missed()}` };
    case "forced":
      return { title: "You had only one reply", line: `${played.reply === "pass" ? "You had to pass" : `${played.name} was forced`}, so nothing could go wrong.` };
    case "pending":
      return { title: "Still being analysed", line: `${bot} is still working out what the replies were worth.` };
    default:
      return { title: "The last move", line: `The game ended before ${bot}'s move was answered.` };
  }
}
