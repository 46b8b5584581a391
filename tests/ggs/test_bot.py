"""The whole bot plays on the fake server, and its books are right whatever happens."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from storage.records import TimeSource
from storage.tables.games import ReplyTimeRow
from tests.bot.virtual_time import run
from tests.ggs.client import Habits
from tests.ggs.faults import Fault, MoveCodec, Strike, holding
from tests.ggs.table import BOT, Table, copied, empty_database, laid


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return empty_database(tmp_path_factory.mktemp("ggs") / "template.db")


Play = Callable[..., None]


@pytest.fixture
def at_table(template: Path, tmp_path: Path) -> Play:
    """Runs a test at a table, and looks into the books after it."""

    def sit(play: Callable[[Table], Awaitable[None]], *strikes: Strike, seed: int = 0) -> None:
        async def whole() -> None:
            plan = MoveCodec(*strikes)
            async with laid(copied(template, tmp_path), plan=plan, seed=seed) as table:
                await play(table)
                assert await table.troubles() == []
                assert table.server.refused == []
                assert plan.left == [], "never struck"

        run(whole())

    return sit


@pytest.mark.parametrize(("kind", "rated"), [("8", True), ("8b", False), ("8w", True), ("s8r14", False)])
def test_every_kind_of_match(at_table: Play, kind: str, rated: bool) -> None:
    async def play(table: Table) -> None:
        anna = await table.sit(rated=rated)
        over = await table.play(anna, f"{kind} 15:00/00:10")
        assert (over.flag, len(over.seats)) == ("R" if rated else "U", 1 + kind.startswith("s"))
        assert all(seat.board.is_finished for seat in over.seats)
        await anna.close()

    at_table(play)


def test_replies_are_timed(at_table: Play) -> None:
    """This server's times are made up, half a second at most: believed where they may be true."""

    async def play(table: Table) -> None:
        anna = await table.sit(Habits(thinks_s=1.37))
        await table.play(anna, "8b 15:00/00:10")
        await anna.close()
        async with table.database.read() as session:
            first, *others = await session.scalars(select(ReplyTimeRow).order_by(ReplyTimeRow.decision_id))
        assert (first.time_s, first.source) == (1.37, TimeSource.MEASURED)
        assert len(others) > 20
        for row in others:
            is_measured = row.source is TimeSource.MEASURED
            assert row.time_s == 1.37 if is_measured else 0.37 <= row.time_s <= 0.51

    at_table(play)


@pytest.mark.parametrize(
    ("habits", "outcome"),
    [
        (Habits(resigns_at=10), "-64.00"),
        (Habits(aborts_at=10, undoes_at=14, chats_at=12, resigns_at=24), "-"),
        (Habits(stops_at=10), "-64.00"),
    ],
)
def test_ends_and_wishes(at_table: Play, habits: Habits, outcome: str) -> None:
    """The bot agrees to nothing, so such games go on; and what is given up or timed out is won."""

    async def play(table: Table) -> None:
        anna = await table.sit(habits)
        over = await table.play(anna, "8b 02:00//00:10")
        assert over.outcome.startswith(outcome)
        if habits.aborts_at is not None:
            said = "\n".join(anna.lines)
            assert "abort .0 anna is asking" in said
            assert f"abort .0 {BOT}" not in said
            assert f"undo .0 {BOT}" not in said
        await anna.close()

    at_table(play)


@pytest.mark.parametrize("kind", ["8kr18", "8a", "s6", "8 00:05", "8 30:00,N0//05:00,N10"])
def test_what_the_bot_does_not_play_is_declined(at_table: Play, kind: str) -> None:
    async def play(table: Table) -> None:
        await table.until_there()
        anna = await table.sit()
        anna.os(f"ask {kind} {BOT}" if ":" in kind else f"ask {kind} 15:00 {BOT}")
        await anna.until(lambda: any(line.startswith("/os: - ") for line in anna.lines))
        assert (anna.over, anna.seats, table.server.central.service.requests) == ([], {}, {})
        await anna.close()

    at_table(play)


