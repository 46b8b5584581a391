"""The arena owner's changes to accounts, on both databases."""

import pytest
from sqlalchemy import func, select

from storage.arena import accounts as arena
from storage.arena.account_actions import anonymise_account, rename_account, set_access
from storage.arena.accounts import AccountTaken, ArenaAccess, RatingRecord
from storage.arena.puzzles import solvers
from storage.arena.puzzles.positions import PuzzleRating
from storage.arena.puzzles.solvers import ReviewRecord, SolverRecord
from storage.database import Database
from storage.evidence.queries.opponent_report import get_opponent
from storage.ledger.blocks import add_block, list_blocks
from storage.ledger.events import OPPONENT_RENAMED, PROGRAM, list_events, record_event
from storage.ledger.games import load_game
from storage.records import AccountKey
from storage.tables.arena import ArenaChatLine, ArenaRating
from storage.tables.puzzles import PuzzlePosition, PuzzleReview, PuzzleSolver
from tests.storage.arena.test_accounts import AT, add, game
from tests.storage.samples import ARENA, opened


@pytest.fixture
async def played(database: Database) -> Database:
    """Anna has played at the arena, with a rating, chat, and a game in our records."""
    await add(database, "Anna")
    await add(database, "Ben")
    await add(database, "Desdemona", is_bot=True)
    async with database.write() as session:
        await arena.add_game(session, game())
        await arena.add_game(session, game("second", players=("desdemona", "anna")))
        await arena.save_rating(session, "anna", "othello", RatingRecord(1512.5, 200.0, 0.06, 1))
        for name, text in (("anna", "hello"), ("desdemona", "Hello Anna, not Annabel!")):
            await arena.add_chat(
                session, "abcdefgh", account_id=name, room="player", text=text, created_at=AT
            )
        await add_block(session, "arena", "anna")
        await opened(session, "first", opponent_id="anna")
        rating = PuzzleRating(1500.0, 200.0, 0.06)
        session.add(
            PuzzlePosition(
                id=1, key=1, game="chess", rating=1500, deviation=90, volatility=0.06, answers=0, solved=0
            )
        )
        await session.flush()
        await solvers.save_solver(session, "anna", "chess", SolverRecord(rating, 1))
        await solvers.save_review(session, "anna", 1, "chess", ReviewRecord(answers=1))
        declined = {"challenger": "anna", "why": "Anna is on the block list, not Annabel", "count": 1}
        await record_event(session, ARENA, "challenge_declined", declined)
        await record_event(session, AccountKey("elsewhere", "us"), "challenge_declined", declined)
    return database


async def test_access(played: Database) -> None:
    async with played.write() as session:
        await set_access(session, "anna", ArenaAccess.BANNED)
    async with played.read() as session:
        found = {account.id: account.access for account in await arena.list_accounts(session)}
    assert found == {
        "anna": ArenaAccess.BANNED,
        "ben": ArenaAccess.ACTIVE,
        "desdemona": ArenaAccess.ACTIVE,
    }


async def test_a_new_name_keeps_everything(played: Database) -> None:
    async with played.write() as session:
        await rename_account(session, "anna", "Zoe", "arena")
    async with played.read() as session:
        assert await arena.get_account(session, "anna") is None
        account = await arena.get_account(session, "zoe")
        assert account is not None
        assert (account.name, account.created_at) == ("Zoe", AT)
        assert account.ratings["othello"].games == 1
        assert await arena.find_account_id_by_token(session, "hash of Anna") == "zoe"
        for key, players in (("abcdefgh", ("zoe", "desdemona")), ("second", ("desdemona", "zoe"))):
            found = await arena.load_game(session, key)
            assert found is not None
            assert found.players == players
        assert await arena.count_games_by_account(session) == {"zoe": 2, "desdemona": 2}
        lines = await arena.list_chat(session, "abcdefgh", "player", 9)
        assert [line.name for line in lines] == ["Zoe", "Desdemona"]
        ours = await load_game(session, ARENA, "first")
        assert ours is not None
        assert (ours.opponent_id, ours.opponent_name) == ("zoe", "Zoe")
        assert await list_blocks(session, "arena") == ["zoe"]
        trained = await solvers.get_solver(session, "zoe", "chess")
        assert trained is not None
        assert trained.position_id == 1
        assert await solvers.get_review(session, "zoe", 1) == ReviewRecord(answers=1)


