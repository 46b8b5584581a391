// The verdict on one move of the bot, as text and marks; draws nothing.

import { looks } from "/static/board/games.js";
import { baitsOf, gameShare, howItLooks, isChecked, peoplePlay, percentText } from "/static/report/bait.js";
import { fromServer, say, sayAll, withFractions } from "/static/common/language.js";

const DECIDED_CENTI = 100_000;
const ERROR = 1_000; // from this cost on a reply is a slip; hundredths of a per cent of the game

/** What each icon of `VERDICTS` means, for the legend. */
export const ICON_MEANINGS = {
  trap: say("a trap, or a fall into it"),
  eye: say("the trap was seen through: the best reply"),
  check: say("no trap, and the best reply"),
  loose: say("not quite the best reply: it costs less than a tenth of the game"),
  slip: say("a slip: it costs a tenth of the game or more"),
  wait: say("a trap without a reply, or still being analysed"),
  dot: say("nothing to judge: only one reply, already decided, or no reply"),
};

/** Kinds of moment, those with a trap first; `calm` to `decided` are moves without one that is known. */
export const VERDICTS = {
  trap: { icon: "trap", label: say("trap set") },
  fell: { icon: "trap", label: say("you fell into the trap") },
  saw: { icon: "eye", label: say("you saw through the trap") },
  avoided: { icon: "loose", label: say("avoided the trap, but not quite the best reply") },
  slipped: { icon: "slip", label: say("avoided the trap, but a slip") },
  open: { icon: "wait", label: say("trap not answered") },
  calm: { icon: "check", label: say("best reply") },
  slip: { icon: "slip", label: say("a slip") },
  loose: { icon: "loose", label: say("not quite the best reply") },
  decided: { icon: "dot", label: say("already decided") },
  forced: { icon: "dot", label: say("only one reply") },
  pending: { icon: "wait", label: say("still being analysed") },
  rest: { icon: "dot", label: say("not answered") },
};

/** The same for a spectator. */
const OTHERS_LABELS = { fell: say("fallen into"), saw: say("seen through") };

/** What became of a kind of moment, in a few words; `person`: as in `judge`. */
export function labelOf(kind, person = null) {
  return (person !== null && OTHERS_LABELS[kind]) || VERDICTS[kind].label;
}

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

const MATE = /^#(-?)(\d+)$/;
const DECIDED = /^(won|lost)(?: (by|in) (\d+))?$/;
const DECIDED_TEXTS = {
  "won": () => say("won"),
  "lost": () => say("lost"),
  "won by": (n) => say("won by {n}", { n }),
  "lost by": (n) => say("lost by {n}", { n }),
  "won in": (n) => say("won in {n}", { n }),
  "lost in": (n) => say("lost in {n}", { n }),
};

/** A score's text with a proper minus sign and "#3" in words; a dash: there is none. */
export function scoreText(text) {
  const [, lost, moves] = MATE.exec(text ?? "") ?? [];
  if (moves) return lost ? say("mated in {n}", { n: moves }) : say("mate in {n}", { n: moves });
  const [, end, way, by] = DECIDED.exec(text ?? "") ?? [];
  if (end) return DECIDED_TEXTS[[end, way].filter(Boolean).join(" ")](by);
  return text ? withFractions(text.replace(/^-/, "−")) : "–";
}

/** What a reply costs: "29 % of the game (3.5 discs)". */
export function price({ cost: share, cost_text: text }, unit) {
  const isNumber = /^[\d.]+$/.test(text ?? "");
  if (!share) return cost(text, unit);
  return isNumber ? say("{share} ({size})", { share: gameShare(share), size: cost(text, unit) }) : gameShare(share);
}

/** A reply at a glance and in fact; only the latter if no shallower search is known. */
function looksText({ looks: texts, their_text: fact }) {
  return texts.length > 1 ? say("{first} at a glance, {last} in fact", { first: scoreText(texts[0]), last: scoreText(fact) }) : scoreText(fact);
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
  return probability < 0.01 ? say("under 1 %") : percentText(probability);
}

/** The use of a human-move model, by players that have one; empty: none. */
function howModelled({ model, trouble }, bot) {
  if (trouble) return say("{bot} could not use her model of people here ({trouble}) and took the best move.", { bot, trouble });
  return model ? say("{bot} predicted what people reply here ({model}) and took the move that promised most.", { bot, model: model.name }) : "";
}

