"""Two arrays, one of replies and one of games, stored as one packed value per game.

Statistics of many games are functions of these two arrays (`storage.evidence.measures`). The arrays are
derived from the tables (`storage.evidence.game_records`), so a new statistic needs at most a new `LAYOUT`: a
game whose rows were packed with an older layout or older rules is packed again.

Counts are stored as integers, and probabilities as multiples of 1/4,000,000,000. The multiples are exact,
because forecasts have six digits, and take half the space of floats.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import IntFlag
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.decision import OutcomeKind
from engine.expected import WHOLE
from storage.evidence.inference.persons import Codes, Floats, codes_of
from storage.records import GameResult, GameStatus

LAYOUT = 9
"""Version of both arrays and of the columns stored with them; incremented when a column's meaning changes."""

_PROBABILITY_UNITS = 4_000_000_000
"""Number of units in a probability of 1."""
EXPECTATIONS = (
    *("error_uniform", "error_expected", "cost_uniform", "cost_expected"),
    *("fall_uniform", "fall_expected", "bait_uniform", "bait_expected"),
)
"""Expectations for a random reply (``_uniform``) and for a reply that follows the forecast; see
`engine.bait_rule.Expectations`."""
UNKNOWN_COST = np.iinfo(np.uint16).max
"""Value for an unknown cost."""

REPLY_COUNTS = ("error", "fall", "bait")
"""The kinds of replies that are counted for each of our moves."""
REPLY = np.dtype(
    [
        *((name, "<i8") for name in ("decision", "line")),
        ("cost_expected", "<f8"),
        *((f"{name}_expected", "<u4") for name in REPLY_COUNTS),
        *((name, "<u4") for name in ("cost_sum", "bait_probability")),
        ("time_s", "<f4"),
        *((f"{name}_count", "<u2") for name in REPLY_COUNTS),
        *((name, "<u2") for name in ("cost", "bait_cost", "ply", "phase", "reply_count")),
        *((name, "<u2") for name in ("flags", "model", "outcome")),
    ]
)
"""The layout (70 bytes) of a reply, or of a bait that was set and never answered.

The key of our decision; a number shared by baits after the same moves (0: there is no bait); the cost that
the forecast expected, as a share of the game; the forecast probabilities of an error, of a fall into a trap
in the paper's sense and of a taken bait, in `_PROBABILITY_UNITS`; the total cost of all replies, in
hundredths of a per cent; the probability of the most tempting bait, in `_PROBABILITY_UNITS`; the seconds that
this reply took (NaN: not known); the numbers of replies that are errors, falls and baits; the costs of this
reply (`UNKNOWN_COST`: not judged) and of the most tempting bait by the judge (`engine.judge`), in hundredths
of a per cent; the number of moves before our move; the reply's phase, 0 for the first; the number of replies;
its `ReplyFlag`s; the index of the forecast's model in `Labels.models`; the index in `OUTCOMES` of the outcome
in the paper's sense.
"""
OUTCOMES = tuple(kind.value for kind in OutcomeKind)
"""The outcomes that the column `outcome` indexes."""


class ReplyFlag(IntFlag):
    """Flags of a reply."""

    COUNTED = 1
    """Classified and forecast under current rules, and not the only legal reply; measures ignore others."""
    DECIDED = 2
    """Our move leads to a forced win or loss."""
    PAPER_TRAP = 4
    """Our move set a trap in the paper's sense."""
    FELL_FOR_BEST = 8
    """The reply fell into the best trap, in the paper's sense, that our move set."""
    BAIT = 16
    """Our move set a bait."""
    TAKEN = 32
    """The reply took a bait."""
    ANSWERED = 64
    """It is known whether the bait was taken."""
    JUDGED = 128
    """The judge's cost of the reply is known; costs, errors and slips ignore all others."""
    UNJUDGED = 256
    """The judge has yet to judge the reply."""


