from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from engine.expected import WHOLE
from engine.figure_9 import MIN_ERROR_COST
from engine.judge import JUDGE_VERSION
from storage.database import Database
from storage.evidence.queries.game_list import (
    GameOrder,
    ResultFilter,
    count_games,
    list_game_lines,
    list_marks,
)
from storage.evidence.statistics.encounters import bait_counts
from storage.filters import Filters
from storage.ledger.outcomes import record_reply_time
from storage.records import MATCH_SITE, ReplyTime, TimeSource
from storage.tables.games import DecisionRow, GameRow, JudgementRow
from tests.bot.dashboard.samples import met_bait
from tests.bot.tempted import lost_game, plain_game
from tests.storage.samples import judge_replies, opened

AT = datetime(2026, 11, 1, 12, tzinfo=UTC)


async def _keys(session: object, order: GameOrder = GameOrder.NEWEST, **options: object) -> list[str]:
    result = options.pop("result", ResultFilter.ANY)
    found = await list_game_lines(session, Filters(), result, order, **{"limit": 9, **options})  # type: ignore[arg-type]
    return [game.site_game_id for game in found]


async def test_a_game_is_counted_as_the_chat_counts_it(database: Database) -> None:
    async with database.write() as session:
        games = [
            await met_bait(session, "fell", "d7d5"),
            await met_bait(session, "held", "e7e5"),
            await lost_game(session, "d7d5"),
            await plain_game(session, "d8f6"),  # a slip
        ]
        found = {
            line.game_id: line
            for line in await list_game_lines(session, Filters(), ResultFilter.ANY, GameOrder.NEWEST, 9)
        }
        for game in games:
            counted = await bait_counts(session, game.id)
            line = found[game.id]
            assert (line.baits_set, line.baits_taken, line.slips, line.unjudged) == (
                counted.baits_set, counted.baits_taken, counted.slips, 0
            )  # fmt: skip
            assert line.plies == len(game.moves) == 2
    assert [(found[game.id].baits_set, found[game.id].baits_taken) for game in games] == [
        (1, 1), (1, 0), (0, 0), (0, 0)
    ]  # fmt: skip
    assert [found[game.id].slips for game in games] == [0, 0, 1, 1]


async def test_orders(database: Database) -> None:
    async with database.write() as session:
        await met_bait(session, "first", "e7e5", rating=1500, at=AT)
        await met_bait(session, "second", "d7d5", rating=1700, at=AT + timedelta(hours=1), moves="a b c d")
        await met_bait(session, "third", "e7e5", rating=None, at=AT + timedelta(hours=2), moves="")
        assert await _keys(session) == ["third", "second", "first"]
        assert await _keys(session, GameOrder.OLDEST) == ["first", "second", "third"]
        assert await _keys(session, GameOrder.STRONGEST) == ["second", "first", "third"]
        assert await _keys(session, GameOrder.LONGEST) == ["second", "first", "third"]
        assert await _keys(session, GameOrder.MOST_BAITS_TAKEN) == ["second", "third", "first"]
        assert await _keys(session, limit=1, offset=1) == ["second"]
        lines = await list_game_lines(session, Filters(), ResultFilter.ANY, GameOrder.OLDEST, 9)
    assert [line.plies for line in lines] == [2, 4, 0]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ResultFilter.ANY, {"win", "draw", "loss", "open", "aborted", "unknown"}),
        (ResultFilter.WIN, {"win"}),
        (ResultFilter.DRAW, {"draw"}),
        (ResultFilter.LOSS, {"loss"}),
        (ResultFilter.OPEN, {"open"}),
        (ResultFilter.ABORTED, {"aborted"}),
        (ResultFilter.UNKNOWN, {"unknown"}),
    ],
)
async def test_results(database: Database, result: ResultFilter, expected: set[str]) -> None:
    async with database.write() as session:
        for name in ("win", "draw", "loss", "open", "aborted", "unknown"):
            game = await opened(session, name)
            state = name if name in ("open", "aborted") else "finished"
            ended = name if name in ("win", "draw", "loss") else None
            await session.execute(
                update(GameRow).where(GameRow.id == game.id).values(state=state, result=ended)
            )
        await opened(session, "match", site=MATCH_SITE)
        assert set(await _keys(session, result=result)) == expected
        assert await count_games(session, Filters(), result) == len(expected)
        assert await count_games(session, Filters(site=MATCH_SITE), ResultFilter.ANY) == 1


async def test_moves_say_what_is_known_without_their_records(database: Database) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one", "d7d5")
        (decision_id,) = await session.scalars(select(DecisionRow.id))
        await record_reply_time(session, decision_id, ReplyTime(3.5, TimeSource.SERVER))
        (mark,) = await list_marks(session, game.id)
        cost = await session.scalar(select(JudgementRow.cost))
        await judge_replies(session, game.id, version=JUDGE_VERSION - 1)
        (unjudged,) = await list_marks(session, game.id)
        assert (unjudged.cost, unjudged.bait, unjudged.is_taken) == (None, "d7d5", True)
    assert (mark.ply, mark.move, mark.state, mark.depth) == (0, "e2e4", "committed", 5)
    assert (mark.bait, mark.is_taken, mark.is_slip) == ("d7d5", True, False)
    assert cost is not None
    assert (mark.cost, mark.reply_time_s) == (cost / WHOLE, 3.5)


async def test_a_slip_is_an_error_that_takes_no_bait(database: Database) -> None:
    async with database.write() as session:
        game = await plain_game(session, "d8f6")
        (slip,) = await list_marks(session, game.id)
        await session.execute(update(JudgementRow).values(cost=MIN_ERROR_COST - 1))
        (none,) = await list_marks(session, game.id)
        await session.execute(update(JudgementRow).values(cost=MIN_ERROR_COST))
        (just,) = await list_marks(session, game.id)
        lost = await lost_game(session, "d7d5")
        (decided,) = await list_marks(session, lost.id)
    assert (slip.is_slip, none.is_slip, just.is_slip) == (True, False, True)
    assert (decided.is_slip, decided.bait, decided.is_taken) == (True, None, None)


async def test_decisions_taken_back_are_not_listed(database: Database) -> None:
    async with database.write() as session:
        game = await met_bait(session, "one")
        await session.execute(update(DecisionRow).values(takeback=1))
        assert await list_marks(session, game.id) == []
