"""Games against the same opponent differ within their first plies; a game that was not won is not copied."""

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from bot.base.config import AssignmentConfig, AssignmentMethod, EngineConfig
from bot.base.events import EndReason
from bot.game.game_runner import GameRunner
from bot.game.repetition import (
    MAX_LOSS_DOUBLINGS,
    MIN_COPIED_PLIES,
    WINDOW_PLIES,
    NonWins,
    paths,
    recent_paths,
)
from engine.games import get_rules
from engine.variety import RepetitionAvoidance
from engine.verification import verify
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.decisions import list_decisions
from storage.ledger.games import finish_game, list_games, open_game, set_moves
from storage.records import GameResult, StoredGame
from tests.bot.fakes import FakeServer, config, services
from tests.patience import PATIENCE_S
from tests.storage.samples import ARENA, NEW_GAME

othello = get_rules("othello")


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
    found = await recent_paths(database, othello, now)
    assert found[othello.position_text(start)] == ("f5",)
    assert found[othello.position_text(after)] == ("f6", "f4")


async def test_only_the_first_plies_count(database: Database) -> None:
    position, moves = othello.initial(), []
    for _ in range(WINDOW_PLIES + 5):
        move = othello.legal_moves(position)[0]
        moves.append(othello.move_text(move))
        position = othello.play(position, move)
    await stored(database, "long", " ".join(moves))
    now = await stored(database, "now", result=None)
    assert len(await recent_paths(database, othello, now)) == WINDOW_PLIES


