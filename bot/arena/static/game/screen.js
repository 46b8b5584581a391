// What the screens of a game have in common, whether the person plays it or watches it.

import { ApiError, follow } from "/static/common/api.js";
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
    this.isClosed = false;
    this.restart = () => {};
  }

  /** Follow the stream until the game is over; `restart` requests a new stream. */
  async open() {
    this.main.replaceChildren(loading(say("Opening the game…")));
    try {
      await this.prepare?.();
      while (!this.isClosed && !this.isOver) {
        const attempt = new AbortController();
        this.restart = () => attempt.abort();
        await follow(this.path, {
          signal: attempt.signal,
          keepAliveS: this.keepAliveS,
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
      if (!this.isClosed) this.onFailure(error);
    }
  }

  close() {
    this.isClosed = true;
    this.restart();
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
