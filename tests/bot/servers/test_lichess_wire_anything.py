"""Whatever a server sends, the wire raises nothing but its own error."""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.base.dialects import DIALECTS, Dialect
from bot.base.errors import ProtocolError
from bot.servers.lichess_wire import (
    GameReader,
    read_account,
    read_account_event,
    read_challenge_answer,
    read_line,
    read_online_bot,
    read_playing,
    read_rating_diff,
)

US = "desdemona"
ANN, BOT = (
    {"id": "ann", "name": "Ann", "rating": 1412},
    {"id": US, "name": US, "title": "BOT", "rating": 1500},
)
STATE = {
    "type": "gameState",
    "moves": "",
    "wtime": 61000,
    "btime": 59500,
    "winc": 2000,
    "binc": 2000,
    "status": "started",
    "wdraw": True,
    "btakeback": False,
}
FULL = {
    "type": "gameFull",
    "id": "abcd1234",
    "variant": {"key": "standard", "name": "Standard"},
    "clock": {"initial": 60000, "increment": 2000, "delay": 0, "clockType": "fischer"},
    "speed": "bullet",
    "rated": True,
    "white": ANN,
    "black": BOT,
    "p1": ANN,
    "p2": BOT,
    "initialFen": "startpos",
    "daysPerTurn": 3,
    "state": STATE,
}
MOVES = "e2e4 e7e5 g1f3 b8c6", "f5 d6 c3 d3", "P@e3 P@f3 a1a1", "h3e3 b8e8,c4c5", "d d d e", "e1h1 0000 pass"
FENS = (
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "bqnnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNNRKRB w HFhf e3 99 9999",
    "8/8/8/3wb3/3bw3/8/8/8 b",
    "8/8/8/3pP3/3Pp3/8/8/8[PPpp] w - - 0 1",
    "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR w - - 0 1",
    "7/7/7/7/7/7 r",
)
GAME_MESSAGES = (
    FULL,
    STATE,
    STATE | {"moves": "e2e4", "status": "resign", "winner": "white"},
    {"type": "opponentGone", "gone": True, "claimWinInSeconds": 8},
    {"type": "chatLine", "room": "player", "username": "Ann", "text": "hi"},
    {"type": "gameEnd", "game": {"id": "abcd1234"}},
    {"type": "ping"},
)
CHALLENGE = {
    "id": "chal0001",
    "status": "created",
    "challenger": ANN,
    "destUser": BOT,
    "variant": {"key": "fromPosition", "name": "From Position"},
    "rated": True,
    "speed": "blitz",
    "timeControl": {"type": "clock", "limit": 300, "increment": 3, "daysPerTurn": 2},
    "initialFen": FENS[1],
    "chess960": True,
    "declineReasonKey": "later",
}
ACCOUNT_MESSAGES = (
    {"type": "challenge", "challenge": CHALLENGE},
    {"type": "challengeCanceled", "challenge": CHALLENGE},
    {"type": "challengeDeclined", "challenge": CHALLENGE},
    {"type": "gameStart", "game": {"gameId": "abcd1234", "id": "abcd1234", "variant": {"key": "othello"}}},
    {"type": "gameFinish", "game": {"gameId": "abcd1234", "ratingDiff": -7}},
    {"done": "accepted"},
    {
        "id": US,
        "username": "Desdemona",
        "title": "BOT",
        "count": {"all": 7},
        "perfs": {"blitz": {"rating": 1}},
    },
    {"players": {"white": {"user": {"name": US}, "ratingDiff": 5}}},
)
ANSWERS: tuple[Callable[[Any], object], ...] = (
    read_account,
    read_online_bot,
    read_challenge_answer,
    lambda message: read_playing([message]),
    lambda message: read_rating_diff(message, US),
)
KEYS = sorted({key for dialect in DIALECTS.values() for key in dialect.variants})


def deep(levels: int) -> object:
    value: object = {}
    for level in range(levels):
        value = [value] if level % 2 else {"id": value}
    return value


