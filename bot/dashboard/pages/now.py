"""The first page: is the bot well, and what does it do?"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from bot.dashboard.page import Page, Query, Rows
from storage.database import Database
from storage.queries.overview import BaitEvent, Day, MoveTimes, last_days, latest_baits, move_times


@dataclass(frozen=True, slots=True)
class NowView:
    """What the page shows from the database."""

    days: tuple[Day, ...]
    baits: tuple[BaitEvent, ...]
    times: tuple[MoveTimes, ...]

    @property
    def today(self) -> Day:
        """The day that has begun."""
        return self.days[-1]

    def to_json(self) -> dict[str, Any]:
        """See `bot.dashboard.page.View.to_json`."""
        return asdict(self)

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.dashboard.page.View.tables`."""
        return {
            "days": [asdict(day) for day in self.days],
            "baits": [asdict(bait) for bait in self.baits],
            "times": [asdict(hour) for hour in self.times],
        }


async def load(database: Database, _query: Query) -> NowView:
    """See `bot.dashboard.page.Page.load`."""
    now = datetime.now(UTC)
    async with database.read() as session:
        return NowView(
            tuple(await last_days(session, now)),
            tuple(await latest_baits(session)),
            tuple(await move_times(session, now)),
        )


PAGE = Page("now", "/dash", "Now", load, filters=(), fresh_s=1.0)