/** The source of the move, if not the scores of our own search; empty: those. */
function howPicked({ search_mode: mode, pick, pick_text: text, source, depth, draw }, bot) {
  const worth = text ? ` (${scoreText(text)})` : "";
  const origin = pick?.origin ? ` (${pick.origin})` : "";
  const places = { bot, worth, origin, engine: source?.name, plies: pick?.depth ?? depth };
  switch (mode) {
    case "strong":
      return pick?.solved
        ? say("{bot} solved the game to its end and took the best move{worth}; no trap was intended.", places)
        : say("{bot} took the best move of her strong search, {plies} plies deep{worth}; no trap was intended.", places);
    case "book":
      return say("This move is from an opening book{origin}{worth}; no trap was intended.", places);
    case "tablebase":
      return say("This move is from an endgame tablebase{worth}; no trap was intended.", places);
    case "explorer":
      return say("This move is from an online opening explorer{origin}; no trap was intended.", places);
    case "online_tablebase":
      return say("This move is from an online endgame tablebase{origin}{worth}; no trap was intended.", places);
    case "engine_move":
      return say("This is the best move of another engine, {engine}, {plies} plies deep{worth}; no trap was intended.", places);
    case "lot":
      return say("{bot} chose this move at random from those nearly as good as the best, so as not to repeat earlier games; no trap was intended.", places);
    case "trial":
      return say("A lot decided between this move and {other}: one of them sets a trap, the other does not.", { other: draw?.other_name });
    case "engine":
      return source ? say("The scores are from another engine, {engine}, searching {plies} plies deep.", { ...places, plies: depth }) : "";
    default:
      return "";
  }
}

/** What tempts people after this move, and how it looks beside the best reply. */
function temptation(baits, best, bests, { isMeant, isBlind }) {
  return baits.map(({ bait, odds, cost: share }, i) => {
    const places = { people: peoplePlay(odds), move: bait.name };
    const lead = isBlind || isMeant ? say("A trap: {people} {move} here.", places) : say("A trap by accident: {people} {move} here.", places);
    const first = i ? say("Another: {people} {move}.", places) : lead;
    return sayAll([first, howItLooks(bait, best, bests), say("It costs {share}.", { share: gameShare(share) })]);
  });
}

/**
 * Judge one decision of the report; of a blind one without a word on which player set the trap, and how.
 * `person`: the name of the bot's opponent, for a reader who is somebody else; null: they read it themselves.
 * Returns {kind, isTrap, isSlip, title, story: lines of text, facts: [{kind, term, move, text}], marks: [{squares, name, kind}]}.
 */
export function judge(decision, bot, game, isBlind = false, person = null) {
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
  const { title, line } = words({ kind, decision, bot, person, baits, played, best, isLost: bestScore >= DECIDED_CENTI, unit });
  if (line) story.push(line);
  if (isMeant && decision.standard.move !== decision.move && decision.standard.raw_text) {
    story.push(say("{other} would have played {best} ({bestScore}); {bot} took {move} ({score}) for what people reply to it.", {
      other: decision.source?.name ?? say("Plain minimax"),
      best: decision.standard.name,
      bestScore: scoreText(decision.standard.raw_text),
      bot,
      move: decision.name,
      score: scoreText(decision.chosen.raw_text),
    }));
  }

  const facts = [];
  for (const { bait } of baits) {
    if (bait !== played) facts.push({ kind: "trap", term: baits.length > 1 ? say("A bait") : say("The bait"), move: bait.name, text: looksText(bait) });
  }
  // Where there was one reply only, the title says all.
  if (played && !isForced) {
    const hasOdds = Number.isFinite(played.probability);
    const parts = [
      kind === "fell" ? looksText(played) : null,
      decision.cost_centi ? say("cost {price}", { price: price(decision, unit) }) : looksText(played),
      hasOdds ? say("expected in {odds}", { odds: oddsText(played.probability) }) : null,
    ];
    const text = parts.filter(Boolean).join(say(", "));
    const factKind = kind === "fell" ? "fell" : decision.cost_centi ? "slip" : "good";
    facts.push({ kind: factKind, term: termOf(kind === "fell", person), move: played.name, text });
  }
  if (best && best !== played && !isForced) facts.push({ kind: "best", term: say("Best was"), move: best.name, text: looksText(best) });

  const marks = [];
  const add = (reply, markKind) => reply?.squares?.length && marks.push({ squares: reply.squares, name: reply.name, kind: markKind });
  for (const { bait } of baits) if (bait !== played) add(bait, "trap");
  if (best && best !== played) add(best, "best");
  if (played) add(played, isBait(played) ? "fell" : decision.cost_centi ? "played" : "good");
  return { kind, isTrap, isSlip, title, story, facts, marks };
}

/** The heading over the reply that was played. */
function termOf(isFall, person) {
  if (person !== null) return isFall ? say("{name} took the bait", { name: person }) : say("{name} played", { name: person });
  return isFall ? say("You took the bait") : say("You played");
}

