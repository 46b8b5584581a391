"""One puzzle: its question, the assessment of replies, and its solution.  No I/O.

The question reveals nothing about the solution. The solution is a decision from the blind report
(`bot.arena.blind_report`), with the solver's reply in place of the one played.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.arena import board_view
from bot.arena.blind_report import blind_decision, shown_depths
from bot.arena.variants import VARIANTS
from bot.arena.wire import Json
from bot.base.old_names import add_old_keys
from bot.text.bait_text import bait_comparison
from bot.text.chinese_names import with_chinese_names
from bot.text.puzzle_text import bait_text, good_replies_text, hint_text, title_text, wrong_text
from bot.text.sentence import Sentence, part_json
from bot.text.trap_report import DecisionReport, decision_report
from engine.errors import EngineFault, IncompleteProfile, RecordError
from engine.game import Game, Move, continued_position, move_number
from engine.games import get_rules
from engine.human.reply_forecast import Bait, ReplyForecast
from engine.judgement import classify_by_figure_9, judge_decision
from engine.search.reference import principal_variation
from engine.search.searchers import make_searcher
from engine.stop import StopFlag, Stopped
from storage.arena.puzzles.positions import MAX_GOOD_REPLY_COST, PuzzleSource
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
    costs: Mapping[str, int]
    """The cost of each legal reply, in hundredths of a percentage point of expected score."""
    bait: Bait
    stored: StoredGame
    made: StoredDecision
    forecast: ReplyForecast

    def is_good(self, reply: str) -> bool:
        """Whether a reply solves the puzzle: it is the best reply or nearly as good."""
        return self.costs[reply] <= MAX_GOOD_REPLY_COST

    def hint(self) -> Json:
        """The bait: a reply that looks good but is bad."""
        named, probability = self._named(self.bait.reply), self.bait.p_reply
        return {**named, "probability": probability, "text": hint_text(named["name"], probability).to_json()}

    def verdict(self, reply: str) -> Json:
        """Explanation of a wrong reply."""
        bait = next((each for each in self.forecast.baits if each.reply == reply), None)
        probability = None if bait is None else bait.p_reply
        named, cost = self._named(reply), self.costs[reply]
        return {
            **named,
            "cost": cost,
            "isBait": bait is not None,
            "probability": probability,
            "text": wrong_text(named["name"], cost, probability).to_json(),
        }

    def solution(self, reply: str | None, line: tuple[str, ...]) -> Json:
        """The solution, shown at the end.

        Args:
            reply: The good reply that the person found, or None if the person gave up.
            line: `bait_line`.
        """
        outcome = classify_by_figure_9(self.made.decision, reply)
        report = decision_report(self.rules, self.stored, replace(self.made, outcome=outcome), self.forecast)
        good = sorted((cost, text) for text, cost in self.costs.items() if cost <= MAX_GOOD_REPLY_COST)
        names = [(self._named(text)["name"], cost) for cost, text in good]
        found = None if reply is None else names[[text for _, text in good].index(reply)]
        bait = self._named(self.bait.reply)
        comparison = _comparison(report, self.bait.reply, good[0][1])
        bait_cost = self.bait.cost.cost
        fields = {
            "title": title_text(names, found).to_json(),
            # The moves that we could have played are nobody's business here, and most of the text.
            "decision": {**blind_decision(report), "reply": reply, "candidates": []},
            "good": [{**self._named(text), "cost": cost} for cost, text in good],
            "goodText": part_json(good_replies_text(names, found)),
            "bait": {
                **bait,
                "probability": self.bait.p_reply,
                "cost": bait_cost,
                "text": part_json(bait_text((bait["name"], bait_cost), self.bait.p_reply, comparison)),
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


def _comparison(report: DecisionReport, bait: str, best: str) -> Sentence | None:
    """Compare the bait with the best reply; None if scores are missing or the bait always looks worse."""
    replies = {each.reply: each for each in report.replies}
    least = min(each.final_centi for each in report.replies)
    bests = [each for each in report.replies if each.final_centi == least]
    shown = next((each for each in bests if each.reply == best), bests[0])
    return bait_comparison(replies[bait], shown, bests, shown_depths(report))


def make_problem(
    source: PuzzleSource, stored: StoredGame, made: StoredDecision, forecast: ReplyForecast | None
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
        costs = {each.reply: each.cost for each in judge_decision(decision).replies}
        judged = () if forecast is None or forecast.costs is None else forecast.costs.replies
        costs |= {each.reply: each.cost for each in judged}
        legal = board_view.legal_moves(rules, after)
        bait = None if forecast is None else forecast.bait
        if forecast is None or bait is None or {each["move"] for each in legal} != costs.keys():
            raise RecordError(f"decision {made.id} has no bait, or lacks some of its replies")
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
    return Problem(source, rules, after, question, costs, bait, stored, made, forecast)


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
