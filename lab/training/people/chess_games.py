"""Reads chess games with ratings and clocks from PGN as a stream: ``.pgn``, or ``.pgn.zst`` of lichess.org.

The native core reads the moves; Python only cuts the stream into games. Games from other starts, of variants
and of bots are left out.
"""

import io
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from engine.formats.pgn_splitter import PgnText, split
from lab._training import chess_human_positions
from lab.training.people.collection import POINTS, Collection, from_native, person_features, results_of
from lab.training.people.elo import Players
from lab.training.people.positions import HumanPositions, UnusableGames, concatenate, scaled_count
from lab.training.people.shapes import CHESS

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HELD_OUT_ONE_IN = 20
"""One game in this many measures a network, chosen by a checksum of its moves."""
_GAMES_AT_ONCE = 2000
_CLOCK = CHESS.features.index("clock")


def read_chess(paths: Sequence[Path], most_positions: int) -> Collection:
    """Read positions with a choice from PGN files.

    Args:
        paths: Files, read in order.
        most_positions: Stop after about this many positions; 0: read everything.

    Raises:
        UnusableGames: A file is unreadable, or there are no games of people.
    """
    parts: list[HumanPositions] = []
    held_out: list[NDArray[np.bool_]] = []
    count = 0
    games = people_games(paths)
    while (not most_positions or count < most_positions) and (some := list(islice(games, _GAMES_AT_ONCE))):
        positions = positions_of(some)
        is_held_out = np.array([zlib.crc32(game.movetext.encode()) % HELD_OUT_ONE_IN == 0 for game in some])
        parts.append(positions)
        held_out.append(is_held_out[positions.game])
        count += len(positions)
    if not count:
        raise UnusableGames(f"{', '.join(map(str, paths))}: no chess games of people")
    return Collection(
        concatenate(parts),
        np.concatenate(held_out),
        source=f"chess games in PGN ({', '.join(path.name for path in paths)})",
        scale="ratings as the files state them",
        split=f"one game in {HELD_OUT_ONE_IN} to measure, the others to learn",
    )


def people_games(paths: Sequence[Path]) -> Iterator[PgnText]:
    """The games of people from the usual start, as texts.

    Raises:
        UnusableGames: A file is unreadable.
    """
    for path in paths:
        try:
            with _lines(path) as lines:
                yield from (game for game in split(lines) if isinstance(game, PgnText) and _is_usable(game))
        except (OSError, EOFError, UnicodeDecodeError, zstd.ZstdError) as error:
            raise UnusableGames(f"{path}: {error}") from None


def positions_of(games: Sequence[PgnText]) -> HumanPositions:
    """The positions with a choice of some games; a game with a word that is no legal move ends before it."""
    native = from_native(CHESS, chess_human_positions([game.movetext for game in games]))
    positions = native.positions
    ratings = np.array([[_rating(game, "WhiteElo"), _rating(game, "BlackElo")] for game in games])
    side = positions.ply & 1
    features = person_features(Players(ratings, np.full(ratings.shape, np.nan)), positions.game, side)
    features[:, _CLOCK] = scaled_count(native.clocks_s)  # in the place of the number of games
    years = np.array([_year(game) for game in games], dtype=np.int16)
    positions = replace(
        positions,
        features=features,
        result=results_of([POINTS.get(game.tags.get("Result", "")) for game in games], positions.game, side),
        year=years[positions.game],
    )
    return positions.of(positions.has_choice)


@contextmanager
def _lines(path: Path) -> Iterator[TextIO]:
    with path.open("rb") as file:
        if path.suffix != ".zst":
            yield io.TextIOWrapper(file, encoding="utf-8", errors="replace")
            return
        with zstd.open(file, "rb") as unpacked:
            yield io.TextIOWrapper(unpacked, encoding="utf-8", errors="replace")


def _is_usable(game: PgnText) -> bool:
    tags = game.tags
    is_usual = tags.get("Variant", "Standard") in ("Standard", "") and not tags.get("FEN")
    is_bot = "BOT" in (tags.get("WhiteTitle"), tags.get("BlackTitle"))
    return is_usual and not is_bot and not game.damage


def _rating(game: PgnText, tag: str) -> float:
    text = game.tags.get(tag, "")
    return float(text) if text.isascii() and text.isdigit() and len(text) <= 4 else np.nan


def _year(game: PgnText) -> int:
    text = (game.tags.get("UTCDate") or game.tags.get("Date", ""))[:4]
    return int(text) if text.isascii() and text.isdigit() else 0
