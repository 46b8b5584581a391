// The appearance and names of each game: all that the page knows of it. A new game needs an entry here and its
// pieces in pieces.js; without an entry its pieces are letters and everything still works.

import { figure, inscribed, letterPiece, plainDisc, riverBoard, turningDisc } from "/static/board/pieces.js";

const letterOf = (index) => String.fromCharCode(97 + index);
// Labels at the edges, by column or row of the unturned board; `isTop`: the edge belongs to the far side.
const LETTERS = (column) => letterOf(column);
// In some games each side counts the files from its own right hand.
const FILES = (column, columns, isTop) => String(isTop ? column + 1 : columns - column);
const FROM_TOP = (row) => String(row + 1);
const FROM_BOTTOM = (row, rows) => String(rows - row);

const UNKNOWN = {
  title: "Game",
  /** By letter: name and picture of a piece. */
  pieces: {},
  /** Surface: felt | checks | points. */
  board: "felt",
  /** A drawing of the board's lines, if it is not made of squares. */
  lines: null,
  /** Labels by edge: top, bottom, left. */
  edges: { top: LETTERS, left: FROM_TOP },
  /** Whether row 1 is at the top ("first") or at the bottom ("last") of the rows that the server sends. */
  topRow: "first",
  /** The person's own side is at the bottom; otherwise the board always has the same orientation. */
  turns: false,
  /** Pieces stay in place and change sides. */
  flips: false,
  /** Unit of scores; null: none with a name. */
  unit: null,
  /** A decided score includes the margin. */
  hasMargins: false,
  /** The pieces counted beside the names; null: no counts. */
  counts: null,
  /** Values of pieces by letter of the first side, for the display of captures; null: not shown. */
  worth: null,
  sides: {},
  canOfferDraw: true,
  /** An example of a trap for the lobby: {rows, last, bait, best: squares, label, words}. */
  showcase: null,
  rules: [],
};

/** Pieces of both sides, whose letters differ in case: [letter, name, picture of (letter, side)]. */
function twoSides(kinds, first, second) {
  return Object.fromEntries(
    kinds.flatMap(({ letter, name, draw }) => [
      [letter, { name: `${first} ${name}`, draw: () => draw(0) }],
      [letter.toLowerCase(), { name: `${second} ${name}`, draw: () => draw(1) }],
    ]),
  );
}

const chessman = (letter, name) => ({ letter, name, draw: (side) => figure(name, ["light", "dark"][side]) });
const stone = (letter, name, latin, [red, black]) => ({
  letter,
  name,
  draw: (side) => inscribed([red, black][side], latin, ["red", "black"][side]),
});

