"""Draws, resigning, takebacks, games that do not begin and opponents who leave, against a server."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from bot.base.config import Config, MannersConfig
from bot.base.dialects import Capability
from bot.base.errors import RefusedError, TransientError
from bot.base.events import EndReason, GameEnd, GameEvent
from bot.game.game_runner import GameRunner
from bot.game.offer_policy import MIN_PLIES_BETWEEN_OFFERS
from bot.game.offers import MOST_DECLINES
from engine.decision import OutcomeKind
from engine.game import replay
from storage.database import Database
from storage.records import DecisionState, GameResult, GameStatus
from tests.bot.fakes import (
    BALANCED,
    GAME_ID,
    OPPONENT,
    FakeServer,
    HeldPool,
    config,
    no_sleep,
    picker,
    services,
)
from tests.bot.game.test_game_runner import leave, live_until, moves_sent, play, playing
from tests.bot.game.test_player_kill import late_othello
from tests.bot.ledger_samples import check_books, event_kinds, stored_decisions, stored_game
from tests.patience import PATIENCE_S


def mannered(**changes: Any) -> Config:
    return config(manners=MannersConfig(**({"abort_after_s": 0} | changes)))


ANY_DRAW = mannered(draw_score_centi=10_000, draw_moves=1, draw_ply=0)
"""A draw is right as soon as we have moved once."""


class Alarm:
    """A clock of which one wait lasts until the test ends it, and all others no time at all."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.set = asyncio.Event()
        self.rings = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if seconds == self.seconds:
            self.set.set()
            await self.rings.wait()
        await no_sleep(seconds)


# --- Draws ----------------------------------------------------------------------------------------------


async def test_a_draw_is_accepted(database: Database) -> None:
    server = FakeServer("chess")
    async with playing(server, database, settings=ANY_DRAW):
        await server.until(lambda: len(server.moves) == 1)
        server.offer_draw()
    assert server.calls.count("draw True") == 1
    assert (await stored_game(database)).result is GameResult.DRAW
    await check_books(database, server)


async def test_an_acceptance_that_gets_lost_is_said_again(database: Database) -> None:
    server = FakeServer("chess")
    server.faults["draw"] = [TransientError("HTTP 502"), TransientError("HTTP 502")]
    async with playing(server, database, settings=ANY_DRAW):
        await server.until(lambda: len(server.moves) == 1)
        server.offer_draw()
    assert server.calls.count("draw True") == 3
    await check_books(database, server)


async def test_a_draw_is_declined_once_although_the_offer_stays(database: Database) -> None:
    server = FakeServer("chess")
    async with playing(
        server, database, settings=mannered(draw_score_centi=10_000, draw_moves=2, draw_ply=0)
    ):
        await server.until(lambda: len(server.moves) == 1)
        server.faults["draw"] = [RefusedError("too early", 400)]  # then nothing takes the offer away
        server.offer_draw()
        await server.until(lambda: "draw False" in server.calls)
        server.reply()
        # After our next decision a draw is right.
        await server.until(lambda: server.end is not None)
    assert [call for call in server.calls if call.startswith("draw")] == ["draw False", "draw True"]
    assert server.end == GameEnd(EndReason.AGREEMENT, None, "agreement")
    await check_books(database, server)


def offered_on_our_turn() -> FakeServer:
    """A game in which the opponent has offered a draw together with its move."""
    server = FakeServer("chess", moves=("e2e4", "e7e5"))
    server.draw_offer = True
    return server


async def test_a_draw_offered_on_our_turn_is_taken_instead_of_moving(database: Database) -> None:
    server = offered_on_our_turn()
    await play(server, database, settings=ANY_DRAW)  # which needs one score: that of this decision
    assert moves_sent(server) == 0
    assert server.end == GameEnd(EndReason.AGREEMENT, None, "agreement")
    (decided,) = await stored_decisions(database)
    assert decided.state is DecisionState.DROPPED


async def test_a_draw_offered_after_a_blunder_is_declined_by_moving(database: Database) -> None:
    """What counts is the score after the opponent's last move, not those before it."""
    server = FakeServer("chess", moves=("e2e4", "e7e5", "g1f3", "d8g5"))  # it gives its queen away
    server.draw_offer = True
    settings = mannered(draw_score_centi=200, draw_moves=1, draw_ply=0)
    async with playing(server, database, settings=settings):
        await server.until(lambda: len(server.moves) == 5)
        server.finish(EndReason.RESIGNATION, 0)
    assert not any(call.startswith("draw") or "offering" in call for call in server.calls)


