"""States of sites: what is known of the people of each site, together (`engine.person.site`).

The state of a site is the sum of what its persons' games tell (`PersonStateRow.evidence`). Each transaction
that changes or removes a person's state changes the site's sum with it. So a game counts once, however often
its person's state is built again, a person who is forgotten leaves nothing, and no interruption comes between
the two. A sum that is missing, damaged, or of another version is computed again from the persons.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, exists, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from engine.errors import RecordError
from engine.person.site_state import SiteState
from storage.inserts import insert_new
from storage.tables.games import GameRow, OpponentRow
from storage.tables.persons import PersonStateRow, SiteStateRow

logger = logging.getLogger(__name__)

_BATCH = 200


@dataclass(frozen=True, slots=True)
class SiteKey:
    """The people of a site in one game."""

    site: str
    game: str


@dataclass(frozen=True, slots=True)
class SiteOfPerson:
    """The state of a person's site, as stored."""

    state: bytes
    own: bytes | None
    """The person's evidence in it; None for none."""

    def others(self) -> SiteState | None:
        """What is known of the site's other people; None if the data are damaged."""
        try:
            state = SiteState.from_bytes(self.state)
            return state if self.own is None else state.minus(SiteState.from_bytes(self.own))
        except RecordError as error:
            logger.warning("%s", error)
            return None


async def add_evidence(
    session: AsyncSession, site: SiteKey, version: str, before: bytes | None, after: bytes
) -> None:
    """Let a site's state follow a person's state, which the transaction has just stored.

    Args:
        session: The transaction.
        site: The person's site and the game.
        version: Of the person's state.
        before: The person's evidence so far, of the same version; None for none.
        after: The person's evidence now.
    """
    packed = await _locked(session, site, version)
    try:
        if packed is None:
            raise RecordError("the state of a site is of another version")
        state = SiteState.from_bytes(packed)
        if before is not None:
            state = state.minus(SiteState.from_bytes(before))
        state = state.plus(SiteState.from_bytes(after))
    except RecordError:
        state = await _sum(session, site, version)
    await _store(session, site, state)


async def remove_evidence(session: AsyncSession, site: SiteKey, version: str, evidence: bytes) -> None:
    """Take a person's evidence out of a site's state; the transaction has just removed the person's state.

    Args:
        session: The transaction.
        site: The person's site and the game.
        version: Of the person's state.
        evidence: The person's evidence.
    """
    packed = await _locked(session, site, version)
    if packed is None:
        return  # the evidence is not in it
    try:
        state = SiteState.from_bytes(packed).minus(SiteState.from_bytes(evidence))
    except RecordError:
        state = await _sum(session, site, version)
    await _store(session, site, state)


async def remove_outdated_sites(session: AsyncSession, versions: Mapping[str, str]) -> None:
    """Remove the states of other versions.

    Args:
        session: The transaction.
        versions: The present version of each game's states; states of other games stay.
    """
    outdated = [
        and_(SiteStateRow.game == game, SiteStateRow.version != version) for game, version in versions.items()
    ]
    await session.execute(delete(SiteStateRow).where(or_(False, *outdated)))


async def sites_to_sum(session: AsyncSession, versions: Mapping[str, str]) -> list[SiteKey]:
    """The sites without a state of the present version whose persons have one, in the order of their keys."""
    known = exists().where(
        SiteStateRow.site == OpponentRow.site,
        SiteStateRow.game == PersonStateRow.game,
        SiteStateRow.version == PersonStateRow.version,
    )
    present = [
        and_(PersonStateRow.game == game, PersonStateRow.version == version)
        for game, version in versions.items()
    ]
    rows = await session.execute(
        select(OpponentRow.site, PersonStateRow.game)
        .join(PersonStateRow, PersonStateRow.opponent_id == OpponentRow.id)
        .where(or_(False, *present), ~known)
        .distinct()
        .order_by(OpponentRow.site, PersonStateRow.game)
    )
    return [SiteKey(*row) for row in rows]


