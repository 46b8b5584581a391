// The appearance and names of each game: all that the page knows of it. A new game needs an entry here and its
// shapes in bot/charts; without an entry its pieces are letters and everything still works.

import { say } from "/static/common/language.js";
import { letterPiece, shape, turningDisc } from "/static/board/pieces.js";

const letterOf = (index) => String.fromCharCode(97 + index);
// Labels at the edges, by column or row of the unturned board; `isTop`: the edge belongs to the far side.
const LETTERS = (column) => letterOf(column);
// In some games each side counts the files from its own right hand.
const FILES = (column, columns, isTop) => String(isTop ? column + 1 : columns - column);
const FROM_TOP = (row) => String(row + 1);
const FROM_BOTTOM = (row, rows) => String(rows - row);

const UNKNOWN = {
  title: say("Game"),
  /** Names of pieces by letter. */
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
  /** A number counts a move of each side, as in chess; else each move but a pass has its own. */
  isNumberedInPairs: true,
  canOfferDraw: true,
  /** Whether the board may be shown from the other side. */
  canFlip: true,
  /** An example of a trap for the lobby: {rows, last, bait, best: squares, label, words}. */
  showcase: null,
  rules: [],
};

/** The names of both sides' pieces, whose letters differ in case. */
function twoSides(names) {
  return Object.fromEntries(Object.entries(names).flatMap(([letter, [first, second]]) => [[letter, first], [letter.toLowerCase(), second]]));
}

