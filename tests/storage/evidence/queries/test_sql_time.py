"""Times in SQL equal Python's."""

import random
from datetime import UTC, datetime, timedelta

from sqlalchemy import literal, select, text, union_all

from storage.database import Database
from storage.evidence.queries.event_log import site_times
from storage.evidence.queries.overview import last_days, move_times
from storage.evidence.queries.sql_time import hour_of, quantiles, seconds_between
from storage.tables.games import DecisionRow, GameRow
from tests.bot.dashboard.samples import met_bait

NOW = datetime(2026, 11, 25, 18, 30, tzinfo=UTC)


async def test_quantiles_are_the_least_values_that_cover_the_share(database: Database) -> None:
    rng = random.Random(1)
    groups = {"one": [4.5], "few": [3.0, 1.0, 2.0], "many": [rng.random() for _ in range(41)]}
    rows = union_all(
        *(
            select(literal(name).label("name"), literal(value).label("value"))
            for name, values in groups.items()
            for value in values
        )
    )
    async with database.read() as session:
        found = {row.name: row for row in await session.execute(quantiles(rows, (50, 95)))}
    assert sorted(found) == sorted(groups)
    for name, values in groups.items():
        row = found[name]
        assert (row.size, row.longest) == (len(values), max(values))
        for share, value in ((0.5, row.q50), (0.95, row.q95)):
            covered = [v for v in sorted(values) if sum(w <= v for w in values) >= share * len(values)]
            assert value == covered[0]


async def test_days_and_hours_are_of_utc_wherever_the_database_is(database: Database) -> None:
    late = datetime(2026, 11, 25, 18, 30, tzinfo=UTC)
    async with database.write() as session:
        if database.dialect == "postgresql":
            await session.execute(text("SET LOCAL TIME ZONE 'Asia/Tokyo'"))  # where it is the 26th
        await met_bait(session, "g", at=late)
        assert await session.scalar(select(hour_of(session, GameRow.started_at))) == "2026-11-25 18"
        assert [day.games for day in await last_days(session, late, 2)] == [0, 1]


async def test_times_of_moves_are_those_of_the_rows(database: Database) -> None:
    rng = random.Random(2)
    async with database.write() as session:
        await met_bait(session, "old", at=NOW - timedelta(days=9))
        for number in range(9):
            await met_bait(session, f"g{number}", at=NOW - timedelta(hours=number % 3))
        for row in (await session.scalars(select(DecisionRow).order_by(DecisionRow.id))).all():
            game = await session.get(GameRow, row.game_id)
            assert game is not None
            row.created_at = game.started_at
            row.time_s = rng.random()
            row.sent_at = row.created_at + timedelta(microseconds=rng.randrange(3_000_000))
            row.confirmed_at = row.sent_at + timedelta(microseconds=rng.randrange(3_000_000))
        await session.flush()
        decisions = [
            row
            for row in await session.scalars(select(DecisionRow))
            if row.created_at > NOW - timedelta(days=1)
        ]
        columns = (
            hour_of(session, DecisionRow.created_at),
            seconds_between(session, DecisionRow.created_at, DecisionRow.sent_at),
        )
        for row, (hour, seconds) in zip(
            (await session.scalars(select(DecisionRow).order_by(DecisionRow.id))).all(),
            await session.execute(select(*columns).order_by(DecisionRow.id)),
            strict=True,
        ):
            assert hour == f"{row.created_at:%Y-%m-%d %H}"
            assert row.sent_at is not None
            assert abs(seconds - (row.sent_at - row.created_at).total_seconds()) < 1e-9
        hours = await move_times(session, NOW)
        (site,) = await site_times(session, NOW - timedelta(days=7))
    assert [(each.hour.hour, each.moves) for each in hours] == [(16, 3), (17, 3), (18, 3)]
    for each in hours:
        times = sorted(row.time_s for row in decisions if row.created_at.hour == each.hour.hour)
        assert (each.median_s, each.p95_s, each.longest_s) == (times[1], times[2], times[2])
    sent = sorted((row.sent_at - row.created_at).total_seconds() for row in decisions if row.sent_at)
    shown = sorted(
        (row.confirmed_at - row.sent_at).total_seconds()
        for row in decisions
        if row.confirmed_at and row.sent_at
    )
    assert site.moves == 9
    found = (site.send_median_s, site.send_p95_s, site.confirm_median_s, site.confirm_p95_s)
    for one, other in zip(found, (sent[4], sent[8], shown[4], shown[8]), strict=True):
        assert one is not None
        assert abs(one - other) < 1e-9
