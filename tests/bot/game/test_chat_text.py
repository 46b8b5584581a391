"""Greeting and farewell."""

from dataclasses import replace

import pytest

from bot.base.config import ChatConfig
from bot.base.events import MAX_CHAT_LENGTH
from bot.game.chat_text import ResultForUs, farewell, greeting
from storage.evidence.statistics.encounters import BaitCounts

COUNTS = BaitCounts(baits_set=5, baits_taken=2, slips=3)


def usual_farewell(counts: BaitCounts) -> str | None:
    return farewell(
        ChatConfig(),
        names_traps=True,
        opponent="Anna",
        bot="Desdemona",
        game="Othello",
        result=ResultForUs.WON,
        counts=counts,
    )


def test_the_usual_words() -> None:
    said = greeting(ChatConfig(), ChatConfig().greeting, opponent="Anna", bot="Desdemona", game="Othello")
    assert said == "Good luck, Anna! I am a program."
    said = usual_farewell(COUNTS)
    assert said == "Good game, Anna! Traps set: 5, baits taken: 2; slips: 3."


def test_slips_are_known_once_the_game_is_judged() -> None:
    said = usual_farewell(replace(COUNTS, slips=0, unjudged=14))
    assert said == "Good game, Anna! Traps set: 5, baits taken: 2; slips: not judged yet."


def test_every_placeholder() -> None:
    config = ChatConfig(
        greeting="{opponent} {bot} {game}", farewell="{opponent} {bot} {game} {result} {traps} {fell} {slips}"
    )
    assert greeting(config, config.greeting, opponent="a", bot="b", game="c") == "a b c"
    said = farewell(
        config,
        names_traps=True,
        opponent="a",
        bot="b",
        game="c",
        result=ResultForUs.DRAWN,
        counts=COUNTS,
    )
    assert said == "a b c drawn 5 2 3"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (ChatConfig().farewell, "Good game, Anna!"),
        ("{fell} of {traps}", None),
        ("I {result}. {fell} traps! Bye...  See you?", "I won. Bye... See you?"),
        ("Bye {opponent}", "Bye Anna"),
    ],
)
def test_nothing_of_traps_where_none_are_set(template: str, said: str | None) -> None:
    config = ChatConfig(farewell=template)
    told = farewell(
        config,
        names_traps=False,
        opponent="Anna",
        bot="b",
        game="c",
        result=ResultForUs.WON,
        counts=COUNTS,
    )
    assert told == said


def test_an_aborted_game_was_no_good_game() -> None:
    said = farewell(
        ChatConfig(),
        names_traps=True,
        opponent="a",
        bot="b",
        game="c",
        result=ResultForUs.ABORTED,
        counts=COUNTS,
    )
    assert said is None


def test_silence() -> None:
    for config in (ChatConfig(enabled=False), ChatConfig(greeting="", farewell="")):
        assert greeting(config, config.greeting, opponent="a", bot="b", game="c") is None
        said = farewell(
            config,
            names_traps=True,
            opponent="a",
            bot="b",
            game="c",
            result=ResultForUs.LOST,
            counts=COUNTS,
        )
        assert said is None


def test_long_names_are_cut() -> None:
    said = greeting(ChatConfig(), ChatConfig().greeting, opponent="a" * 200, bot="b", game="c")
    assert said is not None
    assert len(said) == MAX_CHAT_LENGTH
    assert said.endswith("…")
