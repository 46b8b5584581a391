"""The moves of recent games against an opponent, so that we can avoid playing the same game twice.

lichess.org does not rate a game with a program when one of the pair's last two had the same first 20 plies
and the same winner; and an opponent who has found a weak line would play it for ever.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from engine.game import BadPosition, Game, IllegalMove, if_it_goes_on
from storage.database import Database
from storage.errors import StorageError
from storage.games import list_games
from storage.records import Filters, StoredGame

logger = logging.getLogger(__name__)

GAMES = 2
"""So many of the latest games with an opponent that had a result are not played again."""
PLIES = 20
"""A game is another one when it leaves them within so many plies."""

Paths = Mapping[str, tuple[str, ...]]
"""By the text of a position: moves that were played there lately."""


async def latest_paths(database: Database, game: Game[Any], stored: StoredGame) -> Paths:
    """The openings of the latest games against a game's opponent; none when they cannot be read.

    Games without a result do not count, for the server forgets them, too: else two aborted ones would hide
    what must not be repeated.
    """
    filters = Filters(site=stored.site, game=stored.game, opponent_id=stored.opponent_id, has_result=True)
    try:
        async with database.read() as session:
            latest = await list_games(session, filters, limit=GAMES)
    except StorageError as error:  # a move is worth more
        logger.warning("game %s: %s; it may repeat an opening", stored.site_game_id, error)
        return {}
    return paths(game, latest)


def paths(game: Game[Any], games: Sequence[StoredGame]) -> Paths:
    """The ways that games went in their first `PLIES` plies."""
    found: dict[str, tuple[str, ...]] = {}
    for stored in games:
        try:
            text = stored.initial_position
            position = game.initial() if text is None else game.parse_position(text)
            for move in stored.moves[:PLIES]:
                here = game.position_text(position)
                found[here] = tuple(dict.fromkeys((*found.get(here, ()), move)))
                position = if_it_goes_on(game, game.play(position, game.parse_move(position, move)))
        except (BadPosition, IllegalMove) as error:
            logger.warning("game %s cannot be read any more: %s", stored.site_game_id, error)
    return found
