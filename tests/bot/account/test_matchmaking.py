"""Whom to challenge when no challenges come in, without getting in the way of anyone's game."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.account.challenge_responder import GAME_START_POLL_INTERVAL_S
from bot.account.lobby import Lobby
from bot.account.matchmaking import (
    ACCEPTED,
    DECLINED,
    MATCHMAKING_REFUSAL_PAUSE_S,
    SENT,
    MatchmakingHistory,
    are_daily_limits_reached,
    choose_opponent,
)
from bot.base.config import ChallengesConfig, MatchmakingConfig
from bot.base.dialects import Capability, get_dialect
from bot.base.errors import AuthError, RefusedError, ServerError, TransientError
from bot.base.events import (
    Bot,
    ChallengeGone,
    ChallengeReceived,
    Clock,
    GameFinished,
    GameStarted,
    Proposal,
    Reply,
)
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import list_events, record_event
from storage.ledger.games import finish_game
from storage.records import AccountKey, GameResult
from storage.tables.types import now_utc
from tests.bot.fakes import GAME_ID, FakeServer, config, services
from tests.bot.fakes import OFFER as OFFERED
from tests.bot.times import FakeTime
from tests.patience import PATIENCE_S
from tests.storage.samples import ARENA, opened

IDLE_S = 300.0
LICHESS = get_dialect("lichess")
US = Bot("desdemona", "Desdemona", {"blitz": 1800, "chess960": 1500})
ANNE = Bot("anne", "Anne", {"blitz": 1700, "bullet": 1500})
BERT = Bot("bert", "Bert", {"blitz": 2100})
NEW = Bot("new", "New", {})
ALL = (US, ANNE, BERT, NEW)


def picked(
    history: MatchmakingHistory | None = None, limits: ChallengesConfig | None = None, **settings: Any
) -> Counter[tuple[str, str, Clock]]:
    """The opponents and terms picked in a hundred draws."""
    found: Counter[tuple[str, str, Clock]] = Counter()
    rng = random.Random(1)
    for _ in range(100):
        choice = choose_opponent(
            ALL,
            history or MatchmakingHistory(),
            MatchmakingConfig(**{"clocks": ("180+2",), **settings}),
            limits or ChallengesConfig(),
            our_name="Desdemona",
            blocked=(),
            rating_list=LICHESS.rating_list,
            dialect=LICHESS,
            rng=rng,
        )
        if choice is not None:
            bot, proposal = choice
            found[bot.id, proposal.variant, proposal.clock] += 1
    return found


def names(*arguments: Any, **settings: Any) -> set[str]:
    return {name for name, _, _ in picked(*arguments, **settings)}


def test_anybody_but_ourselves_at_random() -> None:
    found = picked()
    assert set(found) == {(name, "standard", Clock(180, 2)) for name in ("anne", "bert", "new")}
    assert min(found.values()) > 20


def test_variant_and_clock_at_random() -> None:
    found = picked(variants=("standard", "chess960"), clocks=("180+2", "60+1"))
    assert len({(variant, clock) for _, variant, clock in found}) == 4


def test_whether_rated() -> None:
    for rated in (True, False):
        config = MatchmakingConfig(rated=rated, clocks=("60+0",))
        found = choose_opponent(
            [ANNE],
            MatchmakingHistory(),
            config,
            ChallengesConfig(),
            our_name="Desdemona",
            blocked=(),
            rating_list=LICHESS.rating_list,
            dialect=LICHESS,
            rng=random.Random(1),
        )
        assert found == (ANNE, Proposal("standard", rated, Clock(60, 0)))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"min_rating": 1800}, {"bert"}),
        ({"max_rating": 2000}, {"anne"}),
        ({"max_rating_difference": 200}, {"anne"}),
        ({"min_rating": 1600, "clocks": ("60+0",)}, set()),
        ({"min_rating": 1500, "clocks": ("60+0",)}, {"anne"}),
        # When one kind of game finds no opponent, another may.
        ({"min_rating": 1600, "clocks": ("60+0", "180+2")}, {"anne", "bert"}),
        ({"variants": ("chess960",), "min_rating": 1}, set()),
        ({"variants": ("chess960",)}, {"anne", "bert", "new"}),
        ({"block": ("ANNE", "new")}, {"bert"}),
    ],
)
def test_limits_of_opponents(settings: dict[str, Any], expected: set[str]) -> None:
    assert names(**settings) == expected


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (MatchmakingHistory(last_opponent="anne"), {"bert", "new"}),
        (MatchmakingHistory(resting={"bert", "new"}, last_opponent="anne"), {"anne"}),
        (MatchmakingHistory(resting={"anne", "bert", "new"}), set()),
        (MatchmakingHistory(bot_games={"anne": 2, "x": 1}), {"bert", "new"}),
    ],
)
def test_limits_of_the_day(history: MatchmakingHistory, expected: set[str]) -> None:
    assert names(history, ChallengesConfig(max_games_per_bot_per_day=2)) == expected


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (MatchmakingHistory(sent=29, bot_games={"x": 2, "y": 1}), False),
        (MatchmakingHistory(sent=30), True),
        (MatchmakingHistory(bot_games={"x": 3, "y": 1}), True),
    ],
)
def test_enough_for_a_day(history: MatchmakingHistory, expected: bool) -> None:
    config, limits = MatchmakingConfig(per_day=30), ChallengesConfig(max_bot_games_per_day=4)
    assert are_daily_limits_reached(history, config, limits) is expected


def test_whoever_is_blocked_is_not_challenged_either() -> None:
    assert names(None, ChallengesConfig(block=("Bert",))) == {"anne", "new"}
    config, limits = MatchmakingConfig(), ChallengesConfig()
    assert (
        choose_opponent(
            [ANNE],
            MatchmakingHistory(),
            config,
            limits,
            our_name="me",
            blocked=["Anne"],
            rating_list=LICHESS.rating_list,
            dialect=LICHESS,
            rng=random.Random(1),
        )
        is None
    )


# --- The task -------------------------------------------------------------------------------------------

OFFER = replace(OFFERED, id="offer")
ASKED = "challenge anne standard"


def bots_server(*bots: Bot, **more: Any) -> FakeServer:
    server = FakeServer(**more)
    server.bots = list(bots or (ANNE,))
    return server


@asynccontextmanager
async def idle_lobby(
    server: FakeServer,
    database: Any,
    time: FakeTime,
    *,
    challenges: dict[str, Any] | None = None,
    **settings: Any,
) -> AsyncIterator[Lobby]:
    wanted = config(
        challenges=ChallengesConfig(variants=("tictactoe",), **(challenges or {})),
        matchmaking=MatchmakingConfig(enabled=True, idle_s=IDLE_S, **settings),
    )
    async with services(server, database, settings=wanted, sleep=time.sleep) as given:
        lobby = Lobby(replace(given, clock=time.clock))
        listening = asyncio.create_task(lobby.listen())
        try:
            await server.until(lambda: "account_events" in server.calls)
            yield lobby
        finally:
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening


async def reaches(server: FakeServer, time: FakeTime, call: str, count: int = 1, step_s: float = 100) -> None:
    """Let time pass, step by step, until a call has been made this many times."""
    async with asyncio.timeout(PATIENCE_S):
        while server.calls.count(call) < count:
            time.advance(step_s)
            for _ in range(10):
                await asyncio.sleep(0)
    assert server.calls.count(call) == count


async def kinds(database: Database) -> list[str]:
    async with database.read() as session:
        return [event.kind for event in reversed(await list_events(session))]


async def noted(database: Database, kind: str, count: int = 1) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while (await kinds(database)).count(kind) < count:
            pass


async def test_after_a_while_somebody_is_challenged(database: Database) -> None:
    server, time = bots_server(), FakeTime()
    async with idle_lobby(server, database, time):
        await server.until(lambda: "account_events" in server.calls)
        time.advance(IDLE_S - 1)
        await kinds(database)
        assert "online_bots" not in server.calls
        await reaches(server, time, ASKED)
        assert await kinds(database) == [SENT]  # recorded before it is sent
        server.replies.put_nowait(Reply(GAME_ID, True, ""))
        await noted(database, ACCEPTED)
        server.news.put_nowait(GameStarted(GAME_ID, True))
        await server.until(lambda: len(server.moves) == 1)


async def test_which_ratings_are_about_a_game_the_server_tells(database: Database) -> None:
    cora = Bot("cora", "Cora", {"standard": 1700})
    server, time = bots_server(BERT, cora), FakeTime()
    async with idle_lobby(server, database, time, min_rating=1600):
        await reaches(server, time, "challenge cora standard")


async def test_not_unless_it_is_wanted(database: Database) -> None:
    for enabled, can in ((False, True), (True, False)):
        server, time = bots_server(), FakeTime()
        server.cannot = set() if can else {Capability.CHALLENGE}
        wanted = config(matchmaking=MatchmakingConfig(enabled=enabled, idle_s=IDLE_S))
        async with services(server, database, settings=wanted, sleep=time.sleep) as given:
            listening = asyncio.create_task(Lobby(replace(given, clock=time.clock)).listen())
            await server.until(lambda server=server: "account_events" in server.calls)  # type: ignore[misc]
            time.advance(10 * IDLE_S)
            await kinds(database)
            listening.cancel()
            with suppress(asyncio.CancelledError):
                await listening
        assert "online_bots" not in server.calls


async def test_not_while_a_game_goes_on(database: Database) -> None:
    server, time = bots_server(), FakeTime()
    async with idle_lobby(server, database, time) as lobby:
        server.news.put_nowait(GameStarted(GAME_ID, True))
        await server.until(lambda: len(server.moves) == 1)
        for _ in range(10):
            time.advance(IDLE_S)
            await kinds(database)
        assert "online_bots" not in server.calls
        server.news.put_nowait(GameFinished(GAME_ID, None))
        ended_at = time.now
        await reaches(server, time, ASKED, step_s=10)
        assert time.now - ended_at >= IDLE_S
        assert lobby.running == 1  # its record is open


async def test_who_declines_is_left_alone_also_after_a_restart(database: Database) -> None:
    for count in (1, 2):
        server, time = bots_server(ANNE, BERT), FakeTime()
        async with idle_lobby(server, database, time, block=("bert",) if count == 1 else ()):
            call = ASKED if count == 1 else "challenge bert standard"
            await reaches(server, time, call)
            server.replies.put_nowait(Reply("", False, "I'm not accepting challenges"))
            await noted(database, DECLINED, count)
    server, time = bots_server(ANNE, BERT), FakeTime()
    async with idle_lobby(server, database, time):
        await reaches(server, time, "online_bots", 3)
        await kinds(database)
    assert not [call for call in server.calls if call.startswith("challenge")]
    assert (await kinds(database)).count(SENT) == 2


@pytest.mark.parametrize("starts", [False, True])
async def test_a_site_that_does_not_tell_the_answer(database: Database, starts: bool) -> None:
    """Its game may be about to start, so its slot is held and nothing counts as declined."""
    server, time = bots_server(), FakeTime()
    async with idle_lobby(server, database, time, challenges={"max_games": 1}) as lobby:
        await reaches(server, time, ASKED)
        server.replies.put_nowait(Reply(GAME_ID, None, "no answer"))
        await kinds(database)
        server.news.put_nowait(ChallengeReceived(OFFER))
        await noted(database, "challenge_queued")
        if starts:
            server.news.put_nowait(GameStarted(GAME_ID, True))
            await server.until(lambda: len(server.moves) == 1)
            assert lobby.running == 1
        else:
            while "accept offer" not in server.calls:
                time.advance(GAME_START_POLL_INTERVAL_S)
                await kinds(database)
            server.news.put_nowait(ChallengeGone("offer"))
            await reaches(server, time, ASKED, 2)
    assert DECLINED not in await kinds(database)
    assert ACCEPTED not in await kinds(database)


async def test_a_refusal_is_a_decline(database: Database) -> None:
    server, time = bots_server(), FakeTime()
    server.faults["challenge"] = [RefusedError("anne has played 100 games today", 400)]
    async with idle_lobby(server, database, time):
        await reaches(server, time, ASKED)
        await noted(database, DECLINED)
        await reaches(server, time, "online_bots", 3)
    assert server.calls.count(ASKED) == 1


async def test_limits_hold_across_restarts(database: Database) -> None:
    async with database.write() as session:
        await record_event(session, ARENA, SENT, {"opponent": "x"})
        await record_event(session, AccountKey("elsewhere", "desdemona"), SENT, {"opponent": "x"})
        began_at = now_utc() - timedelta(hours=1)
        game = await opened(session, at=began_at, opponent_id="anne", opponent_is_bot=True)
        await finish_game(session, game.id, result=GameResult.WIN, end_reason="mate")
    for settings, challenges in (({"per_day": 1}, {}), ({"per_day": 2}, {"max_bot_games_per_day": 1})):
        server, time = bots_server(), FakeTime()
        async with idle_lobby(server, database, time, challenges=challenges, **settings):
            for _ in range(5):
                time.advance(IDLE_S)
                await kinds(database)
        assert "online_bots" not in server.calls  # requesting it would be pointless


async def test_a_limit_of_the_server_is_kept(database: Database) -> None:
    server, time = bots_server(), FakeTime()
    server.faults["challenge"] = [TransientError("HTTP 429", retry_after_s=10_000)]
    async with idle_lobby(server, database, time):
        await reaches(server, time, ASKED)
        limited_at = time.now
        await reaches(server, time, ASKED, 2)
        assert time.now - limited_at >= 10_000


async def test_a_person_is_answered_while_we_wait_for_an_answer(database: Database) -> None:
    server, time = bots_server(), FakeTime()
    async with idle_lobby(server, database, time):
        await reaches(server, time, ASKED)
        server.news.put_nowait(ChallengeReceived(OFFER))
        await server.until(lambda: "accept offer" in server.calls)


async def test_the_last_place_is_left_to_who_asks_for_it(database: Database) -> None:
    """Our challenge holds a slot; it is withdrawn when a challenger wants it."""
    server, time = bots_server(), FakeTime()

    async def challenge(opponent_id: str, proposal: Proposal) -> Reply:
        try:
            return await FakeServer.challenge(server, opponent_id, proposal)
        finally:
            server.news.put_nowait(ChallengeReceived(replace(OFFER, id="offer2")))
            for _ in range(50):  # it takes a while, and events in the meantime do not disturb it
                await asyncio.sleep(0)
            server.calls.append("withdrawn")

    server.challenge = challenge  # type: ignore[method-assign]
    async with idle_lobby(server, database, time, challenges={"max_games": 1}):
        await reaches(server, time, ASKED)
        server.news.put_nowait(ChallengeReceived(OFFER))
        await server.until(lambda: "accept offer" in server.calls)
        assert server.calls.index("withdrawn") < server.calls.index("accept offer")
        server.news.put_nowait(ChallengeGone("offer2"))
        server.news.put_nowait(ChallengeGone("offer"))
        await reaches(server, time, ASKED, 2)  # no refusal has come
    assert DECLINED not in await kinds(database)


async def test_our_challenge_holds_a_place(database: Database) -> None:
    server, time = bots_server(), FakeTime()
    async with idle_lobby(server, database, time, challenges={"max_games": 1, "max_waiting": 0}):
        await reaches(server, time, ASKED)
        server.news.put_nowait(ChallengeReceived(OFFER))
        await server.until(lambda: "decline offer later" in server.calls)
        server.replies.put_nowait(Reply(GAME_ID, True, ""))
        await noted(database, ACCEPTED)
        server.news.put_nowait(ChallengeReceived(replace(OFFER, id="offer2")))
        await server.until(lambda: "decline offer2 later" in server.calls)


async def test_shutting_down_withdraws_it(database: Database) -> None:
    server, time = bots_server(), FakeTime()
    async with idle_lobby(server, database, time) as lobby:
        await reaches(server, time, ASKED)
        lobby.accepting = False
        async with asyncio.timeout(PATIENCE_S):
            await lobby.wait_until_drained()
        for _ in range(5):
            time.advance(IDLE_S)
            await kinds(database)
    assert server.calls.count(ASKED) == 1


@pytest.mark.parametrize(
    "error",
    [
        TransientError("HTTP 502"),
        ServerError("?"),
        AuthError("HTTP 401"),
        StorageError("away"),
        ZeroDivisionError(),
        RefusedError("no", 404),
    ],
)
async def test_nothing_leaves_it(database: Database, error: Exception) -> None:
    server, time = bots_server(), FakeTime()
    server.faults["online_bots"] = [error]
    async with idle_lobby(server, database, time) as lobby:
        server.news.put_nowait(GameStarted(GAME_ID, True))
        await server.until(lambda: len(server.moves) == 1)
        server.news.put_nowait(GameFinished(GAME_ID, None))
        await reaches(server, time, ASKED)
        assert lobby.running == 1


async def test_without_permission_it_waits_for_long(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    server, time = bots_server(), FakeTime()
    server.faults["challenge"] = [RefusedError("Missing scope", 403)]
    async with idle_lobby(server, database, time) as lobby:
        await reaches(server, time, ASKED)
        refused_at = time.now
        await reaches(server, time, ASKED, 2)
        assert time.now - refused_at >= MATCHMAKING_REFUSAL_PAUSE_S
        server.news.put_nowait(ChallengeReceived(OFFER))
        await server.until(lambda: "accept offer" in server.calls)
        assert lobby.accepting
    assert f"matchmaking: Missing scope; next try in {MATCHMAKING_REFUSAL_PAUSE_S:.0f} s" in caplog.text
    assert DECLINED not in await kinds(database)
