import math
from dataclasses import replace

import pytest

from bot.base.rounding import NO_VALUE
from bot.text.bait_text import (
    bait_comparison,
    bait_costs,
    cost_part,
    game_share,
    judged_share,
    people_play,
    price,
    probability_text,
    score_text,
    scores_part,
    short_name,
    with_depth,
)
from bot.text.trap_report import BaitReport, ReplyReport
from bot.text.values_text import number
from tests.bot.tempted import judged_reply

DASH = "\N{EN DASH}"


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (0.10, "one player in ten plays"),
        (0.117, "one player in nine plays"),
        (0.3, "one player in three plays"),
        (0.35, "one player in three plays"),
        (0.39, "two players in five play"),
        (0.5, "one player in two plays"),
        (0.61, "three players in five play"),
        (0.9, "nine players in ten play"),
        (0.949, "nine players in ten play"),
        (0.95, "nearly every player plays"),
    ],
)
def test_shares_are_said_as_the_arena_says_them(probability: float, words: str) -> None:
    assert str(people_play(probability)) == words


def test_costs() -> None:
    assert [str(game_share(cost)) for cost in (0.0, 0.004, 0.294, 0.295, 1.0)] == [
        "0 % of the game", "under 1 % of the game", "29 % of the game", "30 % of the game",
        "100 % of the game",
    ]  # fmt: skip
    assert [str(cost_part(text, "discs")) for text in ("", None, "3.50", "3.00", "2.96", "the game")] == [
        DASH, DASH, "3.50 discs", "3.00 discs", "2.96 discs", "the game",
    ]  # fmt: skip
    assert str(cost_part("3.50", "")) == "3.50"
    assert str(price(0.29, "3.50", "discs")) == "29 % of the game (3.50 discs)"
    assert str(price(0.29, "the game", "discs")) == "29 % of the game"
    assert str(price(0.0, "0.40", "discs")) == "0.40 discs"


def test_scores_and_probabilities() -> None:
    assert [score_text(text) for text in ("-1.2", "+0.5", "#3", "#-4", "", None, "won by 3")] == [
        "\N{MINUS SIGN}1.2", "+0.5", "mate in 3", "mated in 4", DASH, DASH, "won by 3",
    ]  # fmt: skip
    assert [probability_text(probability) for probability in (None, 0.001, 0.01, 0.405)] == [
        DASH,
        "under 1 %",
        "1 %",
        "41 %",
    ]


def _reply(name: str, *scores: int) -> ReplyReport:
    texts = tuple(f"{-score / 100:+.2f}" for score in scores)
    return ReplyReport(name, name, (), scores, scores[-1], "", "", texts, 0.0, False, None, None)


@pytest.mark.parametrize(
    ("bait", "best", "words"),
    [
        ((0, 0, 90), (10, 10, 10), "Looking 2 and 3 plies ahead it looks better than best."),
        ((10, 10, 90), (10, 10, 10), "Looking 2 and 3 plies ahead it looks as good as best."),
        ((10, 0, 90), (10, 10, 10), "Looking 2 and 3 plies ahead it looks at least as good as best."),
        (
            (20, -20, 90),
            (10, 10, 10),
            "Looking 2 and 3 plies ahead, both taken together, it looks at least as good as best.",
        ),
        ((20, 20, 0), (10, 10, 10), ""),  # no bait of these rules
        ((5,), (10,), "Looking 2 plies ahead it looks better than best."),
        ((), (10, 10), ""),
    ],
)
def test_how_a_bait_looks(bait: tuple[int, ...], best: tuple[int, ...], words: str) -> None:
    reply = replace(_reply("bait", 0), scores_centi=bait)
    found = bait_comparison(reply, _reply("best", *best))
    assert ("" if found is None else str(found)) == words
    assert bait_comparison(reply, None) is None


def test_the_depth_to_which_a_number_holds() -> None:
    bait = BaitReport("d7d5", "d5", 0.3, 2900, 14, is_solved=False)
    assert str(with_depth("4 %", bait)) == "4 % to depth 14"
    assert str(with_depth("4 %", replace(bait, is_solved=True))) == "4 %, solved"
    assert str(with_depth("4 %", replace(bait, judge_depth=None))) == "4 %"
    assert str(bait_costs(bait)) == "It costs 29 % of the game to depth 14."


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(149, "1 %"), (199, "1 %"), (200, "2 %"), (499, "4 %"), (500, "5 %"), (999, "9 %"), (1000, "10 %")],
)
def test_no_cost_is_rounded_up_to_the_next_worse_word(cost: int, shown: str) -> None:
    assert str(game_share(judged_share(judged_reply(_reply("d5", 0), cost)))) == f"{shown} of the game"


def test_how_a_reply_looks_and_what_the_judge_says() -> None:
    reply = _reply("d5", -40, 30)
    judged = judged_reply(reply, 1500)
    assert str(scores_part(reply, judged)) == "+0.40 at depth 2, \N{MINUS SIGN}1.50 to depth 14"
    assert str(scores_part(reply, None)) == "+0.40 at depth 2"
    assert str(scores_part(None, judged)) == "\N{MINUS SIGN}1.50 to depth 14"
    assert str(scores_part(None, None)) == DASH


def test_names_within_sentences_stay_short_and_turn_nothing_around() -> None:
    assert short_name("Anna") == "Anna"
    assert short_name("W" * 40) == "W" * 40
    cut = short_name("W" * 41)
    assert cut == "W" * 39 + "\N{HORIZONTAL ELLIPSIS}"
    turned = short_name("\N{RIGHT-TO-LEFT OVERRIDE}gnorw")
    assert turned == "\N{FIRST STRONG ISOLATE}\N{RIGHT-TO-LEFT OVERRIDE}gnorw\N{POP DIRECTIONAL ISOLATE}"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1234.5, "1,235"), (None, NO_VALUE), (math.inf, NO_VALUE), (-math.inf, NO_VALUE), (math.nan, NO_VALUE)],
)
def test_a_number_that_is_none_hides_no_page(value: float | None, shown: str) -> None:
    """A damaged row may hold one."""
    assert number(value) == shown
