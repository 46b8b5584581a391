// Builds elements.  Text always becomes a text node, so a player's input can never become markup.

import { say } from "/static/common/language.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element; string children become text, empty ones are skipped. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

const ICONS = {
  sound: ["M4 9.5v5h3.5L12 18.5v-13L7.5 9.5z", "M15.5 8.5a5 5 0 0 1 0 7", "M18 6a8.5 8.5 0 0 1 0 12"],
  globe: ["M12 3.5a8.5 8.5 0 1 0 .01 0z", "M3.5 12h17", "M12 3.5c4.5 4.5 4.5 12.5 0 17-4.5-4.5-4.5-12.5 0-17z"],
  mute: ["M4 9.5v5h3.5L12 18.5v-13L7.5 9.5z", "M16 9.5l5 5", "M21 9.5l-5 5"],
  flag: ["M6 21V4", "M6 4.5c4-2 7 2 12 0v8.5c-5 2-8-2-12 0"],
  send: ["M4 12l16-7-6 15-3-6z"],
  again: ["M19 12a7 7 0 1 1-2.2-5.1", "M19.5 3.5v4.5H15"],
  left: ["M14.5 5.5L8 12l6.5 6.5"],
  right: ["M9.5 5.5L16 12l-6.5 6.5"],
  first: ["M16.5 6l-6 6 6 6", "M7 6v12"],
  last: ["M7.5 6l6 6-6 6", "M17 6v12"],
  skip: ["M5 6l7 6-7 6z", "M17.5 6v12"],
  trap: ["M15.5 6.8V15a4.8 4.8 0 0 1-9.6 0v-3.5l3.6 3.2", "M15.5 2.8a2 2 0 1 0 .01 0z"],
  eye: ["M2.5 12c4-7.5 15-7.5 19 0-4 7.5-15 7.5-19 0z", "M12 9.2a2.8 2.8 0 1 0 .01 0z"],
  slip: ["M12 4v10", "M12 18.5v.5"],
  loose: ["M4.5 13.5c2.5-4.5 5-4.5 7.5-1.5s5 3 7.5-1.5"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  dot: ["M12 11.5a.5.5 0 1 0 .01 0z"],
  wait: ["M12 7v5l3.5 2", "M12 3.5a8.5 8.5 0 1 0 .01 0z"],
  flip: ["M8 5v13", "M4.5 8.5L8 5l3.5 3.5", "M16 19V6", "M12.5 15.5L16 19l3.5-3.5"],
  undo: ["M5 8.5h9a5 5 0 0 1 0 10h-4", "M8.5 5L5 8.5 8.5 12"],
  draw: ["M6 9.5h12", "M6 14.5h12"],
  cup: ["M7 4h10v5a5 5 0 0 1-10 0z", "M7 5.5H4c0 3 1 4.5 3.5 5", "M17 5.5h3c0 3-1 4.5-3.5 5", "M12 14v4", "M8 20h8"],
};

/** One of the page's own line icons; decoration only, so its button needs a text or label. */
export function icon(name) {
  return svg(
    "svg",
    { viewBox: "0 0 24 24", class: `icon icon-${name}`, "aria-hidden": "true", focusable: "false" },
    ICONS[name].map((d) => svg("path", { d })),
  );
}

/** A sign that something is on its way. */
export function loading(text) {
  return el("p", { class: "loading" }, el("span", { class: "spinner", "aria-hidden": "true" }), text);
}

/** A page without its contents: why there are none, and where to go instead. */
export function notice(title, text, { href, label }) {
  return el("div", { class: "card notice" }, el("h1", {}, title), text && el("p", {}, text), el("a", { class: "button primary", href, "data-link": true }, label));
}

export const byId = (id) => document.getElementById(id);

/** Announce a text to screen readers. */
export function announce(text) {
  byId("announcer").textContent = text;
}

/** A short message at the edge of the window that disappears by itself. */
export function toast(text, kind = "error") {
  const box = el("div", { class: `toast toast-${kind}` }, text);
  byId("toasts").append(box);
  setTimeout(() => box.remove(), 7000);
}

/** Show a dialog; resolves to its answer when it is closed. */
function ask(dialog) {
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Request confirmation of an irreversible action. Resolves to true when the person agrees; `signal` withdraws the question. */
export async function confirmDialog({ title, text, yes, no = say("Keep playing"), signal }) {
  const dialog = el(
    "dialog",
    { class: "dialog", "aria-labelledby": "dialog-title" },
    el("h2", { id: "dialog-title" }, title),
    el("p", {}, text),
    el(
      "div",
      { class: "dialog-buttons" },
      el("button", { type: "button", class: "button", onclick: () => dialog.close("no"), autofocus: true }, no),
      el("button", { type: "button", class: "button danger", onclick: () => dialog.close("yes"), "data-test": "confirm" }, yes),
    ),
  );
  signal?.addEventListener("abort", () => dialog.close("no"));
  return (await ask(dialog)) === "yes";
}

/** Let the person pick one of several things: [{value, label, picture}]. Resolves to null when closed. */
export async function chooseDialog(title, options) {
  const dialog = el(
    "dialog",
    { class: "dialog choice", "aria-labelledby": "dialog-title" },
    el("h2", { id: "dialog-title" }, title),
    el(
      "div",
      { class: "choices" },
      options.map(({ value, label, picture }, i) =>
        el("button", { type: "button", class: "button choice-button", "aria-label": label, title: label, "data-choice": value, autofocus: i === 0, onclick: () => dialog.close(value) }, picture),
      ),
    ),
  );
  // A click outside the choices chooses none.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close(""));
  return (await ask(dialog)) || null;
}
