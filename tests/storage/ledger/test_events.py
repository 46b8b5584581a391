from datetime import timedelta

from storage.database import Database
from storage.ledger.events import list_events, record_event
from storage.records import AccountKey
from tests.storage.samples import ARENA, opened


async def test_events_come_back_the_latest_first(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await record_event(session, ARENA, "connected", {"tries": 1})
        await record_event(session, ARENA, "challenge_declined", {"why": "too fast"}, game.id)
        await record_event(session, AccountKey("elsewhere", "desdemona"), "connected", {})
    async with database.read() as session:
        events = await list_events(session)
        assert [event.kind for event in events] == ["connected", "challenge_declined", "connected"]
        assert events[1].detail == {"why": "too fast"}
        assert events[1].game_id == game.id
        assert events[0].at >= events[2].at
        assert [event.site for event in await list_events(session, kind="connected")] == [
            "elsewhere",
            "arena",
        ]
        assert len(await list_events(session, owner=ARENA, limit=1)) == 1
        assert len(await list_events(session, game_id=game.id)) == 1
        assert await list_events(session, since=events[0].at + timedelta(seconds=1)) == []
