"""The gallery of confirmed baits."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import floor
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.rounding import percent, plural
from bot.parts.values import (
    Beside,
    Card,
    Cards,
    Column,
    Heading,
    Note,
    Part,
    PartsView,
    TableCell,
    TablePart,
)
from bot.text.bait_text import game_share, short_name
from bot.text.values_text import iso_time, number, time_text, title_of
from bot.views.addresses import opponent_path
from bot.views.moments import Moment, read_moments
from bot.views.page import Page, Query
from bot.views.paging import Paging, without_matches
from engine.expected import WHOLE
from storage.database import Database
from storage.evidence.queries.baits import (
    MAX_SEARCHED_BAITS,
    MIN_BAIT_PERSONS,
    BaitEncounter,
    BaitGroup,
    BaitOrder,
    BaitSummary,
    list_baits,
    list_repeated,
    read_baits,
)
from storage.evidence.queries.filter_language import FIELDS, filter_texts
from storage.evidence.rating_bands import RatingBand
from storage.evidence.slips import is_slip
from storage.filters import PHASE_PLIES, Filters
from storage.records import BaitOutcome

CARDS = 12
"""Number of baits on one page."""
TAKEN = "taken"
"""Name of the sort order that groups equal baits (`list_repeated`)."""
ORDERS = {
    BaitOrder.EXPECTED_LOSS.value: "greatest expected loss",
    BaitOrder.COST.value: "most costly",
    BaitOrder.NEWEST.value: "newest",
    TAKEN: "met repeatedly, most often taken",
}
ALL = "all"
"""The filter value that selects all outcomes."""
OUTCOMES = {ALL: "all", BaitOutcome.TAKEN.value: "taken", BaitOutcome.HELD.value: "left alone"}
_LOOKS_GOOD = (
    "A bait is a reply that looks good, is likely to be played, and costs a tenth of the game or more"
)
_SHARES_NOTE = (
    "Bar: taken; line: expected by the models of people. Small print: the 95 % interval, clustered by "
    f"person; it needs the equivalent of {MIN_BAIT_PERSONS} people who met equally many baits."
)


@dataclass(frozen=True, slots=True)
class TrapCard:
    """A bait in the gallery."""

    bait: BaitEncounter
    encounters: int
    """Number of times that the bait was answered; at most 1 unless equal baits are grouped."""
    taken: int
    is_repeated: bool
    """Whether equal baits are grouped."""
    moment: Moment | None
    """The move, or None if its record is damaged."""
    damage: str
    """Why the record is damaged; empty if it is valid."""

    @property
    def _tag(self) -> str:
        """A short label for the outcome."""
        if self.is_repeated:
            return f"{number(self.taken)} of {number(self.encounters)} took it"
        if self.bait.is_taken is None:
            return "not answered"
        return "slipped" if self._is_slip else BaitOutcome.of(self.bait.is_taken).value

    @property
    def _mood(self) -> str:
        if self.taken:
            return BaitOutcome.TAKEN.value
        return "slip" if self._is_slip else BaitOutcome.HELD.value if self.encounters else ""

    @property
    def _is_slip(self) -> bool:
        """Whether the reply was an error other than the bait."""
        if self.is_repeated or self.bait.is_taken is None:
            return False
        return is_slip((self.bait.reply_cost or 0) * WHOLE, is_taken=self.bait.is_taken, is_decided=False)

    @property
    def _description_lines(self) -> Iterator[tuple[str, str]]:
        """Sentences about our move, its baits and the opponent's reply, each with a CSS class."""
        bait, told = self.bait, self.moment
        style = "saying trap" if bait.is_taken else "saying"
        if told is None:
            yield f"The bait was {bait.bait}, after {bait.move}. It costs {game_share(bait.cost)}.", ""
            yield f"The record of this move cannot be read: {self.damage}. `db recheck` lists all.", style
        else:
            yield f"We played {told.decision.name}.", ""
            yield from ((str(line), "") for line in told.verdict.baits)
        if bait.is_taken is None:
            yield "The game ended before the reply.", style
            return
        last = f"Met {plural(self.encounters, 'time')}. Last: " * self.is_repeated
        reply = None if told is None else told.verdict.outcome
        if reply is None or bait.reply is None:  # the latter: judged by earlier rules
            reply = f"{short_name(bait.opponent)} {'took a bait' if bait.is_taken else 'left it alone'}."
        yield f"{last}{reply}", style

    @property
    def card(self) -> Card:
        """The card that shows the bait, with moves in human-readable notation."""
        bait, link = self.bait, f"/dash/games/{self.bait.game_id}?ply={self.bait.ply}#moment"
        return Card(
            name=bait.opponent,
            name_link=opponent_path(bait.site, bait.opponent_site_id),
            detail="" if bait.opponent_rating is None else str(bait.opponent_rating),
            board=None if self.moment is None else self.moment.board,
            said=tuple(self._description_lines),
            about=f"{title_of(bait.game)} · {bait.site} · {bait.strategy}",
            tag=(self._tag, {"taken": "trap", "slip": "slip", "held": "good"}.get(self._mood, "")),
            mood=self._mood,
            link=(time_text(bait.at, "%d %b %Y"), link),
        )

    @property
    def row(self) -> dict[str, Any]:
        """The bait as a dictionary of plain values."""
        return {
            **asdict(self.bait),
            "at": iso_time(self.bait.at),
            "expected_loss": self.bait.expected_loss,
            "encounters": self.encounters,
            "taken": self.taken,
            "damage": self.damage,
        }


