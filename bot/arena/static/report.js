// The trap report: after the game, move by move, what the trap was, what was played and what it cost.

import { ApiError, call } from "./api.js";
import { Board } from "./board.js";
import { depthChart } from "./chart.js";
import { el, icon } from "./dom.js";
import { looks, rowsOf } from "./games.js";
import { cost, judge, scoreText, VERDICTS } from "./verdict.js";

const RETRY_MS = [400, 800, 1500, 2500, 4000, 6000, 8000, 10_000, 15_000];
const SHORT = 6;

export class ReportSection {
  /** `onVerdicts` hears how each of the bot's moves went: [{ply, kind, isTrap}]. */
  constructor(box, { id, game, opponent, isPlayer, onVerdicts }) {
    this.box = box;
    this.id = id;
    this.game = game;
    this.opponent = opponent;
    this.onVerdicts = onVerdicts;
    this.isPlayer = isPlayer;
    this.tries = 0;
    this.timer = null;
    this.isClosed = false;
    this.report = null;
    this.onlyTraps = false;
    this.phase = "choice";
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.timer);
  }

  open() {
    this.#note(`${this.opponent} is writing up the traps…`, true);
    this.#load();
  }

  async #load() {
    clearTimeout(this.timer);
    let report = null;
    try {
      report = await call("GET", `/api/arena/game/${this.id}/report`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401 || error.status === 403) return this.#note(error.message);
    }
    if (this.isClosed) return undefined;
    // The bot settles its last profiles when the game is over: a moment later the report is whole.
    const isWhole = report !== null && report.decisions.every(({ outcome, state }) => outcome !== null || state === "dropped");
    const text = JSON.stringify(report);
    if (report !== null && text !== this.shown) this.#show(report, isWhole);
    this.shown = text;
    if (isWhole) return undefined;
    if (this.tries < RETRY_MS.length) {
      this.timer = setTimeout(() => this.#load(), RETRY_MS[this.tries]);
      this.tries += 1;
    } else if (report === null) this.#noReport();
    return undefined;
  }

  #note(text, busy = false) {
    this.box.replaceChildren(el("p", { class: "report-wait" }, busy ? el("span", { class: "spinner", "aria-hidden": "true" }) : null, text));
  }

  #noReport() {
    const again = () => {
      this.tries = 0;
      this.open();
    };
    this.box.replaceChildren(
      el("p", { class: "report-wait" }, "There is no trap report for this game.", el("button", { type: "button", class: "button small", onclick: again }, "Look again")),
    );
  }

  #show(found, isWhole) {
    const report = { ...found, decisions: found.decisions.filter(({ state }) => state !== "dropped") };
    this.report = report;
    this.verdicts = report.decisions.map((decision) => judge(decision, this.opponent, this.game));
    if (!report.decisions.length) return this.#note(`${this.opponent} made no move in this game.`);
    if (this.index === undefined) {
      // Open at what hurt most: the bait taken, then any other trap.
      const weight = (i) => (report.decisions[i].fell_for_best ? 1e9 : 0) + (report.decisions[i].cost_centi ?? 0);
      const worst = this.#indices((verdict) => verdict.kind === "fell").sort((a, b) => weight(b) - weight(a));
      this.index = worst[0] ?? this.#indices((verdict) => verdict.isTrap)[0] ?? 0;
    }
    this.chips = el("div", { class: "chips", role: "group", "aria-label": "Moves of the bot" });
    this.detail = el("article", { class: "card moment" });
    this.box.replaceChildren(
      el("h2", { class: "report-title" }, "Trap report"),
      this.#summary(isWhole),
      el("div", { class: "chips-bar" }, this.chips, this.#filter()),
      this.detail,
      this.#legend(),
    );
    this.box.onkeydown = (event) => this.#onKey(event);
    this.#drawChips();
    this.#drawMoment();
    this.onVerdicts(this.verdicts.map((verdict, i) => ({ ...verdict, ply: report.decisions[i].ply })));
    return undefined;
  }

  #indices(test) {
    return this.verdicts.map((_, i) => i).filter((i) => test(this.verdicts[i]));
  }

  // --- The whole game ------------------------------------------------------------------------------------

  #summary(isWhole) {
    const count = (kind) => this.verdicts.filter((verdict) => verdict.isTrap && verdict.kind === kind).length;
    const traps = this.verdicts.filter((verdict) => verdict.isTrap).length;
    const [fell, saw, slipped] = [count("fell"), count("saw"), count("slipped")];
    const tile = (kind, number, label) => el("div", { class: `tile tile-${kind}` }, icon(VERDICTS[kind].icon), el("strong", {}, String(number)), el("span", {}, label));
    const unit = looks(this.game).unit;
    const lost = this.report.decisions.reduce((sum, decision, i) => sum + (this.verdicts[i].isTrap && decision.cost_centi < 100_000 ? (decision.cost_centi ?? 0) : 0), 0);
    let story;
    if (!traps) story = `${this.opponent} set no trap in this game${this.report.player === "standard" ? ": this time it played plain minimax, which looks for the best move only. The report shows where its moves could have trapped you all the same." : "."}`;
    else {
      story = `${this.opponent} set ${traps} ${traps === 1 ? "trap" : "traps"}. `;
      if (fell === 0) story += "You did not fall into a single one.";
      else story += `You fell into ${fell === traps ? (traps === 1 ? "it" : "all of them") : fell}${lost >= 50 ? `, and your answers to traps cost ${cost(lost, unit)} in all` : ""}.`;
    }
    return el(
      "div",
      { class: "summary" },
      el("p", { class: "summary-story" }, story, isWhole ? "" : el("span", { class: "hint" }, " (the last moves are still being looked into)")),
      el(
        "div",
        { class: "tiles" },
        tile("trap", traps, traps === 1 ? "trap set" : "traps set"),
        tile("saw", saw, "seen through"),
        tile("fell", fell, "fallen into"),
        tile("slipped", slipped, "missed another way"),
      ),
    );
  }

  #filter() {
    const box = el("input", { type: "checkbox", checked: this.onlyTraps, onchange: () => {
      this.onlyTraps = box.checked;
      this.#drawChips();
    } });
    return el("label", { class: "filter" }, box, "traps only");
  }

  #drawChips() {
    const shown = this.#indices((verdict) => !this.onlyTraps || verdict.isTrap);
    this.chips.replaceChildren(
      ...shown.map((i) => {
        const { move, number } = this.report.decisions[i];
        const verdict = this.verdicts[i];
        return el(
          "button",
          {
            type: "button",
            class: `chip chip-${verdict.kind}${verdict.isTrap ? " chip-trap" : ""}`,
            "data-index": i,
            "data-focus": `chip-${i}`,
            "aria-current": i === this.index ? "true" : null,
            "aria-label": `Move ${number}, ${move}: ${VERDICTS[verdict.kind].label}`,
            onclick: () => this.#select(i),
          },
          el("span", { class: "chip-move" }, move),
          icon(VERDICTS[verdict.kind].icon),
        );
      }),
    );
    if (!shown.length) this.chips.append(el("p", { class: "hint" }, "No traps in this game."));
  }

  #select(index) {
    const held = this.box.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.index = index;
    this.phase = "choice";
    this.#drawChips();
    this.#drawMoment();
    // What was pressed has been drawn anew: give it the keyboard back.
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

  /** Show the moment of a move of the game, when it was one of the bot's or the answer to one. */
  showPly(ply) {
    const index = this.report?.decisions.findIndex((decision) => decision.ply === ply || decision.ply === ply - 1) ?? -1;
    if (index >= 0 && index !== this.index) this.#select(index);
  }

  // --- One moment ----------------------------------------------------------------------------------------

  #drawMoment() {
    const decision = this.report.decisions[this.index];
    const verdict = this.verdicts[this.index];
    const board = new Board({ game: this.game, label: "" });
    const phases = el("div", { class: "phases", role: "group", "aria-label": "Board" });
    const drawBoard = () => {
      this.#drawBoard(board, decision, verdict);
      phases.replaceChildren(...this.#phaseButtons(decision, drawBoard));
    };
    drawBoard();
    this.detail.className = `card moment moment-${verdict.kind}`;
    this.detail.replaceChildren(
      el(
        "header",
        { class: "moment-head" },
        el("button", { type: "button", class: "icon-button", "aria-label": "Earlier move", "data-focus": "earlier", onclick: () => this.#step(-1) }, icon("left")),
        el(
          "div",
          { class: "moment-title" },
          el("p", { class: "moment-number" }, `Move ${decision.number} · ${this.opponent} played ${decision.move}`),
          el("h3", {}, icon(VERDICTS[verdict.kind].icon), verdict.title),
        ),
        el("button", { type: "button", class: "icon-button", "aria-label": "Later move", "data-focus": "later", onclick: () => this.#step(1) }, icon("right")),
      ),
      el(
        "div",
        { class: "moment-body" },
        el("div", { class: "moment-board" }, board.element, phases),
        el("div", { class: "moment-words" }, verdict.story.map((line) => el("p", {}, line)), verdict.facts.length ? this.#facts(verdict.facts) : null, this.#chart(decision)),
      ),
      el("div", { class: "moment-tables" }, this.#replies(decision), this.#candidates(decision)),
    );
  }

  #facts(facts) {
    return el("dl", { class: "facts" }, facts.map(({ kind, term, move, text }) => el("div", { class: `fact fact-${kind}` }, el("dt", {}, term), el("dd", {}, el("strong", {}, move), text ? el("span", {}, text) : null))));
  }

  #phaseButtons(decision, drawBoard) {
    const phases = [["before", "Before"], ["choice", "Your choice"]];
    if (!this.isPlayer) phases[1][1] = "The choice";
    return phases.map(([key, label]) =>
      el("button", { type: "button", class: "phase", "data-phase": key, "aria-pressed": String(this.phase === key), onclick: () => {
        this.phase = key;
        drawBoard();
        this.detail.querySelector(`[data-phase="${key}"]`)?.focus({ preventScroll: true });
      } }, label),
    );
  }

  #drawBoard(board, decision, verdict) {
    const isBefore = this.phase === "before";
    const rows = isBefore ? (decision.rows_before ?? rowsOf(decision.position)) : decision.rows_after;
    board.draw({ rows, lastSquares: isBefore ? [] : decision.squares });
    const words = [isBefore ? `Board before ${decision.move}` : `Board after ${this.opponent}'s ${decision.move}`];
    if (isBefore) {
      const marks = decision.candidates.flatMap((candidate) => candidate.squares.slice(-1).map((square) => ({ square, kind: candidate.move === decision.move ? "chosen" : "option" })));
      board.mark(marks);
    } else {
      board.mark(verdict.marks);
      for (const { kind, square } of verdict.marks) words.push(`${{ trap: "the tempting reply", best: "the best reply", played: "your reply", fell: "your reply, the trap", good: "your reply, the best" }[kind]} is ${square}`);
    }
    board.describe(words.join("; "));
  }

  #chart(decision) {
    const replies = decision.replies.filter(({ scores_centi: scores }) => scores.length > 1);
    if (!replies.length || decision.replies.length < 2) return null;
    return depthChart({ replies, decision, unit: looks(this.game).unit, whose: this.isPlayer ? "you" : "the player" });
  }

  #replies(decision) {
    if (!decision.replies.length) return null;
    const who = this.isPlayer ? "your" : "the";
    const rows = [...decision.replies].sort((a, b) => a.final_centi - b.final_centi);
    const best = rows[0].final_centi;
    const isLong = rows.length > SHORT + 1;
    const unit = looks(this.game).unit;
    return el(
      "section",
      { class: "table-box" },
      el("h4", {}, `What ${who} replies were worth`),
      el(
        "div",
        { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Replies" },
        el(
          "table",
          {},
          el("thead", {}, el("tr", {}, ["Reply", "At a glance", `At ${decision.depth} plies`, "Cost"].map((head) => el("th", { scope: "col" }, head)))),
          el(
            "tbody",
            {},
            rows.map((reply, i) => {
              const notes = [];
              if (reply.final_centi === best) notes.push(el("span", { class: "note note-best" }, "best"));
              if (reply.reply === decision.trap?.reply) notes.push(el("span", { class: "note note-trap" }, "trap"));
              else if (reply.quality_centi > 0 && reply.final_centi !== best) notes.push(el("span", { class: "note note-minor" }, "tempting"));
              if (reply.reply === decision.reply) notes.push(el("span", { class: "note note-played" }, this.isPlayer ? "you" : "played"));
              return el(
                "tr",
                { class: reply.reply === decision.reply ? "is-played" : null, hidden: isLong && i >= SHORT && !notes.length },
                el("th", { scope: "row" }, reply.reply, notes),
                el("td", {}, scoreText(reply.glance_text)),
                el("td", {}, scoreText(reply.their_text)),
                el("td", {}, reply.final_centi === best ? "–" : cost(reply.final_centi - best, unit)),
              );
            }),
          ),
        ),
      ),
      isLong ? this.#unfold(rows.length) : null,
    );
  }

  #candidates(decision) {
    const rows = [...decision.candidates].sort((a, b) => b.adjusted_centi - a.adjusted_centi || b.raw_centi - a.raw_centi);
    const standard = decision.standard.move;
    const isLong = rows.length > SHORT + 1;
    return el(
      "section",
      { class: "table-box" },
      el("h4", {}, `What ${this.opponent} could have played`),
      el(
        "div",
        { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Candidates" },
        el(
          "table",
          {},
          el("thead", {}, el("tr", {}, ["Move", "Standard", "Trappy", "Trap"].map((head) => el("th", { scope: "col" }, head)))),
          el(
            "tbody",
            {},
            rows.map((candidate, i) => {
              const notes = [];
              if (candidate.move === decision.move) notes.push(el("span", { class: "note note-played" }, "played"));
              if (candidate.move === standard) notes.push(el("span", { class: "note note-best" }, "standard"));
              const bound = candidate.raw_is_bound ? "≤ " : "";
              return el(
                "tr",
                { class: candidate.move === decision.move ? "is-played" : null, hidden: isLong && i >= SHORT && !notes.length },
                el("th", { scope: "row" }, candidate.move, notes),
                el("td", {}, bound, scoreText(candidate.raw_text)),
                el("td", {}, candidate.raw_is_bound ? "–" : scoreText(candidate.adjusted_text)),
                el("td", {}, candidate.trap ?? "–"),
              );
            }),
          ),
        ),
      ),
      isLong ? this.#unfold(rows.length) : null,
      el("p", { class: "hint" }, `Scores as ${this.opponent} sees them. Standard: what plain minimax finds. Trappy: the same with the bonus for the trap. ≤: proven too low to matter, so not looked into further.`),
    );
  }

  #unfold(count) {
    const unfold = (event) => {
      event.currentTarget.closest(".table-box").querySelectorAll("tr[hidden]").forEach((row) => (row.hidden = false));
      event.currentTarget.remove();
    };
    return el("button", { type: "button", class: "button link", onclick: unfold }, `Show all ${count}`);
  }

  #legend() {
    return el(
      "details",
      { class: "legend" },
      el("summary", {}, "How to read this"),
      el("p", {}, `A trap is a move with a reply that looks good when you look a few moves ahead and turns out badly when you look further. ${this.opponent} searches both ways: the deeper search is what the reply is really worth, the shallow ones are what it seems to be worth.`),
      el("p", {}, "Scores of replies are as you see them: plus is good for you. “At a glance” is how good a reply looks at its best in a shorter search."),
      el("p", {}, "“Cost” compares your reply with the best one. A reply can cost something without being the trap: then you missed the best move in another way."),
    );
  }
}
