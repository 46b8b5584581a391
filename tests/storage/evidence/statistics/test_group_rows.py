"""Statistics from the summaries of drawn databases, against the same from single replies."""

import asyncio
import random
import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.opponents.odds import ODDS
from storage.database import Database
from storage.evidence.inference.defaults import CAP_GAMES
from storage.evidence.inference.suspects import PLAYED_GAME
from storage.evidence.reading import NOT_A_MATCH, read_games
from storage.evidence.statistics import group_rows
from storage.evidence.statistics.encounters import Encounters, encounters
from storage.evidence.statistics.group_rows import count_outdated, read_groups
from storage.evidence.statistics.groups import GroupKey, GroupStatistics
from storage.evidence.summaries import list_finished_games, summarise
from storage.filters import Filters, GamePhase, of_games
from storage.ledger.games import finish_game
from storage.records import MATCH_SITE, GameResult, GameStatus
from storage.tables.games import GameRow
from storage.tables.summaries import GameSummaryRow
from tests.storage.evidence.statistics.by_reply import statistics_by_reply
from tests.storage.evidence.statistics.drawn_database import START, fill
from tests.storage.evidence.statistics.facts import game_facts, reply_facts
from tests.storage.evidence.statistics.test_group_sums import assert_same
from tests.storage.samples import opened

FILTERS = (
    Filters(),
    Filters(site="arena"),
    Filters(site=MATCH_SITE, strategy="trappy"),
    Filters(since=START + timedelta(days=10), rated=True),
    Filters(min_opponent_rating=1400),
)
LATER = Filters(phase=GamePhase(1), strategy="trappy")
SEVERAL = ((GroupKey.MONTH, GroupKey.PHASE, GroupKey.MODEL), (GroupKey.SITE, GroupKey.STRATEGY))
GROUPINGS: Sequence[Sequence[GroupKey]] = (*((by,) for by in GroupKey), *SEVERAL)


async def wanted(
    session: AsyncSession, filters: Filters, groupings: Sequence[Sequence[GroupKey]]
) -> list[list[GroupStatistics]]:
    """From the facts alone."""
    games, replies = await game_facts(session, of_games(filters)), await reply_facts(session, filters)
    if filters.phase is not None:
        reached = {reply.game_id for reply in replies}
        games = [game for game in games if game.id in reached]
    return [statistics_by_reply(games, replies, by) for by in groupings]


async def others(session: AsyncSession, filters: Filters) -> tuple[object, ...]:
    """What else is counted with the help of summaries."""
    return await encounters(session, filters), await count_outdated(session, filters)


async def played_games(session: AsyncSession) -> list[tuple[object, ...]]:
    """All games as the flags see them."""
    games = (await read_games(session, NOT_A_MATCH)).games
    games = games[np.argsort(games["id"])]
    return [*zip(*(games[name].tolist() for name in PLAYED_GAME.names or ()), strict=True)]


async def compare(session: AsyncSession, rng: random.Random) -> None:
    """Without a summary, with some, and with all of them, everything counts alike."""
    games = await list_finished_games(session, 0, 1000)
    filters = rng.choice(FILTERS)
    by_reply = await wanted(session, filters, GROUPINGS)
    later = await wanted(session, LATER, SEVERAL)
    before = await others(session, filters)
    played = await played_games(session)
    for summarised in ([], rng.sample(games, len(games) // 2), games):
        if summarised:
            assert await summarise(session, summarised) == len(summarised)
        for by, expected in zip(GROUPINGS, by_reply, strict=True):
            found = await read_groups(session, filters, by)
            assert_same(found.statistics(), expected)
            assert found.outdated == before[1]
        for by, expected in zip(SEVERAL, later, strict=True):
            assert_same((await read_groups(session, LATER, by)).statistics(), expected)
        assert await others(session, filters) == before
        assert await played_games(session) == played
    assert await session.scalar(select(func.count()).select_from(GameSummaryRow)) == len(games)


async def test_summaries_count_what_the_replies_say(database: Database) -> None:
    rng = random.Random(0)
    async with database.write() as session:
        await fill(session, rng, games=25)
        await compare(session, rng)


@given(rng=st.randoms(use_true_random=True), games=st.integers(0, 12))
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_drawn_databases(sqlite_template: Path, tmp_path: Path, rng: random.Random, games: int) -> None:
    async def check() -> None:
        shutil.copy(sqlite_template, tmp_path / "drawn.db")
        database = await Database.open(f"sqlite:///{tmp_path / 'drawn.db'}")
        async with database.write() as session:
            await fill(session, rng, games)
            await compare(session, rng)
        await database.close()

    asyncio.run(check())


async def test_only_the_first_games_of_a_person_count(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the order in which they began, aborted ones apart; which filters apply changes nothing."""
    monkeypatch.setattr(group_rows, "CAP_GAMES", 3)
    monkeypatch.setattr("tests.storage.evidence.statistics.by_reply.CAP_GAMES", 3)
    assert CAP_GAMES != 3
    rng = random.Random(11)
    async with database.write() as session:
        await fill(session, rng, games=40)
        # One of them, the last by key, has played none.
        last = select(func.max(GameRow.opponent_id)).scalar_subquery()
        await session.execute(
            update(GameRow).where(GameRow.opponent_id == last).values(state=GameStatus.ABORTED)
        )
        for filters in FILTERS:
            found = await read_groups(session, filters, (GroupKey.STRATEGY,))
            assert len(found.sources.late) > 5
            (by_reply,) = await wanted(session, filters, [(GroupKey.STRATEGY,)])
            assert_same(found.statistics(), by_reply)


async def test_games_at_odds_do_not_count_for_the_performance(database: Database) -> None:
    """They are among the wins and losses."""
    async with database.write() as session:
        for key, start in (("usual", None), ("odds", ODDS["othello"][0].starts[0])):
            game = await opened(session, key, initial_position=start, rated=False, opponent_rating=1500)
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="variantEnd")
        found = (await read_groups(session, None, (GroupKey.GAME,))).statistics()
        assert [(each.wins, each.performance.games) for each in found] == [(2, 1)]


async def test_a_choice_among_the_games(database: Database) -> None:
    async with database.write() as session:
        await fill(session, random.Random(2), games=20)
        await summarise(session, await list_finished_games(session, 0, 15))
        found = await read_groups(session, None, (GroupKey.GAME,), among=lambda key: key % 2 == 0)
        facts = [fact for fact in await game_facts(session) if fact.id % 2 == 0]
        assert_same(
            found.statistics(), statistics_by_reply(facts, await reply_facts(session), (GroupKey.GAME,))
        )
        assert found.outdated == await count_outdated(session) > 0


async def test_no_games(database: Database) -> None:
    async with database.read() as session:
        for by in GROUPINGS:
            assert (await read_groups(session, None, by)).statistics() == []
        assert await encounters(session, Filters()) == Encounters()
