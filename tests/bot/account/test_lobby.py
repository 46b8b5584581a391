"""Challenges answered and queued, games started and resumed, and recovery from crashes."""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.account import account_games
from bot.account.account_games import (
    ABORT_PATIENCE_S,
    CRASH_COUNT_RESET_S,
    GIVEN_UP_POLL_INTERVAL_S,
    MAX_CRASHES_PER_GAME,
)
from bot.account.challenge_responder import (
    GAME_START_POLL_INTERVAL_S,
    MAX_CHALLENGER_WAIT_S,
    MAX_DECLINE_RETRY_TIME_S,
    MAX_QUEUED_DECLINES,
)
from bot.account.game_slots import MAX_CHALLENGE_WAIT_S
from bot.account.lobby import WAIT_RECHECK_S, Lobby
from bot.base.config import REST_AFTER_S, ChallengesConfig, MannersConfig, ServerConfig
from bot.base.errors import AuthError, PausedError, ProtocolError, RefusedError, TransientError
from bot.base.events import (
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    DeclineReason,
    EndReason,
    GameEnd,
    GameEvent,
    GameFinished,
    GameSnapshot,
    GameStarted,
    Opponent,
    Reply,
    Speed,
)
from bot.base.reconnect import MAX_RECONNECT_WAIT_S
from bot.game.game_runner import GameRunner, most_severe_error
from bot.game.shared_game_limit import SharedGameLimit
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import list_events
from storage.ledger.games import finish_game, list_games
from storage.records import GameResult, GameStatus, StoredEvent
from storage.tables.types import now_utc
from tests.bot.fakes import GAME_ID, OFFER, OPPONENT, FakeServer, HeldPool, config, picker, services
from tests.bot.ledger_samples import check_books, event_kinds, finished, stored_game
from tests.bot.times import FakeTime
from tests.patience import PATIENCE_S
from tests.storage.samples import opened

BEN = replace(OPPONENT, id="ben", name="Ben")
ROBOT = replace(OPPONENT, id="robot", name="Robot", is_bot=True)
STARTED = GameStarted(GAME_ID, True)


@asynccontextmanager
async def open_lobby(
    server: FakeServer,
    database: Database,
    time: FakeTime | None = None,
    shared: SharedGameLimit | None = None,
    pool: HeldPool | None = None,
    *,
    is_arena: bool = False,
    abort_after_s: int = 0,
    **challenges: Any,
) -> AsyncIterator[Lobby]:
    time = time or FakeTime()
    settings = config(
        challenges=ChallengesConfig(variants=("tictactoe",), **challenges),
        manners=MannersConfig(abort_after_s=abort_after_s),
    )
    if is_arena:
        settings = settings.model_copy(update={"server": ServerConfig()})
    async with services(server, database, settings=settings, sleep=time.sleep) as given:
        given = given if pool is None else pool.held(given)
        lobby = Lobby(replace(given, clock=time.clock, shared_limit=shared or SharedGameLimit()))
        listening = asyncio.create_task(lobby.listen())
        try:
            yield lobby
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening


async def tell(server: FakeServer, *events: Any) -> None:
    """Send the account some events, and wait until they have been handled."""
    for event in events:
        server.news.put_nowait(event)
    # A lost link is queued after these events, and the new connection shows that it has been handled.
    await server.until(lambda: "account_events" in server.calls)
    before = server.calls.count("account_events")
    server.news.put_nowait(None)
    await server.until(lambda: server.calls.count("account_events") > before)


async def wait_until_drained(lobby: Lobby) -> None:
    async with asyncio.timeout(PATIENCE_S):
        await lobby.wait_until_drained()