async def read_cards(session: AsyncSession, baits: Sequence[BaitEncounter]) -> list[TrapCard]:
    """Build a card for each bait."""
    moments = await read_moments(session, [(bait.game_id, bait.decision_id) for bait in baits])
    return [
        TrapCard(
            bait,
            encounters=int(bait.is_taken is not None),
            taken=int(bool(bait.is_taken)),
            is_repeated=False,
            moment=moment if isinstance(moment, Moment) else None,
            damage=moment if isinstance(moment, str) else "",
        )
        for bait, moment in zip(baits, moments, strict=True)
    ]


def _heading(all_: BaitGroup, *, is_filtered: bool) -> Heading:
    if all_.encounters:
        noun = "bait" if all_.encounters == 1 else "baits"
        verb = "was" if all_.unanswered == 1 else "were"
        more = f" {number(all_.unanswered)} more {verb} never answered." if all_.unanswered else ""
        return Heading(
            f"{noun} fooled somebody.",
            f"{number(all_.taken)} of {number(all_.encounters)}",
            f"{_LOOKS_GOOD}. People took {percent(all_.share)} of them; the models of people expected "
            f"{percent(all_.expected_share)}. 95 % interval by person: {interval_words(all_)}.{more}",
        )
    if all_.unanswered:
        verb = "was" if all_.unanswered == 1 else "were"
        lead = f"{number(all_.unanswered)} {verb} set, but the game ended before the reply."
        return Heading("Nobody has answered a bait yet.", lead=lead)
    lead = f"{_LOOKS_GOOD}. Baits appear here as soon as a move of ours sets one."
    other = " Try other filters." if is_filtered else ""
    return Heading("Nobody has met a bait yet.", lead=lead + other)


def _shares(title: str, head: str, groups: Sequence[tuple[str, BaitGroup]], records: str) -> TablePart:
    """Build a table with the share of baits taken in each group."""
    columns = (Column(head, is_text=True), Column("Met"), Column("Taken"), Column("Expected"))
    rows = tuple(
        (
            name,
            number(each.encounters),
            TableCell(percent(each.share), interval_words(each), bar=(each.share, each.expected_share)),
            percent(each.expected_share),
        )
        for name, each in groups
    )
    return TablePart(
        title, columns, rows, _SHARES_NOTE, nothing="None was answered.", records=records, style="shares"
    )


def _no_card(order: str, outcome: BaitOutcome | None) -> str:
    """Explain why the list is empty."""
    if order == TAKEN:
        return (
            f"No bait was met twice, that is, after the same moves. Only the latest "
            f"{number(MAX_SEARCHED_BAITS)} answered baits were searched."
        )
    if outcome is BaitOutcome.TAKEN:
        return "Nobody took any of these baits."
    return "All of these baits were taken or went unanswered."


