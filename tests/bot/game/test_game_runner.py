"""One game's player against a server that is rude in every way the protocol allows."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, astuple, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from bot.base.config import (
    AssignmentConfig,
    AssignmentMethod,
    ChatConfig,
    EngineConfig,
    RandomisedConfig,
    TrialConfig,
)
from bot.base.dialects import Capability
from bot.base.errors import AuthError, ProtocolError, RefusedError, TransientError
from bot.base.events import UNRECORDED, Clock, EndReason, GameEnd
from bot.game.assignment import BIASED_COIN_PROBABILITY, BLIND_COIN_PROBABILITY, DRAW_BITS, drawn_strategy
from bot.game.game_runner import (
    MAX_NOT_FOUND_RETRIES,
    MAX_REFUSAL_RETRIES,
    MIN_REFUSALS_TO_WARN,
    GameRunner,
)
from bot.game.offer_policy import score_centi
from bot.game.pending_actions import MAX_ACTION_WAIT_S
from bot.game.recheck import recheck
from bot.threads.fair_queue import JobRank
from engine.decision import Decision, OutcomeKind
from engine.errors import EngineMismatch
from storage.database import Database
from storage.evidence.inference.trial import Exclusion
from storage.evidence.statistics.trial_rows import trial_decisions
from storage.evidence.trials import NewTrial, list_trials, start_trial
from storage.ledger.decisions import mark_taken_back
from storage.ledger.events import REPORT_LATE, list_events
from storage.ledger.forecasts import list_unforecast
from storage.ledger.games import list_open_games
from storage.records import DecisionState, Endpoint, GameResult, GameStatus, StoredGame, TimeSource
from storage.tables.games import DecisionRow, ForecastRow, GameRow, ReplyTimeRow
from tests.bot.fakes import BALANCED, GAME_ID, FakeServer, HeldPool, config, no_sleep, picker, services
from tests.bot.ledger_samples import (
    check_books,
    event_kinds,
    finished,
    stored_decisions,
    stored_forecasts,
    stored_game,
)
from tests.patience import PATIENCE_S
from tests.storage.samples import ARENA, DRAWN_AT, NEW_GAME, commit_decision


async def play(server: FakeServer, database: Database, **more: Any) -> GameRunner:
    """A game to its end."""
    async with services(server, database, **more) as given, asyncio.timeout(PATIENCE_S):
        player = GameRunner(GAME_ID, given)
        await player.run()
    return player


@asynccontextmanager
async def playing(server: FakeServer, database: Database, **more: Any) -> AsyncIterator[asyncio.Task[None]]:
    """A game that goes on while the test does its part; it must end by itself."""
    async with services(server, database, **more) as given:
        running = asyncio.create_task(GameRunner(GAME_ID, given).run())
        try:
            yield running
            async with asyncio.timeout(PATIENCE_S):
                await running
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await running


async def live_until(
    condition: Callable[[], bool], server: FakeServer, database: Database, **more: Any
) -> None:
    """Play until something is true, then drop everything."""
    async with services(server, database, **more) as given:
        running = asyncio.create_task(GameRunner(GAME_ID, given).run())
        await server.until(condition)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def leave(server: FakeServer, database: Database, moves: int) -> None:
    """Play until so many moves of ours are on the server, then drop everything."""
    await live_until(lambda: moves_sent(server) == moves, server, database)


async def judged(database: Database, ply: int) -> None:
    """Wait for a decision's outcome; the database tells nobody, so it is asked."""
    async with asyncio.timeout(PATIENCE_S):
        while not any(d.ply == ply and d.outcome for d in await stored_decisions(database)):  # noqa: ASYNC110
            await asyncio.sleep(0)


def moves_sent(server: FakeServer) -> int:
    return sum(call.startswith("move") for call in server.calls)


@pytest.mark.parametrize(("our_side", "seed"), [(0, 1), (0, 2), (1, 3), (1, 4)])
async def test_a_whole_game(database: Database, our_side: int, seed: int) -> None:
    server = FakeServer(our_side=our_side, pick=picker(seed))
    player = await play(server, database)
    await check_books(database, server)
    game = await stored_game(database)
    assert (game.strategy, game.selection, game.opponent_id) == ("trappy", {"method": "fixed"}, "anna")
    assert player.is_over
    assert len(server.said) == 2
    assert server.said[0] == "Hello Anna"
    assert server.calls.count("stream") == 1


async def test_every_reply_is_timed(database: Database) -> None:
    """The clocks of the server stand still, so all times are measured."""
    server = FakeServer("othello", pick=picker(1))
    await play(server, database)
    answered = [
        stored.id for stored in await stored_decisions(database) if stored.ply + 1 < len(server.moves)
    ]
    async with database.read() as session:
        rows = list(await session.scalars(select(ReplyTimeRow)))
    assert {row.decision_id for row in rows} == set(answered)
    assert {row.source for row in rows} == {TimeSource.MEASURED}
    assert all(0 <= row.time_s < PATIENCE_S for row in rows)


async def test_missing_forecasts_are_looked_for_at_the_beginning_and_the_end(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    async def counted(session: AsyncSession, game_id: int, rule: int) -> set[int]:
        nonlocal asked
        asked += 1
        return await list_unforecast(session, game_id, rule)

    monkeypatch.setattr("bot.game.ledger.list_unforecast", counted)
    server = FakeServer("othello", pick=picker(1))
    await play(server, database)
    assert asked <= 4  # the first state, our first move, the end; not each of sixty plies
    await check_books(database, server)


async def test_what_it_thinks_is_told_with_the_move(database: Database) -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.25
        return now

    server = FakeServer("othello", pick=picker(1))
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S):
        await GameRunner(GAME_ID, replace(given, clock=clock)).run()
    decisions = await stored_decisions(database)
    assert [info.score_centi for info in server.thoughts] == [
        score_centi(stored.decision) for stored in decisions
    ]
    assert len({info.score_centi for info in server.thoughts}) > 2
    assert all(info.time_s > 0 for info in server.thoughts)


