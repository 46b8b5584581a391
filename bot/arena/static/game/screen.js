// What the screens of a game have in common, whether the person plays it or watches it.

import { ApiError, followUntilStopped } from "/static/common/api.js";
import { loading, notice } from "/static/common/dom.js";
import { say } from "/static/common/language.js";
import { ReportSection } from "/static/report/report.js";

/**
 * A subclass has `path` and `keepAliveS` of the stream and `isOver`, handles `onEvent(event)`, `onLink()` and
 * `onFailure(error)`, draws a `GameView` named `screen`, and may `prepare()`.
 */
export class StreamedGame {
  constructor(main, context, id) {
    this.main = main;
    this.context = context;
    this.id = id;
    this.full = null;
    this.isLive = false;
    this.closing = new AbortController();
    this.restart = () => {};
  }

  /** Follow the stream until the game is over; `restart` requests a new stream. */
  async open() {
    this.main.replaceChildren(loading(say("Opening the game…")));
    try {
      await this.prepare?.();
      while (!this.closing.signal.aborted && !this.isOver) {
        await followUntilStopped(this.path, {
          signal: this.closing.signal,
          keepAliveS: this.keepAliveS,
          onStart: (stop) => {
            this.restart = stop;
          },
          onEvent: (event) => this.onEvent(event),
          onLink: (link) => {
            this.isLive = link === "live";
            this.context.showLink(link, () => this.restart());
            this.onLink();
          },
        });
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (!this.closing.signal.aborted) this.onFailure(error);
    }
  }

  close() {
    this.closing.abort();
    this.screen?.close();
    this.report?.close();
  }

  /** Say why there is no game to see: `known`, a reason by the status, or the server's own words. */
  showFailure(error, known, label) {
    this.context.showLink("live");
    this.main.replaceChildren(notice(known ?? say("The game cannot be opened."), known ? null : error.message, { href: "/", label }));
  }

  /** `person`: see `ReportSection`. */
  openReport(opponent, person = null) {
    this.report = new ReportSection(this.screen.reportBox, {
      id: this.id,
      game: this.screen.gameKey,
      opponent,
      person,
      isTurned: this.screen.board.isTurned,
      onVerdicts: (verdicts) => this.screen.moves.judge(verdicts),
    });
    this.report.open();
  }
}
