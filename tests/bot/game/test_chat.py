"""What the bot says and answers in a game, and that none of it costs a move."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.base.config import AssignmentConfig, AssignmentMethod, ChatConfig, Config
from bot.base.errors import AuthError, TransientError
from bot.base.events import EndReason, Room
from bot.game.assignment import DRAW_BITS
from bot.game.chat import EXTRA_CHAT_WAIT_S
from bot.game.chat_commands import MIN_ANSWER_INTERVAL_S
from bot.game.game_runner import GameRunner
from bot.game.services import GameServices
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.games import finish_game, open_game
from storage.records import GameResult, NewGame
from storage.tables.types import now_utc
from tests.bot.fakes import BALANCED, GAME_ID, FakeServer, config, picker, services
from tests.bot.game.test_game_runner import play, playing
from tests.bot.ledger_samples import check_books, stored_game
from tests.patience import PATIENCE_S

SECRET = "I keep that to myself while we play."


def quiet(**changes: Any) -> Config:
    return config(chat=ChatConfig(**({"greeting": "", "farewell": ""} | changes)))


class Time:
    """A clock that the test moves on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def talking(server: FakeServer, database: Any, settings: Config | None = None) -> AsyncIterator[Time]:
    """A game in which we have moved once; it is played to its end afterwards."""
    time = Time()
    async with services(server, database, settings=settings or quiet()) as given:
        running = asyncio.create_task(GameRunner(GAME_ID, replace(given, clock=time)).run())
        await server.until(lambda: len(server.moves) == 1)
        yield time
        server.pick = picker(1)
        server.reply()
        async with asyncio.timeout(PATIENCE_S):
            await running


async def said(server: FakeServer, lines: int) -> None:
    await server.until(lambda: sum(call.startswith("chat") for call in server.calls) == lines)


async def test_who_watches_is_greeted_too(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    await play(server, database, settings=quiet(spectators="{bot} plays {opponent} at {game}"))
    assert server.said == ["spectator: Desdemona plays Anna at Tic-tac-toe"]


@pytest.mark.parametrize(("player", "farewell"), [("trappy", ["Bye. 0 traps."]), ("standard", ["Bye."])])
async def test_the_farewell_of_a_player_without_traps(
    database: Database, player: str, farewell: list[str]
) -> None:
    server = FakeServer(pick=picker(1))
    settings = config(
        chat=ChatConfig(greeting="", farewell="Bye. {traps} traps."),
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy=player),
    )
    await play(server, database, settings=settings)
    assert server.said == farewell


