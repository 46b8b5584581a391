"""Reading games and their replies: whichever have a summary, and whatever the filters."""

import random
from collections.abc import Sequence
from datetime import timedelta
from math import isnan

import numpy as np
import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from storage.database import Database
from storage.evidence import reading
from storage.evidence.game_records import GameSummary, game_records
from storage.evidence.inference.timestamps import time_of
from storage.evidence.reading import (
    PartCache,
    enable_reply_cache,
    played_game_conditions,
    read_games,
    read_replies,
)
from storage.evidence.replies import GAME, OPEN, REPLY, GameRows, ReplyTable, labels_of
from storage.evidence.statistics.group_rows import read_groups
from storage.evidence.statistics.groups import GroupKey
from storage.evidence.summaries import list_finished_games, summarise
from storage.filters import Filters, GamePhase
from storage.records import MATCH_SITE, DecisionState, GameStatus
from storage.tables.games import DecisionRow, GameRow
from storage.tables.summaries import GameSummaryRow
from tests.storage.evidence.statistics.drawn_database import START, fill
from tests.storage.evidence.statistics.facts import GameFact, game_facts

FILTERS = (
    Filters(),
    Filters(strategy="trappy"),
    Filters(version="0.1"),
    Filters(site="lichess"),
    Filters(site=MATCH_SITE),
    Filters(account="desdemona"),
    Filters(account="somebody"),
    Filters(game="chess"),
    Filters(speed="Rapid"),
    Filters(opponent_id="p1", site="arena"),
    Filters(opponent="P2"),
    Filters(opponent_is_bot=False),
    Filters(our_side=0),
    Filters(since=START + timedelta(days=10), until=START + timedelta(days=20)),
    Filters(min_opponent_rating=1400),
    Filters(max_opponent_rating=1399),
    Filters(rated=True),
    Filters(has_result=True),
)


def told(found: GameRows) -> list[tuple[object, ...]]:
    """Of each game what `GameFact` says, too, in the order of the keys."""
    return sorted(
        (
            game["id"].item(),
            game["person"].item(),
            None if isnan(game["rating"]) else game["rating"].item(),
            None if isnan(game["score"]) else game["score"].item(),
            game["state"] == OPEN,
            time_of(game["began_us"].item()),
            *labels_of(found.labels.texts[label])[:4],
        )
        for game, label in zip(found.games, found.labels.codes.tolist(), strict=True)
    )


def wanted(facts: list[GameFact]) -> list[tuple[object, ...]]:
    return sorted(
        (
            fact.id,
            fact.person,
            fact.opponent_rating,
            fact.score,
            fact.state is GameStatus.OPEN,
            fact.started_at,
            fact.strategy,
            fact.game,
            fact.site,
            fact.speed,
        )
        for fact in facts
    )


async def test_every_filter_selects_the_games_that_the_rows_themselves_do(database: Database) -> None:
    """With some summaries, and with all of them, where unfiltered games' own rows are not read at all."""
    async with database.write() as session:
        await fill(session, random.Random(7), games=40)
        over = await list_finished_games(session, 0, 1000)
        by_row = [wanted(await game_facts(session, filters)) for filters in FILTERS]
        assert all(by_row[number] for number in range(len(FILTERS)) if FILTERS[number].account != "somebody")
        for some in (over[::2], over):
            await summarise(session, some)
            for filters, rows in zip(FILTERS, by_row, strict=True):
                assert told(await read_games(session, *played_game_conditions(filters))) == rows, filters
        assert told(await read_games(session, *played_game_conditions(None))) == by_row[0]
        # A game that is open again is not counted by its summary.
        await session.execute(update(GameRow).where(GameRow.id == over[0]).values(is_settled=False))
        assert told(await read_games(session, *played_game_conditions(None))) == by_row[0]


