"""The positions of an analysis as arrays, for studies and for fitting models."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.game import Game
from engine.games import get_rules
from engine.human.calibrated import expected, profile_array, reply_features
from lab.analysis.analysed_games import StoredPosition, iterate_positions
from lab.analysis.persons import is_person, person_key
from lab.analysis.recorded_games import half_of, half_of_person, is_within, year_of
from lab.training.calibrated import ReplyRows, join
from storage.database import Database
from storage.evidence.inference.persons import codes_of

MIN_ERROR_SCORE_LOSS = 0.10
"""A reply is *bad*, or an *error*, when it costs at least this much expected score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """Filter on the positions of an analysis."""

    half: int | None = None
    """Only positions from half 0 or 1 of the games (`lab.analysis.recorded_games.half_of`); None for all."""
    person_half: int | None = None
    """Only replies by persons in half 0 or 1 (`lab.analysis.recorded_games.half_of_person`), not by programs;
    the people model's priors are learned from half 0. None for all replies."""
    seed: int = 1
    """Random seed of the splits into halves."""
    from_year: int | None = None
    to_year: int | None = None
    min_rating: int | None = None
    max_rating: int | None = None
    """Limits on the person's rating; if either is set, unrated people are excluded."""

    def holds(self, stored: StoredPosition) -> bool:
        """Whether a position passes the filter."""
        if self.half is not None and half_of(stored.draw_key or stored.game_key, self.seed) != self.half:
            return False
        if self.person_half is not None and (
            not is_person(stored.name) or half_of_person(stored.name, self.seed) != self.person_half
        ):
            return False
        return is_within(year_of(stored.date), self.from_year, self.to_year) and is_within(
            stored.found.rating, self.min_rating, self.max_rating
        )


@dataclass(frozen=True, slots=True)
class Population:
    """Positions, with all their replies concatenated into flat arrays."""

    game: Game[Any]
    positions: list[StoredPosition]
    rows: ReplyRows
    """Features of the replies, including those from a human-move model if every position has a prediction."""
    models: dict[str, NDArray[np.float64]]
    """Probabilities of the replies, keyed by human-move model; the features use the first model."""
    loss: NDArray[np.float64]
    """Cost of each reply to the person, in expected score on the scale of the position before our move, as in
    the trap arithmetic. The features use the scale after our move, which is nearly the same."""
    of_position: NDArray[np.int64]
    """Index of each reply's position."""
    left_out: int
    """Number of positions left out because the human-move model has no prediction for them."""

    @property
    def has_human(self) -> bool:
        """Whether there are predictions by a human-move model."""
        return bool(self.models)

    @property
    def games(self) -> NDArray[np.int64]:
        """The game of each position, numbered from 0."""
        return self.rows.games

    @property
    def persons(self) -> NDArray[np.int64]:
        """The person who replied in each position (`person_key`), numbered from 0."""
        return codes_of([person_key(stored) for stored in self.positions]).astype(np.int64)

    @property
    def is_played(self) -> NDArray[np.bool_]:
        """Whether each reply was played."""
        played = np.zeros(len(self.loss), bool)
        played[self.rows.played] = True
        return played

    def sums(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """The sum of a value over each position's replies."""
        return np.asarray(np.add.reduceat(values.astype(np.float64), self.rows.starts))

    def most(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """The maximum of a value over each position's replies."""
        return np.asarray(np.maximum.reduceat(values.astype(np.float64), self.rows.starts))


async def load(
    database: Database, analysis_id: int, model_id: int | None, portion: Portion
) -> list[StoredPosition]:
    """The positions of an analysis that pass the filter."""
    async with database.read() as session:
        return [
            stored
            async for stored in iterate_positions(session, analysis_id, model_id)
            if portion.holds(stored)
        ]


def population(
    game_name: str,
    positions: Sequence[StoredPosition],
    model: str = "",
    others: Mapping[str, Mapping[int, Sequence[float]]] | None = None,
    on_count: Callable[[int], None] = lambda _: None,
) -> Population:
    """Convert a non-empty sequence of positions to arrays.

    If a human-move model has predictions for some of the positions, the others are left out
    (`Population.left_out`).

    Args:
        model: Name of the human-move model.
        others: Other models' probabilities, keyed by model and position; models that lack a position are
            left out.
        on_count: Called with the number of positions just processed.
    """
    game = get_rules(game_name)
    predicted = [stored for stored in positions if stored.human is not None]
    used = predicted or list(positions)
    numbers: dict[str, int] = {}
    parts, losses = [], []
    for stored in used:
        found = stored.found
        root = game.parse_position(found.position)
        after = game.play(root, game.parse_move(root, found.move))
        scores = profile_array(found.candidate)
        features = reply_features(
            scores, game.expected_scale_centi(after), game.plies_left(after), stored.human, found.person
        )
        number = next(at for at, reply in enumerate(found.replies) if reply.reply == found.reply)
        parts.append((features, number, numbers.setdefault(stored.game_key, len(numbers))))
        worth = expected(-scores[:, -1], found.logistic_centi)
        losses.append(worth.max() - worth)
        on_count(1)
    rows = join(parts)
    models = {}
    if predicted:
        models[model] = np.concatenate([stored.human or () for stored in used]).astype(np.float64)
        for name, known in (others or {}).items():
            if all(stored.id in known for stored in used):
                models[name] = np.concatenate([known[stored.id] for stored in used]).astype(np.float64)
    return Population(
        game,
        used,
        rows,
        models,
        np.concatenate(losses),
        np.repeat(np.arange(len(used)), rows.counts),
        len(positions) - len(used),
    )
