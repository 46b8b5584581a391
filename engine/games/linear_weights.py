"""Weights of a linear evaluation, read from the JSON file beside the game.

A *group* is a list of features under one name.  Each feature has a middlegame weight and an endgame weight,
in centi-units. The file is also the card that documents how the weights were learned.
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.games.program_files import open_program_file

Groups = Mapping[str, int]
"""Sizes of the groups by name, in the order of the features."""


class BadWeights(ValueError):
    """The file lacks valid weights for the requested groups; the message states the problem."""


@dataclass(frozen=True, slots=True)
class LinearWeights:
    """Weights of all features, group after group."""

    middle: tuple[int, ...]
    """Middlegame weights, in centi-units."""
    end: tuple[int, ...]
    """Endgame weights, in centi-units."""
    scale_centi: tuple[float, float]
    """The scale s in the expected result 1 / (1 + exp(-score / s)), for the endgame and the middlegame."""

    def expected_scale_centi(self, middle: int) -> float:
        """The scale s at the game phase ``middle``, which is 64 in the middlegame and 0 in the endgame."""
        end, opening = self.scale_centi
        return end + (opening - end) * middle / 64

    def to_bytes(self) -> bytes:
        """The weights in the C++ core's format: two little-endian 16-bit integers for each feature."""
        pairs = [weight for pair in zip(self.middle, self.end, strict=True) for weight in pair]
        return struct.pack(f"<{len(pairs)}h", *pairs)


def group_offsets(groups: Groups) -> dict[str, int]:
    """Index of the first feature of each group."""
    first, total = {}, 0
    for name, size in groups.items():
        first[name] = total
        total += size
    return first


def from_card(card: Mapping[str, Any], groups: Groups) -> LinearWeights:
    """Read the weights from a card.

    Raises:
        BadWeights: The card lacks one of these groups, or contains a value that is not a valid weight.
    """
    held = card["weights"]
    if list(held) != list(groups):
        raise BadWeights(f"the groups are {', '.join(held)}, not {', '.join(groups)}")
    halves: dict[str, list[int]] = {"middle": [], "end": []}
    for name, size in groups.items():
        for half, weights in halves.items():
            of_group = held[name][half]
            if len(of_group) != size:
                raise BadWeights(f"{name} has {len(of_group)} weights, not {size}")
            if not all(type(weight) is int and abs(weight) < 1 << 15 for weight in of_group):  # not True
                raise BadWeights(f"{name} has weights that are not 16-bit integers")
            weights += of_group
    scale = card["expected_scale_centi"]["end"], card["expected_scale_centi"]["middle"]
    if not all(type(each) in (int, float) and 0 < each < math.inf for each in scale):
        raise BadWeights("expected_scale_centi has values that are not positive numbers")
    return LinearWeights(tuple(halves["middle"]), tuple(halves["end"]), scale)


def linear_weights_file(game: str) -> str:
    """File name of the program's own card for a game."""
    return f"{game}_weights.json"


def own_weights(game: str, groups: Groups) -> LinearWeights:
    """Read the weights from one of the program's own cards.

    Raises:
        DamagedFile: The file is missing or damaged.
    """
    with open_program_file(linear_weights_file(game)) as file:
        return from_card(json.loads(file.read_text("utf-8")), groups)
