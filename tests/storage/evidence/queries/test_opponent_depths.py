"""The depth of an opponent's search from the ledger."""

from sqlalchemy import update

from storage.database import Database
from storage.evidence.queries.opponent_depths import opponent_depths
from storage.filters import Filters, GamePhase
from storage.ledger.decisions import mark_taken_back
from storage.tables.games import DecisionRow
from tests.storage.samples import FELL, OPTIMAL, UNANSWERED, decision, opened, settled

ANNA = Filters(site="arena", opponent_id="anna")
BAIT = decision(quality=744)


async def test_replies_are_read_by_game(database: Database) -> None:
    async with database.write() as session:
        for number in range(3):
            game = await opened(session, f"g{number}")
            for ply in range(0, 16, 2):
                await settled(session, game.id, ply, BAIT, FELL)
            await settled(session, game.id, 16, BAIT, UNANSWERED)
        other = await opened(session, "other", opponent_id="ben", opponent_name="Ben")
        await settled(session, other.id, 0, BAIT, OPTIMAL)
    async with database.read() as session:
        (found,) = await opponent_depths(session, ANNA)
        (of_phase,) = await opponent_depths(session, Filters(opponent_id="anna", phase=GamePhase(0)))
        assert await opponent_depths(session, Filters(opponent_id="nobody")) == ()
    assert found.game == "othello"
    assert found.estimate.replies == 24
    assert of_phase.estimate.replies == 24
    # The bait looks best by one ply and by two; three show what it costs.
    assert found.estimate.probabilities[2] < 0.01
    assert found.estimate.agreement == 1


async def test_what_does_not_count(database: Database) -> None:
    async with database.write() as session:
        game = await opened(session)
        for ply in (0, 2, 4):
            await settled(session, game.id, ply, BAIT, FELL)
        await settled(session, game.id, 6, decision(replies=1), OPTIMAL)
        await mark_taken_back(session, game.id, 4)
        await session.execute(update(DecisionRow).where(DecisionRow.ply == 2).values(record={"move": "f5"}))
    async with database.read() as session:
        (found,) = await opponent_depths(session, ANNA)
    assert found.estimate.replies == 1
    assert found.to_json()["depth"] is None  # too few
