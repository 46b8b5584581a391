"""Queries about the arena's accounts and games. The caller owns the transaction."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, insert, or_, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from storage.records import columns_of, from_row
from storage.tables.arena import ArenaAccess as ArenaAccess
from storage.tables.arena import ArenaAccount, ArenaChatLine, ArenaElapsed, ArenaGame, ArenaRating
from storage.tables.types import now_utc

STARTED = "started"
"""Status of a game that is still running."""


class AccountTaken(Exception):
    """Another account already has this name."""


@dataclass(frozen=True, slots=True)
class RatingRecord:
    """An account's Glicko-2 rating in one variant."""

    rating: float
    deviation: float
    volatility: float
    games: int
    """Number of rated games so far."""


@dataclass(frozen=True, slots=True)
class AccountRecord:
    """An account with its ratings."""

    id: str
    name: str
    is_bot: bool
    created_at: datetime
    ratings: Mapping[str, RatingRecord] = field(default_factory=dict)
    """Ratings, keyed by variant; variants without a rated game are absent."""
    access: ArenaAccess = ArenaAccess.ACTIVE


@dataclass(frozen=True, slots=True)
class ArenaGameRecord:
    """The stored state of a game; every pair is (side that moves first, other side)."""

    id: str
    variant: str
    rated: bool
    initial_s: int | None
    """Initial clock time in seconds; None, together with `increment_s`, if there is no clock."""
    increment_s: int | None
    players: tuple[str, str]
    """The account ids of the players."""
    ratings: tuple[int, int]
    """Ratings at the start of the game."""
    provisional: tuple[bool, bool]
    rematch_of: str | None
    moves: tuple[str, ...]
    remaining_ms: tuple[int, int] | None
    """Milliseconds left on the sides' clocks after the last move."""
    draw_offers: tuple[bool, bool]
    takeback_offers: tuple[bool, bool]
    status: str
    winner: int | None
    rating_diffs: tuple[int, int] | None
    created_at: datetime
    last_move_at: datetime
    ended_at: datetime | None
    initial_fen: str | None = None
    """Starting position; None for the game's standard starting position."""
    unrated: str | None = None
    """Why a rated game did not change the ratings."""
    turn_began_ms: int | None = None
    """Reading of the arena's clock when the side to move began to think; None if unknown."""


@dataclass(frozen=True, slots=True)
class SavedTime:
    """The arena's time as last saved, and the date and time of the save."""

    elapsed_ms: int
    at: datetime | None
    """None: never."""
    open_games: int


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """One line of a game's chat."""

    account_id: str
    name: str
    room: str
    text: str


# --- Accounts -------------------------------------------------------------------------------------------


async def add_account(
    session: AsyncSession,
    *,
    account_id: str,
    name: str,
    is_bot: bool,
    token_hash: str,
    created_at: datetime,
    access: ArenaAccess = ArenaAccess.ACTIVE,
) -> None:
    """Add an account.

    Raises:
        AccountTaken: The id is taken; this transaction can no longer be used.
    """
    row = {
        "id": account_id,
        "name": name,
        "is_bot": is_bot,
        "token_hash": token_hash,
        "created_at": created_at,
        "access": access,
    }
    try:
        await session.execute(insert(ArenaAccount).values(row))
    except IntegrityError as error:
        raise AccountTaken(f"the name {name} is taken") from error


async def get_account(session: AsyncSession, account_id: str) -> AccountRecord | None:
    """The account with the specified id."""
    accounts = await _accounts(session, ArenaAccount.id == account_id, 1)
    return accounts[0] if accounts else None


async def list_accounts_by_id(session: AsyncSession, ids: Collection[str]) -> list[AccountRecord]:
    """The accounts with these ids; unknown ids are ignored."""
    return await _accounts(session, ArenaAccount.id.in_(ids), None)


async def find_account_id_by_token(session: AsyncSession, token_hash: str) -> str | None:
    """Id of the account to which the token belongs; None if the token is unknown."""
    return await session.scalar(select(ArenaAccount.id).where(ArenaAccount.token_hash == token_hash))


async def find_tokens(session: AsyncSession, token_hashes: Collection[str]) -> dict[str, str]:
    """Ids of the accounts to which tokens belong, keyed by token hash; unknown tokens are absent."""
    rows = await session.execute(
        select(ArenaAccount.token_hash, ArenaAccount.id).where(ArenaAccount.token_hash.in_(token_hashes))
    )
    return {row.token_hash: row.id for row in rows}


async def try_writing(session: AsyncSession) -> None:
    """Write and delete a row, so that the commit fails if the disk is full or read-only."""
    probe = {"id": "?", "name": "?", "is_bot": False, "token_hash": "?", "created_at": now_utc()}
    await session.execute(insert(ArenaAccount).values(probe))
    await session.execute(delete(ArenaAccount).where(ArenaAccount.id == probe["id"]))


async def list_accounts(session: AsyncSession) -> list[AccountRecord]:
    """All accounts, ordered by id, including deleted ones."""
    return await _accounts(session, true(), None)


