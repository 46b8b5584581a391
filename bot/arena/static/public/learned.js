// What the bot has learned of the person, shown to nobody else, with a download and a way to have it forgotten.

import { call, tried } from "/static/common/api.js";
import { el } from "/static/common/dom.js";
import { fromServer, say, sayMade } from "/static/common/language.js";

export class Learned {
  constructor() {
    this.body = el("div");
    this.section = el("section", { class: "card panel", hidden: true, "data-test": "learned", "aria-label": say("What the bot has learned about you") }, el("h2", {}, say("What the bot has learned about you")), this.body);
  }

  async load() {
    const [told, error] = await tried(call("GET", "/api/person/learned"));
    if (error) return;
    this.section.hidden = !told.forgotten_at && !told.games.length;
    if (told.forgotten_at) {
      this.body.replaceChildren(el("p", { "data-test": "forgotten" }, say("It is forgotten, and nothing more is learned about you.")));
      return;
    }
    const data = new Blob([JSON.stringify(told, null, 1)], { type: "application/json" });
    this.body.replaceChildren(
      ...told.games.flatMap((game) => this.#game(game)),
      el("p", { class: "hint" }, say("It is learned from your judged games. Only you and the bot's operator can see it. The bot uses it to predict your replies.")),
      el(
        "p",
        {},
        el("a", { class: "button small", href: URL.createObjectURL(data), download: "desdemona.json", "data-test": "learned-download" }, say("Download")),
        " ",
        el("button", { class: "button small", type: "button", "data-test": "forget", onclick: () => this.#ask() }, say("Forget me")),
      ),
    );
  }

  #game({ title, replies, min_replies: least, statements }) {
    const said = statements.map(({ text, error }) => {
      const where = error && el("a", { href: `/game/${error.game}#${error.ply + 1}` }, say("Show the position"));
      return el("li", {}, sayMade(text), ...(where ? [" ", where] : []));
    });
    if (replies < least) said.push(el("li", {}, say("Too early: {n} of {least} replies.", { n: replies, least })));
    else if (!said.length) said.push(el("li", {}, say("Nothing that sets you apart.")));
    return [el("h3", {}, fromServer(title)), el("ul", {}, said)];
  }

  #ask() {
    const yes = el("button", { class: "button small danger", type: "button", "data-test": "forget-yes", onclick: () => this.#forget() }, say("Forget everything"));
    const no = el("button", { class: "button small", type: "button", onclick: () => this.load() }, say("Cancel"));
    this.body.replaceChildren(el("p", {}, say("The bot forgets what it has learned about you, and learns nothing about you in later games. This cannot be undone.")), el("p", {}, yes, " ", no));
    no.focus();
  }

  async #forget() {
    const [, error] = await tried(call("POST", "/api/person/forget"));
    if (error) this.body.replaceChildren(el("p", {}, error.message));
    else await this.load();
  }
}
