"""A perfect person, who always plays the reply that the judge finds best, costs nothing against anyone."""

from typing import Any

import pytest
from sqlalchemy import func, select

from engine.completion import complete
from engine.decision import Person
from engine.figure_9 import classify_by_figure_9
from engine.forecasts import decision_costs, forecast_replies
from engine.games import get_rules
from engine.judge import ReplyCosts
from engine.move_chooser import MoveChooser
from engine.params import TrapParams
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from engine.strategies.registry import strategy_named
from engine.time_management import Limits
from storage.database import Database
from storage.evidence.statistics.group_rows import read_groups
from storage.ledger.games import finish_game
from storage.ledger.judgements import store_judgements
from storage.ledger.outcomes import record_outcome
from storage.records import GameResult
from storage.tables.games import OutcomeRow
from tests.storage.samples import commit_decision, opened, store_forecast

DEPTHS = {"trappy": 3, "standard": 5}
"""How deep each player searches: trappy's searches take more nodes a ply."""
MOVES = 10


async def play(database: Database, strategy: str) -> None:
    """A game of Othello between the player and the perfect person."""
    rules, stop, searcher = get_rules("othello"), StopFlag(), make_searcher("othello", 1)
    player = MoveChooser(strategy_named(strategy), rules, TrapParams(), searcher)
    position: Any = rules.initial()
    judged: dict[int, tuple[str, ReplyCosts]] = {}
    async with database.write() as session:
        game = await opened(session, strategy, strategy=strategy)
        for ply in range(0, 2 * MOVES, 2):
            made = complete(player.choose(position, Limits(DEPTHS[strategy]), stop), searcher, stop)
            reply = decision_costs(made, (), stop).best.reply
            key = await commit_decision(session, game.id, ply, made)
            await record_outcome(session, key, classify_by_figure_9(made, reply))
            await store_forecast(session, key, made, forecast_replies(made, (), None, Person(), None, stop))
            judged[key] = reply, decision_costs(made, (reply,), stop)
            position = rules.play(position, rules.parse_move(position, made.move))
            position = rules.play(position, rules.parse_move(position, reply))
        await finish_game(session, game.id, result=GameResult.LOSS, end_reason="resign", moves=["f5"])
        await store_judgements(session, game.id, judged)


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
async def test_it_costs_nothing_whatever_the_depth_of_the_player(database: Database) -> None:
    """By the players' own searches it would cost something, and more against one than against the other."""
    for strategy in DEPTHS:
        await play(database, strategy)
    async with database.read() as session:
        groups = (await read_groups(session)).statistics()
        own = await session.scalar(select(func.max(OutcomeRow.cost)))
    assert [(each.replies > 5, each.unjudged, each.decided) for each in groups] == [(True, 0, 0)] * 2
    assert [(each.cost.happened, each.errors.happened) for each in groups] == [(0, 0)] * 2
    assert own is not None
    assert own > 0
