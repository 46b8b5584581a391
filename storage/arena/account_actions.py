"""Changes that the arena's owner makes to accounts. The caller owns the transaction.

An account's name is its primary key. A rename therefore inserts a new row, moves the old row's games, ratings
and chat to it, and updates our own accounts' records of the player.
"""

import re
from typing import Any

from sqlalchemy import String, cast, delete, func, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from storage.arena.accounts import AccountTaken, ArenaAccess
from storage.ledger.events import OPPONENT_RENAMED, record_event
from storage.ledger.persons import erase_all_records, forget_person
from storage.records import AccountKey
from storage.tables.arena import ArenaAccount, ArenaChatLine, ArenaGame, ArenaRating
from storage.tables.control import BlockRow
from storage.tables.games import EventRow, GameRow, OpponentRow
from storage.tables.puzzles import PuzzleReview, PuzzleSolver

DELETED = "deleted-"
"""Prefix of the names of deleted accounts."""


async def set_access(session: AsyncSession, account_id: str, access: ArenaAccess) -> None:
    """Set an account's rights."""
    await session.execute(update(ArenaAccount).where(ArenaAccount.id == account_id).values(access=access))


async def rename_account(session: AsyncSession, account_id: str, name: str, site: str) -> None:
    """Rename an account, which keeps its games, ratings, chat and token.

    Args:
        account_id: The account, which must exist.
        name: The new name.
        site: The name of the arena's site in our own accounts' records.

    Raises:
        AccountTaken: Another account, or another player in our records, has that name.
    """
    if name.lower() != account_id:
        for taken in (
            select(ArenaAccount.id).where(ArenaAccount.id == name.lower()),
            select(OpponentRow.id).where(OpponentRow.site == site, OpponentRow.site_id == name.lower()),
        ):
            if await session.scalar(taken) is not None:
                raise AccountTaken(f"the name {name} is taken")
    known = select(OpponentRow.id, OpponentRow.name).where(
        OpponentRow.site == site, OpponentRow.site_id == account_id
    )
    former = (await session.execute(known)).first()
    await _move(session, account_id, name, site)
    if former is not None and former.name != name:
        latest = select(func.max(GameRow.id)).where(GameRow.opponent_id == former.id)
        if (game_id := await session.scalar(latest)) is not None:
            detail = {"name": former.name, "new_name": name}
            await record_event(session, AccountKey(site), OPPONENT_RENAMED, detail, game_id)
    blocked = (BlockRow.site == site, BlockRow.name.in_([account_id, name.lower()]))
    if await session.scalar(select(BlockRow.id).where(BlockRow.name == account_id, *blocked)) is not None:
        await session.execute(delete(BlockRow).where(BlockRow.name != account_id, *blocked))
        await session.execute(update(BlockRow).where(*blocked).values(name=name.lower()))


async def anonymise_account(session: AsyncSession, account_id: str, site: str) -> str:
    """Remove an account's personal data and keep its games.

    The account's name becomes ``deleted-N``, also in our own accounts' records and in other people's messages
    in the chat of its games. Deletes the account's token, ratings, chat, puzzle progress, and what was
    learned of the person.

    Args:
        account_id: The account, which must exist.
        site: See `rename_account`.

    Returns:
        The new name.
    """
    known = await session.scalar(
        select(func.count()).select_from(ArenaAccount).where(ArenaAccount.access == ArenaAccess.DELETED)
    )
    number = (known or 0) + 1
    while await session.scalar(select(ArenaAccount.id).where(ArenaAccount.id == f"{DELETED}{number}")):
        number += 1
    name = f"{DELETED}{number}"
    old = await session.scalar(select(ArenaAccount.name).where(ArenaAccount.id == account_id))
    await session.execute(delete(ArenaChatLine).where(ArenaChatLine.account_id == account_id))
    await session.execute(delete(ArenaRating).where(ArenaRating.account_id == account_id))
    for table in (PuzzleSolver, PuzzleReview):
        await session.execute(delete(table).where(table.account_id == account_id))
    await session.execute(delete(BlockRow).where(BlockRow.site == site, BlockRow.name == account_id))
    of_account = OpponentRow.site == site, OpponentRow.site_id == account_id
    opponent_id = await session.scalar(select(OpponentRow.id).where(*of_account))
    if opponent_id is not None:
        await forget_person(session, opponent_id)
        await erase_all_records(session, opponent_id)
    await _move(session, account_id, name, site)
    gone = {"access": ArenaAccess.DELETED, "token_hash": name}  # no token has such a hash
    await session.execute(update(ArenaAccount).where(ArenaAccount.id == name).values(gone))
    names = await _forget_in_events(session, str(old), name, site)
    await _forget_in_chat(session, names, name)
    return name


