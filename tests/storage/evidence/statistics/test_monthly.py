from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from bot.base.dialects import rating_list_of
from storage.database import Database
from storage.evidence.queries.overview import Day
from storage.evidence.queries.rating_curves import RatingPoint
from storage.evidence.statistics.monthly import MAX_MONTHLY_BAITS, MonthlyReport, monthly_report
from storage.evidence.trials import NewTrial, end_trial, start_trial
from storage.filters import Filters
from storage.ledger.events import record_event
from storage.records import GameResult, GameStatus
from storage.tables.games import DecisionRow, EventRow, GameRow
from tests.storage.ledger.test_forecasts import MADE, made_forecast
from tests.storage.samples import ARENA, FELL, judge_replies, opened, settled, store_forecast

SINCE, UNTIL = datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)
NOVEMBER = Filters(since=SINCE, until=UNTIL)


async def report_on(database: Database, filters: Filters = NOVEMBER) -> MonthlyReport:
    async with database.read() as session:
        return await monthly_report(session, filters, rating_list_of)


async def game(
    database: Database, key: str, at: datetime, result: GameResult | None, *, judged: bool = False, **new: Any
) -> int:
    """A game with a bait that is taken; returns the decision's key."""
    async with database.write() as session:
        stored = await opened(session, key, at=at, **new)
        made = await settled(session, stored.id, 0, MADE, FELL)
        await store_forecast(session, made, MADE, made_forecast())
        state = GameStatus.FINISHED if result else GameStatus.OPEN
        changes = {"state": state, "is_settled": bool(result), "result": result, "ended_at": at}
        await session.execute(update(GameRow).where(GameRow.id == stored.id).values(**changes))
        if judged:
            await judge_replies(session, stored.id)
    return made


async def test_days(database: Database) -> None:
    await game(database, "a", SINCE, GameResult.WIN)
    await game(database, "b", SINCE + timedelta(hours=23), GameResult.DRAW)
    await game(database, "c", UNTIL - timedelta(microseconds=1), None)
    await game(database, "before", SINCE - timedelta(microseconds=1), GameResult.WIN)
    await game(database, "after", UNTIL, GameResult.WIN)
    days = (await report_on(database)).days
    assert len(days) == 30
    assert days[0] == Day(date(2026, 11, 1), games=2, decided=2, points=1.5, baits_set=2, baits_taken=2)
    assert days[1] == Day(date(2026, 11, 2))
    assert days[-1] == Day(date(2026, 11, 30), games=1, baits_set=1, baits_taken=1)


async def test_groups_are_by_player_and_game(database: Database) -> None:
    await game(database, "a", SINCE, GameResult.WIN)
    await game(database, "b", SINCE, GameResult.LOSS, strategy="standard")
    groups = (await report_on(database)).groups
    assert [(each.group, each.games) for each in groups] == [
        ({"strategy": "standard", "game": "othello"}, 1),
        ({"strategy": "trappy", "game": "othello"}, 1),
    ]
    assert [each.baits_set for each in groups] == [1, 1]


async def test_ratings_are_of_rated_games(database: Database) -> None:
    for number, (rating, rated) in enumerate([(1500, True), (1510, False), (None, True), (1490, True)]):
        at = SINCE + timedelta(hours=5 - number)
        speed = ("blitz", "bullet")[number % 2]  # the arena has one rating for all speeds
        await game(database, f"{number}", at, None, our_rating=rating, rated=rated, speed=speed)
    (curve,) = (await report_on(database)).ratings
    assert (curve.site, curve.account, curve.game, curve.speed) == (
        "arena",
        "desdemona",
        "othello",
        "",
    )
    assert curve.points == (
        RatingPoint(SINCE + timedelta(hours=2), 1490),
        RatingPoint(SINCE + timedelta(hours=5), 1500),
    )


async def test_the_most_costly_baits(database: Database) -> None:
    for number in range(MAX_MONTHLY_BAITS + 1):
        key = await game(database, f"g{number}", SINCE, None)
        async with database.write() as session:
            game_id = (await session.scalars(select(DecisionRow.game_id).where(DecisionRow.id == key))).one()
            await judge_replies(session, game_id, {key: 1000 + number})
    await game(database, "match", SINCE, None, site="match")
    await game(database, "not judged yet", SINCE, GameResult.WIN)
    report = await report_on(database)
    found = report.baits
    assert report.unjudged == 1
    assert [each.site_game_id for each in found] == [
        f"g{number}" for number in range(MAX_MONTHLY_BAITS, 0, -1)
    ]
    first = found[0]
    assert (first.cost, first.move, first.reply) == (0.1008, "f5", "d6")
    assert (first.bait_squares, first.move_squares, first.opponent) == (("d6",), ("f5",), "Anna")
    assert first.probability == pytest.approx(made_forecast().probabilities[1], abs=1e-6)
    assert len(first.rows) == 8
    assert "".join(first.rows).count("b") == 4  # after our move


async def test_events_are_counted_by_kind(database: Database) -> None:
    async with database.write() as session:
        last = UNTIL - timedelta(seconds=1)
        for kind, at in (("lost", SINCE), ("odd", SINCE), ("odd", last), ("odd", UNTIL)):
            await record_event(session, ARENA, kind, {})
            await session.execute(
                update(EventRow).where(EventRow.id == await last_event(session)).values(at=at)
            )
        await record_event(session, replace(ARENA, site="elsewhere"), "far", {})
        await session.execute(update(EventRow).where(EventRow.kind == "far").values(at=SINCE))
    assert (await report_on(database)).events == (("odd", 2), ("far", 1), ("lost", 1))
    of_site = replace(NOVEMBER, site="elsewhere", account="DESDEMONA")
    assert (await report_on(database, of_site)).events == (("far", 1),)
    assert (await report_on(database, replace(of_site, account="other"))).events == ()


async def last_event(session: Any) -> int:
    return int(await session.scalar(select(func.max(EventRow.id))))


@pytest.mark.parametrize(
    ("start", "end", "is_there"),
    [(-9, -1, False), (-9, 1, True), (1, None, True), (29, None, True), (31, None, False)],
)
async def test_trials_that_ran(database: Database, start: int, end: int | None, is_there: bool) -> None:
    async with database.write() as session:
        new = NewTrial(name="one", arms=("standard", "trappy"), configurations={"standard": {}, "trappy": {}})
        made = await start_trial(session, new, at=SINCE + timedelta(days=start))
        if end is not None:
            await end_trial(session, at=SINCE + timedelta(days=end))
        stored = await opened(session, "a", at=SINCE)
        await session.execute(update(GameRow).where(GameRow.id == stored.id).values(trial_id=made.id))
    found = (await report_on(database)).trials
    assert [(each.name, counts) for each, counts in found] == (
        [("one", {"standard": 0, "trappy": 1})] if is_there else []
    )


async def test_a_time_is_needed(database: Database) -> None:
    with pytest.raises(ValueError, match="must include since and until"):
        await report_on(database, Filters(since=SINCE))
