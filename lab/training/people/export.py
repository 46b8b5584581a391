"""Writes a trained network with 8-bit convolutions, and its card."""

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lab.training.people import measure
from lab.training.people.collection import Collection
from lab.training.people.onnx_graph import Weights, set_metadata, to_onnx
from lab.training.people.quantised import CALIBRATION_POSITIONS, quantised
from lab.training.people.shapes import BOARD, KIND, OTHELLO, WHO, NetworkSize

LICENCE = "GPL-3.0-or-later"


@dataclass(frozen=True)
class TrainedNetwork:
    """A network as training leaves it."""

    weights: Weights
    size: NetworkSize
    vectors: np.ndarray[Any, np.dtype[np.float32]]
    """Vectors of the persons it learned from, shape (persons, person planes)."""
    learning: dict[str, Any]
    """How it was trained, for the card."""


def export(
    trained: TrainedNetwork,
    collection: Collection,
    out: Path,
    measured_positions: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Write the network as `out`, and its card beside it.

    Args:
        measured_positions: Measure on games with at most this many positions; 0: on all held-out games.

    Returns:
        The card.
    """
    shape = trained.size.shape
    positions = collection.positions
    learned, held_out = positions.of(~collection.held_out), positions.of(collection.held_out)
    full = to_onnx(trained.weights, trained.size, {}, _text(trained, collection))
    chosen = np.random.default_rng(0).permutation(len(learned))[:CALIBRATION_POSITIONS]
    example = measure.inputs(shape, learned, chosen, with_person=True)
    small = quantised(full, example[BOARD], example[WHO])
    set_metadata(small, _metadata(trained, collection))
    small.doc_string = full.doc_string
    content = small.SerializeToString(deterministic=True)
    out.write_bytes(content)
    say(f"{out}: {len(content):,} bytes")
    measured = measure.sample_of_games(held_out, measured_positions)
    card = {
        "name": _name(trained),
        "file": out.name,
        "licence": LICENCE,
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "size": f"{trained.size.channels} channels x {trained.size.blocks} blocks",
        "weights": int(sum(values.size for values in trained.weights.values())),
        "data": {
            "source": collection.source,
            "scale": collection.scale,
            "split": collection.split,
            "games_learned_from": len(np.unique(learned.game)),
            "positions_learned_from": len(learned),
        },
        "learning": trained.learning,
        "measured": measure.measured_card(content, shape, measured, say, full.SerializeToString()),
    }
    card_path(out).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return card


def card_path(file: Path) -> Path:
    """Path of a network's card."""
    return file.with_suffix(".json")


def _name(trained: TrainedNetwork) -> str:
    return f"{trained.size.game}-people-{trained.size.channels}x{trained.size.blocks}"


def _text(trained: TrainedNetwork, collection: Collection) -> str:
    data = f"{collection.source}; {collection.split}"
    return f"Predicts people's moves in {trained.size.game}. Trained on: {data}."


def _metadata(trained: TrainedNetwork, collection: Collection) -> dict[str, str]:
    metadata = {
        "kind": KIND,
        "game": trained.size.game,
        "name": _name(trained),
        "licence": LICENCE,
        "source": collection.source,
        "scale": collection.scale,
        "who": ",".join(trained.size.shape.who_columns),
    }
    if trained.size.game == OTHELLO.name:
        metadata["orientations"] = "canonical"  # of the positions it learned from: see engine.human.othello
    if len(trained.vectors) > 1 and trained.size.person_planes:
        # The distribution of persons' vectors: the prior of a new person's.
        metadata["person.mean"] = _numbers(trained.vectors.mean(axis=0))
        metadata["person.cov"] = _numbers(
            np.cov(trained.vectors, rowvar=False).reshape(2 * (trained.vectors.shape[1],))
        )
    return metadata


def _numbers(values: np.ndarray[Any, Any]) -> str:
    return json.dumps(np.round(values.astype(np.float64), 6).tolist())


def command_line() -> str:
    """The command that was run, without the paths of this machine."""
    words = [word if "/" not in word else Path(word).name for word in sys.argv[1:]]
    return " ".join(["python -m lab.training.people", *words])
