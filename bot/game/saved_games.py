"""Writes each finished game to a separate file in a standard format."""

import asyncio
import logging
import re
from pathlib import Path

from bot.base.files import write_atomically
from engine.formats import files
from engine.formats.files import GameFormat
from engine.formats.record import BadGame
from storage.database import Database
from storage.ledger.decisions import list_decisions
from storage.ledger.games import load_game
from storage.ledger.own_game_records import record_of
from storage.records import AccountKey, GameStatus, StoredGame

logger = logging.getLogger(__name__)

_FORMATS = {"othello": GameFormat.GGF}
"""File format of each game; games not listed are written as PGN."""


class SavedGames:
    """Writes finished games to a folder; failures are logged and never affect play.

    Args:
        folder: The folder to write to, with one subfolder per month; created when needed.
        our_name: Our side's name in the files.
    """

    def __init__(self, folder: Path, our_name: str) -> None:
        self._folder = folder
        self._our_name = our_name
        self._is_failing = False

    async def save(self, database: Database, owner: AccountKey, site_game_id: str) -> None:
        """Write a finished game, replacing any earlier file of that game; skip an aborted game."""
        try:
            async with database.read() as session:
                game = await load_game(session, owner, site_game_id)
                if game is None or game.state is not GameStatus.FINISHED:
                    return
                record = record_of(game, self._our_name, await list_decisions(session, game.id))
            form = _FORMATS.get(game.game, GameFormat.PGN)
            text = files.write(record, form)
            await asyncio.to_thread(_write, self._folder / _name(game, form), text)
        except BadGame as error:  # a game that has no such notation
            logger.debug("game %s: not written to a file: %s", site_game_id, error)
        except Exception as error:  # the game is in the database; a file's fault may disturb nothing
            level = logging.DEBUG if self._is_failing else logging.WARNING
            self._is_failing = True
            logger.log(level, "storage.games_folder: game %s is not written: %s", site_game_id, error)
        else:
            if self._is_failing:
                logger.info("storage.games_folder: games are written again")
            self._is_failing = False


def _name(game: StoredGame, form: GameFormat) -> str:
    key = re.sub(r"[^A-Za-z0-9_-]", "_", f"{game.site}_{game.site_game_id}")
    return f"{game.started_at:%Y-%m}/{game.started_at:%Y-%m-%d}_{key}.{form.value}"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically({path: text.encode()}, 0o600)  # like the database: opponents are named
