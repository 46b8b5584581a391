// The chat beside the board.

import { call, tried } from "/static/common/api.js";
import { el, icon, toast } from "/static/common/dom.js";
import { fromServer, say } from "/static/common/language.js";

const MAX_LENGTH = 140;
const AFTER_GAME_MS = [1500, 4000, 10_000];

export class Chat {
  /** @param {object} options `me`: the person's name; `canTalk`: they may write; `bots`: names of programs, whose usual sentences are translated. */
  constructor(gameId, { me, canTalk, bots }) {
    this.path = `/api/board/game/${gameId}/chat`;
    this.me = me;
    this.bots = bots;
    this.lines = el("div", { class: "chat-lines", role: "log", "aria-label": say("Chat"), tabindex: "0" });
    this.input = el("input", { type: "text", name: "text", maxlength: String(MAX_LENGTH), placeholder: say("Say something"), "aria-label": say("Message"), autocomplete: "off", enterkeyhint: "send" });
    this.timers = [];
    this.element = el(
      "section",
      { class: "card chat" },
      el("h2", {}, say("Chat")),
      this.lines,
      canTalk
        ? el("form", { class: "chat-form", onsubmit: (event) => this.#send(event) }, this.input, el("button", { class: "icon-button", type: "submit", "aria-label": say("Send") }, icon("send")))
        : null,
    );
  }

  close() {
    this.timers.forEach(clearTimeout);
  }

  /**
   * Show the lines added since the last call. Lines have no ids, so a line from the stream could not be matched
   * with the list: the stream only triggers a load, and all lines shown come from the list. The list only grows
   * at its end, so responses may arrive out of order: a late, shorter one adds nothing.
   */
  async load() {
    const [lines] = await tried(call("GET", this.path)); // a chat error must not disturb the game
    lines?.slice(this.lines.childElementCount).forEach(({ user, text }) => this.#append(user, text));
  }

  /** The game's stream has ended, but a farewell may still come. */
  watchFarewell() {
    this.timers = AFTER_GAME_MS.map((ms) => setTimeout(() => this.load(), ms));
  }

  #append(user, text) {
    const atEnd = this.lines.scrollHeight - this.lines.scrollTop - this.lines.clientHeight < 30;
    const own = user === this.me ? " own" : "";
    this.lines.append(el("p", { class: `chat-line${own}` }, el("strong", {}, user), el("span", {}, this.bots.includes(user) ? fromServer(text) : text)));
    if (atEnd) this.lines.scrollTop = this.lines.scrollHeight;
  }

  async #send(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return;
    const [, error] = await tried(call("POST", this.path, { form: { room: "player", text } }));
    if (error) {
      toast(error.message);
      return;
    }
    if (this.input.value.trim() === text) this.input.value = "";
    this.load(); // the stream would trigger it too, but it ends with the game
  }
}
