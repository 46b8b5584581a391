"""What a game counts: as much as the database has, and nothing that was not committed."""

import asyncio

import pytest
from sqlalchemy import func, select

from bot.base.metrics import Metrics, MetricTotals
from bot.game.game_runner import GameRunner
from bot.game.ledger import GameLedger, sets_bait
from engine.bait_rule import ExpectedReplies, forecast
from engine.decision import Decision
from engine.figure_9 import expected_scale_centi
from engine.human.reply_forecast import ReplyForecast
from storage.database import Database, Role
from storage.errors import StorageError
from storage.evidence.game_records import named_bait
from storage.tables.games import DecisionRow, ForecastRow
from tests.bot.fakes import GAME_ID, FakeServer, picker, services
from tests.bot.ledger_samples import stored_game
from tests.bot.tempted import LOST, OPENING, PEOPLE, PLAIN, TEMPTS, Replies, decided, judged_by_own_costs
from tests.patience import PATIENCE_S
from tests.storage.samples import ARENA


def total(metrics: Metrics, name: str, **labels: str) -> float:
    samples = (sample for family in metrics.registry.collect() for sample in family.samples)
    return sum(
        each.value
        for each in samples
        if each.name == f"desdemona_{name}" and labels.items() <= each.labels.items()
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_whole_game(database: Database, seed: int) -> None:
    server = FakeServer(pick=picker(seed))
    async with services(server, database) as given, asyncio.timeout(PATIENCE_S):
        await GameRunner(GAME_ID, given).run()
    metrics, game = given.metrics, await stored_game(database)
    async with database.read() as session:
        decisions = await session.scalar(select(func.count()).select_from(DecisionRow))
        taken = select(ForecastRow.is_taken).join(DecisionRow, DecisionRow.id == ForecastRow.decision_id)
        settled = list(await session.scalars(taken.where(*named_bait())))
    labels = {"game": "tictactoe", "strategy": "trappy"}
    assert total(metrics, "decisions_total", **labels) == decisions
    assert total(metrics, "baits_total", **labels, outcome="set") == len(settled)
    assert total(metrics, "baits_total", **labels, outcome="taken") == settled.count(True)
    assert total(metrics, "baits_total", **labels, outcome="held") == len(settled) - settled.count(True)
    assert game.result is not None
    ended = {"site": game.site, "result": game.result.value, **labels}
    assert total(metrics, "games_total", **ended) == 1
    assert metrics.tally.games == 1
    assert metrics.tally.lost_on_time == 0
    assert metrics.tally.commits > metrics.tally.decisions > 0
    assert metrics.tally.failed_commits == 0


def foreseen(table: Replies) -> tuple[Decision, ReplyForecast]:
    """A decision with these replies, and what people are expected to reply, judged."""
    decision = decided(OPENING, "e2e4", table)
    probabilities = tuple(chance for _, chance in table.values())
    made = forecast(decision.chosen, expected_scale_centi(decision), ExpectedReplies(probabilities, PEOPLE))
    return decision, judged_by_own_costs(decision, made)


@pytest.mark.parametrize(("table", "counts"), [(TEMPTS, True), (PLAIN, False), (LOST, False)])
def test_which_baits_count(table: Replies, counts: bool) -> None:
    decision, made = foreseen(table)
    assert sets_bait(decision, made) is counts


async def test_a_failed_transaction_counts_as_such(database: Database) -> None:
    metrics = Metrics()
    ledger = GameLedger(database, ARENA, Role(""), "x", metrics)

    async def fail() -> None:
        async with ledger._transaction():
            raise StorageError("the disk is full")

    with pytest.raises(StorageError):
        await fail()
    assert metrics.tally == MetricTotals(failed_commits=1)
    await ledger.record_event("move_refused", {})
    assert (metrics.tally.commits, metrics.tally.failed_commits) == (1, 1)
    assert total(metrics, "events_total", kind="move_refused") == 1
