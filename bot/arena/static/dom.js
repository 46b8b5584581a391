// Building elements.  Text only ever becomes a text node, so nothing a player types can become markup.

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

/** An HTML element; children that are strings become text, empty ones are left out. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

const ICONS = {
  sound: ["M4 9.500v5h3.500L12 18.500v-13L7.500 9.500z", "M15.500 8.500a5 5 0 0 1 0 7", "M18 6a8.500 8.500 0 0 1 0 12"],
  mute: ["M4 9.500v5h3.500L12 18.500v-13L7.500 9.500z", "M16 9.500l5 5", "M21 9.500l-5 5"],
  flag: ["M6 21V4", "M6 4.500c4-2 7 2 12 0v8.500c-5 2-8-2-12 0"],
  send: ["M4 12l16-7-6 15-3-6z"],
  again: ["M19 12a7 7 0 1 1-2.200-5.100", "M19.500 3.500v4.500H15"],
  plus: ["M12 5v14", "M5 12h14"],
  left: ["M14.500 5.500L8 12l6.500 6.500"],
  right: ["M9.500 5.500L16 12l-6.500 6.500"],
  first: ["M16.500 6l-6 6 6 6", "M7 6v12"],
  last: ["M7.500 6l6 6-6 6", "M17 6v12"],
  skip: ["M5 6l7 6-7 6z", "M17.500 6v12"],
  trap: ["M4 15c2-7 14-7 16 0", "M4 15l2.500-3.500L9 15l3-4 3 4 2.500-3.500L20 15", "M3 18h18"],
  eye: ["M2.500 12c4-7.500 15-7.500 19 0-4 7.500-15 7.500-19 0z", "M12 9.200a2.800 2.800 0 1 0 .010 0z"],
  slip: ["M12 4v10", "M12 18.500v.500"],
  check: ["M5 12.500l4.500 4.500L19 7.500"],
  dot: ["M12 11.500a.500.500 0 1 0 .010 0z"],
  wait: ["M12 7v5l3.500 2", "M12 3.500a8.500 8.500 0 1 0 .010 0z"],
  draw: ["M6 9.500h12", "M6 14.500h12"],
  cup: ["M7 4h10v5a5 5 0 0 1-10 0z", "M7 5.500H4c0 3 1 4.500 3.500 5", "M17 5.500h3c0 3-1 4.500-3.500 5", "M12 14v4", "M8 20h8"],
};

/** One of the page's own line icons; decoration only, so its button needs a text or label. */
export function icon(name) {
  return svg(
    "svg",
    { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false" },
    ICONS[name].map((d) => svg("path", { d })),
  );
}

export const byId = (id) => document.getElementById(id);

/** Say something to people who listen to the page instead of looking at it. */
export function announce(text) {
  byId("announcer").textContent = text;
}

/** A short message at the edge of the window that goes away by itself. */
export function toast(text, kind = "error") {
  const box = el("div", { class: `toast toast-${kind}` }, text);
  byId("toasts").append(box);
  setTimeout(() => box.remove(), 7000);
}

/** Ask before something that cannot be undone. Resolves to true when the person agrees. */
export function confirmDialog({ title, text, yes, no = "Keep playing" }) {
  return new Promise((resolve) => {
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
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Let the person pick one of several moves that touch the same squares. Resolves to null when closed. */
export function chooseDialog(title, options) {
  return new Promise((resolve) => {
    const dialog = el(
      "dialog",
      { class: "dialog", "aria-labelledby": "dialog-title" },
      el("h2", { id: "dialog-title" }, title),
      el(
        "div",
        { class: "dialog-buttons" },
        options.map((option) =>
          el("button", { type: "button", class: "button", onclick: () => dialog.close(option) }, option),
        ),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue || null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
