"""Lists opponents with their games, scores, and baits taken."""

from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from bot.base.rounding import percent
from bot.parts.values import Column, Heading, Part, PartsView, TableCell, TablePart
from bot.text.values_text import ago, iso_time, number
from bot.views.addresses import opponent_path, query_text
from bot.views.games import slips_cell
from bot.views.page import Page, Query
from bot.views.paging import Paging
from storage.database import Database
from storage.evidence.queries.opponents import MIN_RANKED_BAITS, OpponentLine, OpponentOrder, list_opponents

OPPONENTS_PER_PAGE = 50
"""Number of opponents on one page."""
ORDERS = {
    OpponentOrder.LATEST.value: "latest",
    OpponentOrder.GAMES.value: "most games",
    OpponentOrder.MOST_BAITS_TAKEN.value: f"take baits most often (at least {MIN_RANKED_BAITS} baits met)",
    OpponentOrder.SCORE.value: "score most",
}
_COLUMNS = (
    Column("Opponent", is_text=True),
    Column("Games", label="games"),
    Column("Their score", label="their score"),
    Column("Baits taken", label="baits taken"),
    Column("Slips", label="slips"),
    Column("Best rating", label="best rating"),
    Column("Last game", is_text=True),
)


def _row(line: OpponentLine, now: datetime) -> tuple[TableCell | str, ...]:
    address = f"/dash/traps?{query_text({'opponent': line.name, 'site': line.site})}"
    baits: TableCell | str = "no baits"
    if line.baits_set:
        baits = TableCell(f"{line.baits_taken} of {line.baits_set}", link=address)
    return (
        TableCell(
            line.name,
            line.site,
            opponent_path(line.site, line.site_id),
            tags=(("program", ""),) * line.is_bot,
        ),
        TableCell(number(line.games), f"on {line.days} days" if line.days > 1 else ""),
        TableCell(percent(line.score), f"of {line.decided:,}" if line.decided != line.games else ""),
        baits,
        slips_cell(line.slips, line.unjudged),
        "unrated" if line.best_rating is None else str(line.best_rating),
        ago(line.last_at, now),
    )


def _record(line: OpponentLine) -> dict[str, Any]:
    times = {"first_at": iso_time(line.first_at), "last_at": iso_time(line.last_at)}
    return {**asdict(line), "score": line.score, **times}


async def load(database: Database, query: Query) -> PartsView:
    """See `bot.views.page.Page.load`."""
    order = OpponentOrder(query.choice("sort", tuple(ORDERS)))
    paging, now = Paging.of(query, OPPONENTS_PER_PAGE), datetime.now(UTC)
    async with database.read() as session:
        lines = await list_opponents(session, query.filters, order)
    paging = replace(paging, count=len(lines))
    shown = lines[paging.offset : paging.offset + OPPONENTS_PER_PAGE]
    returned, programs = sum(line.returned for line in lines), sum(line.is_bot for line in lines)
    heading = Heading("No opponents match these filters.")
    if lines:
        noun = "opponent" if len(lines) == 1 else "opponents"
        heading = Heading(
            f"{noun}, {returned:,} came back.",
            number(len(lines)),
            f"{programs:,} of them {'is a program' if programs == 1 else 'are programs'}. An opponent came "
            "back if their games began on different days.",
        )
    table = TablePart("", _COLUMNS, tuple(_row(line, now) for line in shown), style="stacked games")
    parts: list[Part] = [heading, paging.choice("First", "sort", ORDERS, order.value)]
    parts += [*([table] if shown else []), *paging.below(query.filters, is_shown=bool(shown))]
    records = [_record(line) for line in shown]
    fields = {"returned": returned, "programs": programs, "opponents": records}
    fields = {"sort": order.value, **paging.to_json(), **fields}
    return PartsView(tuple(parts), lambda: fields, lambda: {"opponents": records})


PAGE = Page("opponents", "/dash/opponents", "Opponents", load, parameters=frozenset({"sort", "page"}))
