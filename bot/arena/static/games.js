// How each game looks and what its parts are called. A new game needs an entry here and pieces in board.css;
// without an entry its pieces are drawn as letters and everything still works.

const UNKNOWN = {
  title: "Game",
  pieces: {},
  flips: false,
  counts: null,
  topRow: "first",
  sides: {},
  canOfferDraw: true,
  rules: [],
};

const GAMES = {
  othello: {
    title: "Othello",
    pieces: { b: "black disc", w: "white disc" },
    flips: true,
    unit: "discs",
    counts: "discs",
    topRow: "first",
    sides: { black: "Black", white: "White" },
    canOfferDraw: false,
    rules: [
      "Black begins. Place a disc so that it encloses a straight line of the other colour: those discs turn over.",
      "A move must turn at least one disc. Who has none passes; when neither has one, the game is over.",
      "Most discs win. Corners can never be turned again.",
    ],
  },
  tictactoe: {
    title: "Tic-tac-toe",
    pieces: { x: "cross", o: "nought" },
    flips: false,
    counts: null,
    topRow: "first",
    sides: { x: "Crosses", o: "Noughts" },
    canOfferDraw: false,
    rules: ["Three in a row win."],
  },
};

/** Presentation of a game by its key. `topRow` says whether the top row of the board is the first or the last. */
export function looks(game) {
  return { ...UNKNOWN, ...(GAMES[game] ?? {}) };
}

/** Name of a square: column letter, then row number. */
export function squareName(game, rows, row, column) {
  const number = looks(game).topRow === "first" ? row + 1 : rows - row;
  return `${String.fromCharCode(97 + column)}${number}`;
}

/** Board rows from a position's text ("8/8/8/3wb3/... b"): digits are runs of empty squares. */
export function rowsOf(position) {
  return position
    .split(" ")[0]
    .split("/")
    .map((row) => row.replace(/\d+/g, (run) => ".".repeat(Number(run))));
}
