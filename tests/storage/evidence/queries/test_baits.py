"""Which baits count, in which order, and what is said of each.

`tests.bot.dashboard.numbers.test_traps` computes every number again from exports.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from sqlalchemy import event, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.expected import WHOLE
from engine.human.reply_forecast import ReplyForecast
from storage.database import Database
from storage.evidence.game_records import line_key
from storage.evidence.queries import baits
from storage.evidence.queries.baits import (
    BaitEncounter,
    BaitOrder,
    RepeatedBait,
    list_baits,
    list_repeated,
    read_baits,
)
from storage.evidence.queries.game_list import GameOrder, ResultFilter, list_game_lines
from storage.evidence.summaries import list_finished_games, summarise
from storage.filters import Filters, GamePhase
from storage.records import MATCH_SITE, BaitOutcome
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OpponentRow, OutcomeRow
from tests.bot.dashboard.samples import met_bait
from tests.bot.tempted import lost_game, plain_game

REPLIES = ("d7d5", "g8f6", "e7e5", "a7a6")
"""A bait, an error that few play, the best reply, and another."""
LATE = GamePhase(2)


@dataclass(frozen=True)
class Recorded:
    """A bait, from the records alone."""

    game_id: int
    person: int
    rating: int | None
    ply: int
    expected_loss: float
    cost: int
    taken: bool
    expected: float


async def recorded(session: AsyncSession) -> list[Recorded]:
    rows = await session.execute(
        select(DecisionRow, ForecastRow.record, OutcomeRow.reply, GameRow)
        .join(ForecastRow, ForecastRow.decision_id == DecisionRow.id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .join(GameRow, GameRow.id == DecisionRow.game_id)
        .order_by(DecisionRow.id)
    )
    found = []
    for decision, record, reply, game in rows:
        made = ReplyForecast.from_record(record)
        names = {each.reply for each in made.baits}
        if decision.is_decided or not names:
            continue
        best = max(made.baits, key=lambda e: e.p_reply * e.cost.cost)
        expected = sum(p for r, p in zip(made.replies, made.probabilities, strict=True) if r in names)
        found.append(
            Recorded(
                game.id, game.opponent_id, game.opponent_rating, decision.ply, best.p_reply * best.cost.cost,
                best.cost.cost, reply in names, expected,
            )
        )  # fmt: skip
    return found


async def listed(
    session: AsyncSession, filters: Filters, outcome: BaitOutcome | None = None
) -> list[BaitEncounter]:
    """The baits of some games, the newest first."""
    return await list_baits(session, await read_baits(session, filters), outcome, BaitOrder.NEWEST, 9)


async def repeated(
    session: AsyncSession, outcome: BaitOutcome | None = None, offset: int = 0
) -> tuple[list[RepeatedBait], int]:
    """Those that were met several times, in all games."""
    return await list_repeated(session, await read_baits(session, Filters()), outcome, 9, offset)


async def many_games(session: AsyncSession, people: int = 40) -> None:
    """People of several ratings, who meet the bait once or twice and take it or do not."""
    for number in range(people):
        for again in range(1 + number % 2):
            await met_bait(
                session,
                f"g{number}-{again}",
                REPLIES[(number * 3 + again) % 4],
                opponent=f"person {number}",
                rating=None if number % 10 == 9 else 1390 + 30 * (number % 8),
            )
    # The second games are by the same people as the first.
    names = {row.name: row.id for row in await session.scalars(select(OpponentRow).order_by(-OpponentRow.id))}
    for row in (await session.scalars(select(OpponentRow))).all():
        await session.execute(
            update(GameRow).where(GameRow.opponent_id == row.id).values(opponent_id=names[row.name])
        )
    # A third is in a later phase: that of the reply, which is one ply later.
    await session.execute(update(DecisionRow).where(DecisionRow.id % 3 == 0).values(ply=39))


async def test_a_phase_selects_baits_by_their_replies(database: Database) -> None:
    async with database.write() as session:
        await many_games(session)
    async with database.read() as session:
        expected = [each for each in await recorded(session) if each.ply == 39]
        filters = Filters(phase=LATE, min_opponent_rating=1400)
        expected = [each for each in expected if (each.rating or 0) >= 1400]
        counts = await read_baits(session, filters)
        assert (counts.everything.encounters, counts.everything.taken) == (
            len(expected), sum(each.taken for each in expected)
        )  # fmt: skip
        assert [each.start for each in counts.by_phase] == [40]
        newest = await list_baits(session, counts, None, BaitOrder.NEWEST, 99)
        assert [each.game_id for each in newest] == [each.game_id for each in reversed(expected)]
        none = await read_baits(session, Filters(phase=GamePhase(1)))
        assert none.everything.encounters == 0
        assert await list_baits(session, none, None, BaitOrder.COST, 9) == []


async def test_few_people_have_no_interval(database: Database) -> None:
    async with database.write() as session:
        for number in range(29):
            await met_bait(session, f"g{number}", REPLIES[number % 4])
        async with session.begin_nested():
            few = (await read_baits(session, Filters())).everything
        await met_bait(session, "g29")
        enough = (await read_baits(session, Filters())).everything
    assert (few.effective_persons, few.interval) == (29, None)
    assert enough.effective_persons == 30
    assert enough.interval is not None


async def test_lists_are_ordered_and_paged(database: Database) -> None:
    keys = {
        BaitOrder.EXPECTED_LOSS: lambda row: (row.bait_probability * row.bait_cost, row.decision_id),
        BaitOrder.COST: lambda row: (row.bait_cost, row.decision_id),
        BaitOrder.NEWEST: lambda row: row.decision_id,
    }
    async with database.write() as session:
        await many_games(session, 8)
        # Different probability and costs, against which the orders differ.
        await session.execute(
            update(ForecastRow).values(
                bait_probability=0.1 + ForecastRow.decision_id % 7 / 10,
                bait_cost=1000 + ForecastRow.decision_id % 5,
            )
        )
        rows = (await session.execute(select(ForecastRow))).scalars().all()
        counts = await read_baits(session, Filters())
        for outcome, order in product((None, *BaitOutcome), BaitOrder):
            wanted = [
                row
                for row in rows
                if outcome is None or BaitOutcome.of(row.is_taken) is outcome
            ]  # fmt: skip
            wanted.sort(key=keys[order], reverse=True)
            found = [
                bait
                for offset in (0, 5, 10)
                for bait in await list_baits(session, counts, outcome, order, 5, offset)
            ]
            assert [bait.decision_id for bait in found] == [row.decision_id for row in wanted], (
                outcome,
                order,
            )
            for bait, row in zip(found, wanted, strict=True):
                assert (bait.probability, bait.is_taken) == (row.bait_probability, row.is_taken)
                assert row.bait_cost == bait.cost * WHOLE
                assert bait.expected_loss == bait.probability * bait.cost


async def test_a_bait_says_who_met_it_and_what_they_played(database: Database) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one", "a7a6", opponent="Anna", rating=1710)
        (bait,) = await listed(session, Filters())
        cost = await session.scalar(select(OutcomeRow.cost))
    assert (bait.game_id, bait.ply, bait.move, bait.bait) == (game.id, 0, "e2e4", "d7d5")
    assert (bait.opponent, bait.opponent_rating, bait.reply) == ("Anna", 1710, "a7a6")
    assert (bait.is_taken, bait.reply_cost) == (False, cost / WHOLE if cost else None)


async def test_what_does_not_count_is_not_there(database: Database) -> None:
    async with database.write() as session:
        await plain_game(session)  # no bait
        await lost_game(session, "d7d5")  # decided
        match = await met_bait(session, "match", site=MATCH_SITE)
        taken_back = await met_bait(session, "back")
        dropped = await met_bait(session, "dropped")
        await session.execute(
            update(DecisionRow).where(DecisionRow.game_id == taken_back.id).values(takeback=1)
        )
        await session.execute(
            update(DecisionRow).where(DecisionRow.game_id == dropped.id).values(state="dropped")
        )
        old = await met_bait(session, "old")
        ids = select(DecisionRow.id).where(DecisionRow.game_id == old.id)
        await session.execute(update(ForecastRow).where(ForecastRow.decision_id.in_(ids)).values(rule=0))
        for filters, expected in ((Filters(), []), (Filters(site=MATCH_SITE), [match.id])):
            assert [bait.game_id for bait in await listed(session, filters)] == expected
            counts = await read_baits(session, filters)
            assert counts.everything.encounters == len(expected)


async def test_an_unanswered_bait_is_met_by_nobody(database: Database) -> None:
    async with database.write() as session:
        await met_bait(session, "one")
        await session.execute(update(ForecastRow).values(is_taken=None))
        counts = await read_baits(session, Filters())
        found = {
            outcome: len(await list_baits(session, counts, outcome, BaitOrder.COST, 9))
            for outcome in (None, *BaitOutcome)
        }
    group = counts.everything
    assert (group.encounters, group.unanswered, group.expected, group.share) == (0, 1, 0, None)
    assert found == {None: 1, BaitOutcome.TAKEN: 0, BaitOutcome.HELD: 0, BaitOutcome.UNANSWERED: 1}


async def test_filters_select_the_games(database: Database) -> None:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    async with database.write() as session:
        await met_bait(session, "a", opponent="Anna", rating=1500, at=at)
        await met_bait(session, "b", opponent="Bert", rating=1900, at=at + timedelta(days=2))
        for filters, name in [
            (Filters(opponent="anna"), "Anna"),
            (Filters(min_opponent_rating=1600), "Bert"),
            (Filters(until=at + timedelta(days=1)), "Anna"),
        ]:
            assert [bait.opponent for bait in await listed(session, filters)] == [name]
            assert (await read_baits(session, filters)).everything.encounters == 1


async def test_the_same_bait_is_counted_where_the_same_moves_led_to_it(database: Database) -> None:
    async with database.write() as session:
        for number, reply in enumerate(("d7d5", "e7e5", "d7d5", "a7a6")):
            last = await met_bait(session, f"same{number}", reply)
        ((found,), many) = await repeated(session)
        assert (found.encounters, found.taken, found.share, many) == (4, 2, 0.5, 1)
        assert found.latest.game_id == last.id
        # Another start, or other moves before it: another bait.
        other = await met_bait(session, "start")
        await session.execute(update(GameRow).where(GameRow.id == other.id).values(initial_position="other"))
        later = await met_bait(session, "moves")
        await session.execute(update(GameRow).where(GameRow.id == later.id).values(moves="g1f3 g8f6 x y"))
        await session.execute(update(DecisionRow).where(DecisionRow.game_id == later.id).values(ply=2))
        assert await repeated(session) == ([found], 1)
        assert await repeated(session, BaitOutcome.TAKEN) == ([found], 1)
        assert await repeated(session, BaitOutcome.HELD) == ([], 0)
        assert await repeated(session, None, 1) == ([], 1)


async def test_the_most_often_taken_come_first(database: Database) -> None:
    starts = {"often": ("d7d5", "d7d5", "e7e5"), "always": ("d7d5", "d7d5"), "never": ("e7e5", "e7e5")}
    async with database.write() as session:
        for start, replies in starts.items():
            for number, reply in enumerate(replies):
                await met_bait(session, f"{start}{number}", reply, initial_position=start)
        found, many = await repeated(session)
        held, _ = await repeated(session, BaitOutcome.HELD)
    assert [(each.taken, each.encounters) for each in found] == [(2, 2), (2, 3), (0, 2)]
    assert [(each.taken, each.encounters) for each in held] == [(0, 2)]
    assert many == 3


async def test_only_the_latest_are_searched(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baits, "MAX_SEARCHED_BAITS", 2)
    async with database.write() as session:
        for number in range(3):
            await met_bait(session, f"g{number}")
        ((found,), _) = await repeated(session)
    assert found.encounters == 2


async def test_sqlite_reads_no_large_table_whole(database: Database, backend: str) -> None:
    if backend != "sqlite":
        return  # PostgreSQL plans by its statistics, and reads small tables whole
    said: list[tuple[str, Any]] = []

    def listen(_connection: object, _cursor: object, statement: str, values: Any, *_: object) -> None:
        said.append((statement, values))

    async with database.read() as session:
        connection = await session.connection()
        event.listen(connection.sync_connection, "before_cursor_execute", listen)
        for filters in (Filters(), Filters(game="chess"), Filters(phase=LATE)):
            await listed(session, filters)
        await repeated(session)
        await list_game_lines(session, Filters(), ResultFilter.ANY, GameOrder.MOST_BAITS_TAKEN, 9)
        for statement, values in said:
            if not statement.startswith("SELECT"):
                continue
            plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            for *_, step in plan:
                assert "SCAN decisions" not in step, statement
                assert "SCAN outcomes" not in step, statement
                if "SCAN forecasts" in step:
                    assert "USING COVERING INDEX ix_forecasts_bait" in step, statement
    assert len(said) > 5


async def test_games_with_and_without_summary_say_the_same(database: Database) -> None:
    filters = Filters(max_opponent_rating=1550)

    async def everything(session: AsyncSession) -> list[object]:
        found: list[object] = []
        for each in (Filters(), filters, replace(filters, phase=LATE)):
            counts = await read_baits(session, each)
            found.append(counts)
            for outcome in (None, *BaitOutcome):
                found.append(await list_repeated(session, counts, outcome, 9))
                found += [await list_baits(session, counts, outcome, order, 7, 3) for order in BaitOrder]
        lines = await list_game_lines(session, Filters(), ResultFilter.ANY, GameOrder.MOST_BAITS_TAKEN, 99)
        return [*found, [line.game_id for line in lines]]

    async with database.write() as session:
        await many_games(session, 16)
        # Half, so that sums do not depend on their order.
        probability = 0.1 + ForecastRow.decision_id % 7 / 10
        await session.execute(update(ForecastRow).values(bait_probability=probability, bait_expected=0.5))
        await session.execute(
            update(ForecastRow).where(ForecastRow.decision_id % 5 == 0).values(is_taken=None)
        )
        before = await everything(session)
        await session.execute(update(GameRow).values(state="finished", is_settled=True))
        games = await list_finished_games(session, 0, 99)
        for some in (games[::3], games):
            assert await summarise(session, some) == len(some)
            assert await everything(session) == before


def test_a_line_is_its_game_start_moves_and_bait() -> None:
    whole = ("chess", None, ("e2e4", "e7e5"), "g1f3", "d7d5")
    others = [
        ("xiangqi", None, ("e2e4", "e7e5"), "g1f3", "d7d5"),
        ("chess", "", ("e2e4", "e7e5"), "g1f3", "d7d5"),
        ("chess", None, ("e2e4",), "g1f3", "d7d5"),
        ("chess", None, ("e2e4", "e7e5"), "g1h3", "d7d5"),
        ("chess", None, ("e2e4", "e7e5"), "g1f3", "d7d6"),
    ]
    assert len({line_key(*each) for each in (whole, *others)}) == 6
    assert line_key(*whole) == line_key(*whole)
    assert -(2**63) <= line_key(*whole) < 2**63


async def test_an_empty_database_has_nothing(database: Database) -> None:
    async with database.read() as session:
        counts = await read_baits(session, Filters())
        assert (counts.everything.encounters, counts.by_phase, counts.by_rating) == (0, (), ())
        assert counts.everything.interval is None
        assert await listed(session, Filters()) == []
        assert await repeated(session) == ([], 0)
