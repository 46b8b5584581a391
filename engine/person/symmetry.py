"""Keys of positions and replies that are equal for positions that differ only by a symmetry of the game.

Othello has eight symmetries, and a position's key does not tell which colour is to move; xiangqi has left and
right. Other games have none. Counters of plies and the game's earlier moves do not count.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from engine.games import get_rules
from engine.games.othello import OthelloPosition
from engine.human.othello_boards import TURNED, turned, upright

OTHELLO, XIANGQI = "othello", "xiangqi"
_FILES = 9
_MIRROR = str.maketrans("abcdefghi", "ihgfedcba")
_SQUARE_FILES = "abcdefgh"


@dataclass(frozen=True, slots=True)
class PositionKeys:
    """A position and the legal replies in it, as whole numbers."""

    position: int
    """64 bits."""
    replies: tuple[int, ...]
    """32 bits each; replies that a symmetry of the position maps to each other have the same key."""


@lru_cache(maxsize=1024)  # a position's keys are needed to predict the reply and then to learn from it
def position_keys(game: str, position: str, replies: tuple[str, ...]) -> PositionKeys:
    """The keys of a position and of moves in it.

    Args:
        game: The game's name.
        position: The position, as `Game.position_text` writes it.
        replies: Moves in it, as `Game.move_text` writes them.

    Raises:
        BadPosition: The text is not a position of the game.
    """
    rules = get_rules(game)
    parsed = rules.parse_position(position)
    if game == OTHELLO:
        board, names = _othello(parsed, replies)
    else:
        words = rules.board_text(parsed).split()
        board = " ".join(word for word in words if not word.isdigit())
        names = list(replies)
        if game == XIANGQI:
            board, names = _xiangqi(board, names)
    return PositionKeys(_hash(board, 8), tuple(_hash(name, 4) for name in names))


def _othello(position: OthelloPosition, replies: Sequence[str]) -> tuple[str, list[str]]:
    own, other = (np.array([board], np.uint64) for board in position[:2])
    turns = np.flatnonzero(upright(own, other)[:, 0])
    first = turns[:1]
    board = f"{int(turned(own, first)[0])} {int(turned(other, first)[0])}"
    names = []
    for reply in replies:
        if len(reply) == 2 and reply[0] in _SQUARE_FILES and reply[1].isdigit():
            square = _SQUARE_FILES.index(reply[0]) + 8 * (int(reply[1]) - 1)
            names.append(str(TURNED[turns, square].min()))
        else:
            names.append(reply)
    return board, names


def _xiangqi(board: str, replies: Sequence[str]) -> tuple[str, list[str]]:
    placement, _, side = board.partition(" ")
    mirrored = "/".join(row[::-1] for row in placement.split("/"))
    images = []
    if placement <= mirrored:
        images.append(list(replies))
    if mirrored <= placement:
        images.append([reply.translate(_MIRROR) for reply in replies])
    return f"{min(placement, mirrored)} {side}", [min(names) for names in zip(*images, strict=True)]


def _hash(text: str, size: int) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=size).digest(), "little")
