"""Gordon & Reda 2006 without the horizon: what their traps cost and bring on the strong search's scores.

Three players with the same number of nodes per move: `strong`, `trappy_strong` (the paper's arithmetic on
scores of the same search) and `trappy` (on full-width scores). The design is Figure 6's, in Othello: matches
against `strong` at equal nodes and against a shallower `strong` from the same random openings. In addition,
games against models of people who have been given corners, and single positions: what the moves are worth by
a deeper search, under best play and against replies of the model of people. There each move that was played
for its traps is compared with the best move of the same search, so that only the choice differs.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bot.match.conditions import Terms
from bot.match.human_players import open_human_models
from bot.match.openings import random_opening
from bot.match.play import GameTask, play
from bot.match.player_specs import parse_spec
from engine.decision import Decision, Person, SearchMode
from engine.expected import WHOLE, expected_score
from engine.game import WIN_CENTI, continued_position
from engine.games import get_rules
from engine.human.model import HumanModel, PredictionQuery, predictions_of
from engine.human.registry import ModelSettings
from engine.move_chooser import MoveChooser
from engine.opponents.exploit_value import likely_replies
from engine.params import TrapParams
from engine.search.searchers import NativeSearcher, make_searcher
from engine.stop import StopFlag
from engine.strategies.move_context import best_raw_move
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from lab.experiments.ablation import opening
from lab.experiments.estimates_text import (
    MeanEstimate,
    above_zero,
    in_points,
    mean_of,
    percent,
    tally,
    with_interval,
)
from lab.experiments.experiment import Job, Result, Size
from lab.experiments.experiment_report import Chart, Line, PaperClaim, Report, Table
from lab.experiments.matches import Cell, Games, MatchExperiment, discs, paired, paired_jobs

GAME = "othello"
STRONG = "strong"
ON_STRONG = "trappy_strong"
FULL_WIDTH = "trappy"
ARMS = (STRONG, ON_STRONG, FULL_WIDTH)
NODES = {Size.SMALL: 4_000, Size.FULL: 400_000}
"""Per move; 30 ms, or 13 plies of the strong search."""
SHALLOWER = 8
"""How many times fewer nodes the shallower opponent has: two to three plies."""
PEOPLE = (1.0, 0.5)
"""Temperatures of the model of people."""
PLIES = 8
"""Number of moves in the random openings, as in Figure 6."""
COMPARISONS = 5
"""Number of primary endpoints, which were fixed before the run and have simultaneous 95 % intervals."""
_PAIRS = {Size.SMALL: 1, Size.FULL: 30}
_PAIRS_A_JOB = 5
_SAMPLED_GAMES = {Size.SMALL: 1, Size.FULL: 90}
_SAMPLED_GAMES_A_JOB = 3
_SAMPLED_EVERY = 8
"""Positions are as many plies apart."""
_SAMPLING_NODES = 20_000
_REFEREE = 4
"""How many times more nodes for each position the referee has than the players."""
_TABLE_MB = 16


class PaperOnStrong(MatchExperiment):
    """Matches, games against people models, and judged positions."""

    name: ClassVar = "paper-on-strong"
    title: ClassVar = "The paper's traps on the scores of the strong search"
    source: ClassVar = "Gordon & Reda 2006, Figure 6, with this program's strong search"
    version: ClassVar = "1"
    batch: ClassVar = _PAIRS_A_JOB

    def cells(self, size: Size) -> Sequence[Cell]:
        """See `MatchExperiment.cells`."""
        return [
            *(_cell(arm, 1, size) for arm in ARMS if arm != STRONG),
            *(_cell(arm, SHALLOWER, size) for arm in ARMS),
        ]

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`; the parts are interleaved, so that a partial run has some of each."""
        nodes = NODES[size]
        people = [
            Job(
                _people_job(arm, heat, first),
                {
                    "people": _people(heat),
                    "arm": arm,
                    "nodes": nodes,
                    "first": first,
                    "pairs": min(_PAIRS_A_JOB, _PAIRS[size] - first),
                },
            )
            for first in range(0, _PAIRS[size], _PAIRS_A_JOB)
            for heat in PEOPLE
            for arm in ARMS
        ]
        sampled = [
            Job(
                f"positions of games {first}",
                {
                    "sampled": first,
                    "count": min(_SAMPLED_GAMES_A_JOB, _SAMPLED_GAMES[size] - first),
                    "nodes": nodes,
                },
            )
            for first in range(0, _SAMPLED_GAMES[size], _SAMPLED_GAMES_A_JOB)
        ]
        cells = sorted(super().jobs(size), key=lambda job: int(job.arguments["first"]))
        placed = [
            ((at + 0.5) / len(part), job) for part in (cells, people, sampled) for at, job in enumerate(part)
        ]
        return [job for _, job in sorted(placed, key=lambda each: each[0])]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """See `MatchExperiment.run`; games against people and judged positions have their own results."""
        if "sampled" in arguments:
            numbers = range(arguments["sampled"], arguments["sampled"] + arguments["count"])
            return {"games": [judged_game(seed, number, arguments["nodes"]) for number in numbers]}
        if "people" not in arguments:
            return super().run(arguments, seed)
        return {"games": _games_against_people(arguments, seed)}

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        games = self.games(results, size)
        people = {heat: _people_games(results, size, heat) for heat in PEOPLE}
        rows = [
            game
            for name, part in results.items()
            if name.startswith("positions")
            for game in part["games"]
            if game
        ]
        claims = [*_position_claims(rows), *_match_claims(games, size), *_people_claims(people)]
        tables = (_positions_table(rows), _matches_table(games, size), _people_table(people))
        return Report(tuple(claims), tables, _charts(rows))