def test_a_registration_is_noticed_without_a_new_login(at_table: Play) -> None:
    async def play(table: Table) -> None:
        await table.until_there()
        table.server.central.service.players[BOT].level = 0
        player = table.server.central.service.players[BOT]
        player.rated = False
        anna = await table.sit()
        anna.os(f"ask 8 15:00 {BOT}")
        await anna.until(lambda: any("rated variable mismatch" in line for line in anna.lines))
        table.server.central.service.command(BOT, "rated +")  # as at a login
        await asyncio.sleep(100)
        table.server.central.service.promote(BOT, 1)
        await asyncio.sleep(100)
        over = await table.play(anna, "8 15:00")
        assert over.flag == "R"
        await anna.close()

    at_table(play)


def test_an_opponent_who_leaves_and_comes_back(at_table: Play) -> None:
    async def play(table: Table) -> None:
        anna = await table.sit(Habits(leaves_at=12, resigns_at=20))
        over = await table.play(anna, "s8 15:00")
        assert max(len(seat.moves) for seat in over.seats) >= 20
        await anna.close()

    at_table(play)


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.EVICT, Fault.SILENCE, Fault.RESTART])
def test_lost_links(at_table: Play, fault: Fault) -> None:
    """A rated match is taken up and played to its end, and every move has its one decision."""

    async def play(table: Table) -> None:
        anna = await table.sit(Habits(resigns_at=20))
        over = await table.play(anna, "s8r14 15:00")
        assert (over.outcome, len(over.seats)) == ("-64.00", 2)
        assert max(len(seat.moves) for seat in over.seats) >= 20
        await anna.close()

    at_table(play, Strike(fault, holding("update"), after=9, name=BOT))


@pytest.mark.parametrize("text", ["+ match", "join", "update", "- match"])
def test_lost_messages(at_table: Play, text: str) -> None:
    async def play(table: Table) -> None:
        anna = await table.sit(Habits(resigns_at=20))
        over = await table.play(anna, "s8r14 15:00")
        assert (over.outcome, len(over.seats)) == ("-64.00", 2)
        assert max(len(seat.moves) for seat in over.seats) >= 20
        await anna.close()

    at_table(play, Strike(Fault.LOSE, holding(f"/os: {text}"), after=3 * (text == "update"), name=BOT))


def test_two_games_of_one_kind_that_end_unheard(at_table: Play) -> None:
    """The archive has both ends under the same names and the same type."""

    async def play(table: Table) -> None:
        await table.until_there()
        anna = await table.sit(Habits(stops_at=8))
        for kind in ("8b", "8w"):
            anna.os(f"ask {kind} 15:00 {BOT}")
        # Black to move at ply 8, White at ply 9: anna's turn on both boards.
        await anna.until(lambda: [len(seat.moves) for seat in anna.seats.values()] == [8, 9], 600)
        for match in list(anna.seats):
            anna.os(f"resign {match}")
        await asyncio.sleep(600)
        table.over += anna.over
        await anna.close()

    at_table(play, Strike(Fault.SILENCE, holding("- match"), name=BOT))


@pytest.mark.parametrize("words", ["/os: match ", "/os: stored "])
@pytest.mark.parametrize("kind", ["8", "s8r14"])
def test_a_list_that_is_older_than_the_news_before_it(at_table: Play, words: str, kind: str) -> None:
    """It was made before the match began, and arrives after its first lines."""

    async def play(table: Table) -> None:
        await table.until_there()
        anna = await table.sit(Habits(resigns_at=20))
        over = await table.play(anna, f"{kind} 15:00")
        assert over.outcome == "-64.00"
        assert len(anna.over) == 1
        await anna.close()

    at_table(play, Strike(Fault.LATE, holding(words), name=BOT))
