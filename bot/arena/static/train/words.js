// Every sentence of the trainer, from what the server tells.

import { looks } from "/static/board/games.js";
import { gameShare, howItLooks } from "/static/report/bait.js";

const DAY_MS = 86_400_000;
const PER_PERCENT = 100;

/** What is asked: "Black to move. Which reply is sound?" */
export function questionOf({ game, toMove }) {
  return `${looks(game).sides[toMove] ?? toMove} to move. Which reply is sound?`;
}

const WHY = {
  own: "You fell here in a game of yours.",
  game: "The player of this game fell here.",
  again: "You have had this one before.",
  new: "Somebody fell here.",
};

/** Where the position is from, and what was played last. */
export function originOf({ why, played }) {
  return `${WHY[why]} The move before was ${played.name}.`;
}

/** How often people play a reply: "31 in 100 play this". */
function inHundred(odds) {
  const many = Math.round(100 * odds);
  return `${many < 1 ? "under 1" : many} in 100 play this`;
}

/** A hint: the bait by name. */
export function hintOf({ name, odds }) {
  return `Not ${name}: it tempts, ${inHundred(odds)}.`;
}

/** What a reply that is not sound gets to hear. */
export function wrongOf({ name, cost, isBait, odds }) {
  if (isBait) return `${name} is the bait: ${inHundred(odds)}, and it costs ${gameShare(cost)}. Try again.`;
  return `${name} is not sound: it costs ${gameShare(cost)}. Try again.`;
}

/** The heading over a solution. */
export function titleOf({ right, decision, sound }) {
  if (!right) return sound.length === 1 ? "This was the reply to find" : "These were the replies to find";
  return decision.cost ? "Sound" : "Found";
}

/** Which replies are sound. */
export function soundOf({ right, decision, sound }) {
  const found = sound.find(({ move }) => move === decision.reply);
  const [best] = sound;
  const others = sound.filter((each) => each !== (found ?? best)).map(({ name }) => name);
  const lines = [];
  if (!right) lines.push(`${best.name} is the best reply.`);
  else if (found.cost < PER_PERCENT / 2) lines.push(`${found.name} is the best reply.`);
  else lines.push(`${found.name} is sound: it costs ${gameShare(found.cost)} against ${best.name}, the best reply.`);
  const rest = others.filter((name) => name !== best.name || (right && found.cost < PER_PERCENT / 2));
  if (rest.length === 1) lines.push(`${rest[0]} is sound as well.`);
  if (rest.length > 1) lines.push(`As sound: ${rest.join(", ")}.`);
  return lines.join(" ");
}

/** Why the bait tempts, and what it costs. */
export function baitWords({ bait, decision, sound }) {
  const byMove = new Map(decision.replies.map((reply) => [reply.reply, reply]));
  const least = Math.min(...decision.replies.map(({ final_centi: score }) => score));
  const bests = decision.replies.filter(({ final_centi: score }) => score === least);
  const best = bests.find(({ reply }) => reply === sound[0].move) ?? bests[0];
  const taken = byMove.get(bait.move);
  const how = taken.looks_centi.length ? howItLooks(taken, best, bests) : "";
  return [`The bait was ${bait.name}: ${inHundred(bait.odds)}.`, how, `It costs ${gameShare(bait.cost)}.`].filter(Boolean).join(" ");
}

/** How others fared; empty: nobody was here yet. */
export function othersOf({ met }) {
  if (!met?.answers) return "";
  if (met.answers === 1) return met.solved ? "One person was here before, and found a sound reply." : "One person was here before, and did not find a sound reply.";
  return `Of ${met.answers} people who were here before, ${met.solved} found a sound reply at once.`;
}

const UNRATED = {
  own: "Not rated: you fell here, and may have read the report.",
  again: "Not rated: only the first answer to a position counts.",
  hint: "Not rated: you had a hint.",
};

/** What an answer did to the rating. */
export function ratingWords({ unrated, you }, { game, hasName, isOfGame }) {
  const { title } = looks(game);
  if (!hasName) return "Not rated: with a nickname you have a rating here, and see again what you missed.";
  if (unrated === "free") return isOfGame ? "Not rated: the report of this game shows the reply." : "Not rated: your account has no rating here.";
  if (unrated) return UNRATED[unrated];
  const diff = you.diff < 0 ? `−${-you.diff}` : `+${you.diff}`;
  return `Your rating as a finder of replies in ${title}: ${you.rating}${you.provisional ? "?" : ""} (${diff}).`;
}

/** When a position comes back; empty: never. */
export function againWords({ againAt }, now = Date.now()) {
  if (!againAt) return "";
  const days = Math.max(1, Math.round((Date.parse(againAt) - now) / DAY_MS));
  return days === 1 ? "You will see it again tomorrow." : `You will see it again in ${days} days.`;
}

/** A person's rating in the head of the page; empty: there is none yet. */
export function strengthOf(you) {
  if (!you?.answers) return "";
  return `Rating ${you.rating}${you.provisional ? "?" : ""}, ${you.solved} of ${you.answers} found at the first try`;
}

/** What is left: "2 of 3", "4 to see again today". */
export function leftOf({ number, of, you }) {
  if (number) return `${number} of ${of} in this game`;
  if (!you?.due) return "";
  return you.due === 1 ? "1 to see again today" : `${you.due} to see again today`;
}

/** What there is to say when nothing is left to show. */
export function nothingWords({ of, you }, { game, isOfGame }, now = Date.now()) {
  if (isOfGame) return of ? "That was all that there was to find in this game." : "There is nothing to find in this game.";
  const { title } = looks(game);
  if (you?.nextDueAt) return `Nothing new to find in ${title} at the moment. ${againWords({ againAt: you.nextDueAt }, now).replace("it again", "a missed one again")}`;
  return `Nothing to find in ${title} at the moment. Positions come from games in which somebody took a bait.`;
}
