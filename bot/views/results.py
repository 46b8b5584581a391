"""Results by week, game, rating band, or another grouping."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.text.values_text import title_of
from bot.views.addresses import query_text
from bot.views.page import BadQuery, Page, Query, Rows
from storage.database import Database
from storage.evidence.queries.filter_language import FIELDS
from storage.evidence.statistics.group_rows import read_groups
from storage.evidence.statistics.groups import By, GroupStatistics, flat_row

ALL = "week,game,rating-band"
GROUPINGS = {
    "week,game": "week and game",
    "game,rating-band": "game and rating",
    ALL: "week, game and rating",
    "game,player": "game and player",
    "game,speed": "game and speed",
    "game,opponent-kind": "people and programs",
}
"""Groupings that a click chooses; the first by default.  The address may name others."""


@dataclass(frozen=True, slots=True)
class ResultsView:
    """The contents of the page."""

    by: str
    groups: tuple[GroupStatistics, ...]
    """In the order of their names, the latest week or month first."""
    texts: Mapping[str, str]
    """All parameters of the address."""

    groupings = GROUPINGS

    @property
    def heads(self) -> list[str]:
        """The heads of the grouping columns."""
        names = list(self.groups[0].group) if self.groups else []
        return [name.replace("-", " ").capitalize() for name in names]

    @staticmethod
    def cells(each: GroupStatistics) -> list[str]:
        """The values of the grouping columns."""
        return [title_of(text) if name == By.GAME else text for name, text in each.group.items()]

    @staticmethod
    def share(each: GroupStatistics) -> float | None:
        """Our share of the points; None without a result."""
        decided = each.wins + each.draws + each.losses
        return (each.wins + each.draws / 2) / decided if decided else None

    def address(self, by: str) -> str:
        """This page by another grouping."""
        return f"?{query_text({**self.texts, 'by': by})}"

    def to_json(self) -> dict[str, Any]:
        """See `bot.views.page.View.to_json`."""
        return {
            "by": self.by,
            "groups": [{**each.to_json(), "score": self.share(each)} for each in self.groups],
        }

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.views.page.View.tables`."""
        return {"groups": [{**flat_row(each.to_json()), "score": self.share(each)} for each in self.groups]}


async def load(database: Database, query: Query) -> ResultsView:
    """See `bot.views.page.Page.load`."""
    by = query.own.get("by") or next(iter(GROUPINGS))
    known = {key.value: key for key in By}
    names = by.split(",")
    if wrong := [name for name in names if name not in known]:
        raise BadQuery(f"by: {wrong[0]!a:.40} is not known; known: {', '.join(known)}")
    async with database.read() as session:
        read = await read_groups(session, query.filters, [known[name] for name in names])
    found = await asyncio.to_thread(read.statistics)
    for key in (By.MONTH, By.WEEK):
        if key.value in names:
            found = sorted(found, key=lambda each: each.group[key.value], reverse=True)
    return ResultsView(by, tuple(found), query.texts())


PAGE = Page(
    "results",
    "/dash/results",
    "Results",
    load,
    parameters=frozenset({"by"}),
    filters=tuple(FIELDS),
    fresh_s=30.0,
)