@pytest.mark.parametrize("player", ["trappy", "standard"])
async def test_while_it_is_blind_the_farewell_is_the_same(
    database: Database, player: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = config(assignment=BALANCED, chat=ChatConfig(greeting="", farewell="Bye. {traps} traps."))
    number = 0 if player == "standard" else (1 << DRAW_BITS) - 1
    monkeypatch.setattr(GameServices, "draw_number", lambda _: number)
    server = FakeServer(pick=picker(1))
    await play(server, database, settings=settings)
    assert (await stored_game(database)).strategy == player
    (said,) = server.said
    assert re.fullmatch(r"Bye\. \d traps\.", said)


@pytest.mark.parametrize("room", Room)
async def test_while_it_is_blind_nobody_is_told_anything(database: Database, room: Room) -> None:
    server = FakeServer()
    settings = config(assignment=BALANCED, chat=ChatConfig(greeting="", farewell="", spectator_commands=True))
    async with talking(server, database, settings) as time:
        for number, question in enumerate(["!engine", "!eval", "!trap"], start=1):
            server.say(question, room, "Bert")
            await said(server, number)
            time.now += MIN_ANSWER_INTERVAL_S
    assert "I do not say which." in server.said[0]
    assert all(line.endswith("I keep that to myself.") for line in server.said[1:])


async def test_questions_are_answered(database: Database) -> None:
    server = FakeServer()
    async with talking(server, database):
        for number, question in enumerate(["!help", "!engine", "!eval", "!trap", "!stats"], start=1):
            server.say(question)
            await said(server, number)
    assert server.said[0].startswith("I am a program. Ask me")
    assert "I do not say yet" in server.said[1]
    assert server.said[2:] == [SECRET, SECRET, "Anna, this is our first game."]
    await check_books(database, server)


async def test_who_watches_may_be_told_more(database: Database) -> None:
    server = FakeServer()
    async with talking(server, database, quiet(spectator_commands=True)) as time:
        server.say("!eval", Room.SPECTATOR, "Bert")
        await said(server, 1)
        time.now += MIN_ANSWER_INTERVAL_S
        server.say("!eval")
        await said(server, 2)
    assert "was worth" in server.said[0]
    assert server.said[1] == SECRET


async def test_who_watches_is_told_no_more_than_the_opponent(database: Database) -> None:
    """It may be the opponent under another name."""
    server = FakeServer()
    async with talking(server, database) as time:
        server.say("!eval", Room.SPECTATOR, "Bert")
        await said(server, 1)
        time.now += MIN_ANSWER_INTERVAL_S
        server.say("!engine", Room.SPECTATOR, "Bert")
        await said(server, 2)
        time.now += MIN_ANSWER_INTERVAL_S
        server.say("!trap", Room.SPECTATOR, "Bert")
        await said(server, 3)
    assert "I do not say yet" in server.said[1]
    assert [server.said[0], server.said[2]] == [f"spectator: {SECRET}"] * 2


async def test_what_is_no_question_gets_no_answer(database: Database) -> None:
    server = FakeServer()
    async with talking(server, database, quiet(greeting="!help")) as time:
        for text, name in [
            ("hello", "Anna"),
            ("!help", "lichess"),
            ("!help", "Desdemona"),
            ("!what", "Anna"),
        ]:
            server.say(text, name=name)
            time.now += MIN_ANSWER_INTERVAL_S
        server.say("!help")
        await said(server, 2)
    assert [line[:6] for line in server.said] == ["!help", "I am a"]


@pytest.mark.parametrize("changes", [{"commands": False}, {"enabled": False}])
async def test_questions_can_be_switched_off(database: Database, changes: dict[str, bool]) -> None:
    server = FakeServer()
    async with talking(server, database, quiet(**changes)):
        server.say("!help")
    assert server.said == []


async def test_each_first_question_is_answered_though_they_come_at_once(database: Database) -> None:
    server = FakeServer()
    async with talking(server, database) as time:
        for _ in range(3):
            for question in ("!help", "!engine", "!stats"):
                server.say(question)
        await said(server, 3)
        time.now += MIN_ANSWER_INTERVAL_S
        server.say("!stats")
        server.say("!help")
        await said(server, 4)
    assert sorted(line[:10] for line in server.said[:3]) == ["Anna, this", "I am Desde", "I am a pro"]
    assert server.said[3].startswith("Anna, this")


async def test_a_chatterer_cannot_make_the_bot_flood(database: Database) -> None:
    server = FakeServer()
    async with talking(server, database) as time:
        for _ in range(50):
            server.say("!help")
        server.say("!help", Room.SPECTATOR, "Bert")  # another room is not hindered
        await said(server, 2)
        time.now += MIN_ANSWER_INTERVAL_S
        for _ in range(50):
            server.say("!help")
        await said(server, 3)
    assert [line[:10] for line in server.said] == ["I am a pro", "spectator:", "I am a pro"]


async def test_what_was_before_this_game(database: Database) -> None:
    server = FakeServer()
    async with playing(server, database, settings=quiet()):
        await server.until(lambda: len(server.moves) == 1)
        now = await stored_game(database)
        server.finish(EndReason.RESIGNATION, 1)
    before = {field: getattr(now, field) for field in NewGame.__dataclass_fields__}
    async with database.write() as session:
        for number, (opponent, result) in enumerate(
            [
                ("anna", GameResult.WIN),
                ("anna", GameResult.WIN),
                ("anna", GameResult.LOSS),
                ("bert", GameResult.WIN),
            ]
        ):
            new = NewGame(**(before | {"site_game_id": f"before{number}", "opponent_id": opponent}))
            game = await open_game(session, new)
            await finish_game(session, game.id, result=result, end_reason="normal")
        # These have not ended before the next game begins.
        later = now_utc() + timedelta(days=1)
        for key, ended_at in (("open", None), ("ended later", later)):
            game = await open_game(
                session, NewGame(**(before | {"site_game_id": key, "opponent_id": "anna"}))
            )
            if ended_at is not None:
                await finish_game(session, game.id, result=GameResult.DRAW, end_reason="normal", at=ended_at)
    again = FakeServer()
    again.game_id = "game0002"
    async with services(again, database, settings=quiet()) as given:
        running = asyncio.create_task(GameRunner("game0002", given).run())
        await again.until(lambda: len(again.moves) == 1)
        again.say("!stats")
        await said(again, 1)
        again.finish(EndReason.ABORTED)
        await running
    # The game above was lost by the bot, too.
    assert again.said == [
        "Anna against me before: 2 won, 0 drawn, 2 lost. Traps set: 0, baits taken: 0; slips: 0."
    ]


class Broken:
    """A database that fails or hangs when it is asked for figures; the books are fine."""

    def __init__(self, database: Database, error: Exception | None) -> None:
        self._database = database
        self._error = error
        self.asked = asyncio.Event()
        self.is_broken = False

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Any]:
        if self.is_broken:
            self.is_broken = False
            self.asked.set()
            if self._error is not None:
                raise self._error
            await asyncio.Event().wait()
        async with self._database.read() as session:
            yield session

    def write(self) -> Any:
        return self._database.write()


