"""The first page: the bot's health and current activity."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from bot.base.reconnect import RetryStatus
from bot.base.rounding import NO_VALUE, duration, percent, plural
from bot.charts.figure import ChartSize
from bot.charts.lines import ChartLine, LineChart
from bot.charts.numbers import PLAIN, NumberStyle
from bot.charts.sparkline import Sparkline
from bot.control.actions import OperatorActions
from bot.control.status import Admission, Status
from bot.control.status_text import admission_text
from bot.parts.values import (
    ActionForm,
    Beside,
    Cards,
    ChartPart,
    Column,
    Control,
    ControlsPart,
    FormField,
    Links,
    Note,
    Part,
    Rows,
    TableCell,
    TablePart,
    Tiles,
)
from bot.text.sentence import MINUS
from bot.text.values_text import number, time_text, title_of
from bot.views.addresses import opponent_path
from bot.views.board_cards import board_card
from bot.views.overview_text import headline
from bot.views.page import Page, Query
from bot.views.questions import questions
from storage.database import Database
from storage.evidence.queries.event_log import EventCount, count_events
from storage.evidence.queries.overview import BaitEvent, Day, MoveTimes, last_days, latest_baits, move_times

PATH = "/dash"
DECLINED = "challenge_declined"
_HOW_LONG = FormField(
    "minutes",
    "For how long",
    choices=(("", "until I resume"), ("15", "for 15 minutes"), ("60", "for an hour"), ("480", "for 8 hours")),
)
_CONTROLS_NOTE = (
    'Pause declines new games, with the reason "later"; running games continue. Drain also stops the program '
    "when the last game has ended."
)
_SECONDS = NumberStyle(decimals=2, unit=" s")
_SHARE = NumberStyle(unit=" %")


@dataclass(frozen=True, slots=True)
class NowView:
    """The page's content: data from the database, to which each request adds the program's status."""

    days: tuple[Day, ...]
    baits: tuple[BaitEvent, ...]
    times: tuple[MoveTimes, ...]
    declined: tuple[EventCount, ...]
    """Challenges declined today, by reason."""
    status: Status | None = None
    """Status of the program; None if no program runs here and the page shows only the database."""

    title = ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """See `bot.views.page.View.parts`."""
        asked = tuple((each.text, each.link) for each in questions(datetime.now().astimezone()))
        return (
            *self._running,
            self._tiles,
            Beside((self._times, self._latest), "two wide-left"),
            *(() if self.status is None else (Beside((self._queue(self.status), _controls(self.status))),)),
            Links("Ten questions", asked, is_list=True),
        )

    @property
    def _running(self) -> Iterator[Part]:
        if self.status is None:
            return
        yield headline(self.status)
        if retries := tuple(_retries(self.status)):
            yield _retry_table(retries, self.status.at)
        if self.status.games_on:
            yield Cards(tuple(map(board_card, self.status.games_on)), back=PATH)
        if closing := self.status.closing:
            yield Note(
                f"{plural(closing, 'game')} {'is' if closing == 1 else 'are'} over and being closed: their "
                "last decisions are analysed whenever no move needs the processor."
            )

    @property
    def _tiles(self) -> Tiles:
        """Today's numbers."""
        today, days = self.days[-1], self.days
        scores = tuple(None if day.score is None else 100 * day.score for day in days)
        found = (
            (number(today.games), "games today", tuple(day.games for day in days)),
            (percent(today.score), "of the points", scores),
            (number(today.baits_set), "baits set", tuple(day.baits_set for day in days)),
            (number(today.baits_taken), "baits taken", tuple(day.baits_taken for day in days)),
        )
        return Tiles("Today", tuple((value, words, self._course(words, y)) for value, words, y in found))

    def _course(self, words: str, values: tuple[float | None, ...]) -> Sparkline:
        return Sparkline(
            f"{words.capitalize()}, last {plural(len(self.days), 'day')}",
            "day",
            words,
            tuple(f"{day.day:%d %b}" for day in self.days),
            values,
            _SHARE if words == "of the points" else PLAIN,
            is_alert=words == "baits taken",
        )

    @property
    def _times(self) -> ChartPart:
        """Time per move, by hour."""
        hours = tuple(each.hour for each in self.times)
        line = ChartLine(
            "median",
            hours,
            tuple(each.median_s for each in self.times),
            tuple(0.0 for _ in hours),
            tuple(each.p95_s for each in self.times),
            "all but the slowest twentieth",
        )
        title = "Time to move, last 24 hours"
        chart = LineChart(
            title=title,
            description="How long our moves took, by hour: the median, and all but the slowest twentieth.",
            x_name="hour (UTC)",
            lines=(line,),
            y_style=_SECONDS,
            size=ChartSize.HALF,
            nothing="No move in the last 24 hours.",
        )
        return ChartPart(title, chart, aside=plural(sum(each.moves for each in self.times), "move"))

    @property
    def _latest(self) -> TablePart:
        """The latest replies to baits."""
        return TablePart(
            "Latest replies to baits",
            (
                Column("Opponent", is_text=True, is_long=True),
                Column("Reply", is_text=True, is_long=True),
                Column("Cost"),
            ),
            tuple(
                (
                    TableCell(
                        each.opponent,
                        f"{time_text(each.at, '%d %b, %H:%M')}, {title_of(each.game)}",
                        opponent_path(each.site, each.opponent_site_id) if each.opponent_site_id else "",
                    ),
                    TableCell(
                        _outcome(each),
                        "not judged yet" if each.cost is None else "",
                        f"/dash/games/{each.game_id}?ply={each.ply}",
                    ),
                    _cost(each),
                )
                for each in self.baits
            ),
            nothing="Nobody has met a bait yet.",
        )

    def _queue(self, status: Status) -> TablePart:
        counts: Counter[str] = Counter()
        for each in self.declined:
            counts[each.reason or "no reason"] += each.count
        reasons = "; ".join(f"{reason}: {number(count)}" for reason, count in counts.most_common())
        said = f"Declined today: {number(counts.total())}{f' ({reasons})' if counts else ''}."
        waiting = "" if status.queue else "Nobody is waiting for a game. "
        return TablePart(
            "Waiting for a game",
            (Column("", is_text=True), Column("", is_text=True), Column("")),
            tuple(
                (
                    TableCell(each.challenger or "Somebody", tags=(("program", ""),) * each.is_bot),
                    f"{each.variant} at {each.account}",
                    duration(each.waited_s, 1),
                )
                for each in status.queue
            ),
            said,
            nothing=waiting + said,
            link=("All declines", "/dash/events?days=1&kind=challenge_declined"),
        )

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


