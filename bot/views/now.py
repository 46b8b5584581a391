"""The first page: the bot's health and current activity."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from bot.base.rounding import counted
from bot.charts.figure import ChartSize
from bot.charts.line_chart import line_chart
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import PLAIN, NumberStyle
from bot.charts.sparkline import Sparkline, sparkline
from bot.control.actions import OperatorActions
from bot.control.status import Admission, Status
from bot.control.status_text import admission_words
from bot.parts.values import Rows
from bot.views.board_cards import BoardCard, board_cards, shapes_of
from bot.views.now_text import Headline, HealthPill, headline, pills, whereabouts
from bot.views.page import Page, Query, View
from bot.views.questions import Question, questions
from storage.database import Database
from storage.evidence.queries.event_log import EventCount, count_events
from storage.evidence.queries.overview import BaitEvent, Day, MoveTimes, last_days, latest_baits, move_times

DECLINED = "challenge_declined"
_SECONDS = NumberStyle(decimals=2, unit=" s")
_SHARE = NumberStyle(unit=" %")


@dataclass(frozen=True, slots=True)
class Tile:
    """A number of today, with its course over the last days."""

    value: float | None
    is_share: bool
    words: str
    trend: Markup
    is_trap: bool


@dataclass(frozen=True, slots=True)
class NowView:
    """The contents of the page: from the database, and, once `show_live` has added it, from the program."""

    days: tuple[Day, ...]
    baits: tuple[BaitEvent, ...]
    times: tuple[MoveTimes, ...]
    declined: tuple[EventCount, ...]
    """Declined challenges of today, by reason."""
    status: Status | None = None
    """None: no program runs here, the page is of the database alone."""

    @property
    def today(self) -> Day:
        """The day that has begun."""
        return self.days[-1]

    @property
    def tiles(self) -> list[Tile]:
        """The numbers of today."""
        today = self.today
        return [
            self._tile(today.games, "games today", [day.games for day in self.days]),
            self._tile(
                today.score,
                "of the points",
                [None if day.score is None else 100 * day.score for day in self.days],
                is_share=True,
            ),
            self._tile(today.baits_set, "baits set", [day.baits_set for day in self.days]),
            self._tile(
                today.baits_taken, "fallen into", [day.baits_taken for day in self.days], is_trap=True
            ),
        ]

    def _tile(
        self,
        value: float | None,
        words: str,
        values: list[int] | list[float | None],
        *,
        is_share: bool = False,
        is_trap: bool = False,
    ) -> Tile:
        trend = Sparkline(
            f"{words.capitalize()}, last {counted(len(self.days), 'day')}",
            "day",
            words,
            tuple(f"{day.day:%d %b}" for day in self.days),
            tuple(values),
            _SHARE if is_share else PLAIN,
            is_alert=is_trap,
        )
        return Tile(value, is_share, words, sparkline(trend), is_trap)

    @property
    def declined_reasons(self) -> list[tuple[str, int]]:
        """Why challenges were declined today, at all sites together, the most frequent reason first."""
        counts: Counter[str] = Counter()
        for each in self.declined:
            counts[each.reason or "no reason"] += each.count
        return counts.most_common()

    @property
    def timed_moves(self) -> int:
        """Moves whose times are shown."""
        return sum(each.moves for each in self.times)

    @property
    def times_chart(self) -> Markup:
        """How long moves took, by the hour."""
        hours = tuple(each.hour for each in self.times)
        line = ChartLine(
            "median",
            hours,
            tuple(each.median_s for each in self.times),
            tuple(0.0 for _ in hours),
            tuple(each.p95_s for each in self.times),
            "up to the slowest twentieth",
        )
        return line_chart(
            LineChart(
                title="Time to move, last 24 hours",
                description="How long our moves took, by the hour: the median and the slowest twentieth.",
                x_name="hour (UTC)",
                lines=(line,),
                y_style=_SECONDS,
                size=ChartSize.HALF,
                nothing="No move in the last 24 hours.",
            )
        )

    @property
    def headline(self) -> Headline | None:
        """The sentence at the top."""
        return None if self.status is None else headline(self.status)

    @property
    def whereabouts(self) -> str:
        """Where the program plays, and for how long."""
        return "" if self.status is None else whereabouts(self.status)

    @property
    def pills(self) -> list[HealthPill]:
        """The state of each part."""
        return [] if self.status is None else pills(self.status)

    @property
    def cards(self) -> list[BoardCard]:
        """The games that are on."""
        return [] if self.status is None else board_cards(self.status.games_on)

    @property
    def shapes(self) -> Markup:
        """The shapes that their boards use."""
        return Markup() if self.status is None else shapes_of(self.status.games_on)

    @property
    def admission(self) -> str:
        """Whether new games begin, in a sentence."""
        return "" if self.status is None else admission_words(self.status.admission, self.status.at)

    @property
    def questions(self) -> tuple[Question, ...]:
        """Frequent questions of operators, with links to the answers."""
        return questions(datetime.now().astimezone())

    @property
    def is_paused(self) -> bool:
        """Whether the operator holds back new games."""
        return self.status is not None and self.status.admission.state is Admission.PAUSED

    @property
    def is_stopping(self) -> bool:
        """Whether the program stops after its games."""
        return self.status is not None and self.status.admission.state is Admission.DRAINING

    def to_json(self) -> dict[str, Any]:
        """See `bot.views.page.View.to_json`."""
        return {
            **{name: [asdict(row) for row in getattr(self, name)] for name in _TABLES},
            "status": None if self.status is None else json.loads(self.status.json_text()),
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.views.page.View.tables`."""
        return {name: [asdict(row) for row in getattr(self, name)] for name in _TABLES}


_TABLES = ("days", "baits", "times", "declined")


async def load(database: Database, _query: Query) -> NowView:
    """See `bot.views.page.Page.load`."""
    now = datetime.now(UTC)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    async with database.read() as session:
        return NowView(
            tuple(await last_days(session, now)),
            tuple(await latest_baits(session)),
            tuple(await move_times(session, now)),
            tuple(await count_events(session, today, kind=DECLINED)),
        )


def show_live(view: NowView, status: Status) -> View:
    """See `bot.views.page.Page.show_live`."""
    return replace(view, status=status)


def now_page(actions: OperatorActions | None = None) -> Page:
    """The page.

    Args:
        actions: The running program; None: the page is of the database alone.
    """
    live = None if actions is None else actions.status
    return Page(
        "now",
        "/dash",
        "Now",
        load,
        filters=(),
        fresh_s=5.0,
        refetch_s=1.0,
        live=live,
        show_live=show_live,
        template="now.html",
    )