@pytest.mark.parametrize("error", [None, StorageError("no database"), ZeroDivisionError("a mistake")])
async def test_a_database_that_hangs_or_fails_costs_no_move(
    database: Database, error: Exception | None
) -> None:
    server, broken = FakeServer(), Broken(database, error)
    async with talking(server, broken) as time:
        broken.is_broken = True
        server.say("!stats")
        await broken.asked.wait()
        time.now += MIN_ANSWER_INTERVAL_S
        server.say("!stats")  # not while the other answer is under way
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
    assert server.said == ([] if error is None else ["Anna, this is our first game."])
    await check_books(database, server)


@pytest.mark.parametrize("error", [TransientError("no answer"), AuthError("HTTP 403")])
async def test_an_answer_that_the_server_does_not_take(database: Database, error: Exception) -> None:
    server = FakeServer()
    server.faults["chat"] = [error]
    async with talking(server, database):
        server.say("!help")
        await said(server, 1)
    assert server.said == []
    await check_books(database, server)


async def test_chat_waits_as_long_as_the_server_wants(database: Database) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await asyncio.sleep(0)

    server = FakeServer()
    server.faults["chat"] = [TransientError("HTTP 429", 58.0)]
    async with playing(server, database, sleep=sleep, settings=quiet(greeting="Hello {opponent}")):
        await said(server, 2)
        await server.until(lambda: len(server.moves) == 1)
        server.pick = picker(1)
        server.reply()
    assert server.said == ["Hello Anna"]
    assert 58.0 + EXTRA_CHAT_WAIT_S in waited


async def test_a_chat_that_hangs_costs_no_move(database: Database) -> None:
    server = FakeServer()

    async def hang(*_: object) -> None:
        await asyncio.Event().wait()

    server.chat = hang  # type: ignore[method-assign, assignment]
    async with talking(server, database, quiet(greeting="Hello", spectators="Hello")):
        server.say("!help")
    await check_books(database, server)
