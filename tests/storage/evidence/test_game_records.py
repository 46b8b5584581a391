"""A game's rows of the array of judged replies, and what else it adds to statistics."""

import random
from datetime import timedelta
from math import isnan

import pytest
from sqlalchemy import update

from storage.database import Database
from storage.evidence.game_records import game_records, opening_of, probabilities_part
from storage.evidence.inference.suspects import MIN_COPIED_PLIES, NO_OPENING
from storage.evidence.inference.timestamps import time_of
from storage.evidence.replies import FINISHED, NO_TRIAL, OPEN, UNKNOWN, GameRows, labels_of
from storage.records import GameResult, GameStatus
from storage.tables.games import GameRow
from tests.storage.evidence.statistics.drawn_database import START, fill


@pytest.mark.parametrize(
    ("record", "part"),
    [
        ({"seed": 5, "chances": {"b": 0.5, "a": 0.5}, "blind": True}, '{"chances":{"a":0.5,"b":0.5}}'),
        ({"chances": 7}, '{"chances":7}'),
        ({"seed": 5}, '{"seed":5}'),
        (["chances"], '["chances"]'),
        (7, "7"),
    ],
)
def test_the_probabilities_in_the_record_of_an_assignment(record: object, part: str) -> None:
    assert probabilities_part(record) == part


def test_the_beginning_of_a_game() -> None:
    moves = [f"m{number}" for number in range(MIN_COPIED_PLIES + 1)]

    def beginning(
        played: list[str], game: str = "chess", position: str | None = None
    ) -> tuple[int, int | None]:
        return opening_of(game, position, " ".join(played))

    assert beginning(moves[: MIN_COPIED_PLIES - 1]) == (MIN_COPIED_PLIES - 1, None)
    plies, key = beginning(moves)
    assert (plies, key is None) == (MIN_COPIED_PLIES + 1, False)
    assert beginning([*moves[:MIN_COPIED_PLIES], "other", "ones"]) == (MIN_COPIED_PLIES + 2, key)
    others = (
        beginning(["other", *moves[1:]]),
        beginning([*moves[: MIN_COPIED_PLIES - 1], "other"]),
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
        assert sorted(records) == [1, 2, 3]
        left, resigned, still = GameRows.of(
            [records[key].labels for key in (1, 2, 3)], [records[key].game for key in (1, 2, 3)]
        ).games
        row = await session.get(GameRow, 1)
        assert row is not None
        assert labels_of(records[1].labels)[:5] == (row.strategy, row.game, row.site, row.speed, "")
        assert (left["trial"], left["is_challenger_position"], resigned["trial"]) == (NO_TRIAL, 0, NO_TRIAL)
        assert (time_of(left["began_us"].item()), time_of(left["ended_us"].item())) == (
            row.started_at,
            row.ended_at,
        )
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
        NO_OPENING,
    )
    assert isnan(still["score"])
