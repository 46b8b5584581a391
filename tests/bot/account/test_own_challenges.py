"""The operator's challenges: their slots, their deadline, and what becomes of them when the account stops."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from bot.account import own_challenges
from bot.account.challenge_responder import GAME_START_POLL_INTERVAL_S
from bot.account.lobby import Lobby
from bot.base.dialects import DIALECTS
from bot.base.errors import RefusedError
from bot.base.events import (
    Bot,
    ChallengeReceived,
    Clock,
    EndReason,
    GameFinished,
    GameStarted,
    Proposal,
    Reply,
)
from bot.game.shared_game_limit import SharedGameLimit
from storage.database import Database
from tests.bot.account.test_lobby import called, offers, open_lobby, tell, wait_until_drained
from tests.bot.fakes import GAME_ID, OFFER, FakeServer, picker
from tests.bot.times import FakeTime
from tests.patience import PATIENCE_S

TERMS = Proposal("tictactoe", True, Clock(180, 2))
SENT = "challenge anna tictactoe"


@asynccontextmanager
async def commanded(lobby: Lobby) -> AsyncIterator[asyncio.Task[str]]:
    """The operator's challenge to Anna, on its way."""
    command = asyncio.create_task(lobby.challenge("anna", TERMS))
    try:
        yield command
    finally:
        command.cancel()


async def refused(command: asyncio.Task[str], message: str) -> None:
    with pytest.raises(RefusedError, match=message):
        async with asyncio.timeout(PATIENCE_S):
            await command


async def test_to_the_end_of_its_game(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    async with open_lobby(server, database) as lobby, commanded(lobby) as command:
        await called(server, SENT)
        server.replies.put_nowait(Reply(GAME_ID, True, "accepted"))
        server.news.put_nowait(GameStarted(GAME_ID, True))
        async with asyncio.timeout(PATIENCE_S):
            assert await command == GAME_ID
        await wait_until_drained(lobby)
    assert server.end is not None


async def test_a_game_that_is_over_before_the_answer_comes(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1) as lobby, commanded(lobby) as command:
        await called(server, SENT)
        server.finish(EndReason.RESIGNATION, server.our_side)
        await tell(server, GameStarted(GAME_ID, True), GameFinished(GAME_ID, None))
        await drained_of_games(lobby)
        server.replies.put_nowait(Reply(GAME_ID, True, "accepted"))
        async with asyncio.timeout(PATIENCE_S):
            assert await command == GAME_ID
        await tell(server, *offers("next"))
        await called(server, "accept next")  # its slot is free


async def drained_of_games(lobby: Lobby) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while lobby.playing:  # noqa: ASYNC110 - the database ends it
            await asyncio.sleep(0)


async def test_nobody_answers(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    soon = {"arena": replace(DIALECTS["arena"], unanswered_s=0.0)}
    monkeypatch.setattr(own_challenges, "DIALECTS", soon)
    server = FakeServer()
    async with open_lobby(server, database, max_games=1) as lobby, commanded(lobby) as command:
        await refused(command, "anna did not accept: no answer in 0 s")
        await tell(server, *offers("next"))
        await called(server, "accept next")  # its slot is free


@pytest.mark.parametrize("accepted", [True, None])
async def test_no_game_comes_of_it(database: Database, accepted: bool | None) -> None:
    server, time = FakeServer(), FakeTime()
    async with open_lobby(server, database, time) as lobby, commanded(lobby) as command:
        await called(server, SENT)
        server.replies.put_nowait(Reply("never", accepted, ""))
        async with asyncio.timeout(PATIENCE_S):
            while not command.done():
                time.advance(GAME_START_POLL_INTERVAL_S)
                await asyncio.sleep(0)
        await refused(command, "the game has not started")


async def test_it_does_not_give_way(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1) as lobby, commanded(lobby) as command:
        await called(server, SENT)
        await tell(server, *offers("other"))
        assert "accept other" not in server.calls
        await refused(asyncio.create_task(lobby.challenge("ben", TERMS)), "no room for another game")
        await refused(asyncio.create_task(lobby.challenge("Anna", TERMS)), "already a challenge to Anna")
        server.replies.put_nowait(Reply("declined", False, "declined"))
        await refused(command, "anna did not accept: declined")
        await called(server, "accept other")


async def test_stopping_withdraws_it(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database) as lobby, commanded(lobby) as command:
        await called(server, SENT)
        lobby.accepting = False
        await refused(command, "withdrawn: the program is stopping")
        await wait_until_drained(lobby)
        refusal = "no game may start: the program is stopping"
        await refused(asyncio.create_task(lobby.challenge("anna", TERMS)), refusal)


@pytest.mark.parametrize("is_answered", [False, True])
async def test_it_ends_with_the_account(database: Database, is_answered: bool) -> None:
    server = FakeServer()
    async with open_lobby(server, database) as lobby:
        command = asyncio.create_task(lobby.challenge("anna", TERMS))
        await called(server, SENT)
        if is_answered:
            server.replies.put_nowait(Reply(GAME_ID, True, "accepted"))
            server.news.put_nowait(GameStarted(GAME_ID, True))
            await server.until(lambda: len(server.moves) == 1)
    await refused(command, "the account is no longer being played")


async def test_the_limit_of_the_whole_machine(database: Database) -> None:
    """Another account that has taken the last slot meanwhile counts at once."""
    server, limit = FakeServer(), SharedGameLimit(1)
    async with open_lobby(server, database, shared=limit) as lobby:
        await called(server, "account_events")
        limit.count("another account", 1, lambda: None)
        await refused(asyncio.create_task(lobby.challenge("anna", TERMS)), "no room for another game")
        assert server.has_room is not None
        assert not server.has_room(1)
        limit.count("another account", 0, lambda: None)
        assert server.has_room(1)
        assert not server.has_room(2)
        lobby.accepting = False
        assert not server.has_room(1)


async def test_a_challenge_gives_way_to_who_waits_at_another_account(database: Database) -> None:
    server, limit = FakeServer(), SharedGameLimit(1)
    async with open_lobby(server, database, shared=limit) as lobby:
        sending = asyncio.create_task(lobby._own.send("anna", TERMS, is_bot=True))
        await called(server, SENT)
        limit.count("another account", 0, lambda: None, has_challenger=True)
        async with asyncio.timeout(PATIENCE_S):
            assert await sending is None
        assert await lobby._challenge_bot(Bot("ben", "Ben", {}), TERMS) is None
        with pytest.raises(RefusedError, match="another player is waiting"):
            await lobby._challenge_again("ben", TERMS)
        limit.count("another account", 1, lambda: None)
        assert not limit.is_wanted_elsewhere(lobby.owner)
    assert limit.is_wanted_elsewhere("a third") is False


async def test_a_game_that_needs_an_engine_is_not_asked_for(database: Database) -> None:
    server = FakeServer()
    server.site = "lichess"
    async with open_lobby(server, database) as lobby:
        with pytest.raises(RefusedError, match="crazyhouse needs an external engine"):
            await lobby.challenge("anna", replace(TERMS, variant="crazyhouse"))
    assert not any(call.startswith("challenge") for call in server.calls)


async def test_a_pair_of_games_takes_two_slots(database: Database) -> None:
    server = FakeServer()
    server.site = "ggs"
    async with open_lobby(server, database, max_games=2) as lobby:
        command = asyncio.create_task(lobby.challenge("anna", replace(TERMS, variant="s8r20")))
        await called(server, "challenge anna s8r20")
        await tell(server, ChallengeReceived(replace(OFFER, id="other")))
        assert "accept other" not in server.calls
        command.cancel()
        await called(server, "accept other")
