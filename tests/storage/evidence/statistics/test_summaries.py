"""Summaries of games: when they are made, which are valid, and what is found wrong."""

import random

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from storage.evidence.statistics.packed_games import unpacked_games

from engine.judgement import RULE
from storage.database import Database
from storage.evidence.statistics import valid_summaries
from storage.evidence.statistics.group_rows import read_groups
from storage.evidence.summaries import games_over, games_to_summarise, remake, summarise
from storage.ledger.games import finish_game, reopen_game
from storage.ledger.outcomes import record_outcome
from storage.records import GameResult
from storage.tables.games import DecisionRow, GameRow, OutcomeRow
from storage.tables.summaries import GameSummaryRow
from tests.storage.evidence.statistics.drawn_database import fill
from tests.storage.evidence.statistics.test_suspect_rows import answered
from tests.storage.samples import FELL, OPTIMAL, decision, opened, settled


async def closed(session: AsyncSession, key: str = "one", *, aborted: bool = False) -> int:
    """A game of two judged replies."""
    game = await opened(session, key)
    await answered(session, game.id, 0, OPTIMAL, 1.5)
    await answered(session, game.id, 2, FELL, 0.2)
    await finish_game(session, game.id, result=GameResult.WIN, end_reason="resign", aborted=aborted)
    return game.id


STAMPS = select(GameSummaryRow.game_id, GameSummaryRow.stamp)


async def summaries(session: AsyncSession) -> dict[int, dict[str, object]]:
    """All of them but their stamps, which are drawn."""
    rows = await session.execute(select(GameSummaryRow.__table__).order_by(GameSummaryRow.game_id))
    return {row.game_id: {**row._mapping, "stamp": None} for row in rows}


async def test_a_summary_of_a_game(database: Database) -> None:
    async with database.write() as session:
        game = await closed(session)
        assert await games_to_summarise(session, 0, 9) == [game]
        assert await summarise(session, [game]) == 1
        row = await session.get(GameSummaryRow, game)
        assert row is not None
        (facts,) = unpacked_games([row.facts])
        assert facts[["outdated", "timed", "fast", "judged", "optimal"]].item() == (0, 2, 1, 2, 1)
        assert (row.baits_set, row.baits_taken, row.slips) == (0, 0, 0 if FELL.cost < 1000 else 1)
        assert (row.lots, row.lots_answered) == (0, 0)
        assert (row.labels, row.models) == ('["trappy","othello","arena","blitz",""]', '["looks 6.5"]')
        assert await games_to_summarise(session, 0, 9) == []
        assert await summarise(session, [game, game]) == 1


async def test_games_that_are_open_have_none(database: Database) -> None:
    async with database.write() as session:
        game = await closed(session)
        aborted = await closed(session, "two", aborted=True)
        still_open = (await opened(session, "three")).id
        assert await games_over(session, 0, 9) == await games_to_summarise(session, 0, 9) == [game, aborted]
        assert await games_to_summarise(session, game, 9) == [aborted]
        assert await games_to_summarise(session, 0, 1) == [game]
        assert await summarise(session, [game, aborted, still_open]) == 2
        await reopen_game(session, game)
        assert await games_over(session, 0, 9) == [aborted]
        # Even before somebody removes it, it does not count.
        assert (await read_groups(session)).rows.is_other.tolist().count(True) == 2
        assert await summarise(session, [game]) == 0
        assert list(await summaries(session)) == [aborted]
        assert await games_over(session, aborted, 9) == []


@pytest.mark.parametrize("name", ["RULE", "FORECAST_RULE", "LAYOUT"])
async def test_other_rules_make_summaries_invalid(
    database: Database, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    async with database.write() as session:
        game = await closed(session)
        await summarise(session, [game])
        monkeypatch.setattr(valid_summaries, name, getattr(valid_summaries, name) + 1)
        assert await games_to_summarise(session, 0, 9) == [game]
        assert (await read_groups(session)).rows.is_other.tolist() == [True]


def _expecting(expected: float, facts: object) -> dict[str, bytes]:
    """Another sum in a summary."""
    assert isinstance(facts, bytes)
    changed = unpacked_games([facts]).copy()
    changed["optimal_expected"] = expected
    return {"facts": changed.tobytes()}


async def test_whatever_is_wrong_is_found_and_mended(database: Database) -> None:
    async with database.write() as session:
        await fill(session, random.Random(4), games=24)
        games = await games_over(session, 0, 100)
        assert await remake(session, games) == []
        whole = await summaries(session)
        assert list(whole) == games
        for number, (name, value) in enumerate(
            (
                *(("slips", 99), ("sums", bytes(240)), ("models", '["x"]'), ("facts", bytes(120))),
                *(("labels", "[]"), ("lots", 99), ("lots_answered", 99), ("forecasts", bytes(16))),
            )
        ):
            wrong = update(GameSummaryRow).where(GameSummaryRow.game_id == games[number])
            await session.execute(wrong.values({name: value}))
        await session.execute(delete(GameSummaryRow).where(GameSummaryRow.game_id == games[8]))
        old = update(GameSummaryRow).where(GameSummaryRow.game_id == games[9])
        await session.execute(old.values(rule=RULE - 1))
        wrong = update(GameSummaryRow).where(GameSummaryRow.game_id == games[10])
        await session.execute(wrong.values(_expecting(77.0, whole[games[10]]["facts"])))
        stamps = {row.game_id: row.stamp for row in await session.execute(STAMPS)}
        assert await remake(session, games) == [*games[:8], games[10]]
        # Whoever keeps summaries in memory sees by the stamps which were wrong.
        now = {row.game_id: row.stamp for row in await session.execute(STAMPS)}
        assert [game for game in games if now[game] != stamps.get(game)] == games[:11]
        assert await remake(session, games) == []
        assert await summaries(session) == whole


async def test_a_change_of_a_closed_game_is_found(database: Database) -> None:
    async with database.write() as session:
        game = await closed(session)
        await summarise(session, [game])
        late = await settled(session, game, 4, decision(), None)
        assert await remake(session, [game]) == [game]  # it lacks a forecast
        await record_outcome(session, late, OPTIMAL)
        await session.execute(update(DecisionRow).where(DecisionRow.id == late).values(takeback=1))
        assert await remake(session, [game]) == [game]
        assert await remake(session, [game]) == []


async def test_a_damaged_game_has_none_and_hides_no_other(database: Database) -> None:
    async with database.write() as session:
        games = [await closed(session, key) for key in ("one", "two", "three")]
        decisions = select(DecisionRow.id).where(DecisionRow.game_id == games[1])
        damage = update(OutcomeRow).where(OutcomeRow.decision_id.in_(decisions))
        await session.execute(damage.values(cost=99_999_999))
        assert await summarise(session, games) == 2
        assert list(await summaries(session)) == [games[0], games[2]]
        assert await remake(session, games) == []


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
async def test_damaged_rows_on_sqlite(database: Database) -> None:
    """Only SQLite stores any value in any column."""
    async with database.write() as session:
        games = [await closed(session, key) for key in ("one", "two", "three")]
        await summarise(session, games)
        await session.execute(text(f"UPDATE games SET state = 'odd' WHERE id = {games[0]}"))
        await session.execute(
            text(f"UPDATE game_summaries SET models = CAST(x'ff' AS TEXT) WHERE game_id = {games[1]}")
        )
        assert await remake(session, games) == games[:2]
        assert list(await summaries(session)) == games[1:]
        await session.execute(update(GameRow).values(state="finished", is_settled=True))
        assert await remake(session, games) == []
        assert list(await summaries(session)) == games