async def test_a_game_that_went_on_where_our_rules_see_a_draw(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await stored(database, "long", "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8 e2e4", game="chess")
    async with database.read() as session:
        found = paths(get_rules("chess"), await list_games(session))
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
    assert "game odd can no longer be read" in caplog.text
    assert "game odder can no longer be read" in caplog.text


async def test_books_that_cannot_be_read_cost_no_move(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    now = await stored(database, "now", result=None)

    class Broken:
        def read(self) -> None:
            raise StorageError("the disk is gone")

    broken: Any = Broken()
    assert await recent_paths(broken, othello, now) == {}
    assert "the disk is gone" in caplog.text


def has_begun(server: FakeServer, plies: int = 8) -> bool:
    return len(server.moves) >= plies


@pytest.mark.parametrize(("player", "our_side"), [("standard", 1), ("trappy", 0), ("strong", 1)])
async def test_an_opponent_who_repeats_itself(database: Database, player: str, our_side: int) -> None:
    """It always plays alike; yet of three games in a row no two begin alike."""
    engine = EngineConfig(
        max_depth=2, strong_depth=2, max_time_s=0.1, workers=1, table_mb=1, variety_centi=400
    )
    selection = AssignmentConfig(method=AssignmentMethod.FIXED, strategy=player)
    begun: list[tuple[str, ...]] = []
    for number in range(5):
        server = FakeServer("othello", our_side=our_side, pick=lambda moves: moves[0])
        server.game_id = f"game{number}"
        settings = config(engine=engine, assignment=selection)
        async with services(server, database, settings=settings) as given, asyncio.timeout(PATIENCE_S):
            game = asyncio.create_task(GameRunner(server.game_id, given).run())
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


# --- Games that were not won, against anybody ------------------------------------------------------------

LINE = ("f5", "d6", "c3", "d3", "c4", "f4", "f6", "f3", "e6", "e7", "d7", "c6", "d8", "c5")
TURNS = ("f5", "e6", "c4", "d3")


def turned(move: str, first: str) -> str:
    """A square on the board turned so that a game beginning with f5 begins with another move, or back."""
    column, row = ord(move[0]) - ord("a"), int(move[1]) - 1
    column, row = {
        "f5": (column, row),
        "e6": (row, column),
        "c4": (7 - column, 7 - row),
        "d3": (7 - row, 7 - column),
    }[first]
    return f"{'abcdefgh'[column]}{row + 1}"


async def known(database: Database) -> NonWins:
    non_wins = NonWins()
    await non_wins.load(database, ARENA, "othello")
    return non_wins


async def test_only_games_of_the_same_kind_that_were_not_won_count(database: Database) -> None:
    lost, begun = GameResult.LOSS, 9

    async def other(key: str, last: str, result: GameResult | None = lost, **changes: Any) -> StoredGame:
        return await stored(database, key, " ".join((*LINE[:9], last)), result, **changes)

    await other("lost", "a1", opponent_id="bert")
    await other("drawn", "a2", GameResult.DRAW)
    await other("won", "a3", GameResult.WIN)
    await other("aborted", "a4", None)
    await other("other side", "a5", our_side=1)
    await other("other start", "a6", initial_position="8/8/8/3wb3/3bw3/8/8/8 b")
    await other("other game", "a7", game="chess")
    await other("other site", "a8", site="lichess")
    await other("other account", "b1", account="level-1")
    now = await stored(database, "now", result=None)
    non_wins = await known(database)
    avoidance = non_wins.avoidance(now, LINE[:begun], ("h1",), 40)
    assert avoidance is not None
    assert (avoidance.avoid, avoidance.reach_centi) == (("h1", "a2", "a1"), 40)
    non_wins.add(now, (*LINE[:9], "b2"), lost)  # a game that has ended since, and two that were not lost
    non_wins.add(replace(now, id=98), (*LINE[:9], "b3"), GameResult.WIN)
    non_wins.add(replace(now, id=99), (*LINE[:9], "b4"), None)
    avoidance = non_wins.avoidance(now, LINE[:begun], (), 40)
    assert avoidance is not None
    assert set(avoidance.avoid) == {"a1", "a2", "b2"}


async def test_a_line_is_left_after_the_opening_wherever_it_is_followed(database: Database) -> None:
    non_wins = await known(database)
    now = await stored(database, "now", result=None)
    non_wins.add(replace(now, id=7), LINE, GameResult.LOSS)
    for ply in range(len(LINE) + 1):
        avoidance = non_wins.avoidance(now, LINE[:ply], (), 40)
        is_avoided = MIN_COPIED_PLIES <= ply < len(LINE)
        assert avoidance == (RepetitionAvoidance((LINE[ply],), 40, 40) if is_avoided else None)
    assert non_wins.avoidance(now, (*LINE[:9], "h8"), (), 40) is None


@pytest.mark.parametrize("first", ["f5", "e6", "c4", "d3"])
async def test_turning_the_board_makes_no_other_game(database: Database, first: str) -> None:
    game = [othello.initial()]
    moves: list[str] = []
    for ply in range(12):  # always the first legal move of the board turned so that f5 comes first
        legal = [othello.move_text(move) for move in othello.legal_moves(game[-1])]
        moves.append(first if ply == 0 else min(legal, key=lambda move: turned(move, first)))
        game.append(othello.play(game[-1], othello.parse_move(game[-1], moves[-1])))
    now = await stored(database, "now", result=None)
    lines = {each: tuple(turned(turned(move, first), each) for move in moves) for each in TURNS}
    for number, each in enumerate(TURNS):
        non_wins = NonWins()
        non_wins.add(replace(now, id=number), lines[each], GameResult.LOSS)
        assert non_wins.avoidance(now, moves[:9], (), 40) == RepetitionAvoidance((moves[9],), 40, 40)


async def test_each_repetition_of_a_line_doubles_what_a_move_may_lose(database: Database) -> None:
    non_wins = NonWins()
    now = await stored(database, "now", result=None)
    for number in range(6):
        # Another opening move of theirs later, and another end, but the same next moves.
        non_wins.add(replace(now, id=number), (*LINE, *("pass",) * 20, str(number)), GameResult.LOSS)
        non_wins.add(replace(now, id=50 + number), (*LINE[:8], f"a{number + 1}"), GameResult.LOSS)
        avoidance = non_wins.avoidance(now, LINE[:8], (), 40)
        assert avoidance is not None
        assert avoidance.reach_centi == 40 * 2 ** min(number, MAX_LOSS_DOUBLINGS)
    non_wins = NonWins()
    non_wins.add(now, (*LINE, "a1"), GameResult.LOSS)
    non_wins.add(replace(now, id=9), (*LINE, "a2"), GameResult.LOSS)
    for ply in (9, 14):
        avoidance = non_wins.avoidance(now, LINE[:ply], (), 40)
        assert avoidance is not None
        assert avoidance.reach_centi == 40


async def test_only_the_latest_lines_are_kept(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.game.repetition.MAX_NON_WINS", 2)
    for number in range(3):
        await stored(database, str(number), " ".join((*LINE[:9], f"a{number + 1}")), GameResult.LOSS)
    now = await stored(database, "now", result=None)
    non_wins = await known(database)
    avoidance = non_wins.avoidance(now, LINE[:9], (), 40)
    assert avoidance is not None
    assert avoidance.avoid == ("a3", "a2")
    non_wins.add(now, (*LINE[:9], "a4"), GameResult.LOSS)
    avoidance = non_wins.avoidance(now, LINE[:9], (), 40)
    assert avoidance is not None
    assert set(avoidance.avoid) == {"a3", "a4"}


async def test_lines_that_cannot_be_read_cost_no_move(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def read(self) -> None:
            raise StorageError("the disk is gone")

    broken: Any = Broken()
    non_wins = NonWins()
    await non_wins.load(broken, ARENA, "othello")
    assert "the disk is gone" in caplog.text
    now = await stored(database, "now", " ".join(LINE), GameResult.LOSS)
    await non_wins.load(database, ARENA, "othello")  # it tries again
    assert non_wins.avoidance(now, LINE[:9], (), 40) is not None


@pytest.mark.parametrize("player", ["standard", "trappy"])
async def test_a_win_against_us_cannot_be_copied_by_others(database: Database, player: str) -> None:
    engine = EngineConfig(max_depth=2, max_time_s=0.1, workers=1, table_mb=1, variety_centi=400)
    settings = config(
        engine=engine, assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy=player)
    )
    played: list[tuple[str, ...]] = []
    for name in ("anna", "bert", "cleo"):
        server = FakeServer("othello", our_side=1, pick=lambda moves: moves[0])
        server.game_id, server.opponent = f"of {name}", replace(server.opponent, id=name, name=name)
        async with services(server, database, settings=settings) as given, asyncio.timeout(PATIENCE_S):
            game = asyncio.create_task(GameRunner(server.game_id, given).run())
            await server.until(partial(has_begun, server, 14))
            server.finish(EndReason.RESIGNATION, 0)
            await game
        played.append(server.moves[:14])
    assert played[0][:MIN_COPIED_PLIES] == played[1][:MIN_COPIED_PLIES] == played[2][:MIN_COPIED_PLIES]
    assert len(set(played)) == 3
    async with database.read() as session:
        games = await list_games(session)
        decisions = [d.decision for game in games for d in await list_decisions(session, game.id)]
    for decision in decisions:
        verify(decision)
    assert sum(decision.search_mode == "lot" for decision in decisions) >= 2
