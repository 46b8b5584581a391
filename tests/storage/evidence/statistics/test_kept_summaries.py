"""Kept summaries: whatever happened between two requests, they are what anybody finds; and little is read."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.errors import RecordError
from engine.judgement import RULE
from storage.database import Database
from storage.evidence.statistics import kept_summaries, summary_rows
from storage.evidence.statistics.group_rows import SUMS
from storage.evidence.statistics.kept_summaries import KeptSummaries
from storage.evidence.statistics.summaries import games_over, summarise
from storage.evidence.statistics.summary_rows import (
    SharedTexts,
    SummaryRows,
    read_summaries,
    shown_summaries,
    summaries_of,
)
from storage.records import MATCH_SITE
from storage.tables.games import DecisionRow, GameRow, OutcomeRow
from storage.tables.summaries import GameSummaryRow
from tests.storage.evidence.statistics.drawn_database import fill
from tests.storage.evidence.statistics.rows_read import note_rows

GAMES = 40
SHOWN = GameRow.site != MATCH_SITE


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many summaries each statement has read; blocks are small."""
    monkeypatch.setattr(kept_summaries, "BLOCK", 4)
    return note_rows(monkeypatch, kept_summaries, "summaries_of_today")


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
            found = told(await kept.shown_summaries(session))
            assert found == told(await shown_summaries(session, SUMS)), number
            assert found == told(await summaries_of(session, SUMS, SHOWN)), number
            assert 0 < len(found) < GAMES
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
        await session.execute(update(GameRow).values(is_settled=True, state="finished", site="arena"))
        await summarise(session, range(1, GAMES + 1))
        first = await kept.shown_summaries(session)
        assert read == [GAMES]
        read.clear()
        assert await kept.shown_summaries(session) is first
        assert read == []
        await session.execute(update(GameRow).where(GameRow.id == 6).values(our_rating=1234))
        await summarise(session, [6, 7, 8, 24])
        again = await kept.shown_summaries(session)
        assert read == [8, 4]  # 4 to 11, and 24 to 27
        assert again.games["our_rating"][again.games["id"] == 6].tolist() == [1234]
        read.clear()
        await session.execute(delete(GameSummaryRow).where(GameSummaryRow.game_id.between(8, 11)))
        await kept.shown_summaries(session)
        assert read == [0]


async def test_a_summary_that_cannot_be_read_leaves_what_there_was(
    database: Database, read: list[int]
) -> None:
    kept = KeptSummaries(SUMS)
    async with database.write() as session:
        await fill(session, random.Random(5), games=GAMES)
        game, *_ = await games_over(session, 0, 1000)
        await summarise(session, [game])
        whole = told(await kept.shown_summaries(session))
        row = (
            (await session.execute(select(GameSummaryRow.__table__).where(GameSummaryRow.game_id == game)))
            .mappings()
            .one()
        )
        for stamp, change in enumerate(({"sums": b"x"}, {"facts": b"x"})):
            await _exchange(session, {**row, **change, "stamp": stamp})
            for _ in range(2):
                with pytest.raises(RecordError, match="the summaries of games"):
                    await kept.shown_summaries(session)
        await _exchange(session, {**row})
        read.clear()
        assert told(await kept.shown_summaries(session)) == whole
        assert read == []  # nothing has changed since


async def _exchange(session: AsyncSession, row: dict[str, Any]) -> None:
    await session.execute(delete(GameSummaryRow).where(GameSummaryRow.game_id == row["game_id"]))
    await session.execute(insert(GameSummaryRow).values(row))


async def test_matches_are_not_kept(database: Database) -> None:
    kept = KeptSummaries(SUMS)
    async with database.write() as session:
        await fill(session, random.Random(3), games=GAMES)
        await session.execute(update(GameRow).values(is_settled=True, state="finished"))
        await summarise(session, range(1, GAMES + 1))
        shown = set(await session.scalars(select(GameRow.id).where(SHOWN)))
        assert 0 < len(shown) < GAMES
        assert {key for key, *_ in told(await kept.shown_summaries(session))} == shown
        assert kept._rows is not None
        assert set(kept._rows.games["id"].tolist()) == shown


@pytest.mark.parametrize("change", [{"state": "aborted"}, {"site": MATCH_SITE}])
async def test_damage_in_games_that_do_not_count(database: Database, change: dict[str, str]) -> None:
    """It hides no other game."""
    async with database.write() as session:
        await fill(session, random.Random(5), games=GAMES)
        [game] = await session.scalars(
            select(DecisionRow.game_id)
            .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
            .join(GameRow, GameRow.id == DecisionRow.game_id)
            .where(GameRow.is_settled.is_(True))
            .limit(1)
        )
        await session.execute(update(GameRow).where(GameRow.id == game).values(change))
        decisions = select(DecisionRow.id).where(DecisionRow.game_id == game)
        damage = update(OutcomeRow).where(OutcomeRow.decision_id.in_(decisions))
        await session.execute(damage.values(cost=99_999_999))
        assert game not in (await read_summaries(session, SUMS)).games["id"].tolist()


async def test_what_is_kept_comes_once(
    database: Database, read: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a change nothing but that is looked for anew."""
    looked = note_rows(monkeypatch, summary_rows, "summaries_of")
    kept = KeptSummaries(SUMS)
    async with database.write() as session:
        await fill(session, random.Random(3), games=GAMES)
        await session.execute(update(GameRow).values(is_settled=True, state="finished", site="arena"))
        await summarise(session, range(1, GAMES + 1))
        for _ in range(3):
            assert len(await kept.shown_summaries(session)) == GAMES
            await summarise(session, [9, 10])
    assert (looked, read) == ([], [GAMES, 4, 4])


def test_texts_of_many_games() -> None:
    one, two = SharedTexts.of(["a", "b", "a"]), SharedTexts.of(["c", "b"])
    joined = SharedTexts.joined([one.where(np.array([True, False, True])), two])
    assert ([joined.texts[code] for code in joined.codes], joined.texts) == (
        ["a", "a", "c", "b"],
        ["a", "c", "b"],
    )
    nothing = SharedTexts.joined([one.where(np.zeros(3, bool)), SharedTexts.of([])])
    assert (nothing.codes.tolist(), nothing.texts) == ([], [])
