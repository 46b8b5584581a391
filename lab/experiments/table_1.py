"""Fang et al., Table I: trappy alpha-beta in Chinese chess against minimax, trappy minimax and alpha-beta.

At equal depth, minimax and alpha-beta play the same moves, and so do their trappy versions, so in principle
the table's columns cannot differ. The experiment tests that equality, and plays matches at equal nodes, at
equal depth, and against another program.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from bot.match.openings import position_after, random_opening
from engine.game import Game
from engine.games import get_rules
from engine.params import Assessment, TrapParams
from engine.search.profiles import Profiler
from engine.search.reference import Searcher, exact_score
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from lab.experiments.estimates_text import verdict_above
from lab.experiments.experiment import Job, Result, Size
from lab.experiments.experiment_report import Chart, ClaimVerdict, Line, PaperClaim, Report, Table
from lab.experiments.matches import Cell, Games, MatchExperiment

GAME = "xiangqi"
PAPER = {
    7: ((80, 73, 68), (160, 142, 124), (246, 228, 188), (328, 280, 270), (422, 397, 323)),
    8: ((84, 79, 65), (164, 154, 137), (240, 231, 191), (354, 300, 269), (421, 365, 309)),
    9: ((82, 77, 63), (171, 143, 134), (251, 236, 206), (344, 300, 276), (441, 382, 341)),
    10: ((87, 73, 63), (167, 151, 135), (249, 235, 197), (335, 308, 262), (422, 385, 331)),
}
"""Wins in 100, 200, 300, 400 and 500 games against (minimax, trappy minimax, alpha-beta), keyed by depth."""
TEXT = {0: (86.7, 83.7, 86.3, 85.0), 2: (85.7, 85.6, 84.2, 83.3)}
"""Percentage of wins at each depth according to the paper's text, keyed by the column of `PAPER`."""
PARAMS = TrapParams(assessment=Assessment.LAST)
"""Fang et al. assess replies by their scores at the last shallow depth."""
OUTSIDE = "uci:fairy-stockfish; option.Threads=1; depth={depth}; name=Fairy-Stockfish"
_TRAPPY, _STANDARD = "trappy:assessment=last,", "standard:"
"""Player specifications except for the search limit, which is appended."""
_DEPTHS = {Size.SMALL: (3,), Size.FULL: (4, 5)}
_NODES = {Size.SMALL: (2_000,), Size.FULL: (20_000, 100_000)}
_PAIRS = {Size.SMALL: 1, Size.FULL: 200}
_EQUALITY = {Size.SMALL: ((2, 1),), Size.FULL: ((2, 20), (3, 10), (4, 5))}
"""Pairs of depth and number of positions for the equality test, which searches every line."""
_TABLE_MB = 16


class Table1(MatchExperiment):
    """Tests whether searches agree, and plays at equal nodes, at equal depth, and against another program."""

    name: ClassVar = "table-1"
    title: ClassVar = "Trappy alpha-beta in Chinese chess"
    source: ClassVar = "Fang, Chi & Jian, Table I"
    version: ClassVar = "1"

    def cells(self, size: Size) -> Sequence[Cell]:
        """See `MatchExperiment.cells`."""
        nodes = [_nodes_cell(count, _PAIRS[size]) for count in _NODES[size]]
        depths = [_depth_cell(depth, _PAIRS[size]) for depth in _DEPTHS[size]]
        outside = [
            Cell(GAME, f"{kind}depth={depth}", OUTSIDE.format(depth=depth), _PAIRS[size])
            for depth in _DEPTHS[size]
            if size is Size.FULL
            for kind in (_TRAPPY, _STANDARD)
        ]
        return [*nodes, *depths, *outside]

    def jobs(self, size: Size) -> Sequence[Job]:
        """See `Experiment.jobs`."""
        equality = [
            Job(f"equality: depth {depth}, position {number}", {"depth": depth, "number": number})
            for depth, positions in _EQUALITY[size]
            for number in range(positions)
        ]
        return [*equality, *super().jobs(size)]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:
        """See `MatchExperiment.run`; jobs on positions return whether each pair of searches agrees."""
        if "number" not in arguments:
            return super().run(arguments, seed)
        return equality(arguments["depth"], seed, arguments["number"])

    def report(self, results: Mapping[str, Result], size: Size) -> Report:
        """See `Experiment.report`."""
        games = self.games(results, size)
        cells = [cell for cell in self.cells(size) if cell.name in games]
        return Report(
            (_text_and_table(), *_same(results), *_better(games, size)),
            (_paper(), _ours(cells, games)),
            _charts(games, size),
        )


def _nodes_cell(nodes: int, pairs: int) -> Cell:
    return Cell(GAME, f"{_TRAPPY}nodes={nodes}", f"{_STANDARD}nodes={nodes}", pairs)


def _depth_cell(depth: int, pairs: int) -> Cell:
    return Cell(GAME, f"{_TRAPPY}depth={depth}", f"{_STANDARD}depth={depth}", pairs)