function words(moment) {
  return moment.person === null ? wordsToPlayer(moment) : wordsOnPlayer(moment);
}

/** For whoever did not play: the player has a name. */
function wordsOnPlayer({ kind, decision, bot, person: name, baits, played, best, isLost, unit }) {
  const move = played?.name;
  const places = { name, move, best: best?.name };
  const missed = () => say("{move} cost {price}; {best} was better.", { ...places, price: price(decision, unit) });
  const noBait = isChecked(decision) ? say("There was no bait here.") : "";
  switch (kind) {
    case "fell":
      return {
        title: baits.length > 1 ? say("{name} fell into a trap", places) : say("{name} fell into the trap", places),
        line: say("{name} played {move}; {best} was the reply to find.", places),
      };
    case "saw":
      return { title: baits.length > 1 ? say("{name} saw through the traps", places) : say("{name} saw through the trap", places), line: say("{name} played {move}, the best reply.", places) };
    case "avoided":
      return { title: say("Trap avoided, best reply missed"), line: say("{name} left the bait alone, but {missed}", { name, missed: missed() }) };
    case "slipped":
      return { title: say("Trap avoided, but a slip"), line: say("{name} left the bait alone, but {missed}", { name, missed: missed() }) };
    case "open":
      return { title: say("A trap that was never answered"), line: decision.outcome === null ? "" : say("The game ended before {bot}'s move was answered.", { bot }) };
    case "calm":
      return { title: isChecked(decision) ? say("No trap, and {name} found the best reply", places) : say("{name} found the best reply", places), line: say("{name} played {move}, one of the best replies.", places) };
    case "slip":
      return { title: say("A slip"), line: sayAll([noBait, missed()]) };
    case "loose":
      return { title: say("Not quite the best reply"), line: sayAll([noBait, missed()]) };
    case "decided":
      return { title: say("Already decided"), line: isLost ? say("{bot} wins by force here, whatever the reply.", { bot }) : sayAll([say("{name} could win by force here.", places), missed()]) };
    case "forced":
      return { title: say("{name} had only one reply", places), line: played.reply === "pass" ? say("{name} had to pass, so nothing could go wrong.", places) : say("{move} was forced, so nothing could go wrong.", { move }) };
    default:
      return wordsToPlayer({ kind, bot });
  }
}

function wordsToPlayer({ kind, decision, bot, baits, played, best, isLost, unit }) {
  const move = played?.name;
  const missed = () => say("{move} cost you {price}; {best} was better.", { move, price: price(decision, unit), best: best.name });
  const noBait = decision && isChecked(decision) ? say("There was no bait here.") : "";
  switch (kind) {
    case "fell":
      return {
        title: baits.length > 1 ? say("You fell into a trap") : say("You fell into the trap"),
        line: baits.length > 1 ? say("You played {move}; {best} was the reply to find.", { move, best: best.name }) : say("You played it; {best} was the reply to find.", { best: best.name }),
      };
    case "saw":
      return { title: baits.length > 1 ? say("You saw through the traps") : say("You saw through the trap"), line: say("You played {move}, the best reply.", { move }) };
    case "avoided":
      return { title: say("Trap avoided, best reply missed"), line: say("You left the bait alone, but {missed}", { missed: missed() }) };
    case "slipped":
      return { title: say("Trap avoided, but a slip"), line: say("You left the bait alone, but {missed}", { missed: missed() }) };
    case "open":
      return { title: say("A trap you never had to answer"), line: decision.outcome === null ? "" : say("The game ended before your reply.") };
    case "calm":
      return { title: isChecked(decision) ? say("No trap, and you found the best reply") : say("You found the best reply"), line: say("You played {move}, one of the best replies.", { move }) };
    case "slip":
      return { title: say("A slip"), line: sayAll([noBait, missed()]) };
    case "loose":
      return { title: say("Not quite the best reply"), line: sayAll([noBait, missed()]) };
    case "decided":
      return { title: say("Already decided"), line: isLost ? say("{bot} wins by force here, whatever you reply.", { bot }) : sayAll([say("You could win by force here."), missed()]) };
    case "forced":
      return { title: say("You had only one reply"), line: played.reply === "pass" ? say("You had to pass, so nothing could go wrong.") : say("{move} was forced, so nothing could go wrong.", { move }) };
    case "pending":
      return { title: say("Still being analysed"), line: say("{bot} is still working out what the replies were worth.", { bot }) };
    default:
      return { title: say("The last move"), line: say("The game ended before {bot}'s move was answered.", { bot }) };
  }
}
