// What can be done with a game that others may see: copy its link, fetch its files; and the keys of its replay.

import { el, icon, toast } from "/static/common/dom.js";
import { say, sayParts } from "/static/common/language.js";

const FILES = { pgn: "PGN", ggf: "GGF", txt: say("Moves as text") };

export class GameTools {
  /** @param {{id: string, canFlip: boolean, isPublic: boolean}} options `isPublic`: others may see the game. */
  constructor({ id, canFlip, isPublic }) {
    this.id = id;
    this.isPublic = isPublic;
    this.links = el("div", { class: "watch-links" });
    this.keys = el("p", { class: "watch-keys", hidden: true });
    const key = (text) => el("kbd", {}, text);
    const keys = { left: key("←"), right: key("→"), home: key("Home"), end: key("End"), f: key("F") };
    const told = canFlip ? sayParts("Keys: {left} {right} step, {home} {end} jump, {f} flips the board.", keys) : sayParts("Keys: {left} {right} step, {home} {end} jump.", keys);
    this.keys.append(...told);
    this.offer([]);
  }

  get elements() {
    return [this.links, this.keys];
  }

  /** Offer the link, and files in these forms. */
  offer(files) {
    if (!this.isPublic) return;
    this.links.replaceChildren(
      el("button", { type: "button", class: "button small", "data-test": "share", onclick: () => this.#share() }, icon("send"), say("Copy link")),
      ...files.map((form) => el("a", { class: "button small", href: `/game/${this.id}/${form}`, download: "", "data-test": `file-${form}` }, FILES[form])),
    );
  }

  /** Say which keys step through the game. */
  showKeys() {
    this.keys.hidden = false;
  }

  async #share() {
    const address = `${location.origin}/game/${this.id}`;
    try {
      await navigator.clipboard.writeText(address);
      toast(say("The link has been copied."), "note");
    } catch {
      toast(address, "note"); // no access to the clipboard
    }
  }
}
