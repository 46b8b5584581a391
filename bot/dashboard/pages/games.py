"""Search and list of games, with the outcomes of their baits."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.dashboard.page import Page, Query, Rows
from bot.dashboard.paging import Paging
from bot.views.values_text import moment
from storage.database import Database
from storage.evidence.queries.game_list import (
    GameLine,
    GameOrder,
    WhichResult,
    count_games,
    list_game_lines,
)
from storage.filters import includes_matches

GAMES = 40
"""On one page."""
RESULTS = {
    WhichResult.ANY.value: "all",
    WhichResult.WIN.value: "won",
    WhichResult.DRAW.value: "drawn",
    WhichResult.LOSS.value: "lost",
    WhichResult.OPEN.value: "being played",
    WhichResult.ABORTED.value: "aborted",
    WhichResult.UNKNOWN.value: "result unknown",
}
ORDERS = {
    GameOrder.NEWEST.value: "newest",
    GameOrder.OLDEST.value: "oldest",
    GameOrder.STRONGEST.value: "strongest opponent",
    GameOrder.LONGEST.value: "longest",
    GameOrder.MOST_BAITS_TAKEN.value: "most baits taken",
}
_WORDS = {"win": ("won", "good"), "draw": ("drawn", ""), "loss": ("lost", "trap")}


@dataclass(frozen=True, slots=True)
class GamesView:
    """The contents of the page."""

    games: tuple[GameLine, ...]
    result: str
    order: str
    paging: Paging
    is_without_matches: bool
    """Whether games of matches on this machine are left out."""

    results = RESULTS
    orders = ORDERS

    def ended(self, game: GameLine) -> tuple[str, str]:
        """How a game ended, in a word, and its colour."""
        return ended(game.state, game.result)

    def to_json(self) -> dict[str, Any]:
        """See `bot.dashboard.page.View.to_json`."""
        return {
            "result": self.result,
            "sort": self.order,
            "page": self.paging.page,
            "pages": self.paging.pages,
            "count": self.paging.count,
            "games": self.tables()["games"],
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.dashboard.page.View.tables`."""
        return {
            "games": [
                {**asdict(game), "started_at": moment(game.started_at, "%Y-%m-%dT%H:%M:%SZ")}
                for game in self.games
            ]
        }


def ended(state: str, result: str | None) -> tuple[str, str]:
    """How a game ended, in a word, and its colour (``good``, ``trap`` or none)."""
    if state == "open":
        return "being played", ""
    if state == "aborted":
        return "aborted", ""
    return _WORDS.get(result or "", ("result unknown", ""))


async def load(database: Database, query: Query) -> GamesView:
    """See `bot.dashboard.page.Page.load`."""
    result = WhichResult(query.choice("result", tuple(RESULTS)))
    order = GameOrder(query.choice("sort", tuple(ORDERS)))
    paging = Paging.of(query, GAMES)
    async with database.read() as session:
        count = await count_games(session, query.filters, result)
        games = await list_game_lines(session, query.filters, result, order, GAMES, paging.offset)
    return GamesView(
        games=tuple(games),
        result=result.value,
        order=order.value,
        paging=replace(paging, count=count),
        is_without_matches=not includes_matches(query.filters),
    )


PAGE = Page("games", "/dash/games", "Games", load, parameters=frozenset({"result", "sort", "page"}))
