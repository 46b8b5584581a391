"""One puzzle: its question, the assessment of replies, and its solution.  No I/O.

A reply is good if it is one of the best by the judge (`engine.judge`), who has judged all replies.

The question reveals nothing about the solution. The solution is a decision from the blind report
(`bot.arena.blind_report`), with the solver's reply in place of the one played.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.arena import board_view
from bot.arena.blind_report import blind_decision
from bot.arena.variants import VARIANTS
from bot.arena.wire import Json
from bot.base.old_names import add_old_keys
from bot.text.bait_text import bait_comparison
from bot.text.chinese_names import with_chinese_names
from bot.text.puzzle_text import bait_text, good_replies_text, hint_text, title_text, wrong_text
from bot.text.sentence import part_json
from bot.text.trap_report import BaitReport, DecisionReport, JudgedReply, decision_report
from engine.errors import EngineFault, IncompleteProfile, RecordError
from engine.figure_9 import classify_by_figure_9
from engine.game import Game, Move, continued_position, move_number
from engine.games import get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.judge import ReplyCosts, ReplyWord
from engine.search.reference import principal_variation
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped
from storage.arena.puzzles.positions import PuzzleSource
from storage.errors import VALUE_ERRORS, reason_of
from storage.records import StoredDecision, StoredGame

LINE_PLIES = 5
"""Number of plies shown after a bait."""
_LINE_NODES = 400_000  # a few tenths of a second at the most
_TABLE_MB = 8


@dataclass(frozen=True, slots=True)
class Problem:
    """A puzzle position with its solution."""

    source: PuzzleSource
    rules: Game[Any]
    after: Any
    """The puzzle's position."""
    question: Json
    """The data shown before the solver answers."""
    judged: Mapping[str, JudgedReply]
    """The verdict on each legal reply."""
    bait: BaitReport
    decision: DecisionReport

    def is_good(self, reply: str) -> bool:
        """Whether a reply solves the puzzle."""
        return self.judged[reply].word is ReplyWord.GOOD

    def hint(self) -> Json:
        """The bait: a reply that looks good but is bad."""
        named, probability = self._named(self.bait.reply), self.bait.probability
        return {**named, "probability": probability, "text": hint_text(named["name"], probability).to_json()}

    def verdict(self, reply: str) -> Json:
        """Explanation of a wrong reply."""
        baits = () if self.decision.forecast is None else self.decision.forecast.baits
        probability = next((each.probability for each in baits if each.reply == reply), None)
        return {
            **self._named(reply),
            "cost": self.judged[reply].cost,
            "isBait": probability is not None,
            "probability": probability,
            "text": wrong_text(self.judged[reply], probability).to_json(),
        }

    def solution(self, reply: str | None, line: tuple[str, ...]) -> Json:
        """The solution, shown at the end.

        Args:
            reply: The good reply that the person found, or None if the person gave up.
            line: `bait_line`.
        """
        good = [each for each in self.judged.values() if each.word is ReplyWord.GOOD]
        found = None if reply is None else self.judged[reply]
        replies = {each.reply: each for each in self.decision.replies}
        comparison = bait_comparison(replies[self.bait.reply], replies.get(good[0].reply))
        answered = replace(
            self.decision,
            reply=reply,
            judged=found,
            cost=None if found is None else found.cost,
            cost_text=None if found is None else found.cost_text,
        )
        fields = {
            "title": title_text(good, found).to_json(),
            # The moves that we could have played are nobody's business here, and most of the text.
            "decision": {**blind_decision(answered), "candidates": []},
            "good": [{**self._named(each.reply), "cost": each.cost} for each in good],
            "goodText": part_json(good_replies_text(good, found)),
            "bait": {
                **self._named(self.bait.reply),
                "probability": self.bait.probability,
                "cost": self.bait.cost,
                "text": part_json(bait_text(self.bait, comparison)),
                "line": self._steps((self.bait.reply, *line)),
            },
            "source": {"game": self.source.site_game_id, "ply": self.source.ply + 1},
        }
        return dict(add_old_keys(fields))

    def _named(self, text: str) -> Json:
        move = self.rules.parse_move(self.after, text)
        return {
            "move": text,
            **_named(self.rules, self.after, move),
            "squares": list(self.rules.move_squares(move)),
        }

    def _steps(self, moves: tuple[str, ...]) -> list[Json]:
        """Convert moves to JSON, each with its name and the resulting board."""
        steps = []
        position = self.after
        for text in moves:
            move = self.rules.parse_move(position, text)
            named, squares = _named(self.rules, position, move), list(self.rules.move_squares(move))
            position = continued_position(self.rules, self.rules.play(position, move))
            steps.append({"move": text, **named, "squares": squares, "rows": self._rows(position)})
        return steps

    def _rows(self, position: Any) -> list[str]:
        return list(self.rules.board_rows(position))


def _named(rules: Game[Any], position: Any, move: Move) -> Json:
    return dict(with_chinese_names({"name": rules.move_name(position, move)}))


def make_problem(
    source: PuzzleSource,
    stored: StoredGame,
    made: StoredDecision,
    forecast: ReplyForecast | None,
    costs: ReplyCosts | None,
) -> Problem:
    """Create a puzzle from a decision.

    Raises:
        RecordError: The record lacks the data for a puzzle.
    """
    try:
        rules = get_rules(stored.game)
        decision = made.decision
        before = rules.for_search(rules.parse_position(decision.position))
        move = rules.parse_move(before, decision.move)
        after = continued_position(rules, rules.play(before, move))
        # The reply of the game that it is from is nobody's business.
        unanswered = replace(made, outcome=classify_by_figure_9(decision, None))
        report = decision_report(rules, stored, unanswered, forecast, costs)
        known = {each.judged for each in report.replies} | {report.best}
        judged = sorted(
            (each for each in known if each is not None),
            key=lambda each: (each.cost, each != report.best, each.reply),
        )
        legal = board_view.legal_moves(rules, after)
        baits = () if report.forecast is None else report.forecast.baits
        if not baits or {each["move"] for each in legal} != {each.reply for each in judged}:
            raise RecordError(f"decision {made.id} has no bait, or not all of its replies are judged")
        question = {
            **board_view.board(VARIANTS[stored.variant], after),
            "game": rules.name,
            "sides": list(rules.sides),
            "number": move_number(rules, stored.moves, made.ply),
            "played": {
                **_named(rules, before, move),
                "squares": list(rules.move_squares(move)),
            },
            "legal": legal,
        }
    except (*VALUE_ERRORS, EngineFault, IncompleteProfile, StopIteration) as error:
        raise RecordError(f"decision {source.decision_id} cannot be shown: {reason_of(error)}") from error
    return Problem(source, rules, after, question, {each.reply: each for each in judged}, baits[0], report)


def bait_line(problem: Problem) -> tuple[str, ...]:
    """Return the best play by both sides after the bait, as found by a short search."""
    rules = problem.rules
    position = rules.play(problem.after, rules.parse_move(problem.after, problem.bait.reply))
    searcher = make_searcher(rules.name, _TABLE_MB)
    stop = StopFlag()
    stop.set_node_limit(_LINE_NODES)  # of all depths together
    line: tuple[str, ...] = ()
    for depth in range(2, LINE_PLIES + 1):
        try:
            line = principal_variation(rules, searcher, position, depth, stop)
        except Stopped:
            break
    return line
