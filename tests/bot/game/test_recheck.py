"""Decisions verified and judged later than in time, on both databases."""

from dataclasses import replace
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Connection, delete, select, text, update

from bot.game import recheck as module
from bot.game.game_runner import GameRunner
from bot.game.ledger import TAKEBACK_GRANTED
from bot.game.recheck import RecheckResults, recheck
from engine.bait_rule import FORECAST_RULE
from engine.decision import Candidate, ReplyProfile
from storage import migrate
from storage.database import Database, create_engine, parse_url
from storage.evidence.statistics.group_rows import count_outdated
from storage.ledger.games import reopen_game
from storage.maintenance.decision_batches import complete_decision
from storage.records import GameStatus
from storage.tables.games import (
    DecisionRow,
    EventRow,
    ForecastRow,
    GameRow,
    OutcomeRow,
)
from tests.bot.fakes import GAME_ID, FakeServer, picker, services
from tests.bot.game.test_game_runner import judged, playing
from tests.bot.game.test_player_kill import late_othello
from tests.bot.ledger_samples import check_books, stored_decisions
from tests.storage.conftest import backend, database, url
from tests.storage.row_copies import Rows, all_rows, put_rows, remove_rows

__all__ = ["backend", "database", "url"]  # fixtures

Books = list[Any]


_played: dict[tuple[int, bool], tuple[FakeServer, Rows]] = {}
"""By seed, and whether it crashed."""


async def play(database: Database, seed: int = 1, *, crashes: bool = False) -> FakeServer:
    """The end of a game of Othello, with some five decisions: played once, and then copied."""
    if (seed, crashes) in _played:
        server, rows = _played[seed, crashes]
        await put_rows(database, rows)
        return server
    server = FakeServer("othello", initial_position=late_othello(10, seed), pick=picker(seed))
    async with services(server, database) as given:
        await GameRunner(GAME_ID, given).run()
    if not crashes:
        await check_books(database, server)
    _played[seed, crashes] = server, await all_rows(database)
    return server


async def play_with_crashes(database: Database, monkeypatch: pytest.MonkeyPatch) -> FakeServer:
    """The same, but no profile is completed."""

    def crash(*_: object) -> None:
        raise ValueError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr("engine.completion.whole_profile", crash)
        server = await play(database, crashes=True)
    assert not all(stored.is_complete for stored in await stored_decisions(database))
    return server


async def books(database: Database) -> Books:
    """All outcomes, but for the moments when they were written."""
    outcomes = [column for column in OutcomeRow.__table__.columns if column.name != "at"]
    async with database.read() as session:
        return list(await session.execute(select(*outcomes).order_by(OutcomeRow.decision_id)))


async def profiles(database: Database) -> list[Any]:
    """What the profiles of all decisions said."""
    judged_columns = (DecisionRow.is_trap, DecisionRow.trap_quality, DecisionRow.is_decided, DecisionRow.rule)
    async with database.read() as session:
        return list(await session.execute(select(*judged_columns).order_by(DecisionRow.id)))


async def lose_outcomes(database: Database) -> None:
    async with database.write() as session:
        await session.execute(delete(OutcomeRow))


async def change_record(database: Database, decision_id: int, **changes: object) -> None:
    async with database.write() as session:
        record = await session.scalar(select(DecisionRow.record).where(DecisionRow.id == decision_id))
        assert record is not None
        changed = update(DecisionRow).where(DecisionRow.id == decision_id)
        await session.execute(changed.values(record={**record, **changes}))


def counts(found: RecheckResults) -> tuple[int, int, int]:
    return found.verified, found.judged, len(found.wrong)


async def test_nothing_to_do(database: Database) -> None:
    assert counts(await recheck(database)) == (0, 0, 0)
    await play(database)
    before, ours = await books(database), len(await stored_decisions(database))
    found = await recheck(database)
    assert counts(found) == (ours, 0, 0)
    assert not found.left
    assert found.completed == 0
    assert await books(database) == before


async def test_outcomes_that_were_removed_come_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RECHECK_BATCH_DECISIONS", 2)
    await play(database)
    before = await books(database)
    await lose_outcomes(database)
    assert await books(database) != before
    told: list[int] = []

    def counting(total: int) -> module.OnCount:
        told.append(total)
        return told.append

    found = await recheck(database, counting=counting)
    assert counts(found) == (len(before), len(before), 0)
    assert await books(database) == before
    assert told == [len(before), *[1] * len(before)]
    assert counts(await recheck(database)) == (len(before), 0, 0)


