"""Compares the pruned trap analysis with the full table, and counts differences.

    python -m bench.decisions.exactness [--games othello chess xiangqi] [--depth D]
                                        [--positions 500] [--first 0]

Each position is searched to one depth with every combination of assessment, scale, margin and treatment of
decided games; a separate searcher, with its own transposition table, computes the full table (every reply's
exact score at every depth) once per position. A decision counts as different if it breaks any of these rules:

* the move, its raw value and, after its profile is completed, its trap and adjusted value equal the table's;
* each exact score in the record equals the score in the table, and each bound holds for the table's score;
* the record alone proves the choice (`engine.verification.verify`).

Positions come from games with fixed seeds whose moves are chosen at random or by the search: openings,
middlegames and endings, balanced or not. "trap played" counts the decisions whose move does not have the best
raw value. `--first` continues an interrupted run.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from typing import Any

from bench.suites import native_searcher
from engine.completion import complete
from engine.decision import Candidate, Decision
from engine.errors import RecordError
from engine.game import Game
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import Assessment, DecidedScores, Scale, TrapParams
from engine.search.profiles import Profiler
from engine.search.searchers import NATIVE_GAMES, NativeSearcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.strategies.standard import STANDARD
from engine.strategies.trappy import TRAPPY
from engine.time_management import Limits
from engine.trappy import assess_shallow_scores, is_swindle, utility, with_trap
from engine.verification import verify

TABLE_MB = 16
DEPTHS = {"othello": 6, "chess": 4, "xiangqi": 4, "connect4": 7}
RANDOM_SHARE = 0.3
"""Proportion of random moves in the games; random moves leave one side far ahead in some positions."""
PLAY_DEPTH = 3

SETTINGS: dict[str, dict[str, Any]] = {
    "paper": {},
    "paper, margin 100": {"margin_centi": 100},
    "paper, margin 300": {"margin_centi": 300},
    "paper, decided games like others": {"decided": DecidedScores.PAPER},
    "expected": {"scale": Scale.EXPECTED},
    "expected, any share": {"scale": Scale.EXPECTED, "risk_share_percent": 100},
    "expected, decided games like others": {"scale": Scale.EXPECTED, "decided": DecidedScores.PAPER},
}


def random_position(game: Game[Any], searcher: NativeSearcher, number: int) -> Any:
    """Generate a non-final position that depends only on the given number and the evaluation."""
    rng = random.Random(f"{game.name} {number}")
    position = game.initial()
    for _ in range(rng.randrange(2, game.plies_left(position) * 9 // 10)):
        if rng.random() < RANDOM_SHARE:
            move = rng.choice(game.legal_moves(position))
        else:
            best = searcher.think(position, PLAY_DEPTH, None, StopFlag())
            move = game.parse_move(position, best.move)
        following = game.play(position, move)
        if not game.legal_moves(following):
            break
        position = following
    return position


def differences(decision: Decision, table: list[Candidate], judge: NativeSearcher) -> Iterator[str]:
    """Yield the differences between a decision and the full table; both must use the same parameters."""
    params = decision.params
    try:
        verify(decision)
    except RecordError as error:
        yield f"the record does not prove the choice: {error}"
    if decision.move != TRAPPY.best_move(table, params):
        yield f"plays {decision.move}, the table {TRAPPY.best_move(table, params)}"
    for found, whole in zip(decision.candidates, table, strict=True):
        yield from differences_of_move(found, whole, params)
    final = complete(decision, judge, StopFlag()).chosen
    whole = next(each for each in table if each.move == decision.move)
    if final != whole:
        yield f"{decision.move}: completed {final}, the table {whole}"


def differences_of_move(found: Candidate, whole: Candidate, params: TrapParams) -> Iterator[str]:
    """Yield the errors in the record of one move: wrong scores and bounds that do not hold."""
    raw = found.raw_centi
    if found.move != whole.move or (raw < whole.raw_centi if found.raw_is_bound else raw != whole.raw_centi):
        yield f"{found.move}: raw value {raw}, {whole.move}'s is {whole.raw_centi}"
    exact = {reply.reply: reply.scores_centi for reply in whole.replies}
    for reply in found.replies:
        scores = exact[reply.reply]
        if reply.bound_centi is None:
            is_true = reply.scores_centi == scores
        else:
            is_true = reply.bound_centi >= scores[-1]
            if reply.shallow_bound_centi is not None and len(scores) > 1:
                seen = assess_shallow_scores(
                    [-utility(score, params) for score in scores[:-1]], params.assessment
                )
                is_true = is_true and reply.shallow_bound_centi <= -seen
        if not is_true:
            yield f"{found.move} {reply.reply}: {reply}, but the exact scores are {scores}"


class Comparison:
    """Compares positions of one game at one depth; counts differences by settings and assessment."""

    def __init__(self, name: str, depth: int) -> None:
        self._game = get_rules(name)
        self._depth = depth
        self._lazy, self._whole = (native_searcher(name, TABLE_MB) for _ in range(2))
        self.positions = 0
        combinations = [(settings, assessment) for settings in SETTINGS for assessment in Assessment]
        self.different = dict.fromkeys(combinations, 0)
        self.traps_played = dict.fromkeys(combinations, 0)

    def compare(self, number: int) -> None:
        """Compare all settings in a position, and print each difference."""
        position = random_position(self._game, self._whole, number)
        profiler = Profiler(self._game, self._whole, position, TrapParams(), StopFlag())
        tables: dict[int, list[Candidate]] = {}
        for settings, assessment in self.different:
            params = TrapParams(assessment, **SETTINGS[settings])
            player = MoveChooser(strategy_named("trappy"), self._game, params, self._lazy)
            decision = player.choose(position, Limits(self._depth), StopFlag())
            params, depth = decision.params, decision.depth  # the depth is smaller near the end of a game
            if depth not in tables:
                tables[depth] = profiler.naive_candidates(depth)
            lost = is_swindle(tables[depth], params)
            table = [with_trap(each, params, lost) for each in tables[depth]]
            texts = list(differences(decision, table, self._whole))
            for each in texts:
                text = self._game.position_text(position)
                print(f"DIFFERENT {self._game.name} {number} {text}, {settings}, {assessment}: {each}")
            self.different[settings, assessment] += bool(texts)
            best_raw = STANDARD.best_move(table, params)
            self.traps_played[settings, assessment] += decision.move != best_raw
        self.positions += 1

    def report(self) -> None:
        """Print the counts."""
        print(
            f"\n{self._game.title}, depth {self._depth}, {self.positions} positions: different, trap played"
        )
        print(f"{'':<31}" + "".join(f"{assessment:>14}" for assessment in Assessment))
        for settings in SETTINGS:
            counts = ((self.different[settings, a], self.traps_played[settings, a]) for a in Assessment)
            print(f"{settings:<31}" + "".join(f"{wrong:>7}{traps:>7}" for wrong, traps in counts))
        compared = self.positions * len(self.different)
        print(f"all: {sum(self.different.values())} of {compared} decisions differ", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--games", nargs="+", default=["othello", "chess", "xiangqi"], choices=list(NATIVE_GAMES)
    )
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first position")
    parser.add_argument("--depth", type=int, help=f"by default {DEPTHS}")
    options = parser.parse_args()
    wrong, is_ended = 0, False
    for name in options.games:
        comparison = Comparison(name, options.depth or DEPTHS[name])
        try:
            for number in range(options.first, options.first + options.positions):
                comparison.compare(number)
        except KeyboardInterrupt:
            print(f"\nstopped before position {options.first + comparison.positions} of {name}")
            is_ended = True
        comparison.report()
        wrong += sum(comparison.different.values())
        if is_ended:
            break
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
