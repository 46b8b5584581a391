"""Stores imported games: each game once, even if it is imported repeatedly or in several formats."""

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.formats.record import GameRecord, clean
from storage.inserts import insert_all_new
from storage.records import from_row
from storage.tables.archive import ImportedGameRow
from storage.tables.types import now_utc

BATCH = 500
"""Maximum number of games held in memory at a time."""


def content_key(record: GameRecord) -> str:
    """A hash that identifies a game by its players, event, place, round, date, start, moves and result.

    Ratings, clocks, evaluations, times and tags are left out, so that a copy of the game that lacks some of
    these has the same key.
    """
    where = [clean(record.place), clean(record.round)]
    return _hash([draw_key(record), *where]) if any(where) else draw_key(record)


def draw_key(record: GameRecord) -> str:
    """A hash for random draws: `content_key` without place and round.

    Halves and samples drawn with earlier versions, whose keys had neither, thus stay as they are.
    """
    results = [None if part is None else float(part) + 0.0 for part in (record.points, record.margin)]
    texts = [clean(text) for text in (*record.players, record.event, record.date)]
    return _hash([record.game, *texts, record.start, record.moves, *results])


def _hash(content: list[Any]) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


async def add_imported_games(
    session: AsyncSession,
    records: Sequence[GameRecord],
    *,
    source: str,
    source_format: str,
) -> int:
    """Store the games that are new, and return their number.

    Args:
        source: Name of the file that the games come from.
    """
    now = now_utc()
    rows = dict[str, dict[str, Any]]()
    for row in map(_row, records):
        rows.setdefault(row["content_key"], row)  # the first copy is kept
    values = [
        {**row, "source": clean(source), "source_format": source_format, "imported_at": now}
        for row in rows.values()
    ]
    return await insert_all_new(session, ImportedGameRow, values)


async def each_game(
    session: AsyncSession, *, game: str | None = None, player: str | None = None
) -> AsyncIterator[GameRecord]:
    """Yield imported games in the order of their import, in batches.

    Args:
        game: Yield only records of this game, by its name in `engine.games`; None for all games.
        player: Yield only games in which a player's name contains this text, ignoring case.
    """
    last = 0
    while True:
        statement = select(ImportedGameRow).where(ImportedGameRow.id > last)
        if game is not None:
            statement = statement.where(ImportedGameRow.game == game)
        if player is not None:
            first, second = ImportedGameRow.first_player, ImportedGameRow.second_player
            statement = statement.where(
                first.icontains(player, autoescape=True) | second.icontains(player, autoescape=True)
            )
        rows = (await session.execute(statement.order_by(ImportedGameRow.id).limit(BATCH))).scalars().all()
        if not rows:
            return
        for row in rows:
            yield record_of_row(row)
        last = rows[-1].id
        session.expunge_all()


def _row(record: GameRecord) -> dict[str, Any]:
    return {
        "content_key": content_key(record),
        "game": record.game,
        "first_player": clean(record.players[0]),
        "second_player": clean(record.players[1]),
        "event": clean(record.event),
        "place": clean(record.place),
        "round": clean(record.round),
        "date": clean(record.date),
        "start": record.start,
        "moves": " ".join(record.moves),
        "points": record.points,
        "margin": record.margin,
        "ending": record.ending,
        "detail": {
            "ratings": list(record.ratings),
            "clocks": [clean(clock) for clock in record.clocks],
            "evaluations": list(record.evaluations),
            "times_s": list(record.times_s),
            "tags": [[clean(name), clean(value)] for name, value in record.tags],
        },
    }


def record_of_row(row: ImportedGameRow) -> GameRecord:
    """The game stored in a row."""
    detail = row.detail
    return from_row(
        GameRecord,
        row,
        players=(row.first_player, row.second_player),
        moves=tuple(row.moves.split()),
        ratings=(detail["ratings"][0], detail["ratings"][1]),
        clocks=(detail["clocks"][0], detail["clocks"][1]),
        evaluations=tuple(detail["evaluations"]),
        times_s=tuple(detail["times_s"]),
        clocks_s=(),
        tags=tuple((name, value) for name, value in detail["tags"]),
    )