NO_FLAG = ReplyFlag(0)
STATES = (GameStatus.FINISHED.value, GameStatus.OPEN.value, GameStatus.ABORTED.value)
"""The states that the column `state` indexes."""
FINISHED, OPEN, ABORTED = range(len(STATES))
UNKNOWN = np.iinfo(np.int64).min
"""Value for a missing time."""
NO_TRIAL = 0
"""Value for a missing trial key."""
SCORES = {GameResult.WIN.value: 1.0, GameResult.DRAW.value: 0.5, GameResult.LOSS.value: 0.0, None: np.nan}
_DAY_US = 86_400_000_000
FIRST_DAY = date(1970, 1, 1)

GAME = np.dtype(
    [
        *((name, "<i8") for name in ("id", "person", "config", "trial", "began_us", "ended_us", "opening")),
        *((name, "<f8") for name in ("rating", "our_rating", "score", "optimal_expected")),
        *((name, "<i4") for name in ("state", "is_settled", "is_challenger_position", "plies", "has_left")),
        *(
            (name, "<i4")
            for name in ("outdated", "timed", "fast", "classified", "optimal", "replies", "cost")
        ),
        *((name, "<i4") for name in ("baits_set", "baits_taken", "slips", "unjudged")),
        *((name, "<i4") for name in ("draws", "draws_answered")),
    ]
)
"""A game: keys of the game, of the opponent's account, of the engine's configuration and of the trial
(`NO_TRIAL`: none); when it began and ended, in microseconds since 1970 (UTC); a number shared by games with
the same first moves (`storage.evidence.inference.suspects.PLAYED`, like `optimal_expected`, `timed`, `fast`,
`classified` and `optimal`); the ratings before the game, and our score (NaN: unknown); its state, and whether
nothing is left to classify; whether a challenger set its position (`storage.evidence.trials`); the total
number of moves by both sides; whether the person has left; the numbers of decisions classified or forecast by
earlier rules, of judged replies outside decided positions (and their cost, in hundredths of a per cent), of
our moves with a bait, of replies that took one, of slips, of replies that are yet to be judged, of decisions
that were or may have been randomised, and of replies to decisions recorded as randomised."""
GameArray = NDArray[np.void]
"""Rows in the layout of `GAME`."""
ReplyArray = NDArray[np.void]
"""Rows in the layout of `REPLY`."""


class Labels(NamedTuple):
    """Strings that many games share."""

    strategy: str
    game: str
    site: str
    speed: str
    probabilities: str
    """The strategies' probabilities, as JSON, from the assignment's record; empty if there is no trial."""
    models: tuple[str, ...]
    """The models that forecast the game's replies, named by `model_text`; sorted."""

    @property
    def text(self) -> str:
        """All labels as one string, which `labels_of` parses."""
        return json.dumps(self, separators=(",", ":"))


@lru_cache(maxsize=10_000)
def labels_of(text: str) -> Labels:
    """Parse `Labels.text`."""
    *texts, models = json.loads(text)
    strategy, game, site, speed, probabilities = texts
    return Labels(strategy, game, site, speed, probabilities, tuple(models))


_DIGITS = 8
"""Number of hexadecimal digits shown of a SHA-256."""


@lru_cache(maxsize=1000)
def model_text(name: str, sha256: str, prior: str) -> str:
    """The name of a forecast's source (a model or the shallow scores), for instance ``maia-1500 1f2e3d4c``.

    Args:
        name: Name of the source.
        sha256: SHA-256 of the model file, shown by its first digits; empty if there is no file.
        prior: SHA-256 of the card that adapted the model to the person; empty if the model is not adapted.
    """
    text = f"{name} {sha256[:_DIGITS]}".strip()
    return f"{text}, tilted by {prior[:_DIGITS]}" if prior else text


