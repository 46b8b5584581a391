"""Falls are taken up once, and chosen for whom they suit, on both databases."""

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import delete, event, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.judge import JUDGE_VERSION
from storage.arena import accounts as arena
from storage.arena.puzzles import positions, solvers
from storage.arena.puzzles.positions import NewMistake, PuzzleRating, position_key
from storage.arena.puzzles.solvers import ReviewRecord, SolverRecord
from storage.database import Database
from storage.inserts import insert_new
from storage.ledger.games import reopen_game, settle_game
from storage.ledger.judgements import store_judgements
from storage.records import StoredGame
from storage.tables.arena import ArenaGame
from storage.tables.games import DecisionRow, GameRow, JudgementRow, OpponentRow
from storage.tables.puzzles import PuzzleMistake, PuzzlePosition
from tests.bot.tempted import plain_game, tempting_game
from tests.storage.arena.test_accounts import AT, add, game

SITE = "arena"
START = PuzzleRating(1234.5, 200.0, 0.06)


def started(mistake: NewMistake) -> PuzzleRating:
    assert 0 < mistake.probability < 1
    return START


async def fell(session: AsyncSession, key: str, reply: str = "d7d5", person: str = "anna") -> StoredGame:
    """A settled game in which a person met the bait, which anybody may see."""
    found = await tempting_game(session, reply, key=key)
    players = (person, "anna" if person == "desdemona" else "desdemona")
    await arena.add_game(session, game(key, players=players, ended_at=AT))
    row = select(OpponentRow.id).where(OpponentRow.site_id == person)
    opponent = await session.scalar(row)
    if opponent is None:
        opponent = await session.scalar(
            insert(OpponentRow)
            .values(site=SITE, site_id=person, name=person, is_bot=False, first_seen_at=AT)
            .returning(OpponentRow.id)
        )
    await session.execute(update(GameRow).where(GameRow.id == found.id).values(opponent_id=opponent))
    return found


async def taken_up(session: AsyncSession) -> int:
    games = list(await session.scalars(select(GameRow.id)))
    decisions = await positions.list_baits(session, games)
    return await positions.import_positions(
        session, await positions.list_new_mistakes(session, SITE, decisions), started
    )


@pytest.fixture
async def people(database: Database) -> Database:
    for name in ("Anna", "Ben", "Desdemona"):
        await add(database, name)
    return database


async def add_positions(session: AsyncSession, ratings: list[float], source: StoredGame) -> list[int]:
    """Positions of chess with these ratings, met in that game."""
    decision = (
        (await session.execute(select(DecisionRow).where(DecisionRow.game_id == source.id))).scalars().one()
    )
    values = {
        column.key: getattr(decision, column.key)
        for column in DecisionRow.__table__.columns
        if column.key not in ("id", "ply")
    }
    made = []
    for number, rating in enumerate(ratings):
        row = PuzzlePosition(
            key=number, game="chess", rating=rating, deviation=100.0, volatility=0.06, answers=0, solved=0
        )
        later = DecisionRow(**values, ply=100 + number)
        session.add_all([row, later])
        await session.flush()
        opponent = await session.scalar(select(GameRow.opponent_id).where(GameRow.id == source.id))
        session.add(
            PuzzleMistake(
                decision_id=later.id, game_id=source.id, position_id=row.id, opponent_id=opponent or 0
            )
        )
        judged = {"version": JUDGE_VERSION, "cost": 2400, "best": "e7e5", "best_centi": -30, "replies": []}
        session.add(JudgementRow(decision_id=later.id, **judged))
        await session.flush()
        made.append(row.id)
    return made


