"""Abramson's question in real games: does deeper search play better at Othello, chess and xiangqi?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from bot.match.openings import position_after, random_opening
from engine.expected import expected_score
from engine.games import get_rules
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from lab.experiments.estimates_text import (
    in_points,
    mean_of,
    percent,
    share_percent,
    verdict_above,
    with_interval,
)
from lab.experiments.experiment import Job, Result, Size
from lab.experiments.experiment_report import Chart, Line, PaperClaim, Report, Table
from lab.experiments.matches import Cell, Games, MatchExperiment
from storage.evidence.intervals import share

GAMES = ("othello", "chess", "xiangqi")
_DEPTHS = {Size.SMALL: {"othello": 2}, Size.FULL: {"othello": 7, "chess": 5, "xiangqi": 4}}
"""Maximum D for each game: depth D + 1 plays against depth D, for every D from 2 to this maximum."""
_PAIRS = {Size.SMALL: 1, Size.FULL: 100}
_ORACLE = {
    Size.SMALL: {"othello": 6},
    Size.FULL: {"othello": 11, "chess": 7, "xiangqi": 6},
}
"""Depth of the search that judges the first move chosen from an opening position."""
_POSITIONS = {Size.SMALL: 5, Size.FULL: 400}
_BATCH = 20
_TABLE_MB = 64


class DeeperSearch(MatchExperiment):
    """Plays depth D + 1 against depth D, and judges first moves with a deeper search."""

    name: ClassVar = "deeper-search"
    title: ClassVar = "Does deeper search play better in real games?"
    source: ClassVar = "Abramson 1985, section 1 (the question), applied to this program's games"
    version: ClassVar = "1"

    def cells(self, size: Size) -> Sequence[Cell]:
        """See `MatchExperiment.cells`."""
        return [
            _cell(game, depth, _PAIRS[size])
            for game, deepest in _DEPTHS[size].items()
            for depth in range(2, deepest + 1)
        ]

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`."""
        judged = [
            Job(
                f"{game}: first moves {first}, judged at depth {oracle}",
                {
                    "game": game,
                    "oracle": oracle,
                    "first": first,
                    "count": min(_BATCH, _POSITIONS[size] - first),
                },
            )
            for game, oracle in _ORACLE[size].items()
            for first in range(0, _POSITIONS[size], _BATCH)
        ]
        return [*judged, *super().jobs(size)]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """See `MatchExperiment.run`; jobs on positions return the cost of the move chosen at each depth."""
        if "oracle" not in arguments:
            return super().run(arguments, seed)
        numbers = range(arguments["first"], arguments["first"] + arguments["count"])
        return {"costs": [first_move_costs(arguments["game"], seed, n, arguments["oracle"]) for n in numbers]}

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        games = self.games(results, size)
        costs = {
            game: np.array(
                [
                    row
                    for name, part in results.items()
                    if name.startswith(f"{game}: first")
                    for row in part["costs"]
                ]
            )
            for game in GAMES
        }
        known = {game: found for game, found in costs.items() if len(found)}
        claims = [*_deeper_wins(games, size), *_costs_fall(known)]
        return Report(
            tuple(claims), (_matches(games, size), *map(_judged, known, known.values())), _charts(known)
        )


def _cell(game: str, depth: int, pairs: int) -> Cell:
    return Cell(game, f"standard:depth={depth + 1}", f"standard:depth={depth}", pairs)


def first_move_costs(name: str, seed: int, number: int, oracle: int) -> list[float]:
    """For each depth from 2, the cost (in expected score) of the move chosen, as judged by a deeper search.

    All searches are full-width and exact; among equally good moves, the first is chosen.
    """
    game = get_rules(name)
    _, found = position_after(game, random_opening(name, seed, number))
    position = game.for_search(found)
    moves = game.legal_moves(position)
    searcher = make_searcher(name, _TABLE_MB)
    assert isinstance(searcher, NativeSearcher)  # noqa: S101 - the core plays these games
    scores = -np.array(searcher.scores_after(position, moves, 1, oracle - 1, StopFlag()))
    scale = game.expected_scale_centi(position)
    worth = [expected_score(int(score), scale) / 10_000 for score in scores[:, -1]]
    best = max(worth)
    return [round(best - worth[int(column.argmax())], 6) for column in scores.T]


def _found(games: Mapping[str, Games], game: str, depth: int) -> Games | None:
    return games.get(_cell(game, depth, 1).name)


def _deeper_wins(games: Mapping[str, Games], size: Size) -> Iterator[PaperClaim]:
    for game, deepest in _DEPTHS[size].items():
        scores = [
            (d, found.score) for d in range(2, deepest + 1) if (found := _found(games, game, d)) is not None
        ]
        if scores:
            yield PaperClaim(
                f"Deeper search plays better: {game}, depth D + 1 against D",
                verdict_above([each for _, each in scores], 0.5),
                ", ".join(f"{depth + 1} v {depth}: {percent(each)} %" for depth, each in scores),
            )


def _costs_fall(costs: Mapping[str, np.ndarray[Any, Any]]) -> Iterator[PaperClaim]:
    for game, found in costs.items():
        steps = [
            mean_of(found[:, at] - found[:, at + 1], comparisons=found.shape[1] - 1)
            for at in range(found.shape[1] - 1)
        ]
        lowest = min(steps, key=lambda step: step.value)
        yield PaperClaim(
            f"Each further ply finds better first moves: {game}",
            verdict_above(steps, 0.0),
            f"the smallest gain from one more ply is {in_points(lowest)} points of expected score",
        )


def _matches(games: Mapping[str, Games], size: Size) -> Table:
    rows = [
        (game, f"{depth + 1} v {depth}", *found.words())
        for game, deepest in _DEPTHS[size].items()
        for depth in range(2, deepest + 1)
        if (found := _found(games, game, depth)) is not None
    ]
    return Table("Depth D + 1 against D", ("game", "depths", "games", "score, %", "Elo"), tuple(rows))


def _judged(game: str, found: np.ndarray[Any, Any]) -> Table:
    deepest = found.shape[1] + 1
    rows = tuple(
        (
            f"{depth}",
            share_percent(share(int((column == 0).sum()), len(column))),
            with_interval(mean_of(column), 100, 2),
        )
        for depth, column in enumerate(found.T, start=2)
    )
    return Table(
        f"First moves in {game}, judged by a search of {deepest} plies",
        ("depth", "as good as the best move, %", "mean cost, points of expected score"),
        rows,
        f"{len(found)} balanced random openings; full-width search. The last row is the judging search "
        "itself.",
    )


def _charts(costs: Mapping[str, np.ndarray[Any, Any]]) -> tuple[Chart, ...]:
    lines = []
    for game, found in costs.items():
        means = [mean_of(column) for column in found.T]
        marks = tuple((float(d), each.value, each.low, each.high) for d, each in enumerate(means, start=2))
        lines.append(Line(game, marks))
    if not lines:
        return ()
    return (
        Chart("costs", "Cost of first moves, by depth", "depth", "expected score given up", tuple(lines)),
    )
