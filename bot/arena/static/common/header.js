// The header of every page (header.html): the page that is open, the person's name, the language, the sound.

import { session } from "/static/common/api.js";
import "/static/common/incoming.js";
import { byId, el, icon } from "/static/common/dom.js";
import { LANGUAGES, language, say, sayParts, setLanguage } from "/static/common/language.js";
import { loadSound, setSound } from "/static/common/sound.js";

/** Mark the link to the page that is open. */
export function showPlace() {
  for (const link of byId("pages").children) {
    if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Show who plays in this browser, with a link to what everybody sees of them. */
export function showWho() {
  const { person } = session;
  const name = person && el("a", { class: "who-name", href: `/@/${person.name}` }, person.name);
  byId("who").replaceChildren(...(person ? sayParts("Playing as {name}", { name }).map((part) => (typeof part === "string" ? el("span", { class: "visually-hidden" }, part) : part)) : []));
}

/** The server does not know the person's token. */
export function forgetWho() {
  session.save(null);
  showWho();
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
showPlace();
showWho();
showLanguages();
showSound(loadSound());
byId("sound").addEventListener("click", (event) => {
  const on = event.currentTarget.getAttribute("aria-pressed") !== "true";
  setSound(on);
  showSound(on);
});
