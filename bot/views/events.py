"""Events by kind and reason, how games ended, and response times of the bot and the sites."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.alarms.evaluator import AlarmStatus
from bot.base.rounding import plural
from bot.control.actions import OperatorActions
from bot.control.audit import OPERATOR_ACTION_EVENT
from bot.parts.values import (
    ActionForm,
    Choice,
    Column,
    Control,
    ControlsPart,
    Heading,
    Pager,
    Part,
    Rows,
    TableCell,
    TablePart,
)
from bot.text.values_text import ago, milliseconds, number, time_text, title_of
from bot.views.addresses import query_text
from bot.views.overview_text import mood_of
from bot.views.page import BadQuery, Page, Query
from storage.database import Database
from storage.evidence.queries.endings import EndingCount, count_endings
from storage.evidence.queries.event_log import (
    EventCount,
    LoggedEvent,
    SiteTimes,
    count_events,
    event_kinds,
    latest_events,
    site_times,
)
from storage.evidence.queries.thinking_times import ThinkingTimes, thinking_times

SPAN_DAYS = ("30", "1", "7", "90", "365")
"""The selectable time spans, in days; the first is the default."""
PER_PAGE = 50
LAG_DAYS = 7
"""Response times are measured in games that began at most this many days ago."""
KIND_LABELS = {
    "alarm": "alarm changed state",
    OPERATOR_ACTION_EVENT: "operator's action",
    "account_stopped": "program stopped",
    "account_link_back": "account reconnected",
    "account_link_lost": "account's connection lost",
    "arena_outage": "the arena's clocks stopped",
    "challenge_declined": "challenge declined",
    "challenge_queued": "challenge waiting for a slot",
    "decision_unjudged": "reply could not be judged",
    "event_failed": "event could not be handled",
    "game_adjourned": "game adjourned",
    "game_link_back": "game reconnected",
    "game_link_lost": "game's connection lost",
    "game_not_played_here": "game played by another program",
    "games_missing": "games missing in the database",
    "opponent_renamed": "opponent renamed",
    "game_unknown": "game unknown to the server",
    "profile_impossible": "profile could not be completed",
    "report_late": "farewell and report were late",
    "takeback_granted": "takeback granted",
    "undecided_move": "move not chosen by this program",
}
"""Display names of event kinds; other kinds are shown with spaces in place of underscores."""
_YES_NO = {True: "yes", False: "no"}


@dataclass(frozen=True, slots=True)
class EventsView:
    """The content of the page Events."""

    days: int
    site: str
    """Empty: all."""
    kind: str
    kinds: tuple[str, ...]
    counts: tuple[EventCount, ...]
    latest: tuple[LoggedEvent, ...]
    times: tuple[SiteTimes, ...]
    number: int
    """Number of the events page shown; page 1 has the latest events."""
    has_more: bool
    endings: tuple[EndingCount, ...] = ()
    thinking: tuple[ThinkingTimes, ...] = ()
    alarms: tuple[AlarmStatus, ...] = ()
    """Alarms that are firing, pending or snoozed."""

    title = ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """See `bot.views.page.View.parts`."""
        return (self._heading, *self._choices, self._alarms, *self._tables)

    @property
    def _heading(self) -> Heading:
        firing, mood = [alarm for alarm in self.alarms if alarm.is_active], mood_of(self.alarms)
        if not firing:
            return Heading("Events and response times.")
        return Heading("", state=("Something is wrong." if mood == "bad" else firing[0].headline, mood))

    @property
    def _choices(self) -> tuple[Choice, Choice]:
        """The choices of time span and kind of event."""
        days = [
            (plural(days, "day"), self._at(days=days), days == self.days)
            for days in sorted(map(int, SPAN_DAYS))
        ]
        kinds = [(self.kind_label(kind), self._at(kind=kind), kind == self.kind) for kind in self.kinds]
        kinds.insert(0, ("all", self._at(kind=""), not self.kind))
        return Choice("Last", tuple(days)), Choice("Kind", tuple(kinds))

    @property
    def _alarms(self) -> ControlsPart:
        controls = tuple(map(_alarm, self.alarms))
        return ControlsPart(
            "Alarms", controls, "/dash/events", "" if controls else "No alarm fires.", "alarms"
        )

    @property
    def _tables(self) -> tuple[Part, ...]:
        times = f"games of the last {plural(min(self.days, LAG_DAYS), 'day')}"
        happened = TablePart(
            "What happened, and why",
            _columns("Event Site Reason", "Times", "Last"),
            tuple(
                (
                    TableCell(self.kind_label(each.kind), link=self._at(kind=each.kind)),
                    each.site,
                    each.reason,
                    number(each.count),
                    ago(each.last_at),
                )
                for each in self.counts
            ),
            nothing="No such event in this period.",
        )
        endings = TablePart(
            "How games ended",
            (Column("For us", is_text=True), *_columns("How Site", "Games", "Last")),
            tuple(
                (each.result, each.reason, each.site, number(each.count), ago(each.last_at))
                for each in self.endings
            ),
            nothing="No game ended in this period.",
            records="endings",
        )
        thinking = TablePart(
            "How long our moves took",
            _columns("Game Site", "Moves", "Median", "95th percentile", "longest"),
            tuple(
                (
                    title_of(each.game),
                    each.site,
                    number(each.moves),
                    *map(milliseconds, (each.median_s, each.p95_s, each.longest_s)),
                )
                for each in self.thinking
            ),
            nothing="No move was made in this period.",
            aside=times,
            key="thinking",
        )
        lag = TablePart(
            "How long sites took to accept and show our moves",
            _columns(
                "Site",
                "Moves sent",
                "Accepted after",
                "95th percentile",
                "Moves shown",
                "Shown after",
                "95th percentile",
            ),
            tuple(
                (
                    each.site,
                    number(each.moves),
                    *map(milliseconds, (each.send_median_s, each.send_p95_s)),
                    number(each.confirmed),
                    *map(milliseconds, (each.confirm_median_s, each.confirm_p95_s)),
                )
                for each in self.times
            ),
            nothing="No move was sent in this period.",
            aside=times,
        )
        latest = TablePart(
            "The latest",
            (Column("When (UTC)", is_text=True), *_columns("Event Account Game Details")),
            tuple(self._latest_row(each) for each in self.latest),
            nothing="No event in this period.",
        )
        return happened, endings, thinking, lag, latest, self._pager

    def _latest_row(self, event: LoggedEvent) -> tuple[TableCell | str, ...]:
        game = TableCell("")
        if event.game_id is not None:
            game = TableCell(event.opponent or str(event.game_id), link=f"/dash/games/{event.game_id}")
        account = f"{event.account} at {event.site}" if event.account else ""
        return (
            time_text(event.at, "%Y-%m-%d %H:%M:%S"),
            self.event_text(event),
            account,
            game,
            self.detail(event),
        )

    @property
    def _pager(self) -> Pager:
        """Links to newer and older events; the total number of pages is unknown."""
        newer = self._at(number=self.number - 1) if self.number > 1 else ""
        older = self._at(number=self.number + 1) if self.has_more else ""
        return Pager(self.number, None, newer, older, ("Newer", "Older"))

    def _at(self, **changes: Any) -> str:
        """Return this page's URL with these changes; without a `number`, the URL shows the latest events."""
        return f"?{query_text({'days': self.days, 'kind': self.kind, 'site': self.site, **changes})}"

    @staticmethod
    def kind_label(kind: str) -> str:
        """Return the display name of a kind of event."""
        return KIND_LABELS.get(kind, kind.replace("_", " "))

    def event_text(self, event: LoggedEvent) -> str:
        """Describe the event in words, including the action if the event is an operator's action."""
        words = self.kind_label(event.kind)
        action = event.detail.get("action") if event.kind == OPERATOR_ACTION_EVENT else None
        return f"{words}: {action}" if isinstance(action, str) else words

    @staticmethod
    def detail(event: LoggedEvent) -> str:
        """Format an event's details on one line."""
        return ", ".join(
            f"{name}: {_YES_NO.get(value, value) if isinstance(value, bool) else value}"
            for name, value in event.detail.items()
            if value not in (None, "") and (event.kind, name) != (OPERATOR_ACTION_EVENT, "action")
        )

    def to_json(self) -> dict[str, Any]:
        """See `bot.views.page.View.to_json`."""
        rows = {**self.tables(), "latest": [asdict(each) for each in self.latest]}
        return {"days": self.days, "kind": self.kind, **rows}

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.views.page.View.tables`."""
        latest = [{**asdict(each), "detail": self.detail(each)} for each in self.latest]
        return {
            name: latest if name == "latest" else [asdict(each) for each in getattr(self, name)]
            for name in ("counts", "latest", "times", "endings", "thinking", "alarms")
        }


def _alarm(alarm: AlarmStatus) -> Control:
    """Build the entry for an alarm, with its buttons."""
    told = [f"acknowledged by {alarm.acknowledged_by}"] if alarm.acknowledged_by else []
    told += [f"snoozed until {time_text(alarm.snoozed_until)} UTC"] if alarm.snoozed_until else []
    is_new = alarm.is_unacknowledged and not alarm.is_warning
    snooze = {"alarm": alarm.name, "minutes": "60"}
    can_acknowledge = alarm.is_active and not alarm.acknowledged_by
    return Control(
        (
            *((ActionForm("ack", "Acknowledge", {"alarm": alarm.name}),) if can_acknowledge else ()),
            ActionForm("snooze", "Snooze for an hour", snooze),
        ),
        f"{alarm.headline} {alarm.text}" if alarm.text else "",
        (alarm.state.value, "trap" if is_new else "slip" if alarm.is_active else ""),
        alarm.name,
        ", ".join((ago(alarm.since), *told)),
        alarm.cure,
    )


_LONG = ("Reason", "Details")


def _columns(texts: str, *numbers: str) -> tuple[Column, ...]:
    return (
        *(Column(name, is_text=True, is_long=name in _LONG) for name in texts.split()),
        *map(Column, numbers),
    )


async def load(database: Database, query: Query) -> EventsView:
    """See `bot.views.page.Page.load`."""
    days = int(query.choice("days", SPAN_DAYS))
    kind, site = query.own.get("kind", ""), query.filters.site or ""
    if not kind.isprintable():  # PostgreSQL, for one, refuses a null character
        raise BadQuery(f"kind: {kind!a:.40} is not a kind of event")
    page = query.number("number", 1, 1, 10_000)
    now = datetime.now(UTC)
    since = now - timedelta(days=days)
    async with database.read() as session:
        latest = await latest_events(
            session, since, kind=kind, site=site, limit=PER_PAGE + 1, offset=(page - 1) * PER_PAGE
        )
        return EventsView(
            days,
            site,
            kind,
            tuple(await event_kinds(session, since)),
            tuple(await count_events(session, since, kind=kind, site=site)),
            tuple(latest[:PER_PAGE]),
            tuple(await site_times(session, now - timedelta(days=min(days, LAG_DAYS)), site=site)),
            page,
            len(latest) > PER_PAGE,
            tuple(await count_endings(session, since, site=site)),
            tuple(await thinking_times(session, now - timedelta(days=min(days, LAG_DAYS)), site=site)),
        )


def events_page(actions: OperatorActions | None = None) -> Page:
    """The page.

    Args:
        actions: The running program, whose alarms are shown; None if no program is running.
    """

    async def alarms() -> tuple[AlarmStatus, ...]:
        return () if actions is None else actions.alarms

    return Page(
        "events",
        "/dash/events",
        "Events",
        load,
        parameters=frozenset({"days", "kind", "number"}),
        filters=("site",),
        cache_ttl_s=5.0,
        live=alarms,
        live_field="alarms",
    )
