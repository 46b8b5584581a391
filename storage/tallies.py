"""A game's traps and outcomes, counted once when they change instead of at every question.

Joining a million decisions with their outcomes and games takes more than a second; adding up their games'
tallies takes hundredths.  A tally is always counted anew from the game's own decisions (some thirty), never
moved on by one, so it can't drift; `rebuild` counts them all anew.
"""

from sqlalchemy import ColumnElement, Select, and_, case, func, not_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import OutcomeKind
from storage.models import DecisionRow, GameRow, OutcomeRow, TallyRow
from storage.records import DecisionState


async def refresh(session: AsyncSession, game_id: int) -> None:
    """Count a game's standing decisions and their outcomes anew."""
    # On PostgreSQL two transactions may change one game at once: the second counts after the first's commit.
    await session.execute(select(TallyRow.game_id).where(TallyRow.game_id == game_id).with_for_update())
    counts = (await session.execute(_count_statement(game_id))).one()
    await session.execute(update(TallyRow).where(TallyRow.game_id == game_id).values(**counts._mapping))


async def rebuild(session: AsyncSession) -> None:
    """Count every game anew, for the case that rows were changed by hand."""
    for game_id in list(await session.scalars(select(GameRow.id))):
        await refresh(session, game_id)


def _count_statement(game_id: int) -> Select[*tuple[int, ...]]:
    trap = DecisionRow.is_trap.is_(True)
    plain = and_(DecisionRow.is_trap.is_(False), DecisionRow.reply_count >= 2)
    kind = OutcomeRow.kind
    erred = kind.in_((OutcomeKind.FELL, OutcomeKind.ERRED_ELSEWHERE))
    return (
        select(
            _count(trap).label("traps_set"),
            _count(and_(trap, kind == OutcomeKind.OPTIMAL)).label("traps_optimal"),
            _count(and_(trap, kind == OutcomeKind.FELL)).label("traps_fell"),
            _count(and_(trap, kind == OutcomeKind.FELL, OutcomeRow.fell_for_best)).label(
                "traps_fell_for_best"
            ),
            _count(and_(trap, kind == OutcomeKind.ERRED_ELSEWHERE)).label("traps_erred_elsewhere"),
            _count(and_(trap, kind == OutcomeKind.UNANSWERED)).label("traps_unanswered"),
            _count(and_(plain, kind == OutcomeKind.OPTIMAL)).label("plain_optimal"),
            _count(and_(plain, erred)).label("plain_erred"),
        )
        .select_from(DecisionRow)
        .outerjoin(OutcomeRow, OutcomeRow.decision_id == DecisionRow.id)
        .where(
            DecisionRow.game_id == game_id,
            DecisionRow.takeback == 0,
            not_(DecisionRow.state == DecisionState.DROPPED),
        )
    )


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)