# --- Matches --------------------------------------------------------------------------------------------


def _cell(arm: str, less: int, size: Size) -> Cell:
    nodes = NODES[size]
    a, b = f"{arm}:nodes={nodes}", f"{STRONG}:nodes={nodes // less}"
    return Cell(GAME, a, b, _PAIRS[size], PLIES)


def _match_claims(games: Mapping[str, Games], size: Size) -> Iterator[PaperClaim]:
    equal = games.get(_cell(ON_STRONG, 1, size).name)
    if equal is not None:
        lost = mean_of(equal.margins, COMPARISONS)
        yield PaperClaim(
            "Primary (a): at equal nodes trappy_strong loses discs against strong",
            above_zero(-lost),
            f"{discs(lost)} discs a game; {percent(equal.score)} % of the points, {equal.tally}",
        )
    on_strong, strong = (games.get(_cell(arm, SHALLOWER, size).name) for arm in (ON_STRONG, STRONG))
    if on_strong is not None and strong is not None:
        gain = paired(on_strong, strong, COMPARISONS)
        yield PaperClaim(
            "Primary (b): against a shallower search trappy_strong wins by more than strong does",
            above_zero(gain),
            f"{discs(gain)} discs a game on the same openings, {gain.n} openings",
        )


def _matches_table(games: Mapping[str, Games], size: Size) -> Table:
    rows = []
    for less in (1, SHALLOWER):
        for arm in ARMS:
            found, strong = (games.get(_cell(each, less, size).name) for each in (arm, STRONG))
            if found is None or (arm == STRONG and less == 1):
                continue
            gain = "" if arm == STRONG or strong is None else discs(paired(found, strong))
            rows.append((arm, f"{STRONG}, nodes / {less}", *found.words(), discs(found.discs), gain))
    return Table(
        f"Matches from balanced random openings of {PLIES} plies, each with both colours",
        ("A", "B", "A's games", "A's score, %", "Elo", "A's discs a game", "minus strong's, same openings"),
        tuple(rows),
        f"{NODES[size]:,} nodes a move; a complete match has {2 * _PAIRS[size]} games.",
    )


# --- Games against people -------------------------------------------------------------------------------


def _people(heat: float) -> str:
    return f"human:temperature={heat:g}"


def _people_job(arm: str, heat: float, first: int) -> str:
    return f"{arm} v people at {heat:g}: pairs {first}"


def _games_against_people(arguments: Mapping[str, Any], seed: int) -> list[list[float]]:
    """Our points and disc margin in each game; people begin with one to three corners."""
    terms = Terms(
        game=GAME,
        a=parse_spec(f"{arguments['arm']}:nodes={arguments['nodes']}"),
        b=parse_spec(arguments["people"]),
        depth=1000,  # the players set their own limits
        openings=f"seed {seed}",
    )
    first = arguments["first"]
    games = [
        play(GameTask(terms, at, seed, opening(at), keeps_decisions=False)).finished
        for at in range(2 * first, 2 * (first + arguments["pairs"]))
    ]
    return [[game.points, game.margin or 0] for game in games]


def _people_games(results: Mapping[str, Result], size: Size, heat: float) -> dict[str, NDArray[np.float64]]:
    """The games of pairs that all players have played, as arrays (pair, game, points or margin)."""
    found: dict[str, list[Any]] = {arm: [] for arm in ARMS}
    for first in range(0, _PAIRS[size], _PAIRS_A_JOB):
        for arm, part in paired_jobs(results, {arm: _people_job(arm, heat, first) for arm in ARMS}).items():
            found[arm] += part["games"]
    return {arm: np.array(games, float).reshape(-1, 2, 2) for arm, games in found.items()}


