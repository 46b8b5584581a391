// The terms of a challenge: the form's fields, the person's last choice, and the request.

import { el } from "/static/common/dom.js";
import { oddsName } from "/static/common/odds.js";
import { theme } from "/static/board/games.js";
import { fromServer, say } from "/static/common/language.js";
import { keep, loadValue } from "/static/common/stored.js";

const CHOICE_KEY = "desdemona.choice";
const USUAL_CLOCK = "300+3";
const NO_CLOCK = "none";
const RATED_HINT = say("counts for your rating");

const clockValue = ({ limit, increment }) => `${limit}+${increment}`;

/** The speed class, as Lichess counts: the clock and forty increments. */
function speedOf({ limit, increment }) {
  const seconds = limit + 40 * increment;
  return seconds < 180 ? say("Bullet") : seconds < 480 ? say("Blitz") : seconds < 1500 ? say("Rapid") : say("Classical");
}

/** The person's last choice: {variant, color, clock, rated}, as far as known. */
export function loadChoice() {
  return loadValue(CHOICE_KEY) ?? {};
}

/** What is at stake with a clock: as chosen, or before a game without one was. */
const wantedStakes = ({ rated }) => rated[0].form.dataset.stakes ?? rated.value;

export function saveChoice({ elements }) {
  const choice = { variant: elements.variant.value, color: elements.color.value, clock: elements.clock.value, rated: wantedStakes(elements) };
  keep(CHOICE_KEY, JSON.stringify(choice));
}

/** The fields of the challenge in the API's format. */
export function termsOf({ elements }) {
  const odds = chosenOdds({ elements });
  const terms = { variant: elements.variant.value, color: elements.color.value, rated: elements.rated.value, ...(odds ? { odds } : {}) };
  if (elements.clock.value === NO_CLOCK) return { ...terms, rated: "false" };
  const [limit, increment] = elements.clock.value.split("+");
  return { ...terms, "clock.limit": limit, "clock.increment": increment };
}

/** The name of the chosen odds; empty: none, or the game has none. */
export const chosenOdds = ({ elements }) => elements.odds?.value ?? "";

/** Without a clock or at odds a game cannot be rated; otherwise the stakes are as they were before. */
export function showStakes(form) {
  const { elements } = form;
  const hasClock = elements.clock.value !== NO_CLOCK;
  const canRate = hasClock && !chosenOdds(form);
  if (!canRate) form.dataset.stakes ??= elements.rated.value;
  const wanted = canRate ? wantedStakes(elements) : "false";
  if (canRate) delete form.dataset.stakes;
  for (const radio of elements.rated) {
    radio.checked = radio.value === wanted;
    if (radio.value === "true") {
      radio.disabled = !canRate;
      radio.closest(".segment").querySelector("small").textContent = canRate ? RATED_HINT : hasClock ? say("only without odds") : say("only with a clock");
    }
  }
  const hint = form.querySelector(".no-clock-hint");
  if (hint) hint.hidden = hasClock;
}

/** What a game without a clock demands all the same; null: nothing. */
export function noClockHint(firstMoveS) {
  return firstMoveS ? el("p", { class: "hint no-clock-hint", role: "status", hidden: true }, say("Without a clock, only your first move has a limit: {n} s.", { n: firstMoveS })) : null;
}

/** A row of radio buttons that looks like one switch. */
export function segments(name, title, options, chosen) {
  return el(
    "fieldset",
    { class: "field" },
    el("legend", {}, title),
    el(
      "div",
      { class: `segments segments-${name}` },
      options.map(({ value, label, hint }) =>
        el(
          "label",
          { class: "segment" },
          el("input", { type: "radio", name, value, checked: value === chosen, required: true }),
          el("span", { class: "segment-face" }, el("span", { class: "segment-label" }, label), hint ? el("small", {}, hint) : null),
        ),
      ),
    ),
  );
}

/** Choice of the game; hidden when there is only one. */
export function variantField(variants, chosen) {
  if (variants.length === 1) return el("input", { type: "hidden", name: "variant", value: chosen.key });
  return segments("variant", say("Game"), variants.map(({ key, name }) => ({ value: key, label: fromServer(name) })), chosen.key);
}

/** The field for the colour, by the names that the game has for its sides. */
export function colourField(variant, chosen) {
  const { sides } = theme(variant.game);
  // The API only has white and black, whatever the game calls its sides.
  const [first, second] = variant.sides.map((side, i) => ({
    value: variant.colours[side],
    label: sides[side] ?? side,
    hint: i === 0 ? say("moves first") : say("moves second"),
  }));
  return segments("color", say("You play"), [first, { value: "random", label: say("Either"), hint: say("random") }, second], chosen ?? "random");
}

/** The field for the odds that the bot gives; hidden when the game has none. */
export function oddsField(variant, suggested) {
  const options = [{ value: "", label: say("none") }, ...variant.odds.map((odds) => ({ value: odds, label: oddsName(odds), hint: odds === suggested ? say("fits your rating") : null }))];
  return options.length > 1 ? segments("odds", say("Odds"), options, "") : el("div", { hidden: true });
}

/** Fields for clock and stakes. */
export function termFields(clocks, choice) {
  const values = [...clocks.map(clockValue), NO_CLOCK];
  const clock = [choice.clock, USUAL_CLOCK, values[0]].find((value) => values.includes(value));
  return [
    segments(
      "clock",
      say("Clock: minutes + seconds per move"),
      [...clocks.map((each) => ({ value: clockValue(each), label: each.show, hint: speedOf(each) })), { value: NO_CLOCK, label: "∞", hint: say("no clock") }],
      clock,
    ),
    segments(
      "rated",
      say("Stakes"),
      [
        { value: "true", label: say("Rated"), hint: RATED_HINT },
        { value: "false", label: say("Casual"), hint: say("just for fun") },
      ],
      choice.rated ?? "true",
    ),
  ];
}
