// The end of a game as text.

import { fromServer, say, sayAll } from "/static/common/language.js";

/** How a game was lost, by the name of who lost it; null: the person did. */
export const WAYS = {
  resign: (name) => (name ? say("{name} resigned.", { name }) : say("You resigned.")),
  outoftime: (name) => (name ? say("{name} ran out of time.", { name }) : say("You ran out of time.")),
  timeout: (name) => (name ? say("{name} left the game.", { name }) : say("You left the game.")),
};

/**
 * {kind: win | loss | draw | aborted | over, title, detail} from the person's point of view.
 * `names` of the players by colour; `next`: the colour whose move would have been next.
 */
export function resultOf({ state, view, colour, names, next, sideOf, theme }) {
  const { status, winner } = state;
  if (status === "aborted") {
    // A game can be aborted only before both have moved, and only one of them has to be missing.
    const missing = next === colour ? say("It ended before you had made your first move, and does not count.") : say("It ended before {name} had made a first move, and does not count.", { name: names[next] });
    return { kind: "aborted", title: say("Game aborted"), detail: missing };
  }
  const score = theme.counts && view.counts && !WAYS[status] ? scoreText(view, colour, sideOf) : "";
  const note = fromServer(view.unrated);
  const rule = sayAll([fromServer(view.ending), note]);
  if (!winner) return { kind: "draw", title: say("Draw"), detail: score ? [score, note].filter(Boolean).join(". ") : rule };
  if (!colour) return { kind: "over", title: say("{name} won", { name: names[winner] }), detail: score || rule };
  const opponent = names[colour === "white" ? "black" : "white"];
  const won = winner === colour;
  const way = WAYS[status]?.(won ? opponent : null) ?? "";
  return {
    kind: won ? "win" : "loss",
    title: won ? say("You won!") : say("{name} won", { name: opponent }),
    detail: score || way ? [score || way, note].filter(Boolean).join(" ") : rule,
  };
}

function scoreText(view, colour, sideOf) {
  const [first, second] = view.sides;
  const mine = colour ? sideOf(colour) : first;
  const theirs = mine === first ? second : first;
  return `${view.counts[mine]} : ${view.counts[theirs]}`;
}
