"""One move of ours, read and judged for a page; a damaged record becomes a reason, not a failure."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from bot.charts.boards import BoardMark, MarkKind
from bot.parts.values import Board
from bot.text.bait_text import short_name
from bot.text.moment_text import MomentVerdict, judge_moment
from engine.errors import RecordError
from engine.expected import WHOLE, expected_score
from engine.games import GAMES, get_rules
from engine.human.reply_forecast import ReplyForecast
from engine.judgement import expected_scale_centi
from storage.errors import reason_of
from storage.evidence.trap_report import DecisionReport, ReplyReport, decision_report
from storage.ledger.decisions import get_decision
from storage.ledger.forecasts import get_forecast
from storage.ledger.games import load_game_by_id
from storage.records import StoredDecision, StoredGame

_MARKS = {
    "trap": MarkKind.BAIT,
    "fell": MarkKind.BAIT,
    "best": MarkKind.GOOD,
    "good": MarkKind.GOOD,
    "played": MarkKind.PLAYED,
}
_ORDER = (MarkKind.PLAYED, MarkKind.GOOD, MarkKind.BAIT)


@dataclass(frozen=True, slots=True)
class Moment:
    """A move of ours with its verdict."""

    game: str
    """Name of the game."""
    our_side: int
    unit: str
    """The unit of scores; empty: none."""
    opponent: str
    decision: DecisionReport
    verdict: MomentVerdict
    values: tuple[tuple[float, ...], ...]
    """For each reply its value to the opponent by depth, from 2 plies on, as expected score from 0 to 1."""

    @property
    def marks(self) -> tuple[BoardMark, ...]:
        """The replies that are marked on the board; later ones lie on top."""
        marks = [BoardMark(_MARKS[each.kind], each.squares) for each in self.verdict.marks]
        return tuple(sorted(marks, key=lambda mark: [*_ORDER].index(mark.kind)))

    @property
    def board(self) -> Board:
        """The board that the opponent faced, with bait, good reply and the played one."""
        return Board(
            self.game,
            self.decision.rows_after,
            f"After {self.decision.name}",
            self.our_side,
            self.decision.squares,
            self.marks,
        )

    @property
    def board_before(self) -> Board:
        """The board that we faced."""
        return Board(self.game, self.decision.rows_before, f"Before {self.decision.name}", self.our_side)

    @property
    def best(self) -> ReplyReport | None:
        """One of the best replies."""
        return min(self.decision.replies, key=lambda each: each.final_centi, default=None)


async def read_moment(session: AsyncSession, game_id: int, ply: int) -> Moment | str:
    """One move of ours; or a text with the reason if its record is damaged.

    Raises:
        StorageError: The database failed.
    """
    stored = await load_game_by_id(session, game_id)
    return "its game is gone" if stored is None else await read_moment_of(session, stored, ply)


async def read_moment_of(session: AsyncSession, stored: StoredGame, ply: int) -> Moment | str:
    """The same for a game that is already loaded."""
    if stored.game not in GAMES:
        return f"this program does not know the rules of {stored.game!a:.40}"
    try:
        decision = await get_decision(session, stored.id, ply)
        if decision is None:
            return "it is gone"
        forecast = await get_forecast(session, decision.id)
        # Naming all replies is slow and must not block the event loop.
        return await asyncio.to_thread(_moment, stored, decision, forecast)
    except RecordError as error:
        return reason_of(error)


def _moment(stored: StoredGame, made: StoredDecision, forecast: ReplyForecast | None) -> Moment:
    game = get_rules(stored.game)
    report = decision_report(game, stored, made, forecast)
    scale = expected_scale_centi(made.decision)
    return Moment(
        game=stored.game,
        our_side=stored.our_side,
        unit=game.score_unit,
        opponent=stored.opponent_name,
        decision=report,
        verdict=judge_moment(
            report, short_name(stored.opponent_name), stored.account or "the bot", game.score_unit
        ),
        values=tuple(_values(reply.scores_centi, scale) for reply in report.replies),
    )


def _values(scores_centi: Sequence[int], scale_centi: float) -> tuple[float, ...]:
    return tuple(1 - expected_score(score, scale_centi) / WHOLE for score in scores_centi)
