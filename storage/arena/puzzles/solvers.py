"""Stores each solver's ratings, current positions and schedule of repetitions.

The caller owns the transaction.
"""

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.arena.puzzles.positions import PuzzleRating, left_out
from storage.inserts import insert_new
from storage.tables.puzzles import PuzzleReview, PuzzleSolver


@dataclass(frozen=True, slots=True)
class SolverRecord:
    """A person's state in one game."""

    strength: PuzzleRating
    position_id: int | None
    """Id of the position that the person is to solve; None if none has been chosen."""


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """A person's attempts at a position; the fields are columns of the table."""

    answers: int = 0
    """Number of attempts of all kinds, including views of the solution."""
    has_hint: bool = False
    """Whether the person used the hint before the first answer."""
    stage: int | None = None
    """Number of correct answers to due reviews since the last miss; None if the position was never missed."""
    due_at: datetime | None = None
    """When to show the position again; None for never."""


async def get_solver(
    session: AsyncSession, account_id: str, game: str, *, is_locked: bool = False
) -> SolverRecord | None:
    """A person's state in one game; None before the first position.

    Args:
        session: The transaction.
        account_id: The person.
        game: The game's name.
        is_locked: Whether to lock the row until the caller commits.
    """
    statement: Select[PuzzleSolver] = select(PuzzleSolver).where(
        PuzzleSolver.account_id == account_id, PuzzleSolver.game == game
    )
    statement = statement.execution_options(populate_existing=True)
    row = await session.scalar(statement.with_for_update() if is_locked else statement)
    if row is None:
        return None
    strength = PuzzleRating(row.rating, row.deviation, row.volatility, row.answers, row.solved)
    return SolverRecord(strength, row.position_id)


async def lock_solver(
    session: AsyncSession, account_id: str, game: str, newcomer: PuzzleRating
) -> SolverRecord:
    """Lock and return a person's state in one game; the lock lasts until the caller commits.

    A missing row is first inserted with the rating `newcomer`, because only an existing row can be locked.
    """
    solver = await get_solver(session, account_id, game, is_locked=True)
    if solver is None:
        await insert_new(
            session,
            PuzzleSolver,
            account_id=account_id,
            game=game,
            **asdict(newcomer),
            position_id=None,
        )
        solver = await get_solver(session, account_id, game, is_locked=True)
    assert solver is not None  # noqa: S101 - nobody deletes one
    return solver


async def save_solver(session: AsyncSession, account_id: str, game: str, found: SolverRecord) -> None:
    """Store all columns of a person's row."""
    await session.merge(
        PuzzleSolver(
            account_id=account_id, game=game, **asdict(found.strength), position_id=found.position_id
        )
    )
    await session.flush()


async def get_review(session: AsyncSession, account_id: str, position_id: int) -> ReviewRecord | None:
    """A person's attempts at a position; None if there are none."""
    row = await session.get(PuzzleReview, (account_id, position_id), populate_existing=True)
    return None if row is None else ReviewRecord(row.answers, row.has_hint, row.stage, row.due_at)


async def save_review(
    session: AsyncSession, account_id: str, position_id: int, game: str, found: ReviewRecord
) -> None:
    """Store all columns of a person's attempts at a position."""
    await session.merge(
        PuzzleReview(account_id=account_id, position_id=position_id, game=game, **asdict(found))
    )
    await session.flush()


async def due_position(
    session: AsyncSession, account_id: str, game: str, now: datetime, without: Collection[int] = ()
) -> int | None:
    """Id of the position that has been due for the longest time; None if no position is due."""
    statement = select(PuzzleReview.position_id).where(
        *_of(account_id, game), PuzzleReview.due_at <= now, *left_out(PuzzleReview.position_id, without)
    )
    return await session.scalar(statement.order_by(PuzzleReview.due_at, PuzzleReview.position_id).limit(1))
    return await session.scalar(statement.order_by(PuzzleReview.due_at, PuzzleReview.position_id).limit(1))


async def count_due(session: AsyncSession, account_id: str, game: str, now: datetime) -> int:
    """Number of positions that are due."""
    statement = select(func.count()).where(*_of(account_id, game), PuzzleReview.due_at <= now)
    return await session.scalar(statement) or 0


async def next_due_at(session: AsyncSession, account_id: str, game: str) -> datetime | None:
    """When the next repetition is due, possibly in the past; None if no repetition is scheduled."""
    statement = (
        select(PuzzleReview.due_at)
        .where(*_of(account_id, game), PuzzleReview.due_at.is_not(None))
        .order_by(PuzzleReview.due_at)
        .limit(1)
    )
    return await session.scalar(statement)


def _of(account_id: str, game: str) -> tuple[ColumnElement[bool], ...]:
    return PuzzleReview.account_id == account_id, PuzzleReview.game == game
