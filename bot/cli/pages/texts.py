"""The dashboard's views as sentences and tables for a terminal.  Prints nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bot.base.log import printable
from bot.base.rounding import NO_VALUE, counted, percent
from bot.text.values_text import ago, moment, number, signed, title_of
from bot.text.verdict_text import sentences
from bot.views.events import EventsView
from bot.views.opponents import OpponentsView
from bot.views.ratings import RatingsView
from bot.views.results import ResultsView
from bot.views.traps import TrapCard, TrapsView, band_name, interval_words, phase_name
from bot.views.works import WorksView, stratum_text
from storage.evidence.inference.any_time import AnyTimeEstimate

_BARS = "▁▂▃▄▅▆▇█"
_BARS_SHOWN = 30
_LATEST = 12
"""Events that are listed; `--format csv --table latest` has more."""


def works_text(view: WorksView) -> Iterator[RenderableType]:
    """The verdict of the trial, for whom, and how many games more are needed."""
    report = view.report
    if report is None:
        yield "Nobody knows yet: only the games of a trial are compared (`desdemona trial start NAME`)."
        return
    yield from sentences(report.verdicts[0])
    yield from view.other_verdicts
    if report.games is not None and report.games.strata:
        rows = [
            (stratum_text(each.stratum), number(each.score.n), *_interval(each.score))
            for each in report.games.strata[:_LATEST]
        ]
        yield _table("For whom? Points in a hundred games", ("", "games", "more", "95 %"), rows)
    yield f"Trial {report.trial.name}, since {moment(report.trial.started_at, '%Y-%m-%d')}."


def _interval(found: AnyTimeEstimate) -> tuple[str, str]:
    if found.mean is None or found.low is None or found.high is None:
        return "too early", ""
    return signed(100 * found.mean), f"{signed(100 * found.low)} to {signed(100 * found.high)}"


def results_text(view: ResultsView) -> Iterator[RenderableType]:
    """A row for each group."""
    heads = ("games", "won", "drawn", "lost", "score", "their errors", "baits met", "taken")
    yield _table(
        f"Results by {view.by.replace(',', ', ')}",
        (*(head.lower() for head in view.heads), *heads),
        [
            (
                *view.cells(each),
                *map(number, (each.games, each.wins, each.draws, each.losses)),
                percent(view.share(each)),
                percent(each.errors.happened, 1),
                number(each.baits.n),
                percent(each.baits.happened),
            )
            for each in view.groups
        ],
        left=len(view.heads),
    )


def traps_text(view: TrapsView) -> Iterator[RenderableType]:
    """How often baits are taken, and the first of them."""
    every = view.counts.everything
    yield (
        f"{number(every.taken)} of {counted(every.met, 'bait')} fooled somebody: {percent(every.share)}; the "
        f"models of people expected {percent(every.expected_share)}. 95 % interval, by person: "
        f"{view.all_words}."
    )
    yield _table(
        f"Baits, {view.orders[view.order]} first",
        ("game", "our move", "bait", "met", "taken", "cost", "last by", "see"),
        [
            (
                title_of(card.bait.game),
                card.bait.move if card.moment is None else card.moment.decision.name,
                _bait_name(card),
                number(card.met),
                number(card.taken),
                percent(card.bait.cost),
                card.who,
                card.link.partition("#")[0],
            )
            for card in view.cards
        ],
        left=3,
    )
    heads = ("met", "taken", "", "95 %", "expected")
    for title, groups, name_of in (
        ("By moves of the game", view.counts.by_phase, phase_name),
        ("By their rating", view.counts.by_rating, band_name),
    ):
        rows = [
            (
                name_of(each),
                number(each.met),
                number(each.taken),
                percent(each.share),
                interval_words(each),
                percent(each.expected_share),
            )
            for each in groups
        ]
        yield _table(title, ("", *heads), rows)


def _bait_name(card: TrapCard) -> str:
    """The bait as people write it, if the record of the move is sound."""
    replies = () if card.moment is None else card.moment.decision.replies
    return next((each.name for each in replies if each.reply == card.bait.bait), card.bait.bait)


def opponents_text(view: OpponentsView) -> Iterator[RenderableType]:
    """Opponents: their games, returns, and baits taken."""
    many = view.paging.count
    yield f"{counted(many, 'opponent')}, {number(view.returned)} came back on another day."
    yield _table(
        f"Opponents, {view.orders[view.order]} first",
        ("opponent", "site", "games", "days", "score", "baits met", "taken", "", "best", "last game"),
        [
            (
                line.name + (" (program)" if line.is_bot else ""),
                line.site,
                number(line.games),
                number(line.days),
                percent(line.score),
                number(line.baits_set),
                number(line.baits_taken),
                percent(line.taken_share),
                str(line.best_rating or "unrated"),
                ago(line.last_at, view.now),
            )
            for line in view.opponents
        ],
        left=2,
    )
    if view.paging.pages > 1:
        yield f"Page {view.paging.page} of {view.paging.pages}; --page shows another one."


def events_text(view: EventsView) -> Iterator[RenderableType]:
    """Problems, ends of games, and move times."""
    yield _table(
        f"Events of the last {counted(view.days, 'day')}",
        ("event", "site", "reason", "times", "last"),
        [
            (view.words(each.kind), each.site, each.reason, number(each.count), ago(each.last_at))
            for each in view.counts
        ],
        left=3,
    )
    yield _table(
        "How games ended",
        ("for us", "how", "site", "games", "last"),
        [
            (each.result, each.reason, each.site, number(each.count), ago(each.last_at))
            for each in view.endings
        ],
        left=3,
    )
    times = f"games of the last {counted(view.lag_days, 'day')}"
    yield _table(
        f"How long our moves took ({times})",
        ("game", "site", "moves", "median", "slowest twentieth", "longest"),
        [
            (
                title_of(each.game),
                each.site,
                number(each.moves),
                *map(_ms, (each.median_s, each.p95_s, each.longest_s)),
            )
            for each in view.thinking
        ],
        left=2,
    )
    yield _table(
        f"Lag: how long the sites took with our moves ({times})",
        ("site", "moves", "accepted after", "slowest twentieth", "shown", "shown after", "slowest twentieth"),
        [
            (
                each.site,
                number(each.moves),
                *map(_ms, (each.send_median_s, each.send_p95_s)),
                number(each.confirmed),
                *map(_ms, (each.confirm_median_s, each.confirm_p95_s)),
            )
            for each in view.times
        ],
    )


def ratings_text(view: RatingsView) -> Iterator[RenderableType]:
    """A row for each curve, with the curve in small."""
    yield _table(
        "Ratings",
        ("games", "rating", "30 days", "lowest", "highest", "rated games", "curve"),
        [
            (
                view.name(curve),
                str(curve.now),
                signed(view.month_change(curve), 0),
                str(curve.lowest),
                str(curve.highest),
                number(len(curve.points)),
                bars([point.rating for point in curve.points]),
            )
            for curve in view.curves
        ],
    )


def bars(values: Sequence[float]) -> str:
    """A curve as bars of text, at most `_BARS_SHOWN`, each the last value of its part."""
    count = min(len(values), _BARS_SHOWN)
    shown = [values[(at + 1) * len(values) // count - 1] for at in range(count)]
    least, room = min(values), (max(values) - min(values)) or 1
    return "".join(_BARS[round((value - least) / room * (len(_BARS) - 1))] for value in shown)


def _ms(seconds: float | None) -> str:
    return NO_VALUE if seconds is None else f"{number(1000 * seconds)} ms"


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> RenderableType:
    if not rows:
        return f"{title}: none."
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for at, head in enumerate(heads):
        table.add_column(head, justify="left" if at < left else "right")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


TEXTS: Mapping[str, Callable[[Any], Iterator[RenderableType]]] = {
    "works": works_text,
    "results": results_text,
    "traps": traps_text,
    "opponents": opponents_text,
    "events": events_text,
    "ratings": ratings_text,
}
"""By the page's name."""
