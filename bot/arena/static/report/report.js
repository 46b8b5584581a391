// The trap report after the game: for each move the baits, the reply that was played, and its cost.

import { moveName } from "/static/board/games.js";
import { call, tried } from "/static/common/api.js";
import { el, icon } from "/static/common/dom.js";
import { momentParts } from "/static/report/moment.js";
import { baitsOf, expectedLoss, isUnknown } from "/static/report/bait.js";
import { ICON_MEANINGS, ICONS } from "/static/report/verdict.js";
import { moveNumber, say, sayAll, sayCount, sayMade } from "/static/common/language.js";

const RETRY_MS = [400, 800, 1500, 2500, 4000, 6000, 8000, 10_000, 15_000];

/** A decision with its moves named in the page's language. */
function inWords(decision) {
  const named = (each) => ({ ...each, name: moveName(each.name) });
  return { ...named(decision), replies: decision.replies.map(named), candidates: decision.candidates.map(named) };
}

/** Whether a move's trap needs a sign of its own, because the reply's sign tells only what the reply was worth. */
function hasOwnSign({ isTrap, kind }) {
  return isTrap && !["trap", "eye"].includes(ICONS[kind]);
}

export class ReportSection {
  /**
   * `onVerdicts` receives the verdict on each of the bot's moves: [{ply, kind, isTrap}].
   * `person`: name of the bot's opponent, where somebody else reads the report; null: they read it themselves.
   */
  constructor(box, { id, game, opponent, person = null, isTurned = false, onVerdicts }) {
    this.box = box;
    this.id = id;
    this.game = game;
    this.opponent = opponent;
    this.onVerdicts = onVerdicts;
    this.person = person;
    this.isTurned = isTurned;
    this.tries = 0;
    this.timer = null;
    this.isClosed = false;
    this.report = null;
    this.onlyTraps = false;
    this.isChosen = false; // whether the person has selected a moment
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  open() {
    this.#note(say("{name} is writing up the traps…", { name: this.opponent }), true);
    this.#load();
  }

  async #load() {
    clearTimeout(this.timer);
    const [report, error] = await tried(call("GET", `/api/arena/game/${this.id}/report`));
    if (this.isClosed) return undefined;
    if ([401, 403].includes(error?.status)) return this.#note(error.message);
    if (error?.status === 404) return this.#noReport(); // the bot's records are elsewhere
    // The bot finishes its last analyses after the game, then the forecasts, and then the replies are judged.
    const isEmpty = !report?.decisions.length;
    const isWhole = !isEmpty && report.decisions.every(({ outcome, state }) => outcome !== null || state === "dropped");
    const text = JSON.stringify(report);
    if (!isEmpty && text !== this.shown) this.#show(report, isWhole);
    this.shown = text;
    const isJudged = !isEmpty && report.decisions.every(({ verdict }) => verdict.kind !== "judging");
    if (isWhole && isJudged && report.decisions.every((decision) => decision.forecast !== null || !isUnknown(decision))) return undefined;
    if (this.tries < RETRY_MS.length) {
      this.timer = setTimeout(() => this.#load(), RETRY_MS[this.tries]);
      this.tries += 1;
    } else if (report === null) this.#noReport();
    else if (isEmpty) this.#noMoves();
    return undefined;
  }

  #note(text, busy = false) {
    this.box.replaceChildren(el("p", { class: "report-wait" }, busy ? el("span", { class: "spinner", "aria-hidden": "true" }) : null, text));
  }

