"""One fault at a time: the game comes to its right end, and the books are those of a game without it."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bot.base.config import MannersConfig
from tests.faults.conftest import CONNECT4, DRAWN, Laid
from tests.faults.proxy import GAME_FAULTS, MOVE_FAULTS, Fault, Place, Strike
from tests.patience import PATIENCE_S
from tests.system.person import Habits, Person, Wish

ENDS_BY_RULE = {"variantEnd", "draw"}


@pytest.mark.parametrize(
    "fault",
    [
        Fault.LOST_REQUEST,
        Fault.LOST_ANSWER,
        Fault.SLOW_ANSWER,
        Fault.TOO_MANY_JSON,
        Fault.TOO_MANY_HTML,
        Fault.DOWN,
        Fault.NOT_YOUR_TURN,
        Fault.PLAYED_AND_REFUSED,
    ],
)
async def test_of_a_move(lay: Laid, fault: Fault) -> None:
    async with lay(Strike(fault, Place.MOVE, after=1), Strike(fault, Place.MOVE, after=3)) as table:
        record = await table.play(CONNECT4)
        assert record["status"] in ENDS_BY_RULE
        assert table.proxy.faults == Counter({fault: 2})


@pytest.mark.parametrize(
    "fault",
    [
        Fault.END,
        Fault.CUT,
        Fault.HALF_LINE,
        Fault.HALF_END,
        Fault.SILENCE,
        Fault.GARBAGE,
        Fault.REPEAT,
        Fault.UNKNOWN,
        Fault.OFFERS,
        Fault.GONE,
    ],
)
async def test_of_a_games_stream(lay: Laid, fault: Fault) -> None:
    async with lay(Strike(fault, Place.GAME, after=3), Strike(fault, Place.GAME, after=6)) as table:
        record = await table.play(CONNECT4)
        assert record["status"] in ENDS_BY_RULE
        assert table.proxy.faults == Counter({fault: 2})


def of_kind(kind: str) -> Callable[[dict[str, Any]], bool]:
    """Lines of one type."""
    return lambda line: bool(line["type"] == kind)


@pytest.mark.parametrize("fault", [Fault.END, Fault.CUT, Fault.HALF_LINE, Fault.HALF_END, Fault.SILENCE])
async def test_of_the_first_line_of_a_games_stream(lay: Laid, fault: Fault) -> None:
    async with lay(Strike(fault, Place.GAME)) as table:
        await table.play(CONNECT4)
        assert table.proxy.faults == Counter({fault: 1})


@pytest.mark.parametrize(
    "fault",
    [
        Fault.END,
        Fault.CUT,
        Fault.HALF_LINE,
        Fault.HALF_END,
        Fault.SILENCE,
        Fault.GARBAGE,
        Fault.REPEAT,
        Fault.UNKNOWN,
    ],
)
async def test_of_the_event_stream(lay: Laid, fault: Fault) -> None:
    kinds = ("challenge", "gameStart", "gameFinish")
    at = [Strike(fault, Place.EVENTS, needs=of_kind(kind)) for kind in kinds]
    async with lay(*at) as table:
        # Two games, since the end of the first must not leave the bot deaf.
        for _ in range(2):
            await table.play(replace(CONNECT4, habits=Habits(resign_at=6)))
        assert table.proxy.faults == Counter({fault: len(kinds)})


@pytest.mark.parametrize(
    "fault",
    [Fault.LOST_REQUEST, Fault.LOST_ANSWER, Fault.TOO_MANY_JSON, Fault.TOO_MANY_HTML, Fault.DOWN],
)
async def test_of_other_requests(lay: Laid, fault: Fault) -> None:
    places = (Place.STATUS, Place.EVENTS, Place.ANSWER, Place.GAME, Place.CHAT)
    async with lay(*(Strike(fault, place) for place in places)) as table:
        await table.play(CONNECT4)
        # After a 429 the bot may not even ask to chat.
        assert len(places) - 1 <= table.proxy.faults[fault] <= len(places)


async def test_the_double_end_of_an_automatic_draw(lay: Laid) -> None:
    async with lay(Strike(Fault.DOUBLE_END, Place.GAME)) as table:
        record = await table.play(DRAWN)
        assert (record["status"], "winner" in record) == ("draw", False)
        assert table.proxy.faults == Counter({Fault.DOUBLE_END: 1})


@pytest.mark.parametrize("takebacks", [0, 3])
async def test_draws_offered_and_takebacks_asked_for_in_earnest(lay: Laid, takebacks: int) -> None:
    habits = Habits(offers_draws=0.5, asks_back=0.5, says=0.5)
    async with lay(manners=MannersConfig(abort_after_s=0, takebacks=takebacks)) as table:
        record = await table.play(replace(CONNECT4, habits=habits))
        assert record["status"] in ENDS_BY_RULE


@pytest.mark.parametrize("fault", [Fault.TOO_MANY_JSON, Fault.TOO_MANY_HTML])
@pytest.mark.parametrize("place", [Place.GAME, Place.EVENTS])
async def test_what_a_429_tells_to_wait_is_waited(lay: Laid, fault: Fault, place: Place) -> None:
    async with lay(Strike(fault, place), too_many_s=17) as table:
        await table.play(CONNECT4)
        assert any(17 <= wait_s < 20 for wait_s in table.waits)


async def test_the_start_of_a_game_that_did_not_fit_the_servers_queue(lay: Laid) -> None:
    strike = Strike(Fault.STALL, Place.EVENTS, needs=of_kind("gameStart"))
    # Nobody gives the stream up before the queue is full, however long a slow machine takes to fill it.
    async with lay(strike, slack_s=PATIENCE_S, stall_s=PATIENCE_S) as table:
        pest = Person(table, "Pest", seed=1)
        try:
            async with asyncio.TaskGroup() as tasks:
                game = tasks.create_task(table.play(CONNECT4))
                tasks.create_task(pest.pester(lambda: table.proxy.dropped > 0 or game.done()))
        finally:
            await pest.close()
        assert table.proxy.dropped == 8


async def test_everything_at_once(lay: Laid) -> None:
    """Every kind of fault, in a game of Othello."""
    moves = [Strike(fault, Place.MOVE, after=3 * n) for n, fault in enumerate(MOVE_FAULTS)]
    during = [fault for fault in GAME_FAULTS if fault is not Fault.DOUBLE_END]
    lines = [Strike(fault, Place.GAME, after=4 * n) for n, fault in enumerate(during)]
    lines.append(Strike(Fault.DOUBLE_END, Place.GAME))
    async with lay(*moves, *lines) as table:
        record = await table.play(Wish(rated=True, color="black"))
        assert record["status"] == "variantEnd"
        assert set(table.proxy.faults) >= {*MOVE_FAULTS, *GAME_FAULTS}
