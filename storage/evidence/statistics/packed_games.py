"""What statistics need of a game itself, packed: a summary has it beside the sums over the game's replies.

A database takes longer to hand over ten columns of tens of thousands of games than to find them, and so does
Python to make arrays of them.  Packed rows of games, one after the other, are an array.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from math import nan
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import LargeBinary, String, Text, case, cast, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncSession

from engine.errors import RecordError
from storage.damage import read_json, read_rows, require_number, require_texts
from storage.evidence.inference.suspects import COPIED_PLIES, NO_OPENING
from storage.evidence.inference.timestamps import microseconds
from storage.evidence.trials import is_own_position
from storage.records import LEAST_RATING, MOST_RATING, GameResult, GameStatus
from storage.tables.games import GameRow

LEFT = ("resignation", "left", "time")
"""How a game ends for whoever leaves it."""
STATES = (GameStatus.FINISHED.value, GameStatus.OPEN.value, GameStatus.ABORTED.value)
"""The column `state` is an index of these."""
FINISHED, OPEN, ABORTED = range(len(STATES))
_RAW = Text().with_variant(LargeBinary(), "sqlite")
"""JSON as it is stored: only SQLite may have what is no text."""
UNKNOWN = np.iinfo(np.int64).min
"""In place of a moment that there is not."""
SCORES = {GameResult.WIN.value: 1.0, GameResult.DRAW.value: 0.5, GameResult.LOSS.value: 0.0, None: nan}
_DAY_US = 86_400_000_000
_BATCH = 500
"""Games in one statement."""

GAME = np.dtype(
    [
        *((name, "<i8") for name in ("id", "person", "config", "trial", "began_us", "ended_us", "opening")),
        *((name, "<f8") for name in ("rating", "our_rating", "score", "optimal_expected")),
        *(
            (name, "<i4")
            for name in ("state", "is_settled", "is_own_position", "plies", "has_left", "outdated")
        ),
        *((name, "<i4") for name in ("is_counted", "timed", "fast", "judged", "optimal")),
    ]
)
"""A game: its key, and those of the opponent's account, of the engine's configuration and of its trial
(`NO_TRIAL`); when it began and ended, in microseconds since 1970 (UTC); `GameBeginning.key`; ratings before
it, and our score, NaN: unknown; its state, and whether nothing is left to judge; whether a challenger set its
position (`storage.evidence.trials`); moves of both sides; whether the person has left; what
`storage.evidence.statistics.facts.count_outdated` counts; and `ReplyCounts`, if they are known."""
NO_TRIAL = 0
"""In place of a trial's key."""
_PACKING = Struct("<7q4d11i")
PackedGames = NDArray[np.void]
"""Rows of `GAME`."""


class Labels(NamedTuple):
    """Texts that many games share."""

    player: str
    game: str
    site: str
    speed: str
    chances: str
    """Of the players: that part of the draw's record (`chances_part`); empty: the game is of no trial."""


