"""Reads what is known of a person from the database, and forgets it."""

import asyncio

from bot.text.person_report import PersonReport, person_game_report
from storage.database import Database
from storage.evidence.queries.person_report import list_reported_replies
from storage.ledger.persons import (
    ERASED_PER_BATCH,
    erase_records,
    forget_person,
    forgotten_at,
    name_of_person,
    states_of,
)
from storage.ledger.sites import site_of_person


async def load_person(database: Database, opponent_id: int) -> PersonReport:
    """What is known of the person with this database key.

    Raises:
        RecordError: A record or a state is damaged.
    """
    async with database.read() as session:
        site, name = await name_of_person(session, opponent_id)
        forgotten = await forgotten_at(session, opponent_id)
        states = await states_of(session, opponent_id)
        replies = {game: await list_reported_replies(session, opponent_id, game) for game in states}
        sites = {game: await site_of_person(session, opponent_id, game) for game in states}
    reports = [
        await asyncio.to_thread(person_game_report, game, stored, replies[game], sites[game])
        for game, stored in states.items()
    ]
    return PersonReport(site, name, forgotten, tuple(reports))


async def forget_person_everywhere(database: Database, opponent_id: int) -> bool:
    """Forget a person; return False if they were forgotten before.

    What records of forecasts and decisions say of the person is erased in transactions of their own; if that
    was interrupted, a second call finishes it.
    """
    async with database.write() as session:
        is_new = await forget_person(session, opponent_id)
    after: int | None = 0
    while after is not None:
        async with database.write() as session:
            after = await erase_records(session, opponent_id, after, ERASED_PER_BATCH)
    return is_new
