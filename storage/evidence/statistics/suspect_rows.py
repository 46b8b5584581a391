"""Prepares games with people for `storage.evidence.inference.suspects`, and returns their flags.

The rules compare a game with the person's other games and with other accounts' games, so all games are read,
even for a report on a selection; aborted games and games between programs are excluded.
"""

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.evidence.inference.suspects import Flags, suspects
from storage.evidence.reading import NOT_A_MATCH, read_games
from storage.records import GameStatus
from storage.tables.games import GameRow, OpponentRow


async def suspect_games(session: AsyncSession) -> Flags:
    """Flags of all games against people; games against programs are never flagged."""
    games = (await read_games(session, GameRow.state != GameStatus.ABORTED, NOT_A_MATCH)).games
    programs = set(games["id"][await are_programs(session, games["person"])].tolist())
    return {key: flags for key, flags in suspects(games).items() if key not in programs}


async def are_programs(session: AsyncSession, persons: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each opponent account, given by its key, whether it belongs to a program."""
    programs = await session.scalars(select(OpponentRow.id).where(OpponentRow.is_bot.is_(True)))
    return np.isin(persons, np.array(list(programs), np.int64))
