"""The games of people as `storage.evidence.inference.suspects` sees them, and their flags.

The rules compare a game with the person's other games and with those of other accounts, so all games are
read, whatever a report selects; matches between programs and aborted games are left out.
"""

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import and_, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.inference.suspects import (
    COPIED_PLIES,
    COPIED_WITHIN,
    NO_SUSPECTS,
    SuspectGames,
    suspects,
)
from storage.evidence.reading import SHOWN, read_games
from storage.evidence.replies import GameArray
from storage.records import GameStatus
from storage.tables.games import GameRow, OpponentRow

_WHICH = GameRow.state != GameStatus.ABORTED, SHOWN
_LEAST_LENGTH = 2 * COPIED_PLIES - 1
"""Characters of `COPIED_PLIES` moves, of a letter each, and the spaces between them: the fewest there are."""
_BATCH = 500
"""Openings in one statement."""


async def suspect_games(session: AsyncSession, played: GameArray | None = None) -> SuspectGames:
    """The flags of all games with people; programs have none.

    Args:
        session: Of the transaction.
        played: All games but aborted ones and matches between programs; None: they are read.
    """
    games = (await read_games(session, *_WHICH)).games if played is None else played
    of_programs = games["id"][await are_programs(session, games["person"])]
    return suspects(games).where(lambda keys: ~np.isin(keys, of_programs))


async def suspect_games_of(session: AsyncSession, opponent: int) -> SuspectGames:
    """The flags of one opponent's games, as `suspect_games` finds them, without looking at all games.

    Args:
        session: Of the transaction.
        opponent: Key of the opponent's account.
    """
    if await session.scalar(select(OpponentRow.is_bot).where(OpponentRow.id == opponent)) is not False:
        return NO_SUSPECTS
    own = await session.execute(
        select(GameRow.started_at, func.substr(GameRow.moves, 1, _LEAST_LENGTH).label("opening")).where(
            GameRow.opponent_id == opponent
        )
    )
    begun = [(row.started_at, row.opening) for row in own if len(row.opening) == _LEAST_LENGTH]
    # All that a game of theirs can be copied from; these games' own flags do not matter.
    theirs = GameRow.opponent_id == opponent
    sources = [
        and_(
            ~theirs,
            func.substr(GameRow.moves, 1, _LEAST_LENGTH).in_({opening for _, opening in some}),
            GameRow.started_at >= min(at for at, _ in some) - COPIED_WITHIN,
            GameRow.started_at <= max(at for at, _ in some),
        )
        for some in (begun[start : start + _BATCH] for start in range(0, len(begun), _BATCH))
    ]
    games = (await read_games(session, or_(theirs, *sources), *_WHICH)).games
    mine = games["id"][games["person"] == opponent]
    return suspects(games).where(lambda keys: np.isin(keys, mine))


async def are_programs(session: AsyncSession, persons: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each key of an opponent's account, whether it is a program's."""
    programs = await session.scalars(select(OpponentRow.id).where(OpponentRow.is_bot.is_(True)))
    return np.isin(persons, np.array(list(programs), np.int64))
