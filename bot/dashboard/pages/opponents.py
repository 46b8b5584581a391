"""Opponents: their games, returns, and baits taken."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from bot.dashboard.page import Page, Query, Rows
from bot.dashboard.paging import Paging
from bot.dashboard.rendering import query_text
from bot.views.values_text import moment
from storage.database import Database
from storage.evidence.queries.opponents import LEAST_BAITS, OpponentLine, OpponentOrder, list_opponents
from storage.filters import includes_matches

OPPONENTS = 50
"""On one page."""
ORDERS = {
    OpponentOrder.LATEST.value: "latest",
    OpponentOrder.GAMES.value: "most games",
    OpponentOrder.MOST_BAITS_TAKEN.value: f"fall most often (of {LEAST_BAITS} baits or more)",
    OpponentOrder.SCORE.value: "score most",
}


@dataclass(frozen=True, slots=True)
class OpponentsView:
    """The contents of the page."""

    opponents: tuple[OpponentLine, ...]
    """Of this page of the list."""
    returned: int
    """The number of all opponents that came back on another day."""
    programs: int
    """The number of programs among all opponents."""
    order: str
    paging: Paging
    now: datetime
    is_without_matches: bool
    """Whether games of matches on this machine are left out."""

    orders = ORDERS

    @staticmethod
    def query(line: OpponentLine) -> str:
        """The filters that select an opponent's games."""
        return query_text({"opponent": line.name, "site": line.site})

    def to_json(self) -> dict[str, Any]:
        """See `bot.dashboard.page.View.to_json`."""
        return {
            "sort": self.order,
            "page": self.paging.page,
            "pages": self.paging.pages,
            "count": self.paging.count,
            "returned": self.returned,
            "programs": self.programs,
            "opponents": self.tables()["opponents"],
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.dashboard.page.View.tables`."""
        return {
            "opponents": [
                {
                    **asdict(line),
                    "score": line.score,
                    "first_at": moment(line.first_at, "%Y-%m-%dT%H:%M:%SZ"),
                    "last_at": moment(line.last_at, "%Y-%m-%dT%H:%M:%SZ"),
                }
                for line in self.opponents
            ]
        }


async def load(database: Database, query: Query) -> OpponentsView:
    """See `bot.dashboard.page.Page.load`."""
    order = OpponentOrder(query.choice("sort", tuple(ORDERS)))
    paging = Paging.of(query, OPPONENTS)
    async with database.read() as session:
        lines = await list_opponents(session, query.filters, order)
    return OpponentsView(
        opponents=tuple(lines[paging.offset : paging.offset + OPPONENTS]),
        returned=sum(line.returned for line in lines),
        programs=sum(line.is_bot for line in lines),
        order=order.value,
        paging=replace(paging, count=len(lines)),
        now=datetime.now(UTC),
        is_without_matches=not includes_matches(query.filters),
    )


PAGE = Page("opponents", "/dash/opponents", "Opponents", load, parameters=frozenset({"sort", "page"}))