const GAMES = {
  othello: {
    title: say("Othello"),
    pieces: { b: say("black disc"), w: say("white disc") },
    flips: true,
    isNumberedInPairs: false,
    unit: say("discs"),
    hasMargins: true,
    counts: say("discs"),
    sides: { black: say("Black"), white: say("White") },
    canOfferDraw: false,
    // From a real game: an eight-ply search finds the bait good up to five plies and bad beyond.
    showcase: {
      rows: "...w..../...w..../.bbww.../..www.../..www.../......../......../........",
      last: ["d1"],
      bait: ["e1"],
      best: ["c6"],
      label: say("after White's d1, e1 tempts and c6 is good"),
      words: [say("e1 tempts Black,"), say("c6 is good.")],
    },
    rules: [
      say("Black moves first. Place a disc so that it encloses a straight line of the other colour: those discs flip."),
      say("A move must flip at least one disc. A player without a move passes; when neither player has one, the game is over."),
      say("The player with more discs wins. Discs in corners can never be flipped."),
    ],
  },
  chess: {
    title: say("Chess"),
    pieces: twoSides({
      K: [say("white king"), say("black king")],
      Q: [say("white queen"), say("black queen")],
      R: [say("white rook"), say("black rook")],
      B: [say("white bishop"), say("black bishop")],
      N: [say("white knight"), say("black knight")],
      P: [say("white pawn"), say("black pawn")],
    }),
    board: "checks",
    edges: { bottom: LETTERS, left: FROM_BOTTOM },
    topRow: "last",
    turns: true,
    unit: say("pawns"),
    worth: { Q: 9, R: 5, B: 3, N: 3, P: 1 },
    sides: { white: say("White"), black: say("Black") },
    // The Elephant Trap, known since 1848: the knight takes a pawn that is pinned, and White is a piece down soon.
    showcase: {
      rows: "r.bqkb.r/pppn.ppp/.....n../...p..B./...P..../..N...../PP..PPPP/R..QKBNR",
      last: ["e6", "d5"],
      bait: ["c3", "d5"],
      best: ["e2", "e3"],
      label: say("after Black's exd5, Nxd5 tempts and e3 is good"),
      words: [say("Nxd5 tempts White,"), say("e3 is good.")],
    },
    rules: [
      say("White moves first. Tap a piece and then its target square, or drag it. To castle, move the king two squares."),
      say("Checkmate wins. Stalemate, threefold repetition, fifty moves without a capture or pawn move, and insufficient mating material are draws."),
    ],
  },
  xiangqi: {
    title: say("Xiangqi"),
    pieces: twoSides({
      K: [say("red general"), say("black general")],
      A: [say("red advisor"), say("black advisor")],
      B: [say("red elephant"), say("black elephant")],
      N: [say("red horse"), say("black horse")],
      R: [say("red chariot"), say("black chariot")],
      C: [say("red cannon"), say("black cannon")],
      P: [say("red soldier"), say("black soldier")],
    }),
    board: "points",
    lines: () => shape("xiangqi-board", 9, 10),
    edges: { top: FILES, bottom: FILES },
    topRow: "last",
    turns: true,
    unit: say("pawns"),
    worth: { R: 9, C: 4.5, N: 4, B: 2, A: 2, P: 1 },
    sides: { red: say("Red"), black: say("Black") },
    // From a self-play game: the bait stops the cannon, which steps aside with a threat; the chariot behind it captures.
    showcase: {
      rows: "r..akabr./...n...../.c..b.n../p.p.p.p.p/.......c./........./P.P.P.P.P/...CB.N.C/...N...../R..AKAB.R",
      last: ["i10", "h10"],
      bait: ["i3", "h3"],
      best: ["a1", "b1"],
      label: say("Black's chariot has come behind its cannon; C1=2 tempts Red and R9=8 is good"),
      words: [say("C1=2 tempts Red,"), say("R9=8 is good.")],
    },
    rules: [
      say("Red moves first. Tap a piece and then its target point, or drag it. Pieces stand on the intersections of the lines."),
      say("R chariot: any distance in a straight line. H horse: one step straight, then one diagonally, unless the first point is occupied. C cannon: like the chariot, but captures by jumping over exactly one piece."),
      say("P soldier: one step forward, beyond the river also sideways. E elephant: exactly two steps diagonally, not jumping, on its own side of the river. A advisor: one step diagonally within the palace. K general: one step straight within the palace."),
      say("The two generals may never face each other on an open file. Checkmate wins, and so does stalemate. A player who gives perpetual check loses."),
    ],
  },
  connect4: {
    title: say("Connect Four"),
    pieces: { r: say("red disc"), y: say("yellow disc") },
    edges: { top: LETTERS, left: FROM_BOTTOM },
    topRow: "last",
    canFlip: false, // discs fall
    isNumberedInPairs: false,
    sides: { red: say("Red"), yellow: say("Yellow") },
    rules: [say("Red moves first. A disc falls to the lowest free square of its column."), say("Four in a row win, also diagonally. A full board is a draw.")],
  },
};

/** Presentation of a game by its key. */
export function theme(game) {
  return { ...UNKNOWN, ...(GAMES[game] ?? {}) };
}

/** A move's name as the page says it: a pass is a word. */
export function moveName(name) {
  return name === "pass" ? say("pass") : name;
}

/** A text's width in Latin letters: a Chinese character is as wide as two. */
export function letters(text) {
  return [...text].reduce((width, sign) => width + (sign > "\u2e80" ? 2 : 1), 0);
}

/** The name of a piece; its letter if it has no name. */
export function pieceName(game, letter) {
  return theme(game).pieces[letter] ?? letter;
}

/** The picture of a piece. */
export function pieceElement(game, letter) {
  const { pieces, flips } = theme(game);
  const picture = !(letter in pieces) ? letterPiece(letter) : flips ? turningDisc() : shape(`${game}-${letter}`);
  picture.classList.add("piece");
  picture.dataset.piece = letter;
  return picture;
}

/** Width of a board in heights, with the names above and below it. */
export function boardShape(game, rows) {
  const { edges } = theme(game);
  return rows[0].length / (rows.length + (edges.top && edges.bottom ? 0.5 : 0));
}

/** Name of a square: column letter, then row number. */
export function squareName(game, rows, row, column) {
  const number = theme(game).topRow === "first" ? row + 1 : rows - row;
  return `${letterOf(column)}${number}`;
}