async def set_token(session: AsyncSession, account_id: str, token_hash: str) -> None:
    """Give the account a new token, which invalidates the old one."""
    await session.execute(
        update(ArenaAccount).where(ArenaAccount.id == account_id).values(token_hash=token_hash)
    )


async def make_bot(session: AsyncSession, account_id: str) -> None:
    """Turn a person's account into a program account."""
    await session.execute(update(ArenaAccount).where(ArenaAccount.id == account_id).values(is_bot=True))


async def _accounts(
    session: AsyncSession, where: ColumnElement[bool], limit: int | None
) -> list[AccountRecord]:
    wanted = select(ArenaAccount).where(where).order_by(ArenaAccount.id).limit(limit).subquery()
    rating = (
        ArenaRating.variant, ArenaRating.rating, ArenaRating.deviation, ArenaRating.volatility,
        ArenaRating.games,
    )  # fmt: skip
    rows = await session.execute(
        select(wanted, *rating)
        .outerjoin(ArenaRating, ArenaRating.account_id == wanted.c.id)
        .order_by(wanted.c.id)
    )  # fmt: skip
    accounts: dict[str, AccountRecord] = {}
    ratings: dict[str, dict[str, RatingRecord]] = {}
    for row in rows:
        own = ratings.setdefault(row.id, {})
        accounts.setdefault(
            row.id, AccountRecord(row.id, row.name, row.is_bot, row.created_at, own, row.access)
        )
        if row.variant is not None:
            own[row.variant] = RatingRecord(row.rating, row.deviation, row.volatility, row.games)
    return list(accounts.values())


async def save_rating(session: AsyncSession, account_id: str, variant: str, rating: RatingRecord) -> None:
    """Set an account's rating in a variant."""
    await session.merge(ArenaRating(account_id=account_id, variant=variant, **columns_of(rating)))
    await session.flush()


async def delete_rating(session: AsyncSession, account_id: str, variant: str) -> None:
    """Reset an account's rating in a variant to that of a new account."""
    own = (ArenaRating.account_id == account_id) & (ArenaRating.variant == variant)
    await session.execute(delete(ArenaRating).where(own))


# --- Games ----------------------------------------------------------------------------------------------


async def add_game(session: AsyncSession, game: ArenaGameRecord) -> None:
    """Add a new game."""
    await session.execute(insert(ArenaGame).values(id=game.id, **_fixed(game), **_moving(game)))


async def save_game(session: AsyncSession, game: ArenaGameRecord) -> None:
    """Update all mutable columns of a game."""
    await session.execute(update(ArenaGame).where(ArenaGame.id == game.id).values(**_moving(game)))


async def load_game(session: AsyncSession, game_id: str) -> ArenaGameRecord | None:
    """The game with the specified id, whether running or over."""
    columns = ArenaGame.__table__.columns
    row = (await session.execute(select(*columns).where(ArenaGame.id == game_id))).first()
    return None if row is None else _record(row)


async def list_open_ids(session: AsyncSession) -> list[str]:
    """Ids of the running games, oldest first."""
    ids = select(ArenaGame.id).where(ArenaGame.status == STARTED)
    return list(await session.scalars(ids.order_by(ArenaGame.created_at, ArenaGame.id)))


async def count_games(session: AsyncSession, account_id: str) -> int:
    """The number of games that the account has played, including running games."""
    plays = or_(ArenaGame.first_id == account_id, ArenaGame.second_id == account_id)
    return await session.scalar(select(func.count()).select_from(ArenaGame).where(plays)) or 0


@dataclass(frozen=True, slots=True)
class RatedGame:
    """An earlier rated game of an account, which may still be running."""

    opponent_id: str
    is_provisional: bool
    """Whether the opponent's rating was provisional when the game began."""


async def list_rated_games(
    session: AsyncSession, account_id: str, game: ArenaGameRecord, since: datetime
) -> list[RatedGame]:
    """The rated games that an account began before another game in the same variant.

    A running game counts, so that a player of several games cannot choose which of them come first.

    Args:
        session: The transaction.
        account_id: The account.
        game: The other game.
        since: Include only games that began after this time.
    """
    row, games = ArenaGame, []
    sides = (
        (row.first_id, row.second_id, row.second_provisional),
        (row.second_id, row.first_id, row.first_provisional),
    )
    for own, other, is_provisional in sides:
        statement = select(other, is_provisional).where(
            own == account_id,
            row.variant == game.variant,
            row.rated,
            or_(row.first_diff.is_not(None), row.status == STARTED),
            row.created_at > since,
            row.created_at <= game.created_at,
            row.id != game.id,
        )
        games += [RatedGame(*each) for each in await session.execute(statement)]
    return games


