"""Games against the same opponent differ within their first plies."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from bot.base.config import EngineConfig, SelectionConfig, SelectionMethod
from bot.base.events import EndReason
from bot.game.player import GamePlayer
from bot.game.recent_games import PLIES, latest_paths, paths
from engine.choice import verify
from engine.games import get_game
from storage.database import Database
from storage.decisions import list_decisions
from storage.errors import StorageError
from storage.games import finish_game, list_games, open_game, set_moves
from storage.records import GameResult, StoredGame
from tests.bot.fakes import FakeServer, config, services
from tests.patience import PATIENCE_S
from tests.storage.samples import NEW_GAME

othello = get_game("othello")


async def stored(
    database: Database, key: str, moves: str = "", result: GameResult | None = GameResult.WIN, **changes: Any
) -> StoredGame:
    """A game that is over, without a result if there is none."""
    async with database.write() as session:
        game = await open_game(session, replace(NEW_GAME, site_game_id=key, **changes))
        await set_moves(session, game.id, moves.split())
        await finish_game(session, game.id, result=result, end_reason="?", aborted=result is None)
    return game


async def test_the_last_two_games_of_the_pair(database: Database) -> None:
    await stored(database, "oldest", "f5 d6")
    await stored(database, "elder", "f5 f4")
    await stored(database, "other opponent", "e6 f4", opponent_id="bert")
    await stored(database, "other site", "e6 f4", site="lichess")
    await stored(database, "other game", "e4 e5", game="chess")
    await stored(database, "elder still", "f5 f6", GameResult.DRAW)
    await stored(database, "aborted", "d3", None)
    await stored(database, "aborted, too", "d3", None)
    async with database.write() as session:
        now = await open_game(session, replace(NEW_GAME, site_game_id="now"))
        await set_moves(session, now.id, ["d3"])
    start = othello.initial()
    after = othello.play(start, othello.parse_move(start, "f5"))
    found = await latest_paths(database, othello, now)
    assert found[othello.position_text(start)] == ("f5",)
    assert found[othello.position_text(after)] == ("f6", "f4")


async def test_only_the_first_plies_count(database: Database) -> None:
    position, moves = othello.initial(), []
    for _ in range(PLIES + 5):
        move = othello.legal_moves(position)[0]
        moves.append(othello.move_text(move))
        position = othello.play(position, move)
    await stored(database, "long", " ".join(moves))
    now = await stored(database, "now", result=None)
    assert len(await latest_paths(database, othello, now)) == PLIES


async def test_a_game_that_went_on_where_our_rules_see_a_draw(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await stored(database, "long", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8 e2e4", game="chess")
    async with database.read() as session:
        found = paths(get_game("chess"), await list_games(session))
    assert list(found.values())[-1] == ("e2e4",)
    assert "cannot be read" not in caplog.text


async def test_a_game_that_cannot_be_read_is_left_alone(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await stored(database, "odd", "f5 z9 f6")
    await stored(database, "odder", initial_position="nothing")
    async with database.read() as session:
        found = paths(othello, await list_games(session))
    assert list(found.values()) == [("f5",), ("z9",)]
    assert "game odd cannot be read" in caplog.text
    assert "game odder cannot be read" in caplog.text


async def test_books_that_cannot_be_read_cost_no_move(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    now = await stored(database, "now", result=None)

    class Broken:
        def read(self) -> None:
            raise StorageError("the disk is gone")

    broken: Any = Broken()
    assert await latest_paths(broken, othello, now) == {}
    assert "the disk is gone" in caplog.text


def has_begun(server: FakeServer) -> bool:
    return len(server.moves) >= 8


@pytest.mark.parametrize(("player", "our_side"), [("standard", 1), ("trappy", 0), ("strong", 1)])
async def test_an_opponent_who_repeats_itself(database: Database, player: str, our_side: int) -> None:
    """It always plays alike; yet of three games in a row no two begin alike."""
    engine = EngineConfig(
        max_depth=2, strong_depth=2, max_time_s=0.1, workers=1, table_mb=1, variety_centi=400
    )
    selection = SelectionConfig(method=SelectionMethod.FIXED, player=player)
    begun: list[tuple[str, ...]] = []
    for number in range(5):
        server = FakeServer("othello", our_side=our_side, pick=lambda moves: moves[0])
        server.game_id = f"game{number}"
        settings = config(engine=engine, selection=selection)
        async with services(server, database, settings=settings) as given, asyncio.timeout(PATIENCE_S):
            game = asyncio.create_task(GamePlayer(server.game_id, given).run())
            await server.until(partial(has_begun, server))
            server.finish(EndReason.RESIGNATION, our_side)
            await game
        assert server.moves[:8] not in begun[-2:]
        begun.append(server.moves[:8])
    async with database.read() as session:
        games = await list_games(session)
        decisions = [d.decision for game in games for d in await list_decisions(session, game.id)]
    for decision in decisions:
        verify(decision)
    drawn = sum(decision.search_mode == "lot" for decision in decisions)
    assert 4 <= drawn < len(decisions) / 2
