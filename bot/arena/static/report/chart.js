// The chart of reply scores by search depth, person's view: one line per reply.  In a blind report the depths are three
// fixed steps, since their number would tell the depth of the search, and so the player.  The last point is the judge's.

import { letters, theme } from "/static/board/games.js";
import { el, svg } from "/static/common/dom.js";
import { baitsOf, depthNames, scoresOf } from "/static/report/bait.js";
import { marginOf } from "/static/report/verdict.js";
import { number, say, sayList, scoreText } from "/static/common/language.js";

const HEIGHT = 240;
const LEFT = 46;
const LETTER_PX = 8.4; // width of a letter in the names on the right
const TOP = 12;
const TICK_PX = 7; // the same of those below
const BOTTOM = 40;
const WIDEST = 600;
const DECIDED_CENTI = 100_000;
const KINDS = { trap: say("bait"), best: say("the best reply"), played: say("played") };

function niceStep(span) {
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}

/** The judge's score of a reply, the bot's view, in a list; empty without one of its own. */
function judgedScore({ judged }) {
  return judged && judged.judge_depth !== null ? [-judged.score_centi] : [];
}

/** The names of the chart's points, from left to right. */
function pointNames(lines) {
  const names = depthNames(lines[0].reply);
  return lines.some(({ reply }) => judgedScore(reply).length) ? [...names, say("by the judge")] : names;
}

