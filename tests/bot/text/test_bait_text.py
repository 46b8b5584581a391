import math

import pytest

from bot.base.rounding import NO_VALUE
from bot.text.bait_text import (
    bait_comparison,
    cost_text,
    game_share,
    people_play,
    price,
    probability_text,
    score_text,
    short_name,
)
from bot.text.trap_report import ReplyReport
from bot.text.values_text import number

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
    assert [cost_text(text, "discs") for text in ("", None, "3.50", "3.00", "2.96", "the game")] == [
        DASH, DASH, "3.50 discs", "3.00 discs", "2.96 discs", "the game",
    ]  # fmt: skip
    assert cost_text("3.50", "") == "3.50"
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
    return ReplyReport(
        name, name, (), scores, scores[-1], "", "", ("",) * len(scores), 0.0, False, 0, "", None, None, None
    )


@pytest.mark.parametrize(
    ("bait", "best", "words"),
    [
        ((0, 0, 0, 90), (10, 10, 10, 10), "Looking 2 to 4 plies ahead it looks better than best."),
        ((0, 20, 0, 90), (10, 10, 10, 10), "Looking 2 and 4 plies ahead it looks better than best."),
        ((10, 20, 20, 90), (10, 10, 10, 10), "Looking 2 plies ahead it looks as good as best."),
        ((10, 0, 20, 90), (10, 10, 10, 10), "Looking 2 and 3 plies ahead it looks at least as good as best."),
        ((20, 20, 20, 90), (10, 10, 10, 10), ""),
        ((5,), (10,), ""),
    ],
)
def test_looks(bait: tuple[int, ...], best: tuple[int, ...], words: str) -> None:
    sound = _reply("best", *best)
    found = bait_comparison(_reply("bait", *bait), sound, [sound])
    assert ("" if found is None else str(found)) == words


def test_it_has_to_look_good_beside_every_best_reply() -> None:
    one, other = _reply("one", 10, 10, 0), _reply("other", -5, 10, 0)
    said = bait_comparison(_reply("bait", 0, 0, 90), one, [one, other])
    assert str(said) == "Looking 3 plies ahead it looks better than one."


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