async def test_a_challenge_becomes_a_game(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(ChallengeReceived(OFFER))
        await called(server, f"accept {GAME_ID}")
        server.news.put_nowait(STARTED)
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
        await tell(server, GameFinished(GAME_ID, 7))
        await wait_until_drained(lobby)
        await tell(server)
        await noted(database, "account_link_back", 2)
    await check_books(database, server)
    assert (await stored_game(database)).rating_diff == 7
    assert not any(call.startswith("rating_diff") for call in server.calls)


async def noted(database: Database, kind: str, count: int = 1) -> list[StoredEvent]:
    """Wait until the database has this many events of a kind, and return them, the earliest first."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with database.read() as session:
                found = await list_events(session, kind=kind)
            if len(found) >= count:
                assert len(found) == count
                return found[::-1]
            await asyncio.sleep(0)


async def called(server: FakeServer, *calls: str) -> None:
    await server.until(lambda: set(calls) <= set(server.calls))


def repeated(server: FakeServer, call: str, times: int) -> bool:
    """Whether a call has been made more than this many times."""
    return server.calls.count(call) > times


async def answers(server: FakeServer, count: int) -> list[str]:
    """Wait until this many challenges have been accepted or declined, and return the answers."""

    def found() -> list[str]:
        return [call for call in server.calls if call.startswith(("accept ", "decline "))]

    await server.until(lambda: len(found()) >= count)
    return found()


def offers(*ids: str, **changes: Any) -> list[ChallengeReceived]:
    """Challenges, each from a different account."""
    each = [replace(OFFER, id=key, challenger=replace(OPPONENT, id=f"of-{key}")) for key in ids]
    return [ChallengeReceived(replace(challenge, **changes)) for challenge in each]


async def sleepers(time: FakeTime, count: int) -> None:
    """Wait until this many tasks are sleeping."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if time.sleeping >= count:
                return
            await asyncio.sleep(0)


async def test_a_query_that_has_to_wait_for_a_pause_is_made_after_it(database: Database) -> None:
    """The start of an accepted game was lost: without the query nobody would move."""
    server = FakeServer()
    async with open_lobby(server, database):
        await tell(server)
        server.faults["playing"] = [PausedError("not sent", 5.0), PausedError("not sent", 5.0)]
        server.now_playing = [GAME_ID]
        server.news.put_nowait(ChallengeReceived(OFFER))
        await server.until(lambda: len(server.moves) == 1)


async def test_repeated_news_do_nothing_twice(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database) as lobby:
        offer = ChallengeReceived(OFFER)
        await tell(server, offer, offer)
        await called(server, f"accept {GAME_ID}")
        await tell(server, offer, replace(offer), STARTED, STARTED, offer)
        await server.until(lambda: len(server.moves) == 1)
        assert server.calls.count(f"accept {GAME_ID}") == 1
        assert lobby.running == 1
        assert server.calls.count("stream") == 1


async def test_a_declined_challenge_is_written_down(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database):
        await tell(server, ChallengeReceived(replace(OFFER, game=None, variant="go")))
        (event,) = await noted(database, "challenge_declined")
    assert f"decline {GAME_ID} variant" in server.calls
    assert event.detail == {
        "challenge": GAME_ID,
        "challenger": "anna",
        "reason": "variant",
        "why": "the bot does not play go",
    }


async def test_a_decline_that_is_not_heard_is_sent_again(database: Database) -> None:
    """For two minutes."""
    server, time = FakeServer(), FakeTime()
    async with open_lobby(server, database, time) as lobby:
        server.faults["decline"] = [TransientError("HTTP 502")] * 50
        await tell(server, *offers("one", game=None))
        await noted(database, "challenge_declined")
        server.faults["decline"] = [TransientError("HTTP 502")] * 100_000
        await tell(server, *offers("two", game=None))
        await server.until(lambda: repeated(server, "decline two variant", 50))
        time.advance(MAX_DECLINE_RETRY_TIME_S + 1)
        await wait_until_drained(lobby)
    assert server.calls.count("decline one variant") == 51
    assert (await event_kinds(database)).count("challenge_declined") == 1


async def test_a_decline_that_was_not_sent_is_sent_later(database: Database) -> None:
    server, time = FakeServer(), FakeTime()
    server.faults["decline"] = [PausedError("not sent", MAX_DECLINE_RETRY_TIME_S)] * 2
    async with open_lobby(server, database, time):
        await tell(server, *offers("one", game=None))
        for tries in range(2):
            await server.until(partial(repeated, server, "decline one variant", tries))
            await sleepers(time, 1)
            time.advance(MAX_DECLINE_RETRY_TIME_S)
        await noted(database, "challenge_declined")
    assert server.calls.count("decline one variant") == 3


async def test_a_list_that_changes_while_we_play(database: Database, tmp_path: Path) -> None:
    path = tmp_path / "blocked"
    path.write_text("ben\n", encoding="utf-8")
    server = FakeServer()
    async with open_lobby(server, database, block_file=str(path)):
        await tell(server, *offers("one"))
        await called(server, "accept one")
        path.write_text("ben\nof-two\n", encoding="utf-8")
        await tell(server, *offers("two"))
        await called(server, "decline two generic")


async def test_our_own_challenges_are_left_alone(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database):
        await tell(server, ChallengeReceived(replace(OFFER, is_ours=True)), *offers("one"))
        assert await answers(server, 1) == ["accept one"]


async def test_who_finds_no_place_waits_for_one(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1, max_waiting=2):
        await tell(server, *offers("one", "two", "three"))
        (event, _) = await noted(database, "challenge_queued", 2)
        assert event.detail == {
            "challenge": "two",
            "challenger": "of-two",
            "why": "running games: 1",
        }
        await tell(server, *offers("four"))
        await called(server, "decline four later")
        await tell(server, ChallengeGone("two"), ChallengeGone("one"))
        await called(server, "accept three")
    assert "accept two" not in server.calls


async def test_people_go_first(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1):
        await tell(server, *offers("one"), *offers("robot", challenger=ROBOT), *offers("two"))
        await noted(database, "challenge_queued", 2)
        await tell(server, ChallengeGone("one"))
        await called(server, "accept two")
        await tell(server, ChallengeGone("two"))
        await called(server, "accept robot")


async def test_the_next_one_plays_when_a_game_is_over(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    async with open_lobby(server, database, max_games=1):
        await tell(server, ChallengeReceived(OFFER), *offers("two"))
        await noted(database, "challenge_queued")
        await tell(server, STARTED)
        await called(server, "accept two")
        assert server.end is not None


async def test_a_rematch_takes_the_place_of_the_game_before_it(database: Database) -> None:
    """Even while its record is still open, as soon as the server has reported its end."""
    server = FakeServer()
    async with open_lobby(server, database, max_games=1, max_games_per_opponent=1) as lobby:
        await tell(server, STARTED)
        await server.until(lambda: len(server.moves) == 1)
        await tell(server, *offers("again", challenger=OPPONENT))
        await noted(database, "challenge_queued")
        await tell(server, GameFinished(GAME_ID, None))
        await called(server, "accept again")
        assert lobby.running == 1


async def test_a_game_that_never_starts_frees_its_place(database: Database) -> None:
    server, time = FakeServer(), FakeTime()
    async with open_lobby(server, database, time, max_games=1):
        await called(server, "account_events")
        server.faults["playing"] = [TransientError("HTTP 502")]
        for offer in offers("one", "two"):
            server.news.put_nowait(offer)
        await noted(database, "challenge_queued")
        # Soon the server is queried about the game, but cannot answer: it may still be going on.
        await server.until(lambda: not server.faults["playing"])
        assert "accept two" not in server.calls
        await sleepers(time, 2)  # for the one that does not start, and the one that waits
        time.advance(GAME_START_POLL_INTERVAL_S)
        await called(server, "accept two")


async def test_a_game_whose_start_was_not_told_keeps_its_place(database: Database) -> None:
    server, time = FakeServer(), FakeTime()
    async with open_lobby(server, database, time, max_games=1) as lobby:
        await tell(server, ChallengeReceived(OFFER), *offers("two"))
        await noted(database, "challenge_queued")
        await sleepers(time, 2)  # as above; it has been requested once, in vain
        server.now_playing = [GAME_ID]
        time.advance(GAME_START_POLL_INTERVAL_S)
        await server.until(lambda: len(server.moves) == 1)
        assert lobby.running == 1
        assert "accept two" not in server.calls


@pytest.mark.parametrize("is_arena", [True, False])
async def test_while_the_opponent_thinks_a_game_at_our_arena_needs_no_place(
    database: Database, *, is_arena: bool
) -> None:
    server, time = FakeServer(), FakeTime()
    async with open_lobby(server, database, time, max_games=1, is_arena=is_arena):
        await tell(server, ChallengeReceived(OFFER), STARTED)
        await server.until(lambda: len(server.moves) == 1)
        await tell(server, *offers("two"))
        await noted(database, "challenge_queued")
        time.advance(REST_AFTER_S - 0.1)
        await tell(server, *offers("three"))
        await noted(database, "challenge_queued", 2)
        assert "accept two" not in server.calls
        time.advance(0.1)
        if is_arena:
            await called(server, "accept two")
            assert "accept three" not in server.calls
        else:
            await tell(server, *offers("four"))
            await noted(database, "challenge_queued", 3)
            assert "accept two" not in server.calls


async def test_a_challenge_that_is_gone_frees_its_place(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1):
        server.faults["accept"] = [RefusedError("not found", 404)]
        await tell(server, *offers("one", "two"))
        await called(server, "accept two")


async def test_a_lost_answer_keeps_the_place(database: Database) -> None:
    """The game may be about to start although the server says its challenge does not exist."""
    server = FakeServer()
    async with open_lobby(server, database, max_games=1):
        server.faults["accept"] = [TransientError("no answer"), RefusedError("not found", 404)]
        await tell(server, *offers("one", "two"))
        await server.until(lambda: server.calls.count("accept one") == 2)
        await noted(database, "challenge_queued")
        await tell(server, *offers("three", game=None))
        assert await answers(server, 3) == ["accept one", "accept one", "decline three variant"]


@pytest.mark.parametrize(
    "faults",
    [
        [PausedError("not sent", 2 * MAX_RECONNECT_WAIT_S)],
        [
            TransientError("no answer", 2 * MAX_RECONNECT_WAIT_S),
            RefusedError("not found", 404),
        ],  # it was accepted at first
    ],
)
async def test_the_game_is_asked_for_soon_after_a_late_acceptance(
    database: Database, faults: list[Exception]
) -> None:
    """Its start may be lost; 30 s later would be too late for a fast game."""
    server, time = FakeServer(), FakeTime()
    server.faults["accept"] = faults
    async with open_lobby(server, database, time):
        server.news.put_nowait(ChallengeReceived(replace(OFFER, challenger=replace(OPPONENT, is_bot=True))))
        await sleepers(time, 2)  # before it is accepted again, and before the next query
        before = server.calls.count("playing")
        time.advance(2 * MAX_RECONNECT_WAIT_S)
        await server.until(lambda: server.calls.count("playing") > before)


async def test_an_acceptance_that_was_not_sent_keeps_no_place(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1):
        server.faults["accept"] = [PausedError("not sent", 0.001), RefusedError("not found", 404)]
        await tell(server, *offers("one", "two"))
        await called(server, "accept two")


@pytest.mark.parametrize("goes", ["unheard", "withdrawn", "started"])
async def test_who_cannot_be_accepted_is_told_so(database: Database, goes: str) -> None:
    """Eventually; unless they have left or are playing."""
    server, time = FakeServer(), FakeTime()
    server.faults["accept"] = [TransientError("HTTP 502", retry_after_s=50)] * 100
    async with open_lobby(server, database, time, max_games=1) as lobby:
        program = replace(OPPONENT, is_bot=True)  # which has all the time in the world
        server.news.put_nowait(ChallengeReceived(replace(OFFER, challenger=program)))
        await sleepers(time, 2)  # before it is accepted again, and before it is requested once more
        match goes:
            case "unheard":
                time.advance(GAME_START_POLL_INTERVAL_S)
                await called(server, f"decline {GAME_ID} later")
                await noted(database, "challenge_declined")
                await wait_until_drained(lobby)
            case "withdrawn":
                await tell(server, ChallengeGone(GAME_ID))
                await wait_until_drained(lobby)
            case "started":
                await tell(server, STARTED)
                await server.until(lambda: len(server.moves) == 1)
        time.advance(GAME_START_POLL_INTERVAL_S)
        await event_kinds(database)
    told = [call for call in server.calls if call.startswith("decline")]
    assert told == ([f"decline {GAME_ID} later"] if goes == "unheard" else [])
    assert server.calls.count(f"accept {GAME_ID}") == 1


async def test_a_person_is_not_accepted_after_they_may_have_gone(database: Database) -> None:
    server, time = FakeServer(), FakeTime()
    server.faults["accept"] = [TransientError("HTTP 429", retry_after_s=MAX_CHALLENGER_WAIT_S + 1)]
    async with open_lobby(server, database, time):
        server.news.put_nowait(ChallengeReceived(OFFER))
        await called(server, f"decline {GAME_ID} later")
    assert server.calls.count(f"accept {GAME_ID}") == 1


async def test_games_count_against_their_opponent(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games_per_opponent=1, max_waiting=0):
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        await tell(server, *offers("two", challenger=OPPONENT), *offers("three", challenger=BEN))
        await called(server, "decline two later", "accept three")


async def test_games_without_a_clock_are_counted_apart(database: Database) -> None:
    server = FakeServer()
    limits: dict[str, Any] = {"max_games": 1, "max_slow_games": 1, "max_waiting": 0, "unlimited": True}
    async with open_lobby(server, database, **limits):
        await tell(server, *offers("one"), *offers("slow", "slow2", clock=None), *offers("two"))
        assert sorted(await answers(server, 4)) == [
            "accept one",
            "accept slow",
            "decline slow2 later",
            "decline two later",
        ]


async def test_games_with_programs_are_counted_for_a_day(database: Database) -> None:
    async with database.write() as session:
        for key, hours in (("old", 25), ("new", 23)):
            game = await opened(
                session, key, at=now_utc() - timedelta(hours=hours), opponent_id="robot", opponent_is_bot=True
            )
            await finish_game(session, game.id, result=None, end_reason="aborted", aborted=True)
    server = FakeServer()
    async with open_lobby(server, database, max_games_per_bot_per_day=2):
        await tell(server, *offers("one", "two", challenger=ROBOT))
        assert sorted(await answers(server, 2)) == ["accept one", "decline two later"]


async def test_nothing_is_accepted_while_shutting_down(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1) as lobby:
        await tell(server, *offers("one", "two"))
        await noted(database, "challenge_queued")
        lobby.accepting = False
        await called(server, "decline two later")
        await tell(server, *offers("three"))
        await called(server, "decline three later")
        await tell(server, ChallengeGone("one"))
        await wait_until_drained(lobby)


async def test_games_are_taken_up_after_a_restart(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        assert lobby.running == 1
    server.pick = picker(1)
    server.reply()
    async with open_lobby(server, database) as lobby:  # from the database: no event reports it
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
    await check_books(database, server)
    # The end may have been reported while no stream was open, so the rating is requested.
    assert (await stored_game(database)).rating_diff == 5


async def test_a_finished_game_is_judged_after_a_restart_and_takes_no_slot(database: Database) -> None:
    server = FakeServer("othello")
    pool = HeldPool()
    async with open_lobby(server, database, pool=pool):
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        server.finish(EndReason.RESIGNATION, 0)
        await finished(database)
    server.exists = False  # what is left to do is in the database
    pool = HeldPool()
    async with open_lobby(server, database, pool=pool, max_games=1) as lobby:
        await pool.waiting.wait()
        assert lobby.playing == [GAME_ID]
        await tell(server, *offers("next"))
        await called(server, "accept next")
        assert not (await stored_game(database)).is_settled
        pool.release.set()
        await called(server, f"rating_diff {GAME_ID} Desdemona")
    assert (await stored_game(database)).is_settled


async def test_finished_games_that_are_not_settled_leave_room_for_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_games, "DEFAULT_MAX_RUNNERS", 2)
    server = FakeServer("othello")
    async with open_lobby(server, database, pool=HeldPool()):
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        server.finish(EndReason.RESIGNATION, 0)
        await finished(database)
    still, pool = StillServer(), HeldPool()
    async with open_lobby(still, database, pool=pool, max_games=1, max_slow_games=1) as lobby:
        await tell(still, GameStarted("one", True), GameStarted("two", True), GameStarted("three", True))
        await called(still, "stream one", "stream two")
        await pool.waiting.wait()
        assert GAME_ID in lobby.playing
        assert "stream three" not in still.calls
        pool.release.set()


class StillServer(FakeServer):
    """Its games' streams are silent."""

    async def game_events(self, game_id: str) -> AsyncGenerator[None, None]:
        await self._called("stream", "", game_id)
        await asyncio.Event().wait()
        yield


async def test_who_cannot_be_asked_at_a_start_is_no_news(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """The account's stream, not open yet, will report the same; later on it could have been missed."""
    caplog.set_level(logging.INFO, "bot.account.account_games")
    server, told = FakeServer(), "cannot query running games: there is no connection"
    server.faults["playing"] = [TransientError("there is no connection")]
    async with open_lobby(server, database):
        await called(server, "account_events")
        assert not server.faults["playing"]
        assert told not in caplog.text
        server.faults["playing"] = [TransientError("there is no connection")]
        server.news.put_nowait(None)
        async with asyncio.timeout(PATIENCE_S):
            while True:
                await asyncio.sleep(0)
                if told in caplog.text:
                    break


async def test_games_that_the_server_names_are_taken_up(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    async with open_lobby(server, database) as lobby:
        server.now_playing = [GAME_ID]
        server.faults["playing"] = [TransientError("HTTP 502")]
        await tell(server)
        server.news.put_nowait(None)
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
    await check_books(database, server)
    kinds = await event_kinds(database)
    assert "account_link_lost" in kinds
    assert "account_link_back" in kinds


class Foreign(FakeServer):
    """A server with a running game of a kind that the bot does not play."""

    def __init__(self, *, aborts: bool = True, resigns: bool = True) -> None:
        super().__init__()
        self.aborts, self.resigns = aborts, resigns
        self.is_over = False

    async def running_game_ids(self) -> list[str]:
        await self._called("playing")
        return [GAME_ID] if not self.is_over and self.calls.count("playing") > 1 else []

    async def abort(self, game_id: str) -> None:
        await self._called("abort", game_id)
        self._refuse_unless(self.aborts)
        await self._end()

    async def resign(self, game_id: str) -> None:
        await self._called("resign", game_id)
        self._refuse_unless(self.resigns)
        await self._end()

    async def _end(self) -> None:
        self.is_over = True
        await self._called("over")


FOREIGN = GameStarted(GAME_ID, False)


async def test_games_that_are_not_played_here_are_aborted(database: Database) -> None:
    server = Foreign()
    server.faults["abort"] = [TransientError("HTTP 502")]
    async with open_lobby(server, database) as lobby:
        await tell(server, FOREIGN)
        await called(server, "over")
        await wait_until_drained(lobby)
        assert lobby.running == 0
    assert server.calls.count("abort") == 2


async def test_a_game_that_cannot_be_aborted_is_resigned(database: Database) -> None:
    server = Foreign(aborts=False)
    async with open_lobby(server, database):
        await tell(server, FOREIGN)
        await called(server, "over")
    assert [call for call in server.calls if call in ("abort", "resign")] == ["abort", "resign"]


async def test_a_game_that_the_opponent_does_not_let_us_abort_is_resigned(database: Database) -> None:
    """At some sites, "abort" is a request to the opponent."""
    server, time = Foreign(), FakeTime()

    async def ask(game_id: str) -> None:
        await server._called("abort", game_id)

    server.abort = ask  # type: ignore[method-assign]
    async with open_lobby(server, database, time):
        await tell(server, FOREIGN)
        await sleepers(time, 1)
        assert "resign" not in server.calls
        time.advance(ABORT_PATIENCE_S)
        await called(server, "over")


async def test_a_server_that_does_not_end_a_game_is_asked_again(database: Database) -> None:
    server, time = Foreign(aborts=False, resigns=False), FakeTime()
    async with open_lobby(server, database, time) as lobby:
        await tell(server, FOREIGN)
        await sleepers(time, 1)
        await wait_until_drained(lobby)  # it does not keep the program from stopping
        server.resigns = True
        time.advance(GIVEN_UP_POLL_INTERVAL_S)
        await called(server, "over")


@pytest.mark.parametrize("is_too_late", [False, True])
async def test_a_game_that_needs_an_engine_which_we_lack(database: Database, is_too_late: bool) -> None:
    """No challenge to it would be accepted: it is aborted, or played as well as we can."""
    server = FakeServer(pick=picker(1))
    server.faults["abort"] = [RefusedError("both have moved", 400)] if is_too_late else []
    async with open_lobby(server, database) as lobby:
        await tell(server, GameStarted(GAME_ID, True, game="crazyhouse"))
        await noted(database, "game_not_played_here")
        await tell(server, GameStarted(GAME_ID, True, game="crazyhouse"))
        await wait_until_drained(lobby)
    assert server.calls.count("abort") == 1
    assert bool(server.moves) == is_too_late


@pytest.mark.parametrize("has_effect", [True, False])
async def test_a_game_that_needs_an_engine_is_aborted_until_the_server_does(
    database: Database, has_effect: bool
) -> None:
    """A lost request is repeated, and an "ok" without effect is none: at last the game is played."""
    server, time = FakeServer(pick=picker(1)), FakeTime()
    server.faults["abort"] = [TransientError("HTTP 502")]

    async def abort(game_id: str) -> None:
        server.now_playing = [GAME_ID]
        await server._called("abort", game_id)
        if has_effect:
            server.now_playing = []
            server.finish(EndReason.ABORTED)

    server.abort = abort  # type: ignore[method-assign]
    async with open_lobby(server, database, time) as lobby:
        await tell(server, GameStarted(GAME_ID, True, game="crazyhouse"))
        await server.until(lambda: server.calls.count("abort") == 2)
        time.advance(ABORT_PATIENCE_S)
        if not has_effect:
            await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
    assert bool(server.moves) != has_effect


# --- Tournaments ----------------------------------------------------------------------------------------

PAIRED = replace(STARTED, is_tournament=True)


async def test_a_tournaments_game_is_played_whatever_the_rules_for_challenges_say(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    server.is_tournament = True
    async with open_lobby(server, database, max_games=1, rated=False, bots="decline") as lobby:
        await tell(server, *offers("one", rated=False))  # takes the only slot
        assert await answers(server, 1) == ["accept one"]
        server.news.put_nowait(PAIRED)
        await server.until(lambda: server.end is not None)
        await tell(server, ChallengeGone("one"))
        await wait_until_drained(lobby)
    await check_books(database, server)
    assert "abort" not in server.calls


async def test_a_tournament_goes_on_after_a_restart(database: Database) -> None:
    """The site pairs us as before; we need to remember nothing."""
    server = FakeServer(pick=picker(1))
    async with open_lobby(server, database) as lobby:
        await lobby.join_tournament("cypr0001", password="", team="")
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(PAIRED)
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
    await check_books(database, server)
    assert [call for call in server.calls if call.startswith("join")] == ["join cypr0001  "]


@pytest.mark.parametrize("has_rules", [False, True])
async def test_a_tournaments_game_that_we_would_decline(database: Database, has_rules: bool) -> None:
    """Nobody can abort it: it is played as well as we can, or resigned."""
    server = FakeServer(pick=picker(1))
    server.moves = () if has_rules else ("a1", "b1")
    async with open_lobby(server, database) as lobby:
        await tell(server, replace(PAIRED, is_played_here=has_rules, game="crazyhouse" if has_rules else ""))
        await noted(database, "game_not_played_here")
        await wait_until_drained(lobby)
        if not has_rules:
            await called(server, "resign")
        await tell(server, GameFinished(GAME_ID, None))
    assert "abort" not in server.calls
    assert len(server.moves) > 2 or not has_rules


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"is_over": True}, "the tournament is over"),
        ({"game": None, "variant": "antichess"}, "the bot does not play antichess"),
        ({"game": "crazyhouse", "variant": "crazyhouse"}, "crazyhouse needs an external engine"),
    ],
)
async def test_tournaments_that_are_not_for_us(database: Database, changes: Any, why: str) -> None:
    server = FakeServer()
    server.tournament_told = replace(server.tournament_told, **changes)
    async with open_lobby(server, database) as lobby:
        with pytest.raises(RefusedError, match=f"^Cyprus Arena: {why}"):
            await lobby.join_tournament("cypr0001", password="", team="")
    assert not any(call.startswith("join") for call in server.calls)


async def test_no_tournament_is_joined_while_the_program_stops(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database) as lobby:
        lobby.accepting = False
        with pytest.raises(RefusedError, match="the program is stopping"):
            await lobby.join_tournament("cypr0001", password="", team="")
        await lobby.leave_tournament("cypr0001")
    assert "leave cypr0001" in server.calls


async def test_a_game_that_crashes_is_taken_up_again(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    server.faults["move"] = [ZeroDivisionError("a mistake of ours")]
    server.faults["stream"] = [StorageError("the database is away")] * 10
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
    await check_books(database, server)
    assert (await event_kinds(database)).count("game_crashed") == 1


async def test_a_game_that_crashes_always_is_given_up(database: Database) -> None:
    server = FakeServer()
    server.faults["move"] = [ZeroDivisionError("a mistake of ours")] * 100
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.faults["move"]) == 100 - MAX_CRASHES_PER_GAME)
        await wait_until_drained(lobby)
        await tell(server, STARTED)
        assert lobby.running == 0
    assert (await event_kinds(database)).count("game_crashed") == MAX_CRASHES_PER_GAME