def packed_expectations(values: Mapping[str, float], reply_count: int) -> dict[str, float]:
    """Convert expectations to the columns of `REPLY`.

    Args:
        values: The values of `EXPECTATIONS`; costs as shares of the game.
        reply_count: Number of replies.
    """
    packed: dict[str, float] = {"cost_expected": values["cost_expected"]}
    for name in REPLY_COUNTS:
        packed[f"{name}_expected"] = max(_in_units(values[f"{name}_expected"]), 0)
        packed[f"{name}_count"] = round(values[f"{name}_uniform"] * reply_count)
    packed["cost_sum"] = round(values["cost_uniform"] * reply_count * WHOLE)
    return packed


def packed_bait(line: int, probability: float, cost: int) -> dict[str, int]:
    """Convert the data of the most tempting bait to the columns of `REPLY`."""
    return {"line": line, "bait_probability": _in_units(probability), "bait_cost": cost}


def _in_units(probability: float) -> int:
    # A text, which SQLite may hold in a column of numbers, times `_PROBABILITY_UNITS` would be one of 4 GB.
    return round(float(probability) * _PROBABILITY_UNITS)


def expected_losses(replies: ReplyArray) -> Floats:
    """Probability times cost of the most tempting bait; valid only where a bait was set; shape (replies,)."""
    return np.asarray(replies["bait_probability"] / _PROBABILITY_UNITS * replies["bait_cost"], np.float64)


def expected(replies: ReplyArray, name: str) -> Floats:
    """One of the expectations for each reply, from 0 to 1; shape (replies,)."""
    what, _, whose = name.partition("_")
    if whose == "expected":
        values = replies[name] if what == "cost" else replies[name] / _PROBABILITY_UNITS
    elif what == "cost":
        values = replies["cost_sum"] / (replies["reply_count"] * np.float64(WHOLE))
    else:
        values = replies[f"{what}_count"] / replies["reply_count"]
    return np.asarray(values, np.float64)


def costs(replies: ReplyArray) -> Floats:
    """The judge's costs of the replies, from 0 to 1; valid only for judged replies."""
    return np.asarray(replies["cost"] / WHOLE, np.float64)


def has(replies: ReplyArray, which: ReplyFlag, without: ReplyFlag = NO_FLAG) -> NDArray[np.bool_]:
    """Whether each reply has all flags in `which` and none in `without`; shape (replies,)."""
    is_set: NDArray[np.bool_] = replies["flags"] & int(which | without) == int(which)
    return is_set


def some(records: NDArray[np.void], is_wanted: NDArray[np.bool_]) -> NDArray[np.void]:
    """The records selected by a mask; a boolean index would copy them field by field, which is slow."""
    return records.compress(is_wanted)


def phases_of(replies: ReplyArray) -> Codes:
    """The phase of each reply, 0 for the first; shape (replies,)."""
    phases: Codes = replies["phase"].astype(np.intp)
    return phases


