"""What moves that strategies prefer to the best one cost by the judge, with and without their proof.

    python -m bench.decisions.proof [--game chess] [--decisions 2000] [--time-s 1] [--seed 1]

Every setting (strategy and scale) decides in the same positions of recorded games, each within `--time-s`
seconds of processor time or within `--nodes`. If it prefers a move to the one with the best raw value, the
judge (`engine.judge`) says what the move costs against that one, and against its own best. The costs of all
preferred moves are those without proof; a refused move is replaced by the best one, which costs nothing.
`--decisions` counts the decisions of all settings together. With `--bare` nothing is proved or judged: only
the times of the decisions are printed.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.judge import FILES, replies_of
from engine.decision import Decision, Proof
from engine.expected import expected_score
from engine.game import Game
from engine.games import get_rules
from engine.judge import position_value
from engine.move_chooser import MoveChooser
from engine.params import Scale, TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.proof import cost
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from engine.verification import verify

TABLE_MB = 64
SETTINGS = {
    "trappy, paper": ("trappy", TrapParams()),
    "trappy, expected": ("trappy", TrapParams(scale=Scale.EXPECTED)),
    "tempting": ("tempting", TrapParams()),
    "opponent_model": ("opponent_model", TrapParams()),
}


class Preferred(NamedTuple):
    """A move preferred to the best one; costs in hundredths of a per cent of expected score."""

    claimed: int
    """Its cost by the scores that the strategy saw."""
    proved: int | None
    """Its cost by the proof."""
    cost: int
    """Its cost by the judge against the move with the best raw value; below 0 if it is the better one."""
    cost_of_best: int
    """Its cost by the judge against the judge's own best move."""
    other_cost_of_best: int
    """The same of the move with the best raw value."""
    max_cost: float
    stood: bool


def judged(game: Game[Any], position: Any, decision: Decision, proof: Proof, max_cost: float) -> Preferred:
    scale = game.expected_scale_centi(position)
    raw = {each.move: each.raw_centi for each in decision.candidates}

    def value_after(move: str) -> int:
        after = game.play(position, game.parse_move(position, move))
        return expected_score(-position_value(game, after, StopFlag()).score_centi, scale)

    preferred, best = value_after(proof.preferred), value_after(proof.best)
    most = max(expected_score(position_value(game, position, StopFlag()).score_centi, scale), preferred, best)
    return Preferred(
        expected_score(raw[proof.best], scale) - expected_score(raw[proof.preferred], scale),
        cost(decision, proof),
        best - preferred,
        most - preferred,
        most - best,
        max_cost,
        proof.stood,
    )


def times(times_s: Sequence[float]) -> str:
    return f"{statistics.mean(times_s):.2f} s each, p95 {sorted(times_s)[len(times_s) * 95 // 100]:.2f} s"


def report(name: str, decisions: int, found: Sequence[Preferred], times_s: Sequence[float]) -> None:
    stood = [each for each in found if each.stood]

    def line(what: str, moves: Sequence[Preferred]) -> str:
        if not moves:
            return f"{what}: none"
        over = sum(each.cost > each.max_cost for each in moves)
        return (
            f"{what}: {len(moves)}, over budget {over} ({1 - over / decisions:.2%} of all decisions and "
            f"{1 - over / len(moves):.1%} of these within it), claimed "
            f"{statistics.mean(each.claimed for each in moves) / 100:.2f} %, "
            f"cost {statistics.mean(each.cost for each in moves) / 100:.2f} %"
        )

    lost = [each.cost_of_best if each.stood else each.other_cost_of_best for each in found]
    print(
        f"  {name}: {decisions} decisions, {times(times_s)}\n"
        f"    {line('preferred (without proof)', found)}\n"
        f"    {line('played (with proof)', stood)}; refused {1 - len(stood) / max(1, len(found)):.1%}\n"
        f"    against the judge's best, where a move was preferred: without proof "
        f"{statistics.mean([each.cost_of_best for each in found] or [0]) / 100:.2f} %, "
        f"with {statistics.mean(lost or [0]) / 100:.2f} %, the best by raw value "
        f"{statistics.mean([each.other_cost_of_best for each in found] or [0]) / 100:.2f} %",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", choices=FILES, default="chess")
    parser.add_argument("--decisions", type=int, default=2000)
    parser.add_argument("--time-s", type=float, default=1.0)
    parser.add_argument("--nodes", type=int, help="instead of the time")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--costs", type=Path, help="file for the costs of each preferred move")
    options = parser.parse_args()
    game = get_rules(options.game)
    count = options.decisions // len(options.settings)
    limits = Limits(60, nodes=options.nodes) if options.nodes else Limits(60, options.time_s)
    searcher, all_found, all_times = make_searcher(game.name, TABLE_MB), list[Preferred](), list[float]()
    places = [game.parse_position(each.position) for each in replies_of(game.name, count, options.seed)]
    print(f"{game.name}: {limits}, seed {options.seed}", flush=True)
    for name in options.settings:
        kind, params = SETTINGS[name]
        strategy = strategy_named(kind)
        chooser = MoveChooser(strategy, game, params, searcher, proves=not options.bare)
        found, times_s = [], []
        for position in places:
            root, began_s = game.for_search(position), time.process_time()
            decision = chooser.choose(position, limits, StopFlag(processor_time=True))
            times_s.append(time.process_time() - began_s)
            verify(decision)
            if decision.proof is not None:
                best_centi = decision.proof.best_centi or 0
                best = expected_score(best_centi, game.expected_scale_centi(root))
                most = strategy.max_cost(decision, best)
                found.append(judged(game, root, decision, decision.proof, 0.0 if most is None else most))
        if options.bare:
            print(f"  {name}: {times(times_s)}", flush=True)
        else:
            report(name, len(places), found, times_s)
        all_found += found
        all_times += times_s
        if options.costs:
            with options.costs.open("a") as file:
                file.writelines(f"{game.name}\t{name}\t" + "\t".join(map(str, each)) + "\n" for each in found)
    if not options.bare:
        report("all", len(all_times), all_found, all_times)


if __name__ == "__main__":
    main()