  #noMoves() {
    return this.#note(say("{name} made no move in this game.", { name: this.opponent }));
  }

  #noReport() {
    const again = () => {
      this.tries = 0;
      this.open();
    };
    this.box.replaceChildren(
      el("p", { class: "report-wait" }, say("There is no trap report for this game."), el("button", { type: "button", class: "button small", onclick: again }, say("Try again"))),
    );
  }

  #show(found, isWhole) {
    const report = { ...found, decisions: found.decisions.filter(({ state }) => state !== "dropped").map(inWords) };
    this.report = report;
    this.verdicts = report.decisions.map(({ verdict }) => this.#inWords(verdict));
    if (!report.decisions.length) return this.#noMoves();
    if (!this.isChosen) this.index = this.#mostTelling();
    this.chips = el("div", { class: "chips", role: "group", "aria-label": say("Moves of the bot") });
    this.detail = el("article", { class: "card moment" });
    this.box.replaceChildren(
      el("h2", { class: "report-title" }, say("Trap report")),
      this.#summary(isWhole),
      el("div", { class: "chips-bar" }, this.chips, this.#filter()),
      this.#signs(),
      this.detail,
      this.#legend(),
    );
    this.box.onkeydown = (event) => this.#onKey(event);
    this.#drawChips();
    this.#drawMoment();
    this.onVerdicts(this.verdicts.map((verdict, i) => ({ ...verdict, ply: report.decisions[i].ply })));
    return undefined;
  }

  /** A sentence of the server's in the reader's language. */
  #say(made) {
    return sayMade(made, { bot: this.opponent, person: this.person });
  }

  /** A verdict with its sentences in the reader's language. */
  #inWords(verdict) {
    const { label, title, story, facts, marks, entry } = verdict;
    return {
      ...verdict,
      isTrap: verdict.is_trap,
      isSlip: verdict.is_slip,
      label: this.#say(label),
      title: this.#say(title),
      story: story.map((each) => this.#say(each)),
      facts: facts.map(({ kind, term, move, text }) => ({ kind, term: this.#say(term), move: this.#say(move), text: this.#say(text) })),
      marks: marks.map(({ kind, squares, text }) => ({ kind, squares, text: this.#say(text) })),
      entry: entry && this.#say(entry),
    };
  }

  #indices(test) {
    return this.verdicts.map((_, i) => i).filter((i) => test(this.verdicts[i]));
  }

  /** Moments by falling size. */
  #ranked(test, size) {
    const { decisions } = this.report;
    return this.#indices(test).sort((a, b) => size(decisions[b]) - size(decisions[a]));
  }

  /** Moves that set a trap, the costliest and likeliest first. */
  #traps() {
    return this.#ranked(({ isTrap }) => isTrap, (decision) => expectedLoss(baitsOf(decision)[0]));
  }

  /** The moment to show first: the costliest fall, else the best trap, else the costliest slip. */
  #mostTelling() {
    const costliest = (test) => this.#ranked(test, ({ cost }) => cost ?? 0)[0];
    return costliest(({ kind }) => kind === "fell") ?? this.#traps()[0] ?? costliest(({ isSlip }) => isSlip) ?? 0;
  }

  // --- The whole game ------------------------------------------------------------------------------------

  #summary(isWhole) {
    const { traps, saw, fell, slips, story } = this.report.summary;
    const tile = (kind, count, label) => el("div", { class: `tile tile-${kind}` }, icon(ICONS[kind]), el("strong", {}, String(count)), el("span", {}, label));
    const { sets_traps: isMeant, blind: isBlind } = this.report;
    return el(
      "div",
      { class: "summary" },
      el("p", { class: "summary-story" }, this.#say(story), isWhole ? "" : el("span", { class: "hint" }, ` ${say("(the last moves are still being analysed)")}`)),
      el(
        "div",
        { class: "tiles" },
        tile("trap", traps, isBlind ? sayCount("trap", "traps", traps) : isMeant ? sayCount("trap set", "traps set", traps) : sayCount("trap by accident", "traps by accident", traps)),
        tile("saw", saw, say("seen through")),
        tile("fell", fell, sayCount("bait taken", "baits taken", fell)),
        tile("slipped", slips, sayCount("slip", "slips", slips)),
      ),
      el("p", { class: "hint" }, say("Costs are shares of the game: a win counts 100 %, a draw 50 %, a loss nothing.")),
      this.#toFind(),
      this.#trapList(),
    );
  }

  /** Link to the trainer, which poses the positions in which a bait was taken. */
  #toFind() {
    const many = this.report.decisions.filter((decision) => baitsOf(decision).length && decision.judged && decision.judged.word !== "good").length;
    if (!many) return null;
    return el("p", {}, el("a", { class: "button", href: `/train?from=${this.id}`, "data-link": true, "data-test": "to-find" }, sayCount("1 reply to find", "{n} replies to find", many)));
  }

  /** Each trap in a sentence, the costliest and likeliest first. */
  #trapList() {
    const entry = (i) => {
      const decision = this.report.decisions[i];
      return el("li", {}, el("button", { type: "button", class: "button link", "data-trap": i, onclick: () => this.#select(i) }, say("Move {n}, {move}", { n: moveNumber(decision), move: decision.name })), `: ${this.verdicts[i].entry}`);
    };
    const traps = this.#traps();
    return traps.length ? el("ol", { class: "trap-list", "aria-label": say("Traps, the costliest and likeliest first") }, traps.map(entry)) : null;
  }

  /** The choice to see the traps alone; null if there is none. */
  #filter() {
    if (!this.#traps().length) {
      this.onlyTraps = false;
      return null;
    }
    const box = el("input", { type: "checkbox", checked: this.onlyTraps, onchange: () => {
      this.onlyTraps = box.checked;
      const shown = this.#indices(({ isTrap }) => isTrap || !this.onlyTraps);
      this.#select(shown.includes(this.index) ? this.index : shown[0]);
    } });
    return el("label", { class: "filter" }, box, say("traps only"));
  }

  #drawChips() {
    const shown = this.#indices((verdict) => !this.onlyTraps || verdict.isTrap);
    this.chips.replaceChildren(
      ...shown.map((i) => {
        const decision = this.report.decisions[i];
        const { name, reply, replies } = decision;
        const answer = replies.find((each) => each.reply === reply)?.name;
        const verdict = this.verdicts[i];
        return el(
          "button",
          {
            type: "button",
            class: `chip chip-${verdict.kind}${verdict.isTrap ? " chip-trap" : ""}`,
            "data-index": i,
            "data-focus": `chip-${i}`,
            "aria-current": i === this.index ? "true" : null,
            "aria-label": say("Move {n}, {move}: {verdict}", { n: moveNumber(decision), move: [name, answer].filter(Boolean).join(" "), verdict: verdict.label }),
            title: verdict.label,
            onclick: () => this.#select(i),
          },
          el("span", { class: "chip-move" }, name, hasOwnSign(verdict) ? icon("trap") : null),
          " ",
          el("span", { class: "chip-answer" }, answer, icon(ICONS[verdict.kind])),
        );
      }),
    );
  }

  /** The signs of this game's moves, with what they mean. */
  #signs() {
    const shown = new Set(this.verdicts.flatMap((verdict) => [ICONS[verdict.kind], ...(hasOwnSign(verdict) ? ["trap"] : [])]));
    const signs = Object.entries(ICON_MEANINGS).filter(([name]) => shown.has(name));
    return el("ul", { class: "chip-keys" }, el("li", {}, say("Above the bot’s move, below it the reply with its sign:")), signs.map(([name, text]) => el("li", {}, icon(name), text)));
  }

  #select(index) {
    const held = this.box.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.index = index;
    this.isChosen = true;
    this.#drawChips();
    this.#drawMoment();
    // The pressed element has been redrawn: restore the keyboard focus.
    if (held) this.box.querySelector(`[data-focus="${held.startsWith("chip-") ? `chip-${index}` : held}"]`)?.focus({ preventScroll: true });
  }

  #step(by) {
    const shown = this.#indices((verdict) => !this.onlyTraps || verdict.isTrap);
    const next = by > 0 ? shown.find((i) => i > this.index) : shown.findLast((i) => i < this.index);
    if (next !== undefined) this.#select(next);
  }

  #onKey(event) {
    if (event.target.closest("input, summary") || event.altKey || event.ctrlKey || event.metaKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    this.#step(by);
  }

  /** Show the moment of a move of the game, if it was one of the bot's or the reply to one. */
  showPly(ply) {
    const index = this.report?.decisions.findIndex((decision) => decision.ply === ply || decision.ply === ply - 1) ?? -1;
    if (index >= 0 && index !== this.index) this.#select(index);
  }

  // --- One moment ----------------------------------------------------------------------------------------

  #drawMoment() {
    this.detail.className = `card moment moment-${this.verdicts[this.index].kind}`;
    this.detail.replaceChildren(
      ...momentParts({
        decision: this.report.decisions[this.index],
        verdict: this.verdicts[this.index],
        game: this.game,
        opponent: this.opponent,
        person: this.person,
        isPlayer: this.person === null,
        isTurned: this.isTurned,
        isBlind: this.report.blind,
        onStep: (by) => this.#step(by),
      }),
    );
  }

  #legend() {
    return el(
      "details",
      { class: "legend" },
      el("summary", {}, say("How to read this")),
      el("ul", { class: "icon-meanings" }, Object.entries(ICON_MEANINGS).map(([name, text]) => el("li", { "data-icon": name }, icon(name), text))),
      el("p", {}, say("A trap is a move with a bait among its replies: a bad reply that people are likely to play. A bait costs a tenth of the game or more, is one of the two likeliest replies, which at least one player in ten is expected to play, and looks at least as good as the best replies two and three plies ahead, taken together.")),
      el("p", {}, say("What replies cost, and which is best, is judged by a deep search, the same after every game. “To depth 14” means that it looked 14 plies ahead, “solved” that it reached the end of the game. Replies that cost less than 2 % of the game count as best.")),
      el("p", {}, say("“The game” is what can be expected of it: a win counts 100 %, a draw 50 %. Any other reply than a bait is a slip if it costs a tenth of the game or more: a plain mistake, since it does not tempt people.")),
      el("p", {}, sayAll([
        this.person === null ? say("Scores of replies are from your point of view: plus is good for you.") : say("Scores of replies are from {name}’s point of view: plus is good for {name}.", { name: this.person }),
        say("“At depth {n}” is the score of a reply so many plies ahead.", { n: 2 }),
      ])),
      this.report.blind ? el("p", {}, say("Some of {name}’s moves set a trap, others do not; the report does not tell whether a trap was meant, so that moves and games can be compared fairly.", { name: this.opponent })) : null,
      el("p", {}, say("“Cost” compares a reply with the best one.")),
    );
  }
}
