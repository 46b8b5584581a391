// The first screen: choose a name, a game, a colour and a clock, and challenge the bot.

import { ApiError, call, NAME_LOST, session, tried } from "/static/common/api.js";
import { Board } from "/static/board/board.js";
import { awaitAnswer, cancelChallenge } from "/static/common/challenge.js";
import { confirmDialog, el, loading, toast } from "/static/common/dom.js";
import { forgetWho, showWho } from "/static/common/header.js";
import { oddsText } from "/static/common/odds.js";
import { theme } from "/static/board/games.js";
import { colourField, loadChoice, noClockHint, oddsField, chosenOdds, saveChoice, segments, showStakes, termFields, termsOf, variantField } from "/static/lobby/terms.js";
import { fromServer, percentText, say, sayAll, sayCount, sayParts } from "/static/common/language.js";

const REFRESH_MS = 5000;
const LIKE = "*like"; // no account's id: any program that plays as people do
const NAME_RULE = say("2 to 20 letters (a to z), digits, - or _");

export class Lobby {
  constructor(main, context, wantedGame) {
    this.main = main;
    this.context = context;
    this.wantedGame = wantedGame;
    this.arena = null;
    this.timer = null;
    this.waiting = null;
    this.isClosed = false;
  }

  open() {
    this.main.replaceChildren(loading(say("Loading…")));
    this.#refresh();
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
    this.waiting?.abort();
    if (this.challengeId) this.#takeBack();
  }

