"""Computes missing summaries of games, or checks all of them, in batches."""

import logging

from storage.database import Database
from storage.errors import StorageError
from storage.evidence.statistics.group_rows import count_outdated
from storage.evidence.summaries import (
    SUMMARY_BATCH_GAMES,
    SUMMARY_BATCH_GAMES_IN_PLAY,
    games_to_summarise,
    list_finished_games,
    repair_summaries,
    summarise,
)

logger = logging.getLogger(__name__)


async def make_summaries(database: Database, batch: int = SUMMARY_BATCH_GAMES) -> int:
    """Summarise the finished games that lack a valid summary, with a separate transaction for each batch.

    A run can be stopped at any time; the next one continues the work.  Damaged games get no summary.

    Args:
        database: Open.
        batch: Number of games per transaction.

    Returns:
        Number of new summaries.
    """
    summaries = after = 0
    while True:
        async with database.read() as session:
            games = await games_to_summarise(session, after, batch)
        if not games:
            return summaries
        async with database.write() as session:
            summaries += await summarise(session, games)
        after = games[-1]


async def check_summaries(database: Database) -> int:
    """Compare every summary with its game, fix wrong ones, and compute missing ones.

    Returns:
        The number of wrong summaries; a summary is wrong if its game was changed after the summary was made.
    """
    wrong = after = 0
    while True:
        async with database.read() as session:
            games = await list_finished_games(session, after, SUMMARY_BATCH_GAMES)
        if not games:
            return wrong
        async with database.write() as session:
            wrong += len(await repair_summaries(session, games))
        after = games[-1]


async def outdated_notice(database: Database) -> str:
    """Return a line with the number of decisions that statistics ignore and the command that repairs that;
    empty if the number is 0.

    Decisions classified or forecast by an earlier release do not count under the current rules.
    """
    async with database.read() as session:
        count = await count_outdated(session)
    if not count:
        return ""
    what = "1 decision is" if count == 1 else f"{count} decisions are"
    return (
        f"{what} not classified by the current rules, and statistics ignore them: run `desdemona db recheck`"
    )


async def summarise_in_background(database: Database) -> None:
    """Compute missing summaries while the program plays; statistics are slower without summaries."""
    try:
        if summaries := await make_summaries(database, SUMMARY_BATCH_GAMES_IN_PLAY):
            logger.info("missing summaries created: %d", summaries)
        if notice := await outdated_notice(database):
            logger.warning(notice)
    except StorageError as error:
        logger.warning("cannot create missing summaries for now: %s", error)
    except Exception:  # no game may end because of it
        logger.exception("creating missing summaries crashed")