async def test_another_case_is_no_other_name(played: Database) -> None:
    async with played.write() as session:
        await rename_account(session, "anna", "ANNA", "arena")
        account = await arena.get_account(session, "anna")
        assert account is not None
        assert account.name == "ANNA"
        assert await arena.find_account_id_by_token(session, "hash of Anna") == "anna"
        assert await list_blocks(session, "arena") == ["anna"]


async def test_names_that_others_have(played: Database) -> None:
    async with played.write() as session:
        await opened(session, "known", opponent_id="carl")
    for name in ("BEN", "Carl"):
        with pytest.raises(AccountTaken, match=f"the name {name} is taken"):
            async with played.write() as session:
                await rename_account(session, "anna", name, "arena")
    async with played.write() as session:
        await add_block(session, "arena", "zoe")
        await rename_account(session, "anna", "Zoe", "arena")  # both were blocked
        assert await list_blocks(session, "arena") == ["zoe"]


async def test_deleting_leaves_the_games_and_no_name(played: Database) -> None:
    async with played.write() as session:
        renamed = {"action": "arena-account rename", "name": "Amalia", "new_name": "ANNA"}
        await record_event(session, PROGRAM, "operator_action", renamed)
        await record_event(
            session, PROGRAM, "operator_action", {"name": "amalia", "result": "Amalia may play"}
        )
        assert await anonymise_account(session, "anna", "arena") == "deleted-1"
        assert await anonymise_account(session, "ben", "arena") == "deleted-2"
    async with played.read() as session:
        assert await arena.get_account(session, "anna") is None
        found = await arena.load_game(session, "abcdefgh")
        assert found is not None
        assert found.players == ("deleted-1", "desdemona")
        assert await arena.find_account_id_by_token(session, "hash of Anna") is None
        account = await arena.get_account(session, "deleted-1")
        assert account is not None
        assert (account.name, account.access, account.ratings) == ("deleted-1", ArenaAccess.DELETED, {})
        for table in (ArenaRating, PuzzleSolver, PuzzleReview):
            assert await session.scalar(select(func.count()).select_from(table)) == 0
        (line,) = await session.scalars(select(ArenaChatLine))
        assert (line.account_id, line.text) == ("desdemona", "Hello deleted-1, not Annabel!")
        assert await list_blocks(session, "arena") == []
        ours = await load_game(session, ARENA, "first")
        assert ours is not None
        assert (ours.opponent_id, ours.opponent_name) == ("deleted-1", "deleted-1")
        events = await list_events(session)
    assert [event.detail for event in events] == [
        {"name": "deleted-1", "result": "deleted-1 may play"},
        {"action": "arena-account rename", "name": "deleted-1", "new_name": "deleted-1"},
        # At another site that is another person.
        {"challenger": "anna", "why": "Anna is on the block list, not Annabel", "count": 1},
        {"challenger": "deleted-1", "why": "deleted-1 is on the block list, not Annabel", "count": 1},
    ]


async def test_former_names_are_kept_until_the_account_is_deleted(played: Database) -> None:
    async with played.write() as session:
        await rename_account(session, "anna", "Zoe", "arena")
        await rename_account(session, "zoe", "Zoe", "arena")  # no other name
        await rename_account(session, "ben", "Carl", "arena")  # we have not met
        await opened(session, "later", opponent_id="zoe", opponent_name="Zoe")
        known = await get_opponent(session, "arena", "zoe")
        assert known is not None
        assert (known.name, known.former_names) == ("Zoe", ("Anna",))
        (event,) = await list_events(session, kind=OPPONENT_RENAMED)
        assert (event.site, event.game_id) == ("arena", known.opponent_id)
        await anonymise_account(session, "zoe", "arena")
        gone = await get_opponent(session, "arena", "deleted-1")
        assert gone is not None
        assert (gone.name, gone.former_names) == ("deleted-1", ())
        (event,) = await list_events(session, kind=OPPONENT_RENAMED)
        assert event.detail == {"name": "deleted-1", "new_name": "deleted-1"}