async def sum_site(session: AsyncSession, site: SiteKey, version: str) -> None:
    """Compute a site's state again from its persons."""
    await _locked(session, site, version)
    await _store(session, site, await _sum(session, site, version))


async def list_sites(session: AsyncSession) -> dict[SiteKey, SiteState]:
    """All states of sites that can be read, in the order of their keys."""
    rows = await session.scalars(select(SiteStateRow).order_by(SiteStateRow.site, SiteStateRow.game))
    found = {SiteKey(row.site, row.game): _read(row.state) for row in rows}
    return {key: state for key, state in found.items() if state is not None}


async def site_of_game(session: AsyncSession, game_id: int) -> SiteOfPerson | None:
    """What is stored of the people of a game's site; None for nothing."""
    columns = select(GameRow.opponent_id, GameRow.game).where(GameRow.id == game_id)
    return await site_of_person(session, *(await session.execute(columns)).one())


async def site_of_person(session: AsyncSession, opponent_id: int, game: str) -> SiteOfPerson | None:
    """What is stored of the people of a person's site in a game; None for nothing."""
    row = (
        await session.execute(
            select(SiteStateRow.version, SiteStateRow.state, PersonStateRow.version, PersonStateRow.evidence)
            .select_from(OpponentRow)
            .join(SiteStateRow, and_(SiteStateRow.site == OpponentRow.site, SiteStateRow.game == game))
            .outerjoin(
                PersonStateRow,
                and_(PersonStateRow.opponent_id == OpponentRow.id, PersonStateRow.game == game),
            )
            .where(OpponentRow.id == opponent_id)
        )
    ).one_or_none()
    if row is None:
        return None
    version, state, version_of_own, own = row
    return SiteOfPerson(state, own if version_of_own == version else None)


# --- Helpers --------------------------------------------------------------------------------------------


async def _locked(session: AsyncSession, site: SiteKey, version: str) -> bytes | None:
    """Lock a site's state, the last lock of a transaction; None if it is of another version."""
    empty = SiteState("").to_bytes()
    await insert_new(session, SiteStateRow, site=site.site, game=site.game, version="", games=0, state=empty)
    locked = select(SiteStateRow).where(*_of(site)).with_for_update()
    row = (await session.scalars(locked.execution_options(populate_existing=True))).one()
    return row.state if row.version == version else None


def _read(packed: bytes) -> SiteState | None:
    try:
        return SiteState.from_bytes(packed)
    except RecordError as error:
        logger.warning("%s", error)
        return None


async def _sum(session: AsyncSession, site: SiteKey, version: str) -> SiteState:
    """What all persons of the site tell together; evidence that cannot be read is left out."""
    state, last = SiteState(version), 0
    persons = (
        select(PersonStateRow.opponent_id, PersonStateRow.evidence)
        .join(OpponentRow, OpponentRow.id == PersonStateRow.opponent_id)
        .where(
            OpponentRow.site == site.site,
            PersonStateRow.game == site.game,
            PersonStateRow.version == version,
        )
        .order_by(PersonStateRow.opponent_id)
        .limit(_BATCH)
    )
    while rows := (await session.execute(persons.where(PersonStateRow.opponent_id > last))).all():
        for _, packed in rows:
            evidence = _read(packed)
            if evidence is not None and evidence.version == version:
                state = state.plus(evidence)
        last = rows[-1][0]
    return state


async def _store(session: AsyncSession, site: SiteKey, state: SiteState) -> None:
    values = {"version": state.version, "games": state.games, "state": state.to_bytes()}
    await session.execute(
        update(SiteStateRow).where(*_of(site)).values(values).execution_options(synchronize_session=False)
    )


def _of(site: SiteKey) -> tuple[ColumnElement[bool], ...]:
    return SiteStateRow.site == site.site, SiteStateRow.game == site.game