async def _move(session: AsyncSession, old_id: str, name: str, site: str) -> None:
    new_id = name.lower()
    ours = update(OpponentRow).where(OpponentRow.site == site, OpponentRow.site_id == old_id)
    await session.execute(ours.values(site_id=new_id, name=name))
    if new_id == old_id:
        await session.execute(update(ArenaAccount).where(ArenaAccount.id == old_id).values(name=name))
        return
    columns = select(*ArenaAccount.__table__.columns).where(ArenaAccount.id == old_id)
    row = (await session.execute(columns)).one()
    # A token's hash is unique: the new row gets it when the old one is gone.
    values = {**row._mapping, "id": new_id, "name": name, "token_hash": f"moved {new_id}"}
    await session.execute(insert(ArenaAccount).values(values))
    for column in (
        ArenaRating.account_id,
        ArenaGame.first_id,
        ArenaGame.second_id,
        ArenaChatLine.account_id,
        PuzzleSolver.account_id,
        PuzzleReview.account_id,
    ):
        moved = update(column.class_).where(column == old_id)
        await session.execute(moved.values({column.key: new_id}).execution_options(synchronize_session=False))
    await session.execute(delete(ArenaAccount).where(ArenaAccount.id == old_id))
    await session.execute(
        update(ArenaAccount).where(ArenaAccount.id == new_id).values(token_hash=row.token_hash)
    )


async def _forget_in_chat(session: AsyncSession, names: list[str], new: str) -> None:
    """Replace an account's former names in the chat of its games; most mentions are by our bots."""
    ours = select(ArenaGame.id).where(or_(ArenaGame.first_id == new, ArenaGame.second_id == new))
    lines = select(ArenaChatLine.id, ArenaChatLine.text).where(ArenaChatLine.game_id.in_(ours))
    words = [_word(name) for name in names]
    for row in (await session.execute(lines)).all():
        text = row.text
        for word in words:
            text = word.sub(new, text)
        if text != row.text:
            await session.execute(update(ArenaChatLine).where(ArenaChatLine.id == row.id).values(text=text))


async def _forget_in_events(session: AsyncSession, old: str, new: str, site: str) -> list[str]:
    """Replace an account's current and former names in the texts of arena events and program events.

    Returns:
        The current name and the former names that the events mention.
    """
    text = func.lower(cast(EventRow.detail, String))
    names = [old]
    for name in names:  # it grows
        candidates = select(EventRow.id, EventRow.detail).where(
            or_(EventRow.site == site, EventRow.site == ""), text.contains(name.lower(), autoescape=True)
        )
        word = _word(name)
        for row in (await session.execute(candidates)).all():
            former = row.detail.get("name")
            is_rename = str(row.detail.get("new_name")).lower() == name.lower()
            if (
                is_rename
                and isinstance(former, str)
                and former not in names
                and not former.startswith(DELETED)
            ):
                names.append(former)
            detail = {key: _without(value, word, new) for key, value in row.detail.items()}
            if detail != row.detail:
                await session.execute(update(EventRow).where(EventRow.id == row.id).values(detail=detail))
    return names


def _word(name: str) -> re.Pattern[str]:
    """A pattern that matches the name, but not as part of a longer name."""
    return re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])", re.IGNORECASE)


def _without(value: Any, word: re.Pattern[str], new: str) -> Any:
    return word.sub(new, value) if isinstance(value, str) else value
