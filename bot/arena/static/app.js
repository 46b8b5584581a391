// The page's frame: the screen for the current URL, the person's name, the sound switch.

import { session } from "/static/common/api.js";
import { byId, el, icon } from "/static/common/dom.js";
import { GameScreen } from "/static/game/game.js";
import { Lobby } from "/static/lobby/lobby.js";
import { HistoryScreen } from "/static/public/history.js";
import { WatchScreen } from "/static/public/watch.js";
import { loadSound, setSound } from "/static/common/sound.js";
import { TrainScreen } from "/static/train/train.js";
import { LANGUAGES, language, say, sayParts, setLanguage } from "/static/common/language.js";

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

function showWho() {
  const person = session.person;
  byId("who").replaceChildren(...(person ? sayParts("Playing as {name}", { name: el("strong", {}, person.name) }).map((part) => (typeof part === "string" ? el("span", { class: "visually-hidden" }, part) : part)) : []));
}

function gameInAddress() {
  return /^\/game\/([\w-]+)\/?$/.exec(location.pathname)?.[1] ?? null;
}

function open() {
  screen?.close();
  showLink("live");
  showWho();
  document.title = "Desdemona";
  const id = gameInAddress();
  const main = byId("main");
  const context = { go, showLink, showWho, watch, askName };
  // Whoever does not play in a game watches it; where that is not allowed, the lobby asks for a name.
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
  if (location.pathname === "/history") screen = new HistoryScreen(main, context);
  else if (location.pathname === "/train") screen = new TrainScreen(main, context, new URLSearchParams(location.search));
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

function showSound(on) {
  const button = byId("sound");
  button.setAttribute("aria-pressed", String(on));
  button.setAttribute("aria-label", say("Sound"));
  button.title = on ? say("Sound is on") : say("Sound is off");
  button.replaceChildren(icon(on ? "sound" : "mute"));
}

/** The choice of the language, an icon with the browser's own list over it. */
function showLanguages() {
  const box = byId("language");
  const options = LANGUAGES.map(({ tag, name }) => el("option", { value: tag, lang: tag, selected: tag === language }, name));
  box.replaceChildren(icon("globe"), el("select", { "aria-label": say("Language"), onchange: ({ target }) => setLanguage(target.value) }, options));
  box.hidden = LANGUAGES.length === 1;
}

session.load();
showLanguages();
showSound(loadSound());
byId("sound").addEventListener("click", (event) => {
  const on = event.currentTarget.getAttribute("aria-pressed") !== "true";
  setSound(on);
  showSound(on);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-link]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  const { pathname, search } = new URL(link.href);
  go(pathname + search);
});
window.addEventListener("popstate", open);
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
