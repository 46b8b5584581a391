"""The judge counts every good reply, and the question tells nothing of the solution."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.arena.puzzles.problem import LINE_PLIES, Problem, bait_line, make_problem
from engine.decision import Decision
from engine.errors import RecordError
from engine.game import replay
from engine.human.reply_forecast import ReplyForecast
from engine.judge import ReplyCosts
from storage.arena.puzzles.positions import PuzzleSource
from storage.records import DecisionState, GameResult, GameStatus, StoredDecision, StoredGame
from tests.bot.arena.puzzles.samples import TRAPS, analysed
from tests.storage.samples import NEW_GAME

AT = datetime(2026, 1, 2, tzinfo=UTC)
SOURCE = PuzzleSource(7, 1, 1, "abcdefgh", 12)


def stored(made: Decision) -> StoredDecision:
    return StoredDecision(1, 1, 12, DecisionState.CONFIRMED, made, True, True, None, AT, AT, AT)


def problem_of(
    game: str,
    made: Decision | None = None,
    forecast: ReplyForecast | None = None,
    costs: ReplyCosts | None = None,
) -> Problem:
    trap = TRAPS[game]
    known, found, judged = analysed(game)
    new = {name: getattr(NEW_GAME, name) for name in NEW_GAME.__slots__}
    record = StoredGame(
        **(new | {"game": game, "variant": trap.variant, "initial_position": trap.position}),
        id=1,
        moves=(),
        state=GameStatus.FINISHED,
        is_settled=True,
        result=GameResult.WIN,
        end_reason=None,
        rating_diff=None,
        started_at=AT,
        ended_at=AT,
    )
    return make_problem(SOURCE, record, stored(made or known), forecast or found, costs or judged)


@pytest.mark.parametrize("game", TRAPS)
def test_the_judge(game: str) -> None:
    trap, problem = TRAPS[game], problem_of(game)
    assert problem.decision.move == trap.move
    assert problem.bait.reply == trap.bait
    assert tuple(filter(problem.is_good, problem.judged)) == trap.good
    assert {each["move"] for each in problem.question["legal"]} == set(problem.judged)
    assert not problem.is_good(trap.poor)
    told = problem.verdict(trap.poor)
    assert (told["isBait"], told["probability"], told["cost"]) == (
        False,
        None,
        problem.judged[trap.poor].cost,
    )
    told = problem.verdict(trap.bait)
    assert (told["isBait"], told["probability"], told["cost"]) == (
        True,
        problem.bait.probability,
        problem.bait.cost,
    )
    assert problem.hint()["move"] == trap.bait


@pytest.mark.parametrize(("cost", "is_good"), [(499, True), (500, False)])
def test_only_what_the_judge_calls_good_is_good(cost: int, is_good: bool) -> None:
    _, _, costs = analysed("chess")
    poor = TRAPS["chess"].poor
    changed = (replace(each, cost=cost) if each.reply == poor else each for each in costs.replies)
    problem = problem_of("chess", costs=replace(costs, replies=tuple(changed)))
    assert problem.is_good(poor) is is_good
    found = problem.solution(poor if is_good else None, ())
    assert (poor in [each["move"] for each in found["good"]]) is is_good


@pytest.mark.parametrize("game", TRAPS)
def test_the_question_tells_nothing_of_the_solution(game: str) -> None:
    problem = problem_of(game)
    assert set(problem.question) == {
        *("rows", "toMove", "highlights", "counts", "game", "sides", "number", "played", "legal"),
    }
    assert all(set(each) <= {"move", "squares", "name", "rows"} for each in problem.question["legal"])
    moves = [each["move"] for each in problem.question["legal"]]
    assert moves == [problem.rules.move_text(each) for each in problem.rules.legal_moves(problem.after)]
    text = json.dumps(problem.question)
    assert not [word for word in ("cost", "centi", "probability", "bait", "trap", "abcdefgh") if word in text]


@pytest.mark.parametrize("game", TRAPS)
def test_the_solution(game: str) -> None:
    trap, problem = TRAPS[game], problem_of(game)
    line = bait_line(problem)
    assert 1 <= len(line) <= LINE_PLIES
    after = problem.rules.position_text(problem.after)
    replay(problem.rules, (trap.bait, *line), problem.rules.parse_position(after))  # all legal
    found = problem.solution(trap.good[-1], line)
    assert [each["move"] for each in found["good"]] == list(trap.good)
    assert [each["move"] for each in found["bait"]["line"]] == [trap.bait, *line]
    assert found["source"] == {"game": "abcdefgh", "ply": 13}
    assert found["decision"]["reply"] == trap.good[-1]
    assert found["decision"]["cost"] == problem.judged[trap.good[-1]].cost
    # A blind report's decision: nothing from which the player or the depth of its search follows.
    assert found["decision"]["candidates"] == []
    assert not {"player", "depth", "search_mode", "sets_traps"} & set(found["decision"])
    assert {len(each["shown_centi"]) for each in found["decision"]["replies"]} == {3}
    given_up = problem.solution(None, ())
    assert (given_up["decision"]["reply"], len(given_up["bait"]["line"])) == (None, 1)


def test_what_cannot_be_shown_says_why() -> None:
    made, found, costs = analysed("chess")
    with pytest.raises(RecordError, match="decision 1 has no bait"):
        problem_of("chess", forecast=replace(found, bait_replies=()))
    with pytest.raises(RecordError, match=r"decision 1 .*not all of its replies are judged"):
        problem_of("chess", costs=replace(costs, replies=costs.replies[1:]))
    with pytest.raises(RecordError, match=r"decision 1 .*not all of its replies are judged"):
        problem_of("chess", costs=replace(costs, version=costs.version - 1))
    with pytest.raises(RecordError, match="decision 1 cannot be shown"):
        problem_of("chess", made=replace(made, position="nonsense"))