async def test_a_game_that_cannot_be_understood_is_given_up(database: Database) -> None:
    server = FakeServer()
    server.faults["stream"] = [ProtocolError("nonsense", raw={"type": "nonsense"})]
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: "stream" in server.calls)
        await wait_until_drained(lobby)
        await tell(server, STARTED)
        assert server.calls.count("stream") == 1
    async with database.read() as session:
        (event,) = await list_events(session, kind="game_given_up")
    assert event.detail == {
        "site_game_id": GAME_ID,
        "error": "nonsense",
        "raw": "{'type': 'nonsense'}",
    }


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_game_that_neither_begins_nor_can_be_aborted_holds_no_slot(
    database: Database, is_known: bool
) -> None:
    """Because of its challenge's rules, or because the server refuses."""
    server, time = FakeServer(our_side=1), FakeTime()
    server.faults["abort"] = [RefusedError("noAbort", 400)] * 1000
    async with open_lobby(server, database, time, max_games=1, abort_after_s=30) as lobby:
        await tell(server, ChallengeReceived(replace(OFFER, can_abort=not is_known)))
        await called(server, f"accept {GAME_ID}")
        await tell(server, STARTED, *offers("two"))
        await noted(database, "challenge_queued")
        await sleepers(time, 2)  # for the first move, and for a slot
        time.advance(30)
        await called(server, "accept two")
        assert ("abort" in server.calls) == (not is_known)
        await tell(server, ChallengeGone("two"))
        server.reply()  # it begins after all, and holds a slot again
        await server.until(lambda: len(server.moves) == 2)
        await tell(server, *offers("three"))
        await noted(database, "challenge_queued", 2)
        await tell(server, ChallengeGone("three"))
        server.pick = picker(1)
        server.reply()
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
    await check_books(database, server)


