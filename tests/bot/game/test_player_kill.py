"""A game's player is killed at its steps, and the next one finishes the story.

Of steps that have come after the same one before, the first is enough; with `KILL_EVERYWHERE=1` every single
one is tried.
"""

import asyncio
import os
import random
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from bot.base.config import AssignmentConfig, AssignmentMethod, Config, EngineConfig, MannersConfig
from bot.base.events import EndReason
from bot.game.game_runner import GameRunner
from engine.decision import Decision
from engine.games import get_rules
from storage.database import Database
from storage.ledger.decisions import list_decisions
from storage.ledger.games import load_game
from tests.bot.fakes import GAME_ID, FakeServer, Killer, config, picker, services
from tests.bot.ledger_samples import check_books, event_kinds, stored_decisions, stored_forecasts
from tests.patience import PATIENCE_S
from tests.storage.row_copies import remove_rows
from tests.storage.samples import ARENA, DRAWN_AT


def late_othello(empties: int, seed: int) -> str:
    """A position near the end of a random game."""
    rules, rng = get_rules("othello"), random.Random(seed)
    position = rules.initial()
    while sum(row.count(".") for row in rules.board_rows(position)) > empties:
        position = rules.play(position, rng.choice(rules.legal_moves(position)))
    return rules.position_text(position)


def make_server(game: str, our_side: int, seed: int) -> FakeServer:
    start = late_othello(8, seed) if game == "othello" else None
    return FakeServer(game, our_side=our_side, initial_position=start, pick=picker(seed))


def chosen(steps: list[str], tried: set[tuple[str, str]]) -> list[int]:
    """Where to stop a program: the first of each step after the same one, unless that was tried."""
    if os.environ.get("KILL_EVERYWHERE") == "1":
        return list(range(len(steps)))
    pairs = list(zip(["", *steps], steps, strict=False))
    new = [pair for pair in dict.fromkeys(pairs) if pair not in tried]
    tried.update(new)
    return [pairs.index(pair) for pair in new]


async def play(
    server: FakeServer, database: Database, killer: Killer, settings: Config | None = None
) -> bool:
    """One life of the program; True when the game's player came to its end."""
    async with services(server, database, settings=settings) as given:
        running = asyncio.create_task(GameRunner(GAME_ID, killer.wrap(given)).run())
        dead = asyncio.create_task(killer.killed.wait())
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait([running, dead], return_when=asyncio.FIRST_COMPLETED)
        dead.cancel()
        if running.done():
            await running
            return True
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        return False


def resigned() -> FakeServer:
    """A game that is given up after two moves."""
    return make_server("othello", 0, 7)


def aborted(our_side: int) -> FakeServer:
    """A game whose opponent never comes."""
    return FakeServer(our_side=our_side)


IMPATIENT = config(manners=MannersConfig(resign=True, resign_score_centi=1, resign_moves=1, abort_after_s=60))


async def test_killed_once_at_each_kind_of_step(database: Database) -> None:
    tried = set[tuple[str, str]]()
    stories: list[tuple[Callable[[], FakeServer], Config | None, EndReason | None]] = [
        (partial(make_server, "othello", 1, 8), None, None),
        (partial(make_server, "tictactoe", 0, 1), None, None),
        (resigned, IMPATIENT, EndReason.RESIGNATION),
        (partial(aborted, 0), IMPATIENT, EndReason.ABORTED),
        (partial(aborted, 1), IMPATIENT, EndReason.ABORTED),
    ]
    for make, settings, reason in stories:
        await remove_rows(database)
        whole, server = Killer(), make()
        assert await play(server, database, whole, settings)
        await check_end(database, server, reason)
        assert reason or len(whole.steps) > 40
        assert reason or ("pass" in server.moves) == (server.variant == "othello")

        for at in chosen(whole.steps, tried):
            await remove_rows(database)
            server = make()
            finished = await play(server, database, Killer(at), settings)
            while not finished:
                finished = await play(server, database, Killer(), settings)
            await check_end(database, server, reason)
            assert sum(text.startswith("Hello") for text in server.said) <= 1
            assert sum(not text.startswith("Hello") for text in server.said) <= 1


async def check_end(database: Database, server: FakeServer, reason: EndReason | None) -> None:
    """Check the books, and, if it is given, why the game ended."""
    assert server.end is not None
    assert reason in (None, server.end.reason)
    await check_books(database, server)


async def test_killed_around_a_takeback(database: Database) -> None:
    settings = config(manners=MannersConfig(takebacks=1, takebacks_rated=True, abort_after_s=0))

    async def story(killer: Killer) -> FakeServer:
        await remove_rows(database)
        server = make_server("tictactoe", 0, 1)
        server.asks_takeback_at = 3
        finished = await play(server, database, killer, settings)
        while not finished:
            finished = await play(server, database, Killer(), settings)
        await check_books(database, server, {1: server.answers[0]}, sure=False)
        assert (await event_kinds(database)).count("takeback_granted") == 1
        return server

    whole = Killer()
    assert "takeback True" in (await story(whole)).calls
    answered = whole.steps.index("before answer_takeback")
    moved = whole.steps.index("after move", answered)
    for at in sorted(
        {*range(answered - 6, moved + 1), *(at for at in chosen(whole.steps, set()) if at > moved)}
    ):
        server = await story(Killer(at))
        assert sum("takeback" in call for call in server.calls) >= 1


@pytest.mark.parametrize("seed", range(3))
async def test_killed_again_and_again(database: Database, seed: int) -> None:
    rng = random.Random(seed)
    server = make_server(rng.choice(["tictactoe", "othello"]), rng.randrange(2), seed)
    lives = 1
    while not await play(server, database, Killer(rng.randrange(40))):
        lives += 1
    assert lives > 1
    await check_books(database, server)


class _Impatient(FakeServer):
    """An opponent who resigns after eight moves, since later ones cost as much and show the same."""

    def _opponent_moves(self) -> None:
        if len(self.moves) >= 8 and self.end is None:
            self.finish(EndReason.RESIGNATION, self.our_side)
        else:
            super()._opponent_moves()


async def test_a_lot_is_drawn_once_however_often_it_is_killed(database: Database) -> None:
    rng = random.Random(0)
    settings = config(
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy="randomised"),
        engine=EngineConfig(max_depth=6, workers=1, table_mb=1, ponder=False),
    )
    server = _Impatient("othello", our_side=1, initial_position=DRAWN_AT, pick=picker(0))
    drawn: dict[int, Decision] = {}
    while not await play(server, database, Killer(rng.randrange(3, 60)), settings):
        async with database.read() as session:
            game = await load_game(session, ARENA, GAME_ID)
            stored = [] if game is None else await list_decisions(session, game.id)
        for each in stored:
            assert drawn.setdefault(each.ply, each.decision).move == each.decision.move
    await check_books(database, server)
    first = drawn[0]
    assert first.trial_draw is not None
    assert server.moves[0] == first.move
    forecasts = await stored_forecasts(database)
    for each in await stored_decisions(database):
        assert ("other" in forecasts[each.id].record) is (each.decision.trial_draw is not None)
