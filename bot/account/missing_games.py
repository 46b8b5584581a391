"""Names games that are not in the database although the account played them, as after the restore of an older
backup: games that began and ended in between appear in no stream.

The site's list of finished games names them. Where there is no list, only the gap in our records is known; a
gap that begins with a clean stop of the program is none.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.base.dialects import Capability
from bot.base.errors import RefusedError, ServerError, TransientError
from bot.base.event_log import log_event
from bot.base.events import ListedGame
from bot.base.reconnect import backoff_delays
from bot.base.rounding import plural
from bot.game.services import GameServices
from storage.database import Database
from storage.errors import StorageError
from storage.ledger.events import RecordSpan, record_span
from storage.ledger.games import known_site_games
from storage.records import AccountKey
from storage.tables.types import now_utc

logger = logging.getLogger(__name__)

GAMES_MISSING = "games_missing"
"""Kind of the event that names games, or a gap, that the database lacks."""
ACCOUNT_STOPPED = "account_stopped"
"""Kind of the event that ends an account's records when the program stops cleanly."""
OVERLAP = timedelta(days=1)
"""The site's list is compared from this long before the latest record; long games begin early."""
MIN_GAP = timedelta(minutes=10)
"""A shorter gap in the records, as after a crash, is not reported."""
_MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class MissingGames:
    """What the database lacks."""

    text: str
    """One sentence for the operator."""
    games: Sequence[ListedGame] = ()
    """The missing games; empty if they cannot be named."""


async def read_span(database: Database, owner: AccountKey) -> RecordSpan | None:
    """The span of the account's records; None if there are none, so that nothing can be missing.

    Call this before anything new is recorded.
    """
    async with database.read() as session:
        return await record_span(session, owner, ACCOUNT_STOPPED)


async def name_missing_games(services: GameServices, span: RecordSpan) -> str:
    """Find out what is missing since the latest record, log it and record it as an event.

    Returns:
        One sentence for the operator; empty if nothing is missing.
    """
    for wait_s in backoff_delays(services.rng):
        try:
            missing = await _find_missing_games(services, span)
            if missing is None:
                return ""
            detail = {
                "since": span.latest.isoformat(timespec="seconds"),
                "text": missing.text,
                "games": [game.game_id for game in missing.games],
            }
            async with services.database.write() as session:
                await log_event(session, services.owner, GAMES_MISSING, detail, metrics=services.metrics)
        except (TransientError, StorageError) as error:
            logger.info("cannot compare the database with the site's list of games: %s", error)
            await services.sleep(max(wait_s, getattr(error, "retry_after_s", None) or 0.0))
        except ServerError as error:
            logger.warning("cannot compare the database with the site's list of games: %s", error)
            return ""
        except Exception:  # the games matter more
            logger.exception("cannot compare the database with the site's list of games")
            return ""
        else:
            logger.warning("%s", missing.text)
            return missing.text
    raise AssertionError("the delays never end")


async def record_clean_stop(services: GameServices) -> None:
    """Record that the program stopped cleanly; a failure is only logged."""
    try:
        async with services.database.write() as session:
            await log_event(session, services.owner, ACCOUNT_STOPPED, {}, metrics=services.metrics)
    except StorageError as error:
        logger.info("the stop was not recorded: %s", error)


async def _find_missing_games(services: GameServices, span: RecordSpan) -> MissingGames | None:
    server = services.server
    if server.supports(Capability.GAME_LIST):
        since = max(span.latest - OVERLAP, span.earliest)
        try:
            listed = await server.finished_games(since)
        except RefusedError as error:
            logger.info("%s has no list of games: %s", server.site, error)
        else:
            async with services.database.read() as session:
                known = await known_site_games(session, services.owner, [game.game_id for game in listed])
            games = [game for game in listed if game.game_id not in known]
            return MissingGames(_games_text(server.site, games), games) if games else None
    now = now_utc()
    if services.config.uses_arena or span.is_clean_stop or now - span.latest < MIN_GAP:
        return None
    return MissingGames(
        f"there is no record of this account from {_time_text(span.latest)} to {_time_text(now)}, and the "
        "program was not stopped cleanly: if the database is an older backup, games that began and ended in "
        f"between are missing; {server.site} has no list that names them"
    )


def _games_text(site: str, games: Sequence[ListedGame]) -> str:
    named = ", ".join(
        f"{game.game_id} (against {game.opponent or 'somebody'}, {_time_text(game.began_at)})"
        for game in games[:_MAX_NAMED]
    )
    more = f" and {len(games) - _MAX_NAMED} more" if len(games) > _MAX_NAMED else ""
    return (
        f"{plural(len(games), 'finished game')} at {site} {'is' if len(games) == 1 else 'are'} not in the "
        f"database, which may be an older backup: {named}{more}"
    )


def _time_text(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