def traps_view(
    counts: BaitSummary,
    cards: Sequence[TrapCard],
    outcome: BaitOutcome | None,
    order: str,
    paging: Paging,
    filters: Filters,
) -> PartsView:
    """Build the view of the gallery.

    Args:
        counts: Totals over all baits that pass the filters.
        cards: The cards on this page of the list.
        outcome: Outcome of the listed baits; None for all outcomes.
        order: Sort order of the list, one of `ORDERS`.
        paging: Pagination of the list.
        filters: The filters.
    """
    all_ = counts.everything
    parts: list[Part] = [_heading(all_, is_filtered=bool(filter_texts(filters)))]
    if all_.encounters or all_.unanswered:
        parts.append(paging.choice("Outcome", "outcome", OUTCOMES, outcome or ALL))
        parts.append(paging.choice("First", "sort", ORDERS, order))
        if cards:
            parts.append(Cards(tuple(card.card for card in cards), has_keys=True))
        elif paging.page == 1:
            parts.append(Note(_no_card(order, outcome), is_card=True))
        phases = [(phase_name(each), each) for each in counts.by_phase]
        bands = [(RatingBand(each.start).text, each) for each in counts.by_rating]
        shares = (
            _shares("By phase", "Moves", phases, "phases"),
            _shares("By rating", "Their rating", bands, "ratings"),
        )
        parts += [*paging.pager(is_shown=bool(cards)), Beside(shares)]
    parts += without_matches(filters)
    records = [card.row for card in cards]
    fields = {
        "outcome": outcome or ALL,
        "sort": order,
        **paging.to_json(),
        "all": _group_json(all_),
        "by_phase": [_group_json(each) for each in counts.by_phase],
        "by_rating": [_group_json(each) for each in counts.by_rating],
        "baits": records,
    }
    rows = {
        "baits": records,
        "phases": [_group_row(each) for each in counts.by_phase],
        "ratings": [_group_row(each) for each in counts.by_rating],
    }
    return PartsView(tuple(parts), lambda: fields, lambda: rows)


def phase_name(group: BaitGroup) -> str:
    """The range of a phase in full moves, not plies, for instance ``1 to 10``."""
    first = (group.start or 0) // 2 + 1
    return f"{first} to {first + PHASE_PLIES // 2 - 1}"


def interval_words(group: BaitGroup) -> str:
    """The interval of a share, or the reason why there is no interval."""
    interval = group.interval
    if interval is None or interval.low is None or interval.high is None:
        return f"too few people for an interval ({floor(group.effective_persons)} of {MIN_BAIT_PERSONS})"
    low, high = max(interval.low, 0.0), min(interval.high, 1.0)
    # Many baits make it narrow: "5 to 5 %" would say nothing.
    digits = int(low < high and percent(low) == percent(high))
    return f"{percent(low, digits).removesuffix(' %')} to {percent(high, digits)}"


def _group_json(group: BaitGroup) -> dict[str, Any]:
    return {**asdict(group), "share": group.share, "expected_share": group.expected_share}


def _group_row(group: BaitGroup) -> dict[str, Any]:
    row = _group_json(group)
    interval = row.pop("interval") or {}
    return {**row, "low": interval.get("low"), "high": interval.get("high")}


async def load(database: Database, query: Query) -> PartsView:
    """See `bot.views.page.Page.load`."""
    chosen = query.choice("outcome", tuple(OUTCOMES))
    outcome = None if chosen == ALL else BaitOutcome(chosen)
    order = query.choice("sort", tuple(ORDERS))
    paging = Paging.of(query, CARDS)
    async with database.read() as session:
        counts = await read_baits(session, query.filters)
        if order == TAKEN:
            repeated, many = await list_repeated(session, counts, outcome, CARDS, paging.offset)
            cards = [
                replace(card, encounters=each.encounters, taken=each.taken, is_repeated=True)
                for card, each in zip(
                    await read_cards(session, [each.latest for each in repeated]), repeated, strict=True
                )
            ]
        else:
            listed = await list_baits(session, counts, outcome, BaitOrder(order), CARDS, paging.offset)
            cards = await read_cards(session, listed)
            many = _count(counts.everything, outcome)
    return traps_view(counts, cards, outcome, order, replace(paging, count=many), query.filters)


def _count(group: BaitGroup, outcome: BaitOutcome | None) -> int:
    match outcome:
        case BaitOutcome.TAKEN:
            return group.taken
        case BaitOutcome.HELD:
            return group.encounters - group.taken
        case BaitOutcome.UNANSWERED:
            return group.unanswered
        case None:
            return group.encounters + group.unanswered


PAGE = Page(
    "traps",
    "/dash/traps",
    "Traps",
    load,
    parameters=frozenset({"outcome", "sort", "page"}),
    filters=tuple(FIELDS),
)