class Strange(FakeServer):
    """A game from a position that our rules refuse."""

    def __init__(self, *, aborts: bool = True) -> None:
        super().__init__()
        self.initial_position = None
        self.aborts = aborts

    @property
    def snapshot(self) -> GameSnapshot:
        return replace(super().snapshot, initial_position="xox/xox/xox x")

    def finish(self, reason: EndReason, winner: int | None = None) -> None:
        super().finish(reason, winner)
        self.now_playing = []

    async def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
        self.now_playing = [] if self.end else [GAME_ID]
        async for event in super().game_events(game_id):
            yield event

    async def abort(self, game_id: str) -> None:
        if not self.aborts:
            self.faults["abort"] = [RefusedError("never", 400)]
        await super().abort(game_id)


@pytest.mark.parametrize("aborts", [True, False])
async def test_a_game_that_our_rules_refuse_is_ended_and_stored(database: Database, aborts: bool) -> None:
    server = Strange(aborts=aborts)
    server.moves = () if aborts else ("a1", "b1")
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await noted(database, "game_unplayable")
        await wait_until_drained(lobby)
    assert [call for call in server.calls if call in ("abort", "resign")] == ["abort", "resign"][: 2 - aborts]
    game = await stored_game(database)
    assert (game.state, game.result) == (
        (GameStatus.ABORTED, None) if aborts else (GameStatus.FINISHED, GameResult.LOSS)
    )
    assert (game.opponent_name, game.initial_position, game.moves) == (OPPONENT.name, None, ())
    assert "impossible game" in game.selection["unplayable"]
    assert game.is_settled


