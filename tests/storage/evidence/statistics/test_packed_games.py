"""Packed games: what comes out is what went in, and what the rows of the games say themselves."""

import random
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from math import isnan, nan
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession
from storage.evidence.statistics.facts import GameFact, game_facts
from storage.evidence.statistics.packed_games import (
    FINISHED,
    GAME,
    NO_TRIAL,
    OPEN,
    UNKNOWN,
    GameColumns,
    Labels,
    ReplyCounts,
    chances_part,
    days_of,
    game_records,
    labels_of,
    opening_of,
    split_expected,
    unpacked_games,
)
from storage.evidence.statistics.summary_rows import (
    SummaryRows,
    filtered_games,
    is_everything,
    read_summaries,
    shown_summaries,
)

from engine.errors import RecordError
from storage.database import Database
from storage.evidence.inference.suspects import COPIED_PLIES
from storage.evidence.inference.timestamps import moment_of
from storage.evidence.statistics.group_rows import SUMS
from storage.evidence.summaries import games_over, summarise
from storage.filters import Filters, GamePhase
from storage.records import MATCH_SITE, GameResult, GameStatus
from storage.tables.games import GameRow
from tests.storage.evidence.statistics.drawn_database import START, fill

KEY_NAMES = ("id", "person", "config", "trial", "began_us", "ended_us", "opening")
STATE_NAMES = ("state", "is_settled", "is_own_position", "plies", "has_left")
KEYS = st.integers(UNKNOWN, 2**63 - 1)
SMALL = st.integers(0, 2**31 - 1)
NUMBERS = st.one_of(st.just(nan), st.floats(-1e5, 1e5))
LABELS = Labels("trappy", "othello", "arena", "blitz", "")
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


@given(
    st.lists(
        st.tuples(
            st.tuples(*[KEYS] * len(KEY_NAMES)),
            st.tuples(*[NUMBERS] * 3),
            st.tuples(*[SMALL] * len(STATE_NAMES)),
            st.none() | st.builds(ReplyCounts, timed=SMALL, judged=SMALL, optimal_expected=st.floats(0, 99)),
            SMALL,
        ),
        max_size=4,
    )
)
def test_what_is_packed_is_what_comes_out(games: list[Any]) -> None:
    rows = unpacked_games(
        [
            GameColumns(LABELS, keys, values, state).packed(counts, outdated)
            for keys, values, state, counts, outdated in games
        ]
    )
    for row, (keys, values, state, counts, outdated) in zip(rows.tolist(), games, strict=True):
        named = dict(zip(GAME.names or (), row, strict=True))
        assert tuple(named[name] for name in KEY_NAMES) == keys
        assert [named[name] for name in ("rating", "our_rating", "score")] == pytest.approx(
            values, nan_ok=True
        )
        assert tuple(named[name] for name in STATE_NAMES) == state
        assert (named["outdated"], named["is_counted"]) == (outdated, counts is not None)
        for field in fields(ReplyCounts):
            assert named[field.name] == getattr(counts or ReplyCounts(), field.name)


def test_a_part_of_another_size_is_refused() -> None:
    part = GameColumns(LABELS, (1,) * len(KEY_NAMES), (nan,) * 3, (0,) * len(STATE_NAMES)).packed()
    for parts in ([part[:-1]], [part, part * 2], [b""]):
        with pytest.raises(ValueError, match=r"size|rows for"):
            unpacked_games(parts)
    assert len(unpacked_games([])) == 0


def test_without_the_one_sum_that_depends_on_the_order_of_the_replies() -> None:
    columns = GameColumns(LABELS, (1,) * len(KEY_NAMES), (1500.0, 1400.0, 0.5), (0,) * len(STATE_NAMES))
    one, other = (columns.packed(ReplyCounts(judged=3, optimal_expected=whole)) for whole in (0.1 + 0.2, 0.3))
    assert one != other
    assert split_expected(one)[1] == split_expected(other)[1]
    assert (split_expected(one)[0], split_expected(other)[0]) == (0.1 + 0.2, 0.3)
    assert split_expected(one)[1] != split_expected(columns.packed(ReplyCounts(judged=4)))[1]
    assert split_expected(b"damaged") == (0.0, b"damaged")


@given(st.tuples(st.text(), st.text(), st.text(), st.text(), st.text()))
def test_labels(texts: tuple[str, str, str, str, str]) -> None:
    columns = GameColumns(Labels(*texts), (), (), ())
    assert labels_of(columns.labels_text) == Labels(*texts)


@pytest.mark.parametrize("text", ["", "5", '["a","b","c",5]', '["a"]', '{"a":"b"}'])
def test_damaged_labels(text: str) -> None:
    with pytest.raises((ValueError, TypeError)):
        labels_of(text)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_moments_and_their_days(at: datetime) -> None:
    at_us = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert moment_of(at_us) == at
    (day,) = days_of(np.array([at_us])).tolist()
    assert datetime(1970, 1, 1, tzinfo=UTC).date() + timedelta(days=day) == at.date()


