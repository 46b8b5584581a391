"""A person of whom something is known, in the database."""

from datetime import timedelta

from sqlalchemy import update

from engine.judge import JUDGE_VERSION, ReplyCost, ReplyCosts
from engine.person.site_state import SiteState
from engine.person.state import PersonState
from storage.database import Database
from storage.ledger.games import finish_game
from storage.ledger.judgements import store_judgements
from storage.ledger.persons import find_persons
from storage.records import DecisionState, GameResult
from storage.tables.games import DecisionRow
from storage.tables.persons import PersonStateRow
from tests.engine.person.samples import model as sample_model
from tests.storage.ledger.test_forecasts import MADE
from tests.storage.ledger.test_persons import DAY
from tests.storage.samples import FELL, OPTIMAL, opened, settled

MOVES = ("f5", "d6", "c3", "d3", "c4")
GAMES = 4
ERROR, GOOD = 1500, 0


async def learn(database: Database, *, replies: int = 120, person: str = "Anna") -> int:
    """Four games of Othello in which a person replied d6 to f5, an error, three times; their key.

    Args:
        database: Open.
        replies: The number of replies in the person's state.
        person: Who it is.
    """
    for number in range(GAMES):
        is_error = number != 1
        async with database.write() as session:
            game = await opened(session, f"game{number}", opponent_id=person.lower(), opponent_name=person)
            decision = await settled(session, game.id, 0, MADE, FELL if is_error else OPTIMAL)
            reply = "d6" if is_error else "f6"
            rows = update(DecisionRow).where(DecisionRow.game_id == game.id)
            await session.execute(rows.values(state=DecisionState.CONFIRMED))
            await finish_game(
                session,
                game.id,
                result=GameResult.WIN,
                end_reason="normal",
                moves=("f5", reply, *MOVES[2:]) if is_error else ("f5", "f6"),
                at=DAY + timedelta(hours=number),
            )
            cost = ReplyCost(reply, -100, ERROR if is_error else GOOD, 12, is_solved=False)
            best = ReplyCost("f6", -100, 0, 12, is_solved=False)
            costs = ReplyCosts(JUDGE_VERSION, best, (cost,))
            await store_judgements(session, game.id, {decision: (reply, costs)})
    async with database.write() as session:
        ((key, *_),) = await find_persons(session, "arena", person)
        state = PersonState(sample_model().version, games=GAMES, replies=replies)
        session.add(
            PersonStateRow(
                opponent_id=key,
                game="othello",
                version=state.version,
                games=GAMES,
                replies=replies,
                last_ended_at=DAY,
                last_game_id=1,
                evidence=SiteState(state.version).to_bytes(),
                state=state.to_bytes(),
            )
        )
    return key
