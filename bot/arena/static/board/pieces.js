// Pictures of pieces and boards. The shapes are in the page already, as the server draws them (bot/charts/pieces.py).

import { el, svg } from "/static/common/dom.js";

/** A shape of the page, on one square or more. */
export function shape(id, columns = 1, rows = 1) {
  return svg("svg", { class: "shape", viewBox: `0 0 ${columns} ${rows}`, "aria-hidden": "true", focusable: "false" }, svg("use", { href: `#${id}` }));
}

/** A disc with two faces back to back, so that flipping it is one CSS transition. */
export function turningDisc() {
  return el("span", { class: "disc" }, el("span", { class: "face black" }), el("span", { class: "face white" }));
}

/** A letter, for games without drawn pieces. */
export function letterPiece(letter) {
  return el("span", { class: "glyph" }, letter);
}