@pytest.mark.parametrize("error", [TransientError("HTTP 502"), RefusedError("too late", 400)])
async def test_a_draw_on_our_turn_is_asked_for_once(database: Database, error: Exception) -> None:
    server = offered_on_our_turn()
    server.faults["draw"] = [error]
    async with playing(server, database, settings=ANY_DRAW):
        await server.until(lambda: len(server.moves) == 3)
        server.finish(EndReason.RESIGNATION, 0)
    assert [call.split()[0] for call in server.calls if call.split()[0] in ("draw", "move")] == [
        "draw",
        "move",
    ]
    assert not any("offering" in call for call in server.calls)


async def test_an_offer_that_is_gone_is_not_taken(database: Database) -> None:
    server = FakeServer("chess")
    server.faults["draw"] = [TransientError("HTTP 502")] * 1000
    async with playing(server, database, settings=ANY_DRAW):
        await server.until(lambda: len(server.moves) == 1)
        server.offer_draw()
        await server.until(lambda: server.calls.count("draw True") == 2)
        server.draw_offer = False
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        asked = server.calls.count("draw True")
        server.reply()
        await server.until(lambda: len(server.moves) == 5)
        assert server.calls.count("draw True") == asked
        server.finish(EndReason.RESIGNATION, 0)


async def test_a_draw_is_offered_now_and_then(database: Database) -> None:
    server = FakeServer("chess", pick=picker(3))
    async with playing(server, database, settings=ANY_DRAW):
        await server.until(lambda: moves_sent(server) > MIN_PLIES_BETWEEN_OFFERS or server.end is not None)
        if server.end is None:
            server.finish(EndReason.RESIGNATION, 0)
    sent = [call for call in server.calls if call.startswith("move")]
    offers = [number for number, call in enumerate(sent) if call.endswith("offering a draw")]
    assert offers[0] == 0
    assert len(offers) > 1
    between = {2 * (after - before) for before, after in pairwise(offers)}
    assert between == {MIN_PLIES_BETWEEN_OFFERS}


@pytest.mark.parametrize(("game", "cannot"), [("othello", set()), ("chess", {Capability.DRAW})])
async def test_no_draws_where_nobody_agrees_on_them(
    database: Database, game: str, cannot: set[Capability]
) -> None:
    server = FakeServer(game)
    server.cannot = cannot
    async with playing(server, database, settings=ANY_DRAW):
        await server.until(lambda: len(server.moves) == 1)
        server.offer_draw()
        if not cannot:
            await server.until(lambda: "draw False" in server.calls)
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        server.finish(EndReason.RESIGNATION, 0)
    assert "draw True" not in server.calls
    assert ("draw False" in server.calls) == (not cannot)
    assert not any("offering" in call for call in server.calls)


async def test_scores_from_before_a_restart_count(database: Database) -> None:
    settings = mannered(draw_score_centi=10_000, draw_moves=2, draw_ply=0)
    server = FakeServer("chess", pick=picker(1))
    await leave(server, database, moves=2)
    server.pick = None
    server.draw_offer = True
    await play(server, database, settings=settings)
    assert server.end == GameEnd(EndReason.AGREEMENT, None, "agreement")
    await check_books(database, server)


# --- Resigning ------------------------------------------------------------------------------------------

RESIGNS = mannered(resign=True, resign_score_centi=1, resign_moves=1)


def lost_game(kind: type[FakeServer] = FakeServer) -> FakeServer:
    """A game that the bot gives up after a move or more."""
    return kind("othello", initial_position=late_othello(8, 7), pick=picker(7))


async def test_a_lost_game_is_given_up(database: Database) -> None:
    server = lost_game()
    await play(server, database, settings=RESIGNS)
    assert server.end == GameEnd(EndReason.RESIGNATION, 1, "resignation")
    assert (await stored_game(database)).result is GameResult.LOSS
    decisions = await stored_decisions(database)
    assert [d.state for d in decisions][-1] is DecisionState.DROPPED
    assert decisions[-1].ply == len(server.moves)
    await check_books(database, server)


