// Challenges from other players: asked for while the page is visible, and shown over its head.

import { call, session, tried } from "/static/common/api.js";
import { el, toast } from "/static/common/dom.js";
import { fromServer, say, sayAll } from "/static/common/language.js";
import { oddsText } from "/static/common/odds.js";
import { play } from "/static/common/sound.js";

/** The event on `document` that brings the list of challenges to whoever wants to show one of them itself. */
export const CHALLENGES = "challenges";
const REFRESH_MS = 4000;
const SPEECH = { role: "status", "aria-live": "polite" };

const answered = new Set();
let challenges = [];
let shown = "";
let timer = null;
const text = el("span", SPEECH);
const buttons = el("span", { class: "incoming-buttons" });
const bar = el("section", { class: "incoming", "aria-label": say("Challenge"), hidden: true }, text, buttons);
document.body.append(bar);

/** Ask for challenges now, and from now on every few seconds. */
export async function lookForChallenges() {
  clearTimeout(timer);
  if (session.person && !document.hidden) {
    const [told] = await tried(call("GET", "/api/challenge"));
    if (told) show(told.in);
  } else show([]);
  clearTimeout(timer);
  timer = setTimeout(lookForChallenges, REFRESH_MS);
}

/** Decline a challenge; it is shown no more. */
export async function decline(id) {
  forget(id);
  await tried(call("POST", `/api/challenge/${id}/decline`));
}

async function accept(id) {
  forget(id);
  const [, error] = await tried(call("POST", `/api/challenge/${id}/accept`));
  if (error) toast(error.message);
  else location.assign(`/game/${id}`);
}

function forget(id) {
  answered.add(id);
  show(challenges);
}

function show(list) {
  challenges = list.filter(({ id }) => !answered.has(id));
  document.dispatchEvent(new CustomEvent(CHALLENGES, { detail: challenges }));
  // The page of a game shows the offer of its rematch itself.
  const first = challenges.find(({ rematchOf }) => !rematchOf || location.pathname !== `/game/${rematchOf}`);
  bar.hidden = !first;
  if ((first?.id ?? "") === shown) return;
  shown = first?.id ?? "";
  text.textContent = first ? words(first) : "";
  buttons.replaceChildren(...(first ? [button("accept", say("Accept"), () => accept(first.id), " primary"), button("decline", say("Decline"), () => decline(first.id))] : []));
  if (first) play("yours");
}

function button(name, label, onclick, kind = "") {
  return el("button", { type: "button", class: `button small${kind}`, "data-test": `challenge-${name}`, onclick }, label);
}

function words({ challenger, destUser, variant, timeControl, rated, rematchOf, odds, finalColor }) {
  const clock = timeControl.show ?? say("no clock");
  const terms = [fromServer(variant.key === "standard" || (variant.key === "fromPosition" && odds) ? "Chess" : variant.name), clock, rated ? say("rated") : say("casual")].join(" · ");
  const places = { name: challenger.name, rating: `${challenger.rating}${challenger.provisional ? "?" : ""}`, terms };
  const offer = rematchOf ? say("{name} ({rating}) offers a rematch: {terms}", places) : say("{name} ({rating}) challenges you: {terms}", places);
  if (!odds) return offer;
  const [giver, taker] = odds.color === finalColor ? [challenger, destUser] : [destUser, challenger];
  return sayAll([`${offer}.`, oddsText(odds.name, giver.name, taker.name)]);
}

document.addEventListener("visibilitychange", lookForChallenges);
lookForChallenges();
