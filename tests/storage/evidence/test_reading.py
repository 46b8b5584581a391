"""Reading games and their replies: whichever have a summary, and whatever the filters."""

import random
from dataclasses import replace
from datetime import timedelta
from math import isnan

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from storage.database import Database
from storage.evidence import reading
from storage.evidence.inference.timestamps import moment_of
from storage.evidence.reading import SHOWN, is_everything, passing_games, played, read_games, read_replies
from storage.evidence.replies import OPEN, GameRows, labels_of
from storage.evidence.summaries import games_over, summarise
from storage.filters import Filters, GamePhase
from storage.records import MATCH_SITE, GameStatus
from storage.tables.games import GameRow
from tests.storage.evidence.statistics.drawn_database import START, fill
from tests.storage.evidence.statistics.facts import GameFact, game_facts

FILTERS = (
    Filters(),
    Filters(player="trappy"),
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
            moment_of(game["began_us"].item()),
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
            fact.player,
            fact.game,
            fact.site,
            fact.speed,
        )
        for fact in facts
    )


async def read(session: AsyncSession, filters: Filters | None) -> GameRows:
    """The same in three ways."""
    found = await read_games(session, *played(filters))
    with_replies = GameRows.joined([part.of async for part in read_replies(session, *played(filters))])
    assert told(with_replies) == told(found)
    passing = await passing_games(session, await read_games(session, SHOWN), filters or Filters())
    assert told(passing.without_aborted()) == told(found)
    return found


async def test_every_filter_selects_the_games_that_the_rows_themselves_do(database: Database) -> None:
    """With some summaries, and with all of them, where unfiltered games' own rows are not read at all."""
    async with database.write() as session:
        await fill(session, random.Random(7), games=40)
        over = await games_over(session, 0, 1000)
        by_row = [wanted(await game_facts(session, filters)) for filters in FILTERS]
        assert all(by_row[number] for number in range(len(FILTERS)) if FILTERS[number].account != "somebody")
        for some in (over[::2], over):
            await summarise(session, some)
            for filters, rows in zip(FILTERS, by_row, strict=True):
                assert told(await read(session, filters)) == rows, filters
        assert told(await read(session, None)) == by_row[0]
        # A game that is open again is not counted by its summary.
        await session.execute(update(GameRow).where(GameRow.id == over[0]).values(is_settled=False))
        assert told(await read(session, None)) == by_row[0]


async def test_batches_say_the_same(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that lie close together, and those with gaps."""
    async with database.write() as session:
        await fill(session, random.Random(7), games=40)
        await summarise(session, await games_over(session, 0, 1000))
        some = GameRow.id.in_([1, 2, 3, 9, 17, 25, 40])
        whole = [[part async for part in read_replies(session, *which)] for which in ((), (some,))]
        for name in ("_GAMES", "_WITH_REPLIES", "_OTHERS"):
            monkeypatch.setattr(reading, name, 3)
        for which, found in zip(((), (some,)), whole, strict=True):
            parts = [part async for part in read_replies(session, *which)]
            assert len(parts) > len(found)
            assert sum(len(part.replies) for part in parts) == sum(len(part.replies) for part in found) > 0
            games = GameRows.joined([part.of for part in parts])
            assert told(games) == told(GameRows.joined([part.of for part in found]))
            assert told(games) == told(await read_games(session, *which))


def test_only_without_any_filter_is_it_everything() -> None:
    assert is_everything(None)
    assert is_everything(Filters())
    assert not is_everything(Filters(phase=GamePhase(0)))
    assert not is_everything(replace(Filters(), has_result=False))
