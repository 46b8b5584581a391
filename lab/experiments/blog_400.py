"""The blog "When Suboptimal Minimax is Better": its worked example, and its rule in games.

The rule: a move's value is the mean of the scores after its replies, weighted by their probabilities in a
model of the opponent; a decided game counts as ten pawns; a known mate in five moves or fewer is played
without averaging. Both players detect such mates in the same way, so only the averaging differs.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bot.base.rounding import plural
from bot.match.conditions import Terms
from bot.match.human_players import HumanPlayer
from bot.match.openings import random_opening
from bot.match.participants import OurPlayer
from bot.match.play import play_game
from bot.match.player_specs import HumanSpec, OurSpec, parse_spec
from engine.decision import Decision
from engine.figure_9 import MIN_ERROR_COST, expected_scale_centi, reply_verdicts
from engine.game import WIN_CENTI, ply_of_loss
from engine.human.opponent_value import expectation
from engine.params import TrapParams
from engine.protocols.settings import Allowance, ChosenMove
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from lab.experiments.estimates_text import (
    MeanEstimate,
    above_zero,
    in_points,
    mean_of,
    percent,
    tally,
    with_interval,
)
from lab.experiments.experiment import FOLDER, Experiment, Job, Result, Size
from lab.experiments.experiment_report import Chart, ClaimVerdict, Line, PaperClaim, Report, Table
from lab.experiments.matches import paired_jobs

GAME = "chess"
LEVELS = tuple(range(1100, 2000, 100))
"""Ratings of the people that Maia's networks model."""
STANDARD, MODEL = "standard", "model"
_SPECS = {
    STANDARD: "standard:depth={depth}",
    MODEL: "opponent_model:depth={depth},value_scale=pawns,budget_percent=100,share_percent=100,"
    "least_percent=0",
}
"""Player specifications; the second considers all legal moves and replies, and averages values in pawns."""
CHECKMATE_PAWNS = 10
"""The blog's CHECKMATE_WEIGHT, which is also our default (`engine.params.OpponentParams`)."""
MATE_MOVES = 5
"""Longest mate, in moves, that is played without averaging."""
_MATE_PLIES, _MATE_NODES = 2 * MATE_MOVES - 1, 10_000
"""Depth and node limit of the mate search before each move."""
MIN_BLUNDER_CENTI = 200
"""Minimum cost of a blunder; the blog gives no value."""
_DEPTH = {Size.SMALL: 2, Size.FULL: 4}
_PAIRS = {Size.SMALL: 1, Size.FULL: 25}
_BATCH = 5
EXAMPLES = (
    ((0.6, 0.3, 0.1, 0.1), (5, 1, 0.5, -1), 3.25),
    ((0.9, 0.05, 0.03, 0.02), (4, 0.5, 0, -2), 3.585),
)
"""For each of the two moves: probabilities and scores of its replies, and its value as printed in the
blog."""


