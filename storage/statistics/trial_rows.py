"""The games of a trial, as `storage.inference.games` counts them."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.inference.games import TrialGame
from storage.records import GameStatus
from storage.statistics.facts import GameFact, ReplyFact
from storage.tables.games import GameRow
from storage.trials import StoredTrial


async def trial_games(
    session: AsyncSession,
    trial: StoredTrial,
    treated: str,
    control: str,
    games: Sequence[GameFact],
    replies: Sequence[ReplyFact],
) -> list[TrialGame]:
    """The games of a trial between two of its players.

    Args:
        trial: The trial.
        treated: The player whose effect is asked for (A = 1).
        control: The player that it is compared with; games of other arms are left out.
        games: Facts of all games, as `storage.statistics.facts.game_facts` gives them; aborted games are not
            among them.
        replies: Facts of their replies.
    """
    rows = await session.execute(select(GameRow.id, GameRow.selection).where(GameRow.trial_id == trial.id))
    drawn = {row.id: row.selection for row in rows}
    costs: dict[int, list[float]] = defaultdict(list)
    for reply in replies:
        if not reply.is_decided:
            costs[reply.game_id].append(reply.cost)
    found = []
    for game in games:
        selection = drawn.get(game.id)
        if selection is None or game.player not in (treated, control):
            continue
        chances = selection["chances"]
        spent = costs[game.id]
        found.append(
            TrialGame(
                game_id=game.id,
                person=game.person,
                drawn_at=game.started_at,
                settled_at=None if game.state is GameStatus.OPEN else game.ended_at or game.started_at,
                game=game.game,
                site=game.site,
                speed=game.speed,
                rating=game.opponent_rating,
                our_rating=game.our_rating,
                trappy=game.player == treated,
                chance=chances[treated] / (chances[treated] + chances[control]),
                score=game.score,
                cost=sum(spent) / len(spent) if spent else None,
                excluded="program" if game.is_bot else None,
            )
        )
    return found
