"""The rows of a trial: single decisions by lot, from what is stored to the report."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any

import pytest
from sqlalchemy import text, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.choice import verify
from engine.decision import Decision
from engine.expected import WHOLE, expected_score
from engine.games import get_game
from engine.judgement import classify_reply, expected_scale_centi, judge_decision
from engine.params import RandomisedParams, TrapParams
from engine.players import Player
from engine.randomised import LEAST_REPLIES, other_move
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.temptation import ExpectedReplies, ReplyForecast, expectations, forecast
from engine.time_management import Limits
from storage.damage import Unreadable
from storage.database import Database
from storage.decisions import commit_decision, mark_confirmed, void_after
from storage.filters import Filters
from storage.forecasts import store_forecast
from storage.games import finish_game
from storage.inference.decisions import TrialDecision, decisions_report
from storage.inference.trial import TrialTerms
from storage.outcomes import record_outcome
from storage.records import Endpoint, GameResult
from storage.statistics import trial_rows
from storage.statistics.facts import game_facts
from storage.statistics.trial_rows import trial_decision, trial_decisions, trial_games
from storage.tables.games import DecisionRow, ForecastRow, GameRow, OutcomeRow
from storage.trials import NewTrial, StoredTrial, start_trial
from tests.storage.samples import decision, drawn_decision, opened

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
BLIND = {"method": "fixed", "blind": True}


async def begun(session: AsyncSession) -> StoredTrial:
    plan = NewTrial(
        name="m1", arms=("randomised",), configurations={"randomised": {}}, endpoint=Endpoint.COST, opt=6000
    )
    return await start_trial(session, plan, at=NOON)


async def game_of(session: AsyncSession, trial: StoredTrial, key: str, **changes: Any) -> int:
    more: dict[str, Any] = {"player": "randomised", "selection": BLIND, "trial_id": trial.id, "at": NOON}
    return (await opened(session, key, **(more | changes))).id


async def drawn(
    session: AsyncSession, game_id: int, ply: int, *, trap: bool, reply: int | None, foreseen: bool = True
) -> int:
    """A decision by lot, and the reply of that number in its profile (None: none yet)."""
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
        await record_outcome(session, decision_id, classify_reply(made, played))
        at = NOON + (ply + 1) * MINUTE
        await session.execute(update(OutcomeRow).where(OutcomeRow.decision_id == decision_id).values(at=at))
    return decision_id


def foreseen_for(trap: bool) -> ReplyForecast:
    """By somebody who expects the last reply of either move with .9."""
    made = drawn_decision(trap=trap)
    scale = expected_scale_centi(made)
    found = []
    for each in (made.chosen, other_move(made)):
        count = len(each.replies)
        odds = (*([0.1 / (count - 1)] * (count - 1)), 0.9)
        found.append(forecast(each, scale, ExpectedReplies(odds, drawn_model())))
    return replace(found[0], other=found[1])


def drawn_model() -> Any:
    return forecast(drawn_decision(trap=True).chosen, 1000.0).model


def costs(trap: bool) -> list[float]:
    return [each.cost / 10_000 for each in judge_decision(drawn_decision(trap=trap)).replies]


def expected(trap: bool) -> float:
    each = costs(trap)
    return sum(each[:-1]) * 0.1 / (len(each) - 1) + 0.9 * each[-1]


@pytest.mark.parametrize("trap", [True, False])
async def test_a_row_has_both_moves_whatever_was_drawn(database: Database, trap: bool) -> None:
    async with database.write() as session:
        trial = await begun(session)
        game_id = await game_of(session, trial, "one")
        key = await drawn(session, game_id, 4, trap=trap, reply=-1)
        (row,), _ = await trial_decisions(session, trial)
    assert (row.decision_id, row.game_id, row.trap, row.chance) == (key, game_id, trap, 0.5)
    assert (row.drawn_at, row.settled_at) == (NOON + 4 * MINUTE, NOON + 5 * MINUTE)
    assert (row.value_trap, row.value_sound) == (0.6236, 0.6079)
    assert row.cost == costs(trap)[-1]
    assert row.expected_trap == pytest.approx(expected(True), abs=1e-6)
    assert row.expected_sound == pytest.approx(expected(False), abs=1e-6)
    assert row.mean_trap == pytest.approx(sum(costs(True)) / len(costs(True)))
    assert row.mean_sound == pytest.approx(sum(costs(False)) / len(costs(False)))
    assert row.excluded is None


async def test_without_a_forecast_the_looks_of_the_replies_count(database: Database) -> None:
    async with database.write() as session:
        trial = await begun(session)
        await drawn(session, await game_of(session, trial, "one"), 0, trap=True, reply=0, foreseen=False)
        (row,), _ = await trial_decisions(session, trial)
    for move, found in ((True, row.expected_trap), (False, row.expected_sound)):
        made = drawn_decision(trap=move)
        judgement = judge_decision(made)
        by_looks = expectations(forecast(made.chosen, expected_scale_centi(made)), judgement)
        assert found == pytest.approx(by_looks.cost_expected / 10_000, abs=1e-5)


async def test_which_decisions_are_there_and_when_they_are_settled(database: Database) -> None:
    async with database.write() as session:
        trial = await begun(session)
        running = await game_of(session, trial, "running")
        await drawn(session, running, 2, trap=True, reply=None)
        await drawn(session, running, 0, trap=False, reply=0)
        await commit_decision(session, running, 4, replace(decision(), player="randomised"))
        await drawn(session, running, 6, trap=True, reply=1)
        await void_after(session, running, 6)
        over = await game_of(session, trial, "over", opponent_id="bert")
        late = await drawn(session, over, 1, trap=True, reply=0)
        judged_anew = NOON + timedelta(days=90)
        await session.execute(update(OutcomeRow).where(OutcomeRow.decision_id == late).values(at=judged_anew))
        await drawn(session, over, 3, trap=False, reply=None)
        ended = NOON + timedelta(hours=1)
        await finish_game(session, over, result=GameResult.WIN, end_reason="resign", moves=["f5"], at=ended)
        program = await game_of(session, trial, "bot", opponent_id="hal", opponent_is_bot=True)
        await drawn(session, program, 5, trap=True, reply=0)
        await drawn(session, (await opened(session, "other", player="randomised")).id, 0, trap=True, reply=0)
        rows, _ = await trial_decisions(session, trial)
        few, _ = await trial_decisions(session, trial, Filters(opponent_id="bert"))
    assert [(row.drawn_at - NOON) // MINUTE for row in rows] == [0, 1, 2, 3, 5, 6]
    assert [row.settled_at is None for row in rows] == [False, False, True, False, False, False]
    assert [row.cost is None for row in rows] == [False, False, True, True, False, False]
    assert [rows[at].settled_at for at in (1, 3)] == [ended, ended]
    assert [row.excluded for row in rows] == [None, None, None, None, "program", None]
    assert [row.game_id for row in few] == [over, over]


DAMAGE: dict[str, tuple[dict[str, Any], str]] = {
    "no draw": ({"draw": None}, "the record of f7 has no other move that could have been drawn"),
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
    assert (damaged.what, damaged.id) == ("decision", keys[1])
    assert damaged.reason.startswith(reason)


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
        Unreadable("decision", first, "z9 is not among the replies"),
        Unreadable("decision", second, "not the record of a forecast: 'odds'"),
    ]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
async def test_values_that_only_sqlite_stores(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """No JSON, no text, no time: also without a lot, if the record does not say so."""
    monkeypatch.setattr(trial_rows, "_BATCH", 4)
    async with database.write() as session:
        trial = await begun(session)
        game_id = await game_of(session, trial, "one")
        keys = [await drawn(session, game_id, ply, trap=True, reply=0) for ply in range(0, 14, 2)]
        keys.append(await commit_decision(session, game_id, 20, decision()))
        other = await game_of(session, trial, "two", player="standard")
        keys.append(await commit_decision(session, other, 0, decision()))
        for key, column in (
            (keys[1], "record = '{'"),
            (keys[2], "record = '[' || record || ']'"),
            (keys[4], "record = CAST(x'7bff' AS TEXT)"),
            (keys[5], "created_at = 'noon'"),
            (keys[7], "record = ''"),
            (keys[8], "record = ''"),
        ):
            await session.execute(text(f"UPDATE decisions SET {column} WHERE id = {key}"))
        forecasts = text(f"UPDATE forecasts SET record = 'null' WHERE decision_id = {keys[6]}")
        await session.execute(forecasts)
    async with database.read() as session:
        rows, damaged = await trial_decisions(session, trial)
    assert [row.decision_id for row in rows] == [keys[0], keys[3]]
    assert len(damaged) == 6
    assert {each.id: each.reason for each in damaged} == {
        keys[1]: "no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        keys[2]: "no JSON object, but list",
        keys[4]: "Could not decode to UTF-8 column 'record' with text '{\N{REPLACEMENT CHARACTER}'",
        keys[5]: "ValueError: Invalid isoformat string: 'noon'",
        keys[6]: "no JSON object, but NoneType",
        keys[7]: "no JSON: Expecting value: line 1 column 1 (char 0)",
    }


@pytest.mark.parametrize(
    ("selection", "reason"),
    [
        ({}, "KeyError: 'chances'"),
        ({"chances": {"standard": 1.0}}, "KeyError: 'trappy'"),
        ({"chances": {"standard": 1.0, "trappy": 0.0}}, "ValueError: game "),
        ([], "no JSON object, but list"),
    ],
)
async def test_a_game_whose_draw_is_damaged(database: Database, selection: Any, reason: str) -> None:
    arms = ("standard", "trappy")
    plan = NewTrial(name="t1", arms=arms, configurations={arm: {} for arm in arms})
    drawn_so = {"chances": {"standard": 0.6, "trappy": 0.4}, "blind": True}
    async with database.write() as session:
        trial = await start_trial(session, plan, at=NOON)
        games = [
            await opened(session, f"g{n}", trial_id=trial.id, selection=drawn_so, at=NOON) for n in range(3)
        ]
        which = GameRow.id == games[1].id
        await session.execute(update(GameRow).where(which).values(selection=selection))
        facts = await game_facts(session)
        rows, (damaged,) = await trial_games(session, trial, "trappy", "standard", facts, [])
    assert [(row.game_id, row.chance) for row in rows] == [(games[0].id, 0.4), (games[2].id, 0.4)]
    assert (damaged.what, damaged.id) == ("game", games[1].id)
    assert damaged.reason.startswith(reason)


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


def mean_by_hand(rows: Sequence[TrialDecision]) -> float:
    """The mean of psi, with its guess of a reply's cost from the same person's past."""
    past: dict[object, list[tuple[float, float]]] = {}
    found = []
    for row in sorted(rows, key=lambda row: row.drawn_at):
        before = past.setdefault(row.person, [])
        y, x, n = (sum(each[0] for each in before), sum(each[1] for each in before), len(before))
        now = (row.expected_trap + row.expected_sound) / 2
        guess = 0.8 * (y + 1.2) / (x + 1.2) * now + 0.2 * (y + 1.2) / (n + 20)
        assert row.cost is not None
        found.append((row.cost - guess) * (1 / row.chance if row.trap else -1 / (1 - row.chance)))
        before.append((row.cost, now))
    return sum(found) / len(found)


@cache
def searched_lots() -> tuple[tuple[Decision, Decision], ...]:
    """Decisions by lot at random positions of Othello, each drawn for the trap and against it."""
    rng, rules, found = random.Random(5), get_game("othello"), []
    trap, params = TrapParams(threshold_percent=1), RandomisedParams(budget_percent=5)
    player = Player("randomised", rules, trap, make_searcher("othello", 1), randomised=params)
    for _ in range(150):
        position: Any = rules.initial()
        for _ in range(rng.randrange(8, 34)):
            moves = rules.legal_moves(position)
            position = rules.play(position, rng.choice(moves)) if moves else position
        if not rules.legal_moves(position):
            continue
        for_trap = player.choose(position, Limits(4), StopFlag(), seed=0)
        if for_trap.draw is not None:
            against = player.choose(position, Limits(4), StopFlag(), seed=(1 << 64) - 1)
            found.append((for_trap, against))
    return tuple(found)


def row_of(made: Decision, reply: str) -> TrialDecision:
    return trial_decision(1, 1, 1, NOON, NOON + MINUTE, made, None, reply, None)


def exact(number: float, denominator: int) -> Fraction:
    """The fraction with at most this denominator that a float stands for."""
    found = Fraction(number).limit_denominator(denominator)
    assert float(found) == pytest.approx(number, rel=1e-14)
    return found


def by_hand(made: Decision) -> list[Fraction]:
    """The cost of each reply, from the scores alone."""
    scale = expected_scale_centi(made)
    best = min(reply.final_centi for reply in made.chosen.replies)
    ours = expected_score(best, scale)
    return [Fraction(expected_score(each.final_centi, scale) - ours, WHOLE) for each in made.chosen.replies]


def test_whoever_moves_at_random_shows_nothing_beyond_difficulty_in_either_arm() -> None:
    """Over all replies, equally likely, in whole numbers: no sampling and no rounding."""
    pairs = searched_lots()
    assert len(pairs) >= 5
    for pair in pairs:
        assert [made.move for made in pair] == [pair[0].draw.trap, pair[0].draw.sound]  # type: ignore[union-attr]
        assert len({len(reply.scores_centi) for made in pair for reply in made.chosen.replies}) == 1
        for made, is_trap in zip(pair, (True, False), strict=True):
            verify(made)
            rows = [row_of(made, reply.reply) for reply in made.chosen.replies]
            assert {row.trap for row in rows} == {is_trap}
            (mean,) = {row.mean_trap if is_trap else row.mean_sound for row in rows}
            difficulty = exact(mean, WHOLE * len(rows))
            costs = [exact(row.cost, WHOLE) for row in rows if row.cost is not None]
            assert costs == by_hand(made)
            assert len(costs) >= LEAST_REPLIES
            assert sum(cost - difficulty for cost in costs) == 0
            assert max(costs) > difficulty


def test_a_report_on_somebody_who_moves_at_random() -> None:
    """Both arms of every decision, each reply as often as any other: a trap is harder, and that is all."""
    rows: list[TrialDecision] = []
    harder = []
    for pair in searched_lots():
        times = lcm(*(len(made.chosen.replies) for made in pair))
        for made in pair:
            for reply in made.chosen.replies:
                row = row_of(made, reply.reply)
                for _ in range(times // len(made.chosen.replies)):
                    key = len(rows)
                    rows.append(replace(row, decision_id=key, game_id=key, person=key))
        harder += [row.mean_trap - row.mean_sound] * times
    terms = TrialTerms(least_values=10, least_persons=2.0)
    report = decisions_report(rows, terms, NOON + timedelta(days=1))
    assert report.counted == len(rows) == 2 * len(harder)
    beyond = report.beyond_difficulty
    assert (beyond.any_time.estimate.mean, beyond.fixed.value) == pytest.approx((0, 0), abs=1e-12)
    assert report.cost.any_time.estimate.mean == pytest.approx(sum(harder) / len(harder), abs=1e-12)
    assert sum(harder) / len(harder) > 0.001