@dataclass(frozen=True, slots=True)
class GameBeginning:
    """How a game began."""

    plies: int
    """Of the whole game."""
    key: int | None
    """Games share it only if they were the same for `COPIED_PLIES`; None: it is shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyCounts:
    """What `storage.evidence.inference.suspects.PLAYED` says of the replies in a game."""

    timed: int = 0
    fast: int = 0
    judged: int = 0
    optimal: int = 0
    optimal_expected: float = 0.0


@dataclass(frozen=True, slots=True)
class GameColumns:
    """A game, to be packed."""

    labels: Labels
    keys: tuple[int, ...] = field(repr=False)
    """The first columns of `GAME`."""
    values: tuple[float, ...] = field(repr=False)
    state: tuple[int, ...] = field(repr=False)

    @property
    def labels_text(self) -> str:
        """The labels in one text."""
        return json.dumps(self.labels, separators=(",", ":"))

    def packed(self, counts: ReplyCounts | None = None, outdated: int = 0) -> bytes:
        """The row of `GAME`.

        Args:
            counts: Of its replies; None: they are not known.
            outdated: Decisions that `count_outdated` counts.
        """
        known = counts or ReplyCounts()
        return _PACKING.pack(
            *self.keys,
            *self.values,
            known.optimal_expected,
            *self.state,
            outdated,
            counts is not None,
            known.timed,
            known.fast,
            known.judged,
            known.optimal,
        )


@lru_cache(maxsize=10_000)
def labels_of(text: str) -> Labels:
    """The labels as they were before they were written in one text.

    Raises:
        ValueError: They are something else.
    """
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError(f"labels are {text!r:.60}")
    return Labels(*found)


def unpacked_games(parts: Sequence[bytes]) -> PackedGames:
    """The rows of games, one each.

    Raises:
        ValueError: One has another size.
    """
    found = np.frombuffer(b"".join(parts), GAME)
    if len(found) != len(parts):
        raise ValueError(f"{len(found)} rows for {len(parts)} games")
    return found


def split_expected(part: bytes) -> tuple[float, bytes]:
    """A packed row's `optimal_expected`, a sum whose last bits depend on the order of the replies; the rest.

    Of what is no packed row the number is 0.
    """
    if len(part) != GAME.itemsize:
        return 0.0, part
    found = np.frombuffer(part, GAME).copy()
    expected = float(found["optimal_expected"][0])
    found["optimal_expected"] = 0
    return expected, found.tobytes()


def days_of(at_us: NDArray[np.int64]) -> NDArray[np.int64]:
    """Days since 1970 (UTC)."""
    return at_us // _DAY_US


async def game_records(session: AsyncSession, games: Sequence[int]) -> dict[int, GameColumns]:
    """Some games, by their key.

    Raises:
        RecordError: What is stored of one is damaged; the message names the game.
    """
    found: dict[int, GameColumns] = {}
    for start in range(0, len(games), _BATCH):
        statement = select(
            GameRow.id,
            GameRow.opponent_id,
            GameRow.engine_config_id,
            GameRow.trial_id,
            # As it is, and of no other game: one damaged draw must not hide the others.
            case((GameRow.trial_id.is_not(None), cast(GameRow.selection, _RAW))).label("draw"),
            GameRow.started_at,
            GameRow.ended_at,
            GameRow.opponent_rating,
            GameRow.our_rating,
            GameRow.player,
            GameRow.game,
            GameRow.site,
            GameRow.speed,
            GameRow.variant,
            GameRow.initial_position,
            GameRow.moves,
            GameRow.end_reason,
            # As text: a damaged one must be told by the game's key.
            type_coerce(GameRow.state, String).label("state"),
            GameRow.is_settled,
            type_coerce(GameRow.result, String).label("result"),
        ).where(GameRow.id.in_(games[start : start + _BATCH]))
        found |= dict(read_rows("game", await session.execute(statement), lambda row: (row.id, _record(row))))
    return found


def _record(row: Any) -> GameColumns:
    require_texts(row, "player", "game", "site", "speed")
    for name in ("opponent_rating", "our_rating"):
        if getattr(row, name) is not None:
            require_number(name, getattr(row, name), LEAST_RATING, MOST_RATING)
    opening = opening_of(row)
    # These two say in words what is no state, and no result.
    state, result = GameStatus(row.state).value, None if row.result is None else GameResult(row.result).value
    chances = "" if row.trial_id is None else chances_part(row.draw)
    return GameColumns(
        Labels(row.player, row.game, row.site, row.speed, chances),
        (
            row.id,
            row.opponent_id,
            row.engine_config_id,
            NO_TRIAL if row.trial_id is None else row.trial_id,
            microseconds(row.started_at),
            UNKNOWN if row.ended_at is None else microseconds(row.ended_at),
            NO_OPENING if opening.key is None else opening.key,
        ),
        (_number(row.opponent_rating), _number(row.our_rating), SCORES[result]),
        (
            STATES.index(state),
            bool(row.is_settled),
            is_own_position(row.variant, row.initial_position),
            opening.plies,
            int(result == GameResult.WIN.value and row.end_reason in LEFT),
        ),
    )


def chances_part(draw: object) -> str:
    """The part of a draw's record that has the chances, or all of it.

    Records differ in their seeds, but there are few sets of chances.  What else a record says is not read: a
    game counts whose record is damaged elsewhere.

    Args:
        draw: The record as it is stored.
    """
    text = draw.decode("utf-8", "replace") if isinstance(draw, bytes) else str(draw)
    start = text.find('"chances"')
    end = text.find("}", start)
    part = f"{{{text[start:end]}}}}}" if 0 <= start < end else text
    try:
        # As no database spells it: PostgreSQL has spaces and an order of its own.
        return json.dumps(read_json(part), sort_keys=True, separators=(",", ":"))
    except (RecordError, RecursionError):
        return part


def _number(value: int | None) -> float:
    return nan if value is None else value


def opening_of(row: Any) -> GameBeginning:
    """How a game began, from the columns `game`, `initial_position` and `moves` of its row."""
    require_texts(row, "moves")
    moves = row.moves.split()
    if len(moves) < COPIED_PLIES:
        return GameBeginning(len(moves), None)
    text = "\n".join((f"{row.game} {row.initial_position or ''}", *moves[:COPIED_PLIES]))
    digest = blake2b(text.encode(), digest_size=8).digest()
    return GameBeginning(len(moves), int.from_bytes(digest, "little", signed=True))
