// The recent finished games of this browser, with links to their trap reports.

const KEY = "desdemona.games";
const KEPT = 6;

function all() {
  try {
    const games = JSON.parse(localStorage.getItem(KEY));
    return Array.isArray(games) ? games : [];
  } catch {
    return [];
  }
}

export function recentGames(person) {
  return person ? all().filter((game) => game.person === person).slice(0, KEPT) : [];
}

/** @param {{id, person, opponent, game, result, text, at}} game `game`: its name; result: "win", "loss" or "draw" */
export function rememberGame(game) {
  const games = all();
  const known = games.find(({ id }) => id === game.id);
  const others = games.filter(({ id }) => id !== game.id);
  try {
    const next = known ? games.map((old) => (old.id === game.id ? { ...game, at: old.at } : old)) : [game, ...others];
    localStorage.setItem(KEY, JSON.stringify(next.slice(0, 4 * KEPT)));
  } catch {
    // No storage: the list is only a convenience.
  }
}