def days_of(at_us: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of days since 1970 (UTC)."""
    return at_us // _DAY_US


@dataclass(frozen=True, slots=True)
class SharedTexts:
    """The text of each game, stored compactly because many games share the same text."""

    codes: Codes
    """Index of each game's text in `texts`."""
    texts: Sequence[str]
    """The distinct texts; some may belong to no game."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> "SharedTexts":
        """Create shared texts from a list with one text for each game."""
        return cls(codes_of(texts), [*dict.fromkeys(texts)])

    @classmethod
    def joined(cls, parts: Sequence["SharedTexts"]) -> "SharedTexts":
        """Concatenate the texts of several parts."""
        texts: dict[str, int] = {}
        codes = [np.zeros(0, np.intp)]
        for part in parts:
            numbers = [texts.setdefault(text, len(texts)) for text in part.texts]
            codes.append(np.array(numbers, np.intp)[part.codes])
        return cls(np.concatenate(codes), [*texts])

    def where(self, is_wanted: NDArray[np.bool_]) -> "SharedTexts":
        """The texts of the games selected by a mask."""
        return SharedTexts(self.codes[is_wanted], self.texts)


@dataclass(frozen=True, slots=True)
class GameRows:
    """Games as an array of rows, with their labels."""

    games: GameArray
    labels: SharedTexts

    @classmethod
    def of(cls, labels: Sequence[str], games: Sequence[bytes]) -> "GameRows":
        """Unpack games."""
        return cls(np.frombuffer(b"".join(games), GAME), SharedTexts.of(labels))

    @classmethod
    def joined(cls, parts: Sequence["GameRows"]) -> "GameRows":
        """Concatenate the games of several parts."""
        games = [np.zeros(0, GAME), *(part.games for part in parts)]
        return cls(np.concatenate(games), SharedTexts.joined([part.labels for part in parts]))

    def where(self, is_wanted: NDArray[np.bool_]) -> "GameRows":
        """The games selected by a mask."""
        if is_wanted.all():
            return self
        return GameRows(some(self.games, is_wanted), self.labels.where(is_wanted))

    def label(self, name: str) -> SharedTexts:
        """One label of each game, selected by its field in `Labels` (any field but `models`)."""
        return SharedTexts(self.labels.codes, [getattr(labels_of(text), name) for text in self.labels.texts])

    def __len__(self) -> int:
        return len(self.games)


@dataclass(frozen=True, slots=True)
class ReplyTable:
    """A set of games with their replies."""

    of: GameRows
    replies: ReplyArray
    """The replies, game by game, in the order of play."""
    game: Codes
    """Index of each reply's game in `of`."""
    derived: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Cached results of computations on the whole table, keyed by name; all have an `nbytes` attribute."""

    @classmethod
    def unpacked(cls, of: GameRows, replies: Sequence[bytes]) -> "ReplyTable":
        """Unpack the replies of some games."""
        lengths = np.fromiter(map(len, replies), np.intp, len(replies)) // REPLY.itemsize
        rows = np.frombuffer(b"".join(replies), REPLY)
        return cls(of, rows, np.repeat(np.arange(len(replies)), lengths))

    @classmethod
    def joined(cls, parts: Sequence["ReplyTable"]) -> "ReplyTable":
        """Concatenate the games and replies of several parts."""
        starts = np.cumsum([0, *(len(part.of) for part in parts)])
        return cls(
            GameRows.joined([part.of for part in parts]),
            np.concatenate([np.zeros(0, REPLY), *(part.replies for part in parts)]),
            np.concatenate(
                [np.zeros(0, np.intp), *(part.game + at for part, at in zip(parts, starts, strict=False))]
            ),
        )

    @property
    def nbytes(self) -> int:
        """Size of the arrays and of the cached results, in bytes."""
        arrays = (self.replies, self.game, self.of.games, *self.derived.values())
        return sum(int(each.nbytes) for each in arrays)

    def of_games(self, is_wanted: NDArray[np.bool_]) -> "ReplyTable":
        """The games selected by a mask, renumbered, with their replies."""
        if is_wanted.all():
            return self
        theirs = is_wanted[self.game]
        numbers = (np.cumsum(is_wanted) - 1)[self.game[theirs]]
        return ReplyTable(self.of.where(is_wanted), some(self.replies, theirs), numbers)

    def without_replies(self) -> "ReplyTable":
        """The games without their replies."""
        return ReplyTable(self.of, self.replies[:0], self.game[:0])

    def where(self, is_wanted: NDArray[np.bool_]) -> "ReplyTable":
        """The same games with only the replies selected by a mask."""
        if is_wanted.all():
            return self
        return ReplyTable(self.of, some(self.replies, is_wanted), self.game[is_wanted])

    def models(self) -> SharedTexts:
        """The name of the model that forecast each reply."""
        lists = [labels_of(text).models for text in self.of.labels.texts]
        names = {name: number for number, name in enumerate(dict.fromkeys(sum(lists, ())))}
        table = np.zeros((len(lists), max(map(len, lists), default=0) + 1), np.intp)
        for number, models in enumerate(lists):
            table[number, : len(models)] = [names[name] for name in models]
        return SharedTexts(table[self.of.labels.codes[self.game], self.replies["model"]], [*names])
