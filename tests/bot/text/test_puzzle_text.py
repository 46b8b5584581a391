"""The trainer's sentences about replies."""

import pytest

from bot.text.puzzle_text import bait_text, good_replies_text, hint_text, title_text, wrong_text
from bot.text.sentence import Sentence
from bot.text.trap_report import BaitReport, JudgedReply, shown_cost
from engine.judge import ReplyCost


@pytest.mark.parametrize(("probability", "often"), [(0.001, 1), (0.305, 31), (1.0, 100)])
def test_a_probability_is_given_in_a_hundred(probability: float, often: int) -> None:
    assert str(hint_text("Nd2", probability)) == f"Not Nd2: it tempts, {often} in 100 play this."


def _judged(name: str, cost: int) -> JudgedReply:
    made = ReplyCost(name, 0, cost, 13, is_solved=False)
    shown = shown_cost(made)
    return JudgedReply(name, name, (), made.word, made.is_best, cost, shown, "", 0, "", 14, False)


def test_a_wrong_reply_hears_what_it_costs() -> None:
    wrong = _judged("Nd2", 2900)
    assert str(wrong_text(wrong, None)) == (
        "Nd2 is not good: it costs 29 % of the game to depth 14. Try again."
    )
    assert str(wrong_text(wrong, 0.5)) == (
        "Nd2 is the bait: 50 in 100 play this, and it costs 29 % of the game to depth 14. Try again."
    )


def test_the_title() -> None:
    one, two = [_judged("a", 0)], [_judged("a", 0), _judged("b", 300)]
    assert [str(title_text(good, None)) for good in (one, two)] == [
        "This was the reply to find",
        "These were the replies to find",
    ]
    assert [str(title_text(two, found)) for found in two] == ["Found", "A good reply"]


def test_the_good_replies() -> None:
    good = [_judged(name, cost) for name, cost in (("a", 0), ("b", 199), ("c", 200), ("d", 490))]
    assert str(good_replies_text(good, None)) == "a is the best reply. Good as well: b, c and d."
    assert str(good_replies_text(good, good[1])) == "b is the best reply. Good as well: a, c and d."
    assert str(good_replies_text(good, good[2])) == (
        "c is good: it costs 2 % of the game to depth 14 compared with a, the best reply. "
        "Good as well: b and d."
    )
    assert str(good_replies_text(good[:1], None)) == "a is the best reply."


def test_why_the_bait_tempts() -> None:
    looks = Sentence("at depth 2 it looks as good as {best}.", {"best": "e5"}, is_capital=True)
    was = "The bait was Nd2: 20 in 100 play this."
    bait = BaitReport("b1d2", "Nd2", 0.2, 2900, 14, is_solved=True)
    assert str(bait_text(bait, None)) == f"{was} It costs 29 % of the game, solved."
    assert str(bait_text(bait, looks)) == (
        f"{was} At depth 2 it looks as good as e5. It costs 29 % of the game, solved."
    )
