"""Greeting and farewell."""

from bot.config import ChatConfig
from bot.events import CHAT_LIMIT
from bot.talk import Verdict, farewell, greeting


def test_the_usual_words() -> None:
    said = greeting(ChatConfig(), opponent="Anna", bot="Desdemona", game="Othello")
    assert said == "Good luck, Anna! I am a program."
    said = farewell(
        ChatConfig(), opponent="Anna", bot="Desdemona", game="Othello", result=Verdict.WON, traps=5, fell=2
    )
    assert said == "Good game, Anna! Traps set: 5, you fell into 2."


def test_every_placeholder() -> None:
    config = ChatConfig(
        greeting="{opponent} {bot} {game}", farewell="{opponent} {bot} {game} {result} {traps} {fell}"
    )
    assert greeting(config, opponent="a", bot="b", game="c") == "a b c"
    said = farewell(config, opponent="a", bot="b", game="c", result=Verdict.DRAWN, traps=1, fell=0)
    assert said == "a b c drawn 1 0"


def test_silence() -> None:
    for config in (ChatConfig(enabled=False), ChatConfig(greeting="", farewell="")):
        assert greeting(config, opponent="a", bot="b", game="c") is None
        said = farewell(config, opponent="a", bot="b", game="c", result=Verdict.LOST, traps=0, fell=0)
        assert said is None


def test_long_names_are_cut() -> None:
    said = greeting(ChatConfig(), opponent="a" * 200, bot="b", game="c")
    assert said is not None
    assert len(said) == CHAT_LIMIT
    assert said.endswith("…")
