"""The gallery of confirmed baits."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from math import floor
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.rounding import percent
from bot.dashboard.moments import Moment, read_moment
from bot.dashboard.page import Page, Query, Rows
from bot.dashboard.paging import Paging
from bot.views.bait_text import game_share
from bot.views.values_text import moment as moment_text
from bot.views.values_text import number
from engine.expected import WHOLE
from storage.database import Database
from storage.evidence.queries.baits import (
    BAND,
    LEAST_PERSONS,
    MOST_SEARCHED,
    BaitEncounter,
    BaitFate,
    BaitGroup,
    BaitOrder,
    BaitSummary,
    list_baits,
    list_repeated,
    read_baits,
)
from storage.evidence.queries.filter_language import FIELDS
from storage.evidence.slips import is_slip
from storage.filters import PHASE_PLIES, includes_matches

CARDS = 12
"""On one page."""
TAKEN = "taken"
"""The order of `list_repeated`."""
ORDERS = {
    BaitOrder.EXPECTED_LOSS.value: "greatest expected loss",
    BaitOrder.COST.value: "most costly",
    BaitOrder.NEWEST.value: "newest",
    TAKEN: "met again, most often taken",
}
OLD_ORDERS = {"surprise": BaitOrder.EXPECTED_LOSS.value}
"""Names of 0.2, with today's."""
FATES = {BaitFate.ALL.value: "all", BaitFate.TAKEN.value: "fell", BaitFate.HELD.value: "left alone"}


@dataclass(frozen=True, slots=True)
class TrapCard:
    """A bait of the gallery."""

    bait: BaitEncounter
    met: int
    """How often it was met, if equal ones are counted together; else 1, or 0 if it was never answered."""
    taken: int
    is_repeated: bool
    """Whether equal ones are counted together."""
    moment: Moment | None
    """None: the record is damaged."""
    damage: str
    """Why; empty: it is sound."""

    @property
    def link(self) -> str:
        """The moment in its game."""
        return f"/dash/games/{self.bait.game_id}?ply={self.bait.ply}#moment"

    @property
    def who(self) -> str:
        """The opponent who met it."""
        rating = self.bait.opponent_rating
        return self.bait.opponent if rating is None else f"{self.bait.opponent} ({rating})"

    @property
    def fate(self) -> str:
        """Its outcome, in a word or two."""
        if self.is_repeated:
            return f"{number(self.taken)} of {number(self.met)} took it"
        if self.bait.is_taken is None:
            return "not answered"
        if self.is_slip:
            return "slipped"
        return "fell" if self.bait.is_taken else "held"

    @property
    def is_slip(self) -> bool:
        """Whether the reply left the bait alone and was an error all the same."""
        if self.is_repeated or self.bait.is_taken is None:
            return False
        return is_slip((self.bait.reply_cost or 0) * WHOLE, is_taken=self.bait.is_taken, is_decided=False)

    @property
    def told(self) -> str:
        """The bait's probability, appearance and cost."""
        said = (
            []
            if self.moment is None
            else [line for line in map(str, self.moment.verdict.story) if _is_trap(line)]
        )
        return said[0] if said else f"It costs {game_share(self.bait.cost)}."

    @property
    def outcome(self) -> str:
        """The opponent's reply."""
        names = {}
        if self.moment is not None:
            names = {reply.reply: reply.name for reply in self.moment.decision.replies}
        reply = names.get(self.bait.reply or "", self.bait.reply)
        if self.bait.is_taken is None:
            return "The game ended before the reply."
        if reply is None:  # judged by earlier rules
            return "took a bait." if self.bait.is_taken else "left it alone."
        cost = self.bait.reply_cost
        if self.bait.is_taken:
            how = "took it" if self.bait.reply == self.bait.bait else f"took another bait, {reply},"
            return f"{how}." if cost is None else f"{how} and lost {game_share(cost)}."
        if not cost:
            return f"played {reply}, the best reply."
        return f"played {reply} instead, which cost {game_share(cost)}."

    @property
    def row(self) -> dict[str, Any]:
        """The bait as plain values."""
        bait = self.bait
        row = {
            **asdict(bait),
            "at": moment_text(bait.at, "%Y-%m-%dT%H:%M:%SZ"),
            "expected_loss": bait.expected_loss,
        }
        row["surprise"] = bait.expected_loss  # its name in 0.2
        return {**row, "met": self.met, "taken": self.taken, "damage": self.damage}


async def read_card(session: AsyncSession, bait: BaitEncounter) -> TrapCard:
    """The card of a bait by itself."""
    told = await read_moment(session, bait.game_id, bait.ply)
    return TrapCard(
        bait,
        met=int(bait.is_taken is not None),
        taken=int(bool(bait.is_taken)),
        is_repeated=False,
        moment=told if isinstance(told, Moment) else None,
        damage=told if isinstance(told, str) else "",
    )


