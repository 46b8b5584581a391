"""Abramson 1985: does deeper search play worse? Board splitting, Figures 1 to 6 and section 3.1."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import expm1, log1p
from typing import Any, ClassVar

import numpy as np

from lab.experiments.board_splitting import (
    NUMBER,
    TRAPS,
    Position,
    Shape,
    fair_chance,
    random_board,
)
from lab.experiments.estimates_text import (
    MeanEstimate,
    above_zero,
    in_points,
    mean_of,
    percent,
    share_percent,
)
from lab.experiments.experiment import Experiment, Job, Result, Size
from lab.experiments.experiment_report import Chart, ClaimVerdict, Line, PaperClaim, Report, Table
from storage.evidence.intervals import share

V, H = 0, 1
EVALUATIONS = (NUMBER, TRAPS)
BATCH = 50
"""Number of boards in a job."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One of the paper's figures."""

    number: int
    shape: Shape
    player: int
    """The player with look-ahead; the other player has none."""
    look_ahead: tuple[int, ...]
    tips: str

    @property
    def title(self) -> str:
        """The figure's set-up in words."""
        return (
            f"Figure {self.number}: B = {self.shape.b}, D = {self.shape.d}, {'VH'[self.player]} looks ahead, "
            f"{self.tips} boards evaluated"
        )


FIGURES = (
    Figure(1, Shape(3, 5), H, (0, 2, 4, 6), "square"),
    Figure(2, Shape(3, 5), H, (1, 3, 5, 7), "tall"),
    Figure(3, Shape(3, 6), H, (0, 2, 4, 6, 8), "square"),
    Figure(4, Shape(3, 6), H, (1, 3, 5, 7, 9), "tall"),
    Figure(5, Shape(4, 5), V, (1, 3, 5, 7), "square"),
    Figure(6, Shape(4, 5), V, (0, 2, 4, 6), "tall"),
)
PATHOLOGICAL = (3, 4, 5, 6)
"""Figures in which the paper finds the evaluation N pathological; in Figures 1 and 2 it does not."""
_BOARDS = {Size.SMALL: 50, Size.FULL: 2000}
_LEVEL_10 = 8
"""The look-ahead at which H's first move in Figure 3 sees level 10 of 12."""