async def test_resigning_that_does_not_arrive_is_not_insisted_on(database: Database) -> None:
    server = lost_game()
    server.faults["resign"] = [TransientError("HTTP 502")]
    await play(server, database, settings=RESIGNS)
    assert server.calls[server.calls.index("resign") + 1].startswith("move ")
    await check_books(database, server)


async def test_a_server_that_ends_a_resigned_game_without_a_word(database: Database) -> None:
    server = lost_game()
    server.tells = False
    async with playing(server, database, settings=RESIGNS):
        await server.until(lambda: "resign" in server.calls)
        server.cut()  # or a sign of life comes
    await check_books(database, server)


@pytest.mark.parametrize("is_adjourned", [False, True])
async def test_the_server_knows_better_how_a_resigned_game_ended(
    database: Database, is_adjourned: bool
) -> None:
    """The opponent's time ran out in the same moment, or the game was adjourned."""
    answered = asyncio.Event()

    class Lingering(FakeServer):
        """Its connections take a while to be closed."""

        async def game_events(self, game_id: str) -> AsyncGenerator[GameEvent | None, None]:
            try:
                async for event in super().game_events(game_id):
                    yield event
            finally:
                await answered.wait()

    server = lost_game(Lingering)
    async with services(server, database, settings=RESIGNS) as given, asyncio.timeout(PATIENCE_S):
        player = GameRunner(GAME_ID, given)

        async def resign(game_id: str) -> None:  # noqa: ARG001
            if is_adjourned:
                server.adjourn()
            else:
                server.finish(EndReason.TIME, 0)
            while not player.is_over:  # noqa: ASYNC110
                await asyncio.sleep(0)
            answered.set()

        server.resign = resign  # type: ignore[method-assign]
        await player.run()
    game = await stored_game(database)
    if is_adjourned:
        assert game.state is GameStatus.OPEN
    else:
        assert (game.result, game.end_reason) == (GameResult.WIN, "time")


async def test_a_server_that_refuses_resigning_gets_the_move(database: Database) -> None:
    server = lost_game()
    server.faults["resign"] = [RefusedError("no such thing", 404)] * 100
    await play(server, database, settings=RESIGNS)
    assert server.end is not None
    assert server.end.reason is EndReason.NORMAL
    await check_books(database, server)


