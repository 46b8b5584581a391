"""What the arena keeps, on both databases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from storage.arena import accounts as arena
from storage.arena.accounts import (
    AccountRecord,
    AccountTaken,
    ArenaGameRecord,
    ChatRecord,
    RatingRecord,
    SavedTime,
)
from storage.database import Database

AT = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)


async def add(database: Database, name: str, *, is_bot: bool = False) -> None:
    async with database.write() as session:
        await arena.add_account(
            session,
            account_id=name.lower(),
            name=name,
            is_bot=is_bot,
            token_hash=f"hash of {name}",
            created_at=AT,
        )


def game(game_id: str = "abcdefgh", **fields: object) -> ArenaGameRecord:
    record = ArenaGameRecord(
        id=game_id,
        variant="othello",
        rated=True,
        initial_s=300,
        increment_s=3,
        players=("anna", "desdemona"),
        ratings=(1500, 1600),
        provisional=(True, False),
        rematch_of=None,
        moves=(),
        remaining_ms=(300_000, 300_000),
        draw_offers=(False, False),
        takeback_offers=(False, False),
        status=arena.STARTED,
        winner=None,
        rating_diffs=None,
        created_at=AT,
        last_move_at=AT,
        ended_at=None,
    )
    return replace(record, **fields)  # type: ignore[arg-type]


async def test_accounts(database: Database) -> None:
    await add(database, "Anna")
    await add(database, "Desdemona", is_bot=True)
    with pytest.raises(AccountTaken, match="the name ANNA is taken"):
        await add(database, "ANNA")
    async with database.write() as session:
        await arena.save_rating(session, "anna", "othello", RatingRecord(1512.5, 200.0, 0.06, 1))
        await arena.save_rating(session, "anna", "othello", RatingRecord(1520.25, 190.0, 0.06, 2))
        await arena.save_rating(session, "anna", "chess", RatingRecord(1400.0, 100.0, 0.05, 30))
        await arena.set_token(session, "anna", "another hash")
    async with database.read() as session:
        assert await arena.get_account(session, "anna") == AccountRecord(
            "anna",
            "Anna",
            False,
            AT,
            {
                "othello": RatingRecord(1520.25, 190.0, 0.06, 2),
                "chess": RatingRecord(1400.0, 100.0, 0.05, 30),
            },
        )
        assert await arena.get_account(session, "nobody") is None
        assert await arena.find_account_id_by_token(session, "another hash") == "anna"
        assert await arena.find_account_id_by_token(session, "hash of Anna") is None
        hashes = ["another hash", "hash of Desdemona", "hash of nobody"]
        assert await arena.find_tokens(session, hashes) == dict(
            zip(hashes, ("anna", "desdemona"), strict=False)
        )
    async with database.write() as session:
        await arena.make_bot(session, "anna")
    async with database.read() as session:
        accounts = await arena.list_accounts(session)
        assert [(each.name, each.is_bot) for each in accounts] == [("Anna", True), ("Desdemona", True)]


async def test_time(database: Database) -> None:
    for name in ("Anna", "Desdemona"):
        await add(database, name)
    async with database.write() as session:
        assert await arena.load_time(session) == SavedTime(0, None, 0)
        await arena.add_game(session, game(turn_began_ms=7_000_000_000))
        await arena.save_time(session, 1, AT)
        await arena.save_time(session, 6_000_000_000, AT)
        # A turn may have begun after the time was last saved.
        assert await arena.load_time(session) == SavedTime(7_000_000_000, AT, 1)
        await arena.save_game(session, game(turn_began_ms=7_000_000_000, status="resign"))
        assert await arena.load_time(session) == SavedTime(6_000_000_000, AT, 0)


async def test_games(database: Database) -> None:
    await add(database, "Anna")
    await add(database, "Desdemona", is_bot=True)
    first, second = game(), game("unlimite", initial_s=None, increment_s=None, remaining_ms=None, rated=False)
    async with database.write() as session:
        await arena.add_game(session, first)
        await arena.add_game(session, second)
    async with database.read() as session:
        assert await arena.load_game(session, first.id) == first
        assert await arena.load_game(session, "nothing1") is None
        assert await arena.list_open_ids(session) == [first.id, second.id]
        assert await arena.count_games(session, "anna") == await arena.count_games(session, "desdemona") == 2
    moved = replace(
        first,
        moves=("f5", "d6", "pass"),
        remaining_ms=(299_000, 1),
        draw_offers=(True, False),
        takeback_offers=(False, True),
        last_move_at=AT + timedelta(seconds=1),
    )
    ended = replace(second, status="resign", winner=1, rating_diffs=(-9, 9), ended_at=AT + timedelta(hours=1))
    async with database.write() as session:
        await arena.save_game(session, moved)
        await arena.save_game(session, ended)
    async with database.read() as session:
        assert await arena.load_game(session, first.id) == moved
        assert await arena.load_game(session, second.id) == ended
        assert await arena.list_open_ids(session) == [moved.id]


async def test_chat(database: Database) -> None:
    await add(database, "Anna")
    await add(database, "Desdemona", is_bot=True)
    async with database.write() as session:
        await arena.add_game(session, game())
        for account, room, text in [
            ("anna", "player", "hello ♟"),
            ("desdemona", "spectator", "a trap"),
            ("desdemona", "player", "good luck"),
        ]:
            await arena.add_chat(session, "abcdefgh", account_id=account, room=room, text=text, created_at=AT)
    async with database.read() as session:
        assert await arena.list_chat(session, "abcdefgh", "player", 10) == [
            ChatRecord("anna", "Anna", "player", "hello ♟"),
            ChatRecord("desdemona", "Desdemona", "player", "good luck"),
        ]
        assert len(await arena.list_chat(session, "abcdefgh", "player", 1)) == 1
        assert await arena.count_chat(session, "abcdefgh") == 3
