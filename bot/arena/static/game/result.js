// The end of a game as text.

const WAYS = {
  resign: (loser) => `${loser} resigned.`,
  outoftime: (loser) => `${loser} ran out of time.`,
  timeout: (loser) => `${loser} left the game.`,
};

/** {kind: win | loss | draw | aborted | over, title, detail, short} from the person's point of view. */
export function resultOf({ state, view, colour, opponent, sideOf, looks }) {
  const { status, winner } = state;
  if (status === "aborted") return { kind: "aborted", title: "Game aborted", detail: "The game does not count.", short: "Aborted" };
  const score = looks.counts && view.counts && !WAYS[status] ? scoreText(view, colour, sideOf) : "";
  const note = view.unrated ?? "";
  const rule = [view.ending, note].filter(Boolean).join(" ");
  if (!winner) return { kind: "draw", title: "Draw", detail: score ? [score, note].filter(Boolean).join(". ") : rule, short: "Draw" };
  if (!colour) {
    const side = sideOf(winner);
    return { kind: "over", title: `${looks.sides[side] ?? side} won`, detail: score || rule, short: "Over" };
  }
  const won = winner === colour;
  const way = WAYS[status]?.(won ? opponent : "You") ?? "";
  return {
    kind: won ? "win" : "loss",
    title: won ? "You won!" : `${opponent} won`,
    detail: score || way ? [score || way, note].filter(Boolean).join(" ") : rule,
    short: `${won ? "Won" : "Lost"}${score ? ` ${score}` : ""}`,
  };
}

function scoreText(view, colour, sideOf) {
  const [first, second] = view.sides;
  const mine = colour ? sideOf(colour) : first;
  const theirs = mine === first ? second : first;
  return `${view.counts[mine]} : ${view.counts[theirs]}`;
}
