"""Puzzle positions: imports them from finished games and selects them for a person.

A puzzle position arises when our move in an arena game sets a bait (`engine.bait_rule`) and a person's reply
is not good by the judge (`engine.judge`). Positions reached by the same moves are stored once.
Each such reply is stored with the decision from which the position can be shown. A position is shown only if
the present version of the judge has judged all replies to that decision.

Rows are created when a game is judged, and for older games in one import
(`bot.arena.puzzles.puzzle_importer`), so that selecting a puzzle reads neither decisions nor forecasts. The
caller owns the transaction.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.judge import JUDGE_VERSION, MIN_SMALL_COST
from storage.evidence.game_records import is_classified, line_key, named_bait
from storage.filters import standing_conditions
from storage.inserts import insert_all_new, insert_new
from storage.ledger.judgements import judgement_of_decision
from storage.records import GameStatus, from_row
from storage.tables.arena import ArenaGame
from storage.tables.games import (
    DecisionRow,
    ForecastRow,
    GameRow,
    JudgedGameRow,
    JudgementRow,
    OpponentRow,
    OutcomeRow,
)
from storage.tables.puzzles import PuzzleMistake, PuzzlePosition, PuzzleReview, SearchedGame


@dataclass(frozen=True, slots=True)
class NewMistake:
    """A taken bait that the trainer has not imported yet."""

    decision_id: int
    game_id: int
    opponent_id: int
    opponent_rating: int | None
    game: str
    key: int
    """See `position_key`."""
    probability: float
    """Forecast probability that people take the bait in this position."""


@dataclass(frozen=True, slots=True)
class PuzzleRating:
    """The trainer's rating of a position or a person; both tables have these fields as columns."""

    rating: float
    deviation: float
    volatility: float
    answers: int = 0
    """Number of rated answers."""
    solved: int = 0
    """Number of rated answers that were correct."""


@dataclass(frozen=True, slots=True)
class PuzzleSource:
    """The decision from which a position can be shown."""

    position_id: int
    decision_id: int
    game_id: int
    site_game_id: str
    ply: int
    """Number of moves before our move that set the bait."""


def position_key(game: str, initial_position: str | None, moves: Sequence[str], move: str) -> int:
    """A hash of a starting position and moves; if either differs, so does the hash.

    Args:
        game: The game's name.
        initial_position: Starting position; None for the standard one.
        moves: The moves before ours.
        move: Our move.
    """
    return line_key(game, initial_position, moves, move, "")


# --- Taking up ------------------------------------------------------------------------------------------


async def list_pending(session: AsyncSession, site: str, after: int, limit: int) -> list[int]:
    """Keys of the arena's judged games that are not imported yet: ascending and greater than `after`."""
    statement = (
        select(GameRow.id)
        .outerjoin(SearchedGame, SearchedGame.game_id == GameRow.id)
        .where(
            GameRow.site == site,
            GameRow.id > after,
            GameRow.is_settled.is_(True),
            _is_judged(),
            SearchedGame.game_id.is_(None),
        )
    )
    return list(await session.scalars(statement.order_by(GameRow.id).limit(limit)))


async def mark_imported(session: AsyncSession, games: Collection[int]) -> None:
    """Mark the games with these keys as imported."""
    await insert_all_new(session, SearchedGame, [{"game_id": game_id} for game_id in games])


async def list_baits(session: AsyncSession, games: Collection[int]) -> list[int]:
    """Keys, ascending, of the decisions that set a bait in the games with these keys."""
    statement = (
        select(ForecastRow.decision_id)
        .join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        .where(ForecastRow.bait.is_not(None), DecisionRow.game_id.in_(games))
        .order_by(ForecastRow.decision_id)
    )
    return list(await session.scalars(statement)) if games else []