async def test_a_server_that_wants_quiet_gets_the_move_at_once(database: Database) -> None:
    """Moves are exempt, and our clock runs."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await no_sleep(seconds)

    server = lost_game()
    server.faults["resign"] = [TransientError("the server wants 58 s of quiet", 58.0)]
    async with playing(server, database, settings=RESIGNS, sleep=sleep):
        await server.until(lambda: moves_sent(server) == 1)
        assert 58.0 not in waited
        server.finish(EndReason.RESIGNATION, 0)


async def test_a_takeback_is_answered_after_the_quiet_that_the_server_wants(database: Database) -> None:
    server = casual()
    server.faults["takeback"] = [TransientError("the server wants 58 s of quiet", 58.0)]
    async with playing(server, database, settings=mannered(takebacks=1)):
        await server.until(lambda: len(server.moves) == 1)
        server.ask_takeback()
        await server.until(partial(says, server, "takeback True", 2))
        server.pick = picker(1)
        if not server.our_turn:
            server.reply()


# --- Takebacks ------------------------------------------------------------------------------------------


def casual(game: str = "tictactoe", **more: Any) -> FakeServer:
    server = FakeServer(game, **more)
    server.rated = False
    return server


def says(server: FakeServer, call: str, times: int) -> bool:
    return server.calls.count(call) == times


async def test_takebacks_are_granted_so_many_times(database: Database) -> None:
    server = casual()
    async with playing(server, database, settings=mannered(takebacks=2)):
        for granted in (1, 2):
            await server.until(lambda: len(server.moves) == 1)
            server.reply()
            await server.until(lambda: len(server.moves) == 3)
            server.ask_takeback()
            await server.until(partial(says, server, "takeback True", granted))
            assert len(server.moves) == 1
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        server.ask_takeback()
        await server.until(lambda: "takeback False" in server.calls)
        server.pick = picker(1)
        server.reply()
    assert server.calls.count("takeback True") == 2
    assert (await event_kinds(database)).count("takeback_granted") == 2


async def test_takebacks_before_a_restart_count(database: Database) -> None:
    server, settings = casual(), mannered(takebacks=1)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(
            live_until(lambda: "takeback True" in server.calls, server, database, settings=settings)
        )
        await server.until(lambda: len(server.moves) == 1)
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        server.ask_takeback()
    if len(server.moves) == 3:  # stopped between saying it and being heard
        server.take_back(2)
        server.takeback_offer = False
    async with playing(server, database, settings=settings):
        await server.until(lambda: server.calls.count("stream") == 2)
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        server.ask_takeback()
        await server.until(lambda: "takeback False" in server.calls)
        server.pick = picker(1)
        server.reply()
    assert server.calls.count("takeback True") == 1


@pytest.mark.parametrize("what", ["rated", "a program", "drawn at random", "not at this site"])
async def test_takebacks_that_are_not_granted(database: Database, what: str) -> None:
    server, settings = casual(), mannered(takebacks=5)
    match what:
        case "rated":
            server.rated = True
        case "a program":
            server.opponent = replace(OPPONENT, is_bot=True)
        case "drawn at random":
            settings = settings.model_copy(update={"assignment": BALANCED})
        case _:
            server.cannot = {Capability.TAKEBACK}
    async with playing(server, database, settings=settings):
        await server.until(lambda: len(server.moves) == 1)
        server.ask_takeback()
        if what != "not at this site":
            await server.until(lambda: "takeback False" in server.calls)
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        server.pick = picker(1)
        server.reply()
    assert "takeback True" not in server.calls
    assert ("takeback False" in server.calls) == (what != "not at this site")
    await check_books(database, server)


async def test_a_reply_that_is_taken_back_is_the_one_that_counts(database: Database) -> None:
    """Even when our move was not analysed to the end by then: what came first shows what the opponent saw."""
    server = casual("othello", initial_position=late_othello(8, 5))
    async with services(server, database, settings=mannered(takebacks=1)) as given:
        pool = HeldPool()
        running = asyncio.create_task(GameRunner(GAME_ID, pool.held(given)).run())
        await server.until(lambda: len(server.moves) == 1)
        server.reply()
        first = server.moves[-1]
        await server.until(lambda: len(server.moves) == 3)
        server.ask_takeback()
        await server.until(lambda: "takeback True" in server.calls)
        assert len(server.moves) == 1
        pool.release.set()
        server.reply(server.legal[-1])
        second = server.moves[-1]
        server.pick = picker(7)
        async with asyncio.timeout(PATIENCE_S):
            await running
    assert first != second
    await check_books(database, server, taken_back={1: first})


async def test_a_takeback_while_we_think(database: Database) -> None:
    """Of the move that we think about, and of the one before it."""
    server = casual()
    async with services(server, database, settings=mannered(takebacks=1)) as given:
        pool = HeldPool(lambda _: len(server.moves) == 2)
        running = asyncio.create_task(GameRunner(GAME_ID, pool.held(given)).run())
        await server.until(lambda: len(server.moves) == 1)
        server.reply()
        first = server.moves[-1]
        await pool.waiting.wait()
        server.ask_takeback()
        await server.until(lambda: "takeback True" in server.calls)
        assert len(server.moves) == 1
        pool.release.set()
        server.reply(server.legal[-1])
        second = server.moves[-1]
        await server.until(lambda: len(server.moves) == 3)
        server.pick = picker(5)
        server.reply()
        async with asyncio.timeout(PATIENCE_S):
            await running
    assert first != second
    await check_books(database, server, taken_back={1: first})


# --- Games that do not begin ----------------------------------------------------------------------------


@pytest.mark.parametrize("our_side", [0, 1])
async def test_a_game_that_does_not_begin_is_aborted(database: Database, our_side: int) -> None:
    alarm = Alarm(60.0)
    server = FakeServer(our_side=our_side)
    async with playing(server, database, sleep=alarm.sleep, settings=mannered(abort_after_s=60)):
        await alarm.set.wait()
        server.push(server.state)
        server.cut()
        await server.until(lambda: server.calls.count("stream") == 2)
        assert "abort" not in server.calls
        server.faults["abort"] = [TransientError("HTTP 502")]
        alarm.rings.set()
    assert server.calls.count("abort") == 2
    assert (await stored_game(database)).state is GameStatus.ABORTED
    await check_books(database, server)


@pytest.mark.parametrize("our_side", [0, 1])
async def test_who_begins_is_not_aborted(database: Database, our_side: int) -> None:
    alarm = Alarm(60.0)
    server = FakeServer(our_side=our_side)
    async with playing(server, database, sleep=alarm.sleep, settings=mannered(abort_after_s=60)):
        await alarm.set.wait()
        server.pick = picker(1)
        server.reply()
        await server.until(lambda: moves_sent(server) == 2)
        alarm.rings.set()
    assert "abort" not in server.calls
    await check_books(database, server)


async def test_an_abort_that_comes_too_late(database: Database) -> None:
    server = FakeServer()
    server.faults["abort"] = [RefusedError("too late", 400)]
    async with playing(server, database, settings=mannered(abort_after_s=60)):
        await server.until(lambda: "abort" in server.calls)
        server.pick = picker(1)
        server.reply()
    assert server.calls.count("abort") == 1
    await check_books(database, server)


async def test_a_tournaments_game_is_not_aborted(database: Database) -> None:
    server = FakeServer()
    server.is_tournament = True
    async with playing(server, database, settings=mannered(abort_after_s=60)):
        await server.until(lambda: len(server.moves) == 1)
        await asyncio.sleep(0)
        server.pick = picker(1)
        server.reply()
    assert "abort" not in server.calls
    await check_books(database, server)


async def test_nobody_hurries_without_a_clock(database: Database) -> None:
    server = FakeServer()
    server.clock = None
    async with playing(server, database, settings=mannered(abort_after_s=60)):
        await server.until(lambda: len(server.moves) == 1)
        server.pick = picker(1)
        server.reply()
    assert "abort" not in server.calls


# --- Opponents who leave --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "cannot", "calls"),
    [
        ({"claim": "victory"}, set(), ["claim"]),
        ({"claim": "draw", "resign_score_centi": 10_000}, set(), ["claim_draw"]),
        ({"claim": "nothing"}, set(), []),
        ({"claim": "victory"}, {Capability.CLAIM}, []),
    ],
)
async def test_what_is_claimed(
    database: Database, changes: dict[str, Any], cannot: set[Capability], calls: list[str]
) -> None:
    alarm = Alarm(10.0)
    server = FakeServer()
    server.cannot = cannot
    async with playing(server, database, sleep=alarm.sleep, settings=mannered(**changes)):
        await server.until(lambda: len(server.moves) == 1)
        server.go_away(10.0)
        await alarm.set.wait()
        assert not any(call.startswith("claim") for call in server.calls)
        alarm.rings.set()
        if not calls:
            server.pick = picker(1)
            server.reply()
    assert [call for call in server.calls if call.startswith("claim")] == calls
    await check_books(database, server)


async def test_a_claim_that_gets_lost_is_made_again(database: Database) -> None:
    server = FakeServer()
    server.faults["claim"] = [TransientError("HTTP 502")]
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.go_away(10.0)
    assert server.calls.count("claim") == 2
    await check_books(database, server)


# --- Answers without effect -----------------------------------------------------------------------------


def ignore(server: FakeServer, act: str, times: int) -> None:
    """Let a server answer "ok" to the next requests of a kind, and do nothing."""
    perform = getattr(server, act)

    async def answer(*arguments: Any, **more: Any) -> None:
        nonlocal times
        if times:
            times -= 1
            await server._called(f"ignored {act}")
        else:
            await perform(*arguments, **more)

    setattr(server, act, answer)


async def no_time(_seconds: float) -> None:
    """No wait takes time, not even the one for an effect."""
    await asyncio.sleep(0)


async def test_a_move_without_effect_is_sent_again(database: Database) -> None:
    server = FakeServer(pick=picker(1))
    ignore(server, "move", 3)
    await play(server, database, sleep=no_time)
    assert server.calls.count("ignored move") == 3
    await check_books(database, server)


async def test_an_abort_without_effect_is_requested_again(database: Database) -> None:
    server = FakeServer(our_side=1)
    ignore(server, "abort", 3)
    await play(server, database, sleep=no_time, settings=mannered(abort_after_s=60))
    assert (server.calls.count("ignored abort"), server.calls.count("abort")) == (3, 1)
    assert (await stored_game(database)).state is GameStatus.ABORTED


async def test_an_abort_that_was_refused_once_is_requested_again(database: Database) -> None:
    server = FakeServer(our_side=1)
    server.faults["abort"] = [RefusedError("not now", 400)]
    await play(server, database, settings=mannered(abort_after_s=60))
    assert server.calls.count("abort") == 2
    assert (await stored_game(database)).state is GameStatus.ABORTED


@pytest.mark.parametrize("is_refused", [True, False])
async def test_a_claim_without_effect_is_made_again(database: Database, is_refused: bool) -> None:
    server = FakeServer()
    if is_refused:
        server.faults["claim"] = [RefusedError("a moment early", 400)] * 2
    else:
        ignore(server, "claim_victory", 2)
    async with playing(server, database, sleep=no_time):
        await server.until(lambda: len(server.moves) == 1)
        server.go_away(10.0)
    assert server.end == GameEnd(EndReason.LEFT, 0, "left")
    await check_books(database, server)


async def test_nothing_is_claimed_on_our_turn(database: Database) -> None:
    """Lichess answers "ok" to that, and does nothing."""
    server = FakeServer()
    async with services(server, database) as given:
        pool = HeldPool(lambda _: len(server.moves) == 2)
        running = asyncio.create_task(GameRunner(GAME_ID, pool.held(given)).run())
        await server.until(lambda: len(server.moves) == 1)
        server.reply()
        await pool.waiting.wait()
        server.go_away(0.0)
        server.push(server.state)
        await server.until(lambda: server.calls.count("stream") == 1)
        assert "claim" not in server.calls
        pool.release.set()
        async with asyncio.timeout(PATIENCE_S):
            await running
    assert [call.split()[0] for call in server.calls if call.startswith(("move", "claim"))] == [
        "move",
        "move",
        "claim",
    ]
    await check_books(database, server)


async def test_a_claim_ends_with_the_opponents_return(database: Database) -> None:
    server = FakeServer()
    server.faults["claim"] = [RefusedError("a moment early", 400)] * 1000
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.go_away(0.0)
        await server.until(lambda: server.calls.count("claim") == 2)
        server.come_back()
        server.push(server.state)
        server.pick = picker(1)
        server.reply()
    assert server.end is not None
    assert server.end.reason is EndReason.NORMAL


async def test_a_resignation_without_effect_is_followed_by_the_move(database: Database) -> None:
    """Our clock runs; the next turn resigns again."""
    server = lost_game()
    ignore(server, "resign", 1)
    await play(server, database, settings=RESIGNS, sleep=no_time)
    said = [call.split()[0] for call in server.calls if call.startswith(("ignored", "move", "resign"))]
    first = said.index("ignored")
    assert said[first + 1 : first + 3] in (["move", "resign"], ["move"])
    await check_books(database, server)


async def test_an_accepted_draw_without_effect_is_accepted_again(database: Database) -> None:
    server = FakeServer("chess")
    ignore(server, "answer_draw", 2)
    async with playing(server, database, settings=ANY_DRAW, sleep=no_time):
        await server.until(lambda: len(server.moves) == 1)
        server.offer_draw()
    assert server.end == GameEnd(EndReason.AGREEMENT, None, "agreement")
    assert server.calls.count("draw True") == 1


async def test_a_declined_offer_that_stays_is_declined_a_few_times(database: Database) -> None:
    """Some sites go on showing it."""
    server = FakeServer("chess")
    ignore(server, "answer_draw", 1000)
    settings = mannered(draw_score_centi=10_000, draw_moves=2, draw_ply=0)
    async with playing(server, database, settings=settings, sleep=no_time):
        await server.until(lambda: len(server.moves) == 1)
        server.offer_draw()
        await server.until(lambda: server.calls.count("ignored answer_draw") == MOST_DECLINES)
        streams = server.calls.count("stream")
        await server.until(lambda: server.calls.count("stream") > streams)  # it is read once more
        server.finish(EndReason.RESIGNATION, 0)
    assert server.calls.count("ignored answer_draw") == MOST_DECLINES


async def test_an_answer_whose_effect_was_not_told_is_not_given_twice(database: Database) -> None:
    """A second "yes" might grant what the opponent requests next, or make an offer of our own."""
    server = casual()
    grant = server.answer_takeback

    async def answer(game_id: str, accept: bool) -> None:
        push, server.push = server.push, lambda event: None  # type: ignore[method-assign]  # noqa: ARG005
        await grant(game_id, accept)
        server.push = push  # type: ignore[method-assign]
        raise TransientError("the answer is lost")

    server.answer_takeback = answer  # type: ignore[method-assign]
    async with playing(server, database, settings=mannered(takebacks=5)):
        await server.until(lambda: len(server.moves) == 1)
        server.reply()
        first = server.moves[-1]
        await server.until(lambda: len(server.moves) == 3)
        server.ask_takeback()
        await server.until(lambda: "takeback True" in server.calls)
        await server.until(lambda: server.calls.count("stream") > 1)
        server.pick = picker(1)
        server.reply()
    assert server.calls.count("takeback True") == 1
    await check_books(database, server, taken_back={1: first})


# --- Ends -----------------------------------------------------------------------------------------------


async def test_a_move_that_is_refused_because_the_game_is_over(database: Database) -> None:
    """The end has not been told yet when the server refuses the move."""
    server = FakeServer()
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.reply()
        server.tells = False
        server.finish(EndReason.TIME, 1)
    assert moves_sent(server) == 2
    assert (await stored_game(database)).result is GameResult.LOSS
    await check_books(database, server)
    assert (await stored_decisions(database))[-1].state is DecisionState.DROPPED


@pytest.mark.parametrize("seed", range(4))
async def test_the_rules_explain_an_end(database: Database, seed: int) -> None:
    server = FakeServer(pick=picker(seed))
    server.explains = False
    await play(server, database)
    rules = server.rules
    position = replay(rules, server.moves)
    result_centi = rules.result_centi(position) * (1 if rules.side_to_move(position) == 0 else -1)
    expected = {-1: GameResult.LOSS, 0: GameResult.DRAW, 1: GameResult.WIN}
    game = await stored_game(database)
    sign = (result_centi > 0) - (result_centi < 0)
    assert (game.state, game.result) == (GameStatus.FINISHED, expected[sign])


@pytest.mark.parametrize("answers_late", [False, True])
async def test_our_last_move_is_never_shown(database: Database, answers_late: bool) -> None:
    """The server took the move that ends the game, and shows only that the game is over."""
    server = FakeServer(moves=("a1", "a2", "b1", "b2"))
    server.explains = server.shows_last = False
    if answers_late:
        server.may_answer = asyncio.Event()
    async with playing(server, database):
        await server.until(lambda: moves_sent(server) == 1)
        if server.may_answer is not None:
            server.may_answer.set()
    assert (server.moves[-1], server.state.moves) == ("c1", ("a1", "a2", "b1", "b2"))
    game = await stored_game(database)
    assert (game.result, game.end_reason, game.moves) == (GameResult.WIN, "normal", server.moves)
    (last,) = await stored_decisions(database)
    assert (last.decision.move, last.state) == ("c1", DecisionState.CONFIRMED)
    assert last.outcome is not None
    assert last.outcome.kind is OutcomeKind.UNANSWERED


async def test_a_move_that_the_server_did_not_take_is_not_added(database: Database) -> None:
    server = FakeServer(moves=("a1", "a2", "b1", "b2"))
    server.explains = server.shows_last = False
    server.faults["move"] = [RefusedError("Not your turn", 400)] * 100
    async with playing(server, database):
        await server.until(lambda: moves_sent(server) == 2)
        server.finish(EndReason.RESIGNATION, 0)
    game = await stored_game(database)
    assert (game.result, game.end_reason, game.moves) == (None, "unknown", server.moves)
    assert [stored.state for stored in await stored_decisions(database)] == [DecisionState.DROPPED]


async def test_nobody_explains_an_end(database: Database) -> None:
    server = FakeServer()
    server.explains = False
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        server.finish(EndReason.RESIGNATION, 0)
    game = await stored_game(database)
    assert (game.state, game.result, game.end_reason) == (GameStatus.FINISHED, None, "unknown")


async def test_a_resigned_game_whose_end_nobody_explains(database: Database) -> None:
    server = lost_game()
    server.explains = False
    await play(server, database, settings=RESIGNS)
    assert (await stored_game(database)).result is GameResult.LOSS
