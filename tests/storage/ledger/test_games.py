from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from engine.params import Assessment, DecidedScores, Scale, TrapParams
from storage.database import Database
from storage.filters import Filters
from storage.ledger.events import list_events, record_event
from storage.ledger.games import (
    assign_account_to_records,
    count_bot_games,
    count_drawn,
    finish_game,
    list_games,
    list_games_by_site_id,
    list_open_games,
    list_unsettled_games,
    load_game,
    load_game_by_id,
    open_game,
    open_statement,
    reopen_game,
    set_moves,
    set_rating_diff,
    settle_game,
    unsettled_statement,
)
from storage.records import MATCH_SITE, AccountKey, GameResult, GameStatus, NewGame
from tests.storage.samples import ARENA, NEW_GAME, opened

DRAWN = {"against_opponent": {"standard": 0, "trappy": 0}}
"""How a game's strategy was chosen at random."""


async def test_a_game_comes_back_as_it_went_in(database: Database) -> None:
    params = TrapParams(Assessment.LAST, 0, DecidedScores.PAPER, 20.0, Scale.EXPECTED, 7.5, 12.5, 150.0)
    new = replace(NEW_GAME, params=params, initial_position="8/8/8/3wb3/3bw3/8/8/8 b", our_side=1)
    async with database.write() as session:
        stored = await open_game(session, new)
    async with database.read() as session:
        again = await load_game(session, ARENA, "game0001")
        assert again == await load_game_by_id(session, stored.id)
    assert again == stored
    assert {f.name: getattr(stored, f.name) for f in fields(NewGame)} == {
        f.name: getattr(new, f.name) for f in fields(NewGame)
    }
    assert (stored.moves, stored.state, stored.result) == ((), GameStatus.OPEN, None)
    assert stored.started_at.tzinfo is UTC


async def test_unknown_things_stay_unknown(database: Database) -> None:
    new = replace(
        NEW_GAME,
        clock_initial_s=None,
        clock_increment_s=None,
        our_rating=None,
        opponent_rating=None,
        selection={},
    )
    async with database.write() as session:
        stored = await open_game(session, new)
        assert await load_game(session, AccountKey("elsewhere", "desdemona"), "game0001") is None
        assert await load_game_by_id(session, stored.id + 1) is None
    assert (stored.clock_initial_s, stored.our_rating, stored.opponent_rating) == (None, None, None)
    assert stored.selection == {}


@pytest.mark.parametrize(
    ("sent", "kept"),
    [(100_000, 100_000), (100_001, None), (-10_000, -10_000), (-10_001, None), (2**63, None)],
)
async def test_a_rating_that_cannot_be_one_is_unknown(
    database: Database, sent: int, kept: int | None
) -> None:
    async with database.write() as session:
        stored = await open_game(session, replace(NEW_GAME, our_rating=sent, opponent_rating=sent))
    assert (stored.our_rating, stored.opponent_rating) == (kept, kept)


async def test_opening_again_changes_nothing(database: Database) -> None:
    async with database.write() as session:
        first = await opened(session)
        await set_moves(session, first.id, ["f5", "f6"])
        again = await opened(session, strategy="standard", opponent_name="Somebody")
    assert again == replace(first, moves=("f5", "f6"))


async def test_one_opponent_and_one_config_serve_many_games(database: Database) -> None:
    async with database.write() as session:
        await opened(session, "one")
        await opened(session, "two", opponent_name="ANNA", opponent_is_bot=True)
        await opened(session, "three", site="elsewhere")
    async with database.read() as session:
        one = await load_game(session, ARENA, "one")
        elsewhere = await load_game(session, AccountKey("elsewhere", "desdemona"), "three")
    assert one is not None
    assert elsewhere is not None
    # Same account on the site: its latest name; the same id on another site is somebody else.
    assert (one.opponent_name, one.opponent_is_bot) == ("ANNA", True)
    assert (elsewhere.opponent_name, elsewhere.opponent_is_bot) == ("Anna", False)


