// The page's frame: the screen for the current URL.

import { session } from "/static/common/api.js";
import { byId, el } from "/static/common/dom.js";
import { showPlace, showWho } from "/static/common/header.js";
import { say } from "/static/common/language.js";

let screen = null;
let opening = 0; // how many screens have been opened; a screen's script may arrive when the next one is wanted

/** Load a screen's script and open the screen, instead of the one that is open. */
async function show(load, create) {
  const number = ++opening;
  screen?.close();
  screen = null;
  let script = null;
  try {
    script = await load();
  } catch {
    if (number === opening) showLink("lost", () => location.reload());
    return;
  }
  if (number !== opening) return;
  screen = create(script);
  screen.open();
}

export function showLink(state, retry) {
  const bar = byId("link-state");
  bar.hidden = state === "live";
  document.body.classList.toggle("offline", state === "lost");
  if (state === "live") return;
  bar.replaceChildren(
    el("span", { class: "spinner", "aria-hidden": "true" }),
    el("span", {}, say("Connection lost. Reconnecting…")),
    retry ? el("button", { class: "button small", type: "button", onclick: retry }, say("Try now")) : "",
  );
}

function gameInAddress() {
  return /^\/game\/([\w-]+)\/?$/.exec(location.pathname)?.[1] ?? null;
}

let shown = ""; // the address whose screen is open

function open() {
  shown = location.pathname + location.search;
  showLink("live");
  showPlace();
  showWho();
  document.title = "Desdemona";
  const id = gameInAddress();
  const main = byId("main");
  // Anybody who is not a player of the game watches it; where that is not allowed, the lobby requests a name.
  const watch = () => show(() => import("/static/public/watch.js"), ({ WatchScreen }) => new WatchScreen(main, context, id));
  const askName = () => show(() => import("/static/lobby/lobby.js"), ({ Lobby }) => new Lobby(main, context, id));
  const context = { go, showLink, watch, askName };
  if (location.pathname === "/history") show(() => import("/static/public/history.js"), ({ HistoryScreen }) => new HistoryScreen(main));
  else if (location.pathname === "/train") show(() => import("/static/train/train.js"), ({ TrainScreen }) => new TrainScreen(main, new URLSearchParams(location.search)));
  else if (!id) askName();
  else if (session.person) show(() => import("/static/game/game.js"), ({ GameScreen }) => new GameScreen(main, context, id));
  else watch();
}

export function go(path) {
  if (path === location.pathname + location.search) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  open();
  window.scrollTo(0, 0);
  byId("main").focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  const { pathname, search } = new URL(link.href);
  go(pathname + search);
});
window.addEventListener("popstate", () => {
  if (location.pathname + location.search !== shown) open(); // else only the fragment has changed: "skip to the content"
});
window.addEventListener("pageshow", (event) => {
  if (event.persisted) open(); // restored from the back-forward cache, with dead connections
});
window.addEventListener("storage", (event) => {
  // Another tab has taken or left a name.
  if (event.key === "desdemona.person") {
    session.load();
    open();
  }
});
open();
