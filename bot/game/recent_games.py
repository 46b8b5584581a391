"""The moves of recent games against an opponent, so that we can avoid playing the same game twice.

lichess.org does not rate a game with a program if one of the pair's last two games had the same first 20
plies and the same winner.  Besides, an opponent who has found a weak line would keep playing it.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from engine.game import BadPosition, Game, IllegalMove, if_it_goes_on
from storage.database import Database
from storage.errors import StorageError
from storage.filters import Filters
from storage.games import list_games
from storage.records import StoredGame

logger = logging.getLogger(__name__)

GAMES = 2
"""Number of latest games with an opponent, of those with a result, that are not to be repeated."""
PLIES = 20
"""A game counts as different if it deviates within this many plies."""

Paths = Mapping[str, tuple[str, ...]]
"""Recently played moves, by the text of their position."""


async def latest_paths(database: Database, game: Game[Any], stored: StoredGame) -> Paths:
    """The openings of the latest games against a game's opponent; none when they cannot be read.

    Games without a result do not count, as on the server: otherwise two aborted games would hide those that
    must not be repeated.
    """
    filters = Filters(
        site=stored.site,
        account=stored.account,
        game=stored.game,
        opponent_id=stored.opponent_id,
        has_result=True,
    )
    try:
        async with database.read() as session:
            latest = await list_games(session, filters, limit=GAMES)
    except StorageError as error:  # finding a move matters more
        logger.warning("game %s: %s; it may repeat an opening", stored.site_game_id, error)
        return {}
    return paths(game, latest)


def paths(game: Game[Any], games: Sequence[StoredGame]) -> Paths:
    """The moves of games in their first `PLIES` plies, by position."""
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