async def best_beaten_rating(
    session: AsyncSession, account_id: str, opponents: Collection[str], variant: str
) -> int:
    """The highest rating, when the game began, of the given opponents that an account has beaten; 0 if none.

    Only games that raised the winner's rating count.
    """
    row, best = ArenaGame, 0
    sides = (
        (0, row.first_id, row.second_id, row.second_rating, row.first_diff),
        (1, row.second_id, row.first_id, row.first_rating, row.second_diff),
    )
    for side, own, other, rating, diff in sides:
        statement = select(func.max(rating)).where(
            own == account_id, other.in_(opponents), row.variant == variant, row.winner == side, diff > 0
        )
        best = max(best, await session.scalar(statement) or 0)
    return best


async def count_games_by_account(session: AsyncSession) -> dict[str, int]:
    """Number of games, including running games, by account id; accounts without games are absent."""
    counts: dict[str, int] = {}
    for side in (ArenaGame.first_id, ArenaGame.second_id):
        for account_id, games in await session.execute(select(side, func.count()).group_by(side)):
            counts[account_id] = counts.get(account_id, 0) + games
    return counts


def _fixed(game: ArenaGameRecord) -> dict[str, Any]:
    return {
        "variant": game.variant,
        "rated": game.rated,
        "initial_s": game.initial_s,
        "increment_s": game.increment_s,
        "first_id": game.players[0],
        "second_id": game.players[1],
        "first_rating": game.ratings[0],
        "second_rating": game.ratings[1],
        "first_provisional": game.provisional[0],
        "second_provisional": game.provisional[1],
        "rematch_of": game.rematch_of,
        "initial_fen": game.initial_fen,
        "created_at": game.created_at,
    }


def _moving(game: ArenaGameRecord) -> dict[str, Any]:
    first_ms, second_ms = game.remaining_ms or (None, None)
    first_diff, second_diff = game.rating_diffs or (None, None)
    return {
        "moves": " ".join(game.moves),
        "first_ms": first_ms,
        "second_ms": second_ms,
        "first_draw": game.draw_offers[0],
        "second_draw": game.draw_offers[1],
        "first_takeback": game.takeback_offers[0],
        "second_takeback": game.takeback_offers[1],
        "status": game.status,
        "winner": game.winner,
        "first_diff": first_diff,
        "second_diff": second_diff,
        "unrated": game.unrated,
        "turn_began_ms": game.turn_began_ms,
        "last_move_at": game.last_move_at,
        "ended_at": game.ended_at,
    }


def _record(row: Row[Any]) -> ArenaGameRecord:
    return from_row(
        ArenaGameRecord,
        row,
        players=(row.first_id, row.second_id),
        ratings=(row.first_rating, row.second_rating),
        provisional=(row.first_provisional, row.second_provisional),
        moves=tuple(row.moves.split()),
        remaining_ms=None if row.first_ms is None else (row.first_ms, row.second_ms),
        draw_offers=(row.first_draw, row.second_draw),
        takeback_offers=(row.first_takeback, row.second_takeback),
        rating_diffs=None if row.first_diff is None else (row.first_diff, row.second_diff),
    )


# --- Time -----------------------------------------------------------------------------------------------


async def load_time(session: AsyncSession) -> SavedTime:
    """The arena's time at its last save or at the start of the latest running turn, whichever is later."""
    row = (await session.execute(select(ArenaElapsed.elapsed_ms, ArenaElapsed.saved_at))).first()
    is_open = ArenaGame.status == STARTED
    latest = await session.scalar(select(func.max(ArenaGame.turn_began_ms)).where(is_open))
    open_games = await session.scalar(select(func.count()).select_from(ArenaGame).where(is_open)) or 0
    if row is None:
        return SavedTime(latest or 0, None, open_games)
    return SavedTime(max(row.elapsed_ms, latest or 0), row.saved_at, open_games)


async def save_time(session: AsyncSession, elapsed_ms: int, at: datetime) -> None:
    """Save the arena's time."""
    await session.merge(ArenaElapsed(id=1, elapsed_ms=elapsed_ms, saved_at=at))
    await session.flush()


# --- Chat -----------------------------------------------------------------------------------------------


async def add_chat(
    session: AsyncSession, game_id: str, *, account_id: str, room: str, text: str, created_at: datetime
) -> None:
    """Store a line of a game's chat."""
    await session.execute(
        insert(ArenaChatLine).values(
            game_id=game_id, account_id=account_id, room=room, text=text, created_at=created_at
        )
    )


async def list_chat(session: AsyncSession, game_id: str, room: str, limit: int) -> list[ChatRecord]:
    """The chat lines in one room of a game, oldest first."""
    rows = await session.execute(
        select(ArenaChatLine.account_id, ArenaAccount.name, ArenaChatLine.room, ArenaChatLine.text)
        .join(ArenaAccount, ArenaAccount.id == ArenaChatLine.account_id)
        .where(ArenaChatLine.game_id == game_id, ArenaChatLine.room == room)
        .order_by(ArenaChatLine.id)
        .limit(limit)
    )
    return [ChatRecord(row.account_id, row.name, row.room, row.text) for row in rows]


async def count_chat(session: AsyncSession, game_id: str) -> int:
    """The number of chat lines in a game."""
    lines = select(func.count()).select_from(ArenaChatLine).where(ArenaChatLine.game_id == game_id)
    return await session.scalar(lines) or 0