async def test_a_game_ends_once(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        assert await finish_game(
            session, game.id, result=GameResult.WIN, end_reason="resignation", moves=["f5", "f6", "pass"]
        )
    async with database.write() as session:
        await set_rating_diff(session, ARENA, "game0001", 7)
        assert not await finish_game(session, game.id, result=GameResult.LOSS, end_reason="time")
        stored = await load_game_by_id(session, game.id)
    assert stored is not None
    assert (stored.state, stored.result, stored.end_reason) == (
        GameStatus.FINISHED,
        GameResult.WIN,
        "resignation",
    )
    assert stored.moves == ("f5", "f6", "pass")
    assert stored.rating_diff == 7
    assert stored.ended_at is not None
    assert stored.ended_at >= stored.started_at


async def test_an_aborted_game_has_no_result(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await finish_game(session, game.id, result=GameResult.WIN, end_reason="aborted", aborted=True)
        stored = await load_game_by_id(session, game.id)
    assert stored is not None
    assert (stored.state, stored.result) == (GameStatus.ABORTED, None)


async def test_open_games_of_one_site(database: Database) -> None:
    async with database.write() as session:
        for key in ("a", "b", "c"):
            await opened(session, key)
        await opened(session, "d", site="elsewhere")
        b = await load_game(session, ARENA, "b")
        assert b is not None
        await finish_game(session, b.id, result=GameResult.DRAW, end_reason="normal")
        assert [game.site_game_id for game in await list_open_games(session, ARENA)] == ["a", "c"]
        assert [game.site_game_id for game in await list_unsettled_games(session, ARENA)] == ["a", "c"]
        assert len(await list_games_by_site_id(session, "d")) == 1


async def test_a_game_is_settled_after_it_is_finished(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        await settle_game(session, game.id)
        assert await unsettled(session) == [("game0001", GameStatus.OPEN)]
        await finish_game(session, game.id, result=GameResult.WIN, end_reason="time", settled=False)
        assert await unsettled(session) == [("game0001", GameStatus.FINISHED)]
        assert await list_open_games(session, ARENA) == []
        before = await load_game_by_id(session, game.id)
        assert before is not None
        await settle_game(session, game.id)
        assert await unsettled(session) == []
        assert await load_game_by_id(session, game.id) == replace(before, is_settled=True)
        await reopen_game(session, game.id)
        assert await unsettled(session) == [("game0001", GameStatus.OPEN)]


async def unsettled(session: AsyncSession) -> list[tuple[str, GameStatus]]:
    return [(game.site_game_id, game.state) for game in await list_unsettled_games(session, ARENA)]


@pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
async def test_an_index_finds_what_is_not_settled(database: Database) -> None:
    """At the start of the program, among all games of the account."""
    async with database.read() as session:
        for statement in (unsettled_statement(ARENA), open_statement(ARENA)):
            connection = await session.connection()
            text_of = str(
                statement.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
            )
            plan = (await session.execute(text(f"EXPLAIN QUERY PLAN {text_of}"))).all()
            (steps,) = [row.detail for row in plan if " games " in f"{row.detail} "]
            assert "ix_games_account_settled (site=? AND account=? AND is_settled=?" in steps


async def test_filters(database: Database) -> None:
    noon = datetime(2026, 11, 1, 12, tzinfo=UTC)
    async with database.write() as session:
        for hour in range(6):
            await opened(
                session,
                f"g{hour}",
                at=noon + timedelta(hours=hour),
                opponent_rating=None if hour == 5 else 1000 + 100 * hour,
                rated=hour % 2 == 0,
                strategy="standard" if hour < 3 else "trappy",
                site="elsewhere" if hour == 4 else "arena",
                game="tictactoe" if hour == 3 else "othello",
            )

    async def keys(**given: object) -> str:
        async with database.read() as session:
            games = await list_games(session, Filters(**given))  # type: ignore[arg-type]
        return "".join(game.site_game_id[1] for game in games)

    assert await keys() == "543210"
    assert await keys(strategy="trappy") == "543"
    assert await keys(site="elsewhere") == "4"
    assert await keys(game="tictactoe") == "3"
    assert await keys(rated=False) == "531"
    assert await keys(opponent="ANNA") == "543210"
    assert await keys(opponent="Ann") == ""
    assert await keys(min_opponent_rating=1200) == "432"
    assert await keys(max_opponent_rating=1200) == "210"
    in_berlin = timezone(timedelta(hours=1))
    assert await keys(since=noon + timedelta(hours=4)) == "54"
    assert await keys(until=(noon + timedelta(hours=2)).astimezone(in_berlin)) == "10"
    assert await keys(strategy="standard", rated=True, max_opponent_rating=1100) == "0"
    async with database.read() as session:
        assert [game.site_game_id for game in await list_games(session, limit=2)] == ["g5", "g4"]


async def test_games_are_counted_for_the_balanced_selection(database: Database) -> None:
    async with database.write() as session:
        for number, player in enumerate(["standard", "trappy", "trappy", "trappy"]):
            await opened(session, f"a{number}", strategy=player, selection=DRAWN)
        await opened(session, "b", strategy="standard", opponent_id="ben", selection=DRAWN)
        await opened(session, "c", strategy="standard", game="tictactoe", selection=DRAWN)
        await opened(session, "d", strategy="standard", site="elsewhere", selection=DRAWN)
        await opened(session, "e", strategy="standard", selection={"method": "fixed"})
        aborted = await load_game(session, ARENA, "a3")
        finished = await load_game(session, ARENA, "a2")
        assert aborted is not None
        assert finished is not None
        await finish_game(session, aborted.id, result=None, end_reason="aborted", aborted=True)
        await finish_game(session, finished.id, result=None, end_reason="other")
        assert await count_drawn(session, ARENA, "othello") == {"standard": 2, "trappy": 2}
        assert await count_drawn(session, ARENA, "othello", "anna") == {"standard": 1, "trappy": 2}
        assert await count_drawn(session, ARENA, "othello", "nobody") == {}


async def test_games_with_programs_in_a_day(database: Database) -> None:
    day = datetime(2026, 1, 2, tzinfo=UTC)
    robot = {"opponent_id": "robot", "opponent_is_bot": True}
    async with database.write() as session:
        await opened(session, "old", at=day - timedelta(seconds=1), **robot)
        await opened(session, "one", at=day, **robot)
        ended = await opened(session, "two", at=day + timedelta(hours=1), **robot)
        await finish_game(session, ended.id, result=None, end_reason="aborted", aborted=True)
        await opened(session, "three", at=day, opponent_id="other", opponent_is_bot=True)
        await opened(session, "four", at=day)
        await opened(session, "five", at=day, site="elsewhere", **robot)
    async with database.read() as session:
        assert await count_bot_games(session, ARENA, day) == {"robot": 2, "other": 1}
        assert await count_bot_games(session, ARENA, day + timedelta(days=1)) == {}


async def test_filters_by_name_and_match(database: Database) -> None:
    async with database.write() as session:
        for key, match in (("a-0001", "a"), ("a-b-0001", "a-b"), ("a-0002", "a")):
            name = "Édax 10" if match == "a" else "NTest"
            await opened(
                session,
                key,
                site=MATCH_SITE,
                opponent_id=name,
                opponent_name=name,
                selection={"method": "match", "match": match},
            )
        await opened(session, "c", selection={"match": "a"})
    async with database.read() as session:

        async def keys(**given: str) -> list[str]:
            return sorted(game.site_game_id for game in await list_games(session, Filters(**given)))  # type: ignore[arg-type]

        assert await keys(match="a") == ["a-0001", "a-0002"]
        assert await keys(match="a-b", opponent="ntest") == ["a-b-0001"]
        assert await keys(match="A") == []
        assert await keys(opponent="Édax 10") == ["a-0001", "a-0002"]


async def test_accounts_of_one_site_are_kept_apart(database: Database) -> None:
    other = AccountKey("arena", "iago")
    async with database.write() as session:
        mine = await opened(session, "same", selection=DRAWN)
        theirs = await opened(session, "same", account="iago", strategy="standard", selection=DRAWN)
        assert (await load_game(session, ARENA, "same"), await load_game(session, other, "same")) == (
            mine,
            theirs,
        )
        assert [game.id for game in await list_open_games(session, other)] == [theirs.id]
        assert await count_drawn(session, ARENA, "othello") == {"trappy": 1}
        await set_rating_diff(session, other, "same", 5)
        assert [game.rating_diff for game in await list_games_by_site_id(session, "same")] == [None, 5]
        assert [game.id for game in await list_games(session, Filters(account="IAGO"))] == [theirs.id]


async def test_records_that_name_no_account_are_adopted_once(database: Database) -> None:
    async with database.write() as session:
        old = await opened(session, "old", account="")
        await record_event(session, AccountKey("arena"), "old", {})
        elsewhere = await opened(session, "elsewhere", account="", site="elsewhere")
        await assign_account_to_records(session, ARENA)
        await assign_account_to_records(session, AccountKey("arena", "iago"))
        assert [game.id for game in await list_open_games(session, ARENA)] == [old.id]
        assert [event.kind for event in await list_events(session, owner=ARENA)] == ["old"]
        assert [game.id for game in await list_open_games(session, AccountKey("elsewhere"))] == [elsewhere.id]
