"""Finds the games to resume after a restart or a crash, for sites whose game ids are not permanent."""

from collections.abc import Sequence

from bot.base.errors import TransientError
from bot.base.events import Clock, GameSnapshot, GameState, Opponent, Speed
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.games import list_open_games
from storage.records import AccountKey, StoredGame


async def games_to_resume(database: Database, owner: AccountKey) -> Sequence[GameSnapshot]:
    """Return an account's unfinished games, in the state last stored in the database.

    Raises:
        TransientError: The database cannot be read at the moment.
    """
    try:
        async with database.read() as session:
            return [snapshot_of(game) for game in await list_open_games(session, owner)]
    except StorageError as error:
        raise TransientError(f"cannot look up the open games: {error}") from error


def snapshot_of(game: StoredGame) -> GameSnapshot:
    """Convert a stored game to a `GameSnapshot`; the time left on its clocks is unknown."""
    initial_s, increment_s = game.clock_initial_s, game.clock_increment_s
    return GameSnapshot(
        game_id=game.site_game_id,
        game=game.game,
        variant=game.variant,
        initial_position=game.initial_position,
        our_side=game.our_side,
        rated=game.rated,
        speed=Speed(game.speed),
        clock=None if initial_s is None else Clock(initial_s, increment_s or 0),
        opponent=Opponent(game.opponent_id, game.opponent_name, game.opponent_rating, game.opponent_is_bot),
        our_rating=game.our_rating,
        state=GameState(game.moves, None, (False, False), (False, False), None),
    )
