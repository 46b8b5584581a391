"""How often a lot decided, of what is stored."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.figure_9 import classify_by_figure_9
from storage.database import Database
from storage.evidence.statistics.draws import RANDOMISERS, DrawRate, read_draw_rate
from storage.filters import Filters
from storage.ledger.games import finish_game
from storage.records import MATCH_SITE, GameResult
from tests.storage.samples import OPTIMAL, UNANSWERED, decision, drawn_decision, opened, settled

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)


async def played(session: AsyncSession, key: str, draws: int, *, is_over: bool = True, **changes: Any) -> int:
    """A game with answered randomised decisions, one without an answer, and one without a draw."""
    game_id = (await opened(session, key, **({"strategy": "randomised"} | changes))).id
    for number in range(draws):
        made = drawn_decision(trap=number % 2 == 0)
        reply = made.chosen.replies[0].reply
        await settled(session, game_id, 2 * number, made, classify_by_figure_9(made, reply))
    await settled(session, game_id, 50, drawn_decision(trap=True), UNANSWERED)
    await settled(session, game_id, 52, replace(decision(), strategy="randomised"), OPTIMAL)
    if is_over:
        await finish_game(session, game_id, result=GameResult.WIN, end_reason="resign", moves=["f5"], at=NOON)
    return game_id


def test_who_draws() -> None:
    assert RANDOMISERS == ("randomised",)


async def test_answered_draws_in_finished_games_with_people(database: Database) -> None:
    async with database.write() as session:
        assert await read_draw_rate(session) == DrawRate(0, 0)
        await played(session, "two", 2)
        await played(session, "none", 0, opponent_id="bert")
        await played(session, "open", 3, is_over=False)
        await played(session, "program", 3, opponent_id="hal", opponent_is_bot=True)
        await played(session, "match", 3, site=MATCH_SITE)
        await played(session, "other", 0, strategy="trappy")
        unsettled = await played(session, "unsettled", 3, is_over=False)
        await finish_game(
            session, unsettled, result=GameResult.WIN, end_reason="time", moves=["f5"], settled=False
        )
        aborted = await played(session, "aborted", 3, is_over=False)
        await finish_game(
            session, aborted, result=None, end_reason="aborted", moves=["f5"], at=NOON, aborted=True
        )
        assert await read_draw_rate(session) == DrawRate(games=2, draws=2)
        assert await read_draw_rate(session, Filters(opponent_id="bert")) == DrawRate(games=1, draws=0)
        assert await read_draw_rate(session, Filters(game="chess")) == DrawRate(0, 0)


async def test_what_nobody_knows_is_no_draw(database: Database) -> None:
    """The records were damaged before they said what chose the move in a column of its own."""
    async with database.write() as session:
        await played(session, "three", 3)
        await session.execute(text("UPDATE decisions SET search_mode = NULL WHERE ply <= 2"))
        assert await read_draw_rate(session) == DrawRate(games=1, draws=1)
