"""Compares the tempting player's lazy search with the whole table, and counts differences.

    python -m bench.decisions.tempting [--games othello chess xiangqi connect4] [--depth D]
                                       [--positions 500] [--first 0] [--no-python]

The positions are those of `bench.decisions.exactness`.  A difference is a decision that breaks any of these
rules:

* the move is the one that the whole table gives, every reply's exact score at every depth, which another
  searcher with a table of its own finds;
* each number in the record is the table's, and each bound holds for it;
* the record by itself proves the choice (`engine.verification.verify`), also once it is completed;
* the Python search gives the core's candidates, number for number (unless `--no-python`).

"differs": the move is not the one of the best raw value.  "given up": the mean loss of expected score by
that, over all positions, in per cent.  "s_D": deep scores that were searched exactly or bounded, in per cent
of the allowed moves' replies where more than one move is allowed.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bench.decisions.exactness import DEPTHS, random_position
from bench.suites import native_searcher
from engine.completion import complete
from engine.decision import Candidate, Decision
from engine.errors import RecordError
from engine.expected import PER_PERCENT
from engine.game import Game
from engine.games import get_rules
from engine.move_chooser import MoveChooser
from engine.params import TemptingParams, TrapParams
from engine.search.profiles import Profiler
from engine.search.searchers import NATIVE_GAMES, NativeSearcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.strategies.standard import STANDARD
from engine.strategies.tempting import TEMPTING
from engine.tempting_player import (
    LEAST_DEPTH,
    UNBOUNDED,
    allowed_floor_centi,
    to_expected_score,
)
from engine.time_management import Limits
from engine.trappy import is_swindle
from engine.verification import verify
from tests.engine.native.tempting_mirror import choose_from_table, tempting_candidates


def expected_choice(table: list[Candidate], params: TrapParams, tempting: TemptingParams, depth: int) -> str:
    """The choice from the whole table."""
    if depth < LEAST_DEPTH:
        return STANDARD.best_move(table, params)
    if is_swindle(table, params):
        return replace(TEMPTING, settings=tempting).best_move(table, params)
    return choose_from_table(table, tempting, params.decided)


def differences(decision: Decision, table: list[Candidate], judge: NativeSearcher) -> Iterator[str]:
    """Differences of a decision from the whole table."""
    assert decision.tempting is not None
    for made, name in (
        (decision, "the record"),
        (complete(decision, judge, StopFlag()), "the completed one"),
    ):
        try:
            verify(made)
        except RecordError as error:
            yield f"{name} does not prove the choice: {error}"
    follows = expected_choice(table, decision.params, decision.tempting, decision.depth)
    if decision.move != follows:
        yield f"plays {decision.move}, the table {follows}"
    for found, whole in zip(decision.candidates, table, strict=True):
        yield from differences_of_move(found, whole)


def differences_of_move(found: Candidate, whole: Candidate) -> Iterator[str]:
    """Differences in the record of one move."""
    raw = found.raw_centi
    if found.move != whole.move or (raw < whole.raw_centi if found.raw_is_bound else raw != whole.raw_centi):
        yield f"{found.move}: raw value {raw}, {whole.move}'s is {whole.raw_centi}"
    exact = {reply.reply: reply.scores_centi for reply in whole.replies}
    for reply in found.replies:
        scores = exact[reply.reply]
        least = whole.raw_centi if reply.least_centi is None else reply.least_centi
        is_true = least <= scores[-1] <= reply.final_centi
        if reply.shallow_scores_centi is not None and reply.shallow_scores_centi != scores[:2]:
            is_true = False
        if reply.scores_centi and reply.scores_centi != scores:
            is_true = False
        if not is_true:
            yield f"{found.move} {reply.reply}: {reply}, its scores are {scores}"


class Comparison:
    """Positions of one game, compared to one depth."""

    def __init__(self, name: str, depth: int, with_python: bool) -> None:
        self._game: Game[Any] = get_rules(name)
        self._depth = depth
        self._with_python = with_python
        self._lazy, self._whole = (native_searcher(name, 16) for _ in range(2))
        self.positions = self.different = self.differs = self.given_up = self.searched = self.replies = 0

    def compare(self, number: int) -> None:
        """Compare one position; print each difference."""
        position = random_position(self._game, self._whole, number)
        decision = MoveChooser(strategy_named("tempting"), self._game, TrapParams(), self._lazy).choose(
            position, Limits(self._depth), StopFlag()
        )
        params, tempting = decision.params, decision.tempting
        assert tempting is not None
        profiler = Profiler(self._game, self._whole, position, params, StopFlag())
        table = profiler.naive_candidates(decision.depth)
        texts = list(differences(decision, table, self._whole))
        if self._with_python:
            again = tempting_candidates(profiler, decision.depth, params, tempting)
            if decision.depth >= LEAST_DEPTH and tuple(again) != decision.candidates:
                texts.append("Python and the core have different candidates")
        for each in texts:
            print(f"DIFFERENT {self._game.name} {number} {self._game.position_text(position)}: {each}")
        self.different += bool(texts)
        best = max(c.raw_centi for c in table)
        self.differs += decision.chosen.raw_centi != best
        self.given_up += to_expected_score(best, tempting) - to_expected_score(
            decision.chosen.raw_centi, tempting
        )
        self._count(decision, table, allowed_floor_centi(best, tempting, params.decided))
        self.positions += 1

    def _count(self, decision: Decision, table: list[Candidate], floor: int) -> None:
        allowed = [
            (found, whole)
            for found, whole in zip(decision.candidates, table, strict=True)
            if whole.raw_centi >= floor
        ]
        if len(allowed) < 2 or is_swindle(table, decision.params):
            return
        for found, whole in allowed:
            self.replies += len(whole.replies)
            self.searched += sum(
                reply.least_centi is not None or reply.final_centi < UNBOUNDED for reply in found.replies
            )

    def report(self) -> None:
        """Print the counts."""
        count = max(1, self.positions)
        print(
            f"{self._game.title}, depth {self._depth}: {self.different} of {self.positions} different; "
            f"differs {100 * self.differs / count:.0f} %, "
            f"given up {self.given_up / count / PER_PERCENT:.2f} %, "
            f"s_D {100 * self.searched / max(1, self.replies):.0f} %",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", nargs="+", default=list(NATIVE_GAMES), choices=list(NATIVE_GAMES))
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first position")
    parser.add_argument("--depth", type=int, help=f"by default {DEPTHS}")
    parser.add_argument("--no-python", action="store_true", help="do not search in Python, too")
    options = parser.parse_args()
    different = 0
    for name in options.games:
        comparison = Comparison(name, options.depth or DEPTHS[name], not options.no_python)
        for number in range(options.first, options.first + options.positions):
            comparison.compare(number)
        comparison.report()
        different += comparison.different
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
