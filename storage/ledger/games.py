"""Stores games before their first move, keeps them in step with the server, and ends each game once."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, Select, bindparam, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import joinedload

from engine.decision import OutcomeKind
from engine.params import Assessment, DecidedScores, Scale, TrapParams
from storage.filters import Filters, filter_conditions
from storage.inserts import core_table, insert_new
from storage.ledger.events import OPPONENT_RENAMED, record_event
from storage.records import (
    AccountKey,
    DecisionState,
    GameResult,
    GameStatus,
    NewGame,
    NonWinLine,
    StoredGame,
    columns_of,
    from_row,
    plausible_rating,
)
from storage.tables.games import (
    DecisionRow,
    EngineConfigRow,
    EventRow,
    GameRow,
    JudgedGameRow,
    OpponentRow,
    OutcomeRow,
)
from storage.tables.puzzles import SearchedGame
from storage.tables.types import now_utc

_MAX_NON_WIN_GAMES = 10_000
"""`list_non_win_lines` considers only this many of the latest games in the database."""
_IDS_PER_QUERY = 500
_CONVERTED = (
    *("opponent_id", "opponent_name", "opponent_is_bot", "our_rating", "opponent_rating"),
    *("params", "engine_version", "selection"),
)
"""Fields of `NewGame` that are stored in a different form or in another table."""

# Built once, and on the table itself, as in `storage.ledger.decisions`.
_GAMES = core_table(GameRow)
_SET_MOVES = update(_GAMES).where(_GAMES.c.id == bindparam("game_id"))


async def open_game(session: AsyncSession, new: NewGame, *, at: datetime | None = None) -> StoredGame:
    """Store a new game and return it; if it is already stored, return the stored game unchanged.

    An implausible rating (`storage.records.plausible_rating`) is stored as unknown.

    Args:
        at: When the game began, as an aware datetime; None for the current time.
    """
    known = await load_game(session, new.owner, new.site_game_id)
    if known is not None:
        return known
    now = at or now_utc()
    former = await _former_name(session, new)
    await insert_new(
        session,
        GameRow,
        **columns_of(new, *_CONVERTED),
        opponent_id=await _opponent_row_id(session, new, now),
        our_rating=plausible_rating(new.our_rating),
        opponent_rating=plausible_rating(new.opponent_rating),
        engine_config_id=await _engine_config_row_id(session, new),
        state=GameStatus.OPEN,
        is_settled=False,
        started_at=now,
        selection=dict(new.selection),
        moves="",
    )
    stored = await load_game(session, new.owner, new.site_game_id)
    assert stored is not None, "inserted here, or by another writer a moment ago"  # noqa: S101
    if former not in (None, new.opponent_name):
        renamed = {"name": former, "new_name": new.opponent_name}
        await record_event(session, new.owner, OPPONENT_RENAMED, renamed, stored.id)
    return stored


async def load_game(session: AsyncSession, owner: AccountKey, site_game_id: str) -> StoredGame | None:
    """An account's game with the given site key; None if it is not stored."""
    statement = games_statement().where(*_of(owner), GameRow.site_game_id == site_game_id)
    row = (await session.execute(statement)).scalar_one_or_none()
    return None if row is None else _stored(row)


async def load_game_by_id(session: AsyncSession, game_id: int) -> StoredGame | None:
    """The game with the given database key; None if there is none."""
    return (await load_games_by_id(session, [game_id])).get(game_id)


async def load_games_by_id(session: AsyncSession, keys: Sequence[int]) -> dict[int, StoredGame]:
    """The games with these keys, by key; deleted games are absent."""
    rows = (await session.execute(games_statement().where(GameRow.id.in_(keys)))).scalars()
    return {row.id: _stored(row) for row in rows}


async def list_games(
    session: AsyncSession, filters: Filters | None = None, limit: int | None = None
) -> list[StoredGame]:
    """Games that match the filters, latest first."""
    statement = games_statement().where(*filter_conditions(filters or Filters()))
    statement = statement.order_by(GameRow.started_at.desc(), GameRow.id.desc()).limit(limit)
    return [_stored(row) for row in (await session.execute(statement)).scalars()]


async def list_non_win_lines(
    session: AsyncSession, owner: AccountKey, game: str, limit: int
) -> list[NonWinLine]:
    """The moves of an account's recent lost and drawn games of one kind, latest first.

    Reads only a limited number of games.
    """
    latest = select(func.max(GameRow.id)).scalar_subquery()
    columns = (GameRow.id, GameRow.initial_position, GameRow.our_side, GameRow.moves)
    statement = (
        select(*columns)
        .where(
            *_of(owner),
            GameRow.game == game,
            GameRow.result.in_((GameResult.LOSS, GameResult.DRAW)),
            GameRow.id > latest - _MAX_NON_WIN_GAMES,
        )
        .order_by(GameRow.id.desc())
        .limit(limit)
    )
    return [
        NonWinLine(row.id, row.initial_position, row.our_side, tuple(row.moves.split()))
        for row in await session.execute(statement)
    ]


