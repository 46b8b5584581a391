"""Experiments that consist of matches; a cell is one match, and each job plays a few pairs of its games."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bot.match.conditions import Terms
from bot.match.openings import Opening, random_opening
from bot.match.play import GameTask, play
from bot.match.player_specs import parse_spec
from bot.match.score import elo_estimate
from lab.experiments.estimates_text import MeanEstimate, mean_of, percent, tally, with_interval
from lab.experiments.experiment import Experiment, Job, Result, Size


@dataclass(frozen=True, slots=True)
class Cell:
    """A match; its results do not depend on the rest of the experiment."""

    game: str
    a: str
    """Player specifications, as for `desdemona match`; each sets its own limits."""
    b: str
    pairs: int
    """Number of openings, each played with both colours."""
    plies: int | None = None
    """Number of moves in each opening: 0 for the standard starting position, None for the game's default."""

    @property
    def name(self) -> str:
        """The cell's name, independent of its number of pairs."""
        start = "" if self.plies is None else f" after {self.plies}"
        return f"{self.game}: {self.a} v {self.b}{start}"


@dataclass(frozen=True, slots=True)
class Games:
    """The games of a cell, by pair."""

    points: NDArray[np.float64]
    """A's share of the points in each pair."""
    margins: NDArray[np.float64]
    """A's mean margin, in discs, in each pair; empty for games without margins."""
    openings: NDArray[np.int64]
    """For each element of `margins`, the index of its opening."""
    single: tuple[tuple[float, int | None], ...]
    """A's points and margin in each game; A moves first in one game of each pair."""
    nodes: tuple[float, float]
    """Mean number of positions visited per move, by A and by B; 0 if unknown."""

    @property
    def score(self) -> MeanEstimate:
        """A's score."""
        return mean_of(self.points)

    @property
    def discs(self) -> MeanEstimate:
        """A's mean margin per game, in discs."""
        return mean_of(self.margins)

    @property
    def tally(self) -> str:
        """Wins, draws and losses, for example +1 =2 -3."""
        return tally(np.array([points for points, _ in self.single]))

    def words(self) -> tuple[str, str, str]:
        """Tally, percentage score and Elo difference, as text."""
        elo = elo_estimate(self.points.tolist())
        value = "-" if elo.value is None else f"{elo.value:+.0f}"
        if elo.value is not None and (elo.low is not None or elo.high is not None):
            low, high = ("-" if each is None else f"{each:+.0f}" for each in (elo.low, elo.high))
            value += f" ({low} to {high})"
        return self.tally, percent(self.score), value


class MatchExperiment(Experiment):
    """An experiment that consists of matches."""

    batch: ClassVar = 5
    """Number of pairs per job."""

    @abstractmethod
    def cells(self, size: Size) -> Sequence[Cell]:
        """The matches to play, without duplicates."""

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`."""
        return [
            Job(f"{cell.name}: pairs {first}", {**asdict(cell), "first": first, "pairs": count})
            for cell in self.cells(size)
            for first in range(0, cell.pairs, self.batch)
            for count in [min(self.batch, cell.pairs - first)]
        ]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Play a few pairs of games.

        Returns:
            ``games``: A's points, A's margin in discs (or null) and the number of plies for each game, in the
            order of play; ``nodes`` and ``moves``: totals of A and of B over these games.
        """
        given = dict(arguments)
        first = given.pop("first")
        cell = Cell(**given)
        terms = Terms(
            game=cell.game,
            a=parse_spec(cell.a),
            b=parse_spec(cell.b),
            depth=1000,  # each player sets its own depth
            openings=f"seed {seed}",
        )
        games, nodes, moves = [], [0, 0], [0, 0]
        for number in range(2 * first, 2 * (first + cell.pairs)):
            opening = (
                Opening(None, ())
                if cell.plies == 0
                else random_opening(cell.game, seed, number // 2, plies=cell.plies)
            )
            played = play(GameTask(terms, number, seed, opening, keeps_decisions=False))
            finished = played.finished
            games.append([finished.points, finished.margin, len(played.moves)])
            for which, used in enumerate(finished.used):
                nodes[which] += used.nodes
                moves[which] += used.told_nodes
        return {"games": games, "nodes": nodes, "moves": moves}

    def games(self, results: Mapping[str, Result], size: Size) -> dict[str, Games]:
        """The games played so far, by cell name; cells without games are left out."""
        found: dict[str, list[tuple[int, Result]]] = {}
        for cell in self.cells(size):
            for first in range(0, cell.pairs, self.batch):
                if (part := results.get(f"{cell.name}: pairs {first}")) is not None:
                    found.setdefault(cell.name, []).append((first, part))
        return {name: _games(parts) for name, parts in found.items()}


def _games(parts: Sequence[tuple[int, Result]]) -> Games:
    """Combine the results of a cell's jobs; each result comes with the number of the job's first pair."""
    single = [(float(points), margin) for _, part in parts for points, margin, _ in part["games"]]
    pairs = [single[at : at + 2] for at in range(0, len(single), 2)]
    openings = [first + at for first, part in parts for at in range(len(part["games"]) // 2)]
    margins = {
        opening: (first + second) / 2
        for opening, ((_, first), (_, second)) in zip(openings, pairs, strict=True)
        if first is not None and second is not None
    }
    nodes = [
        sum(part["nodes"][which] for _, part in parts)
        / max(1, sum(part["moves"][which] for _, part in parts))
        for which in (0, 1)
    ]
    return Games(
        np.array([(first + second) / 2 for (first, _), (second, _) in pairs]),
        np.array(list(margins.values()), float),
        np.array(list(margins), int),
        tuple(single),
        (nodes[0], nodes[1]),
    )


def paired_jobs(results: Mapping[str, Result], names: Mapping[str, str]) -> dict[str, Result]:
    """Results of the jobs that play the same openings with different players; empty while any is missing.

    Args:
        names: Job name of each player.
    """
    found = {player: results[name] for player, name in names.items() if name in results}
    return found if len(found) == len(names) else {}


def paired(a: Games, b: Games, comparisons: int = 1) -> MeanEstimate:
    """Mean difference of margins over the openings that both cells played; `comparisons` as in `mean_of`."""
    _, of_a, of_b = np.intersect1d(a.openings, b.openings, assume_unique=True, return_indices=True)
    return mean_of(a.margins[of_a] - b.margins[of_b], comparisons)


def better_and_worse(a: Games, b: Games) -> tuple[int, int]:
    """Among the openings that both cells have played, the number in which the first cell's margin is greater,
    and the number in which it is smaller.
    """
    _, of_a, of_b = np.intersect1d(a.openings, b.openings, assume_unique=True, return_indices=True)
    gains = a.margins[of_a] - b.margins[of_b]
    return int((gains > 0).sum()), int((gains < 0).sum())


def discs(found: MeanEstimate) -> str:
    """Format a margin in discs."""
    return with_interval(found, 1, 1, "+")
