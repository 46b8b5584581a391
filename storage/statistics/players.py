"""Statistics per player: results, performance rating, and the paper's Figure 9."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, case, func, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from storage.filters import Filters, filter_conditions
from storage.intervals import OpponentGames, Performance, Share, performance, share
from storage.records import MATCH_SITE, GameResult, GameStatus
from storage.tables.games import GameRow, TallyRow


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerStatistics:
    """One player's games and their traps (Gordon & Reda 2006, Figure 9)."""

    player: str
    games: int
    """All except aborted ones: won, drawn, lost, unfinished, and finished without a known result."""
    wins: int
    draws: int
    losses: int
    unfinished: int
    """Still open."""
    performance: Performance
    traps_set: int
    """Moves with a trap of at least the threshold: answered + unanswered + pending.  The standard player's
    traps are accidental."""
    answered: int
    """optimal + fell + erred_elsewhere."""
    optimal: int
    fell: int
    fell_for_best: int
    """Part of `fell`: into the best trap itself."""
    erred_elsewhere: int
    unanswered: int
    """The game ended first."""
    pending: int
    """Not answered or not judged yet."""
    fell_share: Share
    """`fell` of `answered`."""
    base_answered: int
    """For the base rate that Figure 9 lacks: answered moves that set no trap but left a choice (two replies
    or more)."""
    base_optimal: int
    base_erred: int
    base_erred_share: Share
    """`base_erred` of `base_answered`."""
    trap_erred_share: Share
    """`fell` + `erred_elsewhere` of `answered`; compare it with `base_erred_share`."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


async def player_statistics(session: AsyncSession, filters: Filters | None = None) -> list[PlayerStatistics]:
    """One row for each player with games that match the filters, by name.

    Matches between programs count only if the filters name their site or one of them.
    """
    groups: dict[str, list[Row[*tuple[Any, ...]]]] = defaultdict(list)
    for row in await session.execute(_statement(filters or Filters())):
        groups[row.player].append(row)
    return [_statistics(player, groups[player]) for player in sorted(groups)]


def _statement(filters: Filters) -> Select[*tuple[Any, ...]]:
    """The one query: sums of games and tallies, grouped by the opponent's rating for the performance."""
    tallied = [column for column in TallyRow.__table__.columns if column.name != "game_id"]
    return (
        select(
            GameRow.player,
            GameRow.opponent_rating,
            _games(GameRow.result == GameResult.WIN).label("wins"),
            _games(GameRow.result == GameResult.DRAW).label("draws"),
            _games(GameRow.result == GameResult.LOSS).label("losses"),
            _games(GameRow.state == GameStatus.OPEN).label("unfinished"),
            _games(GameRow.state != GameStatus.ABORTED).label("games"),
            *(func.sum(column).label(column.name) for column in tallied),
        )
        .join(TallyRow, TallyRow.game_id == GameRow.id)
        .where(*filter_conditions(filters))
        .where(true() if filters.site or filters.match else GameRow.site != MATCH_SITE)
        .group_by(GameRow.player, GameRow.opponent_rating)
    )


def _games(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def _statistics(player: str, rows: Sequence[Row[*tuple[Any, ...]]]) -> PlayerStatistics:
    def total(column: str) -> int:
        return sum(getattr(row, column) for row in rows)

    met = [
        OpponentGames(row.opponent_rating, row.wins + row.draws + row.losses, row.wins + row.draws / 2)
        for row in rows
        if row.opponent_rating is not None and row.wins + row.draws + row.losses
    ]
    optimal, fell = total("traps_optimal"), total("traps_fell")
    erred, unanswered = total("traps_erred_elsewhere"), total("traps_unanswered")
    answered = optimal + fell + erred
    plain = total("plain_optimal") + total("plain_erred")
    return PlayerStatistics(
        player=player,
        games=total("games"),
        wins=total("wins"),
        draws=total("draws"),
        losses=total("losses"),
        unfinished=total("unfinished"),
        performance=performance(met),
        traps_set=total("traps_set"),
        answered=answered,
        optimal=optimal,
        fell=fell,
        fell_for_best=total("traps_fell_for_best"),
        erred_elsewhere=erred,
        unanswered=unanswered,
        pending=total("traps_set") - answered - unanswered,
        fell_share=share(fell, answered),
        base_answered=plain,
        base_optimal=total("plain_optimal"),
        base_erred=total("plain_erred"),
        base_erred_share=share(total("plain_erred"), plain),
        trap_erred_share=share(fell + erred, answered),
    )
