"""Challenges answered, games started and taken up again, and what a crash does."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from bot.config import ChallengesConfig
from bot.errors import AuthError, ProtocolError, RefusedError, TransientError
from bot.events import Challenge, ChallengeGone, ChallengeReceived, Clock, GameFinished, GameStarted, Speed
from bot.lobby import ACCEPTED_S, MAX_CRASHES, Lobby
from bot.player import first_error
from storage.database import Database
from storage.errors import StorageError
from storage.events import list_events
from tests.bot.books import check_books, event_kinds, stored_game
from tests.bot.fakes import GAME_ID, OPPONENT, FakeServer, config, picker, services

OFFER = Challenge(
    id=GAME_ID,
    challenger=OPPONENT,
    game="tictactoe",
    variant="tictactoe",
    kind="tictactoe",
    rated=True,
    speed=Speed.BLITZ,
    clock=Clock(300, 0),
    days_per_turn=None,
    initial_position=None,
    is_ours=False,
)
STARTED = GameStarted(GAME_ID, True)


@asynccontextmanager
async def open_lobby(
    server: FakeServer, database: Database, clock: Callable[[], float] = lambda: 0.0, **challenges: Any
) -> AsyncIterator[Lobby]:
    settings = config(challenges=ChallengesConfig(variants=("tictactoe",), **challenges))
    async with services(server, database, settings=settings) as given:
        lobby = Lobby(replace(given, clock=clock))
        listening = asyncio.create_task(lobby.listen())
        try:
            yield lobby
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening


async def tell(server: FakeServer, *events: Any) -> None:
    """Tell the account something, and wait until it has been dealt with."""
    for event in events:
        server.news.put_nowait(event)
    # A lost link comes after all that was told before it, and the next one shows that it has been noticed.
    await server.until(lambda: "account_events" in server.calls)
    before = server.calls.count("account_events")
    server.news.put_nowait(None)
    await server.until(lambda: server.calls.count("account_events") > before)


async def drained(lobby: Lobby) -> None:
    async with asyncio.timeout(20):
        await lobby.drained()


async def test_a_challenge_becomes_a_game(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(ChallengeReceived(OFFER))
        server.news.put_nowait(STARTED)
        await server.until(lambda: server.end is not None)
        await drained(lobby)
        await tell(server, GameFinished(GAME_ID, 7))
    await check_books(database, server)
    assert f"accept {GAME_ID}" in server.calls
    assert (await stored_game(database)).rating_diff == 7


async def test_repeated_news_do_nothing_twice(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database) as lobby:
        offer = ChallengeReceived(OFFER)
        await tell(server, offer, offer, replace(offer), STARTED, STARTED, offer)
        assert server.calls.count(f"accept {GAME_ID}") == 1
        assert lobby.running == 1
        await server.until(lambda: len(server.moves) == 1)
        assert server.calls.count("stream") == 1


async def test_a_declined_challenge_is_written_down(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database):
        await tell(server, ChallengeReceived(replace(OFFER, game=None, variant="go")))
    assert f"decline {GAME_ID} variant" in server.calls
    async with database.read() as session:
        (event,) = await list_events(session, kind="challenge_declined")
    assert (event.detail["challenger"], event.detail["why"]) == ("anna", "go is not played here")


async def test_our_own_challenges_are_left_alone(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database):
        await tell(server, ChallengeReceived(replace(OFFER, is_ours=True)))
    assert not any(call.startswith(("accept", "decline")) for call in server.calls)


def offers(*ids: str) -> list[ChallengeReceived]:
    return [ChallengeReceived(replace(OFFER, id=key)) for key in ids]


async def test_a_place_is_held_from_the_moment_of_accepting(database: Database) -> None:
    now = 0.0
    server = FakeServer()
    async with open_lobby(server, database, lambda: now, max_games=1):
        await tell(server, *offers("one", "two"))
        assert "decline two later" in server.calls
        await tell(server, ChallengeGone("one"), *offers("three"))
        assert "accept three" in server.calls
        now = ACCEPTED_S + 1  # three never started
        await tell(server, *offers("four"))
        assert "accept four" in server.calls


async def test_a_challenge_that_is_gone_frees_its_place(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1):
        server.faults["accept"] = [RefusedError("not found", 404)]
        await tell(server, *offers("one", "two"))
        assert "accept two" in server.calls
        server.faults["decline"] = [TransientError("HTTP 502")]
        await tell(server, *offers("three"))
        assert "decline three later" in server.calls


async def test_a_lost_answer_keeps_the_place(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1):
        server.faults["accept"] = [TransientError("no answer")]
        await tell(server, *offers("one", "two"))
        assert "decline two later" in server.calls


async def test_games_count_against_their_opponent(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games_per_opponent=1):
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        await tell(server, *offers("two"))
        assert "decline two later" in server.calls


async def test_nothing_is_accepted_while_shutting_down(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database) as lobby:
        lobby.accepting = False
        await tell(server, *offers("one"))
        assert "decline one later" in server.calls
        await drained(lobby)


async def test_games_are_taken_up_after_a_restart(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        assert lobby.running == 1
    server.pick = picker(1)
    server.reply()
    async with open_lobby(server, database) as lobby:  # nobody tells it: the books do
        await server.until(lambda: server.end is not None)
        await drained(lobby)
    await check_books(database, server)
    # The news of the end may have been told while nobody listened, so the rating is asked for.
    assert (await stored_game(database)).rating_diff == 5


async def test_games_that_the_server_names_are_taken_up(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    async with open_lobby(server, database) as lobby:
        server.now_playing = [GAME_ID]
        server.faults["playing"] = [TransientError("HTTP 502")]
        await tell(server)
        server.news.put_nowait(None)
        await server.until(lambda: server.end is not None)
        await drained(lobby)
    await check_books(database, server)
    kinds = await event_kinds(database)
    assert "account_link_lost" in kinds
    assert "account_link_back" in kinds


async def test_games_that_are_not_played_here(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database) as lobby:
        await tell(server, GameStarted("other001", False))
        assert lobby.running == 0


async def test_a_game_that_crashes_is_taken_up_again(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    server.faults["move"] = [ZeroDivisionError("a mistake of ours")]
    server.faults["stream"] = [StorageError("the database is away")] * 10
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: server.end is not None)
        await drained(lobby)
    await check_books(database, server)
    assert (await event_kinds(database)).count("game_crashed") == 1


async def test_a_game_that_crashes_always_is_given_up(database: Database) -> None:
    server = FakeServer()
    server.faults["move"] = [ZeroDivisionError("a mistake of ours")] * 100
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.faults["move"]) == 100 - MAX_CRASHES)
        await drained(lobby)
        await tell(server, STARTED)
        assert lobby.running == 0
    assert (await event_kinds(database)).count("game_crashed") == MAX_CRASHES


async def test_a_game_that_cannot_be_understood_is_given_up(database: Database) -> None:
    server = FakeServer()
    server.faults["stream"] = [ProtocolError("nonsense", raw={"type": "nonsense"})]
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: "stream" in server.calls)
        await drained(lobby)
        await tell(server, STARTED)
        assert server.calls.count("stream") == 1
    async with database.read() as session:
        (event,) = await list_events(session, kind="game_given_up")
    assert event.detail == {
        "site_game_id": GAME_ID,
        "error": "nonsense",
        "raw": "{'type': 'nonsense'}",
    }


async def test_one_bad_event_does_not_end_the_games(database: Database) -> None:
    server = FakeServer()
    server.faults["accept"] = [OverflowError("too large")]
    async with open_lobby(server, database) as lobby:
        await tell(server, STARTED, *offers("one", "two"))
        assert lobby.running == 1
    assert [call for call in server.calls if call.startswith("accept")] == ["accept one", "accept two"]
    async with database.read() as session:
        (event,) = await list_events(session, kind="event_failed")
    assert event.detail["error"] == "OverflowError('too large')"


@pytest.mark.parametrize("call", ["accept", "decline", "move", "account_events", "playing"])
async def test_a_refused_account_ends_everything(database: Database, call: str) -> None:
    server = FakeServer()
    server.faults[call] = [AuthError("HTTP 401")]
    settings = config(challenges=ChallengesConfig(variants=("tictactoe",)))
    async with services(server, database, settings=settings) as given, asyncio.timeout(20):
        server.news.put_nowait(ChallengeReceived(OFFER))
        server.news.put_nowait(ChallengeReceived(replace(OFFER, id="two", game=None)))
        server.news.put_nowait(STARTED)
        with pytest.raises((AuthError, BaseExceptionGroup)) as caught:
            await Lobby(given).listen()
    error = caught.value
    assert isinstance(first_error(error) if isinstance(error, BaseExceptionGroup) else error, AuthError)
