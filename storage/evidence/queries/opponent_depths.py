"""How deep an opponent searches, by game, from the latest decisions of our games with it."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import Decision
from engine.errors import RecordError
from engine.game import BadPosition
from engine.games import ENGINE_GAMES
from engine.opponents.search_depth import DepthEstimate, SeenReply, depth_estimate
from storage.evidence.reading import played_game_conditions
from storage.filters import Filters, of_games, phase_conditions, standing_conditions
from storage.tables.games import DecisionRow, GameRow, OutcomeRow

MAX_READ_REPLIES = 200
"""Number of replies that are read, over all games; the latest say most, and each costs a millisecond."""


@dataclass(frozen=True, slots=True)
class GameDepth:
    """How deep an opponent searches in one game (such as chess)."""

    game: str
    estimate: DepthEstimate

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values; without enough evidence, the depth is None."""
        found = self.estimate
        shown = found.is_shown
        return {
            "game": self.game,
            "replies": found.replies,
            "depth": found.depth if shown else None,
            "is_or_more": shown and found.is_limit,
            "probability": round(found.probability, 4) if shown else None,
            "agreement": round(found.agreement, 4) if shown else None,
            "errors": found.errors,
            "errors_at_depth": found.seen_errors if shown else None,
            "errors_beyond_depth": found.unseen_errors if shown else None,
        }


async def opponent_depths(session: AsyncSession, filters: Filters) -> tuple[GameDepth, ...]:
    """The depths of the latest replies that pass the filters, the game with the most replies first.

    Forced replies and those to moves without exact scores say nothing and are left out, like damaged records.
    """
    rows = await session.execute(
        select(GameRow.game, DecisionRow.record, OutcomeRow.reply)
        .select_from(GameRow)
        .join(DecisionRow, DecisionRow.game_id == GameRow.id)
        .join(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .where(
            *played_game_conditions(of_games(filters)),
            *standing_conditions(),
            *phase_conditions(filters),
            DecisionRow.is_complete,
            OutcomeRow.reply.is_not(None),
            GameRow.game.not_in(ENGINE_GAMES),
        )
        .order_by(DecisionRow.id.desc())
        .limit(MAX_READ_REPLIES)
    )
    by_game: dict[str, list[SeenReply]] = {}
    for row in rows:
        try:
            seen = SeenReply.of(Decision.from_record(row.record), row.reply)
        except (RecordError, BadPosition):
            continue
        if seen is not None:
            by_game.setdefault(row.game, []).append(seen)
    found = ((game, depth_estimate(replies)) for game, replies in by_game.items())
    depths = [GameDepth(game, estimate) for game, estimate in found if estimate is not None]
    return tuple(sorted(depths, key=lambda each: (-each.estimate.replies, each.game)))
