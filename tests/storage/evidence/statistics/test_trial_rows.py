"""The rows of a trial: single randomised decisions, from what is stored to the report."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import nan
from typing import Any

import pytest
from sqlalchemy import LargeBinary, insert, select, type_coerce, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.bait_rule import ExpectedReplies, expectations, forecast
from engine.figure_9 import classify_by_figure_9, decision_verdicts, expected_scale_centi
from engine.human.reply_forecast import ReplyForecast
from engine.judge import JUDGE_VERSION
from engine.randomised import undrawn_candidate
from storage.database import Database
from storage.evidence.inference.decisions import TrialDecision, decisions_report
from storage.evidence.inference.timestamps import microseconds
from storage.evidence.inference.trial import UNSETTLED, Exclusion, TrialTerms
from storage.evidence.statistics.trial_rows import Unreadable, trial_decisions, trial_games
from storage.evidence.summaries import summarise
from storage.evidence.trials import NewTrial, StoredTrial, end_trial, start_trial
from storage.filters import Filters
from storage.ledger.decisions import mark_confirmed, mark_taken_back
from storage.ledger.games import finish_game, settle_game
from storage.ledger.outcomes import record_outcome
from storage.records import Endpoint, GameResult, GameStatus
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OutcomeRow
from tests.storage.evidence.inference.samples import games_report
from tests.storage.evidence.statistics.facts import reply_facts
from tests.storage.samples import (
    DRAWN_AT,
    commit_decision,
    decision,
    drawn_decision,
    judge_replies,
    opened,
    store_forecast,
)

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
BLIND = {"method": "fixed", "blind": True}
FROM_POSITIONS: dict[str, dict[str, Any]] = {
    "usual": {},
    "own": {"initial_position": DRAWN_AT},
    "program": {"initial_position": DRAWN_AT, "opponent_id": "hal", "opponent_is_bot": True},
    "by the site": {"initial_position": DRAWN_AT, "variant": "s8r38"},
}


async def begun(session: AsyncSession) -> StoredTrial:
    plan = NewTrial(
        name="m1",
        arms=("randomised",),
        configurations={"randomised": {}},
        endpoint=Endpoint.COST,
        planned_n=6000,
    )
    return await start_trial(session, plan, at=NOON)


async def game_of(session: AsyncSession, trial: StoredTrial, key: str, **changes: Any) -> int:
    more: dict[str, Any] = {"strategy": "randomised", "selection": BLIND, "trial_id": trial.id, "at": NOON}
    return (await opened(session, key, **(more | changes))).id


async def drawn(
    session: AsyncSession, game_id: int, ply: int, *, trap: bool, reply: int | None, foreseen: bool = True
) -> int:
    """A randomised decision, and the reply of that number in its profile (None: none)."""
    made = drawn_decision(trap=trap)
    decision_id = await commit_decision(session, game_id, ply, made)
    await session.execute(
        update(DecisionRow).where(DecisionRow.id == decision_id).values(created_at=NOON + ply * MINUTE)
    )
    await mark_confirmed(session, decision_id)
    if foreseen:
        await store_forecast(session, decision_id, made, foreseen_for(trap))
    if reply is not None:
        played = made.chosen.replies[reply].reply
        await record_outcome(session, decision_id, classify_by_figure_9(made, played))
        at = NOON + (ply + 1) * MINUTE
        await session.execute(update(OutcomeRow).where(OutcomeRow.decision_id == decision_id).values(at=at))
    return decision_id


def foreseen_for(trap: bool) -> ReplyForecast:
    """By somebody who expects the last reply of either move with .9."""
    made = drawn_decision(trap=trap)
    scale = expected_scale_centi(made)
    found = []
    for each in (made.chosen, undrawn_candidate(made)):
        count = len(each.replies)
        probabilities = (*([0.1 / (count - 1)] * (count - 1)), 0.9)
        found.append(forecast(each, scale, ExpectedReplies(probabilities, drawn_model())))
    return replace(found[0], other=found[1])


def drawn_model() -> Any:
    return forecast(drawn_decision(trap=True).chosen, 1000.0).model


def costs(trap: bool) -> list[float]:
    return [each.cost / 10_000 for each in decision_verdicts(drawn_decision(trap=trap)).replies]


def expected(trap: bool) -> float:
    each = costs(trap)
    return sum(each[:-1]) * 0.1 / (len(each) - 1) + 0.9 * each[-1]


@pytest.mark.parametrize("trap", [True, False])
async def test_a_row_has_both_moves_whatever_was_drawn(database: Database, trap: bool) -> None:
    async with database.write() as session:
        trial = await begun(session)
        game_id = await game_of(session, trial, "one")
        key = await drawn(session, game_id, 4, trap=trap, reply=-1)
        await finish_game(session, game_id, result=GameResult.WIN, end_reason="time", at=NOON + 9 * MINUTE)
        (row,), _ = await trial_decisions(session, trial)
        assert (row.cost, row.own_cost, row.is_unjudged) == (None, costs(trap)[-1], True)
        await judge_replies(session, game_id, {key: 1234}, JUDGE_VERSION - 1)
        assert await trial_decisions(session, trial) == ([row], [])  # no number mixes versions
        await judge_replies(session, game_id, {key: 4321})
        (row,), _ = await trial_decisions(session, trial)
    assert (row.decision_id, row.game_id, row.treated, row.probability) == (key, game_id, trap, 0.5)
    assert (row.drawn_at, row.settled_at) == (NOON + 4 * MINUTE, NOON + 9 * MINUTE)
    assert (row.value_trap, row.value_control) == (0.6236, 0.6079)
    assert (row.cost, row.own_cost, row.is_unjudged) == (0.4321, costs(trap)[-1], False)
    assert row.expected_trap == pytest.approx(expected(True), abs=1e-6)
    assert row.expected_control == pytest.approx(expected(False), abs=1e-6)
    assert row.mean_trap == pytest.approx(sum(costs(True)) / len(costs(True)))
    assert row.mean_control == pytest.approx(sum(costs(False)) / len(costs(False)))
    assert row.excluded is Exclusion.NONE


async def test_without_a_forecast_the_looks_of_the_replies_count(database: Database) -> None:
    async with database.write() as session:
        trial = await begun(session)
        await drawn(session, await game_of(session, trial, "one"), 0, trap=True, reply=0, foreseen=False)
        (row,), _ = await trial_decisions(session, trial)
    for move, found in ((True, row.expected_trap), (False, row.expected_control)):
        made = drawn_decision(trap=move)
        verdicts = decision_verdicts(made)
        by_looks = expectations(forecast(made.chosen, expected_scale_centi(made)), verdicts)
        assert found == pytest.approx(by_looks.cost_expected / 10_000, abs=1e-5)


@pytest.mark.parametrize("is_unsettled", [False, True])
async def test_which_decisions_are_there_and_when_they_are_settled(
    database: Database, is_unsettled: bool
) -> None:
    """What a finished game lacks may be on the way until the game is settled, as if it were running."""
    async with database.write() as session:
        trial = await begun(session)
        running = await game_of(session, trial, "running")
        await drawn(session, running, 2, trap=True, reply=None)
        await drawn(session, running, 0, trap=False, reply=0)
        await commit_decision(session, running, 4, replace(decision(), strategy="randomised"))
        await drawn(session, running, 6, trap=True, reply=1)
        await mark_taken_back(session, running, 6)
        if is_unsettled:
            await finish_game(
                session, running, result=GameResult.WIN, end_reason="time", settled=False, at=NOON + MINUTE
            )
        over = await game_of(session, trial, "over", opponent_id="bert")
        await drawn(session, over, 1, trap=True, reply=0)
        await drawn(session, over, 3, trap=False, reply=None)
        ended = NOON + timedelta(hours=1)
        await finish_game(session, over, result=GameResult.WIN, end_reason="resign", moves=["f5"], at=ended)
        await judge_replies(session, over)
        program = await game_of(session, trial, "bot", opponent_id="hal", opponent_is_bot=True)
        await drawn(session, program, 5, trap=True, reply=0)
        await drawn(
            session, (await opened(session, "other", strategy="randomised")).id, 0, trap=True, reply=0
        )
        rows, _ = await trial_decisions(session, trial)
        few, _ = await trial_decisions(session, trial, Filters(opponent_id="bert"))
    assert [(row.drawn_at - NOON) // MINUTE for row in rows] == [0, 1, 2, 3, 5, 6]
    assert [row.settled_at is None for row in rows] == [True, False, True, False, True, True]
    assert [row.cost is None for row in rows] == [True, False, True, True, True, True]
    assert [row.own_cost is None for row in rows] == [False, False, True, True, False, False]
    assert not any(row.is_unjudged for row in rows)
    assert [rows[at].settled_at for at in (1, 3)] == [ended, ended]
    assert [row.excluded for row in rows] == [*4 * [Exclusion.NONE], Exclusion.PROGRAM, Exclusion.NONE]
    assert [row.game_id for row in few] == [over, over]


async def test_games_from_a_position_that_the_person_set_are_left_out(database: Database) -> None:
    """Older ones: now they belong to no trial."""
    async with database.write() as session:
        trial = await begun(session)
        for key, changes in FROM_POSITIONS.items():
            await drawn(session, await game_of(session, trial, key, **changes), 0, trap=True, reply=0)
        rows, _ = await trial_decisions(session, trial)
        await end_trial(session)
        compare = await start_trial(session, compared(), at=NOON)
        for key, changes in FROM_POSITIONS.items():
            more = {"strategy": "trappy", "selection": EVEN, **changes}
            await game_of(session, compare, f"{key} g", **more)
        games, _ = await trial_games(session, compare, "trappy", "standard")
    reasons = [Exclusion.NONE, Exclusion.OWN_POSITION, Exclusion.PROGRAM, Exclusion.NONE]
    assert [row.excluded for row in rows] == reasons
    assert games.rows["excluded"].tolist() == reasons


async def test_a_draw_that_is_repeated_after_a_takeback_is_left_out(database: Database) -> None:
    """Whoever asked for the takeback knew what it would be."""
    async with database.write() as session:
        trial = await begun(session)
        game_id = await game_of(session, trial, "one")
        await drawn(session, game_id, 2, trap=True, reply=None)
        await mark_taken_back(session, game_id, 2)
        await drawn(session, game_id, 2, trap=True, reply=0)
        await mark_taken_back(session, game_id, 2)
        await drawn(session, game_id, 2, trap=False, reply=0)  # another lot
        await drawn(session, game_id, 4, trap=True, reply=0)
        await drawn(session, await game_of(session, trial, "two"), 2, trap=True, reply=0)
        rows, _ = await trial_decisions(session, trial)
    excluded = sorted((row.decision_id, row.excluded) for row in rows)
    assert [reason for _, reason in excluded] == [
        Exclusion.NONE,
        Exclusion.REPEATED_DRAW,
        *3 * [Exclusion.NONE],
    ]


async def test_games_without_a_randomised_decision_are_numbered_too(database: Database) -> None:
    """Whatever the filters choose among them."""
    async with database.write() as session:
        trial = await begun(session)
        await opened(session, "elsewhere", strategy="randomised", at=NOON - 3 * MINUTE)
        await game_of(session, trial, "none", at=NOON - 2 * MINUTE)
        await game_of(session, trial, "other", opponent_id="bert", at=NOON - 2 * MINUTE)
        first = await game_of(session, trial, "first", at=NOON - MINUTE)
        second = await game_of(session, trial, "second", account="another", at=NOON)
        for game_id in (first, second):
            await drawn(session, game_id, 0, trap=True, reply=0)
        rows, _ = await trial_decisions(session, trial)
        (late,), _ = await trial_decisions(session, trial, Filters(since=NOON))
    assert [(row.game_id, row.games_before) for row in rows] == [(first, 1), (second, 2)]
    assert late.games_before == 2


DAMAGE: dict[str, tuple[dict[str, Any], str]] = {
    "no draw": ({"trial_draw": None}, "the record of f7 has no random draw"),
    "a field": ({"depth": "six"}, "not the record of a decision: "),
    "position": ({"position": "zzz"}, "BadPosition: row 1 of 'zzz'"),
    "game": ({"game": "go"}, "KeyError: \"no game named 'go'"),
}


@pytest.mark.parametrize(("changes", "reason"), DAMAGE.values(), ids=DAMAGE)
async def test_a_damaged_record_is_named_and_hides_no_other(
    database: Database, changes: dict[str, Any], reason: str
) -> None:
    async with database.write() as session:
        trial = await begun(session)
        game_id = await game_of(session, trial, "one")
        keys = [await drawn(session, game_id, ply, trap=True, reply=0) for ply in (0, 2, 4)]
        record = drawn_decision(trap=True).to_record() | changes
        await session.execute(update(DecisionRow).where(DecisionRow.id == keys[1]).values(record=record))
        rows, (damaged,) = await trial_decisions(session, trial)
    assert [row.decision_id for row in rows] == [keys[0], keys[2]]
    assert (damaged.what, damaged.id, damaged.game_id, damaged.ply) == ("decision", keys[1], game_id, 2)
    assert damaged.reason.startswith(reason)


@pytest.mark.parametrize("table", [DecisionRow, ForecastRow])
async def test_bytes_that_are_no_record_are_named_and_hide_no_other(database: Database, table: Any) -> None:
    async with database.write() as session:
        trial = await begun(session)
        game_id = await game_of(session, trial, "one")
        keys = [await drawn(session, game_id, ply, trap=True, reply=0) for ply in (0, 2, 4)]
        which = table.id if table is DecisionRow else table.decision_id
        await session.execute(
            update(table).where(which == keys[1]).values(record=type_coerce(b"\x1b", LargeBinary))
        )
        rows, damaged = await trial_decisions(session, trial)
    assert [row.decision_id for row in rows] == [keys[0], keys[2]]
    reason = "packed in format 27, which this version does not know"
    assert damaged == [Unreadable("decision", keys[1], reason, game_id, 2)]


def redrawn(**changes: Any) -> dict[str, Any]:
    record = drawn_decision(trap=True).to_record()
    return {"trial_draw": record["trial_draw"] | changes}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (redrawn(seed="f" * 16), "f7 was played, but seed ffffffffffffffff draws d3"),
        (redrawn(seed="1" * 16), "the draw's checksum does not match its record: something was changed"),
        (redrawn(seed="0"), "the seed is '0', not 16 hexadecimal digits"),
        (redrawn(trap_value=6235), "the draw's checksum does not match its record: something was changed"),
        ({"nodes": 5}, ""),
    ],
)
async def test_a_forged_draw_is_named(database: Database, changes: dict[str, Any], reason: str) -> None:
    async with database.write() as session:
        trial = await begun(session)
        key = await drawn(session, await game_of(session, trial, "one"), 0, trap=True, reply=0)
        record = drawn_decision(trap=True).to_record() | changes
        await session.execute(update(DecisionRow).where(DecisionRow.id == key).values(record=record))
        rows, damaged = await trial_decisions(session, trial)
    assert [each.reason for each in damaged] == [reason] * bool(reason)
    assert len(rows) == (not reason)


async def test_a_record_of_another_row_is_named(database: Database) -> None:
    """The draw fell on the other move, by a whole record with its own seed."""
    async with database.write() as session:
        trial = await begun(session)
        game_id = await game_of(session, trial, "one")
        key = await drawn(session, game_id, 0, trap=True, reply=None, foreseen=False)
        record = drawn_decision(trap=False).to_record()
        await session.execute(update(DecisionRow).where(DecisionRow.id == key).values(record=record))
        rows, damaged = await trial_decisions(session, trial)
    assert (rows, damaged) == (
        [],
        [Unreadable("decision", key, "move is d3 in the record, but f7 in its row", game_id, 0)],
    )


async def test_a_damaged_forecast_or_outcome_is_named(database: Database) -> None:
    async with database.write() as session:
        trial = await begun(session)
        game_id = await game_of(session, trial, "one")
        first, second, third = [await drawn(session, game_id, at, trap=True, reply=0) for at in (0, 2, 4)]
        await session.execute(update(OutcomeRow).where(OutcomeRow.decision_id == first).values(reply="z9"))
        lacking = foreseen_for(True).to_record()
        del lacking["odds"]
        of_second = ForecastRow.decision_id == second
        await session.execute(update(ForecastRow).where(of_second).values(record=lacking))
        rows, damaged = await trial_decisions(session, trial)
    assert [row.decision_id for row in rows] == [third]
    assert damaged == [
        Unreadable("decision", first, "z9 is not among the replies", game_id, 0),
        Unreadable("decision", second, "not the record of a forecast: probabilities is missing", game_id, 2),
    ]


@pytest.mark.parametrize(
    ("selection", "reason"),
    [
        ({}, "KeyError: 'chances'"),
        ({"chances": {"standard": 1.0}}, "KeyError: 'trappy'"),
        (
            {"chances": {"standard": 1.0, "trappy": 0.0}},
            "the probability of treatment is 0.0, not between 0 and 1",
        ),
        ({"chances": {"standard": 0, "trappy": 0}}, "ZeroDivisionError: "),
        ([], "TypeError: "),
        ({"chances": {"standard": "a", "trappy": 0.4}}, "TypeError: "),
    ],
)
async def test_a_game_whose_draw_is_damaged(database: Database, selection: Any, reason: str) -> None:
    drawn_so = {"chances": {"standard": 0.6, "trappy": 0.4}, "blind": True}
    async with database.write() as session:
        trial = await start_trial(session, compared(), at=NOON)
        games = [
            await opened(session, f"g{n}", trial_id=trial.id, selection=drawn_so, at=NOON) for n in range(3)
        ]
        which = GameRow.id == games[1].id
        await session.execute(update(GameRow).where(which).values(selection=selection))
        found, (damaged,) = await trial_games(session, trial, "trappy", "standard")
    assert found.rows[["id", "probability"]].tolist() == [(games[0].id, 0.4), (games[2].id, 0.4)]
    assert (damaged.what, damaged.id) == ("game", games[1].id)
    assert damaged.reason.startswith(reason)


async def test_games_of_two_players_come_in_the_order_in_which_they_began(database: Database) -> None:
    """Whatever else is known of them, and also those that were aborted."""
    selection = {"chances": {"standard": 0.2, "trappy": 0.3, "randomised": 0.5}, "blind": True}
    plan = replace(
        compared(),
        arms=("standard", "trappy", "randomised"),
        configurations={"standard": {}, "trappy": {}, "randomised": {}},
    )
    began = (("standard", 5), ("randomised", 4), ("trappy", 3), ("standard", 2), ("trappy", 1), ("trappy", 0))
    async with database.write() as session:
        trial = await start_trial(session, plan, at=NOON)
        games = []
        for number, (player, after) in enumerate(began):
            at = NOON + after * MINUTE
            game_id = await game_of(session, trial, f"g{number}", strategy=player, selection=selection, at=at)
            await finish_game(
                session, game_id, result=GameResult.WIN, end_reason="resign", aborted=number == 2,
                moves=["f5"], at=NOON + 9 * MINUTE,
            )  # fmt: skip
            games.append(game_id)
        await end_trial(session, at=NOON + 10 * MINUTE)
        later = await start_trial(session, replace(plan, name="later"), at=NOON + 11 * MINUTE)
        other = await game_of(
            session, later, "other", strategy="trappy", selection=selection, at=later.started_at
        )
        for number in (1, 3, 4):
            which = GameRow.id == games[number]
            await session.execute(update(GameRow).where(which).values(selection={}))
        await summarise(session, [*games, other])
        found, damaged = await trial_games(session, trial, "trappy", "standard")
    assert found.rows["id"].tolist() == [games[5], games[2], games[0]]
    assert found.rows["probability"].tolist() == pytest.approx([0.6, 0.6, 0.6])
    assert found.rows["treated"].tolist() == [True, True, False]
    assert [each.id for each in damaged] == [games[4], games[3]]


async def test_a_clock_set_back_during_a_game(database: Database) -> None:
    async with database.write() as session:
        trial = await start_trial(session, compared(), at=NOON)
        game_id = await game_of(session, trial, "one", strategy="trappy", selection=EVEN)
        await finish_game(
            session, game_id, result=GameResult.WIN, end_reason="resign", moves=["f5"], at=NOON - MINUTE
        )
        found, damaged = await trial_games(session, trial, "trappy", "standard")
    assert found.rows[["drawn_us", "settled_us"]].tolist() == [(microseconds(NOON), microseconds(NOON))]
    assert damaged == []


async def test_a_finished_game_waits_until_it_is_settled(database: Database) -> None:
    """Its cost would be that of the replies that happen to be judged."""
    async with database.write() as session:
        trial = await start_trial(session, compared(), at=NOON)
        game_id = await game_of(session, trial, "one", strategy="trappy", selection=EVEN)
        await finish_game(
            session, game_id, result=GameResult.WIN, end_reason="resign", settled=False, at=NOON + MINUTE
        )
        for settled_us in (UNSETTLED, microseconds(NOON + MINUTE)):
            found, _ = await trial_games(session, trial, "trappy", "standard")
            assert found.rows["settled_us"].tolist() == [settled_us]
            await settle_game(session, game_id)


async def test_from_hand_made_games_to_the_report(database: Database) -> None:
    """Persons who always take the last reply: the effect of a trap follows by hand."""
    async with database.write() as session:
        trial = await begun(session)
        for number in range(12):
            game_id = await game_of(session, trial, f"game{number}", opponent_id=f"person{number % 4}")
            for ply in range(0, 4, 2):
                trap = (number + ply // 2) % 2 == 0
                await drawn(session, game_id, ply, trap=trap, reply=-1, foreseen=number % 4 < 2)
            await finish_game(
                session,
                game_id,
                result=GameResult.DRAW,
                end_reason="agreed",
                moves=["f5"],
                at=NOON + 9 * MINUTE,
            )
            await judge_replies(session, game_id)
        rows, _ = await trial_decisions(session, trial)
    terms = TrialTerms(least_values=10, least_persons=2.0)
    report = decisions_report(rows, terms, NOON + timedelta(days=1))
    assert (report.drawn, report.counted, report.guard.broken) == (24, 24, ())
    effect = costs(True)[-1] - costs(False)[-1]
    assert report.cost.fixed.value == pytest.approx(effect)
    means = [sum(costs(trap)) / len(costs(trap)) for trap in (True, False)]
    assert report.beyond_difficulty.fixed.value == pytest.approx(effect - means[0] + means[1])
    assert report.earned.fixed.value == pytest.approx(effect - (0.6079 - 0.6236))
    assert report.cost.any_time.estimate.mean == pytest.approx(mean_by_hand(rows))


def compared() -> NewTrial:
    return NewTrial(
        name="g1", arms=("standard", "trappy"), configurations={"standard": {}, "trappy": {}}, planned_n=1000
    )


EVEN = {"method": "balanced", "blind": True, "chances": {"standard": 0.5, "trappy": 0.5}}


async def test_an_aborted_game_counts_as_missing(database: Database) -> None:
    """It has no score, and what was replied before costs nothing."""
    async with database.write() as session:
        trial = await start_trial(session, compared(), at=NOON)
        for key, aborted in (("over", False), ("gone", True)):
            game_id = await game_of(session, trial, key, strategy="trappy", selection=EVEN)
            made = decision(quality=225.0)
            decision_id = await commit_decision(session, game_id, 0, made)
            await record_outcome(session, decision_id, classify_by_figure_9(made, "d6"))
            await store_forecast(
                session, decision_id, made, forecast(made.chosen, expected_scale_centi(made))
            )
            await finish_game(
                session,
                game_id,
                result=GameResult.WIN,
                end_reason="resign",
                aborted=aborted,
                moves=["f5", "d6"],
                at=NOON + MINUTE,
            )
            await judge_replies(session, game_id)
        (reply,) = await reply_facts(session)
        found, _ = await trial_games(session, trial, "trappy", "standard")
        # Its summary has what was replied, which is not to count.
        await summarise(session, list(await session.scalars(select(GameRow.id))))
        again, _ = await trial_games(session, trial, "trappy", "standard")
    assert again.rows.tobytes() == found.rows.tobytes()
    assert found.rows["score"].tolist() == pytest.approx([1.0, nan], nan_ok=True)
    assert found.rows["cost"].tolist() == pytest.approx([reply.cost, nan], nan_ok=True)
    assert reply.cost
    assert found.rows["settled_us"].tolist() == 2 * [microseconds(NOON + MINUTE)]
    report = games_report(found, TrialTerms(), NOON + timedelta(days=1))
    assert (report.drawn, report.counted, report.guard.missing_treated) == (2, 1, 1)


async def test_the_randomisation_check_finds_a_player_whose_games_are_aborted(database: Database) -> None:
    """1,200 draws between two players; a tenth of trappy's games are aborted."""
    rng = random.Random(1)
    async with database.write() as session:
        trial = await start_trial(session, compared(), at=NOON)
        persons = []
        for number in range(60):
            game = await opened(session, f"person{number}", opponent_id=f"person{number}", at=NOON)
            persons.append(game.id)
        games = GameRow.__table__
        whole = (await session.execute(select(games).where(games.c.id.in_(persons)))).mappings().all()
        rows = []
        for number in range(1200):
            is_trappy = rng.random() < 0.5
            is_aborted = is_trappy and rng.random() < 0.1
            row = {name: value for name, value in whole[number % 60].items() if name != "id"}
            rows.append(
                row
                | {
                    "site_game_id": f"game{number}",
                    "trial_id": trial.id,
                    "strategy": "trappy" if is_trappy else "standard",
                    "selection": EVEN,
                    "state": GameStatus.ABORTED if is_aborted else GameStatus.FINISHED,
                    "is_settled": True,
                    "result": None if is_aborted else GameResult.WIN,
                    "started_at": NOON + number * MINUTE,
                    "ended_at": NOON + (number + 1) * MINUTE,
                }
            )
        await session.execute(insert(GameRow), rows)
        found, _ = await trial_games(session, trial, "trappy", "standard")
    report = games_report(found, TrialTerms(), NOON + timedelta(days=9))
    assert report.drawn == 1200
    assert report.guard.broken == ("missing",)
    assert 40 < report.guard.missing_treated < 80
    assert report.guard.missing_untreated == 0


def mean_by_hand(rows: Sequence[TrialDecision]) -> float:
    """The mean of psi, with its guess of a reply's cost from the same person's past."""
    past: dict[object, list[tuple[float, float]]] = {}
    found = []
    for row in sorted(rows, key=lambda row: row.drawn_at):
        before = past.setdefault(row.person, [])
        y, x, n = (sum(each[0] for each in before), sum(each[1] for each in before), len(before))
        now = (row.expected_trap + row.expected_control) / 2
        guess = 0.8 * (y + 1.2) / (x + 1.2) * now + 0.2 * (y + 1.2) / (n + 20)
        assert row.cost is not None
        found.append(
            (row.cost - guess) * (1 / row.probability if row.treated else -1 / (1 - row.probability))
        )
        before.append((row.cost, now))
    return sum(found) / len(found)
