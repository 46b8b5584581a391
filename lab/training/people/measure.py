"""How well a network predicts people's moves in games that it did not learn from."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from engine.decision import UNKNOWN_PERSON
from engine.human.onnx import PREFIX
from engine.human.othello import ORIENTATIONS
from engine.human.othello_boards import TURNED
from engine.human.people.network import COLUMNS, USUAL_GAMES
from lab.training.people.positions import (
    HumanPositions,
    input_planes,
    input_who,
    padded_moves,
    scaled_count,
)
from lab.training.people.shapes import BOARD, VALUE, WHO, GameShape

_BATCH = 64
_TIMED_RUNS = 200
_Z_95 = 1.96


class Predictions(NamedTuple):
    """Quality of the predictions, one element per position."""

    nats: NDArray[np.float64]
    """-ln p of the played move."""
    top1: NDArray[np.float64]
    """1 if the played move was the likeliest."""
    brier: NDArray[np.float64]
    """Squared error of the predicted result; NaN if the result is unknown."""

    def of(self, chosen: NDArray[Any]) -> "Predictions":
        """Select a subset by indices or a mask."""
        return Predictions(*(values[chosen] for values in self))


def open_session(content: bytes) -> Any:
    """Load a network into onnxruntime, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _metadata(session: Any) -> dict[str, str]:
    found: dict[str, str] = session.get_modelmeta().custom_metadata_map
    return {key.removeprefix(PREFIX): text for key, text in found.items()}


ALL_IMAGES = 8
"""Number of images of an Othello position."""


def sample_of_games(positions: HumanPositions, most: int) -> HumanPositions:
    """The positions of a fixed random sample of games, at most `most` positions; 0: all."""
    if not most or len(positions) <= most:
        return positions
    games, counts = np.unique(positions.game, return_counts=True)
    order = np.random.default_rng(0).permutation(len(games))
    within = np.cumsum(counts[order]) <= most
    within[0] = True
    return positions.of(np.isin(positions.game, games[order[within]]))


def inputs(
    shape: GameShape,
    positions: HumanPositions,
    numbers: NDArray[np.int64],
    *,
    with_person: bool,
    columns: Sequence[str] | None = None,
) -> dict[str, NDArray[np.float32]]:
    """The network's input for some positions.

    Args:
        columns: The names of the columns of ``who``; None for those that training writes.
    """
    features = positions.features[numbers]
    hidden = None if with_person else np.ones(features.shape, dtype=np.bool_)
    who = input_who(features, hidden)
    if columns is not None:
        known = dict(zip(shape.who_columns, who.T, strict=True))
        who = np.stack([_column(name, known) for name in columns], axis=1).astype(np.float32)
    return {BOARD: input_planes(shape, positions, numbers).astype(np.float32), WHO: who}


def _column(name: str, known: Mapping[str, NDArray[np.float32]]) -> NDArray[Any]:
    """A column of ``who``; those that training does not write are as in `engine.human.people.network`."""
    if name in known:
        return known[name]
    if name in ("year", "one"):
        return np.full_like(known["rating"], COLUMNS[name](UNKNOWN_PERSON))
    of = name.removeprefix("usual_")
    usual = known["rating"] if of == "opponent" else scaled_count(np.array(USUAL_GAMES))
    return known["has_rating"] * np.where(known[f"has_{of}"] > 0, known[of], usual)