def _gain(games: Mapping[str, NDArray[np.float64]], arm: str, what: int) -> NDArray[np.float64]:
    """A player's points (``what`` = 0) or discs (1) minus strong's, in each pair."""
    difference: NDArray[np.float64] = (games[arm] - games[STRONG])[..., what].mean(axis=1)
    return difference


def _people_claims(people: Mapping[float, Mapping[str, NDArray[np.float64]]]) -> Iterator[PaperClaim]:
    points, margins = (
        np.concatenate([_gain(games, ON_STRONG, what) for games in people.values()]) for what in (0, 1)
    )
    if len(points):
        gain = mean_of(points, COMPARISONS)
        yield PaperClaim(
            "Primary: against people trappy_strong scores more than strong does",
            above_zero(gain),
            f"{in_points(gain)} percentage points, {2 * gain.n} games each; {discs(mean_of(margins))} discs",
        )


def _people_table(people: Mapping[float, Mapping[str, NDArray[np.float64]]]) -> Table:
    rows = []
    for heat, games in people.items():
        for arm, found in games.items():
            if not len(found):
                continue
            points, margins = (mean_of(found[..., what].mean(axis=1)) for what in (0, 1))
            less = ["", ""]
            if arm != STRONG:
                less = [in_points(mean_of(_gain(games, arm, 0))), discs(mean_of(_gain(games, arm, 1)))]
            rows.append((f"{heat:g}", arm, tally(found[..., 0]), percent(points), discs(margins), *less))
    return Table(
        "Othello against a model of people, who have one to three corners",
        ("temperature", "player", "games", "score, %", "discs", "minus strong, points", "discs"),
        tuple(rows),
        "The same openings and random numbers for all players.",
    )


# --- Positions ------------------------------------------------------------------------------------------


def judged_game(seed: int, number: int, nodes: int) -> list[list[list[float]]]:
    """Judge the players' moves in positions of a game between a quick strong player and the people model.

    Returns:
        For each position, for each player of `ARMS`, its move and then the best move of the same search,
        which differs if the other one was played for its traps. Of each: our expected score under best play,
        and if the next reply is the model's, both from 0 to 1, and our score under best play in discs.
    """
    rules = get_rules(GAME)
    terms = Terms(
        game=GAME,
        a=parse_spec(f"{STRONG}:nodes={min(nodes, _SAMPLING_NODES)}"),
        b=parse_spec(_people(1.0)),
        depth=1000,
        openings=f"seed {seed}",
    )
    start = random_opening(GAME, seed, number, plies=PLIES)
    record = play(GameTask(terms, number, seed, start, keeps_decisions=False))
    people = open_human_models("people", ModelSettings(), GAME).human
    position, found = rules.initial(), []
    for ply, text in enumerate(record.moves):
        ours = rules.side_to_move(position) == record.a_side
        position = continued_position(rules, position)
        is_due = (ply - PLIES) % _SAMPLED_EVERY in (0, 1) and ply >= PLIES
        if ours and is_due and len(rules.legal_moves(position)) > 1:
            found.append(_judged_position(position, nodes, people))
        position = rules.play(position, rules.parse_move(position, text))
    return found


def _judged_position(position: Any, nodes: int, people: HumanModel) -> list[list[float]]:
    rules = get_rules(GAME)
    moves = []
    for arm in ARMS:
        chooser = MoveChooser(strategy_named(arm), rules, TrapParams(), make_searcher(GAME, _TABLE_MB))
        decision = chooser.choose(position, Limits(1000, nodes=nodes), StopFlag())
        moves += [decision.move, best_of_search(decision)]
    values = {move: _move_values(position, move, nodes, people) for move in sorted(set(moves))}
    return [list(values[move]) for move in moves]


def best_of_search(decision: Decision) -> str:
    """The best move of a decision's search, whether or not another one was played for its traps."""
    if decision.strong_traps is not None and decision.strong_traps.contenders:
        return decision.strong_traps.contenders[0].move
    is_exact = decision.search_mode is SearchMode.EXACT
    return best_raw_move(decision.candidates) if is_exact else decision.move


def _move_values(position: Any, move: str, nodes: int, people: HumanModel) -> tuple[float, float, float]:
    """A move's value under best play and against the people model, and its score in discs, by the referee.

    The replies' values are compared with the best of them, so that the depth at which they are searched,
    deeper than the move itself, is no advantage.
    """
    rules = get_rules(GAME)
    scale = rules.expected_scale_centi(rules.for_search(position))
    after = rules.play(position, rules.parse_move(position, move))
    score, best = _referee(after, nodes)
    own = expected_score(-score, scale) / WHOLE
    if best is None:
        return own, own, -score / 100
    legal = [rules.move_text(reply) for reply in rules.legal_moves(after)]
    [p] = predictions_of(people, rules, [PredictionQuery((after,), Person())])
    p_of = dict(zip(legal, p, strict=True))
    replies = list(dict.fromkeys((*likely_replies(p_of.items()), best)))
    worth = [
        expected_score(_referee(rules.play(after, rules.parse_move(after, reply)), nodes)[0], scale) / WHOLE
        for reply in replies
    ]
    least = min(worth)
    gain = fsum(p_of[reply] * (each - least) for reply, each in zip(replies, worth, strict=True))
    return own, own + gain / fsum(p_of[reply] for reply in replies), -score / 100