def equality(depth: int, seed: int, number: int) -> Result:
    """Whether pruned and full searches, which the paper distinguishes, agree on one position.

    Returns:
        ``value``: whether alpha-beta and minimax give every move the same value; ``trappy``: whether trappy
        alpha-beta and trappy minimax choose the same move.
    """
    game = get_rules(GAME)
    _, found = position_after(game, random_opening(GAME, seed, number))
    position, stop = game.for_search(found), StopFlag()
    core = make_searcher(GAME, _TABLE_MB)
    after = [game.play(position, move) for move in game.legal_moves(position)]
    same = all(
        exact_score(core, each, depth - 1, stop) == every_line(core, game, each, depth - 1) for each in after
    )
    whole, pruned = (
        strategy_named("trappy").best_move(candidates, PARAMS)
        for candidates in (
            Profiler(game, core, found, PARAMS, stop).naive_candidates(max(3, depth)),
            Profiler(game, core, found, PARAMS, stop).pruned_candidates(max(3, depth)),
        )
    )
    return {"value": same, "trappy": whole == pruned}


def every_line(core: Searcher, game: Game[Any], position: Any, depth: int) -> int:
    """Minimax without a window; only the last ply uses the core, because a window prunes nothing there."""
    moves = game.legal_moves(position)
    if depth <= 1 or not moves:
        return exact_score(core, position, min(depth, 1), StopFlag())
    return max(-every_line(core, game, game.play(position, move), depth - 1) for move in moves)


def _same(results: Mapping[str, Result]) -> Iterator[PaperClaim]:
    found = [result for name, result in results.items() if name.startswith("equality: ")]
    if found:
        for what, says in (
            ("value", "minimax and alpha-beta differ at equal depth"),
            ("trappy", "trappy minimax and trappy alpha-beta differ at equal depth"),
        ):
            equal = sum(bool(result[what]) for result in found)
            verdict = ClaimVerdict.FAILS if equal == len(found) else ClaimVerdict.HOLDS
            yield PaperClaim(
                f"{says} (the table's columns)", verdict, f"the same in {equal} of {len(found)} positions"
            )


def _better(games: Mapping[str, Games], size: Size) -> Iterator[PaperClaim]:
    rows = [(f"depth {depth}", _depth_cell(depth, 1)) for depth in _DEPTHS[size]]
    rows += [(f"{nodes} nodes per move", _nodes_cell(nodes, 1)) for nodes in _NODES[size]]
    for what, cell in rows:
        if (found := games.get(cell.name)) is not None:
            tally, score, _ = found.words()
            yield PaperClaim(
                f"Trappy beats plain alpha-beta ({what})",
                verdict_above([found.score], 0.5),
                f"{score} % of {len(found.single)} games, {tally}; the paper's cells: {_paper_s_range()} %",
            )


def _paper_s_range() -> str:
    """The lowest and the highest win rate in the paper's cells against alpha-beta."""
    shares = [row[2] / at for rows in PAPER.values() for at, row in enumerate(rows, start=1)]
    return f"{min(shares):.0f} to {max(shares):.0f}"


def _text_and_table() -> PaperClaim:
    """Compare the paper's text with its own table, pooling all games at each depth."""
    words = []
    is_same = True
    for at, name in ((0, "minimax"), (2, "alpha-beta")):
        of_table = [sum(row[at] for row in rows) / 15 for rows in PAPER.values()]
        is_same &= all(round(a, 1) == b for a, b in zip(of_table, TEXT[at], strict=True))
        words.append(
            f"against {name}, the text has {', '.join(map(str, TEXT[at]))} %, the table "
            f"{', '.join(f'{each:.1f}' for each in of_table)} %"
        )
    return PaperClaim(
        "The winning percentages in the text agree with the table",
        ClaimVerdict.HOLDS if is_same else ClaimVerdict.FAILS,
        "; ".join(words),
    )


def _paper() -> Table:
    return Table(
        "Table I: wins and losses of trappy alpha-beta (the paper reports no draws)",
        ("depth", "games", "v minimax", "v trappy minimax", "v alpha-beta"),
        tuple(
            (f"{depth}", f"{100 * at}", *(f"{wins}-{100 * at - wins}" for wins in row))
            for depth, rows in PAPER.items()
            for at, row in enumerate(rows, start=1)
        ),
    )


def _ours(cells: Sequence[Cell], games: Mapping[str, Games]) -> Table:
    rows = []
    for cell in cells:
        found = games[cell.name]
        nodes = " / ".join(f"{each:,.0f}" for each in found.nodes)
        rows.append((cell.a, cell.b, *found.words(), nodes))
    return Table(
        "Our results, from balanced random openings, each played with both colours",
        ("A", "B", "A's games", "A's score, %", "Elo", "positions per move, A / B"),
        tuple(rows),
    )


def _charts(games: Mapping[str, Games], size: Size) -> tuple[Chart, ...]:
    marks = tuple(
        (float(depth), found.score.value, found.score.low, found.score.high)
        for depth in _DEPTHS[size]
        if (found := games.get(_depth_cell(depth, 1).name)) is not None
    )
    paper = tuple((float(depth), rows[0][2] / 100, None, None) for depth, rows in PAPER.items())
    lines = (Line("paper, v alpha-beta, 100 games", paper), *((Line("ours", marks),) if marks else ()))
    return (Chart("depths", "Table I: trappy against plain alpha-beta", "depth", "score", lines),)
