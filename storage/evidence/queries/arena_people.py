"""Player data for the arena's pages: games, ratings, replies to traps over time, the best ratings."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, and_, or_, select, union_all
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from storage.evidence.reading import replies_of
from storage.evidence.replies import ReplyTable
from storage.records import GameStatus, from_row
from storage.tables.arena import ArenaAccess, ArenaAccount, ArenaGame, ArenaRating
from storage.tables.games import GameRow, OpponentRow

MAX_CURVE_GAMES = 2000
"""Maximum number of games in a rating curve, which shows the latest rated games."""
MAX_JUDGED_GAMES = 400
"""Replies are read from at most this many of an account's latest games."""
_HIDDEN = (ArenaAccess.BANNED, ArenaAccess.DELETED)


@dataclass(frozen=True, slots=True)
class ArenaGameLine:
    """A game in a list; pairs of values are in the order of the sides."""

    id: str
    variant: str
    rated: bool
    initial_s: int | None
    increment_s: int | None
    players: tuple[str, str]
    """IDs of the accounts."""
    names: tuple[str, str]
    ratings: tuple[int, int]
    provisional: tuple[bool, bool]
    diffs: tuple[int, int] | None
    status: str
    winner: int | None
    created_at: datetime
    initial_fen: str | None
    """See `storage.arena.accounts.ArenaGameRecord`."""


@dataclass(frozen=True, slots=True)
class RatedPlayer:
    """A player's rating in a variant."""

    account_id: str
    name: str
    is_bot: bool
    rating: float
    deviation: float
    games: int


async def list_arena_games(
    session: AsyncSession, account_id: str, limit: int, before: str = ""
) -> list[ArenaGameLine]:
    """The games of an account, including games in progress, the latest first.

    Args:
        session: The transaction's session.
        account_id: Key of the account.
        limit: Maximum number of games.
        before: Only games that began before the game with this ID; all games if the ID is empty or unknown.
    """
    row = ArenaGame
    start = None
    if before:
        start = (await session.execute(select(row.created_at, row.id).where(row.id == before))).first()

    def of_side(side: Any) -> Select[Any]:
        statement = select(row.id, row.created_at).where(side == account_id)
        if start is not None:
            earlier = and_(row.created_at == start.created_at, row.id < start.id)
            statement = statement.where(or_(row.created_at < start.created_at, earlier))
        # A query for each side, so that each finds its games in an index.
        return select(statement.order_by(row.created_at.desc(), row.id.desc()).limit(limit).subquery())

    both = union_all(of_side(row.first_id), of_side(row.second_id)).subquery()
    first, second = aliased(ArenaAccount), aliased(ArenaAccount)
    rows = await session.execute(
        select(*_LISTED, first.name.label("first_name"), second.name.label("second_name"))
        .join(both, both.c.id == row.id)
        .join(first, first.id == row.first_id)
        .join(second, second.id == row.second_id)
        .order_by(row.created_at.desc(), row.id.desc())
        .limit(limit)
    )
    return [_line(each) for each in rows]


_LISTED = (
    *(ArenaGame.id, ArenaGame.variant, ArenaGame.rated, ArenaGame.initial_s, ArenaGame.increment_s),
    *(ArenaGame.first_id, ArenaGame.second_id, ArenaGame.first_rating, ArenaGame.second_rating),
    *(ArenaGame.first_provisional, ArenaGame.second_provisional, ArenaGame.first_diff, ArenaGame.second_diff),
    *(ArenaGame.status, ArenaGame.winner, ArenaGame.created_at, ArenaGame.initial_fen),
)


def _line(row: Row[*tuple[Any, ...]]) -> ArenaGameLine:
    return from_row(
        ArenaGameLine,
        row,
        players=(row.first_id, row.second_id),
        names=(row.first_name, row.second_name),
        ratings=(row.first_rating, row.second_rating),
        provisional=(row.first_provisional, row.second_provisional),
        diffs=None if row.first_diff is None else (row.first_diff, row.second_diff),
    )


async def arena_ratings(session: AsyncSession, account_id: str) -> dict[str, list[tuple[datetime, int]]]:
    """The start time of each rated game of an account and the account's rating after the game, by variant.

    Only the latest games are included, the oldest first.
    """
    row = ArenaGame
    sides = (
        (row.first_id, row.first_rating, row.first_diff),
        (row.second_id, row.second_rating, row.second_diff),
    )
    points: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for player, rating, diff in sides:
        latest = (
            select(row.variant, row.created_at, rating, diff)
            .where(player == account_id, diff.is_not(None))
            .order_by(row.created_at.desc())
            .limit(MAX_CURVE_GAMES)
        )
        for variant, at, before, change in await session.execute(latest):
            points[variant].append((at, before + (change or 0)))
    return {variant: sorted(rated) for variant, rated in points.items()}


async def best_rated(
    session: AsyncSession, variant: str, limit: int, deviations: tuple[float, float]
) -> list[RatedPlayer]:
    """The best ratings in a variant, the highest first; banned accounts are left out.

    Args:
        session: The transaction's session.
        variant: The variant's key.
        limit: Maximum number of players.
        deviations: Only ratings whose deviation is above the first value and at most the second.
    """
    row, player = ArenaRating, ArenaAccount
    rows = await session.execute(
        select(player.id, player.name, player.is_bot, row.rating, row.deviation, row.games)
        .join(player, player.id == row.account_id)
        .where(
            row.variant == variant,
            row.deviation > deviations[0],
            row.deviation <= deviations[1],
            player.access.not_in(_HIDDEN),
        )
        .order_by(row.rating.desc(), player.id)
        .limit(limit)
    )
    return [RatedPlayer(*each) for each in rows]


async def replies_to_us(session: AsyncSession, site: str, account_id: str) -> ReplyTable:
    """An account's latest replies to our moves, from games that are over and fully judged."""
    latest = (
        select(GameRow.id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .where(
            OpponentRow.site == site,
            OpponentRow.site_id == account_id,
            GameRow.state == GameStatus.FINISHED,
            GameRow.is_settled.is_(True),
        )
        .order_by(GameRow.started_at.desc(), GameRow.id.desc())
        .limit(MAX_JUDGED_GAMES)
    )
    return await replies_of(session, GameRow.id.in_(latest))
