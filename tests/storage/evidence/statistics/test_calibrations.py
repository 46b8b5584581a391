"""Calibration of the forecasts: what summaries say of it, and what the replies themselves."""

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from storage.database import Database
from storage.evidence.inference.defaults import CAP_GAMES
from storage.evidence.statistics import group_rows
from storage.evidence.statistics.calibrations import GroupCalibration, read_calibrations
from storage.evidence.statistics.groups import GroupKey
from storage.evidence.summaries import list_finished_games, summarise
from storage.filters import Filters, GamePhase, of_games
from tests.storage.evidence.statistics.by_reply import calibrations_by_reply
from tests.storage.evidence.statistics.drawn_database import fill
from tests.storage.evidence.statistics.facts import game_facts, reply_facts
from tests.storage.evidence.statistics.test_group_sums import GAME, REPLY

GROUPINGS: Sequence[Sequence[GroupKey]] = (
    (),
    (GroupKey.PHASE,),
    (GroupKey.RATING_BAND, GroupKey.MONTH),
    (GroupKey.OPPONENT_KIND,),
)


def numbers(found: list[GroupCalibration]) -> list[tuple[tuple[str, ...], int, int]]:
    return [(tuple(each.group.values()), each.errors.n, each.errors.happened) for each in found]


def nearly(found: list[GroupCalibration]) -> list[Any]:
    """Their JSON; the order in which replies are added up changes the last bits."""

    def of(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: of(each) for name, each in value.items()}
        return pytest.approx(value, rel=1e-6, abs=1e-9) if isinstance(value, float) else value

    return [of(asdict(each)) for each in found]


async def check(session: AsyncSession) -> None:
    for filters in (Filters(), Filters(strategy="trappy"), Filters(phase=GamePhase(1))):
        games, replies = await game_facts(session, of_games(filters)), await reply_facts(session, filters)
        for by in GROUPINGS:
            found = (await read_calibrations(session, filters, by)).calibrations()
            assert [asdict(each) for each in found] == nearly(calibrations_by_reply(games, replies, by))


async def test_summaries_say_what_the_replies_say(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a summary, with some, and with all of them; of each person's first games alone."""
    monkeypatch.setattr(group_rows, "CAP_GAMES", 3)
    monkeypatch.setattr("tests.storage.evidence.statistics.by_reply.CAP_GAMES", 3)
    assert CAP_GAMES != 3
    async with database.write() as session:
        await fill(session, random.Random(4), games=60)
        games = await list_finished_games(session, 0, 1000)
        assert sum(each.errors.n for each in (await read_calibrations(session)).calibrations()) > 12
        await check(session)
        for some in (games[::2], games):
            await summarise(session, some)
            await check(session)


async def test_a_choice_among_the_games_and_none(database: Database) -> None:
    async with database.write() as session:
        assert (await read_calibrations(session)).calibrations() == []
        await fill(session, random.Random(2), games=20)
        found = await read_calibrations(session, among=lambda key: key % 2 == 0)
        games = [game for game in await game_facts(session) if game.id % 2 == 0]
        wanted = calibrations_by_reply(games, await reply_facts(session))
        assert [asdict(each) for each in found.calibrations()] == nearly(wanted)


def test_models_and_games_stand_apart() -> None:
    """Of the reference that the program is compared with above."""
    chess, late = replace(GAME, id=2, game="chess"), replace(GAME, id=3, games_before=CAP_GAMES)
    replies = [
        REPLY,
        replace(REPLY, cost=0.5, error_expected=0.5),
        replace(REPLY, model="network 2"),
        replace(REPLY, game_id=2),
        replace(REPLY, is_decided=True),
        replace(REPLY, cost=None, is_unjudged=True),
        replace(REPLY, is_decided=True, model="network 3"),
        replace(REPLY, game_id=3),
        replace(REPLY, game_id=4),
    ]
    found = calibrations_by_reply([GAME, chess, late], replies)
    assert numbers(found) == [
        (("network 2", "othello"), 1, 0),
        (("people", "chess"), 1, 0),
        (("people", "othello"), 2, 1),
    ]
    assert found[-1].errors.expected == pytest.approx(0.125 + 0.5)
    assert json.loads(json.dumps(asdict(found[-1])))["group"] == {"model": "people", "game": "othello"}
    by_phase = calibrations_by_reply([GAME], [REPLY, replace(REPLY, ply=19)], [GroupKey.PHASE])
    assert [each.group["phase"] for each in by_phase] == ["plies 1 to 20", "plies 21 to 40"]
    assert list(by_phase[0].group) == ["model", "phase", "game"]
    assert calibrations_by_reply([GAME], []) == []