async def list_new_mistakes(session: AsyncSession, site: str, decisions: Collection[int]) -> list[NewMistake]:
    """The taken baits of these decisions that are not imported yet.

    Args:
        session: The transaction.
        site: The arena's `site` in our records.
        decisions: Keys of the decisions.
    """
    rows = await session.execute(
        select(
            DecisionRow.id,
            DecisionRow.game_id,
            DecisionRow.ply,
            DecisionRow.move,
            GameRow.game,
            GameRow.initial_position,
            GameRow.moves,
            GameRow.opponent_id,
            GameRow.opponent_rating,
            ForecastRow.bait_expected,
        )
        .select_from(DecisionRow)
        .join(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(JudgementRow, judgement_of_decision())
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(OpponentRow, OpponentRow.id == GameRow.opponent_id)
        .outerjoin(PuzzleMistake, PuzzleMistake.decision_id == DecisionRow.id)
        .where(
            DecisionRow.id.in_(decisions),
            *named_bait(),
            is_classified(),
            OutcomeRow.reply.is_not(None),
            JudgementRow.cost >= MIN_SMALL_COST,
            GameRow.site == site,
            GameRow.state == GameStatus.FINISHED,
            GameRow.is_settled.is_(True),
            OpponentRow.is_bot.is_(False),
            PuzzleMistake.decision_id.is_(None),
        )
        .order_by(DecisionRow.id)
    )
    return [_new_mistake(row) for row in rows]


def _new_mistake(row: Any) -> NewMistake:
    before = row.moves.split(" ", row.ply)[: row.ply] if row.ply else []
    return from_row(
        NewMistake,
        row,
        decision_id=row.id,
        key=position_key(row.game, row.initial_position, before, row.move),
        probability=row.bait_expected,
    )


async def import_positions(
    session: AsyncSession, mistakes: Sequence[NewMistake], start: Callable[[NewMistake], PuzzleRating]
) -> int:
    """Store taken baits, and their positions if they are new.

    Args:
        session: The transaction.
        mistakes: The taken baits; those already stored are skipped.
        start: Initial difficulty of a new position.

    Returns:
        Number of taken baits that are new.
    """
    count = 0
    for mistake in mistakes:
        position_id = await _position_of(session, mistake, start)
        inserted = await insert_new(
            session,
            PuzzleMistake,
            decision_id=mistake.decision_id,
            game_id=mistake.game_id,
            position_id=position_id,
            opponent_id=mistake.opponent_id,
        )
        count += inserted is not None
    return count


async def _position_of(
    session: AsyncSession, mistake: NewMistake, start: Callable[[NewMistake], PuzzleRating]
) -> int:
    """Return the database key of the position in which a bait was taken; insert the position if it is new."""
    statement = select(PuzzlePosition.id).where(PuzzlePosition.key == mistake.key)
    position_id = await session.scalar(statement)
    if position_id is None:
        position_id = await insert_new(
            session,
            PuzzlePosition,
            key=mistake.key,
            game=mistake.game,
            **asdict(start(mistake)),
            bait_line=None,
        )
    if position_id is None:  # another transaction has inserted it since the query
        position_id = (await session.execute(statement)).scalar_one()
    return position_id


async def max_judged_game_id(session: AsyncSession, site: str) -> int:
    """The largest key K such that all arena games with keys up to K are judged and no more can be added."""
    is_pending = or_(GameRow.is_settled.is_(False), ~_is_judged())
    oldest = select(func.min(GameRow.id)).where(GameRow.site == site, is_pending)
    statement = select(func.coalesce(oldest.scalar_subquery() - 1, func.max(GameRow.id), 0))
    return await session.scalar(statement) or 0


async def find_game(session: AsyncSession, site: str, site_game_id: str) -> tuple[int, bool] | None:
    """An arena game's key in our records, and whether the game is judged; None if we did not play it."""
    statement = select(GameRow.id, and_(GameRow.is_settled, _is_judged()).label("is_judged"))
    row = (
        await session.execute(
            statement.where(GameRow.site == site, GameRow.site_game_id == site_game_id).limit(1)
        )
    ).first()
    return None if row is None else (row.id, bool(row.is_judged))


# --- Choosing -------------------------------------------------------------------------------------------


def is_public() -> ColumnElement[bool]:
    """Whether the game in a row of `ArenaGame` is public, that is, over."""
    return ArenaGame.ended_at.is_not(None)


async def next_untried_mistake(
    session: AsyncSession, account_id: str, game: str, site: str, without: Collection[int] = ()
) -> int | None:
    """The position in which the person took a bait most often, and the latest of these.

    Only positions that they have not yet tried to solve.

    Args:
        session: The transaction.
        account_id: The person.
        game: The game's name.
        site: The arena's `site` in our records.
        without: Positions to exclude.
    """
    statement = (
        select(PuzzleMistake.position_id)
        .join(OpponentRow, OpponentRow.id == PuzzleMistake.opponent_id)
        .join(PuzzlePosition, PuzzlePosition.id == PuzzleMistake.position_id)
        .join(JudgementRow, _judgement_of_mistake())
        .where(
            *_is_person(account_id, site),
            PuzzlePosition.game == game,
            *left_out(PuzzlePosition.id, without),
            ~_is_reviewed(account_id, PuzzleMistake.position_id),
        )
        .group_by(PuzzleMistake.position_id)
        .order_by(func.count().desc(), func.max(PuzzleMistake.decision_id).desc())
        .limit(1)
    )
    return await session.scalar(statement)


async def list_near(
    session: AsyncSession,
    game: str,
    rating: float,
    limit: int,
    account_id: str | None = None,
    without: Collection[int] = (),
) -> list[int]:
    """The positions from public games with the ratings closest to the person's, above and below.

    Args:
        session: The transaction.
        game: The game's name.
        rating: The person's rating.
        limit: Maximum number of positions on each side of the rating.
        account_id: The person, who is shown no position twice; None without an account.
        without: Positions to exclude.
    """
    keys: list[int] = []
    for is_above in (True, False):
        column = PuzzlePosition.rating
        statement = select(PuzzlePosition.id).where(
            PuzzlePosition.game == game,
            column >= rating if is_above else column < rating,
            *left_out(PuzzlePosition.id, without),
            _has_public_mistake(),
        )
        if account_id is not None:
            statement = statement.where(~_is_reviewed(account_id, PuzzlePosition.id))
        order = (column, PuzzlePosition.id) if is_above else (column.desc(), PuzzlePosition.id.desc())
        keys += await session.scalars(statement.order_by(*order).limit(limit))
    return keys


async def list_of_game(session: AsyncSession, game_id: int) -> list[int]:
    """Keys of a game's positions in which our opponent took a bait, in order of play."""
    statement = (
        select(PuzzleMistake.position_id)
        .where(PuzzleMistake.game_id == game_id)
        .order_by(PuzzleMistake.decision_id)
    )
    return list(dict.fromkeys(await session.scalars(statement)))


async def find_source(
    session: AsyncSession, position_id: int, account_id: str | None, site: str, *, has_others: bool = True
) -> PuzzleSource | None:
    """The game to show with a position: the first in which the person took the bait, or else a public game.

    Args:
        session: The transaction.
        position_id: The position.
        account_id: The person; None without an account.
        site: The arena's `site` in our records.
        has_others: Whether people are allowed to see games of others.

    Returns:
        The game and decision; None if there is no game that this person may see.
    """
    own = select(OpponentRow.id).where(*_is_person(account_id or "", site))
    is_own = PuzzleMistake.opponent_id.in_(own)
    statement = (
        select(
            PuzzleMistake.decision_id,
            PuzzleMistake.game_id,
            GameRow.site_game_id,
            DecisionRow.ply,
        )
        .join(DecisionRow, DecisionRow.id == PuzzleMistake.decision_id)
        .join(JudgementRow, judgement_of_decision())
        .join(GameRow, GameRow.id == PuzzleMistake.game_id)
        .where(PuzzleMistake.position_id == position_id, *standing_conditions())
        .order_by(PuzzleMistake.decision_id)
        .limit(1)
    )
    public = exists().where(ArenaGame.id == GameRow.site_game_id, is_public())
    wanted = [statement.where(public)] if has_others else []
    if account_id is not None:
        wanted.insert(0, statement.where(is_own))
    for each in wanted:
        row = (await session.execute(each)).first()
        if row is not None:
            return PuzzleSource(position_id, row.decision_id, row.game_id, row.site_game_id, row.ply)
    return None


async def took_bait_in_game(session: AsyncSession, position_id: int, account_id: str, site: str) -> bool:
    """Whether a person took this position's bait in a game, and so may have seen the solution."""
    statement = (
        select(literal(1))
        .select_from(PuzzleMistake)
        .join(OpponentRow, OpponentRow.id == PuzzleMistake.opponent_id)
        .where(PuzzleMistake.position_id == position_id, *_is_person(account_id, site))
        .limit(1)
    )
    return await session.scalar(statement) is not None


# --- One position ---------------------------------------------------------------------------------------


async def get_position_rating(
    session: AsyncSession, position_id: int, *, is_locked: bool = False
) -> PuzzleRating | None:
    """The difficulty of a position.

    Args:
        session: The transaction.
        position_id: The position.
        is_locked: Whether to lock the row until the caller commits.
    """
    statement = select(
        PuzzlePosition.rating,
        PuzzlePosition.deviation,
        PuzzlePosition.volatility,
        PuzzlePosition.answers,
        PuzzlePosition.solved,
    ).where(PuzzlePosition.id == position_id)
    if is_locked:
        statement = statement.with_for_update()
    row = (await session.execute(statement)).first()
    return None if row is None else PuzzleRating(*row)


async def save_position_rating(session: AsyncSession, position_id: int, found: PuzzleRating) -> None:
    """Set the difficulty of a position."""
    await session.execute(
        update(PuzzlePosition).where(PuzzlePosition.id == position_id).values(**asdict(found))
    )


async def get_game_name(session: AsyncSession, position_id: int) -> str | None:
    """The name of the game, such as ``othello``, to which a position belongs."""
    return await session.scalar(select(PuzzlePosition.game).where(PuzzlePosition.id == position_id))


async def get_bait_line(session: AsyncSession, position_id: int) -> str | None:
    """The continuation after the bait; None if not computed yet."""
    return await session.scalar(select(PuzzlePosition.bait_line).where(PuzzlePosition.id == position_id))


async def save_bait_line(session: AsyncSession, position_id: int, line: str) -> None:
    """Store the continuation after the bait."""
    await session.execute(
        update(PuzzlePosition).where(PuzzlePosition.id == position_id).values(bait_line=line)
    )


def left_out(position_id: Any, without: Collection[int]) -> tuple[ColumnElement[bool], ...]:
    """A condition that excludes these keys, or none if there are no keys: empty lists slow queries down."""
    return (position_id.not_in(without),) if without else ()


def _is_person(account_id: str, site: str) -> tuple[ColumnElement[bool], ...]:
    return OpponentRow.site == site, OpponentRow.site_id == account_id


def _is_reviewed(account_id: str, position_id: Any) -> ColumnElement[bool]:
    return exists().where(PuzzleReview.account_id == account_id, PuzzleReview.position_id == position_id)


def _is_judged() -> ColumnElement[bool]:
    """Condition on `GameRow`: this version of the judge has judged the game."""
    judged = JudgedGameRow.game_id == GameRow.id, JudgedGameRow.version == JUDGE_VERSION
    return select(literal(1)).where(*judged).correlate(GameRow).exists()


def _judgement_of_mistake() -> ColumnElement[bool]:
    """Joins a mistake with its judgement by this version of the judge."""
    return and_(JudgementRow.decision_id == PuzzleMistake.decision_id, JudgementRow.version == JUDGE_VERSION)


def _has_public_mistake() -> ColumnElement[bool]:
    return exists(
        select(literal(1))
        .select_from(PuzzleMistake)
        .join(GameRow, GameRow.id == PuzzleMistake.game_id)
        .join(ArenaGame, ArenaGame.id == GameRow.site_game_id)
        .join(JudgementRow, _judgement_of_mistake())
        .where(PuzzleMistake.position_id == PuzzlePosition.id, is_public())
        .correlate(PuzzlePosition)
    )