async def test_profiles_that_were_never_completed(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await play_with_crashes(database, monkeypatch)
    incomplete = sum(not stored.is_complete for stored in await stored_decisions(database))
    found = await recheck(database)
    assert found.completed == incomplete
    assert found.judged > 0
    assert not found.wrong
    await check_books(database, server)
    late = [row[1:] for row in await books(database)], await profiles(database)
    await remove_rows(database)
    await play(database)  # the same game, judged in time
    assert ([row[1:] for row in await books(database)], await profiles(database)) == late


async def test_a_search_that_still_crashes_leaves_them(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play_with_crashes(database, monkeypatch)
    before = await books(database)

    def crash(*_: object) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("engine.completion.whole_profile", crash)
    found = await recheck(database)
    assert found.left == {
        "completing its profile crashed: KeyError: 'a bug'": sum(
            not stored.is_complete for stored in await stored_decisions(database)
        )
    }
    assert (found.judged, found.wrong) == (0, [])
    assert await books(database) == before


async def test_a_record_of_no_decision_goes_to_the_quarantine(database: Database) -> None:
    await play(database)
    first, second, third, *others = await stored_decisions(database)
    await change_record(database, first.id, move="z9")
    await change_record(database, second.id, candidates=3)
    async with database.write() as session:
        broken = update(DecisionRow).where(DecisionRow.id == third.id)
        await session.execute(broken.values(record=["not", "a", "record"]))
    await lose_outcomes(database)
    found = await recheck(database)
    assert [(row.table, row.id) for row in found.quarantined] == [
        ("decisions", stored.id) for stored in (first, second, third)
    ]
    for row, reason in zip(
        found.quarantined,
        ("z9 is not among the candidates", "not the record", "not a JSON object"),
        strict=True,
    ):
        assert reason in row.reason
    assert (found.wrong, found.judged, found.verified) == ([], len(others), len(others))
    assert [stored.id for stored in await stored_decisions(database)] == [stored.id for stored in others]
    again = await recheck(database)
    assert (again.quarantined, again.verified) == ([], len(others))


async def test_a_record_that_breaks_the_arithmetic_is_moved(database: Database) -> None:
    await play(database)
    stored = (await stored_decisions(database))[0]
    candidates = stored.decision.to_record()["candidates"]
    for candidate in candidates:
        candidate["raw_centi"] = "much"
    await change_record(database, stored.id, candidates=candidates)
    (row,) = (await recheck(database)).quarantined
    assert (row.id, "raw_centi: 'much' is not of the type int" in row.reason) == (stored.id, True)


DAMAGES: list[tuple[dict[str, Any], str]] = [
    ({"depth": 2.5}, "depth: 2.5 is not of the type int"),
    ({"depth": True}, "depth: True is not of the type int"),
    ({"depth": 10**30}, "is out of range"),
    ({"engine_version": 5}, "engine_version: 5 is not of the type str"),
    ({"game": "nosuch"}, "it cannot be verified"),
    ({"position": "garbage"}, "it cannot be verified: BadPosition"),
]


@pytest.mark.parametrize(("damage", "reason"), DAMAGES, ids=str)
async def test_a_damaged_record_hides_no_other(
    database: Database, damage: dict[str, Any], reason: str
) -> None:
    await play(database)
    stored = (await stored_decisions(database))[0]
    await change_record(database, stored.id, **damage)
    await lose_outcomes(database)
    found = await recheck(database)
    reasons = [wrong.reason for wrong in found.wrong] + [row.reason for row in found.quarantined]
    assert [reason in each for each in reasons] == [True]
    assert found.judged == len(await books(database)) > 0


@pytest.mark.parametrize("score", [0.5, 2**63])
async def test_scores_that_no_search_finds_are_moved(database: Database, score: float) -> None:
    await play(database)
    stored = next(each for each in await stored_decisions(database) if each.is_complete)
    candidates = stored.decision.to_record()["candidates"]
    for candidate in candidates:
        for reply in candidate["replies"]:
            reply["scores_centi"] = [score]
    await change_record(database, stored.id, candidates=candidates)
    await lose_outcomes(database)
    found = await recheck(database)
    assert [row.id for row in found.quarantined] == [stored.id]


async def test_a_crash_while_a_decision_is_judged_hides_no_other(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(database)
    await lose_outcomes(database)

    def crash(*_: object) -> None:
        raise IndexError("a bug")

    with monkeypatch.context() as patched:
        patched.setattr("bot.game.recheck.classify_by_figure_9", crash)
        found = await recheck(database)
    assert {wrong.reason for wrong in found.wrong} == {"checking it crashed: IndexError: a bug"}
    assert found.judged == 0
    again = await recheck(database)
    assert (again.judged, again.wrong) == (len(found.wrong), [])


async def test_a_profile_that_takes_for_ever_is_left(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play_with_crashes(database, monkeypatch)
    monkeypatch.setattr("bot.game.recheck.MAX_COMPLETION_S", 0.0)
    incomplete = sum(not stored.is_complete for stored in await stored_decisions(database))
    assert (await recheck(database)).left == {"completing its profile took more than 0 s": incomplete}


async def test_a_record_that_the_search_contradicts_is_wrong(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play_with_crashes(database, monkeypatch)

    def other(_profiler: object, candidate: Candidate, _depth: int) -> Candidate:
        worse = ReplyProfile("a1", (candidate.raw_centi - 1,))
        return replace(candidate, replies=(worse,), complete=True)

    monkeypatch.setattr("engine.completion.whole_profile", other)
    incomplete = [stored.ply for stored in await stored_decisions(database) if not stored.is_complete]
    found = await recheck(database)
    assert [wrong.ply for wrong in found.wrong] == incomplete
    assert all("whose search is the same" in wrong.reason for wrong in found.wrong)


async def test_other_engine_versions(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What they completed can be judged; what they did not is left to them."""
    await play_with_crashes(database, monkeypatch)
    await lose_outcomes(database)
    decisions = await stored_decisions(database)
    for stored in decisions:
        await change_record(database, stored.id, engine_version="0")
    found = await recheck(database)
    incomplete = [stored for stored in decisions if not stored.is_complete]
    assert found.left == {"only engine 0, which made the decision, can complete its profile": len(incomplete)}
    judgeable = [stored for stored in decisions if stored.is_complete]
    unanswered = [stored for stored in incomplete if stored.outcome is not None]
    assert found.judged == len(judgeable) + len(unanswered)
    assert (found.completed, found.wrong) == (0, [])


async def test_open_games_are_left_alone(database: Database) -> None:
    await play(database)
    await lose_outcomes(database)
    async with database.write() as session:
        await session.execute(
            update(GameRow).values(state=GameStatus.OPEN, is_settled=False, result=None, ended_at=None)
        )
    ours = len(await stored_decisions(database))
    found = await recheck(database)
    assert counts(found) == (ours, 0, 0)
    assert found.left == {"its game is still open": ours}
    assert await books(database) == []


async def test_finished_games_that_are_still_judged_are_left_alone(database: Database) -> None:
    await play(database)
    await lose_outcomes(database)
    async with database.write() as session:
        await session.execute(update(GameRow).values(is_settled=False))
    ours = len(await stored_decisions(database))
    found = await recheck(database)
    assert counts(found) == (ours, 0, 0)
    assert found.left == {"its game is over, and the program that played it is still judging it": ours}
    assert await books(database) == []


async def test_a_game_that_is_opened_again_meanwhile(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await play(database)
    await lose_outcomes(database)
    game_id = (await stored_decisions(database))[0].game_id

    async def reopened_first(session: Any, *settled: Any) -> bool | None:
        await reopen_game(session, game_id)
        return await complete_decision(session, *settled)

    monkeypatch.setattr(module, "complete_decision", reopened_first)
    found = await recheck(database)
    assert set(found.left) == {"it was changed meanwhile"}
    assert await books(database) == []


@pytest.mark.parametrize("survived", range(4))
async def test_killed_half_way(database: Database, monkeypatch: pytest.MonkeyPatch, survived: int) -> None:
    """After some transactions; the one that it dies in leaves nothing behind."""
    server = await play_with_crashes(database, monkeypatch)
    await lose_outcomes(database)
    begun = 0

    class Killed(BaseException):
        pass

    async def mortal(session: Any, *settled: Any) -> bool | None:
        nonlocal begun
        begun += 1
        done = await complete_decision(session, *settled)
        if begun > survived:
            raise Killed
        return done

    with monkeypatch.context() as patched:
        patched.setattr(module, "complete_decision", mortal)
        with pytest.raises(Killed):
            await recheck(database)
    assert len(await books(database)) == survived
    found = await recheck(database)
    assert found.judged == len(await stored_decisions(database)) - survived
    await check_books(database, server)


async def test_the_first_reply_is_judged_though_it_was_taken_back(database: Database) -> None:
    server = FakeServer("othello", initial_position=late_othello(10, 1))
    async with playing(server, database):
        await server.until(lambda: len(server.moves) == 1)
        second = server.legal[1]
        server.reply()
        await server.until(lambda: len(server.moves) == 3)
        first = server.moves[1]
        await judged(database, ply=0)
        server.take_back(2)  # their move, and our answer to it
        server.pick = picker(5)
        server.reply(second)
    before = await books(database)
    assert server.moves[1] != first
    async with database.write() as session:
        standing = select(DecisionRow.id).where(DecisionRow.takeback == 0)
        await session.execute(delete(OutcomeRow).where(OutcomeRow.decision_id.in_(standing)))
    assert not (await recheck(database)).left
    assert await books(database) == before


async def test_a_reply_that_nobody_wrote_down_is_not_guessed(database: Database) -> None:
    await play(database)
    first = (await stored_decisions(database))[0]
    await lose_outcomes(database)
    async with database.write() as session:
        detail = {"ply": first.ply + 2, "site_game_id": GAME_ID}
        game_id, at = first.game_id, first.created_at
        session.add(
            EventRow(at=at, site="arena", account="", kind=TAKEBACK_GRANTED, game_id=game_id, detail=detail)
        )
    found = await recheck(database)
    assert found.left == {"its reply was taken back, and the ledger has no record of the reply": 1}
    assert found.judged == found.verified - 1


def as_of_rule_1(connection: Connection) -> None:
    """Take the database back to the schema of rule 1, with what that rule might have judged."""
    command.downgrade(migrate._config(connection), "0007")
    connection.execute(text("UPDATE outcomes SET quality_centi = 123.0, fell_for_best = false"))
    connection.execute(text("UPDATE outcomes SET kind = 'fell' WHERE kind = 'erred_elsewhere'"))
    connection.execute(
        text("UPDATE decisions SET is_trap = true, trap_quality_centi = 250.0 WHERE is_complete")
    )


async def whole_books(database: Database) -> list[list[Any]]:
    """All that is judged, but for the moments when it was written."""
    made = [column for column in ForecastRow.__table__.columns if column.name != "at"]
    async with database.read() as session:
        forecasts = list(await session.execute(select(*made).order_by(ForecastRow.decision_id)))
    return [await books(database), await profiles(database), forecasts]


async def earlier(database: Database) -> int:
    async with database.read() as session:
        return await count_outdated(session)


async def test_a_database_of_earlier_rules_is_judged_anew(url: str) -> None:
    database = await Database.open(url)
    server = await play(database, 3)
    before, decisions = await whole_books(database), await stored_decisions(database)
    await database.close()

    engine = create_engine(parse_url(url))
    async with engine.execution_options(
        sqlite_before_begin="PRAGMA foreign_keys = OFF"
    ).begin() as connection:
        await connection.run_sync(as_of_rule_1)
    await engine.dispose()

    database = await Database.open(url)  # upgrades
    _, told, forecasts = await whole_books(database)
    assert forecasts == []
    assert {row.rule for row in told} == {1}
    assert await earlier(database) == len(decisions)
    # The reply to the first one was taken back, for all the ledger knows: its outcome still has it.
    async with database.write() as session:
        detail, first = {"ply": decisions[0].ply + 2, "site_game_id": GAME_ID}, decisions[0]
        event = EventRow(
            at=first.created_at,
            site="arena",
            account="",
            kind=TAKEBACK_GRANTED,
            game_id=first.game_id,
            detail=detail,
        )
        session.add(event)
    found = await recheck(database)
    assert (found.verified, found.judged, found.forecast) == (len(decisions),) * 3
    assert (found.completed, found.wrong, found.left) == (0, [], {})
    now = await whole_books(database)
    assert now[:2] == before[:2]
    # Made again later, a forecast knows nothing of the person's earlier replies.
    kept = ("rule", "model", "replies", "costs")
    assert [[row.record[name] for name in kept] for row in now[2]] == [
        [row.record[name] for name in kept] for row in before[2]
    ]
    assert await earlier(database) == 0
    await check_books(database, server)

    again = await recheck(database)
    assert (again.judged, again.forecast, again.completed, again.wrong) == (0, 0, 0, [])
    assert await whole_books(database) == now
    await database.close()


async def test_a_forecast_by_a_later_program_is_left_alone(database: Database) -> None:
    await play(database)
    async with database.write() as session:
        await session.execute(update(ForecastRow).values(rule=FORECAST_RULE + 1))
    assert (await recheck(database)).forecast == 0
