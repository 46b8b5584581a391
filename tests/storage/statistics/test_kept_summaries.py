"""Kept summaries: whatever happened between two requests, they are what anybody finds; and little is read."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import ColumnElement, delete, insert, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.errors import RecordError
from engine.judgement import RULE
from storage.database import Database
from storage.statistics import kept_summaries
from storage.statistics.group_rows import SUMS
from storage.statistics.kept_summaries import KeptSummaries
from storage.statistics.summaries import checksum, games_over, summarise
from storage.statistics.summary_rows import (
    SharedTexts,
    SummaryPart,
    SummaryRows,
    all_summaries,
    summaries_of,
    summaries_of_today,
)
from storage.tables.games import GameRow
from storage.tables.summaries import GameSummaryRow
from tests.storage.statistics.drawn_database import fill

GAMES = 40


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many summaries each statement has read; blocks are small."""
    found: list[int] = []

    async def counted(
        session: AsyncSession, part: SummaryPart | None, *which: ColumnElement[bool]
    ) -> SummaryRows:
        rows = await summaries_of_today(session, part, *which)
        found.append(len(rows))
        return rows

    monkeypatch.setattr(kept_summaries, "summaries_of_today", counted)
    monkeypatch.setattr(kept_summaries, "BLOCK", 4)
    monkeypatch.setattr(kept_summaries, "_MOST_BLOCKS", 3)
    return found


def told(rows: SummaryRows) -> list[tuple[object, ...]]:
    """Each game with what belongs to it, in the order of the keys."""
    parts = np.split(rows.parts, np.cumsum(rows.lengths)[:-1])
    games = zip(
        rows.games.tolist(),
        (rows.labels.texts[code] for code in rows.labels.codes.tolist()),
        (rows.models.texts[code] for code in rows.models.codes.tolist()),
        (part.tolist() for part in parts),
        rows.is_other.tolist(),
        strict=True,
    )
    # As text, because NaN is not equal to itself.
    return sorted((game[0], repr(game), *others) for game, *others in games)


async def test_they_are_what_anybody_finds(database: Database, read: list[int]) -> None:
    """After each of many changes, by one who has kept them all along."""
    kept, rng = KeptSummaries(SUMS), random.Random(11)
    async with database.write() as session:
        await fill(session, rng, games=GAMES)
        over = await games_over(session, 0, 1000)
        for number in range(25):
            if number:
                await rng.choice(CHANGES)(session, rng, rng.choice(over))
            found = told(await kept.all_summaries(session))
            assert [key for key, *_ in found] == list(range(1, GAMES + 1))
            assert found == told(await all_summaries(session, SUMS)), number
            assert found == told(await summaries_of(session, SUMS)), number
    assert sum(read) > 0


async def _summarise(session: AsyncSession, rng: random.Random, game: int) -> None:
    await summarise(session, [game, *range(game + 1, min(game + rng.randrange(9), GAMES) + 1)])


async def _reopen(session: AsyncSession, _: random.Random, game: int) -> None:
    """Its summary is still there, and counts no more."""
    await session.execute(update(GameRow).where(GameRow.id == game).values(is_settled=False))


async def _settle(session: AsyncSession, _: random.Random, game: int) -> None:
    await session.execute(update(GameRow).where(GameRow.id == game).values(is_settled=True))


async def _remove(session: AsyncSession, _: random.Random, game: int) -> None:
    await session.execute(delete(GameSummaryRow).where(GameSummaryRow.game_id == game))


async def _age(session: AsyncSession, _: random.Random, game: int) -> None:
    old = update(GameSummaryRow).where(GameSummaryRow.game_id == game)
    await session.execute(old.values(rule=RULE - 1))


async def _change(session: AsyncSession, rng: random.Random, game: int) -> None:
    await session.execute(
        update(GameRow).where(GameRow.id == game).values(our_rating=rng.randrange(900, 2000))
    )
    await summarise(session, [game])


