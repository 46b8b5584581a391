"""Finished games as files: what they say, and that nothing they do disturbs a game."""

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from bot.base.events import EndReason
from bot.game.game_runner import GameRunner
from bot.game.saved_games import SavedGames
from engine.formats import files
from engine.formats.files import GameFormat
from engine.formats.record import GameRecord
from storage.database import Database
from storage.records import GameStatus
from tests.bot.fakes import GAME_ID, FakeServer, picker, services
from tests.bot.ledger_samples import stored_game
from tests.patience import PATIENCE_S
from tests.storage.samples import ARENA


async def play(database: Database, game: str, folder: Path, *, moves: int = 2, aborted: bool = False) -> None:
    """A game that the opponent gives up after two moves of ours."""
    server = FakeServer(game, pick=picker(3))
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S):
        given = replace(given, saved_games=SavedGames(folder, "Desdemona"))
        running = asyncio.create_task(GameRunner(GAME_ID, given).run())
        await server.until(lambda: sum(call.startswith("move") for call in server.calls) == moves)
        server.finish(EndReason.ABORTED if aborted else EndReason.RESIGNATION, None if aborted else 0)
        await running


@pytest.mark.parametrize(("game", "form"), [("chess", GameFormat.PGN), ("othello", GameFormat.GGF)])
async def test_a_finished_game_is_written(
    database: Database, tmp_path: Path, game: str, form: GameFormat
) -> None:
    await play(database, game, tmp_path / "games")
    stored = await stored_game(database)
    (month,) = (tmp_path / "games").iterdir()
    assert month.name == f"{stored.started_at:%Y-%m}"
    (path,) = month.iterdir()
    assert path.name == f"{stored.started_at:%Y-%m-%d}_arena_{GAME_ID}.{form.value}"
    assert path.stat().st_mode & 0o777 == 0o600
    (record,) = files.read(path.read_text().splitlines(keepends=True), form)
    assert isinstance(record, GameRecord)
    assert record.players == ("Desdemona", "Anna")
    assert record.moves == stored.moves
    assert record.points == 1.0
    assert record.evaluations[0] is not None


async def test_games_without_a_notation_or_a_result_are_left_out(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await play(database, "tictactoe", tmp_path / "games")
    assert (await stored_game(database)).state is GameStatus.FINISHED
    assert not (tmp_path / "games").exists()
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_an_aborted_game_is_left_out(database: Database, tmp_path: Path) -> None:
    await play(database, "chess", tmp_path / "games", moves=1, aborted=True)
    assert not (tmp_path / "games").exists()


async def test_a_folder_that_fails_costs_nothing_and_is_named_once(
    database: Database, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "games"
    blocked.write_text("not a folder")
    with caplog.at_level(logging.INFO, logger="bot.game.saved_games"):
        await play(database, "chess", blocked)
        assert (await stored_game(database)).state is GameStatus.FINISHED
        saved = SavedGames(blocked, "Desdemona")
        for _ in range(3):
            await saved.save(database, ARENA, GAME_ID)
        blocked.unlink()
        await saved.save(database, ARENA, GAME_ID)
        await saved.save(database, ARENA, GAME_ID)
    told = [
        (record.levelname, record.getMessage())
        for record in caplog.records
        if record.name == "bot.game.saved_games"
    ]
    assert [level for level, _ in told] == ["WARNING", "WARNING", "INFO"]  # the first is the game's own
    assert f"storage.games_folder: game {GAME_ID} is not written" in told[1][1]
    assert len(list(blocked.rglob("*.pgn"))) == 1


async def test_an_unknown_game_is_none(database: Database, tmp_path: Path) -> None:
    await SavedGames(tmp_path / "games", "Desdemona").save(database, ARENA, "nothing")
    assert not (tmp_path / "games").exists()
