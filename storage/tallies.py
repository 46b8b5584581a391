"""Per-game counts of traps and outcomes, updated when they change so that queries need not count.

Joining a million decisions with their outcomes and games takes more than a second; adding up their games'
tallies takes hundredths.  A tally is always recounted from the game's decisions (some thirty), never
incremented, so it cannot drift; `rebuild` recounts all of them.
"""

from typing import cast

from sqlalchemy import BigInteger, ColumnElement, Table, and_, bindparam, case, func, not_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.decision import OutcomeKind
from engine.judgement import RULE
from storage.records import DecisionState
from storage.tables.games import DecisionRow, GameRow, OutcomeRow, TallyRow


async def refresh(session: AsyncSession, game_id: int) -> None:
    """Recount a game's standing decisions and their outcomes."""
    key = {"counted_game_id": game_id}
    # On PostgreSQL two transactions may change one game at once: the second counts after the first commits.
    await session.execute(_LOCK, key)
    counts = (await session.execute(_COUNTS, key)).one()
    await session.execute(_UPDATE, {**key, **counts._mapping})


async def rebuild(session: AsyncSession) -> None:
    """Recount every game, in case rows were changed by hand."""
    for game_id in list(await session.scalars(select(GameRow.id))):
        await refresh(session, game_id)


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


# Built once: they run twice for every move of every game, and building takes longer than running.

_GAME = bindparam("counted_game_id", type_=BigInteger)
# What earlier rules judged counts nowhere (`desdemona db recheck` judges it anew), nor do decided positions.
_COUNTS_HERE = and_(DecisionRow.rule == RULE, DecisionRow.is_decided.is_(False))
_TRAP = and_(_COUNTS_HERE, DecisionRow.is_trap.is_(True))
_PLAIN = and_(_COUNTS_HERE, DecisionRow.is_trap.is_(False), DecisionRow.reply_count >= 2)
_KIND = OutcomeRow.kind
_COUNTED = {
    "traps_set": _TRAP,
    "traps_optimal": and_(_TRAP, _KIND == OutcomeKind.OPTIMAL),
    "traps_fell": and_(_TRAP, _KIND == OutcomeKind.FELL),
    "traps_fell_for_best": and_(_TRAP, _KIND == OutcomeKind.FELL, OutcomeRow.fell_for_best),
    "traps_erred_elsewhere": and_(_TRAP, _KIND == OutcomeKind.ERRED_ELSEWHERE),
    "traps_unanswered": and_(_TRAP, _KIND == OutcomeKind.UNANSWERED),
    "plain_optimal": and_(_PLAIN, _KIND == OutcomeKind.OPTIMAL),
    "plain_erred": and_(_PLAIN, _KIND.in_((OutcomeKind.FELL, OutcomeKind.ERRED_ELSEWHERE))),
}
_TALLIES = cast(Table, TallyRow.__table__)
_LOCK = select(_TALLIES.c.game_id).where(_TALLIES.c.game_id == _GAME).with_for_update()
_COUNTS = (
    select(*(_count(condition).label(name) for name, condition in _COUNTED.items()))
    .select_from(DecisionRow)
    .outerjoin(OutcomeRow, and_(OutcomeRow.decision_id == DecisionRow.id, OutcomeRow.rule == RULE))
    .where(
        DecisionRow.game_id == _GAME,
        DecisionRow.takeback == 0,
        not_(DecisionRow.state == DecisionState.DROPPED),
    )
)
_UPDATE = (
    update(_TALLIES)
    .where(_TALLIES.c.game_id == _GAME)
    .values({_TALLIES.c[name]: bindparam(name) for name in _COUNTED})
)