  #takeBack() {
    cancelChallenge(this.challengeId).catch(() => {}); // too late or no link: it expires by itself
    this.challengeId = null;
  }

  async #refresh() {
    clearTimeout(this.timer);
    if (this.arena && document.hidden) {
      this.timer = setTimeout(() => this.#refresh(), REFRESH_MS);
      return;
    }
    const [arena, error] = await tried(call("GET", "/api/arena"));
    if (this.isClosed) return;
    if (error) {
      if (error.status === 401 && session.person) {
        this.#startOver();
        return;
      }
      this.context.showLink("lost", () => this.#refresh());
      this.timer = setTimeout(() => this.#refresh(), REFRESH_MS);
      return;
    }
    this.context.showLink("live");
    const isFirst = this.arena === null;
    this.arena = arena;
    if (isFirst) this.#build();
    else this.#showBots();
    await this.#showGoing();
    if (!this.isClosed) this.timer = setTimeout(() => this.#refresh(), REFRESH_MS);
  }

  /** The arena does not know our token, so its database is another one and the whole page is out of date. */
  #startOver() {
    forgetWho();
    toast(NAME_LOST);
    this.waiting?.abort();
    this.challengeId = null;
    this.arena = null;
    this.open();
  }

  #build() {
    const choice = loadChoice();
    const variants = this.arena.variants;
    const variant = variants.find(({ key }) => key === choice.variant) ?? variants[0];
    this.variant = variant;
    this.botBox = el("div", { class: "bots" });
    this.likeBox = el("div", { class: "partner", hidden: true });
    this.botSignature = this.goingSignature = null; // not drawn yet
    this.sendButton = el("button", { class: "button primary big", type: "submit", "data-test": "challenge" }, say("Challenge"));
    this.status = el("p", { class: "form-status", role: "status" });
    this.colourField = colourField(variant, choice.color);
    this.oddsField = oddsField(variant);
    this.oddsBox = el("details", { class: "have-odds", hidden: !variant.odds.length }, el("summary", {}, say("Odds")), this.oddsField);
    this.oddsHint = el("p", { class: "hint odds-hint", role: "status", hidden: true });
    this.more = this.#more();
    this.goingBox = el("div", { class: "going", hidden: true });
    this.form = el(
      "form",
      { class: "card challenge", autocomplete: "off", onsubmit: (event) => this.#submit(event), onchange: (event) => this.#onChange(event) },
      this.#nameField(),
      variantField(variants, variant),
      el("fieldset", { class: "field" }, el("legend", {}, say("Opponent")), this.botBox),
      this.likeBox,
      this.colourField,
      termFields(this.arena.clocks, choice),
      noClockHint(this.arena.firstMove),
      this.oddsHint,
      this.sendButton,
      this.status,
      this.oddsBox,
      session.person ? null : this.#codeField(),
    );
    this.main.replaceChildren(el("div", { class: "lobby" }, this.#story(), el("div", { class: "lobby-side" }, this.goingBox, this.form, this.#history()), this.more));
    showStakes(this.form);
    this.#showBots();
  }

  #story() {
    return el(
      "section",
      { class: "story" },
      el("h1", {}, sayParts("Play the bot that sets {traps}", { traps: el("em", {}, sayCount("trap", "traps", 2)) })),
      el(
        "p",
        { class: "lead" },
        say("Desdemona looks for the move that you are most likely to answer wrongly: with a reply that looks better than it is. After the game she shows you every trap, what you played, and what it cost."),
      ),
    );
  }

  /** An example of a trap, and the rules. */
  #more() {
    const { variant } = this;
    const { rules, showcase } = theme(variant.game);
    return el(
      "section",
      { class: "story-more" },
      el("p", { class: "hint" }, sayAll([say("Not every game has a trap."), say("Traps are rare in a short game."), this.#plainGames()])),
      this.#hasGuesses() ? el("p", { class: "hint" }, say("A question mark means that the rating is provisional: its uncertainty is more than ±110 points.")) : null,
      showcase ? this.#showcase(variant, showcase) : null,
      el("details", { class: "rules" }, el("summary", {}, say("How {game} is played", { game: fromServer(variant.name) })), el("ul", {}, rules.map((rule) => el("li", {}, rule)))),
    );
  }

  /** Why a game may have no trap set on purpose; empty: there is no draw between players. */
  #plainGames() {
    const { bots, plainShare, plainCasual } = this.arena;
    const places = { share: percentText(plainShare), name: bots[0]?.name ?? say("the bot") };
    if (!plainShare) return "";
    return plainCasual
      ? say("About {share} of {name}’s games, chosen at random, are played by a plain engine that does not look for traps.", places)
      : say("About {share} of {name}’s rated games, chosen at random, are played by a plain engine that does not look for traps.", places);
  }

  /** Whether a rating here has a question mark. */
  #hasGuesses() {
    const { bots, you } = this.arena;
    return [...bots, ...(you ? [you] : [])].some(({ ratings }) => ratings[this.variant.key].provisional);
  }

  #showcase(variant, { rows, last, bait, best, label, words }) {
    const board = new Board({ game: variant.game, label: say("{game} board with a trap: {what}", { game: fromServer(variant.name), what: label }) });
    board.draw({ rows: rows.split("/"), lastSquares: last });
    board.mark([{ squares: bait, kind: "trap" }, { squares: best, kind: "best" }]);
    return el(
      "figure",
      { class: "showcase" },
      board.element,
      el("figcaption", {}, el("span", {}, say("A trap:")), el("span", { class: "key key-trap" }), words[0], el("span", { class: "key key-best" }), words[1]),
    );
  }

  #nameField() {
    if (session.person) {
      this.ownRating = el("span", { class: "rating" });
      this.#showOwnRating();
      return el(
        "div",
        { class: "you-line" },
        el("span", {}, sayParts("Playing as {name}", { name: el("strong", {}, session.person.name) }), " ", this.ownRating),
        el("button", { type: "button", class: "button link", "data-test": "give-code", onclick: () => this.#giveCode() }, say("Move it to another device")),
        el("button", { type: "button", class: "button link", onclick: () => this.#leave() }, say("Use another name")),
      );
    }
    return el(
      "div",
      { class: "field" },
      this.wantedGame ? el("p", { class: "no-game" }, say("This game does not exist, or it is not yours. Choose a name to play your own.")) : null,
      el("label", { for: "nickname" }, say("Your name")),
      el("input", {
        id: "nickname",
        name: "nickname",
        type: "text",
        required: true,
        minlength: "2",
        maxlength: "20",
        pattern: "[A-Za-z0-9_\\-]{2,20}",
        title: NAME_RULE,
        oninput: ({ target }) => {
          target.setCustomValidity("");
          this.#say("");
        },
        oninvalid: ({ target }) => target.setCustomValidity(say("A name has {rule}.", { rule: NAME_RULE })),
        autocapitalize: "off",
        autocorrect: "off",
        spellcheck: "false",
        placeholder: say("2 to 20 letters, digits, - or _"),
      }),
    );
  }

  /** Below the button that most people want: few have a name on another device. */
  #codeField() {
    return el(
      "details",
      { class: "have-code" },
      el("summary", {}, say("My name is on another device")),
      el(
        "div",
        { class: "field" },
        el("label", { for: "code" }, say("Code from that device")),
        el("input", {
          id: "code",
          name: "code",
          type: "text",
          maxlength: "20",
          spellcheck: "false",
          placeholder: "XXXX-XXXX-XXXX",
          oninput: () => this.codeStatus.replaceChildren(),
          onkeydown: (event) => {
            if (event.key !== "Enter") return;
            event.preventDefault(); // it would send the challenge
            this.#useCode();
          },
        }),
      ),
      el("button", { type: "button", class: "button small", "data-test": "use-code", onclick: () => this.#useCode() }, say("Move it here")),
      (this.codeStatus = el("p", { class: "form-status bad", role: "status" })),
    );
  }

  #onChange(event) {
    if (event.target.name === "bot" || event.target.name === "partner") this.#drawOdds();
    if (["bot", "partner", "odds"].includes(event.target.name)) this.#showButton();
    if (["clock", "odds"].includes(event.target.name)) showStakes(this.form);
    if (event.target.name === "variant") this.#changeVariant(event.target.value);
  }

  /** Another game has other sides, ratings and rules; all else, the focus too, stays as it is. */
  #changeVariant(key) {
    saveChoice(this.form);
    this.variant = this.arena.variants.find((each) => each.key === key);
    const colour = colourField(this.variant, this.form.elements.color.value);
    this.colourField.replaceWith(colour);
    this.colourField = colour;
    this.#drawOdds();
    showStakes(this.form);
    const more = this.#more();
    this.more.replaceWith(more);
    this.more = more;
    this.#showOwnRating();
    this.botSignature = null;
    this.#showBots();
  }

  #showOwnRating() {
    const { you } = this.arena; // null when the name has just been taken
    if (this.ownRating) this.ownRating.textContent = you ? ratingText(you.ratings, this.variant) : "";
  }

  #showBots() {
    const online = this.arena.bots.filter((bot) => bot.online);
    const bots = online.length ? online : this.arena.bots;
    const likes = this.#likeBots(bots);
    const old = this.form.elements.bot?.value;
    const others = bots.filter(({ like }) => like === null);
    const values = [...others.map(({ id }) => id), ...(likes.length ? [LIKE] : [])];
    const chosen = values.includes(old) ? old : values[0];
    const face = (value, isOnline, name, hint) =>
      el(
        "label",
        { class: "segment bot" },
        el("input", { type: "radio", name: "bot", value, checked: value === chosen, required: true }),
        el(
          "span",
          { class: "segment-face" },
          el("span", { class: `presence ${isOnline ? "on" : "off"}`, "aria-hidden": "true" }),
          el("span", { class: "segment-label" }, name),
          el("span", { class: "badge" }, "BOT"),
          el("small", {}, isOnline ? hint : say("offline")),
        ),
      );
    const faces = others.map((bot) => face(bot.id, bot.online, bot.name, ratingText(bot.ratings, this.variant)));
    if (likes.length) faces.push(face(LIKE, likes[0].online, say("Like a person"), say("you choose the rating")));
    const signature = JSON.stringify(bots);
    if (signature !== this.botSignature) {
      this.botSignature = signature;
      this.#drawLike(likes);
      this.botBox.replaceChildren(...(faces.length ? faces : [el("p", { class: "hint" }, say("No bot has joined this arena yet. One will appear here when it does."))]));
      this.#drawOdds();
    }
    this.#showButton();
  }

  /** The programs that play this game as people of a rating do, by rating. */
  #likeBots(bots) {
    const isPlayed = this.arena.likeGames.includes(this.variant.game);
    return isPlayed ? bots.filter(({ like }) => like !== null).sort((one, two) => one.like - two.like) : [];
  }

  /** The choice of the rating, and what such an opponent is. */
  #drawLike(likes) {
    const old = this.form.elements.partner?.value;
    const chosen = likes.find(({ id }) => id === old) ?? likes[Math.floor(likes.length / 2)];
    const options = likes.map(({ id, like }) => ({ value: id, label: String(like) }));
    this.likeBox.replaceChildren(
      ...(likes.length ? [segments("partner", say("Plays as people with this rating do"), options, chosen.id)] : []),
      el("p", { class: "hint" }, say("A program, not a person: a model of people’s moves draws each of its moves at random, and it takes their time.")),
    );
  }

  /** The program to challenge; undefined: none. */
  #chosenBot() {
    const { bot, partner } = this.form.elements;
    const wanted = bot?.value === LIKE ? partner?.value : bot?.value;
    return this.arena.bots.find(({ id }) => id === wanted);
  }

  /** The odds of the game, as far as possible the chosen ones, and those that fit the ratings. */
  #drawOdds() {
    const old = chosenOdds(this.form);
    const suggested = this.#chosenBot()?.odds[this.variant.key];
    const field = oddsField(this.variant, suggested);
    if (suggested) this.oddsBox.open = true;
    this.oddsField.replaceWith(field);
    this.oddsField = field;
    this.oddsBox.hidden = !this.variant.odds.length;
    const again = [...(this.form.elements.odds ?? [])].find(({ value }) => value === old);
    if (again) again.checked = true;
  }

  #showButton() {
    this.likeBox.hidden = this.form.elements.bot?.value !== LIKE;
    const bot = this.#chosenBot();
    const odds = chosenOdds(this.form);
    this.oddsHint.hidden = !odds;
    this.oddsHint.textContent = odds ? oddsText(odds, bot?.name ?? say("the bot")) : "";
    if (this.waiting) return;
    this.sendButton.disabled = !bot?.online;
    this.sendButton.textContent = !bot ? say("Waiting for a bot") : bot.online ? say("Challenge {name}", bot) : say("{name} is offline", bot);
  }

  async #submit(event) {
    event.preventDefault();
    if (this.waiting) return;
    const form = this.form.elements;
    const waiting = new AbortController();
    this.waiting = waiting;
    this.sendButton.disabled = true;
    try {
      this.codeStatus?.replaceChildren();
      if (!session.person) await this.#takeName(form.nickname.value.trim());
      saveChoice(this.form);
      const { id, name } = this.#chosenBot();
      const challenge = await call("POST", `/api/challenge/${encodeURIComponent(id)}`, { form: termsOf(this.form) });
      this.challengeId = challenge.id;
      if (this.isClosed) return this.#takeBack();
      this.#showWaiting(name, waiting);
      const outcome = await awaitAnswer(challenge.id, { signal: waiting.signal, keepAliveS: this.arena.keepAlive });
      if (this.isClosed) return undefined;
      this.challengeId = null;
      if (outcome.kind === "accepted") return this.context.go(`/game/${challenge.id}`);
      if (outcome.kind === "declined") this.#say(say("{name} declined. {why}", { name, why: outcome.why }), true);
      else if (outcome.kind === "expired") this.#say(say("{name} did not answer. Please try again.", { name }), true);
      else this.#say("");
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (this.isClosed) return undefined;
      if (error.status === 401) this.#startOver();
      else this.#say(error.message, true);
    } finally {
      this.waiting = null;
      if (!this.isClosed && this.arena) this.#showButton();
    }
    return undefined;
  }

  async #takeName(name) {
    session.save(await call("POST", "/api/person", { json: { name } }));
    showWho();
    const field = this.form.querySelector("#nickname").closest(".field");
    field.replaceWith(this.#nameField());
  }

  #showWaiting(name, waiting) {
    this.sendButton.textContent = say("Waiting…");
    this.status.classList.remove("bad");
    this.status.replaceChildren(
      el("span", { class: "spinner", "aria-hidden": "true" }),
      el("span", {}, say("Waiting for {name} to accept…", { name })),
      el(
        "button",
        {
          type: "button",
          class: "button small",
          onclick: () => {
            waiting.abort();
            this.#takeBack();
          },
        },
        say("Cancel"),
      ),
    );
  }

  #say(text, bad = false) {
    this.status.classList.toggle("bad", bad);
    this.status.replaceChildren(text);
  }

  /** Show a code with which another device takes over the name. */
  async #giveCode() {
    const [made, error] = await tried(call("POST", "/api/person/code"));
    if (error) {
      this.#say(error.message, true);
      return;
    }
    await confirmDialog({
      title: made.code,
      text: sayCount("Enter this code on the other device within {n} minute, under “My name is on another device”. This browser then loses the name.", "Enter this code on the other device within {n} minutes, under “My name is on another device”. This browser then loses the name.", Math.round(made.seconds / 60)),
      yes: say("Done"),
      no: say("Close"),
    });
  }

  async #useCode() {
    const code = this.form.elements.code.value.trim();
    if (!code) {
      this.codeStatus.replaceChildren(say("Enter the code that the other device shows."));
      this.form.elements.code.focus();
      return;
    }
    const [person, error] = await tried(call("POST", "/api/person/move", { json: { code } }));
    if (error) {
      this.codeStatus.replaceChildren(error.message);
      return;
    }
    session.save(person);
    this.context.go("/");
  }

  async #leave() {
    const yes = await confirmDialog({
      title: say("Use another name?"),
      text: say("Only this browser has the key to “{name}”. If you give the name up, nobody can use it again, and its rating goes with it.", session.person),
      yes: say("Give up this name"),
      no: say("Keep it"),
    });
    if (!yes) return;
    session.save(null);
    this.context.go("/");
  }

  /** A game's name as the page says it; one that it does not offer has the API's. */
  #gameName({ key, name }) {
    return fromServer(this.arena.variants.find((each) => each.key === key)?.name ?? name);
  }

  async #showGoing() {
    if (!session.person) return;
    const [playing, error] = await tried(call("GET", "/api/account/playing?nb=10"));
    if (this.isClosed) return;
    if (error) {
      if (error.status === 401) this.#startOver(); // else the lobby works without the list
      return;
    }
    const games = playing.nowPlaying;
    this.goingBox.hidden = !games.length;
    const signature = games.map((game) => game.gameId + game.isMyTurn).join();
    if (signature === this.goingSignature) return;
    this.goingSignature = signature;
    this.goingBox.replaceChildren(
      el("h2", {}, sayCount("Your game in progress", "Your games in progress", games.length)),
      ...games.map((game) =>
        el(
          "a",
          { class: "going-game", href: `/game/${game.gameId}`, "data-link": true },
          el("span", {}, say("{game} against {name}", { game: this.#gameName(game.variant), name: game.opponent.username.replace(/^BOT /, "") })),
          el("strong", {}, game.isMyTurn ? say("Your move") : say("Open")),
        ),
      ),
    );
  }

  #history() {
    if (!session.person) return null;
    return el("p", {}, el("a", { class: "button link", href: "/history", "data-link": true, "data-test": "history" }, say("All your games")));
  }
}

/** The rating in a variant, with a question mark while it is provisional. */
function ratingText(ratings, { key }) {
  const { rating, provisional } = ratings[key];
  return `${rating}${provisional ? "?" : ""}`;
}
