"""Reads what people can see of a trial's games: the waits for our moves, the report's delay, and our manners.

The wait for a move is the time between the confirmations of this move and of our move before, minus the time
that the reply in between took; so it ends when the site shows the move.
"""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from storage.evidence.inference.blindness import VisibleFeatures
from storage.evidence.inference.persons import Codes, Floats
from storage.evidence.queries.sql_time import seconds_between
from storage.evidence.reading import read_columns
from storage.evidence.trials import StoredTrial
from storage.filters import PHASE_PLIES, GamePhase, standing_conditions
from storage.ledger.events import REPORT_LATE
from storage.records import GameResult
from storage.tables.games import DecisionRow, EventRow, GameRow, ReplyTimeRow

_PHASES = 3
"""Number of phases with features of their own; the last one includes all later phases."""
_QUANTILES = (("shortest waits", 0.1), ("longest waits", 0.9), ("longest wait", 1.0))
_PHASE_NAMES = (
    *(f"waits at plies {GamePhase(phase).text}" for phase in range(_PHASES - 1)),
    f"waits from ply {(_PHASES - 1) * PHASE_PLIES + 1} on",
)
FEATURES = (
    *_PHASE_NAMES,
    *(name for name, _ in _QUANTILES),
    *("spread of waits", "use of the clock", "delay of farewell and report", "resignations", "agreed draws"),
)
"""The names of the visible features."""


async def visible_features(session: AsyncSession, trial: StoredTrial) -> VisibleFeatures:
    """Read the visible features of a trial's finished games."""
    of_trial = GameRow.trial_id == trial.id, GameRow.is_settled.is_(True)
    columns = (GameRow.id, GameRow.result, GameRow.end_reason)
    games = (await session.execute(select(*columns).where(*of_trial).order_by(GameRow.id))).all()
    keys = np.array([game.id for game in games], np.int64)
    before = aliased(DecisionRow)
    wait_s = seconds_between(session, before.confirmed_at, DecisionRow.confirmed_at) - ReplyTimeRow.time_s
    statement = (
        select(DecisionRow.game_id, DecisionRow.ply, wait_s.label("wait_s"))
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .join(before, (before.game_id == DecisionRow.game_id) & (before.ply == DecisionRow.ply - 2))
        .join(ReplyTimeRow, ReplyTimeRow.decision_id == before.id)
        .where(*of_trial, *standing_conditions(), before.takeback == 0)
        .where(before.confirmed_at.is_not(None), DecisionRow.confirmed_at.is_not(None))
    )
    waits = await read_columns(session, statement)
    late = await session.execute(
        select(EventRow.game_id, EventRow.detail)
        .join(GameRow, GameRow.id == EventRow.game_id)
        .where(EventRow.kind == REPORT_LATE, *of_trial)
    )
    delays_s = {row.game_id: float(row.detail["after_s"]) for row in late}
    game = np.searchsorted(keys, np.array(waits["game_id"], np.int64)).astype(np.intp)
    of_waits, mean_s = _wait_features(
        len(keys), game, np.array(waits["ply"], np.intp), np.array(waits["wait_s"], np.float64)
    )
    others = [
        (
            delays_s.get(game.id, 0.0),
            game.end_reason == "resignation" and game.result is GameResult.LOSS,
            game.end_reason == "agreement",
        )
        for game in games
    ]
    rest = np.array(others, np.float64).reshape(len(games), 3)
    return VisibleFeatures(FEATURES, keys, np.hstack([of_waits, rest]), mean_s)


def _wait_features(games: int, game: Codes, plies: Codes, waits_s: Floats) -> tuple[Floats, Floats]:
    """The features of the waits, shape (games, features), and the mean wait of each game, shape (games,).

    Args:
        games: Number of games.
        game: Index of each wait's game, shape (n,).
        plies: Ply of each wait's move, shape (n,).
        waits_s: The waits in seconds, shape (n,).
    """
    phases = np.minimum(plies // PHASE_PLIES, _PHASES - 1)
    columns = [
        _quantiles(games, game[phases == phase], waits_s[phases == phase], (0.5,))[0]
        for phase in range(_PHASES)
    ]
    low, high, most = _quantiles(games, game, waits_s, [share for _, share in _QUANTILES])
    counts = np.bincount(game, minlength=games)
    sums = np.bincount(game, waits_s, games)
    mean_s = np.divide(sums, counts, out=np.full(games, np.nan), where=counts > 0)
    return np.stack([*columns, low, high, most, high - low, mean_s], axis=1), mean_s


def _quantiles(games: int, game: Codes, values: Floats, shares: Sequence[float]) -> list[Floats]:
    """Quantiles of each game's values, each of shape (games,); NaN without values."""
    order = np.lexsort((values, game))
    game, values = game[order], values[order]
    counts = np.bincount(game, minlength=games)
    starts = np.cumsum(counts) - counts
    found = []
    for share in shares:
        at = starts + np.ceil(share * counts).astype(np.intp).clip(1) - 1
        found.append(np.where(counts > 0, np.append(values, np.nan)[np.minimum(at, len(values))], np.nan))
    return found