NUMBERS = (0, -1, 2**31 - 1, 2**63, 10**400, -(10**4000), 1e308, -0.5, 1e-320)
ODD: tuple[Any, ...] = (
    *NUMBERS,
    None,
    True,
    "",
    "\ud800",
    "\0",
    "a/b",
    "x" * 600,
    [],
    ["id"],
    {},
    {"id": 5},
    deep(400),
)
numbers = st.sampled_from(NUMBERS)
texts = st.text("aZ09/- \0\ud800\u0663é", max_size=5) | st.sampled_from(
    ["", "\ud800", "\0", "a/b", "0" * 600, "started", "white", "p2", "drąw", "٣", *KEYS, *FENS, *MOVES]
)
values = (
    numbers
    | texts
    | st.none()
    | st.booleans()
    | st.sampled_from([10, 500]).map(deep)
    | st.lists(texts, max_size=2)
    | st.dictionaries(st.sampled_from(["id", "key", "name", "type"]) | texts, numbers | texts, max_size=2)
)


def nodes(value: object) -> list[tuple[Any, Any]]:
    """Every place in a tree of JSON, as the container and the key in it."""
    inside: Any = value.items() if isinstance(value, dict) else ()
    return [place for key, child in inside for place in [(value, key), *nodes(child)]]


@st.composite
def lines(draw: st.DrawFn, messages: tuple[Mapping[str, Any], ...]) -> bytes:
    """A real message with some of its values replaced or missing, sometimes cut or with a foreign byte."""
    message = copy.deepcopy(dict(draw(st.sampled_from(messages))))
    for _ in range(draw(st.integers(0, 3))):
        container, key = draw(st.sampled_from(nodes(message) or [(message, "type")]))
        if draw(st.booleans()):
            container[key] = draw(values)
        else:
            container.pop(key, None)
    line = json.dumps(message).encode()
    if not draw(st.integers(0, 9)):
        at = draw(st.integers(0, len(line)))
        line = line[:at] + draw(st.binary(max_size=3)) + line[at + 1 :]
    return line


@st.composite
def game_lines(draw: st.DrawFn) -> list[bytes]:
    """A game's stream; most begin with a game that is told rightly, of any variant and start."""
    first = copy.deepcopy(FULL) | {"variant": {"key": draw(st.sampled_from(KEYS))}}
    first["state"] = STATE | {"moves": draw(st.sampled_from(["", *MOVES]))}
    first["initialFen"] = draw(st.sampled_from(["startpos", *FENS]) | texts)
    return [json.dumps(first).encode(), *draw(st.lists(lines(GAME_MESSAGES), max_size=4))]


def read_account_line(line: bytes, dialect: Dialect) -> None:
    for read in (lambda message: read_account_event(message, dialect, US), *ANSWERS):
        with suppress(ProtocolError):
            message = read_line(line)
            if message is not None:
                read(message)


def read_game_lines(sent: Sequence[bytes], dialect: Dialect) -> None:
    reader = GameReader(dialect, US)
    for line in sent:
        with suppress(ProtocolError):
            message = read_line(line)
            if message is not None:
                reader.read(message)
    reader.ended("unknown")
    assert reader.is_over is reader.started


def spoiled(message: Mapping[str, Any]) -> Iterator[bytes]:
    """A message with one value replaced, in every way."""
    whole = copy.deepcopy(dict(message))
    for container, key in nodes(whole):
        kept = container[key]
        for odd in ODD:
            container[key] = odd
            yield json.dumps(whole).encode()
        container[key] = kept


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_one_odd_value(dialect: Dialect) -> None:
    own = {"variant": {"key": next(iter(dialect.variants))}}
    for told in ACCOUNT_MESSAGES:
        for line in spoiled(told):
            read_account_line(line, dialect)
    first = json.dumps(FULL | own).encode()
    for line in spoiled(FULL | own):
        read_game_lines([line], dialect)
    for message in GAME_MESSAGES[1:]:
        for line in spoiled(message):
            read_game_lines([first, line], dialect)


dialects = st.sampled_from(list(DIALECTS.values()))


@settings(max_examples=100)
@given(dialects, lines(ACCOUNT_MESSAGES))
def test_the_accounts_stream_and_the_answers(dialect: Dialect, line: bytes) -> None:
    read_account_line(line, dialect)


@settings(max_examples=100)
@given(dialects, game_lines() | st.lists(lines(GAME_MESSAGES), max_size=4))
def test_a_games_stream(dialect: Dialect, sent: list[bytes]) -> None:
    read_game_lines(sent, dialect)
