// Pictures of pieces and boards; each function draws one of them, independently of the game.

import { el, svg } from "/static/common/dom.js";

/** A disc with two faces back to back, so that flipping it is one CSS transition. */
export function turningDisc() {
  return el("span", { class: "disc" }, el("span", { class: "face black" }), el("span", { class: "face white" }));
}

/** A disc of one colour: "red" or "yellow". */
export function plainDisc(colour) {
  return el("span", { class: `round round-${colour}` });
}

/** A letter, for games without drawn pieces. */
export function letterPiece(letter) {
  return el("span", { class: `glyph glyph-${letter}` }, letter);
}

// Chess pieces on a square of 100 by 100: first the outlines, then the lines and dots inside.
const FOOT = "M20 90v-4c0-5 4-8 9-8h42c5 0 9 3 9 8v4z";
const FIGURES = {
  pawn: {
    outlines: ["M41 52c0 12-6 18-13 26h44c-7-8-13-14-13-26z", "M36 44h28a4.5 4.5 0 0 1 0 9h-28a4.5 4.5 0 0 1 0-9z", "M50 17a14.5 14.5 0 1 0 .01 0z", FOOT],
    lines: [],
  },
  knight: {
    outlines: ["M33 78c-1-14 13-19 15-31-4 3-10 4-15 6-2 4-5 7-9 6-6-1-9-8-7-14 5-8 11-12 14-20 2-5 6-8 11-9l5-9 7 8c18 2 28 20 27 43l-2 20z", FOOT],
    lines: ["M58 23c10 7 14 22 13 44", "M41 32.5a1.6 1.6 0 1 0 .01 0z", "M23.5 48.5a.7.7 0 1 0 .01 0z", "M31 52c2-1 3-2 4-4"],
  },
  bishop: {
    outlines: ["M43 64c0 6-6 10-13 14h40c-7-4-13-8-13-14z", "M50 24c12 9 19 19 17 28-1 5-5 8-9 10h-16c-4-2-8-5-9-10-2-9 5-19 17-28z", "M37 60h26a3.5 3.5 0 0 1 0 7h-26a3.5 3.5 0 0 1 0-7z", "M50 13a5.5 5.5 0 1 0 .01 0z", FOOT],
    lines: ["M58 34l-9 12"],
  },
  rook: {
    outlines: ["M36 44l-2 26-6 8h44l-6-8-2-26z", "M26 19h11v8h7.5v-8h11v8h7.5v-8h11v18l-8 8h-32l-8-8z", FOOT],
    lines: ["M36 45h28", "M34.5 69h31"],
  },
  queen: {
    outlines: ["M18 36l11 24 3 18h36l3-18 11-24-14 16-4-24-9 23-5-26-5 26-9-23-4 24z", "M17 28a4.5 4.5 0 1 0 .01 0z", "M35.5 20a4.5 4.5 0 1 0 .01 0z", "M50 16a4.5 4.5 0 1 0 .01 0z", "M64.5 20a4.5 4.5 0 1 0 .01 0z", "M83 28a4.5 4.5 0 1 0 .01 0z", FOOT],
    lines: ["M29.5 62c13-4 28-4 41 0", "M31.5 71c12-3 25-3 37 0"],
  },
  king: {
    outlines: ["M46.5 8h7v6.5h7v7h-7v9h-7v-9h-7v-7h7z", "M50 38c5-11 33-12 33 7 0 13-12 20-15 33h-36c-3-13-15-20-15-33 0-19 28-18 33-7z", FOOT],
    lines: ["M50 38v25", "M31 68c12-4 26-4 38 0"],
  },
};

/** A chess piece of a side: "light" or "dark". */
export function figure(kind, side) {
  const { outlines, lines } = FIGURES[kind];
  return svg(
    "svg",
    { class: `figure figure-${side}`, viewBox: "0 0 100 100", "aria-hidden": "true", focusable: "false" },
    outlines.map((d) => svg("path", { d })),
    lines.map((d) => svg("path", { class: "within", d })),
  );
}

let drawsHan = null;

/** Whether the device has a font for Chinese characters: without one they all look the same. */
function hasHan() {
  if (drawsHan !== null) return drawsHan;
  const look = (text) => {
    const canvas = el("canvas", { width: "20", height: "20" });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.font = "16px sans-serif";
    context.fillText(text, 1, 16);
    return context.getImageData(0, 0, 20, 20).data.join();
  };
  drawsHan = look("帥") !== look("炮");
  return drawsHan;
}

/** A wooden disc of a side ("red" or "black") with a Chinese character, and a Latin letter for people who cannot read it. */
export function inscribed(han, latin, side) {
  return el(
    "span",
    { class: `stone stone-${side}${hasHan() ? "" : " latin-only"}`, "aria-hidden": "true" },
    hasHan() ? el("span", { class: "han", lang: "zh-Hant" }, han) : null,
    el("span", { class: "latin" }, latin),
  );
}

/** The lines of a board played on its points, nine files by ten ranks, with a river and two palaces. */
export function riverBoard() {
  const lines = [];
  for (let rank = 0; rank < 10; rank += 1) lines.push(`M0 ${rank}h8`);
  for (let file = 0; file < 9; file += 1) lines.push(file % 8 ? `M${file} 0v4M${file} 5v4` : `M${file} 0v9`);
  lines.push("M3 0l2 2M5 0l-2 2M3 7l2 2M5 7l-2 2");
  // Corner marks around the starting points of the cannons and soldiers.
  for (const [file, rank] of [[1, 2], [7, 2], [1, 7], [7, 7], ...[0, 2, 4, 6, 8].flatMap((file) => [[file, 3], [file, 6]])]) {
    for (const [x, y] of [[-1, -1], [-1, 1], [1, -1], [1, 1]]) {
      if (file + x >= 0 && file + x <= 8) lines.push(`M${file + x * 0.28} ${rank + y * 0.09}h${-x * 0.19}v${y * 0.19}`);
    }
  }
  const name = (x, text) => svg("text", { x, y: 4.52, lang: "zh-Hant" }, text);
  return svg(
    "svg",
    { class: "river-board", viewBox: "-0.5 -0.5 9 10", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: lines.join("") }),
    svg("rect", { x: -0.1, y: -0.1, width: 8.2, height: 9.2 }),
    hasHan() ? [name(2, "楚河"), name(6, "漢界")] : null,
  );
}
