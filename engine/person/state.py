"""The state of what is known about one person: a fold over the person's judged games, in order of their ends.

The same games in the same order give the same state, whether they are folded at once or one by one, and
whatever interrupted the work. The state is bounded: below a megabyte for any number of games.
"""

import json
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import RecordError
from engine.person.card import PersonModel
from engine.person.memory import MAX_PLAYS, Memory, Play
from engine.person.sealed import seal, unseal
from engine.person.site_state import SiteState
from engine.person.symmetry import position_keys
from engine.person.tilt import MILLION, Weights, evidence, mean_tilt, start_weights, with_evidence
from engine.person.vector import PlanedReply, Vector, after_game, prior_vector
from engine.plain_values import Range, reader

_MAGIC = b"DPS1"
_PLAY = np.dtype(
    [("position", "<u8"), ("reply", "<u4"), ("weight", "<u4"), ("game", "<u4"), ("plays", "<u2")]
)
_Count = Annotated[int, Range(0, 2**31 - 1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FacedPosition:
    """A position in which the person replies, with what models say about it."""

    position: str
    """As `Game.position_text` writes it."""
    ply: int
    """Number of plies before the reply."""
    replies: tuple[str, ...]
    """Every legal reply, in the game's order; at least two."""
    base: tuple[float, ...]
    """The probability of each reply by the base model (`PersonModel.base`), before the tilt."""
    costs: tuple[float, ...]
    """The cost of each reply, from 0 to 1 (`engine.human.person_prior.costs_of`)."""
    planes: tuple[tuple[float, ...], ...] | None = None
    """For each reply, the values of the network's person planes; None if they are not known."""

    def __post_init__(self) -> None:
        sizes = {len(self.replies), len(self.base), len(self.costs)}
        if self.planes is not None:
            sizes.add(len(self.planes))
        if len(sizes) > 1:
            raise ValueError("base, costs or planes do not match the replies")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedReply(FacedPosition):
    """A person's reply."""

    reply: str
    """The reply that was played; one of `replies`."""
    judged_cost: float
    """What it cost by the judge, from 0 to 1."""

    @property
    def index(self) -> int:
        """The index of the reply that was played.

        Raises:
            ValueError: It is not among the replies.
        """
        return self.replies.index(self.reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedGame:
    """The person's side of a judged game."""

    is_lost: bool
    """Whether the person lost."""
    replies: tuple[FoldedReply, ...]
    """Their replies in positions with two legal replies or more, in the order of play."""
    rating: float | None = None
    """The person's rating before the game; None if unknown."""
    seconds: float | None = None
    """`engine.human.person_prior.estimated_side_time_s` of the game; None if unknown."""


@dataclass(frozen=True, slots=True)
class PersonState:
    """What is known about one person; immutable."""

    version: str
    """`PersonModel.version` of the model that folded the games."""
    games: int = 0
    """Number of folded games."""
    replies: int = 0
    """Number of replies in them."""
    tilts: Weights = ()
    """The weights of the tilts after the latest game; empty before the first."""
    vector: Vector | None = None
    """None before the first game, and if the game has no network with planes of persons."""
    memory: Memory = field(default_factory=Memory)

    def to_bytes(self) -> bytes:
        """The state as bytes, which `from_bytes` reads: magic, header, memory, SHA-256 of all before it."""
        vector = self.vector
        header = {
            "version": self.version,
            "games": self.games,
            "replies": self.replies,
            "tilts": self.tilts,
            "vector": None if vector is None else {"mean": vector.mean, "precision": vector.precision},
        }
        text = json.dumps(header, separators=(",", ":")).encode()
        rows = [
            (key, play.reply, play.weight_micro, play.game, play.plays)
            for key, plays in sorted(self.memory.positions.items())
            for play in plays
        ]
        return seal(_MAGIC, struct.pack("<I", len(text)) + text + np.array(rows, _PLAY).tobytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> "PersonState":
        """Read the result of `to_bytes`.

        Raises:
            RecordError: The data is damaged.
        """
        content = unseal(_MAGIC, data, "the state of a person")
        try:
            (size,) = struct.unpack_from("<I", content)
            start = 4
            header = reader(_Header)(json.loads(content[start : start + size]))
            rows = np.frombuffer(content[start + size :], _PLAY)
            if len(rows) > MAX_PLAYS or sum(weight for _, weight in header.tilts) not in (0, MILLION):
                raise ValueError("too many plays, or the weights of the tilts do not add up")
        except (AttributeError, KeyError, TypeError, ValueError, struct.error) as error:
            raise RecordError(f"the state of a person is damaged: {error}") from None
        return cls(
            header.version,
            header.games,
            header.replies,
            header.tilts,
            header.vector,
            Memory(_positions(rows)),
        )


@dataclass(frozen=True, slots=True)
class _Header:
    version: str
    games: _Count
    replies: _Count
    tilts: tuple[tuple[_Count, _Count], ...]
    vector: Vector | None


def _positions(rows: NDArray[Any]) -> MappingProxyType[int, tuple[Play, ...]]:
    found: dict[int, list[Play]] = {}
    for position, *play in rows.tolist():
        found.setdefault(position, []).append(Play(*play))
    return MappingProxyType({position: tuple(plays) for position, plays in found.items()})


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """What is known of a person during a game, for the prediction of a reply."""

    state: PersonState
    """The state before the game."""
    ply: int
    """Number of plies before the reply."""
    earlier: tuple[FoldedReply, ...] = ()
    """The person's replies in this game so far, by the model of the state."""
    site: SiteState | None = None
    """What is known of the other people of the site; None for nothing."""


def fold_game(state: PersonState, game: FoldedGame, model: PersonModel) -> PersonState:
    """The state after one more game.

    Args:
        state: The state before the game, by the same model.
        game: The person's next game.
        model: The model.

    Raises:
        ValueError: The state was folded by another model, or a reply is not among the legal ones.
        BadPosition: A position cannot be read.
    """
    _require(state, model)
    if not game.replies:
        return replace(state, games=state.games + 1)
    start = tilts_at_start(state, model, game.rating, game.seconds)
    tilts = tilts_after(start, state, model, game.replies)
    memory = state.memory.with_game(
        model.card.memory,
        [
            (position_keys(model.game, each.position, each.replies), each.index, each.judged_cost)
            for each in game.replies
        ],
        state.games,
        is_lost=game.is_lost,
    )
    return PersonState(
        state.version,
        state.games + 1,
        state.replies + len(game.replies),
        tilts,
        _vector_after(state, model, game.replies, tilts),
        memory,
    )


def fold_games(state: PersonState, games: Iterable[FoldedGame], model: PersonModel) -> PersonState:
    """The state after some more games; see `fold_game`."""
    for game in games:
        state = fold_game(state, game, model)
    return state


def tilts_at_start(
    state: PersonState, model: PersonModel, rating: float | None, seconds: float | None
) -> Weights:
    """The weights of the tilts at the start of a game.

    Args:
        state: The state before the game.
        model: The model.
        rating: See `FoldedGame.rating`.
        seconds: See `FoldedGame.seconds`.
    """
    return start_weights(state.tilts, model.tilt_weights(rating, seconds), model.forgetting)


def tilts_after(
    start: Weights, state: PersonState, model: PersonModel, replies: Sequence[FoldedReply]
) -> Weights:
    """The weights of the tilts after a game's replies so far, which may come in any order.

    Args:
        start: `tilts_at_start` of the game.
        state: The state before the game.
        model: The model.
        replies: The person's replies in the game so far.
    """
    if not replies:
        return start
    seen = [
        (shifted_base(model, each.base, shifts_of(state, model, each)), each.costs, each.index)
        for each in replies
    ]
    return with_evidence(start, evidence(model.tilt, model.uniform, seen))


def shifts_of(state: PersonState, model: PersonModel, faced: FacedPosition) -> tuple[float, ...]:
    """What the person's vector adds to the logits of the base model; empty if there is no vector."""
    vector = vector_of(state, model)
    return () if vector is None or faced.planes is None else vector.shifts(faced.planes)


def vector_of(state: PersonState, model: PersonModel) -> Vector | None:
    """The person's vector; None if the game has no network with planes of persons."""
    prior = model.card.vector
    return None if prior is None else state.vector or prior_vector(prior)


def shifted_base(model: PersonModel, base: Sequence[float], shifts: Sequence[float]) -> tuple[float, ...]:
    """The base model's probabilities with the person's vector.

    Args:
        model: Has the lower limit for probabilities.
        base: The base model's probabilities.
        shifts: `shifts_of`; empty for none.
    """
    if not shifts:
        return tuple(base)
    logs = np.log(np.maximum(np.asarray(base, np.float64), model.tilt.least)) + np.asarray(shifts)
    powers = np.exp(logs - logs.max())
    return tuple((powers / powers.sum()).tolist())


def _vector_after(
    state: PersonState, model: PersonModel, replies: Sequence[FoldedReply], tilts: Weights
) -> Vector | None:
    prior, before = model.card.vector, vector_of(state, model)
    if prior is None or before is None:
        return None
    b, k = mean_tilt(model.tilt, tilts)
    planed = [
        PlanedReply(
            b * np.log(np.maximum(np.array(each.base), model.tilt.least)) - k * np.array(each.costs),
            b * np.array(each.planes),
            each.index,
        )
        for each in replies
        if each.planes is not None
    ]
    return after_game(before, prior, planed)


def _require(state: PersonState, model: PersonModel) -> None:
    if state.version != model.version:
        raise ValueError("the state was folded by another model")