async def test_only_unsound_replies_of_people_are_taken_up_and_once(people: Database) -> None:
    async with people.write() as session:
        first = await fell(session, "first")
        second = await fell(session, "second", "a7a6", "ben")  # no bait, and no sound reply either
        await fell(session, "sound", "e7e5")
        robot = await fell(session, "robot", person="desdemona")
        await session.execute(
            update(OpponentRow).where(OpponentRow.site_id == "desdemona").values(is_bot=True)
        )
        open_one = await tempting_game(session, key="open")
        await session.execute(update(GameRow).where(GameRow.id == open_one.id).values(is_settled=False))
        await plain_game(session)  # no bait
        elsewhere = await fell(session, "elsewhere")
        await session.execute(update(GameRow).where(GameRow.id == elsewhere.id).values(site="lichess"))
        assert await taken_up(session) == 2
        assert await taken_up(session) == 0
        mistakes = {row.game_id: row for row in (await session.execute(select(PuzzleMistake))).scalars()}
        assert set(mistakes) == {first.id, second.id}
        assert robot.id not in mistakes
        assert open_one.id not in mistakes
        (position,) = (await session.execute(select(PuzzlePosition))).scalars()  # the same moves led there
        assert {row.position_id for row in mistakes.values()} == {position.id}
        assert (position.game, position.rating, position.deviation) == ("chess", 1234.5, 200.0)
        assert await positions.list_of_game(session, first.id) == [position.id]
        # Settled later, and then found by its game.
        assert await positions.find_game(session, SITE, "open") == (open_one.id, False)
        assert await positions.max_judged_game_id(session, SITE) == open_one.id - 1
        await settle_game(session, open_one.id)
        assert await positions.find_game(session, SITE, "open") == (open_one.id, True)
        decisions = await positions.list_baits(session, [open_one.id])
        found = await positions.list_new_mistakes(session, SITE, decisions)
        assert [each.game_id for each in found] == [open_one.id]
        assert await positions.find_game(session, SITE, "nothing") is None