async def test_one_bad_event_does_not_end_the_games(database: Database) -> None:
    server = FakeServer()
    server.faults["accept"] = [OverflowError("too large")]
    async with open_lobby(server, database) as lobby:
        await tell(server, STARTED, *offers("one", "two"))
        assert await answers(server, 2) == ["accept one", "accept two"]
        assert lobby.running == 1
        (event,) = await noted(database, "event_failed")
    assert event.detail["error"] == "OverflowError('too large')"


async def test_a_database_that_is_away_for_a_while(database: Database) -> None:
    server = FakeServer()

    class Away:
        faults = 3

        def __getattr__(self, name: str) -> Any:
            return getattr(database, name)

        def read(self) -> Any:
            if listening and self.faults:
                self.faults -= 1
                raise StorageError("the database is away")
            return database.read()

    listening = False
    settings = config(challenges=ChallengesConfig(variants=("tictactoe",)))
    time = FakeTime()
    async with services(server, Away(), settings=settings, sleep=time.sleep) as given:
        task = asyncio.create_task(Lobby(replace(given, clock=time.clock)).listen())
        await called(server, "account_events")
        listening = True
        server.news.put_nowait(offers("one", challenger=ROBOT)[0])
        await called(server, "accept one")
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.mark.parametrize("call", ["accept", "decline", "move", "account_events", "playing", "abort"])
async def test_a_refused_account_ends_everything(database: Database, call: str) -> None:
    server = FakeServer()
    server.faults[call] = [AuthError("HTTP 401")]
    settings = config(challenges=ChallengesConfig(variants=("tictactoe",)))
    async with (
        services(server, database, settings=settings, sleep=FakeTime().sleep) as given,
        asyncio.timeout(PATIENCE_S),
    ):
        server.news.put_nowait(ChallengeReceived(replace(OFFER, id="one")))
        server.news.put_nowait(ChallengeReceived(replace(OFFER, id="two", game=None)))
        server.news.put_nowait(GameStarted("other001", False) if call == "abort" else STARTED)
        with pytest.raises((AuthError, BaseExceptionGroup)) as caught:
            await Lobby(given).listen()
    error = caught.value
    assert isinstance(most_severe_error(error) if isinstance(error, BaseExceptionGroup) else error, AuthError)


SLOW: dict[str, Any] = {"clock": None, "days_per_turn": 3, "speed": Speed.CORRESPONDENCE}


async def test_a_game_of_weeks_does_not_hold_the_shutdown(database: Database) -> None:
    server = FakeServer()
    server.clock = None
    async with open_lobby(server, database, min_days=1) as lobby:
        await tell(server, ChallengeReceived(replace(OFFER, **SLOW)))
        await called(server, f"accept {GAME_ID}")
        await tell(server, STARTED, *offers("fast"))
        await server.until(lambda: len(server.moves) == 1)
        await called(server, "accept fast")
        lobby.accepting = False
        leaving = asyncio.create_task(wait_until_drained(lobby))
        await event_kinds(database)
        assert not leaving.done()
        await tell(server, ChallengeGone("fast"))
        await leaving
        assert lobby.running == 1


async def test_a_game_of_weeks_that_is_to_be_taken_up_does_not_either(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_games, "DEFAULT_MAX_RUNNERS", 1)
    async with database.write() as session:
        for key in ("one", "two", "three"):
            await opened(session, key, clock_initial_s=None, clock_increment_s=None)

    server = StillServer()
    async with open_lobby(server, database, max_games=1, max_slow_games=1) as lobby:
        await called(server, "stream one", "stream two")
        lobby.accepting = False
        await wait_until_drained(lobby)
        assert lobby.running == 2
    assert "stream three" not in server.calls


@pytest.mark.parametrize("is_heard", [False, True])
async def test_a_long_wait_does_not_hold_the_shutdown(database: Database, is_heard: bool) -> None:
    """A challenge that could not be accepted is declined, unless it was accepted after all."""
    server, time = FakeServer(), FakeTime()
    server.faults["accept"] = [TransientError("HTTP 503", retry_after_s=15)]
    server.faults["decline"] = [RefusedError("not found", 404)] if is_heard else []
    async with open_lobby(server, database, time) as lobby:
        server.news.put_nowait(offers("one")[0])
        await sleepers(time, 2)  # before it is accepted again, and before it is requested
        lobby.accepting = False
        await called(server, "decline one later")
        if is_heard:
            await event_kinds(database)
            time.advance(GAME_START_POLL_INTERVAL_S)  # the slot is held until the server reports no such game
        await wait_until_drained(lobby)
    assert server.calls.count("accept one") == 1