def _is_trap(line: str) -> bool:
    return line.startswith(("A trap:", "A trap by accident:"))


@dataclass(frozen=True, slots=True)
class TrapsView:
    """The contents of the page."""

    cards: tuple[TrapCard, ...]
    counts: BaitSummary
    fate: str
    order: str
    paging: Paging
    is_without_matches: bool
    """Whether games of matches on this machine are left out."""

    fates = FATES
    orders = ORDERS
    least_persons = LEAST_PERSONS
    most_searched = MOST_SEARCHED

    @property
    def games(self) -> list[str]:
        """Whose boards the page has."""
        return sorted({card.bait.game for card in self.cards})

    @property
    def groups(self) -> tuple[tuple[str, str, tuple[tuple[str, BaitGroup, str], ...]], ...]:
        """The two tables: their names, the heads of their first columns, and their rows with the interval."""
        phases = ((phase_name(each), each, interval_words(each)) for each in self.counts.by_phase)
        bands = ((band_name(each), each, interval_words(each)) for each in self.counts.by_rating)
        return ("By phase", "Moves", tuple(phases)), ("By rating", "Their rating", tuple(bands))

    @property
    def all_words(self) -> str:
        """The interval of all baits."""
        return interval_words(self.counts.everything)

    def to_json(self) -> dict[str, Any]:
        """See `bot.dashboard.page.View.to_json`."""
        return {
            "outcome": self.fate,
            "sort": self.order,
            "page": self.paging.page,
            "pages": self.paging.pages,
            "count": self.paging.count,
            "all": _group_json(self.counts.everything),
            "by_phase": [_group_json(each) for each in self.counts.by_phase],
            "by_rating": [_group_json(each) for each in self.counts.by_rating],
            "baits": [card.row for card in self.cards],
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.dashboard.page.View.tables`."""
        return {
            "baits": [card.row for card in self.cards],
            "phases": [_group_row(each) for each in self.counts.by_phase],
            "ratings": [_group_row(each) for each in self.counts.by_rating],
        }


def phase_name(group: BaitGroup) -> str:
    """The numbers of the moves in a phase, as games number them: ``1 to 10``."""
    first = (group.start or 0) // 2 + 1
    return f"{first} to {first + PHASE_PLIES // 2 - 1}"


def band_name(group: BaitGroup) -> str:
    """``1400 to 1599``."""
    return "unrated" if group.start is None else f"{group.start} to {group.start + BAND - 1}"


def interval_words(group: BaitGroup) -> str:
    """The interval of a share, or why there is none."""
    found = group.interval
    if found is None or found.low is None or found.high is None:
        return f"too few people for an interval ({floor(group.effective_persons)} of {LEAST_PERSONS})"
    low, high = max(found.low, 0.0), min(found.high, 1.0)
    # Many baits make it narrow: "5 to 5 %" would say nothing.
    digits = int(low < high and percent(low) == percent(high))
    return f"{percent(low, digits).removesuffix(' %')} to {percent(high, digits)}"


def _group_json(group: BaitGroup) -> dict[str, Any]:
    return {**asdict(group), "share": group.share, "expected_share": group.expected_share}


def _group_row(group: BaitGroup) -> dict[str, Any]:
    row = _group_json(group)
    interval = row.pop("interval") or {}
    return {**row, "low": interval.get("low"), "high": interval.get("high")}


async def load(database: Database, query: Query) -> TrapsView:
    """See `bot.dashboard.page.Page.load`."""
    fate = BaitFate(query.choice("outcome", tuple(FATES)))
    order = query.choice("sort", tuple(ORDERS), OLD_ORDERS)
    paging = Paging.of(query, CARDS)
    async with database.read() as session:
        counts = await read_baits(session, query.filters)
        if order == TAKEN:
            repeated, many = await list_repeated(session, counts, fate, CARDS, paging.offset)
            cards = [
                replace(
                    await read_card(session, each.latest), met=each.met, taken=each.taken, is_repeated=True
                )
                for each in repeated
            ]
        else:
            listed = await list_baits(session, counts, fate, BaitOrder(order), CARDS, paging.offset)
            cards = [await read_card(session, bait) for bait in listed]
            many = _count(counts.everything, fate)
    return TrapsView(
        cards=tuple(cards),
        counts=counts,
        fate=fate.value,
        order=order,
        paging=replace(paging, count=many),
        is_without_matches=not includes_matches(query.filters),
    )


def _count(group: BaitGroup, fate: BaitFate) -> int:
    match fate:
        case BaitFate.TAKEN:
            return group.taken
        case BaitFate.HELD:
            return group.met - group.taken
        case BaitFate.ALL:
            return group.met + group.unanswered


PAGE = Page(
    "traps",
    "/dash/traps",
    "Traps",
    load,
    parameters=frozenset({"outcome", "sort", "page"}),
    filters=tuple(FIELDS),
)
