// Drawings across squares: arrows for moves and lines between pieces. One unit is one square.

import { svg } from "/static/common/dom.js";

const HEAD = 0.34;
const START = 0.3; // an arrow begins this far from the centre of its square
const END = 0.12;

/** An arrow from one place to another; both are {x, y}. */
function arrow({ from, to, kind }) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  const at = (along, aside) => `${(from.x + ux * along - uy * aside).toFixed(3)},${(from.y + uy * along + ux * aside).toFixed(3)}`;
  const tip = length - END;
  return svg(
    "g",
    { class: `arrow arrow-${kind}` },
    svg("polyline", { points: `${at(START, 0)} ${at(tip - HEAD * 0.9, 0)}` }),
    svg("polygon", { points: `${at(tip, 0)} ${at(tip - HEAD, HEAD * 0.55)} ${at(tip - HEAD, -HEAD * 0.55)}` }),
  );
}

/** A line between the two places that are furthest apart. */
function link({ places, kind }) {
  const pairs = places.flatMap((a, i) => places.slice(i + 1).map((b) => [a, b]));
  const [a, b] = pairs.sort(([a1, b1], [a2, b2]) => Math.hypot(a2.x - b2.x, a2.y - b2.y) - Math.hypot(a1.x - b1.x, a1.y - b1.y))[0];
  return svg("line", { class: `link link-${kind}`, x1: a.x, y1: a.y, x2: b.x, y2: b.y });
}

/** The overlay of a board of this size: arrows {from, to, kind}, links {places, kind}. */
export function overlay(columns, rows, { arrows = [], links = [] }) {
  return svg(
    "svg",
    { class: "overlay", viewBox: `0 0 ${columns} ${rows}`, preserveAspectRatio: "none", "aria-hidden": "true", focusable: "false" },
    links.map(link),
    arrows.map(arrow),
  );
}