async def test_a_decline_that_must_wait_for_long_does_not_hold_the_shutdown(database: Database) -> None:
    server, time = FakeServer(), FakeTime()
    server.faults["decline"] = [TransientError("HTTP 429", retry_after_s=60)] * 2
    async with open_lobby(server, database, time) as lobby:
        server.news.put_nowait(offers("one", game=None)[0])
        await sleepers(time, 1)
        lobby.accepting = False
        await wait_until_drained(lobby)
    assert server.calls.count("decline one variant") == 2


async def test_a_challenge_that_is_withdrawn_is_not_accepted_again(database: Database) -> None:
    server, time = FakeServer(), FakeTime()
    server.faults["accept"] = [TransientError("HTTP 429", retry_after_s=15)]
    async with open_lobby(server, database, time) as lobby:
        server.news.put_nowait(offers("one")[0])
        await sleepers(time, 2)
        await tell(server, ChallengeGone("one"))
        await wait_until_drained(lobby)
    assert await answers(server, 1) == ["accept one"]


@pytest.mark.parametrize(
    "error",
    [
        TransientError("HTTP 429: 100 games with programs today", retry_after_s=3600),
        RefusedError("too many games with programs today", 400),
    ],
)
async def test_a_limit_of_the_day_is_told(database: Database, error: Exception) -> None:
    server = FakeServer()
    server.faults["accept"] = [error]
    async with open_lobby(server, database, max_games=1):
        await tell(server, *offers("one", "two"))
        await called(server, "decline one later", "accept two")
        (event,) = await noted(database, "challenge_declined")
    assert event.detail["why"] == f"cannot be accepted: {error}"


async def test_nobody_waits_for_long(database: Database) -> None:
    """Opponents may leave without withdrawing, and the game would begin without them."""
    server, time = FakeServer(), FakeTime()
    async with open_lobby(server, database, time, max_games=1):
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        await tell(server, *offers("one"))
        await sleepers(time, 1)
        time.advance(MAX_CHALLENGE_WAIT_S)
        await called(server, "decline one later")


class Endless(FakeServer):
    """A server that neither aborts nor resigns games for us."""

    def finish(self, reason: EndReason, winner: int | None = None) -> None:
        super().finish(reason, winner)
        self.now_playing = []

    async def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
        self.now_playing = [] if self.end else [GAME_ID]
        async for event in super().game_events(game_id):
            yield event

    async def abort(self, game_id: str) -> None:
        await self._called("abort", game_id)
        self._refuse_unless(False)

    async def resign(self, game_id: str) -> None:
        await self._called("resign", game_id)
        self._refuse_unless(False)


async def test_no_game_begins_while_the_threads_are_too_busy(database: Database) -> None:
    server, time = FakeServer(), FakeTime()
    is_busy = [True]
    async with open_lobby(server, database, time, SharedGameLimit(0, lambda _: is_busy[0])):
        await tell(server, *offers("one"))
        (event,) = await noted(database, "challenge_queued")
        assert event.detail["why"] == "the search threads are too busy for another game"
        await sleepers(time, 1)
        time.advance(WAIT_RECHECK_S)
        await sleepers(time, 1)
        assert not any(call.startswith(("accept", "decline")) for call in server.calls)
        is_busy[0] = False
        time.advance(WAIT_RECHECK_S)
        await called(server, "accept one")


async def test_the_end_of_a_game_that_was_given_up_closes_its_books(database: Database) -> None:
    server = Endless()
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        server.faults["stream"] = [ProtocolError("nonsense")]
        server.cut()
        await noted(database, "game_given_up")
        await wait_until_drained(lobby)
        server.finish(EndReason.RESIGNATION, 0)
        await tell(server, STARTED)
        assert (await stored_game(database)).state is GameStatus.OPEN
        await tell(server, GameFinished(GAME_ID, None))
        await wait_until_drained(lobby)
    await check_books(database, server)


async def test_a_game_that_was_given_up_is_asked_for(database: Database) -> None:
    """Its end may never be reported."""
    server, time = Endless(), FakeTime()
    async with open_lobby(server, database, time) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        server.faults["stream"] = [ProtocolError("nonsense")]
        server.cut()
        await noted(database, "game_given_up")
        await wait_until_drained(lobby)
        for faults in ([TransientError("HTTP 502")], []):
            server.faults["playing"] = list(faults)
            server.now_playing, asked = [GAME_ID], server.calls.count("playing")
            await sleepers(time, 1)
            time.advance(GIVEN_UP_POLL_INTERVAL_S)
            await server.until(partial(repeated, server, "playing", asked))
        server.finish(EndReason.RESIGNATION, 0)
        server.now_playing, streams = [], server.calls.count("stream")
        await sleepers(time, 1)
        time.advance(GIVEN_UP_POLL_INTERVAL_S)
        await server.until(partial(repeated, server, "stream", streams))
        await wait_until_drained(lobby)
    await check_books(database, server)
    assert server.calls.count("stream") == streams + 1


async def given_up(server: FakeServer, database: Database, lobby: Lobby) -> None:
    """Start a game, and wait until it has been given up."""
    server.news.put_nowait(STARTED)
    await server.until(lambda: len(server.moves) == 1)
    server.faults["stream"] = [ProtocolError("nonsense")]
    server.cut()
    await noted(database, "game_given_up")
    await wait_until_drained(lobby)


class HeldPlayer:
    """Keeps the next player from leaving its game until `may_leave` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_leave = asyncio.Event()
        self.is_done = asyncio.Event()
        """It has only to leave."""
        run = GameRunner.run

        async def held_run(player: GameRunner) -> None:
            monkeypatch.undo()
            await run(player)
            self.is_done.set()
            await self.may_leave.wait()

        monkeypatch.setattr(GameRunner, "run", held_run)

    async def done(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self.is_done.wait()


async def test_the_reported_end_of_a_given_up_game_leaves_nothing_to_ask(database: Database) -> None:
    server = Endless()
    async with open_lobby(server, database) as lobby:
        await given_up(server, database, lobby)
        server.finish(EndReason.RESIGNATION, 0)
        await tell(server, GameFinished(GAME_ID, 7))
        await wait_until_drained(lobby)
        for count in (2, 3):
            await tell(server)
            await noted(database, "account_link_back", count)
    await check_books(database, server)
    assert not any(call.startswith("rating_diff") for call in server.calls)


@pytest.mark.parametrize("is_reported", [False, True])
async def test_the_end_of_a_given_up_game_may_be_reported_while_it_is_read(
    database: Database, monkeypatch: pytest.MonkeyPatch, is_reported: bool
) -> None:
    server, time = Endless(), FakeTime()
    async with open_lobby(server, database, time) as lobby:
        await given_up(server, database, lobby)
        held = HeldPlayer(monkeypatch)
        await sleepers(time, 1)
        server.finish(EndReason.RESIGNATION, 0)
        time.advance(GIVEN_UP_POLL_INTERVAL_S)
        await held.done()
        await tell(server, *[GameFinished(GAME_ID, 7)] * is_reported)
        held.may_leave.set()
        await wait_until_drained(lobby)
        for count in (2, 3):
            await tell(server)
            await noted(database, "account_link_back", count)
    await check_books(database, server)
    assert any(call.startswith("rating_diff") for call in server.calls) is not is_reported


async def test_an_adjourned_game_may_go_on_while_it_is_read(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A given-up game is read when the server no longer lists it; it may only have been adjourned."""
    server, time = Endless(), FakeTime()
    async with open_lobby(server, database, time) as lobby:
        await given_up(server, database, lobby)
        held = HeldPlayer(monkeypatch)
        await sleepers(time, 1)
        server.adjourn()
        server.now_playing = []
        time.advance(GIVEN_UP_POLL_INTERVAL_S)
        await held.done()
        server.is_adjourned = False
        streams = server.calls.count("stream")
        server.news.put_nowait(STARTED)
        server.news.put_nowait(offers("two")[0])
        await called(server, "accept two")  # so the start has been handled, with the link kept
        held.may_leave.set()
        await server.until(partial(repeated, server, "stream", streams))
        assert lobby.running == 1


