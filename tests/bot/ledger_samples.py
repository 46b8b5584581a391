"""Checks the invariants of a game's record against the server's own list of moves."""

import asyncio
from collections.abc import Mapping

import pytest
from sqlalchemy import select

from bot.base.events import EndReason
from engine.bait_rule import FORECAST_RULE
from engine.decision import OutcomeKind
from engine.figure_9 import classify_by_figure_9
from engine.human.reply_forecast import ReplyForecast
from engine.verification import verify
from storage.database import Database
from storage.evidence.summaries import games_to_summarise, list_finished_games, repair_summaries
from storage.ledger.decisions import list_decisions
from storage.ledger.events import list_events
from storage.ledger.games import load_game
from storage.records import DecisionState, GameResult, GameStatus, StoredDecision, StoredGame
from storage.tables.games import ForecastRow
from tests.bot.fakes import GAME_ID, FakeServer
from tests.patience import PATIENCE_S
from tests.storage.samples import ARENA


async def stored_game(database: Database) -> StoredGame:
    async with database.read() as session:
        game = await load_game(session, ARENA, GAME_ID)
    assert game is not None
    return game


async def finished(database: Database) -> StoredGame:
    """Wait until a game is over in the ledger; the database tells nobody, so it is asked."""
    async with asyncio.timeout(PATIENCE_S):
        while (game := await stored_game(database)).state is GameStatus.OPEN:  # noqa: ASYNC110
            await asyncio.sleep(0)
    return game


async def stored_decisions(database: Database) -> list[StoredDecision]:
    game = await stored_game(database)
    async with database.read() as session:
        return await list_decisions(session, game.id)


async def stored_forecasts(database: Database) -> dict[int, ForecastRow]:
    """All forecasts by their decision's key."""
    async with database.read() as session:
        return {row.decision_id: row for row in await session.scalars(select(ForecastRow))}


def check_forecast(stored: StoredDecision, found: ForecastRow) -> None:
    """Check a forecast against the profile, and what is noted in it against the reply that was judged."""
    made = ReplyForecast.from_record(found.record)
    assert (made.rule, found.rule) == (FORECAST_RULE, FORECAST_RULE)
    assert made.replies == tuple(reply.reply for reply in stored.decision.chosen.replies)
    assert sum(made.probabilities) == pytest.approx(1 if made.probabilities else 0, abs=1e-4)
    assert found.bait == (None if made.bait is None else made.bait.reply)
    assert stored.outcome is not None
    reply = stored.outcome.reply
    assert found.reply_probability == (None if reply is None else made.probability_of(reply))
    assert found.is_taken == (None if reply is None else made.takes_bait(reply))


async def event_kinds(database: Database) -> list[str]:
    async with database.read() as session:
        return [event.kind for event in reversed(await list_events(session))]


async def check_game_summaries(database: Database) -> None:
    """Check that every game that is over has a summary, and that each says what the game does."""
    async with database.write() as session:
        assert await games_to_summarise(session, 0, 100) == []
        assert await repair_summaries(session, await list_finished_games(session, 0, 100)) == []


async def check_books(
    database: Database,
    server: FakeServer,
    taken_back: Mapping[int, str] | None = None,
    *,
    sure: bool = True,
) -> None:
    """Check a finished game: one decision for each move of ours on the server, each with its correct outcome
    and a forecast.

    Args:
        taken_back: Replies that were judged and later taken back, by ply.
        sure: They were judged; otherwise it may have been the reply on the board.
    """
    game = await stored_game(database)
    assert server.end is not None
    assert game.moves == server.moves
    if server.end.reason is EndReason.ABORTED:
        assert (game.state, game.result) == (GameStatus.ABORTED, None)
    else:
        results = {None: GameResult.DRAW, server.our_side: GameResult.WIN}
        assert game.state is GameStatus.FINISHED
        assert game.result is results.get(server.end.winner, GameResult.LOSS)

    await check_game_summaries(database)
    decisions = await stored_decisions(database)
    forecasts = await stored_forecasts(database)
    played = [d for d in decisions if d.state is not DecisionState.DROPPED]
    rules = server.rules
    text = server.initial_position
    position = rules.initial() if text is None else rules.parse_position(text)
    ours = {}
    for ply, move in enumerate(server.moves):
        if rules.side_to_move(position) == server.our_side:
            ours[ply] = (rules.position_text(position), move)
        position = rules.play(position, rules.parse_move(position, move))
    assert {d.ply: (d.decision.position, d.decision.move) for d in played} == ours
    assert all(d.ply >= len(server.moves) and d.outcome is None for d in decisions if d not in played)
    for stored in played:
        assert stored.state is DecisionState.CONFIRMED
        assert stored.is_complete
        verify(stored.decision)
        reply = server.moves[stored.ply + 1] if stored.ply + 1 < len(server.moves) else None
        first = (taken_back or {}).get(stored.ply + 1, reply)
        if not sure and stored.outcome == classify_by_figure_9(stored.decision, reply):
            first = reply
        assert stored.outcome == classify_by_figure_9(stored.decision, first)
        assert (stored.outcome.kind is OutcomeKind.UNANSWERED) == (first is None)
        check_forecast(stored, forecasts[stored.id])