def _referee(position: Any, nodes: int) -> tuple[int, str | None]:
    """The score for the side to move, and its best move; None if the game is over."""
    rules = get_rules(GAME)
    if not rules.legal_moves(position):
        return rules.result_centi(position), None
    searcher = make_searcher(GAME, _TABLE_MB)
    assert isinstance(searcher, NativeSearcher)  # noqa: S101 - the core plays this game
    root = rules.for_search(position)
    result = searcher.think(root, rules.deepest_search, None, StopFlag(), nodes=_REFEREE * nodes)
    return result.score_centi, result.move


def _own(arm: str) -> tuple[int, int]:
    """Indices of a player's move and of the best move of its own search."""
    return 2 * ARMS.index(arm), 2 * ARMS.index(arm) + 1


def _beside_strong(arm: str) -> tuple[int, int]:
    """Indices of a player's move and of strong's."""
    return 2 * ARMS.index(arm), 0


def _difference(rows: Sequence[Any], moves: tuple[int, int], what: int, comparisons: int = 1) -> MeanEstimate:
    """Mean difference between two moves; each game counts once, with the mean of its positions."""
    one, other = moves
    return mean_of(
        np.array(
            [
                np.mean([_in_unit(each[one], what) - _in_unit(each[other], what) for each in game])
                for game in rows
            ]
        ),
        comparisons,
    )


def _in_unit(values: Sequence[float], what: int) -> float:
    """One of a move's values; of a decided game in discs, the margin (`WIN_CENTI` is no number of discs)."""
    value, won = values[what], WIN_CENTI / 100
    return value if abs(value) < won else value - won if value > 0 else value + won


def _points(found: MeanEstimate) -> str:
    return with_interval(found, 100, 2, "+")


def _position_claims(rows: Sequence[Any]) -> Iterator[PaperClaim]:
    if not rows:
        return
    cost = -_difference(rows, _own(ON_STRONG), 0, COMPARISONS)
    yield PaperClaim(
        "Primary: under best play, the traps cost expected score",
        above_zero(cost),
        f"{_points(cost)} points a move",
    )
    gain = _difference(rows, _own(ON_STRONG), 1, COMPARISONS)
    yield PaperClaim(
        "Primary: against people's next reply, they bring expected score",
        above_zero(gain),
        f"{_points(gain)} points a move",
    )


def _positions_table(rows: Sequence[Any]) -> Table:
    lines = []
    for words, pair_of in (("the same search's best", _own), ("strong's", _beside_strong)):
        for arm in ARMS if rows else ():
            pair = pair_of(arm)
            one, other = pair
            apart = [each for game in rows for each in game if each[one] != each[other]]
            if arm == STRONG:
                continue
            changes = [
                f"{100 * float(np.mean([each[one][what] - each[other][what] for each in apart])):+.2f}"
                for what in (0, 1)
                if apart
            ]
            lines.append(
                (
                    arm,
                    words,
                    f"{100 * len(apart) / sum(map(len, rows)):.1f}",
                    *(_points(_difference(rows, pair, what)) for what in (0, 1)),
                    discs(_difference(rows, pair, 2)),
                    " / ".join(changes) or "-",
                )
            )
    return Table(
        "Single moves by a deeper search",
        (
            "player's move",
            "minus",
            "differs, %",
            "best play, points a move",
            "people's next reply, points a move",
            "best play, discs a move",
            "points per changed move, best play / people",
        ),
        tuple(lines),
        f"{sum(map(len, rows))} positions of {len(rows)} games; intervals by game. Points are hundredths of "
        f"expected score; the referee has {_REFEREE} times the players' nodes for each position.",
    )


def _charts(rows: Sequence[Any]) -> tuple[Chart, ...]:
    if not rows:
        return ()
    lines = []
    for arm in ARMS[1:]:
        marks = []
        for what in (0, 1):
            found = _difference(rows, _own(arm), what)
            marks.append((float(what), 100 * found.value, 100 * found.low, 100 * found.high))
        lines.append(Line(arm, tuple(marks)))
    title = "What traps add to a move: 0 under best play, 1 against people's next reply"
    return (Chart("moves", title, "opponent", "points of expected score", tuple(lines)),)
