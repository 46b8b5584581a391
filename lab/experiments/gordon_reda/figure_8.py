"""Gordon & Reda 2006, Figures 7 and 8: the position before White's seventh move, and its move values."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from engine.games import get_rules
from engine.games.othello import Othello
from engine.params import DecidedScores, TrapParams
from engine.search.profiles import Profiler
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from lab.experiments.experiment import Experiment, Job, Result, Size
from lab.experiments.experiment_report import ClaimVerdict, PaperClaim, Report, Table

FIGURE_7 = "d3 c3 c4 e3 f2 c5 b3 f2 c1 d1 e1 f3 f6"
"""The moves of both colours, as printed; f2 occurs twice."""
STANDARD = {"f1": 150, "g1": 50, "a2": -150, "c2": -50, "a3": 0, "f5": 400, "e6": 400}
TRAPPY = {**STANDARD, "c2": -37.5, "e6": 448}
"""Move values of Figure 8, in the paper's units."""
BEST_REPLY, TRAP = "b4", "f7"
"""Best reply and trap after e6, according to the paper's text."""
DEPTH = 8
_TABLE_MB = 64


class Figure8(Experiment):
    """The paper's example position."""

    name: ClassVar = "figure-8"
    title: ClassVar = "The example position, and the values of its moves"
    source: ClassVar = "Gordon & Reda 2006, Figures 7 and 8"
    version: ClassVar = "1"

    def jobs(self, size: Size) -> Sequence[Job]:  # noqa: ARG002 - as for every experiment
        """See `Experiment.jobs`."""
        return [Job("readings", {}), Job(f"values at depth {DEPTH}", {"depth": DEPTH})]

    def run(self, arguments: Mapping[str, Any], seed: int) -> Result:  # noqa: ARG002
        """Find the readings of Figure 7 with at most one misprint or, given a depth, evaluate the first
        reading's moves.
        """
        found = list(readings(FIGURE_7.split(), set(STANDARD)))
        if "depth" not in arguments:
            return {"readings": found}
        game = get_rules("othello")
        position = game.initial()
        for text in found[0]:
            position = game.play(position, game.parse_move(position, text))
        params = TrapParams(decided=DecidedScores.PAPER)
        profiler = Profiler(game, make_searcher("othello", _TABLE_MB), position, params, StopFlag())
        return {
            each.move: {
                "raw": each.raw_centi,
                "adjusted": each.adjusted_centi,
                "quality": each.quality_centi,
                "trap": each.trap,
                "best": [reply.reply for reply in each.replies if reply.scores_centi[-1] == each.raw_centi],
            }
            for each in profiler.naive_candidates(arguments["depth"])
        }

    def report(self, results: Mapping[str, Result], size: Size) -> Report:  # noqa: ARG002
        """See `Experiment.report`."""
        claims = list(_about_figure_7(results["readings"]["readings"])) if "readings" in results else []
        values = results.get(f"values at depth {DEPTH}")
        if values is None:
            return Report(tuple(claims))
        return Report((*claims, *_about_figure_8(values)), (_table(values),))


def readings(moves: Sequence[str], last_moves: set[str]) -> Iterator[list[str]]:
    """Legal games that differ from the printed moves in at most one move and after which the legal moves are
    exactly `last_moves`.
    """
    game = Othello()

    def after(position: Any, played: list[str], misprints: int) -> Iterator[list[str]]:
        legal = {game.move_text(move): move for move in game.legal_moves(position)}
        if len(played) == len(moves):
            if set(legal) == last_moves:
                yield played
            return
        printed = moves[len(played)]
        for text, move in legal.items():
            if text == printed or misprints < 1:
                yield from after(game.play(position, move), [*played, text], misprints + (text != printed))

    yield from after(game.initial(), [], 0)


def _about_figure_7(found: Sequence[Sequence[str]]) -> Iterator[PaperClaim]:
    moves = FIGURE_7.split()
    yield PaperClaim(
        "Figure 7's moves can be played",
        ClaimVerdict.HOLDS if moves in [list(each) for each in found] else ClaimVerdict.FAILS,
        "f2 is played twice",
    )
    changes = [
        f"move {at // 2 + 1} of {'White' if at % 2 else 'Black'}: {text} for {moves[at]}"
        for each in found
        for at, text in enumerate(each)
        if text != moves[at]
    ]
    yield PaperClaim(
        "With one misprint corrected, Figure 8's seven moves are White's only legal moves",
        ClaimVerdict.HOLDS
        if len(found) == 1
        else ClaimVerdict.FAILS
        if not found
        else ClaimVerdict.INCONCLUSIVE,
        "; ".join(changes) or "no reading",
    )


def _about_figure_8(values: Result) -> Iterator[PaperClaim]:
    """The claims, none of which can fail: the paper does not describe its evaluation, so ours differs."""
    e6, best = values["e6"], max(values, key=lambda move: float(values[move]["raw"]))
    chosen = max(values, key=lambda move: (float(values[move]["adjusted"]), float(values[move]["raw"])))
    yield PaperClaim(
        "Standard minimax plays f5 (e6 is worth the same)",
        ClaimVerdict.HOLDS if best in ("f5", "e6") else ClaimVerdict.INCONCLUSIVE,
        f"{best} is worth {values[best]['raw'] / 100:+.2f} discs by our evaluation, "
        f"f5 {values['f5']['raw'] / 100:+.2f}, e6 {e6['raw'] / 100:+.2f}",
    )
    yield PaperClaim(
        "Trappy minimax plays e6",
        ClaimVerdict.HOLDS if chosen == "e6" else ClaimVerdict.INCONCLUSIVE,
        f"with our evaluation it plays {chosen}, adjusted to {values[chosen]['adjusted'] / 100:+.2f}; "
        f"e6 {e6['adjusted'] / 100:+.2f}",
    )
    yield PaperClaim(
        "The correct reply to e6 is b4, and f7 is the trap",
        ClaimVerdict.HOLDS
        if e6["best"] == [BEST_REPLY] and e6["trap"] == TRAP
        else ClaimVerdict.INCONCLUSIVE,
        f"with our evaluation, best: {', '.join(e6['best'])}; trap: {e6['trap'] or 'none'}",
    )


def _table(values: Result) -> Table:
    rows = []
    for move, standard in STANDARD.items():
        ours = values[move]
        trap = f"{ours['trap']} ({ours['quality'] / 100:.2f})" if ours["trap"] else "-"
        rows.append(
            (move, f"{standard}", f"{TRAPPY[move]:g}", f"{ours['raw'] / 100:+.2f}",
             f"{ours['adjusted'] / 100:+.2f}", trap)
        )  # fmt: skip
    return Table(
        f"Figure 8, and our values at depth {DEPTH}",
        ("move", "paper, standard", "paper, trappy", "ours, standard", "ours, trappy", "our trap (quality)"),
        tuple(rows),
        "The paper's values are in the unit of its own evaluation; ours are in discs, from a learned "
        "evaluation.",
    )
