// What the trainer says of positions, ratings and what is due; sentences about replies are the server's (bot/text/puzzle_text.py).

import { theme } from "/static/board/games.js";
import { number, say, sayAll, sayCount } from "/static/common/language.js";

const DAY_MS = 86_400_000;

/** What is asked: "Black to move. Which reply is good?" */
export function questionOf({ game, toMove }) {
  return say("{side} to move. Which reply is good?", { side: theme(game).sides[toMove] ?? toMove });
}

const WHY = {
  own: say("You went wrong here in a game of yours."),
  game: say("The player of this game went wrong here."),
  again: say("You have had this one before."),
  new: say("Somebody went wrong here."),
};

/** Where the position is from, and what was played last. */
export function originOf({ why, played }) {
  return sayAll([WHY[why], say("The move before was {move}.", { move: played.name })]);
}

/** How others fared; empty: nobody was here yet. */
export function othersOf({ met }) {
  if (!met?.answers) return "";
  return sayCount("One person was here before; good at once: {solved}.", "{n} people were here before; good at once: {solved}.", met.answers, { solved: number(met.solved) });
}

const UNRATED = {
  own: say("Not rated: you went wrong here, and may have read the report."),
  again: say("Not rated: only the first answer to a position counts."),
  hint: say("Not rated: you had a hint."),
};

/** What an answer did to the rating. */
export function ratingWords({ unrated, you }, { game, hasName, isOfGame }) {
  if (isOfGame) return say("Not rated: the report of this game shows the reply.");
  if (!hasName) return say("Not rated: with a nickname you have a rating here, and see again what you missed.");
  if (unrated) return UNRATED[unrated] ?? say("Not rated: your account has no rating here.");
  const diff = number(you.diff, { signDisplay: "exceptZero" }).replace("-", "−");
  return say("Your rating for finding replies, {game}: {rating} ({diff}).", { game: theme(game).title, rating: ratingText(you), diff });
}

/** A rating; one that is still a guess has a question mark. */
function ratingText({ rating, provisional }) {
  return `${rating}${provisional ? "?" : ""}`;
}

/** In how many days a moment is, by the calendar; 0: today. */
function daysUntil(moment, now) {
  const days = [moment, now].map((at) => new Date(at).setHours(12, 0, 0, 0));
  return Math.max(0, Math.round((days[0] - days[1]) / DAY_MS));
}

/** When a position comes back; empty: never. */
export function againWords({ againAt }, now = Date.now()) {
  if (!againAt) return "";
  const days = Math.max(1, daysUntil(againAt, now));  // a day from now at the soonest
  return sayCount("You will see it again tomorrow.", "You will see it again in {n} days.", days);
}

/** A person's rating in the head of the page; empty if there is none yet. */
export function strengthOf(you) {
  if (!you?.answers) return "";
  return say("Rating {rating}; found at once: {solved} of {answers}", { rating: ratingText(you), solved: number(you.solved), answers: number(you.answers) });
}

/** What is left: "2 of 3 in this game", "4 to see again today". */
export function leftOf({ number: at, of, you }) {
  if (at) return say("{at} of {all} in this game", { at: number(at), all: number(of) });
  return you?.due ? sayCount("1 to see again today", "{n} to see again today", you.due) : "";
}

/** What there is to say when nothing is left to show. */
export function nothingWords({ of, you }, { game, isOfGame, isFirst }, now = Date.now()) {
  if (isOfGame) return of ? say("That was all that there was to find in this game.") : say("There are no puzzles in this game.");
  const { title } = theme(game);
  const hasMet = !isFirst || you?.answers || you?.nextDueAt;
  const nothing = hasMet ? say("Nothing new to find in {game} at the moment.", { game: title }) : say("There is nothing to find in {game} yet.", { game: title });
  if (!you?.nextDueAt) return sayAll([nothing, say("This shows positions with a bait, a reply that looks good and is bad, in which somebody took it or went wrong otherwise. You are asked for a better reply. They come from finished games against the bot, as soon as those are analysed.")]);
  const days = daysUntil(you.nextDueAt, now);
  return sayAll([nothing, days ? sayCount("What you missed comes again tomorrow.", "What you missed comes again in {n} days.", days) : say("What you missed comes again later today.")]);
}