async def list_games_by_site_id(
    session: AsyncSession, site_game_id: str, *, is_prefix: bool = False
) -> list[StoredGame]:
    """Games with this game ID of a site, for all accounts and sites; there is rarely more than one.

    Args:
        session: A session of the database.
        site_game_id: The key, case-sensitive.
        is_prefix: Whether to include games whose key merely begins with `site_game_id`.
    """
    key = GameRow.site_game_id
    # Not LIKE, which takes small letters for capitals on SQLite.
    is_it = func.substr(key, 1, len(site_game_id)) == site_game_id if is_prefix else key == site_game_id
    statement = games_statement().where(is_it).order_by(GameRow.id)
    return [_stored(row) for row in (await session.execute(statement)).scalars()]


async def known_site_games(session: AsyncSession, owner: AccountKey, ids: Sequence[str]) -> set[str]:
    """Which of the site's game ids are in the database for an account."""
    known = select(GameRow.site_game_id).where(GameRow.site == owner.site, GameRow.account == owner.name)
    found: set[str] = set()
    for start in range(0, len(ids), _IDS_PER_QUERY):
        part = ids[start : start + _IDS_PER_QUERY]
        found |= set(await session.scalars(known.where(GameRow.site_game_id.in_(part))))
    return found


async def list_open_games(session: AsyncSession, owner: AccountKey) -> list[StoredGame]:
    """An account's games that are still open in the database, oldest first."""
    return [_stored(row) for row in await session.scalars(open_statement(owner))]


async def list_unsettled_games(session: AsyncSession, owner: AccountKey) -> list[StoredGame]:
    """An account's games that are open, or have decisions yet to be judged or forecast, oldest first."""
    return [_stored(row) for row in await session.scalars(unsettled_statement(owner))]


def open_statement(owner: AccountKey) -> Select[GameRow]:
    """Select the games of `list_open_games`."""
    # None of them is settled; the index finds them by that.
    return unsettled_statement(owner).where(GameRow.state == GameStatus.OPEN)


def unsettled_statement(owner: AccountKey) -> Select[GameRow]:
    """Select the games of `list_unsettled_games`."""
    return games_statement().where(*_of(owner), GameRow.is_settled.is_(False)).order_by(GameRow.id)


async def set_moves(session: AsyncSession, game_id: int, moves: Sequence[str]) -> None:
    """Replace the list of moves with the server's list."""
    await session.execute(_SET_MOVES, {"game_id": game_id, "moves": " ".join(moves)})


async def finish_game(
    session: AsyncSession,
    game_id: int,
    *,
    result: GameResult | None,
    end_reason: str | None,
    aborted: bool = False,
    settled: bool = True,
    moves: Sequence[str] | None = None,
    at: datetime | None = None,
) -> bool:
    """End a game; if it has already ended, change nothing and return False.

    Args:
        result: The result from our side; None only for aborted games or if the server does not report it.
        settled: False if decisions are still to be judged or forecast; if so, call `settle_game` later.
        moves: The final list of moves; None to keep the stored list.
        at: When the game ended, as an aware datetime; None for the current time.
    """
    values: dict[str, object] = {
        "state": GameStatus.ABORTED if aborted else GameStatus.FINISHED,
        "is_settled": settled,
        "result": None if aborted else result,
        "end_reason": end_reason,
        "ended_at": at or now_utc(),
    }
    if moves is not None:
        values["moves"] = " ".join(moves)
    statement = update(GameRow).where(GameRow.id == game_id, GameRow.state == GameStatus.OPEN)
    ended = await session.execute(statement.values(**values).returning(GameRow.id))
    return ended.scalar_one_or_none() is not None


async def settle_game(session: AsyncSession, game_id: int) -> None:
    """Mark a game as completely judged and forecast; no change if it is still open."""
    await session.execute(
        update(GameRow).where(GameRow.id == game_id, GameRow.state != GameStatus.OPEN).values(is_settled=True)
    )


async def reopen_game(session: AsyncSession, game_id: int) -> None:
    """Reopen a game that turns out to be still running, and undo the consequences of its recorded end.

    Dropped decisions count again, and an *unanswered* outcome is removed because a reply may still come.
    """
    await session.execute(
        update(GameRow)
        .where(GameRow.id == game_id)
        .values(state=GameStatus.OPEN, is_settled=False, result=None, end_reason=None, ended_at=None)
    )
    # The trainer and the judge look through it again when it is settled.
    for table in (SearchedGame, JudgedGameRow):
        await session.execute(delete(table).where(table.game_id == game_id))
    game = await load_game_by_id(session, game_id)
    plies = 0 if game is None else len(game.moves)
    decisions = DecisionRow.game_id == game_id
    await session.execute(
        update(DecisionRow)
        .where(decisions, DecisionRow.ply >= plies, DecisionRow.state == DecisionState.DROPPED)
        .values(state=DecisionState.COMMITTED)
    )
    await session.execute(
        delete(OutcomeRow).where(
            OutcomeRow.kind == OutcomeKind.UNANSWERED,
            OutcomeRow.decision_id.in_(select(DecisionRow.id).where(decisions)),
        )
    )