const GAMES = {
  othello: {
    title: "Othello",
    pieces: { b: { name: "black disc", draw: turningDisc }, w: { name: "white disc", draw: turningDisc } },
    flips: true,
    unit: "discs",
    hasMargins: true,
    counts: "discs",
    sides: { black: "Black", white: "White" },
    canOfferDraw: false,
    // From a real game: an eight-ply search finds the bait good up to five plies and bad beyond.
    showcase: {
      rows: "...w..../...w..../.bbww.../..www.../..www.../......../......../........",
      last: ["d1"],
      bait: ["e1"],
      best: ["c6"],
      label: "after White's d1, e1 tempts and c6 is sound",
      words: ["e1 tempts Black", "c6 is sound."],
    },
    rules: [
      "Black moves first. Place a disc so that it encloses a straight line of the other colour: those discs flip.",
      "A move must flip at least one disc. A player without a move passes; when neither player has one, the game is over.",
      "The player with more discs wins. Discs in corners can never be flipped.",
    ],
  },
  chess: {
    title: "Chess",
    pieces: twoSides(
      [["K", "king"], ["Q", "queen"], ["R", "rook"], ["B", "bishop"], ["N", "knight"], ["P", "pawn"]].map(([letter, name]) => chessman(letter, name)),
      "white",
      "black",
    ),
    board: "checks",
    edges: { bottom: LETTERS, left: FROM_BOTTOM },
    topRow: "last",
    turns: true,
    unit: "pawns",
    worth: { Q: 9, R: 5, B: 3, N: 3, P: 1 },
    sides: { white: "White", black: "Black" },
    // The Elephant Trap, known since 1848: the knight takes a pawn that is pinned, and White is a piece down soon.
    showcase: {
      rows: "r.bqkb.r/pppn.ppp/.....n../...p..B./...P..../..N...../PP..PPPP/R..QKBNR",
      last: ["e6", "d5"],
      bait: ["c3", "d5"],
      best: ["e2", "e3"],
      label: "after Black's exd5, Nxd5 tempts and e3 is sound",
      words: ["Nxd5 tempts White", "e3 is sound."],
    },
    rules: [
      "White moves first. Tap a piece and then its target square, or drag it. To castle, move the king two squares.",
      "Checkmate wins. Stalemate, threefold repetition, fifty moves without a capture or pawn move, and insufficient mating material are draws.",
    ],
  },
  xiangqi: {
    title: "Xiangqi",
    pieces: twoSides(
      [
        ["K", "general", "K", "帥將"],
        ["A", "advisor", "A", "仕士"],
        ["B", "elephant", "E", "相象"],
        ["N", "horse", "H", "傌馬"],
        ["R", "chariot", "R", "俥車"],
        ["C", "cannon", "C", "炮砲"],
        ["P", "soldier", "P", "兵卒"],
      ].map(([letter, name, latin, han]) => stone(letter, name, latin, han)),
      "red",
      "black",
    ),
    board: "points",
    lines: riverBoard,
    edges: { top: FILES, bottom: FILES },
    topRow: "last",
    turns: true,
    unit: "pawns",
    worth: { R: 9, C: 4.5, N: 4, B: 2, A: 2, P: 1 },
    sides: { red: "Red", black: "Black" },
    // From a self-play game: the bait stops the cannon, which steps aside with a threat; the chariot behind it captures.
    showcase: {
      rows: "r..akabr./...n...../.c..b.n../p.p.p.p.p/.......c./........./P.P.P.P.P/...CB.N.C/...N...../R..AKAB.R",
      last: ["i10", "h10"],
      bait: ["i3", "h3"],
      best: ["a1", "b1"],
      label: "Black's chariot has come behind its cannon; C1=2 tempts Red and R9=8 is sound",
      words: ["C1=2 tempts Red", "R9=8 is sound."],
    },
    rules: [
      "Red moves first. Tap a piece and then its target point, or drag it. Pieces stand on the intersections of the lines.",
      "R chariot: any distance in a straight line. H horse: one step straight, then one diagonally, unless the first point is occupied. C cannon: like the chariot, but captures by jumping over exactly one piece.",
      "P soldier: one step forward, beyond the river also sideways. E elephant: exactly two steps diagonally, not jumping, on its own side of the river. A advisor: one step diagonally within the palace. K general: one step straight within the palace.",
      "The two generals may never face each other on an open file. Checkmate wins, and so does stalemate. A player who gives perpetual check loses.",
    ],
  },
  connect4: {
    title: "Connect Four",
    pieces: { r: { name: "red disc", draw: () => plainDisc("red") }, y: { name: "yellow disc", draw: () => plainDisc("yellow") } },
    edges: { top: LETTERS, left: FROM_BOTTOM },
    topRow: "last",
    sides: { red: "Red", yellow: "Yellow" },
    rules: ["Red moves first. A disc falls to the lowest free square of its column.", "Four in a row win, also diagonally. A full board is a draw."],
  },
  tictactoe: {
    title: "Tic-tac-toe",
    pieces: { x: { name: "cross" }, o: { name: "nought" } },
    sides: { x: "Crosses", o: "Noughts" },
    canOfferDraw: false,
    rules: ["Three in a row win."],
  },
};

/** Presentation of a game by its key. */
export function looks(game) {
  return { ...UNKNOWN, ...(GAMES[game] ?? {}) };
}

/** The name of a piece; its letter if it has no name. */
export function pieceName(game, letter) {
  return looks(game).pieces[letter]?.name ?? letter;
}

/** The picture of a piece. */
export function pieceElement(game, letter) {
  const picture = (looks(game).pieces[letter]?.draw ?? letterPiece)(letter);
  picture.classList.add("piece");
  picture.dataset.piece = letter;
  return picture;
}

/** Name of a square: column letter, then row number. */
export function squareName(game, rows, row, column) {
  const number = looks(game).topRow === "first" ? row + 1 : rows - row;
  return `${letterOf(column)}${number}`;
}
