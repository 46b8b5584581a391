"""How many games a day there are, of what is stored."""

from datetime import UTC, datetime, timedelta

import pytest

from storage.database import Database
from storage.evidence.statistics.pace import Pace, recent_pace
from storage.filters import Filters
from storage.ledger.games import finish_game
from storage.records import MATCH_SITE, GameResult
from tests.storage.samples import opened

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
DAY = timedelta(days=1)


async def test_finished_games_with_people_of_four_weeks(database: Database) -> None:
    async with database.write() as session:
        assert await recent_pace(session, NOW) == Pace(0, 1.0)

        async def played(key: str, days_ago: float, **changes: object) -> None:
            game = await opened(session, key, at=NOW - days_ago * DAY, **changes)
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="resign", moves=["f5"])

        await played("now", 0)
        assert await recent_pace(session, NOW) == Pace(1, 1.0)
        await played("ten days", 10)
        assert await recent_pace(session, NOW) == Pace(2, 10.0)
        await played("program", 5, opponent_id="hal", opponent_is_bot=True)
        await played("match", 5, site=MATCH_SITE)
        await opened(session, "open", at=NOW - DAY)
        await played("future", -1)
        await played("last year", 400)
        found = await recent_pace(session, NOW)
        assert found == Pace(2, 28.0)
        assert found.games_per_day == pytest.approx(2 / 28)
        assert await recent_pace(session, NOW, Filters(game="chess")) == Pace(0, 1.0)