async def test_a_game_that_cannot_be_read_at_its_end_is_left(database: Database) -> None:
    server, time = Endless(), FakeTime()
    server.faults["stream"] = [ProtocolError("nonsense")] * 10
    async with open_lobby(server, database, time) as lobby:
        server.news.put_nowait(STARTED)
        await noted(database, "game_given_up")
        await sleepers(time, 1)
        server.now_playing = []
        time.advance(GIVEN_UP_POLL_INTERVAL_S)
        await noted(database, "game_given_up", 2)
        await wait_until_drained(lobby)
        assert time.sleeping == 0


async def test_a_rating_that_changed_while_nobody_listened(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    async with open_lobby(server, database) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
        assert (await stored_game(database)).rating_diff is None
        server.faults["rating_diff"] = [TransientError("HTTP 502")]
        for times in (0, 1):
            await tell(server)
            await server.until(partial(repeated, server, f"rating_diff {GAME_ID} Desdemona", times))
        await tell(server)
        await noted(database, "account_link_back", 3)
    assert (await stored_game(database)).rating_diff == 5


class Held:
    """Blocks a server's list of games or a database's writes, once it is held."""

    def __init__(self, database: Database, what: str) -> None:
        self.server = FakeServer()
        self.asked = asyncio.Event()
        """Set once the held call has been made."""
        self._database = database
        self._what = what
        self._is_held = False
        self._playing = self.server.running_game_ids
        self.server.running_game_ids = self.running_game_ids  # type: ignore[method-assign]

    def hold(self) -> None:
        self._is_held = True

    async def running_game_ids(self) -> list[str]:
        await self._wait("playing")
        return await self._playing()

    def read(self) -> Any:
        return self._database.read()

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Any]:
        await self._wait("write")
        async with self._database.write() as session:
            yield session

    async def _wait(self, what: str) -> None:
        if self._is_held and what == self._what:
            self.asked.set()
            await asyncio.Event().wait()


@pytest.mark.parametrize("event", [None, "not an event"], ids=["lost link", "bad event"])
@pytest.mark.parametrize("what", ["playing", "write"])
async def test_nothing_keeps_us_from_listening(database: Database, what: str, event: Any) -> None:
    """Other work may take forever."""
    held: Any = Held(database, what)
    server: FakeServer = held.server
    async with open_lobby(server, held):
        await called(server, "account_events")
        held.hold()
        if event is not None:
            server.news.put_nowait(ChallengeReceived(event))
        server.news.put_nowait(None)
        async with asyncio.timeout(PATIENCE_S):
            await held.asked.wait()
        server.news.put_nowait(offers("one")[0])
        await called(server, "accept one")


class Slow(FakeServer):
    """A server that is slow to decline a challenge."""

    def __init__(self) -> None:
        super().__init__()
        self.may_decline = asyncio.Event()

    async def decline(self, challenge_id: str, reason: DeclineReason) -> None:
        await super().decline(challenge_id, reason)
        await self.may_decline.wait()


async def test_who_has_gone_is_not_answered(database: Database) -> None:
    server = Slow()
    async with open_lobby(server, database, max_games=2, max_waiting=0) as lobby:
        flood = [f"c{number}" for number in range(50)]
        await tell(server, *offers("first", *flood, "last", game=None), *offers("one", "two"))
        await called(server, "decline first variant")
        await tell(server, *map(ChallengeGone, ["first", *flood, "one"]))
        server.may_decline.set()
        await called(server, "accept two", "decline last variant")
        await tell(server, ChallengeGone("two"))
        await wait_until_drained(lobby)
    # Acceptances do not queue behind refusals.
    sent = dict.fromkeys(await answers(server, 3))  # the acceptance several times: its game does not start
    assert list(sent) == ["decline first variant", "accept two", "decline last variant"]


async def test_who_has_gone_is_not_declined_again(database: Database) -> None:
    server, time = FakeServer(), FakeTime()
    server.faults["decline"] = [TransientError("HTTP 429", retry_after_s=60)]
    async with open_lobby(server, database, time) as lobby:
        await tell(server, *offers("one", game=None))
        await sleepers(time, 1)
        await tell(server, ChallengeGone("one"))
        await wait_until_drained(lobby)
    assert await answers(server, 1) == ["decline one variant"]


async def test_of_too_many_the_oldest_are_not_answered(database: Database) -> None:
    server = Slow()
    flood = [f"c{number}" for number in range(MAX_QUEUED_DECLINES + 3)]
    async with open_lobby(server, database) as lobby:
        await tell(server, *offers(flood[0], game=None))
        await called(server, "decline c0 variant")
        await tell(server, *offers(*flood[1:], game=None))
        server.may_decline.set()
        await wait_until_drained(lobby)
    told = [call.split()[1] for call in await answers(server, MAX_QUEUED_DECLINES + 1)]
    assert told == [flood[0], *flood[3:]]


async def test_a_crash_is_forgotten_after_a_while(database: Database) -> None:
    server, time = FakeServer(), FakeTime()
    async with open_lobby(server, database, time) as lobby:
        server.news.put_nowait(STARTED)
        for count in range(1, MAX_CRASHES_PER_GAME + 2):
            server.faults["stream"] = [ZeroDivisionError("a mistake of ours")]
            server.cut()
            await noted(database, "game_crashed", count)
            time.advance(CRASH_COUNT_RESET_S)
        assert lobby.running == 1
        assert "game_given_up" not in await event_kinds(database)