async def test_an_adjourned_game_leaves_its_books_open(database: Database) -> None:
    server = FakeServer()
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.adjourn()
    assert (await stored_game(database)).state is GameStatus.OPEN
    assert (await event_kinds(database)) == ["game_adjourned"]
    player = await play(server, database)  # nothing but that is told of it
    assert (player.is_over, player.is_adjourned) == (True, True)
    server.is_adjourned, server.pick = False, picker(1)
    server.reply()
    await play(server, database)
    await check_books(database, server)


async def test_the_answer_to_a_move_is_lost(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    server.lost_answers = [TransientError("no answer"), TransientError("no answer")]
    await play(server, database)
    await check_books(database, server)


async def test_a_move_that_did_not_arrive_is_sent_again(database: Database) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await no_sleep(seconds)

    server = FakeServer(pick=picker(1))
    server.faults["move"] = [TransientError("HTTP 502"), TransientError("HTTP 429", retry_after_s=60.0)]
    await play(server, database, sleep=sleep)
    await check_books(database, server)
    assert any(0 < seconds < 1 for seconds in waited)
    assert 60.0 in waited


async def test_a_refused_move_makes_it_read_the_game_again(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    server.faults["move"] = [RefusedError("Not your turn", 400)]
    await play(server, database)
    await check_books(database, server)
    assert server.calls.count("stream") > 1
    sent = [call for call in server.calls if call.startswith("move")]
    assert sent[0] == sent[1]


async def test_reading_again_fails_too(database: Database) -> None:
    server = FakeServer()
    server.faults["move"] = [RefusedError("Not your turn", 400)]
    async with playing(server, database):
        await server.until(lambda: "stream" in server.calls)
        server.faults["stream"] = [TransientError("HTTP 502")]
        await server.until(lambda: bool(server.moves))
        server.pick = picker(1)
        server.reply()
    await check_books(database, server)


async def test_a_move_is_sent_until_the_server_takes_it(database: Database) -> None:
    """A site in trouble may refuse moves for a while; what counts is the game's clock, not how often."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await no_sleep(seconds)

    server = FakeServer(pick=picker(1))
    server.faults["move"] = [RefusedError("Not your turn", 400)] * 40
    await play(server, database, sleep=sleep)
    await check_books(database, server)
    assert waited[0] < 0.5
    assert sum(waited) > 30 * MAX_ACTION_WAIT_S / 2
    assert (await event_kinds(database)).count("move_refused") == 1


@pytest.mark.parametrize("clock", [Clock(300, 0), None])
async def test_moves_that_are_refused_for_long_are_urgent_only_with_a_clock(
    database: Database, clock: Clock | None
) -> None:
    server = FakeServer(pick=picker(1))
    server.clock = clock
    server.faults["move"] = [RefusedError("Not your turn", 400)] * 200

    waited: list[float] = []
    now = 0.0

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        waited.append(seconds)
        await no_sleep(seconds)

    async with services(server, database, sleep=sleep) as given, asyncio.timeout(PATIENCE_S):
        await GameRunner(GAME_ID, replace(given, clock=lambda: now)).run()
    assert (max(waited) > MAX_ACTION_WAIT_S) == (clock is None)


async def test_a_move_is_refused_until_time_is_up(database: Database) -> None:
    server = FakeServer()
    server.faults["move"] = [RefusedError("Not your turn", 400)] * 10_000
    async with playing(server, database):
        await server.until(lambda: moves_sent(server) == 2 * MIN_REFUSALS_TO_WARN)
        server.finish(EndReason.TIME, 1)
    game = await stored_game(database)
    assert (game.state, game.result) == (GameStatus.FINISHED, GameResult.LOSS)
    assert (await stored_decisions(database))[-1].state is DecisionState.DROPPED


async def test_a_refused_move_of_a_game_that_cannot_be_read(database: Database) -> None:
    server = FakeServer()
    server.faults["move"] = [RefusedError("Not your turn", 400)] * 8
    async with playing(server, database):
        await server.until(lambda: "stream" in server.calls)
        server.faults["stream"] = [TransientError("HTTP 502")] * 5
        await server.until(lambda: bool(server.moves))
        server.pick = picker(1)
        server.reply()
    await check_books(database, server)


async def test_a_lost_link_is_opened_again(database: Database) -> None:
    server = FakeServer()
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.cut()
        await server.until(lambda: server.calls.count("stream") == 2)
        server.pick = picker(1)
        server.reply()
    await check_books(database, server)
    kinds = await event_kinds(database)
    assert kinds == ["game_link_lost", "game_link_back"]


async def test_the_same_moves_again_start_nothing(database: Database) -> None:
    server = FakeServer()
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.offer_draw()
        server.push(server.state)
        await server.until(lambda: "draw False" in server.calls)
        server.ask_takeback()
        await server.until(lambda: "takeback False" in server.calls)
        server.pick = picker(1)
        server.reply()
    await check_books(database, server)
    assert server.calls.count("draw False") == 1
    assert server.calls.count("takeback False") == 1


async def test_a_takeback_that_the_server_forces(database: Database) -> None:
    server = FakeServer()
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        first = server.moves[1]
        await judged(database, ply=0)
        server.take_back(2)  # their move, and our answer to it
        server.pick = picker(5)
        server.reply()
    await check_books(database, server, taken_back={1: first})


async def test_a_move_on_its_way_belongs_to_its_turn_though_the_position_comes_again(
    database: Database,
) -> None:
    """The answer to a move is lost after the server has taken the opponent's move back and shown it again."""
    server, is_again, answer = FakeServer(our_side=1), asyncio.Event(), asyncio.Event()
    play_move = server.move

    async def move(*_: Any, **__: Any) -> None:
        server.move = play_move  # type: ignore[method-assign]
        await server._called("move", "hangs")
        await answer.wait()
        raise TransientError("no answer")

    async with services(server, database) as given, asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        pool = HeldPool(lambda rank: rank is JobRank.LIVE and is_again.is_set())
        runner = GameRunner(GAME_ID, pool.held(given))
        running = tasks.create_task(runner.run())
        server.reply("a1")
        await server.until(lambda: len(server.moves) == 2)
        server.move = move  # type: ignore[method-assign]
        server.reply()
        await server.until(lambda: moves_sent(server) == 2)
        is_again.set()
        again = server.moves[2]
        server.take_back(1)
        while len(runner.session.moves or ()) != 2:  # noqa: ASYNC110
            await asyncio.sleep(0)
        server.reply(again)
        await pool.waiting.wait()
        answer.set()
        for _ in range(200):
            await asyncio.sleep(0)
        assert moves_sent(server) == 2
        server.pick = picker(1)
        pool.release.set()
        await running
    assert "undecided_move" not in await event_kinds(database)


async def test_a_takeback_waits_until_a_move_on_its_way_has_arrived(database: Database) -> None:
    """Otherwise the move could arrive after the opponent's next one, in a position it was not decided for."""
    server, answer = FakeServer(our_side=1), asyncio.Event()
    server.rated = False  # so that we grant takebacks
    play_move = server.move

    async def move(*sent: Any, **more: Any) -> None:
        server.move = play_move  # type: ignore[method-assign]
        await server._called("move", "is on its way")
        await answer.wait()
        await play_move(*sent, **more)

    server.move = move  # type: ignore[method-assign]
    async with playing(server, database):
        server.reply("a1")
        await server.until(lambda: moves_sent(server) == 1)
        server.ask_takeback()
        while "takeback_granted" not in await event_kinds(database):  # noqa: ASYNC110
            await asyncio.sleep(0)
        for _ in range(200):
            await asyncio.sleep(0)
        assert "takeback True" not in server.calls
        answer.set()
        await server.until(lambda: len(server.moves) == 2 or "takeback True" in server.calls)
        assert "takeback True" not in server.calls
        server.takeback_offer = False  # a move answers it
        server.pick = picker(1)
        server.reply()
    assert "undecided_move" not in await event_kinds(database)


async def test_a_takeback_while_away(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    await leave(server, database, moves=2)
    outcome = (await stored_decisions(database))[0].outcome
    first = {} if outcome is None or outcome.reply is None else {1: outcome.reply}
    server.moves = server.moves[:1]
    server.pick = picker(9)
    server.reply()
    await play(server, database)
    await check_books(database, server, taken_back=first)


async def test_a_game_that_ends_while_away(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    await leave(server, database, moves=2)
    server.finish(EndReason.RESIGNATION, winner=0)
    async with database.read() as session:
        assert len(await list_open_games(session, ARENA)) == 1
    await play(server, database)
    await check_books(database, server)
    async with database.read() as session:
        assert await list_open_games(session, ARENA) == []


async def test_a_finished_game_is_left_alone(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    await play(server, database)
    before = await stored_game(database)
    said = list(server.said)
    await play(server, database)
    assert await stored_game(database) == before
    assert server.said == said


async def test_the_end_comes_before_our_move(database: Database) -> None:
    """A decision that is written down, and whose move the server never takes, is dropped."""
    server = FakeServer(pick=picker(1))
    server.faults["move"] = [TransientError("HTTP 502")] * 1000
    async with playing(server, database):
        await server.until(lambda: moves_sent(server) > 2)
        server.finish(EndReason.ABORTED)
    await check_books(database, server)
    (dropped,) = await stored_decisions(database)
    assert (dropped.state, dropped.outcome) == (DecisionState.DROPPED, None)
    assert server.said == ["Hello Anna"], "an aborted game needs no farewell"


async def test_a_draw_told_in_two_states(database: Database) -> None:
    server = FakeServer()
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.push(server.state)
        server.finish(EndReason.AGREEMENT)
        server.push(server.state)
    await check_books(database, server)
    (unanswered,) = await stored_decisions(database)
    assert unanswered.outcome is not None
    assert unanswered.outcome.kind is OutcomeKind.UNANSWERED


async def test_a_word_for_the_end_that_nobody_knows(database: Database) -> None:
    server = FakeServer()
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.finish(EndReason.OTHER)
    game = await stored_game(database)
    assert (game.state, game.result, game.end_reason) == (GameStatus.FINISHED, None, "other")


async def test_the_server_has_forgotten_the_game(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    await leave(server, database, moves=2)
    server.exists = False
    await play(server, database)
    game = await stored_game(database)
    assert (game.state, game.result) == (GameStatus.FINISHED, None)
    assert "game_unknown" in await event_kinds(database)
    for stored in await stored_decisions(database):
        assert (stored.outcome is None) == (stored.state is DecisionState.DROPPED)


async def test_a_forgotten_game_that_had_not_begun_counts_as_aborted(database: Database) -> None:
    server = FakeServer()
    await leave(server, database, moves=1)
    server.exists = False
    await play(server, database)
    game = await stored_game(database)
    assert (game.state, game.result) == (GameStatus.ABORTED, None)


async def test_a_game_that_the_server_does_not_find_for_a_moment(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    server.faults["stream"] = [RefusedError("no such game", 404)] * MAX_NOT_FOUND_RETRIES
    await play(server, database)
    assert "playing" not in server.calls
    assert "game_unknown" not in await event_kinds(database)
    await check_books(database, server)


async def test_a_game_that_is_listed_is_not_given_up(database: Database) -> None:
    """Nor one of which the server does not say."""
    server = FakeServer(pick=picker(1))
    server.now_playing = [GAME_ID]
    server.faults["stream"] = [RefusedError("no such game", 404)] * 20
    unclear = [TransientError("HTTP 502"), ProtocolError("not JSON"), RefusedError("no such list", 404)]
    server.faults["playing"] = [*unclear]
    await play(server, database)
    assert not server.faults["playing"]
    assert "game_unknown" not in await event_kinds(database)
    await check_books(database, server)


async def test_a_stream_that_is_refused_for_another_reason_is_asked_for_longer(database: Database) -> None:
    """The game is over and no longer listed; its stream still shows the end."""
    server = FakeServer(pick=picker(1))
    server.faults["stream"] = [RefusedError("out of order", 400)] * MAX_REFUSAL_RETRIES
    await play(server, database)
    assert "playing" not in server.calls
    await check_books(database, server)


async def test_a_state_that_a_newer_one_has_overtaken(database: Database) -> None:
    """It is no takeback, and our move is still due."""
    server = FakeServer(our_side=1)
    async with playing(server, database):
        await server.until(lambda: "stream" in server.calls)
        older = server.state
        server.pick = picker(1)
        server.moves = ("b2",)
        server.push(server.state)
        server.push(older)
    assert server.calls.count("stream") == 2
    await check_books(database, server)


async def test_an_outdated_snapshot_takes_nothing_back(database: Database) -> None:
    """As when a stream that was opened earlier hangs, and delivers its first message at last."""
    server = FakeServer()
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        old = server.snapshot
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        server.push(old)
        await server.until(lambda: server.calls.count("stream") == 2)
        server.pick = picker(1)
        server.reply()
    assert moves_sent(server) == (len(server.moves) + 1) // 2
    await check_books(database, server)


async def test_a_decision_counts_again_if_its_move_was_not_taken_back(database: Database) -> None:
    """After a restart the first state is an old one."""
    server = FakeServer(pick=picker(1))
    await leave(server, database, moves=2)
    moves, server.moves, server.pick = server.moves, server.moves[:1], None
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
        pool = HeldPool(lambda rank: rank is JobRank.LIVE)
        running = tasks.create_task(GameRunner(GAME_ID, pool.held(given)).run())
        while (await stored_game(database)).moves != server.moves:  # noqa: ASYNC110
            await asyncio.sleep(0)
        server.moves, server.pick = moves, picker(1)
        server.push(server.state)
        pool.release.set()
        await running
    await check_books(database, server, {1: moves[1]})
    assert "undecided_move" not in await event_kinds(database)


async def test_a_move_taken_back_at_will_and_played_again(database: Database) -> None:
    """As at PyChess, whose only stream shows nothing until the opponent's next move."""
    server = FakeServer()
    server.cannot = {Capability.TAKEBACK_REQUESTS}
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        again, server.moves = server.moves[1], server.moves[:1]
        server.reply(again)
        await server.until(lambda: len(server.moves) == 3)
        server.pick = picker(1)
        server.reply()
    assert server.calls.count("stream") == 1
    await check_books(database, server)


async def test_a_stream_behind_what_was_read_takes_nothing_back(database: Database) -> None:
    server = FakeServer()
    server.cannot = {Capability.TAKEBACK_REQUESTS}
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S):
        player = GameRunner(GAME_ID, given)
        running = asyncio.create_task(player.run())
        await server.until(lambda: len(server.moves) == 1)
        old = server.state
        server.reply()
        while len(player.session.moves or ()) < 3:  # noqa: ASYNC110 - the player tells nobody
            await asyncio.sleep(0)
        await player._handle(server.snapshot, is_read=True)
        server.push(old)
        await server.until(lambda: server.calls.count("stream") == 2)
        server.pick = picker(1)
        server.reply()
        await running
    async with database.read() as session:
        assert set(await session.scalars(select(DecisionRow.takeback))) == {0}
    await check_books(database, server)


@pytest.mark.parametrize(
    ("status", "state"),
    [(UNRECORDED, GameStatus.ABORTED), ("gameEnd", GameStatus.FINISHED)],
)
async def test_a_game_too_short_for_the_site_is_aborted(
    database: Database, status: str, state: GameStatus
) -> None:
    server = FakeServer()
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.end = GameEnd(EndReason.UNKNOWN, None, status)
        server.push(server.state)
    game = await stored_game(database)
    assert (game.state, game.result, game.moves) == (state, None, server.moves)


async def test_a_game_whose_books_were_closed_too_early_goes_on(database: Database) -> None:
    """What was concluded from the end that was none does not stand in the way: a move without a reply, and
    a decision whose move was not taken."""
    server = FakeServer(pick=picker(1))
    server.faults["move"] = [TransientError("HTTP 502")] * 1000
    await leave(server, database, moves=2)
    server.faults["move"] = []
    server.exists = False
    await play(server, database)
    (early,) = await stored_decisions(database)
    assert early.state is DecisionState.DROPPED
    server.exists = True
    server.pick = None
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.exists = False
        server.cut()
    (early,) = await stored_decisions(database)
    assert early.outcome is not None
    assert early.outcome.kind is OutcomeKind.UNANSWERED
    server.exists = True
    server.pick = picker(1)
    server.reply()
    await play(server, database)
    await check_books(database, server)


async def test_a_game_that_nobody_knows(database: Database) -> None:
    server = FakeServer()
    server.exists = False
    with pytest.raises(RefusedError, match="no such game"):
        await play(server, database)


async def test_impossible_moves_end_it(database: Database) -> None:
    server = FakeServer()
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S):
        running = asyncio.create_task(GameRunner(GAME_ID, given).run())
        await server.until(lambda: len(server.moves) == 1)
        server.push(replace(server.state, moves=(server.moves[0], "z9")))
        with pytest.raises(ProtocolError, match="impossible game") as caught:
            await running
    assert caught.value.raw == (server.moves[0], "z9")


async def test_a_refused_account_ends_it(database: Database) -> None:
    server = FakeServer()
    server.faults["move"] = [AuthError("HTTP 401")]
    with pytest.raises(AuthError):
        await play(server, database)


async def test_chat_may_fail(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    server.faults["chat"] = [TransientError("HTTP 502"), AuthError("HTTP 403")]
    await play(server, database)
    await check_books(database, server)
    assert server.said == []


async def test_silence_on_request(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    await play(server, database, settings=config(chat=ChatConfig(enabled=False)))
    assert server.said == []


async def test_victory_is_claimed_from_who_left(database: Database) -> None:
    waited: list[float] = []
    gone = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await gone.wait()

    server = FakeServer()
    async with playing(server, database, sleep=sleep):
        await server.until(lambda: len(server.moves) == 1)
        server.go_away(10)
        server.come_back()
        server.go_away(20)
        gone.set()
    await check_books(database, server)
    assert server.calls.count("claim") == 1
    assert (await stored_game(database)).result is GameResult.WIN


async def test_a_decision_for_another_position_is_put_aside(database: Database) -> None:
    """For instance when the books are from a copy of the database."""
    first, other = FakeServer(pick=picker(1)), FakeServer(pick=picker(2))
    await leave(first, database, moves=1)
    decision = (await stored_decisions(database))[0].decision
    game = await stored_game(database)
    async with database.write() as session:
        await commit_decision(session, game.id, 2, decision)
    other.moves = first.moves
    await play(other, database)
    await check_books(database, other)


async def test_a_move_that_was_not_decided_here(database: Database) -> None:
    server = FakeServer(moves=("b2", "a1", "c1", "a3"), pick=picker(1))
    await play(server, database)
    assert (await event_kinds(database)).count("undecided_move") == 2
    game = await stored_game(database)
    assert game.moves == server.moves
    assert {d.ply for d in await stored_decisions(database)} == set(range(4, len(server.moves), 2))


async def test_a_profile_of_another_engine(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    def contradict(*_: object) -> None:
        raise EngineMismatch("0")

    monkeypatch.setattr("bot.game.game_runner.complete", contradict)
    server = FakeServer("othello", pick=picker(1))
    await play(server, database)
    game = await stored_game(database)
    assert game.state is GameStatus.FINISHED
    kinds = await event_kinds(database)
    assert "profile_impossible" in kinds
    assert "decision_unjudged" not in kinds


async def test_a_profile_that_takes_for_ever_is_given_up(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("bot.game.game_runner.MAX_COMPLETION_S", 0.0)
    server = FakeServer("othello", pick=picker(1))
    await play(server, database)
    assert (await stored_game(database)).state is GameStatus.FINISHED
    incomplete = [each.ply for each in await stored_decisions(database) if not each.is_complete]
    async with database.read() as session:
        events = await list_events(session, kind="profile_impossible")
    assert sorted(event.detail["ply"] for event in events) == incomplete != []
    assert {event.detail["reason"] for event in events} == {"it took more than 0 s"}
    assert all(record.exc_info is None for record in caplog.records)


async def test_a_crash_while_a_profile_is_completed_costs_no_move(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the error says: only a typed one tells of another engine version."""

    def crash(*_: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr("engine.completion.whole_profile", crash)
    server = FakeServer("othello", pick=picker(1))
    await play(server, database)
    assert (await stored_game(database)).state is GameStatus.FINISHED
    decisions = await stored_decisions(database)
    incomplete = [d.ply for d in decisions if not d.is_complete]
    assert incomplete
    assert {d.ply for d in decisions if d.outcome is None} <= set(incomplete)
    assert all(d.state is DecisionState.CONFIRMED for d in decisions)
    async with database.read() as session:
        events = await list_events(session, kind="decision_unjudged")
    assert sorted(event.detail["ply"] for event in events) == incomplete
    assert {event.detail["error"] for event in events} == {"ValueError: a bug"}
    assert "profile_impossible" not in await event_kinds(database)
    assert sum(record.exc_info is not None for record in caplog.records) == len(incomplete)

    monkeypatch.undo()
    await recheck(database)
    await check_books(database, server)


async def test_a_crash_while_a_reply_is_judged_costs_no_move(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr("bot.game.ledger.classify_by_figure_9", crash)
    server = FakeServer(pick=picker(1))
    await play(server, database)
    game = await stored_game(database)
    assert (game.state, game.moves) == (GameStatus.FINISHED, server.moves)
    decisions = await stored_decisions(database)
    assert not any(d.outcome for d in decisions)
    async with database.read() as session:
        events = await list_events(session, kind="decision_unjudged")
    assert sorted(event.detail["ply"] for event in events) == [d.ply for d in decisions]

    monkeypatch.undo()
    await recheck(database)
    await check_books(database, server)


async def test_thinking_stops_when_the_game_ends(database: Database) -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    class SlowPool:
        async def run(self, *_: object, **__: object) -> None:
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

    server = FakeServer()
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S):
        slow: Any = SlowPool()
        running = asyncio.create_task(GameRunner(GAME_ID, replace(given, pool=slow)).run())
        await started.wait()
        server.finish(EndReason.RESIGNATION, winner=0)
        await running
    assert stopped.is_set()
    assert await stored_decisions(database) == []
    assert (await stored_game(database)).result is GameResult.WIN


async def test_a_game_ends_when_it_ends_however_long_its_analysis_takes(database: Database) -> None:
    server = FakeServer("othello")
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S):
        pool = HeldPool()
        running = asyncio.create_task(GameRunner(GAME_ID, pool.held(given)).run())
        await server.until(lambda: len(server.moves) == 1)
        server.finish(EndReason.RESIGNATION, winner=0)
        over = await finished(database)
        over_at = datetime.now(UTC)
        assert (over.state, over.result, over.end_reason) == (
            GameStatus.FINISHED,
            GameResult.WIN,
            "resignation",
        )
        assert (over.moves, over.is_settled) == (server.moves, False)
        assert len(server.said) == 1  # the farewell counts what is judged
        pool.release.set()
        await running
    assert over.ended_at is not None
    assert over.ended_at <= over_at
    assert await stored_game(database) == replace(over, is_settled=True)
    assert len(server.said) == 2
    await check_books(database, server)


async def left_unsettled(
    server: FakeServer, database: Database, reason: EndReason, winner: int | None = None
) -> StoredGame:
    """A game that ended after our first move; the program was killed before it had judged the move."""
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S):
        pool = HeldPool()
        running = asyncio.create_task(GameRunner(GAME_ID, pool.held(given)).run())
        await server.until(lambda: len(server.moves) == 1)
        server.finish(reason, winner)
        over = await finished(database)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    assert not over.is_settled
    return over


@pytest.mark.parametrize(
    ("reason", "winner", "said"),
    [
        (EndReason.RESIGNATION, 0, "won"),
        (EndReason.TIME, 1, "lost"),
        (EndReason.AGREEMENT, None, "drawn"),
        (EndReason.OTHER, None, "over"),
        (EndReason.ABORTED, None, ""),
    ],
)
async def test_a_finished_game_is_judged_after_a_kill_without_the_server(
    database: Database, reason: EndReason, winner: int | None, said: str
) -> None:
    server = FakeServer("othello")
    over = await left_unsettled(server, database, reason, winner)
    server.exists = False  # nothing more can be learnt
    calls = len(server.calls)
    player = await play(server, database)
    assert await stored_game(database) == replace(over, is_settled=True)
    assert [call.split()[0] for call in server.calls[calls:]] == ["chat"] * bool(said)
    assert player.is_over
    assert not player.was_running
    (stored,) = await stored_decisions(database)
    assert stored.is_complete
    assert stored.outcome is not None
    assert stored.id in await stored_forecasts(database)
    await play(server, database)
    assert len(server.said) == 1 + bool(said)
    assert not said or server.said[-1].startswith(f"{said}: ")


async def test_games_that_ended_before_the_start_are_settled_one_at_a_time(database: Database) -> None:
    server = FakeServer("othello")
    await left_unsettled(server, database, EndReason.RESIGNATION, 0)
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S):
        pool, told = HeldPool(lambda _: True), asyncio.Event()
        runner = GameRunner(GAME_ID, pool.held(given), on_change=told.set)
        async with given.settling:  # as while another game is settled
            running = asyncio.create_task(runner.run())
            await told.wait()
            assert runner.is_over
            for _ in range(200):
                await asyncio.sleep(0)
            assert not pool.waiting.is_set()
        await pool.waiting.wait()
        assert given.settling.locked()
        pool.release.set()
        await running
        assert not given.settling.locked()
    assert (await stored_game(database)).is_settled


async def test_a_game_whose_end_nobody_told_is_asked_for_after_a_kill(database: Database) -> None:
    """The server may have had trouble; the game goes on after all."""
    server = FakeServer(pick=None)
    server.explains = False
    await left_unsettled(server, database, EndReason.NORMAL)
    server.end = None
    server.pick = picker(1)
    server.reply()
    await play(server, database)
    server.explains = True
    await check_books(database, server)
    assert (await stored_game(database)).is_settled


@pytest.mark.parametrize("reveal", [False, True])
async def test_a_game_that_is_drawn_blind_belongs_to_the_open_trial(database: Database, reveal: bool) -> None:
    arms = ("standard", "trappy")
    async with database.write() as session:
        trial = await start_trial(
            session, NewTrial(name="t1", arms=arms, configurations={arm: {} for arm in arms})
        )
    server = FakeServer("othello", pick=picker(1))
    settings = config(assignment=BALANCED, trial=TrialConfig(reveal=reveal, hold_s=0, report_delay_s=0))
    await play(server, database, settings=settings)
    game = await stored_game(database)
    assert game.trial_id == (None if reveal else trial.id)
    assert game.drawn_from == arms
    assert (game.selection["blind"], game.selection["coin_probability"]) == (
        not reveal,
        BIASED_COIN_PROBABILITY if reveal else BLIND_COIN_PROBABILITY,
    )
    assert "seed" not in game.selection
    assert drawn_strategy(game.selection["chances"], int(game.selection["number"], 16)) == game.strategy
    # Everybody at the site may see what is told with a move.
    assert {info.score_centi is None for info in server.thoughts} == {not reveal}
    assert all(info.time_s > 0 for info in server.thoughts)


class HeldTime:
    """A sleep that ends when the test says so."""

    def __init__(self) -> None:
        self.asked_s: list[float] = []
        self.passed = asyncio.Event()
        self._asked = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.asked_s.append(seconds)
        self._asked.set()
        await self.passed.wait()

    async def is_asked(self) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self._asked.wait()


@asynccontextmanager
async def in_a_trial(
    server: FakeServer, database: Database, **trial: Any
) -> AsyncIterator[tuple[HeldTime, "asyncio.Task[None]"]]:
    """A game of an open trial, which is dropped at the end."""
    arms = ("standard", "trappy")
    async with database.write() as session:
        if not await list_trials(session):
            await start_trial(session, NewTrial(name="t1", arms=arms, configurations={a: {} for a in arms}))
    settings = config(assignment=BALANCED, trial=TrialConfig(**trial))
    held = HeldTime()
    async with services(server, database, settings=settings) as given:
        running = asyncio.create_task(GameRunner(GAME_ID, replace(given, sleep=held.sleep)).run())
        try:
            yield held, running
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def test_a_move_of_a_trial_is_stored_held_and_sent_after_a_kill(database: Database) -> None:
    server = FakeServer("othello", pick=None)
    async with in_a_trial(server, database, report_delay_s=0) as (held, _):
        await held.is_asked()
        [before] = await stored_decisions(database)
        assert moves_sent(server) == 0
    async with in_a_trial(server, database, report_delay_s=0) as (held, _):
        await held.is_asked()
        assert moves_sent(server) == 0
        held.passed.set()
        await server.until(lambda: moves_sent(server) == 1)
    [after] = await stored_decisions(database)
    assert (after.id, after.decision) == (before.id, before.decision)
    assert server.moves == (before.decision.move,)


async def test_a_game_that_ends_while_a_move_is_held_waits_for_nothing(database: Database) -> None:
    server = FakeServer("othello", pick=None)
    async with in_a_trial(server, database, report_delay_s=0) as (held, running):
        await held.is_asked()
        server.finish(EndReason.RESIGNATION, 0)
        async with asyncio.timeout(PATIENCE_S):
            await running
        assert len(held.asked_s) == 1
    assert moves_sent(server) == 0
    assert (await stored_game(database)).is_settled


async def test_the_farewell_and_the_report_of_a_trial_come_at_a_fixed_time(database: Database) -> None:
    server = FakeServer("othello", pick=None)
    async with in_a_trial(server, database, hold_s=0, report_delay_s=20) as (held, _):
        await server.until(lambda: moves_sent(server) == 1)
        server.finish(EndReason.RESIGNATION, 0)
        await held.is_asked()
        over, said = await stored_game(database), len(server.said)
        assert 0 < held.asked_s[0] <= 20
        assert not over.is_settled  # killed meanwhile
    assert over.ended_at is not None
    async with database.write() as session:
        await session.execute(update(GameRow).values(ended_at=over.ended_at - timedelta(seconds=50)))
    async with in_a_trial(server, database, hold_s=0, report_delay_s=20) as (held, running):
        await held.is_asked()
        assert 0 < held.asked_s[0] <= 10
        assert (len(server.said), (await stored_game(database)).is_settled) == (said, False)
        held.passed.set()
        async with asyncio.timeout(PATIENCE_S):
            await running
    assert (len(server.said), (await stored_game(database)).is_settled) == (said + 1, True)
    async with database.read() as session:
        [event] = await list_events(session, kind=REPORT_LATE)
    assert 50 <= event.detail["after_s"] < 60  # the sleep took no time


async def test_the_number_of_a_draw_follows_from_nothing_unless_there_is_a_seed(database: Database) -> None:
    async with services(FakeServer(), database, settings=config(assignment=BALANCED)) as given:
        again = replace(given, rng=random.Random(1))
        numbers = [given.draw_number(), again.draw_number(), given.draw_number()]
        assert len(set(numbers)) == 3
        assert given.rng.getstate() == random.Random(1).getstate()
        seeded = replace(
            given, config=config(assignment=BALANCED.model_copy(update={"seed": 3})), rng=random.Random(3)
        )
        assert seeded.draw_number() == random.Random(3).getrandbits(DRAW_BITS)
    server = FakeServer(pick=picker(1))
    await play(server, database, settings=config(assignment=BALANCED.model_copy(update={"seed": 3})))
    assert (await stored_game(database)).selection["seed"] == 3


DRAW = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="randomised")
DEEP = EngineConfig(max_depth=6, workers=1, table_mb=1, ponder=False)


def drawing_server(**more: Any) -> FakeServer:
    """A game from a position in which a draw decides our first move."""
    known: dict[str, Any] = {"pick": picker(3)}
    server = FakeServer("othello", our_side=1, initial_position=DRAWN_AT, **(known | more))
    server.variant = "s8r38"  # the site drew the position
    return server


async def first_of(database: Database) -> Decision:
    return (await stored_decisions(database))[0].decision


async def test_a_whole_game_with_randomised_decisions(database: Database) -> None:
    plan = NewTrial(
        name="m1", arms=("randomised",), configurations={"randomised": {}}, endpoint=Endpoint.COST
    )
    async with database.write() as session:
        trial = await start_trial(session, plan)
    server = drawing_server()
    await play(
        server,
        database,
        settings=config(assignment=DRAW, engine=DEEP, trial=TrialConfig(hold_s=0, report_delay_s=0)),
    )
    await check_books(database, server)
    game, decision = await stored_game(database), await first_of(database)
    assert (game.trial_id, game.selection["blind"], "seed" in game.selection) == (trial.id, True, False)
    assert game.selection["randomised"] == {
        "chance": 0.5,
        "budget_percent": 2.0,
        "most_profiles": 6,
        "by_pair": False,  # a trial keeps the rule of its plan
    }
    assert decision.trial_draw is not None
    assert decision.move in ("f7", "d3")
    forecasts = await stored_forecasts(database)
    for stored in await stored_decisions(database):
        other = forecasts[stored.id].record.get("other")
        assert (other is None) is (stored.decision.trial_draw is None)
    assert {info.score_centi for info in server.thoughts} == {None}
    async with database.read() as session:
        rows, _ = await trial_decisions(session, trial)
    assert rows[0].cost is None  # until the judge has seen the reply
    assert rows[0].treated is (decision.move == "f7")


async def test_nothing_is_drawn_against_a_program(database: Database) -> None:
    server = drawing_server()
    server.opponent = replace(server.opponent, is_bot=True)
    await play(server, database, settings=config(assignment=DRAW, engine=DEEP))
    assert all(stored.decision.trial_draw is None for stored in await stored_decisions(database))
    assert (await first_of(database)).move == "f7"


async def test_the_settings_of_the_draw(database: Database) -> None:
    settings = config(
        assignment=DRAW, engine=DEEP, randomised=RandomisedConfig(probability=0.3, budget_percent=1.57)
    )
    await play(drawing_server(), database, settings=settings)
    draw = (await first_of(database)).trial_draw
    assert draw is not None
    assert (draw.params.chance, draw.params.budget_percent) == (0.3, 1.57)


@pytest.mark.parametrize(
    ("recorded", "drawn_with"),
    [
        (
            {"chance": 0.3, "budget_percent": 1.57, "most_profiles": 5, "by_pair": True},
            (0.3, 1.57, 5, True),
        ),
        ({"chance": 0.3, "budget_percent": 1.57}, (0.3, 1.57, 6, False)),
        # Of another version, damaged, or from before they were recorded: there is nothing to go on with.
        ({"chance": 0.3, "other": 1}, (0.7, 1.6, 4, True)),
        ({"chance": 3}, (0.7, 1.6, 4, True)),
        ("?", (0.7, 1.6, 4, True)),
        (None, (0.7, 1.6, 4, True)),
    ],
)
async def test_a_game_draws_with_the_settings_of_its_beginning(
    database: Database, recorded: object, drawn_with: tuple[float, float, int, bool]
) -> None:
    """Whatever they are when the program is started again."""
    server = drawing_server()
    settings = config(
        assignment=DRAW,
        engine=DEEP,
        randomised=RandomisedConfig(probability=0.3, budget_percent=1.57, max_profiles=5),
    )
    async with services(server, database, settings=settings) as given, asyncio.timeout(PATIENCE_S):
        pool = HeldPool(lambda _: True)
        running = asyncio.create_task(GameRunner(GAME_ID, pool.held(given)).run())
        await pool.waiting.wait()
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    game = await stored_game(database)
    assert game.selection["randomised"] == asdict(settings.randomised.params())
    selection = {**game.selection, "randomised": recorded}
    if recorded is None:
        del selection["randomised"]
    async with database.write() as session:
        await session.execute(update(GameRow).values(selection=selection))
    changed = RandomisedConfig(probability=0.7, budget_percent=1.6, max_profiles=4)
    await play(server, database, settings=config(assignment=DRAW, engine=DEEP, randomised=changed))
    draw = (await first_of(database)).trial_draw
    assert draw is not None
    assert astuple(draw.params) == drawn_with
    if recorded in (asdict(settings.randomised.params()), None):
        assert (await recheck(database)).wrong == []


async def test_seeds_of_draws(database: Database) -> None:
    """By the cryptographic generator; with a seed in the settings they follow from game and position."""
    game = replace(NEW_GAME, strategy="randomised")
    async with services(FakeServer(), database, settings=config(assignment=DRAW)) as given:
        seeds = {given.decision_seed(game, DRAWN_AT) for _ in range(3)}
        assert len(seeds) == 3
        assert given.decision_seed(replace(game, opponent_is_bot=True), DRAWN_AT) is None
        assert given.decision_seed(replace(game, strategy="trappy"), DRAWN_AT) is None
        seeded = DRAW.model_copy(update={"seed": 7})
        again = replace(given, config=config(assignment=seeded), rng=random.Random(9))
        known = again.decision_seed(game, DRAWN_AT)
        assert known == again.decision_seed(game, DRAWN_AT)
        assert known is not None
        assert 0 <= known < 1 << 64
        assert known != again.decision_seed(game, "another position")
        assert known != again.decision_seed(replace(game, site_game_id="another"), DRAWN_AT)
    server = drawing_server()
    await play(server, database, settings=config(assignment=seeded, engine=DEEP))
    stored = await stored_game(database)
    assert stored.selection["seed"] == 7
    assert (await first_of(database)).trial_draw is not None


async def test_what_was_drawn_is_sent_after_a_kill(database: Database) -> None:
    """Killed between record and move: the record's move is sent, whatever another lot would say."""
    settings = config(assignment=DRAW, engine=DEEP)
    server = drawing_server()
    server.faults["move"] = [TransientError("no answer")] * 1000
    await live_until(lambda: "move" in " ".join(server.calls), server, database, settings=settings)
    before = await first_of(database)
    assert before.trial_draw is not None
    assert not server.moves
    server.faults["move"] = []
    await play(server, database, settings=settings)
    assert await first_of(database) == before
    assert server.moves[0] == before.move


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_takeback_brings_no_other_draw(database: Database, restarts: bool) -> None:
    async with database.write() as session:
        trial = await start_trial(
            session,
            NewTrial(
                name="m1", arms=("randomised",), configurations={"randomised": {}}, endpoint=Endpoint.COST
            ),
        )
    settings = config(assignment=DRAW, engine=DEEP, trial=TrialConfig(hold_s=0, report_delay_s=0))
    server = drawing_server(pick=None)
    if restarts:
        await live_until(lambda: moves_sent(server) == 1, server, database, settings=settings)
        server.moves = ()
        game = await stored_game(database)
        async with database.write() as session:
            await mark_taken_back(session, game.id, 0)
    async with playing(server, database, settings=settings):
        if not restarts:
            await server.until(lambda: len(server.moves) == 1)
            server.take_back(1)
        await server.until(lambda: moves_sent(server) == 2)
        server.finish(EndReason.RESIGNATION, 1)
    async with database.read() as session:
        records = (await session.scalars(select(DecisionRow.record).order_by(DecisionRow.id))).all()
        rows, _ = await trial_decisions(session, trial)
    first, second = (record["trial_draw"]["seed"] for record in records)
    assert first == second
    assert [row.excluded for row in rows] == [Exclusion.NONE, Exclusion.REPEATED_DRAW]


async def test_a_forecast_of_both_moves_that_is_missing_is_made_later(database: Database) -> None:
    server = drawing_server()
    await play(server, database, settings=config(assignment=DRAW, engine=DEEP))
    known = {key: row.record for key, row in (await stored_forecasts(database)).items()}
    async with database.write() as session:
        await session.execute(delete(ForecastRow))
    assert (await recheck(database)).forecast == len(known)
    again = {key: row.record for key, row in (await stored_forecasts(database)).items()}
    assert sum("other" in record for record in known.values()) >= 1
    assert [key for key, record in again.items() if "other" in record] == [
        key for key, record in known.items() if "other" in record
    ]