class Pathology(Experiment):
    """Board splitting."""

    name: ClassVar = "pathology"
    title: ClassVar = "Deeper search that plays worse: board splitting"
    source: ClassVar = "Abramson 1985, Figures 1 to 6 and section 3.1"
    version: ClassVar = "1"

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`."""
        shapes = list(dict.fromkeys(figure.shape for figure in FIGURES))
        if size is Size.SMALL:
            shapes = shapes[:1]
        return [
            Job(f"B{shape.b} D{shape.d} {what} {first}", {"b": shape.b, "d": shape.d, "first": first, **more})
            for what, more in (("boards", {}), ("random moves", {"is_random": True}))
            for shape in shapes
            for first in range(0, _BOARDS[size], BATCH)
        ]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Play a batch of boards, or judge random first moves on them.

        Returns:
            ``wins``: keyed by figure, evaluation and look-ahead, one digit per board: 1 if the player with
            look-ahead wins. ``right``: with the same keys, one value per board whose first move matters: the
            fraction of right moves among the best-valued moves. With `is_random`, only ``random``: keyed by
            player and evaluation, the fraction of right moves among all moves, on the same boards.
        """
        shape = Shape(arguments["b"], arguments["d"])
        if arguments.get("is_random"):
            return {"random": random_moves(shape, seed, arguments["first"])}
        wins: dict[str, str] = {}
        right: dict[str, list[float]] = {}
        for number in range(arguments["first"], arguments["first"] + BATCH):
            random = np.random.default_rng([seed, shape.b, shape.d, number])
            position = Position.of(random_board(shape, random), shape)
            for figure, evaluation, look_ahead in _cells(shape):
                key = f"{figure.number} {evaluation} {look_ahead}"
                sees = (look_ahead, 0) if figure.player == V else (0, look_ahead)
                # Ties are broken with the same seed for each evaluation and look-ahead on a board.
                winner = position.play(evaluation, sees, np.random.default_rng([seed, number]))
                wins[key] = wins.get(key, "") + str(int(winner == figure.player))
                node = _node(position, figure.player, evaluation)
                accuracy = position.accuracy(node, figure.player, look_ahead, evaluation)
                if accuracy is not None:
                    right.setdefault(key, []).append(round(accuracy, 6))
        return {"wins": wins, "right": right}

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        wins: dict[str, list[int]] = {}
        right: dict[str, list[float]] = {}
        random_shares: dict[str, list[float]] = {}
        for job in self.jobs(size):
            found = results.get(job.name, {})
            for key, digits in found.get("wins", {}).items():
                wins.setdefault(key, []).extend(map(int, digits))
            for key, shares in found.get("right", {}).items():
                right.setdefault(key, []).extend(shares)
            shape = f"{job.arguments['b']} {job.arguments['d']}"
            for key, shares in found.get("random", {}).items():
                random_shares.setdefault(f"{shape} {key}", []).extend(shares)
        figures = [figure for figure in FIGURES if f"{figure.number} N {figure.look_ahead[0]}" in wins]
        claims = [claim for figure in figures for claim in _claims(figure, wins)]
        claims += [claim for figure in figures for claim in _first_move(figure, right)]
        claims += [claim for figure in figures for claim in _less_random(figure, right, random_shares)]
        claims += _level_10(wins)
        tables = [_table(figure, wins, right, random_shares) for figure in figures]
        return Report(
            tuple(claims), (*tables, _probabilities()), tuple(_chart(each, wins) for each in figures)
        )


def _cells(shape: Shape) -> Iterator[tuple[Figure, str, int]]:
    for figure in FIGURES:
        if figure.shape == shape:
            for evaluation in EVALUATIONS:
                for look_ahead in figure.look_ahead:
                    yield figure, evaluation, look_ahead


def steps(figure: Figure, evaluation: str, wins: Mapping[str, Sequence[int]]) -> list[MeanEstimate]:
    """Change in wins from each look-ahead to the next, on the same boards.

    Intervals are simultaneous over the steps of a line (Bonferroni), because any falling step matters.
    """
    series = [np.array(wins[f"{figure.number} {evaluation} {k}"], float) for k in figure.look_ahead]
    return [mean_of(later - earlier, comparisons=len(series) - 1) for earlier, later in pairwise(series)]


def _claims(figure: Figure, wins: Mapping[str, Sequence[int]]) -> Iterator[PaperClaim]:
    for evaluation in EVALUATIONS:
        changes = steps(figure, evaluation, wins)
        falls = any(change.high < 0 for change in changes)
        rises = all(change.low > 0 for change in changes)
        lowest = min(changes, key=lambda change: change.value)
        found = f"its lowest step is {in_points(lowest)} wins per 100 games"
        expects = evaluation == NUMBER and figure.number in PATHOLOGICAL
        verdict = (
            ClaimVerdict.INCONCLUSIVE
            if falls == rises
            else ClaimVerdict.HOLDS
            if falls == expects
            else ClaimVerdict.FAILS
        )
        words = "is pathological: wins fall as search deepens" if expects else "is not pathological"
        yield PaperClaim(f"Figure {figure.number}: {evaluation} {words}", verdict, found)


def _first_move(figure: Figure, right: Mapping[str, Sequence[float]]) -> Iterator[PaperClaim]:
    """Claim: the deepest look-ahead chooses worse first moves than the shallowest, on the same boards."""
    shallow, deep = (
        np.array(right.get(f"{figure.number} {NUMBER} {k}", ()))
        for k in (figure.look_ahead[0], figure.look_ahead[-1])
    )
    if len(shallow) == len(deep) > 0:
        change = mean_of(deep - shallow)
        yield PaperClaim(
            f"Figure {figure.number}: with N, deeper search makes the first move worse",
            above_zero(-change),
            f"{in_points(change)} per 100 moves, from {figure.look_ahead[0]} to {figure.look_ahead[-1]} "
            "plies",
        )


def _node(position: Position, player: int, evaluation: str) -> int:
    """The board before a player's first move; for H, the board after V's move without look-ahead."""
    return 0 if player == V else int(position.best_moves(0, 0, 0, evaluation)[0])


def random_moves(shape: Shape, seed: int, first: int) -> dict[str, list[float]]:
    """Return how often a random first move is right on those boards of a batch whose first move matters.

    Returns:
        Rates keyed by player and evaluation, in the order of the boards in ``right`` (`Pathology.run`).
    """
    players = dict.fromkeys(figure.player for figure in FIGURES if figure.shape == shape)
    random_moves: dict[str, list[float]] = {}
    for number in range(first, first + BATCH):
        random = np.random.default_rng([seed, shape.b, shape.d, number])
        position = Position.of(random_board(shape, random), shape, deepest=1)
        for player in players:
            for evaluation in EVALUATIONS:
                share_won = position.won_moves(_node(position, player, evaluation), player)
                if share_won is not None:
                    random_moves.setdefault(f"{player} {evaluation}", []).append(
                        round(float(share_won.mean()), 6)
                    )
    return random_moves


def _random_key(figure: Figure, evaluation: str) -> str:
    return f"{figure.shape.b} {figure.shape.d} {figure.player} {evaluation}"


def _less_random(
    figure: Figure, right: Mapping[str, Sequence[float]], random_shares: Mapping[str, Sequence[float]]
) -> Iterator[PaperClaim]:
    """Claim: the deepest look-ahead's first moves are better than random ones, on the same boards."""
    chosen = np.array(right.get(f"{figure.number} {NUMBER} {figure.look_ahead[-1]}", ()))
    random = np.array(random_shares.get(_random_key(figure, NUMBER), ()))
    if len(chosen) == len(random) > 0:
        gain = mean_of(chosen - random)
        yield PaperClaim(
            f"Figure {figure.number}: with N, a first move at {figure.look_ahead[-1]} plies is better than "
            "a random one",
            above_zero(gain),
            f"{percent(mean_of(chosen))} % are right, {percent(mean_of(random))} % at random: "
            f"{in_points(gain)} per 100 moves, on {gain.n} boards whose first move matters",
        )


def _level_10(wins: Mapping[str, Sequence[int]]) -> Iterator[PaperClaim]:
    for evaluation, told in ((NUMBER, 66), (TRAPS, 90)):
        games = wins.get(f"3 {evaluation} {_LEVEL_10}")
        if games:
            found = share(sum(games), len(games))
            low, high = share(told, 100).low or 0.0, share(told, 100).high or 0.0
            is_same = low <= (found.share or 0.0) <= high
            yield PaperClaim(
                f"When H sees level 10 of 12 at her first move, {evaluation} wins {told} of 100 games",
                ClaimVerdict.HOLDS if is_same else ClaimVerdict.FAILS,
                f"{share_percent(found)} %, {'within' if is_same else 'outside'} the interval around {told} "
                "of 100",
            )


def _table(
    figure: Figure,
    wins: Mapping[str, Sequence[int]],
    right: Mapping[str, Sequence[float]],
    random_shares: Mapping[str, Sequence[float]],
) -> Table:
    rows = []
    for look_ahead in figure.look_ahead:
        row = [str(look_ahead)]
        arrays = []
        for evaluation in EVALUATIONS:
            games = wins[f"{figure.number} {evaluation} {look_ahead}"]
            arrays.append(np.array(games, float))
            row.append(share_percent(share(sum(games), len(games))))
        row.append(in_points(mean_of(arrays[1] - arrays[0])))
        row += [
            percent(mean_of(np.array(right.get(f"{figure.number} {evaluation} {look_ahead}", ()))))
            for evaluation in EVALUATIONS
        ]
        rows.append(tuple(row))
    boards = len(wins[f"{figure.number} N {figure.look_ahead[0]}"])
    mixed = {
        evaluation: len(right.get(f"{figure.number} {evaluation} {figure.look_ahead[0]}", ()))
        for evaluation in EVALUATIONS
    }
    random = [
        percent(mean_of(np.array(random_shares.get(_random_key(figure, each), ())))) for each in EVALUATIONS
    ]
    rows.append(("a random move", "", "", "", *random))
    return Table(
        figure.title,
        (
            "plies ahead", "wins with N, %", "wins with Y, %", "Y minus N, points",
            "first move right with N, %", "with Y, %",
        ),
        tuple(rows),
        f"{boards} boards, the same in every row. First move: only boards on which some moves win and "
        f"others lose ({mixed[NUMBER]} with N, {mixed[TRAPS]} with Y).",
    )  # fmt: skip


def _chart(figure: Figure, wins: Mapping[str, Sequence[int]]) -> Chart:
    lines = []
    for evaluation in EVALUATIONS:
        shares = [
            share(sum(games), len(games))
            for games in (wins[f"{figure.number} {evaluation} {k}"] for k in figure.look_ahead)
        ]
        values = zip(figure.look_ahead, shares, strict=True)
        lines.append(
            Line(evaluation, tuple((float(k), each.share or 0.0, each.low, each.high) for k, each in values))
        )
    return Chart(
        f"figure-{figure.number}", figure.title, "plies of look-ahead", "share of games won", tuple(lines)
    )


def trap_chances(shape: Shape) -> list[tuple[int, float, float, float]]:
    """Section 3.1: for each even look-ahead k, the probabilities that a board at the tips is a trap (has a
    row of ones), that an evaluation R without knowledge of traps misses a trap there, and that the miss
    affects the decision (P_0).

    The paper prints P without brackets; its next lines use 1 - (1 - p^S)^S.
    """
    p = fair_chance(shape.b)
    trap_chances = []
    for k in range(0, shape.levels - 3, 2):
        side = float(shape.b) ** (shape.d - k // 2 - 1)
        trap = -expm1(side * log1p(-(p**side)))
        missed = error = _missed(trap, shape.b)
        for level in range(k):
            error = error**shape.b if level % 2 == 0 else _missed(error, shape.b)
        trap_chances.append((k, trap, missed, error))
    return trap_chances


def _missed(chance: float, b: int) -> float:
    """(1 - P) - (1 - P)^B, computed accurately even for a tiny P."""
    return (1 - chance) * -expm1((b - 1) * log1p(-chance))


def _probabilities() -> Table:
    rows = tuple(
        (f"{shape.b}", f"{shape.d}", f"{k}", f"{trap:.3g}", f"{missed:.3g}", f"{error:.3g}")
        for shape in dict.fromkeys(figure.shape for figure in FIGURES)
        for k, trap, missed, error in trap_chances(shape)
    )
    return Table(
        "Section 3.1: probabilities of traps, and of missing them",
        ("B", "D", "plies ahead", "a tip is a trap", "R misses one", "P_0"),
        rows,
        "Computed with the paper's formulas, for a row of ones; R chooses among the tips at random.",
    )
