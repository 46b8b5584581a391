// The page's frame: the screen for the current URL.

import { session } from "/static/common/api.js";
import { byId, el } from "/static/common/dom.js";
import { showPlace, showWho } from "/static/common/header.js";
import { GameScreen } from "/static/game/game.js";
import { Lobby } from "/static/lobby/lobby.js";
import { HistoryScreen } from "/static/public/history.js";
import { WatchScreen } from "/static/public/watch.js";
import { TrainScreen } from "/static/train/train.js";
import { say } from "/static/common/language.js";

let screen = null;

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
  screen?.close();
  shown = location.pathname + location.search;
  showLink("live");
  showPlace();
  showWho();
  document.title = "Desdemona";
  const id = gameInAddress();
  const main = byId("main");
  const context = { go, showLink, watch, askName };
  // Anybody who is not a player of the game watches it; where that is not allowed, the lobby requests a name.
  function watch() {
    screen?.close();
    screen = new WatchScreen(main, context, id);
    screen.open();
  }
  function askName() {
    screen?.close();
    screen = new Lobby(main, context, id);
    screen.open();
  }
  if (id && !session.person) return watch();
  if (location.pathname === "/history") screen = new HistoryScreen(main);
  else if (location.pathname === "/train") screen = new TrainScreen(main, new URLSearchParams(location.search));
  else screen = id ? new GameScreen(main, context, id) : new Lobby(main, context, null);
  screen.open();
  return undefined;
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
