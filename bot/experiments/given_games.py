"""Games of people in the folder that a full run is given."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from bot.analysis.games import GivenGame, read_games

_SUFFIXES = {"chess": (".pgn",), "othello": (".wtb", ".jou", ".trn")}


@lru_cache(maxsize=2)
def given_games(game: str, folder: str) -> Sequence[GivenGame]:
    """All games of chess (.pgn) or Othello (WTHOR) in a folder, in the order of the files' names.

    Raises:
        AnalysisError: A file cannot be read.
    """
    paths = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in _SUFFIXES[game])
    return tuple(read_games(paths, game))
