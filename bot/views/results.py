"""Results by week, game, rating band, or some other grouping."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from bot.base.rounding import percent
from bot.parts.values import Choice, Column, Heading, PartsView, TablePart
from bot.text.values_text import number, title_of
from bot.views.addresses import query_text
from bot.views.page import BadQuery, Page, Query
from storage.database import Database
from storage.evidence.queries.filter_language import FIELDS
from storage.evidence.statistics.group_rows import read_groups
from storage.evidence.statistics.groups import GroupKey, GroupStatistics, flat_row

DEFAULT_GROUPING = "week,game,rating-band"
GROUPINGS = {
    "week,game": "week and game",
    "game,rating-band": "game and rating",
    DEFAULT_GROUPING: "week, game and rating",
    "game,strategy": "game and strategy",
    "game,speed": "game and speed",
    "game,opponent-kind": "people and programs",
}
"""Groupings offered as links, the default first. The URL may name other groupings."""
_NOTE = (
    "Weeks begin on Monday (UTC) and are named after that day. Score: our share of the points. Errors and "
    "baits: in positions that were not decided, the first 50 games of each opponent (all, in matches)."
)


def share(group: GroupStatistics) -> float | None:
    """Our share of the points; None if no game has a result."""
    decided = group.wins + group.draws + group.losses
    return (group.wins + group.draws / 2) / decided if decided else None


def results_view(by: str, groups: Sequence[GroupStatistics], texts: Mapping[str, str]) -> PartsView:
    """Build the view of the results by group.

    Args:
        by: The grouping, as written in the URL.
        groups: The groups, sorted by name, with the latest week or month first.
        texts: All query parameters, as text.
    """
    names = [name.replace("-", " ").capitalize() for name in groups[0].group] if groups else []
    options = tuple(
        (words, f"?{query_text({**texts, 'by': each})}", each == by) for each, words in GROUPINGS.items()
    )
    title = f"Results by {GROUPINGS.get(by, by.replace(',', ', '))}"
    heads = ("Games", "Won · drawn · lost", "Score", "Their errors", "Baits met", "Baits taken")
    table = TablePart(
        "",
        (*(Column(name, is_text=True) for name in names), *map(Column, heads)),
        tuple(
            (
                *(title_of(text) if name == GroupKey.GAME else text for name, text in each.group.items()),
                number(each.games),
                f"{each.wins} · {each.draws} · {each.losses}",
                percent(share(each)),
                percent(each.errors.happened, 1),
                number(each.baits.n),
                percent(each.baits.happened),
            )
            for each in groups
        ),
        note=_NOTE,
    )
    return PartsView(
        (Heading(title), Choice("By", options), table),
        lambda: {"by": by, "groups": [{**asdict(each), "score": share(each)} for each in groups]},
        lambda: {"groups": [{**flat_row(asdict(each)), "score": share(each)} for each in groups]},
    )


async def load(database: Database, query: Query) -> PartsView:
    """See `bot.views.page.Page.load`."""
    by = query.own.get("by") or next(iter(GROUPINGS))
    try:
        keys = GroupKey.parse(by)
    except ValueError as error:
        raise BadQuery(f"by: {error}") from None
    async with database.read() as session:
        read = await read_groups(session, query.filters, keys)
    groups = await asyncio.to_thread(read.statistics)
    for key in (GroupKey.MONTH, GroupKey.WEEK):
        if key in keys:
            groups = sorted(groups, key=lambda each: each.group[key.value], reverse=True)
    return results_view(by, groups, query.texts())


PAGE = Page(
    "results",
    "/dash/results",
    "Results",
    load,
    parameters=frozenset({"by"}),
    filters=tuple(FIELDS),
    cache_ttl_s=30.0,
)
