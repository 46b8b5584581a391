"""Tallies of games, against an independent count."""

import random
from collections import Counter

import pytest
from sqlalchemy import func, select

from engine.decision import Outcome, OutcomeKind
from engine.judgement import judge_decision
from storage import tallies
from storage.database import Database
from storage.decisions import commit_decision, mark_dropped, store_profile, void_after
from storage.outcomes import record_outcome
from storage.tables.games import TallyRow
from tests.storage.samples import (
    ERRED,
    FELL,
    FELL_ELSE,
    OPTIMAL,
    UNANSWERED,
    decision,
    opened,
    settled,
)


async def one(database: Database) -> dict[str, int]:
    """The sums of all games' tallies."""
    async with database.read() as session:
        columns = [column for column in TallyRow.__table__.columns if column.name != "game_id"]
        sums = [func.sum(column).label(column.name) for column in columns]
        row = (await session.execute(select(*sums))).one()
        return dict(row._mapping)


async def test_every_decision_has_its_place(database: Database) -> None:
    trap = decision(quality=100.0)
    async with database.write() as session:
        game = await opened(session)
        await settled(session, game.id, 0, trap, FELL)
        await settled(session, game.id, 2, trap, UNANSWERED)
        await settled(session, game.id, 4, trap, None)  # pending
        await settled(session, game.id, 6, decision(quality=99.0), OPTIMAL)  # below the threshold: no trap
        await settled(session, game.id, 8, decision(), ERRED)
        await settled(session, game.id, 10, decision(replies=1), OPTIMAL)  # forced: says nothing
        await settled(session, game.id, 12, decision(), UNANSWERED)
        late = await commit_decision(session, game.id, 14, decision(complete=False))
    assert (await one(database))["traps_set"] == 3
    async with database.write() as session:
        await store_profile(session, late, trap)
    row = await one(database)
    assert (row["traps_set"], row["traps_fell"], row["traps_unanswered"]) == (4, 1, 1)
    assert (row["plain_optimal"], row["plain_erred"]) == (1, 1)


async def test_what_was_never_played_or_taken_back_counts_nowhere(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await settled(session, game.id, 0, decision(quality=200.0), FELL)
        await settled(session, game.id, 2, decision(quality=200.0), FELL)
        dropped = await commit_decision(session, game.id, 4, decision(quality=200.0))
        await mark_dropped(session, dropped)
    assert (await one(database))["traps_set"] == 2
    async with database.write() as session:
        await void_after(session, game.id, 2)
    row = await one(database)
    assert (row["traps_set"], row["traps_fell"]) == (1, 1)


@pytest.mark.parametrize("seed", range(3))
async def test_tallies_equal_an_independent_count(database: Database, seed: int) -> None:
    """Decisions, profiles, outcomes and takebacks in any order, counted here by hand."""
    rng = random.Random(seed)
    expected: Counter[str] = Counter()
    async with database.write() as session:
        for number in range(8):
            game = await opened(session, f"g{number}")
            taken_back_from = rng.choice([99, 99, 6])
            for ply in range(0, 12, 2):
                made = decision(quality=rng.choice([0.0, 99.0, 100.0, 300.0]), replies=rng.choice([1, 2, 3]))
                outcome = rng.choice([FELL, FELL_ELSE, OPTIMAL, ERRED, UNANSWERED, None])
                decision_id = await commit_decision(session, game.id, ply, decision(complete=False))
                if rng.random() < 0.5:  # the outcome may even come before the profile
                    await store_profile(session, decision_id, made)
                if outcome is not None:
                    await record_outcome(session, decision_id, outcome)
                await store_profile(session, decision_id, made)
                if ply < taken_back_from:
                    is_trap = judge_decision(made).is_trap
                    expected.update(kinds(is_trap, len(made.chosen.replies), outcome))
            await void_after(session, game.id, taken_back_from)
    for _ in range(2):
        row = await one(database)
        assert row == {name: expected[key] for name, key in KEYS.items()}
        async with database.write() as session:
            await tallies.rebuild(session)


KEYS = {
    "traps_set": "set",
    "traps_optimal": "optimal",
    "traps_fell": "fell",
    "traps_fell_for_best": "best",
    "traps_erred_elsewhere": "erred",
    "traps_unanswered": "unanswered",
    "plain_optimal": "base optimal",
    "plain_erred": "base erred",
}


def kinds(is_trap: bool, replies: int, outcome: Outcome | None) -> list[str]:
    names = {
        OutcomeKind.OPTIMAL: "optimal",
        OutcomeKind.FELL: "fell",
        OutcomeKind.ERRED_ELSEWHERE: "erred",
        OutcomeKind.UNANSWERED: "unanswered",
    }
    if not is_trap:
        if replies < 2 or outcome is None or outcome.kind is OutcomeKind.UNANSWERED:
            return []
        return ["base optimal" if outcome.kind is OutcomeKind.OPTIMAL else "base erred"]
    found = ["set"]
    if outcome is not None:
        found += [names[outcome.kind], *(["best"] if outcome.fell_for_best else [])]
    return found
