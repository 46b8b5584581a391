"""What pages of players ask, on both databases."""

from dataclasses import replace
from datetime import timedelta

from storage.arena import accounts as arena
from storage.arena.account_actions import set_access
from storage.arena.accounts import ArenaAccess, RatingRecord
from storage.database import Database
from storage.evidence.queries.arena_people import (
    arena_ratings,
    best_rated,
    list_arena_games,
    replies_to_us,
)
from storage.evidence.statistics.reply_progress import progress
from storage.ledger.games import finish_game, settle_game
from storage.records import GameResult
from tests.storage.arena.test_accounts import AT, add, game
from tests.storage.samples import NEW_GAME, opened


async def filled(database: Database) -> None:
    """Games of Anna, one a day, but two at the same moment; Bea moves first in every other one."""
    for name in ("Anna", "Bea", "Chen"):
        await add(database, name)
    async with database.write() as session:
        for number in range(9):
            sides = ("anna", "bea") if number % 2 else ("bea", "anna")
            record = game(
                f"game000{number}",
                players=sides,
                ratings=(1500 + number, 1600 + number),
                created_at=AT + timedelta(days=min(number, 5) if number < 7 else number),
                status="resign",
                winner=0,
                rating_diffs=None if number == 3 else (4, -4),
                variant="standard" if number == 8 else "othello",
            )
            await arena.add_game(session, record)
        await arena.add_game(session, game("another1", players=("bea", "chen"), created_at=AT))


async def test_games_in_parts(database: Database) -> None:
    await filled(database)
    wanted = [f"game000{number}" for number in reversed(range(9))]
    async with database.read() as session:
        first = await list_arena_games(session, "anna", 4)
        second = await list_arena_games(session, "anna", 4, first[-1].id)
        third = await list_arena_games(session, "anna", 4, second[-1].id)
        assert [each.id for each in (*first, *second, *third)] == wanted
        assert await list_arena_games(session, "anna", 4, third[-1].id) == []
        assert await list_arena_games(session, "nobody", 4) == []
        (one,) = await list_arena_games(session, "chen", 4)
    assert (one.names, one.players) == (("Bea", "Chen"), ("bea", "chen"))


async def test_the_course_of_ratings(database: Database) -> None:
    await filled(database)
    async with database.read() as session:
        found = await arena_ratings(session, "anna")
    assert {variant: len(points) for variant, points in found.items()} == {"othello": 7, "standard": 1}
    assert [rating for _, rating in found["othello"][:3]] == [1596, 1505, 1598]
    assert found["othello"] == sorted(found["othello"])


async def test_the_best_ratings(database: Database) -> None:
    for number, name in enumerate(("Anna", "Bea", "Chen", "Dan")):
        await add(database, name)
        async with database.write() as session:
            rating = RatingRecord(1500.0 + number, 70.0 + number, 0.06, 9)
            await arena.save_rating(session, name.lower(), "othello", rating)
            await arena.save_rating(session, name.lower(), "standard", replace(rating, rating=1.0))
    async with database.write() as session:
        await set_access(session, "dan", ArenaAccess.BANNED)
    async with database.read() as session:
        for spans, names in (((-1.0, 71.0), ["Bea", "Anna"]), ((71.0, 99.0), ["Chen"])):
            assert [each.name for each in await best_rated(session, "othello", 9, spans)] == names
        assert len(await best_rated(session, "othello", 1, (-1.0, 99.0))) == 1


async def test_only_settled_games_tell_of_traps(database: Database) -> None:
    """What is not judged to the end says nothing, and a running game never does."""
    who = (NEW_GAME.site, NEW_GAME.opponent_id)
    async with database.write() as session:
        key = (await opened(session)).id
        assert len((await replies_to_us(session, *who)).of) == 0
        await finish_game(session, key, result=GameResult.WIN, end_reason="", moves=["f5"], settled=False)
        assert len((await replies_to_us(session, *who)).of) == 0
        await settle_game(session, key)
        (found,) = progress(await replies_to_us(session, *who))
    assert (found.game, found.everything.last) == ("othello", 1)