def _outcome(bait: BaitEvent) -> str:
    if bait.is_taken:
        return "took the bait"
    if bait.is_slip:
        return "left the bait, but slipped"
    return "saw through it" if bait.is_best else "left the bait"


def _cost(bait: BaitEvent) -> TableCell:
    if bait.cost is None:
        return TableCell(NO_VALUE)
    if not bait.is_taken and not bait.is_slip:
        return TableCell("held", tone="good")
    return TableCell(f"{MINUS}{percent(bait.cost)}", tone="trap" if bait.is_taken else "slip")


def _retries(status: Status) -> Iterator[tuple[str, RetryStatus]]:
    """The accounts' and games' connections that are being retried."""
    for account in status.accounts:
        if account.retry is not None:
            yield account.name, account.retry
    for game in status.games_on:
        if game.retry is not None:
            yield f"{game.account}, game {game.key}", game.retry


def _retry_table(retries: Sequence[tuple[str, RetryStatus]], at: datetime) -> TablePart:
    columns = ("Connection", "Failed attempts", "Since", "Next try", "Last error")
    return TablePart(
        "Not connected",
        tuple(Column(name, is_text=name in ("Connection", "Last error")) for name in columns),
        tuple(
            (
                name,
                number(retry.attempts),
                f"{duration(at - retry.since)} ago",
                f"in {duration(retry.next_at - at)}" if retry.next_at > at else "now",
                retry.error,
            )
            for name, retry in retries
        ),
    )


def _controls(status: Status) -> ControlsPart:
    forms = [ActionForm("reload", "Reload settings", style="")]
    if status.admission.state is not Admission.DRAINING:
        forms.insert(0, ActionForm("drain", "Drain", style="danger"))
    if status.admission.state is Admission.PAUSED:
        forms.insert(0, ActionForm("resume", "Resume", style="primary"))
    elif status.admission.state is not Admission.DRAINING:
        forms.insert(0, ActionForm("pause", "Pause", style="", fields=(_HOW_LONG,)))
    control = Control(tuple(forms), admission_text(status))
    return ControlsPart("Controls", (control,), PATH, _CONTROLS_NOTE)


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


def now_page(actions: OperatorActions | None = None) -> Page:
    """The page.

    Args:
        actions: Access to the running program; None if the page shows only the database.
    """
    live = None if actions is None else actions.status
    return Page(
        "now",
        PATH,
        "Now",
        load,
        filters=(),
        cache_ttl_s=5.0,
        min_refresh_interval_s=1.0,
        live=live,
    )
