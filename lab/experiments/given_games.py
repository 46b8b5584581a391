"""Reads the human games in the folder of a full run, and samples the moves to judge."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from lab.analysis.recorded_games import AnsweredMove, GivenGame, MoveFilter, read_games, select_moves
from lab.experiments.experiment import Job

NEEDED = "human games: .pgn files of chess; .wtb, .jou and .trn files of Othello, 2016 to 2019"
"""Description of the data that the folder must contain."""
DEPTHS = {"chess": 6, "othello": 8}
"""Depth of the search that judges a move's replies."""
FROM_PLY = {"chess": 10, "othello": 6}
"""Number of opening plies to skip, because people play them from memory."""
_YEARS = {"chess": (None, None), "othello": (2016, 2019)}
"""First and last year of the games; for Othello, only years that were not used to train the network."""
_SUFFIXES = {"chess": (".pgn",), "othello": (".wtb", ".jou", ".trn")}


@lru_cache(maxsize=2)
def given_games(game: str, folder: str) -> Sequence[GivenGame]:
    """All games of chess (.pgn) or Othello (WTHOR) in a folder, in the order of the file names.

    Raises:
        AnalysisError: A file cannot be read.
    """
    paths = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in _SUFFIXES[game])
    return tuple(read_games(paths, game))


def sample_of(games: Sequence[GivenGame], game: str, most: int, seed: int) -> list[AnsweredMove]:
    """A seeded random sample of the moves in these games, excluding moves without a reply."""
    low, high = _YEARS[game]
    return select_moves(
        games, MoveFilter(sample=most, seed=seed, from_ply=FROM_PLY[game], from_year=low, to_year=high)
    )


def jobs_of_sample(kind: str, game: str, most: int, batch: int) -> list[Job]:
    """The jobs that judge a sample of moves, one batch per job; their names begin with `kind`."""
    return [
        Job(
            f"{kind}: {game} {first}",
            {"game": game, "first": first, "count": min(batch, most - first), "most": most},
        )
        for first in range(0, most, batch)
    ]