def _outputs(
    session: Any,
    shape: GameShape,
    positions: HumanPositions,
    numbers: NDArray[np.int64],
    *,
    with_person: bool,
    images: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Logits of the moves, shape (n, moves), and of the result, as the program uses the network.

    Args:
        images: Number of images of a position, of eight, if the network learned from all.
    """
    metadata = session.get_modelmeta().custom_metadata_map
    columns = metadata.get(PREFIX + WHO)
    asked = inputs(shape, positions, numbers, with_person=with_person, columns=columns and columns.split(","))
    names = [session.get_outputs()[0].name, VALUE]
    if metadata.get(PREFIX + ORIENTATIONS) != "all":
        policy, value = session.run(names, asked)
        logits = policy.reshape(len(numbers), -1) if shape.moves_have_origin else policy[:, 0]
        return logits.astype(np.float64), value.astype(np.float64)
    board = asked[BOARD].reshape(len(numbers), shape.planes, -1)
    legal = board[:, 2 * shape.kinds] > 0
    shares, wins = [], []
    for image in TURNED[:images]:
        turned = np.empty_like(board)
        turned[:, :, image] = board
        policy, value = session.run(names, asked | {BOARD: turned.reshape(asked[BOARD].shape)})
        powers = np.where(legal, np.exp(policy[:, 0, image].astype(np.float64)), 0)
        shares.append(powers / powers.sum(axis=1, keepdims=True))
        wins.append(1 / (1 + np.exp(-value.astype(np.float64))))
    win = np.mean(wins, axis=0)
    return np.log(np.maximum(np.mean(shares, axis=0), 1e-300)), np.log(win / (1 - win))


def predict(
    session: Any,
    shape: GameShape,
    positions: HumanPositions,
    *,
    with_person: bool,
    images: int = ALL_IMAGES,
    report_progress: Callable[[int], None] = lambda _: None,
) -> Predictions:
    """Evaluate a network on positions.

    Args:
        session: See `open_session`.
        with_person: Whether the network gets what is known about the person.
        images: See `measured_card`.
        report_progress: Called with the number of positions done.
    """
    parts = []
    for at in range(0, len(positions), _BATCH):
        numbers = np.arange(at, min(at + _BATCH, len(positions)))
        logits, value = _outputs(session, shape, positions, numbers, with_person=with_person, images=images)
        parts.append(_quality(logits, value, positions, numbers))
        report_progress(int(numbers[-1]) + 1)
    return Predictions(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _quality(
    logits: NDArray[np.float64],
    value: NDArray[np.float64],
    positions: HumanPositions,
    numbers: NDArray[np.int64],
) -> Predictions:
    moves, is_move = padded_moves(positions, numbers)
    scores = np.where(is_move, np.take_along_axis(logits, moves, axis=1), -np.inf)
    rows, played = np.arange(len(numbers)), positions.played[numbers]
    highest = scores.max(axis=1)
    total = np.log(np.exp(scores - highest[:, None]).sum(axis=1)) + highest
    expected = 1 / (1 + np.exp(-value))
    return Predictions(
        total - scores[rows, played],
        (scores.argmax(axis=1) == played).astype(np.float64),
        (expected - positions.result[numbers]) ** 2,
    )


def summary(found: Predictions, game: NDArray[np.integer]) -> dict[str, Any]:
    """Means with 95 % intervals by game."""
    numbers: dict[str, Any] = {"positions": len(game), "games": len(np.unique(game))}
    for name, values in (("top1", found.top1), ("nats", found.nats), ("brier", found.brier)):
        known = ~np.isnan(values)
        if known.any():
            numbers[name] = round(float(values[known].mean()), 4)
            numbers[f"{name}_interval"] = interval(values[known], game[known])
    return numbers


def interval(values: NDArray[np.float64], game: NDArray[np.integer]) -> list[float]:
    """95 % interval of a mean, clustered by game because positions of one game are dependent."""
    mean = float(values.mean())
    _, place = np.unique(game, return_inverse=True)
    per_game = np.bincount(place, weights=values - mean)
    games = len(per_game)
    error = math.sqrt(float((per_game**2).sum()) * games / max(1, games - 1)) / len(values)
    return [round(mean - _Z_95 * error, 4), round(mean + _Z_95 * error, 4)]


def report(with_person: Predictions, without: Predictions, positions: HumanPositions) -> dict[str, Any]:
    """The card's figures: with and without what is known about the person, by year and by rating."""

    def part(found: Predictions, mask: NDArray[np.bool_]) -> dict[str, Any]:
        return summary(found.of(mask), positions.game[mask])

    everything = np.ones(len(positions), dtype=np.bool_)
    gain = without.nats - with_person.nats
    rating = np.round(300 * positions.features[:, 0] + 1500)
    bands = {"below 1400": (-np.inf, 1400), "1400 to 1699": (1400, 1700), "1700 or more": (1700, np.inf)}
    return {
        "with_person": part(with_person, everything),
        "without_person": part(without, everything),
        "nats_gained_by_person": round(float(gain.mean()), 4),
        "nats_gained_by_person_interval": interval(gain, positions.game),
        "by_year": {
            str(year): part(with_person, positions.year == year)
            for year in np.unique(positions.year).tolist()
        },
        "by_rating": {
            name: part(with_person, mask)
            for name, (low, high) in bands.items()
            if (mask := (rating >= low) & (rating < high)).any()
        },
    }


def milliseconds(session: Any, shape: GameShape, positions: HumanPositions, images: int) -> float:
    """Median processor time of one position, in milliseconds."""
    times = []
    for number in range(_TIMED_RUNS):
        began = time.process_time()
        _outputs(
            session, shape, positions, np.array([number % len(positions)]), with_person=True, images=images
        )
        times.append(time.process_time() - began)
    return round(1000 * float(np.median(times)), 3)


def measured_card(
    content: bytes,
    shape: GameShape,
    positions: HumanPositions,
    say: Callable[[str], None],
    full: bytes | None = None,
    images: int = ALL_IMAGES,
) -> dict[str, Any]:
    """What a file's network predicts on held-out positions.

    Args:
        images: The mean of how many images of an Othello position is the prediction, if the network learned
            from all eight; quick predictions use one.
        full: The same network in single precision, to measure what 8 bits lose.
    """
    if not len(positions):
        return {"positions": 0}
    session = open_session(content)
    known = predict(session, shape, positions, with_person=True, images=images)
    unknown = predict(session, shape, positions, with_person=False, images=images)
    found = report(known, unknown, positions)
    for name in ("with_person", "without_person"):
        row = found[name]
        say(
            f"{name}: "
            + ", ".join(f"{key} {row[key]:.4f} {row[f'{key}_interval']}" for key in ("top1", "nats"))
        )
    found["ms_per_position"] = milliseconds(session, shape, positions, images)
    if full is not None:
        exact = predict(open_session(full), shape, positions, with_person=True)
        lost = known.nats - exact.nats
        found["nats_lost_by_int8"] = round(float(lost.mean()), 4)
        found["nats_lost_by_int8_interval"] = interval(lost, positions.game)
    return found