async def test_a_position_that_somebody_else_makes_meanwhile(
    people: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with people.write() as session:
        await fell(session, "first")

        async def late(session: AsyncSession, table: Any, **values: Any) -> int | None:
            if table is PuzzlePosition:
                assert await insert_new(session, table, **values) is not None
            return await insert_new(session, table, **values)

        monkeypatch.setattr(positions, "insert_new", late)
        assert await taken_up(session) == 1
        (mistake,) = (await session.execute(select(PuzzleMistake))).scalars()
        assert mistake.position_id == await session.scalar(select(PuzzlePosition.id))


async def test_what_was_looked_through_lapses_when_it_changes(people: Database) -> None:
    async with people.write() as session:
        made = [await fell(session, key) for key in ("first", "second")]
        games = [each.id for each in made]
        await positions.mark_imported(session, [])
        await positions.mark_imported(session, games[:1])
        await positions.mark_imported(session, games)
        assert await positions.list_pending(session, SITE, 0, 9) == []
        await reopen_game(session, games[0])
        await session.execute(update(GameRow).values(is_settled=True))
        assert await positions.list_pending(session, SITE, 0, 9) == []
        await store_judgements(session, games[0], {})
        assert await positions.list_pending(session, SITE, 0, 9) == games[:1]


def test_a_position_is_the_moves_that_led_to_it() -> None:
    same = position_key("chess", None, ["e2e4"], "e7e5")
    assert same == position_key("chess", None, ["e2e4"], "e7e5")
    others = [("othello", None, ["e2e4"], "e7e5"), ("chess", "fen", ["e2e4"], "e7e5")]
    others += [("chess", None, [], "e7e5"), ("chess", None, ["e2e4"], "d7d5")]
    assert same not in {position_key(*each) for each in others}


async def test_the_choice(people: Database) -> None:
    async with people.write() as session:
        source = await fell(session, "mine")
        ids = await add_positions(session, [1000.0, 1200.0, 1400.0, 1600.0], source)
        near = await positions.list_near(session, "chess", 1300.0, 1)
        assert sorted(near) == ids[1:3]
        assert await positions.list_near(session, "othello", 1300.0, 9) == []
        assert sorted(await positions.list_near(session, "chess", 1300.0, 1, without=[ids[1]])) == [
            ids[0], ids[2],
        ]  # fmt: skip
        # What a person has done anything with is not new to them, and to others it is.
        await solvers.save_review(session, "ben", ids[2], "chess", ReviewRecord(answers=1))
        assert sorted(await positions.list_near(session, "chess", 1300.0, 1, "ben")) == [ids[1], ids[3]]
        assert sorted(await positions.list_near(session, "chess", 1300.0, 1, "anna")) == ids[1:3]
        # One's own: the latest first, each once.
        assert await positions.next_untried_mistake(session, "anna", "chess", SITE) == ids[3]
        assert await positions.next_untried_mistake(session, "anna", "othello", SITE) is None
        assert await positions.next_untried_mistake(session, "ben", "chess", SITE) is None
        await solvers.save_review(session, "anna", ids[3], "chess", ReviewRecord())
        assert await positions.next_untried_mistake(session, "anna", "chess", SITE) == ids[2]
        assert await positions.next_untried_mistake(session, "anna", "chess", SITE, [ids[2]]) == ids[1]
        assert await positions.took_bait_in_game(session, ids[0], "anna", SITE)
        assert not await positions.took_bait_in_game(session, ids[0], "ben", SITE)


async def test_only_games_that_are_over_are_shown_to_others(people: Database) -> None:
    async with people.write() as session:
        mine, other = await fell(session, "mine"), await fell(session, "other", person="ben")
        await taken_up(session)
        (position,) = await session.scalars(select(PuzzlePosition.id))
        for person, key in (("anna", "mine"), ("ben", "other"), (None, "mine")):
            found = await positions.find_source(session, position, person, SITE)
            assert found is not None
            assert (found.site_game_id, found.ply) == (key, 0)
        await session.execute(update(ArenaGame).where(ArenaGame.id == "mine").values(ended_at=None))
        found = await positions.find_source(session, position, None, SITE)
        assert found is not None
        assert found.game_id == other.id
        found = await positions.find_source(session, position, "anna", SITE)
        assert found is not None
        assert found.game_id == mine.id  # one's own at any time
        await session.execute(delete(PuzzleMistake).where(PuzzleMistake.game_id == other.id))
        assert await positions.find_source(session, position, None, SITE) is None
        assert await positions.list_near(session, "chess", 1300.0, 9) == []


async def test_ratings_and_reviews_are_kept(people: Database) -> None:
    due = datetime(2026, 1, 5, tzinfo=UTC)
    async with people.write() as session:
        source = await fell(session, "mine")
        one, two = await add_positions(session, [1000.0, 1200.0], source)
        assert await solvers.get_solver(session, "anna", "chess") is None
        assert await solvers.lock_solver(session, "anna", "chess", START) == SolverRecord(START, None)
        assert await solvers.get_solver(session, "anna", "chess") == SolverRecord(START, None)
        for answers in (1, 2):
            record = SolverRecord(PuzzleRating(1500.5, 300.0, 0.05, answers, 1), one)
            await solvers.save_solver(session, "anna", "chess", record)
            assert await solvers.get_solver(session, "anna", "chess", is_locked=True) == record
        changed = PuzzleRating(1100.5, 90.0, 0.05, 3, 2)
        await positions.save_position_rating(session, one, changed)
        assert await positions.get_position_rating(session, one, is_locked=True) == changed
        assert await positions.get_position_rating(session, 99) is None
        await positions.save_bait_line(session, one, "d7d5 e4d5")
        assert await positions.get_bait_line(session, one) == "d7d5 e4d5"
        assert await positions.get_game_name(session, one) == "chess"
        assert await solvers.get_review(session, "anna", one) is None
        for number, each in enumerate((two, one)):
            review = ReviewRecord(2, True, 1, due.replace(day=5 + number))
            await solvers.save_review(session, "anna", each, "chess", review)
            assert await solvers.get_review(session, "anna", each) == review
        assert await solvers.next_due_at(session, "anna", "chess") == due
        for day, first, many in ((4, None, 0), (5, two, 1), (6, two, 2)):
            now = due.replace(day=day)
            assert await solvers.due_position(session, "anna", "chess", now) == first
            assert await solvers.count_due(session, "anna", "chess", now) == many
        assert await solvers.due_position(session, "anna", "chess", now, [two]) == one
        assert await solvers.due_position(session, "anna", "othello", now) is None
        assert await solvers.next_due_at(session, "ben", "chess") is None


@pytest.mark.parametrize("backend", ["sqlite"])  # PostgreSQL scans tables that are as small as these
async def test_no_choice_reads_a_whole_table_of_decisions(people: Database) -> None:
    """Whatever is chosen is found by an index; decisions and forecasts are only looked up by their keys."""
    statements: list[tuple[str, Any]] = []

    def note(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        statements.append((statement, parameters))

    async with people.read() as session:
        engine = session.get_bind()
        event.listen(engine, "before_cursor_execute", note)
        try:
            await positions.list_near(session, "chess", 1300.0, 12, "anna")
            await positions.next_untried_mistake(session, "anna", "chess", SITE)
            await positions.find_source(session, 1, "anna", SITE)
            await positions.list_baits(session, [5, 6])
            await solvers.due_position(session, "anna", "chess", AT)
        finally:
            event.remove(engine, "before_cursor_execute", note)
        assert len(statements) >= 6
        connection = await session.connection()
        for statement, parameters in statements:
            rows = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plan = [row.detail for row in rows]
            assert not [step for step in plan if step.startswith("SCAN") and "INDEX" not in step], plan
