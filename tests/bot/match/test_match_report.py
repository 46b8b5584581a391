from dataclasses import replace
from typing import Any

from bot.match.match_report import (
    ending_text,
    estimate_text,
    game_line,
    has_player_failed,
    result_json,
    result_text,
)
from bot.match.match_runner import MatchStanding
from bot.match.play import End, FinishedGame, ResourceUse
from bot.match.score import ScoreEstimate, result_of
from bot.match.sprt import Sprt, judge
from tests.bot.match.samples import finished, match, terms


def standing(*games: FinishedGame, sprt: Sprt | None = None) -> MatchStanding:
    found = {game.number: game for game in games}
    test = None if sprt is None else judge(sprt, found)
    return MatchStanding(match=match(terms(), 10), result=result_of(found), tested=test, resumed=0)


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
    assert has_player_failed(late)
    assert not has_player_failed(finished(1, 1, end=End.RESIGNATION, loser=1))
    assert game_line(late, standing(late)).startswith("game 2/10 (B black): B lost on time")


def test_names_and_reasons_do_not_talk_to_the_terminal() -> None:
    crashed = replace(finished(0, 0, end=End.CRASH, loser=0), reason="\a: gone", names=("a\x1b[31m", "b"))
    assert ending_text(crashed) == "A crashed: \\x07: gone"
    now = MatchStanding(
        match=match(terms("standard", "human:name=\aBell"), 10),
        result=result_of({0: crashed}),
        tested=None,
        resumed=0,
    )
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