CHANGES: tuple[Callable[[AsyncSession, random.Random, int], Any], ...] = (
    *(_summarise, _summarise, _summarise),
    *(_reopen, _settle, _remove, _age, _change),
)


async def test_only_blocks_that_changed_are_read_again(database: Database, read: list[int]) -> None:
    kept = KeptSummaries(SUMS)
    async with database.write() as session:
        await fill(session, random.Random(3), games=GAMES)
        await session.execute(update(GameRow).values(is_settled=True, state="finished"))
        await summarise(session, range(1, GAMES + 1))
        first = await kept.all_summaries(session)
        assert sum(read) == GAMES  # eleven blocks, by fours
        assert len(read) == 4
        read.clear()
        assert await kept.all_summaries(session) is first
        assert read == []
        await session.execute(update(GameRow).where(GameRow.id == 6).values(our_rating=1234))
        await summarise(session, [6, 7])
        again = await kept.all_summaries(session)
        assert read == [4]  # 4 to 7
        assert again.games["our_rating"][again.games["id"] == 6].tolist() == [1234]
        read.clear()
        await session.execute(delete(GameSummaryRow).where(GameSummaryRow.game_id.between(8, 11)))
        await kept.all_summaries(session)
        assert read == [0]


async def test_a_summary_that_cannot_be_read_leaves_what_there_was(
    database: Database, read: list[int]
) -> None:
    kept = KeptSummaries(SUMS)
    async with database.write() as session:
        await fill(session, random.Random(5), games=GAMES)
        game, *_ = await games_over(session, 0, 1000)
        await summarise(session, [game])
        whole = told(await kept.all_summaries(session))
        row = (
            (await session.execute(select(GameSummaryRow.__table__).where(GameSummaryRow.game_id == game)))
            .mappings()
            .one()
        )
        for change in ({"sums": b"x"}, {"facts": b"x"}):
            damaged = {**row, **change}
            await _exchange(session, {**damaged, "checksum": checksum(damaged)})
            for _ in range(2):
                with pytest.raises(RecordError, match="the summaries of games"):
                    await kept.all_summaries(session)
        await _exchange(session, {**row})
        read.clear()
        assert told(await kept.all_summaries(session)) == whole
        assert read == []  # nothing has changed since


async def _exchange(session: AsyncSession, row: dict[str, Any]) -> None:
    await session.execute(delete(GameSummaryRow).where(GameSummaryRow.game_id == row["game_id"]))
    await session.execute(insert(GameSummaryRow).values(row))


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
async def test_a_summary_of_no_game_counts_nowhere(database: Database) -> None:
    """It cannot be, but for a database that somebody has changed by hand."""
    async with database.write() as session:
        await fill(session, random.Random(5), games=GAMES)
        await summarise(session, await games_over(session, 0, 1000))
        wanted = told(await all_summaries(session, SUMS))
        # As foreign keys are on, the game stays, and its summary is told to be that of another.
        await session.execute(text("PRAGMA defer_foreign_keys = ON"))
        game = wanted[0][0]
        await session.execute(
            update(GameSummaryRow).where(GameSummaryRow.game_id == game).values(game_id=999)
        )
        found = told(await KeptSummaries(SUMS).all_summaries(session))
        assert [row[:1] for row in found] == [row[:1] for row in wanted]
        await session.rollback()


def test_texts_of_many_games() -> None:
    one, two = SharedTexts.of(["a", "b", "a"]), SharedTexts.of(["c", "b"])
    joined = SharedTexts.joined([one.where(np.array([True, False, True])), two])
    assert ([joined.texts[code] for code in joined.codes], joined.texts) == (
        ["a", "a", "c", "b"],
        ["a", "c", "b"],
    )
    nothing = SharedTexts.joined([one.where(np.zeros(3, bool)), SharedTexts.of([])])
    assert (nothing.codes.tolist(), nothing.texts) == ([], [])
