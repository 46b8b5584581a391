"""What `desdemona stats --plan` prints: games and days that effects need, on 80 columns."""

import io

import pytest
from rich.console import Console

from bot.base.rounding import NO_VALUE
from bot.parts.terminal import terminal
from bot.views.statistics.sample_size import plan_parts
from storage.evidence.inference.sample_size import plan_decisions, plan_games, plan_traps
from storage.evidence.statistics.draws import DrawRate
from storage.evidence.statistics.pace import Pace


def lines(pace: Pace | None, rate: float = 1.0) -> list[str]:
    out = io.StringIO()
    rows = [*plan_games(), *plan_decisions(rate, 40), *plan_traps()]
    console = Console(file=out, width=80)
    for part in terminal(plan_parts(rows, DrawRate(40, round(40 * rate)), pace)):
        console.print(part)
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("pace", [None, Pace(0, 1.0), Pace(3, 28.0), Pace(5000, 28.0)])
@pytest.mark.parametrize("rate", [0.0, 0.025, 0.33, 1.0])
def test_it_fits(pace: Pace | None, rate: float) -> None:
    shown = lines(pace, rate)
    assert all(len(line) <= 80 for line in shown)
    assert len(shown) < 45


def test_days_follow_from_the_games_a_day() -> None:
    words = [" ".join(line.split()) for line in lines(Pace(56, 14.0), 0.5)]
    at = words.index("score 65% 9,271 / 20,719 1,487 / 2,940 374 / 720")
    assert words[at + 1] == "days 2,318 / 5,180 372 / 735 94 / 181"
    at = words.index("games (0.5 each, measured) 25,116 / 50,658 6,279 / 12,023 1,570 / 3,295")
    assert words[at + 1] == "days 6,280 / 12,665 1,570 / 3,006 393 / 824"
    assert "Days: 56 finished games with people in 14 days, 4 a day." in words


def test_without_games_there_are_no_days() -> None:
    for pace in (None, Pace(0, 28.0)):
        words = [" ".join(line.split()) for line in lines(pace)]
        assert not any(line.startswith("days ") for line in words)
        assert "Days: unknown, because no game with a person finished in the last 28 days." in words


def test_without_draws_no_number_of_games_is_enough() -> None:
    words = [" ".join(line.split()).replace(NO_VALUE, "-") for line in lines(Pace(56, 14.0), 0.0)]
    assert "games (0 each, measured) - / - - / - - / -" in words
    assert "days - / - - / - - / -" in words