async def test_batches_say_the_same(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that lie close together, and those with gaps."""
    async with database.write() as session:
        await fill(session, random.Random(7), games=40)
        await summarise(session, await list_finished_games(session, 0, 1000))
        some = GameRow.id.in_([1, 2, 3, 9, 17, 25, 40])
        whole = [[part async for part in read_replies(session, *which)] for which in ((), (some,))]
        for name in ("_PART", "_MAX_SUMMARISED_AT_ONCE"):
            monkeypatch.setattr(reading, name, 3)
        for which, found in zip(((), (some,)), whole, strict=True):
            parts = [part async for part in read_replies(session, *which)]
            assert len(parts) > len(found)
            assert sum(len(part.replies) for part in parts) == sum(len(part.replies) for part in found) > 0
            games = GameRows.joined([part.of for part in parts])
            assert told(games) == told(GameRows.joined([part.of for part in found]))
            assert told(games) == told(await read_games(session, *which))


async def test_kept_parts_say_what_the_database_does(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever has changed since they were read; and what has not is not read again."""
    monkeypatch.setattr(reading, "_PART", 8)
    enable_reply_cache(database)
    cache = database.info["replies"]
    groups = (
        (None, tuple(GroupKey)),
        (Filters(strategy="trappy"), (GroupKey.SITE,)),
        (Filters(phase=GamePhase(1)),),
    )
    read_again: list[int] = []
    put = cache.put

    def count(number: int, stamps: reading.Keys, part: ReplyTable, *, with_replies: bool) -> None:
        read_again.append(number)
        put(number, stamps, part, with_replies=with_replies)

    monkeypatch.setattr(cache, "put", count)

    async def check(*parts: int) -> None:
        read_again.clear()
        async with database.read() as session:
            kept = [part async for part in read_replies(session)]
            games = await read_games(session)
            kept_groups = [(await read_groups(session, *which)).statistics() for which in groups]
        async with database.write() as session:  # which keeps nothing
            fresh = [part async for part in read_replies(session)]
            assert [(await read_groups(session, *which)).statistics() for which in groups] == kept_groups
        for of in (GameRows.joined([part.of for part in kept]), games):
            assert told(of) == told(GameRows.joined([part.of for part in fresh]))
        assert [each.replies.tobytes() for each in kept] == [each.replies.tobytes() for each in fresh]
        assert read_again == [*parts]

    async with database.write() as session:
        await fill(session, random.Random(7), games=40)
        over = await list_finished_games(session, 0, 1000)
        await summarise(session, over)
    await check(*sorted({key // 8 for key in over}))
    await check()
    for change in (
        update(DecisionRow).where(DecisionRow.game_id == over[0]).values(state=DecisionState.DROPPED),
        update(GameRow).where(GameRow.id == over[0]).values(is_settled=False, state=GameStatus.OPEN),
        update(GameRow).where(GameRow.id == over[0]).values(is_settled=True, state=GameStatus.FINISHED),
    ):
        async with database.write() as session:
            await session.execute(change)
            await summarise(session, [over[0]])
        await check(over[0] // 8)
    async with database.read() as session:
        sparse = await read_games(session, GameRow.id == over[-1])
    assert sparse.games["id"].tolist() == [over[-1]]
    assert cache.size > 0


@pytest.mark.parametrize("is_kept", [False, True])
async def test_damaged_summaries_count_as_missing(database: Database, is_kept: bool) -> None:
    """Also two whose lengths together are those of two whole ones."""
    if is_kept:
        enable_reply_cache(database)
    async with database.write() as session:
        await fill(session, random.Random(7), games=40)
        over = await list_finished_games(session, 0, 1000)
        await summarise(session, over)
    async with database.read() as session:
        whole = told(await read_games(session))
        replies = sum([len(part.replies) async for part in read_replies(session)])
    short, long, odd = over[:3]
    async with database.write() as session:
        for game, values in (
            (short, {"game": b""}),
            (long, {"game": bytes(2 * GAME.itemsize)}),
            (odd, {"replies": bytes(REPLY.itemsize + 1)}),
        ):
            await session.execute(
                update(GameSummaryRow).where(GameSummaryRow.game_id == game).values(**values, stamp=game)
            )
    async with database.read() as session:
        assert sum([len(part.replies) async for part in read_replies(session)]) == replies
        assert told(await read_games(session)) == whole


async def test_games_without_a_summary_are_made_once_a_transaction(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And again in the next one, in which they may have changed."""
    enable_reply_cache(database)
    async with database.write() as session:
        await fill(session, random.Random(7), games=20)
    made: list[int] = []

    async def counted(session: AsyncSession, games: Sequence[int]) -> dict[int, GameSummary]:
        made.extend(games)
        return await game_records(session, games)

    monkeypatch.setattr(reading, "game_records", counted)
    for finished in (False, True):
        made.clear()
        async with database.read() as session:
            first, second = await read_games(session), await read_games(session)
        assert len(made) == len(set(made)) == len(first)
        assert told(first) == told(second)
        assert (first.games["state"] == OPEN).any() != finished
        async with database.write() as session:
            await session.execute(update(GameRow).values(state=GameStatus.FINISHED))


async def test_the_parts_that_were_read_last_stay(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_PART", 8)
    async with database.write() as session:
        await fill(session, random.Random(7), games=40)
        await summarise(session, await list_finished_games(session, 0, 1000))
        parts = [part async for part in read_replies(session)]
    sizes = [part.nbytes for part in parts]
    cache, stamps = PartCache(sum(sizes) - 1), np.zeros(1, np.int64)
    for number, part in enumerate(parts):
        cache.put(number, stamps, part, with_replies=True)
    last = range(1, len(parts))
    assert [cache.get(number, stamps, with_replies=True) for number in last] == [
        parts[number] for number in last
    ]
    assert cache.get(0, stamps, with_replies=True) is None
    assert cache.get(1, stamps, with_replies=False) is parts[1]
    assert cache.get(1, stamps + 1, with_replies=True) is None
    assert cache.size == sum(sizes[1:])