class Blog400(Experiment):
    """Checks the worked example, and plays games of both players against human-move models of every level."""

    name: ClassVar = "blog-400"
    title: ClassVar = "Opponent-model search against people"
    source: ClassVar = "When Suboptimal Minimax is Better (blog)"
    version: ClassVar = "1"
    needs: ClassVar = "the Maia networks maia-1100.onnx to maia-1900.onnx (`desdemona lab import-model`)"

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`; levels are interleaved, so that a partial run covers all of them."""
        levels: Sequence[int | None] = LEVELS if size is Size.FULL else (None,)
        return [
            Job(
                _name(level, player, first),
                {
                    "level": level,
                    "player": player,
                    "depth": _DEPTH[size],
                    "first": first,
                    "pairs": min(_BATCH, _PAIRS[size] - first),
                },
            )
            for first in range(0, _PAIRS[size], _BATCH)
            for level in levels
            for player in (STANDARD, MODEL)
        ]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """Play a few pairs of games against the model of one level.

        Returns:
            ``games``: per game, our points, the number of our moves, the number of judged replies, how many
            replies were errors (a tenth of expected score or more) and how many were blunders (two pawns
            or more), and the total cost of the replies in pawns.
        """
        level, first = arguments["level"], arguments["first"]
        model = "" if level is None else f"model={Path(arguments[FOLDER]) / f'maia-{level}.onnx'}"
        ours = _SPECS[arguments["player"]].format(depth=arguments["depth"])
        if arguments["player"] == MODEL and model:
            ours = f"{ours},{model}"
        terms = Terms(
            game=GAME,
            a=parse_spec(ours),
            b=parse_spec(f"human:{model}"),
            depth=arguments["depth"],
            openings=f"seed {seed}",
        )
        numbers = range(2 * first, 2 * (first + arguments["pairs"]))
        return {"games": [played(terms, at, seed) for at in numbers]}

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        found = {
            level: both for level in (*LEVELS, None) if (both := _both(results, level, size)) is not None
        }
        claims = [_worked()]
        tables: list[Table] = []
        charts: tuple[Chart, ...] = ()
        if found:
            every = _Compared(
                *(
                    np.concatenate([getattr(both, which) for both in found.values()])
                    for which in ("a", "b", "openings")
                )
            )
            claims += _claims(every)
            tables = [_results(found, every), _replies(found, every)]
            charts = _charts(found)
        return Report(tuple(claims), tuple(tables), charts)


# --- Games ----------------------------------------------------------------------------------------------


class MatingPlayer(OurPlayer):
    """One of our players, changed to play a mate in at most `MATE_MOVES` moves as soon as a search proves it.

    The moves of a proven mate are not recorded as decisions.
    """

    def __init__(self, spec: OurSpec, game_name: str, seed: str) -> None:
        super().__init__(spec, game_name, seed)
        self._mates = make_searcher(game_name, spec.table_mb)

    def choose(self, moves: Sequence[str], allowance: Allowance, stop: StopFlag) -> ChosenMove:
        """See `OurPlayer.choose`."""
        position = self._game.for_search(self._line.positions(moves)[-1])
        mate = self._mate(position) if isinstance(self._mates, NativeSearcher) else None
        if mate is None:
            return super().choose(moves, allowance, stop)
        return ChosenMove(mate, evaluation_centi=WIN_CENTI, variation=(mate,), depth=None, time_s=0.0)

    def _mate(self, position: Any) -> str | None:
        assert isinstance(self._mates, NativeSearcher)  # noqa: S101 - `choose` asks
        found = self._mates.think(
            position,
            _MATE_PLIES,
            None,
            StopFlag(),
            confidence_percent=100,
            threads=1,
            nodes=_MATE_NODES,
        )
        ply = ply_of_loss(found.score_centi) if found.score_centi >= WIN_CENTI else None
        if ply is None or (ply - position.board.ply() + 1) // 2 > MATE_MOVES:
            return None
        return found.move


def played(terms: Terms, number: int, seed: int) -> list[float]:
    """Play one game and return its summary (see `Blog400.run`)."""
    a, b = terms.a, terms.b
    assert isinstance(a, OurSpec)  # noqa: S101 - as `Blog400.run` makes them
    assert isinstance(b, HumanSpec)  # noqa: S101
    ours = MatingPlayer(a, terms.game, f"{seed} {number} 0")
    people = HumanPlayer(b, terms.game, f"{seed} {number} 1")
    opening = random_opening(terms.game, seed, number // 2)
    game = play_game(terms, number, opening, (ours, people))
    replies = errors = blunders = 0
    cost = 0.0
    for ply, decision in game.decisions:
        judged = judged_reply(decision, game.moves[ply + 1]) if ply + 1 < len(game.moves) else None
        if judged is not None:
            replies += 1
            errors += judged[0] >= MIN_ERROR_COST
            blunders += judged[1] >= MIN_BLUNDER_CENTI
            cost += judged[1] / 100
    finished = game.finished
    return [finished.points, finished.used[0].moves, replies, errors, blunders, round(cost, 2)]


def judged_reply(decision: Decision, reply: str) -> tuple[int, int] | None:
    """The cost of a reply in hundredths of a per cent of expected score, and in centipawns.

    In centipawns, scores are capped at ten pawns. None if there was only one reply, or no complete profile.
    """
    profiles = {each.reply: each.scores_centi for each in decision.chosen.replies}
    if not decision.is_complete or len(profiles) < 2 or reply not in profiles:
        return None
    verdicts = reply_verdicts(decision.chosen, TrapParams(), expected_scale_centi(decision)).replies
    most = 100 * CHECKMATE_PAWNS
    pawns = {each: max(-most, min(most, scores[-1])) for each, scores in profiles.items()}
    cost = next(each.cost for each in verdicts if each.reply == reply)
    return cost, pawns[reply] - min(pawns.values())


# --- The report -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Compared:
    """The games of both players, as arrays with the axes pair, game within the pair, and
    statistic (in the order of `Blog400.run`).
    """

    a: np.ndarray[Any, Any]
    """Games of the standard player."""
    b: np.ndarray[Any, Any]
    """Games of the player with the opponent model."""
    openings: np.ndarray[Any, Any]
    """The index of each pair's opening."""

    def mean(self, values: np.ndarray[Any, Any]) -> MeanEstimate:
        """Mean over openings of the pairs' values; NaN is ignored.

        All levels play the same openings with the same seeds, so an opening's value is the mean over levels
        and counts once.
        """
        known = np.isfinite(values)
        _, at = np.unique(self.openings[known], return_inverse=True)
        return mean_of(np.bincount(at, values[known]) / np.bincount(at))


def _name(level: int | None, player: str, first: int) -> str:
    return f"{player} v {'people' if level is None else f'maia-{level}'}: pairs {first}"


def _both(results: Mapping[str, Result], level: int | None, size: Size) -> _Compared | None:
    parts: dict[str, list[Any]] = {STANDARD: [], MODEL: []}
    openings: list[int] = []
    for first in range(0, _PAIRS[size], _BATCH):
        for player, found in paired_jobs(
            results, {each: _name(level, each, first) for each in parts}
        ).items():
            parts[player] += found["games"]
        openings += range(first, first + len(parts[MODEL]) // 2 - len(openings))
    if not parts[MODEL]:
        return None
    a, b = (np.array(parts[player], float).reshape(-1, 2, 6) for player in (STANDARD, MODEL))
    return _Compared(a, b, np.array(openings))


def _score(games: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Score of each pair of games."""
    return np.asarray(games[..., 0].mean(axis=1))


def _moves(games: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Mean number of moves in the won games of each pair; NaN if neither game was won."""
    won = games[..., 0] == 1
    total = (games[..., 1] * won).sum(axis=1)
    return np.where(won.any(axis=1), total / np.maximum(1, won.sum(axis=1)), math.nan)


def _rate(games: np.ndarray[Any, Any], column: int) -> np.ndarray[Any, Any]:
    """Mean of a column per judged reply, for each pair of games; NaN if no reply was judged."""
    replies = games[..., 2].sum(axis=1)
    return np.where(replies > 0, games[..., column].sum(axis=1) / np.maximum(1, replies), math.nan)


def _worked() -> PaperClaim:
    values = [expectation(probabilities, scores, 0.0) for probabilities, scores, _ in EXAMPLES]
    probabilities, scores, _ = EXAMPLES[0]
    proper = expectation([p / math.fsum(probabilities) for p in probabilities], scores, 0.0)
    is_same = all(abs(value - wanted) < 1e-9 for value, (*_, wanted) in zip(values, EXAMPLES, strict=True))
    return PaperClaim(
        "Worked example: 3.25 and 3.585, so the second move is played",
        ClaimVerdict.HOLDS if is_same and max(values[0], proper) < values[1] else ClaimVerdict.FAILS,
        f"{values[0]:.5g} and {values[1]:.5g}; but the first move's probabilities add up to "
        f"{math.fsum(probabilities):.3g}; normalised, they give {proper:.4g}",
    )


def _claims(every: _Compared) -> Iterator[PaperClaim]:
    faster = every.mean(_moves(every.b) - _moves(every.a))
    yield PaperClaim(
        "Opponent-model search beats people faster than minimax does",
        above_zero(-faster),
        f"{with_interval(faster, 1, 2, '+')} moves to win, {plural(faster.n, 'opening')}",
    )
    for column, what in ((3, "errors (a tenth of expected score)"), (4, "blunders (two pawns)")):
        more = every.mean(_rate(every.b, column) - _rate(every.a, column))
        yield PaperClaim(
            f"Opponent-model search provokes more {what}",
            above_zero(more),
            f"{in_points(more)} per 100 replies",
        )


def _rows(found: Mapping[int | None, _Compared], every: _Compared) -> Iterator[tuple[str, _Compared]]:
    for level, both in found.items():
        yield ("built-in estimate" if level is None else f"{level}"), both
    if len(found) > 1:
        yield "all", every


def _results(found: Mapping[int | None, _Compared], every: _Compared) -> Table:
    return Table(
        "Results by level of the opponents (standard, then opponent model)",
        (
            "people",
            "standard",
            "model",
            "score, %",
            "score, %",
            "difference, points",
            "moves to win",
            "moves to win",
            "difference",
        ),
        tuple(
            (
                name,
                tally(both.a[..., 0]),
                tally(both.b[..., 0]),
                percent(both.mean(_score(both.a))),
                percent(both.mean(_score(both.b))),
                in_points(both.mean(_score(both.b) - _score(both.a))),
                with_interval(both.mean(_moves(both.a)), 1, 1),
                with_interval(both.mean(_moves(both.b)), 1, 1),
                with_interval(both.mean(_moves(both.b) - _moves(both.a)), 1, 1, "+"),
            )
            for name, both in _rows(found, every)
        ),
        "Moves to win: our moves after the opening in won games, averaged by opening; the difference covers "
        "openings that both players won with at least one colour. All levels play the same openings, so in "
        "the last row each opening counts as the mean over its levels. The blog's page does not show its "
        "own table.",
    )


def _replies(found: Mapping[int | None, _Compared], every: _Compared) -> Table:
    rows = []
    for name, both in _rows(found, every):
        cells = []
        for column in (3, 4):
            a, b = _rate(both.a, column), _rate(both.b, column)
            cells += [percent(both.mean(a)), percent(both.mean(b)), in_points(both.mean(b - a))]
        pawns = both.mean(_rate(both.b, 5) - _rate(both.a, 5))
        rows.append((name, *cells, with_interval(pawns, 1, 3, "+")))
    return Table(
        "Cost of the opponents' replies, judged by our search of the same depth",
        (
            "people",
            "errors, %: standard",
            "model",
            "difference",
            "blunders, %: standard",
            "model",
            "difference",
            "pawns per reply, difference",
        ),
        tuple(rows),
        "Errors cost a tenth of expected score or more, blunders two pawns or more (scores are capped at "
        "ten). Replies to moves of a known mate are not counted.",
    )


def _charts(found: Mapping[int | None, _Compared]) -> tuple[Chart, ...]:
    lines = []
    for name, which in (("standard", "a"), ("opponent model", "b")):
        marks = []
        for level, both in found.items():
            each = both.mean(_moves(getattr(both, which)))
            if level is not None and each.has_interval:
                marks.append((float(level), each.value, each.low, each.high))
        if marks:
            lines.append(Line(name, tuple(marks)))
    if not lines:
        return ()
    return (Chart("moves", "Moves to win, by level of the opponents", "level", "moves", tuple(lines)),)
