"""The confirmed baits of games that are over: a row for each, made with the summary of its game.

The gallery of baits lists a dozen of hundreds of thousands.  Rows of its own (`storage.tables.summaries`)
have what it selects and sorts by, so that it reads neither decisions nor forecasts; and a key of the moves
before each, so that equal baits are found without their games' moves.  A game's rows count only if its
summary is valid; those of other games are made from their decisions whenever they are needed (`set_baits`).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import RULE as FORECAST_RULE
from engine.expected import WHOLE
from storage.damage import read_rows, require_number, require_texts
from storage.evidence.statistics.reply_sums import Floats
from storage.filters import phase_of, standing
from storage.tables.games import DecisionRow, ForecastRow, GameRow

PHASE_COLUMNS = ("phase", "met", "taken", "unanswered", "expected")
"""Of the rows of `bait_phases`: the phase of the reply, 0 for the first; baits with a reply, and those taken;
baits without a reply; how many of those met would be taken by the forecasts."""
_NUMBER = np.dtype("<f8")
_BATCH = 500
"""Games in one statement."""


@dataclass(frozen=True, slots=True)
class SetBait:
    """A move of ours that set a confirmed bait."""

    decision_id: int
    game_id: int
    ply: int
    line: int
    """See `line_key`."""
    surprise: float
    """Probability times cost."""
    cost: int
    """See `storage.tables.games.ForecastRow`, like the next two."""
    expected: float
    is_taken: bool | None
    """None: there was no reply."""

    @property
    def phase(self) -> int:
        """Of the reply, 0 for the first."""
        return phase_of(self.ply + 1)


def named_bait() -> tuple[ColumnElement[bool], ...]:
    """Conditions on `DecisionRow` and `ForecastRow`: the move stands, and set a confirmed bait."""
    return (
        *standing(),
        DecisionRow.is_decided.is_(False),
        ForecastRow.rule == FORECAST_RULE,
        ForecastRow.bait.is_not(None),
    )


def line_key(game: str, initial_position: str | None, moves: Sequence[str], move: str, bait: str) -> int:
    """A number that baits share only if the same moves from the same start led to them.

    Args:
        game: Its name.
        initial_position: None: the usual one.
        moves: Those before ours.
        move: Ours.
        bait: The reply that tempts.

    Returns:
        64 bits with a sign: two different baits of a million share one with a chance of 3e-8.
    """
    text = "\n".join((game, "-" if initial_position is None else f"+{initial_position}", *moves, move, bait))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)


async def set_baits(session: AsyncSession, games: Sequence[int]) -> dict[int, list[SetBait]]:
    """The baits of some games in the order of their decisions, by the game's key; without any: absent.

    Raises:
        RecordError: What is stored of one is damaged; the message names the decision.
    """
    found: dict[int, list[SetBait]] = defaultdict(list)
    for start in range(0, len(games), _BATCH):
        rows = await session.execute(
            select(
                DecisionRow.id,
                DecisionRow.game_id,
                DecisionRow.ply,
                DecisionRow.move,
                ForecastRow.bait,
                ForecastRow.bait_odds,
                ForecastRow.bait_cost,
                ForecastRow.bait_expected,
                ForecastRow.is_taken,
                GameRow.game,
                GameRow.initial_position,
                GameRow.moves,
            )
            .select_from(DecisionRow)
            .join(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            .where(DecisionRow.game_id.in_(games[start : start + _BATCH]), *named_bait())
            .order_by(DecisionRow.id)
        )
        for bait in read_rows("decision", rows, _set_bait):
            found[bait.game_id].append(bait)
    return dict(found)


def _set_bait(row: Any) -> SetBait:
    require_texts(row, "moves", "game", "move", "bait")
    require_number("ply", row.ply, 0, 2**31 - 1)
    require_number("the forecast's bait_odds", row.bait_odds, 0, 1.01)
    require_number("the forecast's bait_cost", row.bait_cost, 0, WHOLE)
    require_number("the forecast's bait_expected", row.bait_expected, -0.01, 1.01)
    before = row.moves.split(" ", row.ply)[: row.ply] if row.ply else []
    return SetBait(
        decision_id=row.id,
        game_id=row.game_id,
        ply=row.ply,
        line=line_key(row.game, row.initial_position, before, row.move, row.bait),
        surprise=row.bait_odds * row.bait_cost,
        cost=row.bait_cost,
        expected=row.bait_expected,
        is_taken=row.is_taken,
    )


def packed_phases(baits: Iterable[SetBait]) -> bytes:
    """How many baits a game had in each phase: rows of `PHASE_COLUMNS`, little-endian numbers of 64 bits."""
    phases: dict[int, list[float]] = defaultdict(lambda: [0.0] * 4)
    for bait in baits:
        sums = phases[bait.phase]
        if bait.is_taken is None:
            sums[2] += 1
        else:
            sums[0] += 1
            sums[1] += bait.is_taken
            sums[3] += bait.expected
    rows = [[phase, *sums] for phase, sums in sorted(phases.items())]
    return np.array(rows, _NUMBER).reshape(-1, len(PHASE_COLUMNS)).tobytes()


def unpacked_phases(data: bytes) -> Floats:
    """The rows of any number of games, packed one after the other; shape (rows, columns).

    Raises:
        ValueError: There is a part of a row.
    """
    return np.asarray(np.frombuffer(data, _NUMBER), np.float64).reshape(-1, len(PHASE_COLUMNS))


PHASE_BYTES = len(PHASE_COLUMNS) * _NUMBER.itemsize
"""The size of a packed row."""
