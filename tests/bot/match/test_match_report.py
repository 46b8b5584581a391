from dataclasses import replace
from typing import Any

from bot.match.match_report import (
    ending_text,
    estimate_text,
    game_line,
    result_json,
    result_text,
)
from bot.match.match_runner import MatchStanding, standing_of
from bot.match.play import End, FinishedGame, ResourceUse
from bot.match.score import ScoreEstimate
from bot.match.sprt import Sprt
from tests.bot.match.samples import finished, match, terms


def standing(*games: FinishedGame, sprt: Sprt | None = None) -> MatchStanding:
    return standing_of(match(terms(), 10, sprt=sprt), {game.number: game for game in games}, 0)


def test_numbers() -> None:
    assert estimate_text(ScoreEstimate(None, None, None), "+.0f") == "not known"
    assert estimate_text(ScoreEstimate(12.3, -3, 27.6), "+.0f") == "+12 (95 %: -3 to +28)"
    assert estimate_text(ScoreEstimate(None, None, 100), "+.0f") == "minus infinity (95 %: below +100)"
    assert estimate_text(ScoreEstimate(None, -100, None), "+.0f") == "plus infinity (95 %: above -100)"
    assert estimate_text(ScoreEstimate(2.0, None, None), "+.1f") == "+2.0"


def test_how_games_end() -> None:
    assert ending_text(finished(0, 1, margin=12)) == "A won by 12"
    assert ending_text(finished(0, 0, margin=-2)) == "B won by 2"
    assert ending_text(finished(0, 0.5, margin=0)) == "drawn"
    assert ending_text(finished(0, 1, end=End.ADJUDICATED)) == "A won (adjudicated)"
    late = finished(1, 1, end=End.TIME, loser=1)
    assert ending_text(late).startswith("B lost on time")
    assert late.is_forfeit
    assert not finished(1, 1, end=End.RESIGNATION, loser=1).is_forfeit
    assert game_line(late, standing(late)).startswith("game 2/10 (B black): B lost on time")


def test_names_and_reasons_do_not_talk_to_the_terminal() -> None:
    crashed = replace(finished(0, 0, end=End.CRASH, loser=0), reason="\a: gone", names=("a\x1b[31m", "b"))
    assert ending_text(crashed) == "A crashed: \\x07: gone"
    now = standing_of(match(terms("standard", "human:name=\aBell"), 10), {0: crashed}, 0)
    assert "A standard (a\\x1b[31m) against B human:name=\\x07Bell (b)" in result_text(now)
    assert all(line.isprintable() for line in result_text(now).split("\n"))


def test_a_result_in_words() -> None:
    games = [finished(number, 1) for number in range(4)]
    text = result_text(standing(*games, sprt=Sprt(0, 5)))
    assert "4 of 10 games: +4 =0 -0, 100.0 %" in text
    assert "2 whole pairs" in text
    assert "ended: 4 by the rules" in text
    assert "SPRT +0 against +5" in text
    assert "not decided" in text
    assert "no games played yet" in result_text(standing())


def test_a_lost_pair_in_words() -> None:
    lost = result_text(standing(finished(0, 0), finished(1, 0), sprt=Sprt(0, 5)))
    assert "Elo minus infinity (95 %: below +" in lost
    assert "(1 whole pair; of 2 points" in lost
    assert "after 1 pair: " in lost


def test_a_result_for_programs() -> None:
    told: dict[str, Any] = result_json(
        standing(finished(0, 1), finished(1, 0, end=End.CRASH, loser=0), sprt=Sprt(0, 5))
    )
    assert (told["games"], told["games_wanted"], told["is_over"]) == (2, 10, False)
    assert told["pairs"] == [0, 0, 1, 0, 0]
    assert told["elo"]["value"] == 0
    assert {"end": "crash", "lost_by": "a", "games": 1} in told["ends"]
    assert told["sprt"]["verdict"] == "open"
    assert told["terms"]["a"] == "standard"
    assert result_json(standing())["elo"] == {"value": None, "low": None, "high": None}


def test_verdicts_with_and_without_forfeits() -> None:
    """A pair with a forfeited game counts as a whole or not at all, and none after an unfinished pair."""
    lost = [finished(0, 1), finished(1, 0, end=End.CRASH, loser=0)]
    fair = [finished(number, 0) for number in range(2, 7)]
    now = standing(*lost, *fair, finished(8, 1), finished(9, 1), sprt=Sprt(0, 100))
    assert "+3 =0 -6" in result_text(now)
    assert (
        "without the pairs of 1 forfeited game (time, crash, illegal move): +0 =0 -4, Elo minus infinity"
    ) in result_text(now)
    assert "without these pairs: SPRT +0 against +100: LLR -" in result_text(now)
    told = result_json(now)
    assert told["sprt"]["pairs"] == 3
    without = told["without_forfeits"]
    assert (without["forfeits"], without["games"], without["losses"], without["sprt"]["pairs"]) == (
        1,
        4,
        4,
        2,
    )
    assert result_json(standing(*fair))["without_forfeits"] is None
    assert "forfeited" not in result_text(standing(*fair, finished(7, 0, end=End.RESIGNATION, loser=0)))


def test_what_the_moves_cost_in_words() -> None:
    used = (ResourceUse(2, 0.1, 0.06, 0, 12, 2, 0.08, 2, 2_469_000, 2), ResourceUse(2, 0.1, 0.06))
    now = standing(finished(0, 1, used=used))
    lines = result_text(now).splitlines()
    assert (
        "A: 2 moves, 50 ms a move (40 ms of processor time, 1,234,500 nodes), longest 60 ms, mean depth 6.0"
        in lines
    )
    assert "B: 2 moves, 50 ms a move, longest 60 ms" in lines
    told = result_json(now)["used"]
    assert (told["a"]["mean_cpu_s"], told["a"]["mean_nodes"]) == (0.04, 1_234_500)
    assert (told["b"]["mean_cpu_s"], told["b"]["mean_nodes"]) == (None, None)