/** The lines of the chart; baits, the best reply and the one that was played stand out. */
function linesOf(replies, decision, hasMargins) {
  const finite = replies.flatMap((reply) => scoresOf(reply).filter((centi) => Math.abs(centi) < DECIDED_CENTI));
  // A decided score is drawn at its margin; in a game without margins, just beyond the most extreme other score.
  const limit = Math.max(200, ...finite.map(Math.abs)) * 1.1;
  const place = (centi) => (hasMargins ? marginOf(centi) : Math.max(-limit, Math.min(limit, centi)));
  const kinds = new Map();
  kinds.set(decision.reply, "played");
  kinds.set(decision.best?.reply, "best");
  for (const { reply } of baitsOf(decision)) kinds.set(reply, "trap");
  const order = ["rest", "played", "best", "trap"];
  return replies
    .map((reply) => ({
      reply,
      kind: kinds.get(reply.reply) ?? "rest",
      points: [...scoresOf(reply), ...judgedScore(reply)].map((centi, at) => ({ at, value: -place(centi) / 100 })),
    }))
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

/** Keep labels from overlapping. */
function spread(labels) {
  const sorted = labels.sort((a, b) => a.y - b.y);
  sorted.forEach((label, i) => {
    if (i && label.y - sorted[i - 1].y < 15) label.y = sorted[i - 1].y + 15;
  });
  return sorted;
}

/** The name of a depth below its place: in two lines where there is too little room, and never cut on the left. */
function depthLabel(name, x, room) {
  const text = String(name);
  const spaces = [...text.matchAll(/ /g)].map(({ index }) => index);
  const middle = text.length / 2;
  const at = spaces.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
  const parts = text.length * TICK_PX > room && at ? [text.slice(0, at), text.slice(at + 1)] : [text];
  const half = (TICK_PX * Math.max(...parts.map(({ length }) => length))) / 2;
  const lines = parts.map((part, i) => svg("tspan", { x: Math.max(x, half), dy: i ? 13 : 0 }, part));
  return svg("text", { class: "tick depth", y: HEIGHT - BOTTOM + 19, "text-anchor": "middle" }, lines);
}

/**
 * The lines that set the scale; the others are clipped to it. They are the named ones; until the best reply is known,
 * also those that end above one of them, since the best of what is shown would otherwise pass for the best reply.
 * Without a named one, as after a last move that nobody answered, they are all lines.
 */
function scaled(lines) {
  const named = lines.filter(({ kind }) => kind !== "rest");
  if (!named.length) return lines;
  if (named.some(({ kind }) => kind === "best")) return named;
  const end = ({ points }) => points.at(-1).value;
  const lowest = Math.min(...named.map(end));
  return lines.filter((line) => end(line) >= lowest);
}

function draw(lines, width, caption) {
  const named = lines.filter(({ kind }) => kind !== "rest");
  const values = scaled(lines).flatMap(({ points }) => points.map(({ value }) => value));
  const room = Math.max(1, Math.max(...values) - Math.min(...values)) * 0.12;
  const [bottom, top] = [Math.min(...values) - room, Math.max(...values) + room];
  const names = pointNames(lines);
  const right = Math.max(46, 14 + LETTER_PX * Math.max(...named.map(({ reply }) => letters(reply.name))));
  const x = (at) => LEFT + (at / Math.max(1, names.length - 1)) * (width - LEFT - right);
  const y = (value) => TOP + ((top - value) / (top - bottom)) * (HEIGHT - TOP - BOTTOM);
  const path = (points, top_) => points.map((p) => `${x(p.at).toFixed(1)},${(y(p.value) - top_).toFixed(1)}`).join(" ");

  const step = niceStep(top - bottom);
  const ticks = [];
  for (let tick = Math.ceil(bottom / step) * step; tick <= top; tick += step) ticks.push(Math.round(tick * 10) / 10);
  const digits = step < 1 ? 1 : 0;
  const shown = (tick) => number(Math.abs(tick), { minimumFractionDigits: digits });
  const signed = (tick) => (tick > 0 ? `+${shown(tick)}` : tick < 0 ? `−${shown(tick)}` : "0");
  const grid = ticks.flatMap((tick) => [
    svg("line", { class: tick === 0 ? "axis" : "grid", x1: LEFT, x2: width - right, y1: y(tick), y2: y(tick) }),
    svg("text", { class: "tick", x: LEFT - 7, y: y(tick) + 4, "text-anchor": "end" }, signed(tick)),
  ]);
  const below = names.map((name, at) => depthLabel(name, x(at), x(1) - x(0)));
  const inside = svg(
    "svg",
    { class: "clip", x: 0, y: TOP, width, height: HEIGHT - TOP - BOTTOM },
    lines.map(({ kind, points }) => svg("polyline", { class: `line line-${kind}`, points: path(points, TOP) })),
  );
  const dots = named.flatMap(({ kind, points }) => points.map((p) => svg("circle", { class: `dot dot-${kind}`, cx: x(p.at).toFixed(1), cy: y(p.value).toFixed(1), r: 3 })));
  const labels = spread(named.map(({ kind, reply, points }) => ({ kind, text: reply.name, x: x(points.at(-1).at) + 9, y: y(points.at(-1).value) + 4 })));
  const labelled = labels.map((label) => svg("text", { class: `name name-${label.kind}`, x: label.x, y: label.y.toFixed(1) }, label.text));
  const words = named.map(({ kind, reply }) => say("{move} ({kind}) ends at {score}", { move: reply.name, kind: KINDS[kind], score: scoreText(reply.judged?.score_text ?? reply.their_text) })).join("; ");
  return svg("svg", { width, height: HEIGHT, role: "img", "aria-label": named.length ? say("How the replies look by search depth: {words}.", { words }) : caption }, grid, below, inside, dots, labelled);
}

/** A figure whose chart is redrawn to fill the width, so that its text stays readable; null: there is nothing to compare. */
export function depthChart({ decision, game, isPlayer, person = null, isBlind }) {
  const replies = decision.replies.filter((reply) => scoresOf(reply).length > 1);
  if (replies.length < 2) return null;
  const { unit, hasMargins } = theme(game);
  const whose = isPlayer ? say("for you") : person === null ? say("for the player") : say("for {name}", { name: person });
  const lines = linesOf(replies, decision, hasMargins);
  const place = el("div", { class: "chart-place" });
  const names = pointNames(lines);
  const last = depthNames(lines[0].reply).length;
  const searched = isBlind ? names.slice(0, last) : [say("{first} to {last} plies ahead", { first: 2, last: names[last - 1] })];
  const depths = sayList([...searched, ...names.slice(last)]);
  const caption = unit ? say("How good each reply looks {whose}, in {unit}, {depths}", { whose, unit, depths }) : say("How good each reply looks {whose}, {depths}", { whose, depths });
  let drawn = 0;
  new ResizeObserver(([{ contentRect }]) => {
    const width = Math.min(WIDEST, Math.floor(contentRect.width));
    if (width < 100 || width === drawn) return;
    drawn = width;
    place.replaceChildren(draw(lines, width, caption));
  }).observe(place);
  const keys = ["trap", "best", "played"].filter((kind) => lines.some((line) => line.kind === kind));
  return el(
    "figure",
    { class: "chart" },
    el("figcaption", {}, caption),
    place,
    el("p", { class: "chart-keys" }, keys.map((kind) => el("span", { class: `chart-key chart-key-${kind}` }, KINDS[kind]))),
  );
}