async def set_rating_diff(
    session: AsyncSession, owner: AccountKey, site_game_id: str, diff: int | None
) -> None:
    """Store our rating change, which servers report after the game has ended."""
    statement = update(GameRow).where(*_of(owner), GameRow.site_game_id == site_game_id)
    await session.execute(statement.values(rating_diff=diff))


async def count_drawn(
    session: AsyncSession, owner: AccountKey, game: str, opponent_id: str | None = None
) -> dict[str, int]:
    """Number of an account's games for which each of our strategies was chosen at random.

    Excludes aborted games and unused strategies.

    Args:
        opponent_id: Site key of one opponent; None for all opponents.
    """
    statement = select(GameRow.strategy, func.count().label("games")).where(
        *_of(owner),
        GameRow.game == game,
        GameRow.state.in_((GameStatus.OPEN, GameStatus.FINISHED)),
        GameRow.selection["against_opponent"].as_string().is_not(None),
    )
    if opponent_id is not None:
        opponent = select(OpponentRow.id).where(
            OpponentRow.site == owner.site, OpponentRow.site_id == opponent_id
        )
        statement = statement.where(GameRow.opponent_id == opponent.scalar_subquery())
    counts = await session.execute(statement.group_by(GameRow.strategy))
    return {row.strategy: row.games for row in counts}


async def count_bot_games(session: AsyncSession, owner: AccountKey, since: datetime) -> dict[str, int]:
    """The number of games that an account has begun against each bot since `since`, keyed by the bot's key.

    Aborted games are included. Bots without games are absent.
    """
    statement = (
        select(OpponentRow.site_id, func.count().label("games"))
        .join(GameRow, GameRow.opponent_id == OpponentRow.id)
        .where(*_of(owner), GameRow.started_at >= since, OpponentRow.is_bot.is_(True))
        .group_by(OpponentRow.site_id)
    )
    return {row.site_id: row.games for row in await session.execute(statement)}


async def assign_account_to_records(session: AsyncSession, owner: AccountKey) -> None:
    """Assign games and events that earlier versions stored without an account to an account of their site."""
    for table in (GameRow, EventRow):
        statement = update(table).where(table.site == owner.site, table.account == "")
        await session.execute(statement.values(account=owner.name))


def _of(owner: AccountKey) -> tuple[ColumnElement[bool], ...]:
    return GameRow.site == owner.site, GameRow.account == owner.name


def games_statement() -> Select[GameRow]:
    """Select games with everything that `StoredGame` needs."""
    return (
        select(GameRow)
        .options(joinedload(GameRow.opponent), joinedload(GameRow.engine_config))
        .execution_options(populate_existing=True)
    )


async def _former_name(session: AsyncSession, new: NewGame) -> str | None:
    """The opponent's last known name; None if we have never played them."""
    statement = select(OpponentRow.name).where(
        OpponentRow.site == new.site, OpponentRow.site_id == new.opponent_id
    )
    return await session.scalar(statement)


async def _opponent_row_id(session: AsyncSession, new: NewGame, now: datetime) -> int:
    await insert_new(
        session,
        OpponentRow,
        site=new.site,
        site_id=new.opponent_id,
        name=new.opponent_name,
        is_bot=new.opponent_is_bot,
        first_seen_at=now,
    )
    # Accounts are renamed and become bots: the latest values count.
    statement = (
        update(OpponentRow)
        .where(OpponentRow.site == new.site, OpponentRow.site_id == new.opponent_id)
        .values(name=new.opponent_name, is_bot=new.opponent_is_bot)
        .returning(OpponentRow.id)
    )
    return (await session.execute(statement)).scalar_one()


async def _engine_config_row_id(session: AsyncSession, new: NewGame) -> int:
    values = {
        "strategy": new.strategy,
        "engine_version": new.engine_version,
        "threshold_centi": 0,
        **columns_of(new.params),
    }
    inserted = await insert_new(session, EngineConfigRow, **values)
    if inserted is not None:
        return inserted
    return (await session.execute(select(EngineConfigRow.id).filter_by(**values))).scalar_one()


def _stored(row: GameRow) -> StoredGame:
    config = row.engine_config
    return from_row(
        StoredGame,
        row,
        opponent_id=row.opponent.site_id,
        opponent_name=row.opponent.name,
        opponent_is_bot=row.opponent.is_bot,
        params=from_row(
            TrapParams,
            config,
            assessment=Assessment(config.assessment),
            decided=DecidedScores(config.decided),
            scale=Scale(config.scale),
        ),
        engine_version=config.engine_version,
        moves=tuple(row.moves.split()),
    )