@pytest.mark.parametrize(
    ("record", "part"),
    [
        ('{"seed":5,"chances":{"a":0.5,"b":0.5},"blind":true}', '{"chances":{"a":0.5,"b":0.5}}'),
        ('{"chances": 7}', '{"chances": 7}}'),
        ('{"seed":5}', '{"seed":5}'),
        ('{"chances": {"b": 0.5, "a": 0.5}}', '{"chances":{"a":0.5,"b":0.5}}'),
        (b'{"chances":{"a":\xff}}', '{"chances":{"a":\N{REPLACEMENT CHARACTER}}}'),
        ("[" * 5000, "[" * 5000),
        ('{"chances": {"a": ' + "[" * 5000 + "}}", '{"chances": {"a": ' + "[" * 5000 + "}}"),
        (7, "7"),
        ('"chances"', '"chances"'),
        ("", ""),
    ],
)
def test_the_chances_in_the_record_of_a_draw(record: object, part: str) -> None:
    assert chances_part(record) == part


def test_the_beginning_of_a_game() -> None:
    moves = [f"m{number}" for number in range(COPIED_PLIES + 1)]

    def beginning(
        played: list[str], game: str = "chess", position: str | None = None
    ) -> tuple[int, int | None]:
        row = SimpleNamespace(id=1, game=game, initial_position=position, moves=" ".join(played))
        found = opening_of(row)
        return found.plies, found.key

    assert beginning(moves[: COPIED_PLIES - 1]) == (COPIED_PLIES - 1, None)
    plies, key = beginning(moves)
    assert (plies, key is None) == (COPIED_PLIES + 1, False)
    assert beginning([*moves[:COPIED_PLIES], "other", "ones"]) == (COPIED_PLIES + 2, key)
    others = (
        beginning(["other", *moves[1:]]),
        beginning([*moves[: COPIED_PLIES - 1], "other"]),
        beginning(moves, "xiangqi"),
        beginning(moves, position="8/8/8"),
    )
    assert len({key, *(other for _, other in others)}) == len(others) + 1


async def test_a_games_record(database: Database) -> None:
    """A game that the opponent left, and one that is open."""
    async with database.write() as session:
        await fill(session, random.Random(1), games=3)
        ended = {"state": GameStatus.FINISHED, "is_settled": True, "ended_at": START + timedelta(days=40)}
        won = {"result": GameResult.WIN, "end_reason": "left", "moves": "e4 e5", "our_rating": 1700}
        await session.execute(update(GameRow).where(GameRow.id == 1).values(**ended, **won))
        lost = {"result": GameResult.LOSS, "end_reason": "left", "opponent_rating": None}
        await session.execute(update(GameRow).where(GameRow.id == 2).values(**ended, **lost))
        going_on = {"state": GameStatus.OPEN, "is_settled": False, "result": None}
        await session.execute(update(GameRow).where(GameRow.id == 3).values(**going_on))
        records = await game_records(session, [1, 2, 3, 99])
        assert list(records) == [1, 2, 3]
        left, resigned, still = unpacked_games([records[key].packed() for key in (1, 2, 3)])
        row = await session.get(GameRow, 1)
        assert row is not None
        assert records[1].labels == (row.player, row.game, row.site, row.speed, "")
        assert (left["trial"], left["is_own_position"], resigned["trial"]) == (NO_TRIAL, 0, NO_TRIAL)
        assert (moment_of(left["began_us"].item()), moment_of(left["ended_us"].item())) == (
            row.started_at,
            row.ended_at,
        )
        await session.execute(update(GameRow).where(GameRow.id == 2).values(opponent_rating=10**9))
        with pytest.raises(RecordError, match="game 2: opponent_rating is 1000000000"):
            await game_records(session, [1, 2])
    assert (left["has_left"], left["plies"], left["our_rating"], left["score"]) == (1, 2, 1700, 1)
    assert (resigned["has_left"], resigned["plies"], resigned["score"], resigned["state"]) == (
        0,
        0,
        0,
        FINISHED,
    )
    assert isnan(resigned["rating"])
    assert (still["state"], still["is_settled"], still["ended_us"], still["opening"]) == (
        OPEN,
        0,
        UNKNOWN,
        UNKNOWN,
    )
    assert isnan(still["score"])


def told(found: SummaryRows) -> list[tuple[object, ...]]:
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


async def read(session: AsyncSession, filters: Filters | None) -> SummaryRows:
    """The same in both ways."""
    found = await read_summaries(session, SUMS, filters)
    shown = await shown_summaries(session, SUMS)
    passing = await filtered_games(session, SUMS, shown, filters or Filters())
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
        # A game that is open again, and one that nobody has summarised: neither is counted by its summary.
        await session.execute(update(GameRow).where(GameRow.id == over[0]).values(is_settled=False))
        found = await read(session, None)
        assert told(found) == by_row[0]
        assert found.is_other.tolist().count(True) == len(by_row[0]) - len(
            [key for key, *_ in by_row[0] if key in over[1:]]
        )


def test_only_without_any_filter_is_it_everything() -> None:
    assert is_everything(None)
    assert is_everything(Filters())
    assert not is_everything(Filters(phase=GamePhase(0)))
    assert not is_everything(replace(Filters(), has_result=False))
