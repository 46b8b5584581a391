"""Trials: one open at a time, and the games that belong to it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from storage.database import Database
from storage.errors import StorageError, TrialError
from storage.evidence.inference.trial import TrialTerms
from storage.evidence.trials import (
    STRATA,
    NewTrial,
    eligible_trial_id,
    end_trial,
    is_by_pair,
    is_challenger_position,
    list_trials,
    open_trial,
    start_trial,
)
from storage.ledger.games import finish_game, load_game
from storage.records import Endpoint, GameResult
from storage.tables.games import TrialRow
from tests.storage.samples import ARENA, DRAWN_AT, NEW_GAME, opened

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
DRAWN = {"method": "balanced", "chances": {"trappy": 0.6, "standard": 0.4}, "blind": True}


def planned(name: str = "t1", **changes: Any) -> NewTrial:
    known: dict[str, Any] = {
        "name": name,
        "arms": ("trappy", "standard"),
        "configurations": {"trappy": {"depth": 10}, "standard": {}},
    }
    return NewTrial(**(known | changes))


async def test_a_trial_comes_back_as_it_was_planned(database: Database) -> None:
    new = planned(planned_n=500, alpha=0.01, cap=20, endpoint=Endpoint.COST, strata={"by": ["game"]})
    async with database.write() as session:
        assert await open_trial(session) is None
        started = await start_trial(session, new, at=NOON)
        assert await open_trial(session) == started
    assert (started.name, started.arms, started.endpoint) == ("t1", ("standard", "trappy"), Endpoint.COST)
    assert (started.planned_n, started.alpha, started.cap) == (500, 0.01, 20)
    assert started.configurations == {"trappy": {"depth": 10}, "standard": {}}
    assert started.strata == {"by": ["game"]}
    assert (started.started_at, started.ended_at, started.games) == (NOON, None, 0)
    assert planned().strata == STRATA
    assert (planned().alpha, planned().cap, STRATA["rating_band"]) == (0.05, 50, 200)
    assert (TrialTerms().alpha, TrialTerms().cap_games) == (planned().alpha, planned().cap)
    async with database.write() as session:
        ended = await end_trial(session, "t1", at=NOON + timedelta(days=1))
        assert await open_trial(session) is None
    assert ended == replace(started, ended_at=NOON + timedelta(days=1))


async def test_a_trial_keeps_its_rule_of_when_a_game_is_undecided(database: Database) -> None:
    settings = {"settings": {"randomised": {"by_pair": True}}}
    async with database.write() as session:
        plan = planned(configurations={"trappy": settings, "standard": {"depth": 10}})
        trial = await start_trial(session, plan)
    async with database.read() as session:
        assert await is_by_pair(session, trial.id, "trappy")
        assert not await is_by_pair(session, trial.id, "standard")  # as in plans of older versions


async def test_one_trial_is_open_at_a_time(database: Database) -> None:
    async with database.write() as session:
        await start_trial(session, planned("t1"))
        with pytest.raises(TrialError, match="trial t1 is open; end it first"):
            await start_trial(session, planned("t2"))
        with pytest.raises(TrialError, match="trial t1 exists already"):
            await start_trial(session, planned("t1"))
        await end_trial(session)
        with pytest.raises(TrialError, match="trial t1 exists already; choose another name"):
            await start_trial(session, planned("t1"))
        await start_trial(session, planned("t2"))
        assert [trial.name for trial in await list_trials(session)] == ["t2", "t1"]
    with pytest.raises(StorageError):  # nor by any other program
        async with database.write() as session:
            await session.execute(update(TrialRow).values(open_slot=1))


async def test_ends_that_make_no_sense(database: Database) -> None:
    async with database.write() as session:
        with pytest.raises(TrialError, match="no trial is open"):
            await end_trial(session)
        await start_trial(session, planned(), at=NOON)
        with pytest.raises(TrialError, match="trial t2 is not open; trial t1 is"):
            await end_trial(session, "t2")
        with pytest.raises(TrialError, match="trial t1 began at 2026-11-25 12:00:00"):
            await end_trial(session, at=NOON - timedelta(seconds=1))
        await end_trial(session, at=NOON)
        with pytest.raises(TrialError, match="no trial is open"):
            await end_trial(session, "t1")


@pytest.mark.parametrize(
    ("selection", "belongs"),
    [
        (DRAWN, True),
        (DRAWN | {"chances": {"standard": 0.5, "trappy": 0.5}}, True),
        (DRAWN | {"blind": False}, False),
        (DRAWN | {"seed": 7}, False),
        (DRAWN | {"chances": {"trappy": 1.0}}, False),
        (DRAWN | {"chances": {"trappy": 0.4, "standard": 0.3, "strong": 0.3}}, False),
        (DRAWN | {"chances": {"trappy": 0.4, "strong": 0.6}}, False),
        ({"method": "fixed"}, False),
        ({}, False),
    ],
)
async def test_which_games_belong_to_it(database: Database, selection: dict[str, Any], belongs: bool) -> None:
    new = replace(NEW_GAME, selection=selection)
    async with database.write() as session:
        assert await eligible_trial_id(session, new) is None
        trial = await start_trial(session, planned())
        assert await eligible_trial_id(session, new) == (trial.id if belongs else None)
        await end_trial(session)
        assert await eligible_trial_id(session, new) is None


@pytest.mark.parametrize(
    ("player", "selection", "belongs"),
    [
        ("randomised", {"method": "fixed", "blind": True}, True),
        ("randomised", {"method": "balanced", "chances": {"randomised": 1.0}, "blind": True}, True),
        ("randomised", {"method": "fixed", "blind": False}, False),
        ("randomised", {"method": "fixed", "blind": True, "seed": 7}, False),
        ("randomised", DRAWN | {"chances": {"randomised": 0.5, "trappy": 0.5}}, False),
        ("trappy", {"method": "fixed", "blind": True}, False),
    ],
)
async def test_which_games_belong_to_a_trial_of_decisions(
    database: Database, player: str, selection: dict[str, Any], belongs: bool
) -> None:
    alone = planned(arms=("randomised",), configurations={"randomised": {}}, endpoint=Endpoint.COST)
    assert alone.draws_decisions
    assert not planned().draws_decisions
    async with database.write() as session:
        trial = await start_trial(session, alone)
        new = replace(NEW_GAME, strategy=player, selection=selection)
        assert await eligible_trial_id(session, new) == (trial.id if belongs else None)


async def test_a_player_that_draws_decisions_beside_others(database: Database) -> None:
    arms = ("randomised", "standard")
    async with database.write() as session:
        trial = await start_trial(session, planned(arms=arms, configurations={arm: {} for arm in arms}))
        drawn = DRAWN | {"chances": dict.fromkeys(arms, 0.5)}
        for player in arms:
            assert (
                await eligible_trial_id(session, replace(NEW_GAME, strategy=player, selection=drawn))
                == trial.id
            )
        alone = replace(NEW_GAME, strategy="randomised", selection={"method": "fixed", "blind": True})
        assert await eligible_trial_id(session, alone) is None


START_960 = "bqnnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNNRKRB w GEge - 0 1"
ENDING = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"


@pytest.mark.parametrize(
    ("variant", "position", "own"),
    [
        ("othello", None, False),
        ("othello", DRAWN_AT, True),
        ("fromPosition", None, False),  # it was the usual start
        ("fromPosition", ENDING, True),
        ("fromPosition", START_960, True),
        ("chess960", None, False),
        ("chess960", START_960, False),
        ("chess960", ENDING, True),
        ("chess960", START_960.replace(" w ", " b "), True),
        ("chess960", "no position", True),
        ("s8r20", DRAWN_AT, False),
        ("s8", DRAWN_AT, True),
        ("s8r20x", DRAWN_AT, True),
    ],
)
async def test_games_from_a_challengers_position_belong_to_none(
    database: Database, variant: str, position: str | None, own: bool
) -> None:
    assert is_challenger_position(variant, position) is own
    new = replace(NEW_GAME, selection=DRAWN, variant=variant, initial_position=position)
    async with database.write() as session:
        trial = await start_trial(session, planned())
        assert await eligible_trial_id(session, new) == (None if own else trial.id)


async def test_its_games_are_counted(database: Database) -> None:
    async with database.write() as session:
        first = await start_trial(session, planned("t1"))
        one = await opened(session, "one", trial_id=first.id)
        two = await opened(session, "two", trial_id=first.id)
        await finish_game(session, two.id, result=GameResult.WIN, end_reason="normal", settled=False)
        await opened(session, "four", trial_id=first.id)
        await opened(session, "three")
        await finish_game(session, one.id, result=GameResult.WIN, end_reason="normal")
        assert one.trial_id == first.id
        stored = await load_game(session, ARENA, "three")
        assert stored is not None
        assert stored.trial_id is None
        ended = await end_trial(session)
        await start_trial(session, planned("t2"))
        counts = [(trial.games, trial.open_games) for trial in await list_trials(session)]
    assert (ended.games, ended.open_games) == (3, 2)
    assert counts == [(0, 0), (3, 2)]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": ""}, "name is '', must be 1 to 40 letters"),
        ({"name": "a b"}, "name is 'a b'"),
        ({"name": "-x"}, "name is '-x'"),
        ({"name": "a" * 41}, "name is 'aaa"),
        ({"arms": ("trappy",)}, "arms are trappy, must be at least two different players"),
        (
            {"arms": ("randomised",), "configurations": {"randomised": {}}},
            "endpoint is score: trials of single",
        ),
        ({"arms": ()}, "arms are none"),
        ({"arms": ("trappy", "trappy")}, "arms are trappy, trappy"),
        ({"configurations": {"trappy": {}}}, "configurations lack standard"),
        ({"planned_n": 0}, "planned_n is 0, must be from 1 to 1000000"),
        ({"planned_n": 1_000_001}, "planned_n is 1000001"),
        ({"cap": 0}, "cap is 0"),
        ({"alpha": 0.0}, "alpha is 0.0, must be between 0 and 1"),
        ({"alpha": 1.0}, "alpha is 1.0"),
        ({"alpha": float("nan")}, "alpha is nan"),
    ],
)
def test_plans_that_make_no_sense(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TrialError) as told:
        planned(**changes)
    assert str(told.value).startswith(complaint)


def test_the_limits_of_a_plan() -> None:
    for changes in ({"planned_n": 1, "cap": 1}, {"planned_n": 1_000_000, "name": "a" * 40}, {"alpha": 0.999}):
        assert planned(**changes)


@pytest.mark.parametrize(
    ("selection", "players"),
    [
        (DRAWN, ("standard", "trappy")),
        ({"method": "balanced", "against_opponent": {"trappy": 0, "standard": 1}}, ("standard", "trappy")),
        ({"method": "balanced", "against_opponent": {"trappy": 0}}, ()),
        ({"method": "balanced", "p": 0.5}, ()),
        ({"chances": None}, ()),
    ],
)
def test_from_whom_a_player_was_drawn(selection: dict[str, Any], players: tuple[str, ...]) -> None:
    assert replace(NEW_GAME, selection=selection).drawn_from == players
