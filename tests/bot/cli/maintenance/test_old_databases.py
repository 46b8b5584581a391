"""Databases of released versions: upgraded, rechecked, and counted in full, on both databases."""

import asyncio
import json
from collections import defaultdict
from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import select

from bot.base.game_summaries import outdated_notice
from bot.game.recheck import RecheckResults, recheck
from bot.threads.person_fold import fold_persons
from bot.threads.reply_judge import judge_games
from engine.decision import Decision, OutcomeKind
from engine.expected import WHOLE
from engine.figure_9 import classify_by_figure_9, decision_verdicts
from engine.forecasts import decision_costs
from engine.human.registry import ModelRegistry
from engine.stop import StopFlag
from storage.database import Database
from storage.evidence.statistics.group_rows import read_groups
from storage.ledger.judgements import count_games_to_judge
from storage.tables.games import OpponentRow
from storage.tables.persons import PersonStateRow
from tests.bot.conftest import Command
from tests.storage.conftest import backend, empty_url
from tests.storage.maintenance.old_databases import DAMAGED, read_old, restore

__all__ = ["backend", "empty_url"]  # fixtures

DECISIONS, LOST = 154, 147
"""Of each database, and of those the ones that the first migration 0012 took the replies from."""
LEARNED = {"othello", "chess", "xiangqi"}
"""Games with a model of people."""

RECORDS_OF = {DAMAGED: "0.1.0"}
"""Of the same games, as the program wrote them."""


def judged_of_old(name: str) -> dict[tuple[str, str], list[tuple[bool, bool, int]]]:
    """What the old tables say of each reply of a person, by player and game.

    Read from the records that the old program wrote as JSON: whether the position was decided, whether the
    reply was one of the best, and its cost by the judge.
    """
    query = """SELECT games.player AS strategy, games.game, games.moves, decisions.ply, decisions.record
    FROM decisions JOIN games ON games.id = decisions.game_id
    WHERE games.site <> 'match' AND games.state = 'finished' AND takeback = 0
    AND decisions.state = 'confirmed'"""
    found = defaultdict(list)
    with closing(read_old(name)) as old:
        for row in old.execute(query):
            decision, moves = Decision.from_record(json.loads(row["record"])), row["moves"].split()
            if row["ply"] + 1 < len(moves) and len(decision.chosen.replies) > 1:
                outcome = classify_by_figure_9(decision, moves[row["ply"] + 1])
                is_best = outcome.kind is OutcomeKind.OPTIMAL
                is_decided = decision_verdicts(decision).is_decided
                reply = moves[row["ply"] + 1]
                cost = decision_costs(decision, (reply,), StopFlag()).of(reply).cost
                found[row["strategy"], row["game"]].append((is_decided, is_best, cost))
    return dict(found)


def judged_in_statistics(told: str) -> dict[tuple[str, str], list[Any]]:
    """The same as ``stats`` counts it: replies, decided ones, best ones, mean cost."""
    return {
        (row["group"]["strategy"], row["group"]["game"]): [
            row["replies"],
            row["decided"],
            row["optimal"],
            row["cost"]["happened"],
        ]
        for row in json.loads(told)
        if row["replies"]
    }


def persons_of_old(name: str) -> dict[tuple[str, str], tuple[int, int]]:
    """What the old tables say of each person, by name and game: games with replies, and replies."""
    query = """SELECT opponents.name, games.id, games.game, games.moves, decisions.ply, decisions.record
    FROM decisions JOIN games ON games.id = decisions.game_id
    JOIN opponents ON opponents.id = games.opponent_id
    WHERE games.site <> 'match' AND games.state = 'finished' AND takeback = 0 AND NOT is_bot
    AND decisions.state = 'confirmed'"""
    found = defaultdict(list)
    with closing(read_old(name)) as old:
        for row in old.execute(query):
            decision = Decision.from_record(json.loads(row["record"]))
            has_reply = row["ply"] + 1 < len(row["moves"].split())
            if row["game"] in LEARNED and has_reply and len(decision.chosen.replies) > 1:
                found[row["name"], row["game"]].append(row["id"])
    return {person: (len(set(games)), len(games)) for person, games in found.items()}


async def known_persons(database: Database) -> dict[tuple[str, str], tuple[int, int]]:
    """The same as it is learned from the judged games, at once and for good."""
    models = ModelRegistry()
    count = await fold_persons(database, models)
    assert await fold_persons(database, models) == 0
    columns = OpponentRow.name, PersonStateRow.game, PersonStateRow.games, PersonStateRow.replies
    rows = select(*columns).join(OpponentRow, OpponentRow.id == PersonStateRow.opponent_id)
    async with database.read() as session:
        found = {(name, game): (games, replies) for name, game, games, replies in await session.execute(rows)}
    assert count == sum(games for games, _ in found.values())
    return found


def counts(found: RecheckResults) -> tuple[int, ...]:
    return (found.verified, found.judged, found.forecast, found.completed, found.restored)


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        ("sqlite", "0.1.0"),
        ("sqlite", "0.2.0"),
        ("sqlite", DAMAGED),
        ("postgresql", DAMAGED),
    ],
)
async def test_an_old_database_is_complete_after_an_upgrade_and_a_recheck(
    empty_url: str, name: str, desdemona: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESDEMONA_STORAGE__URL", empty_url)
    await restore(name, empty_url)
    status, out, _ = await asyncio.to_thread(desdemona, "db", "upgrade")
    (line,) = [each for each in out.splitlines() if "recheck" in each]
    assert (status, "statistics ignore them: run `desdemona db recheck`" in line) == (0, True)

    database = await Database.open(empty_url)
    found = await recheck(database)
    if name == DAMAGED:
        again = await recheck(database)
        assert (counts(again), again.wrong, again.summaries) == ((DECISIONS, 0, 0, 0, 0), [], 0)
    assert await outdated_notice(database) == ""
    async with database.read() as session:
        before = (await read_groups(session)).statistics()
        games = await count_games_to_judge(session)
    # No reply counts in a cost before the judge has judged it.
    assert {(each.replies, each.cost.n, each.errors.happened) for each in before} == {(0, 0, None)}
    assert sum(each.unjudged_games for each in before) > 0
    assert await judge_games(database) == (games, 0)
    known = await known_persons(database)
    await database.close()
    assert (found.wrong, found.quarantined, found.left) == ([], [], {})
    assert counts(found) == (DECISIONS, DECISIONS, DECISIONS, 0, LOST if name == DAMAGED else 0)

    status, out, err = await asyncio.to_thread(desdemona, "stats", "--format", "json")
    assert (status, err) == (0, "")
    expected = {}
    for group, replies in judged_of_old(RECORDS_OF.get(name, name)).items():
        open_ones = [(is_best, cost) for is_decided, is_best, cost in replies if not is_decided]
        decided, best = len(replies) - len(open_ones), sum(is_best for is_best, _ in open_ones)
        mean = sum(cost for _, cost in open_ones) / len(open_ones) / WHOLE
        expected[group] = [len(open_ones), decided, best, pytest.approx(mean)]
    assert judged_in_statistics(out) == expected
    assert len(expected) >= 5
    assert known == persons_of_old(RECORDS_OF.get(name, name))
    assert len(known) >= 2