class ServerBusy(FakeServer):
    """Many games without any moves, on a server that loses whatever it can."""

    def __init__(self, seed: int) -> None:
        super().__init__(our_side=1)
        self.rng = random.Random(seed)
        self.standing: dict[str, Challenge] = {}
        self.playing_now: dict[str, Challenge] = {}
        self.most = 0
        self.accepted = 0

    async def accept(self, challenge_id: str) -> None:
        await self._called("accept", "", challenge_id)
        if self.rng.random() < 0.2:
            raise TransientError("the request got lost")
        challenge = self.standing.pop(challenge_id, None)
        if challenge is None:
            raise RefusedError("no such challenge", 404)
        self.playing_now[challenge_id] = challenge
        self.accepted += 1
        self.most = max(self.most, len(self.playing_now))
        if self.rng.random() < 0.8:
            self.news.put_nowait(GameStarted(challenge_id, True))
        if self.rng.random() < 0.2:
            raise TransientError("the answer got lost")

    async def decline(self, challenge_id: str, reason: DeclineReason) -> None:
        await self._called("decline", "", challenge_id, reason)
        if self.standing.pop(challenge_id, None) is None:
            raise RefusedError("no such challenge", 404)

    async def running_game_ids(self) -> list[str]:
        await self._called("playing")
        if self.rng.random() < 0.2:
            raise TransientError("HTTP 502")
        return list(self.playing_now)

    async def account_events(self) -> AsyncGenerator[Any, None]:
        await self._called("account_events")
        yield None
        for game_id in list(self.playing_now):
            yield GameStarted(game_id, True)
        for challenge in list(self.standing.values()):
            yield ChallengeReceived(challenge)
        while (event := await self.news.get()) is not None:
            yield event

    async def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
        await self._called("stream")
        challenge = self.playing_now.get(game_id)
        if challenge is not None:
            assert challenge.challenger is not None
            yield replace(self.snapshot, game_id=game_id, opponent=challenge.challenger)
            await self.until(lambda: game_id not in self.playing_now)
        aborted = replace(self.state, end=GameEnd(EndReason.ABORTED, None, "aborted"))
        yield replace(self.snapshot, game_id=game_id, state=aborted)

    async def happens(self, number: int) -> None:
        """One event, at random."""
        match self.rng.randrange(5):
            case 0 | 1:
                who = self.rng.randrange(6)
                challenger = Opponent(f"w{who}", f"W{who}", 1500, who > 3)
                self.standing[f"c{number}"] = replace(OFFER, id=f"c{number}", challenger=challenger)
                self.news.put_nowait(ChallengeReceived(self.standing[f"c{number}"]))
            case 2 if self.standing:
                gone = self.rng.choice(list(self.standing))
                del self.standing[gone]
                self.news.put_nowait(ChallengeGone(gone))
            case 3 if self.playing_now:
                over = self.rng.choice(list(self.playing_now))
                del self.playing_now[over]
                if self.rng.random() < 0.8:
                    self.news.put_nowait(GameFinished(over, None))
                async with self.changed:
                    self.changed.notify_all()
            case 4:
                self.news.put_nowait(None)


async def test_an_adjourned_game_frees_its_place_and_is_taken_up_again(database: Database) -> None:
    server = FakeServer()
    async with open_lobby(server, database, max_games=1) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        await tell(server, *offers("two"))
        await noted(database, "challenge_queued")
        server.adjourn()
        await called(server, "accept two")
        await tell(server, ChallengeGone("two"))
        await wait_until_drained(lobby)
        assert lobby.running == 0
        assert (await stored_game(database)).state is GameStatus.OPEN
        server.is_adjourned, server.pick = False, picker(1)
        server.reply()
        await tell(server, STARTED)
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
    await check_books(database, server)
    assert "game_adjourned" in await event_kinds(database)


async def test_an_adjourned_game_may_go_on_before_its_player_is_done(database: Database) -> None:
    """Its record may still be being written, for instance."""
    server = FakeServer()
    held: Any = Held(database, "write")
    may_go_on = asyncio.Event()

    async def wait(what: str) -> None:
        if held._is_held and what == "write":
            held.asked.set()
            await may_go_on.wait()

    held._wait = wait
    async with open_lobby(server, held) as lobby:
        server.news.put_nowait(STARTED)
        await server.until(lambda: len(server.moves) == 1)
        server.pick = picker(1)
        held.hold()
        server.adjourn()
        async with asyncio.timeout(PATIENCE_S):
            await held.asked.wait()
        server.is_adjourned = False
        server.reply()
        server.news.put_nowait(STARTED)
        server.news.put_nowait(offers("two")[0])
        await called(server, "accept two")  # so the event has been handled
        server.news.put_nowait(ChallengeGone("two"))
        may_go_on.set()
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
    await check_books(database, server)


async def test_both_games_of_a_challenge_have_a_place(database: Database) -> None:
    """It is accepted once two slots are free; its games have other ids."""
    server = FakeServer()
    async with open_lobby(server, database, max_games=2) as lobby:
        await tell(server, *offers("one"), *offers("pair", boards=2))
        await noted(database, "challenge_queued")
        await tell(server, ChallengeGone("one"))
        await called(server, "accept pair")
        await tell(server, *offers("two"))
        await noted(database, "challenge_queued", 2)
        await tell(server, GameStarted(GAME_ID, True, "pair"), GameFinished(GAME_ID, None))
        await called(server, "accept two")  # the other game of the pair still has its slot
        await tell(server, *offers("three"))
        await noted(database, "challenge_queued", 3)
        assert lobby.running == 1


async def test_never_more_games_than_allowed(database: Database) -> None:
    server, time = ServerBusy(0), FakeTime()
    async with open_lobby(server, database, time, max_games=3, max_games_per_opponent=2) as lobby:
        number = 0
        while number < 120 or server.accepted <= 10:
            number += 1
            await server.happens(number)
            if server.rng.random() < 0.8:  # otherwise more happens before the lobby learns of it
                while not server.news.empty():
                    await event_kinds(database)
                for _ in range(3):  # and the answers
                    await event_kinds(database)
            if server.rng.random() < 0.1:
                time.advance(GAME_START_POLL_INTERVAL_S)
        lobby.accepting = False
        everybody_gone = asyncio.create_task(wait_until_drained(lobby))
        while not everybody_gone.done():
            server.playing_now.clear()
            if server.news.empty():
                server.news.put_nowait(None)
            time.advance(GAME_START_POLL_INTERVAL_S)
            async with server.changed:
                server.changed.notify_all()
            await event_kinds(database)
        await everybody_gone
    assert not server.standing
    assert 2 <= server.most <= 3


async def test_games_beyond_the_most_wait_for_others_to_end(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_games, "DEFAULT_MAX_RUNNERS", 2)

    class Patient(ServerBusy):
        async def accept(self, challenge_id: str) -> None:
            await FakeServer.accept(self, challenge_id)

    server = Patient(0)
    async with open_lobby(server, database, max_games=1, max_slow_games=1) as lobby:
        await tell(server, ChallengeReceived(OFFER))
        await called(server, f"accept {GAME_ID}")
        server.playing_now = {f"g{number}": OFFER for number in range(4)} | {GAME_ID: OFFER}
        await tell(server, *(GameStarted(game_id, True) for game_id in server.playing_now))
        assert lobby.running == 3  # including the accepted one
        while server.playing_now:
            del server.playing_now[next(iter(server.playing_now))]
            async with server.changed:
                server.changed.notify_all()
            await event_kinds(database)
            assert lobby.running <= 3
        await wait_until_drained(lobby)
    async with database.read() as session:
        assert len(await list_games(session)) == 5


async def test_a_game_with_an_id_of_its_own_takes_the_place_of_its_challenge(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    async with open_lobby(server, database, max_games=1) as lobby:
        server.news.put_nowait(ChallengeReceived(replace(OFFER, id="asked")))
        await called(server, "accept asked")
        server.news.put_nowait(GameStarted(GAME_ID, True, "asked"))
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
    await check_books(database, server)


@pytest.mark.parametrize("is_tournament", [False, True])
async def test_a_person_is_offered_a_rematch_except_in_tournaments(
    database: Database, is_tournament: bool
) -> None:
    server = FakeServer(pick=picker(1))
    settings = config(
        challenges=ChallengesConfig(variants=("tictactoe",)), manners=MannersConfig(rematches=1)
    )
    server.replies.put_nowait(Reply("again001", False, "declined"))
    async with services(server, database, settings=settings, sleep=FakeTime().sleep) as given:
        lobby = Lobby(given)
        listening = asyncio.create_task(lobby.listen())
        await server.until(lambda: "account_events" in server.calls)
        server.news.put_nowait(replace(STARTED, is_tournament=is_tournament))
        await server.until(lambda: server.end is not None)
        await wait_until_drained(lobby)
        await wait_until_drained(lobby)  # the offer begins when the game is over
        listening.cancel()
        with suppress(asyncio.CancelledError):
            await listening
    assert ("challenge anna tictactoe" in server.calls) != is_tournament
