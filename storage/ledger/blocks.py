"""Accounts blocked by the operator, by site."""

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from storage.inserts import insert_new
from storage.tables.control import BlockRow
from storage.tables.types import now_utc


async def add_block(session: AsyncSession, site: str, name: str) -> bool:
    """Block an account; return False if it was already blocked.

    Args:
        site: The account's site.
        name: The account's name or id; upper and lower case are equivalent.
    """
    return await insert_new(session, BlockRow, site=site, name=name.lower(), at=now_utc()) is not None


async def remove_block(session: AsyncSession, site: str, name: str) -> bool:
    """Unblock an account; return False if it was not blocked."""
    wanted = delete(BlockRow).where(BlockRow.site == site, BlockRow.name == name.lower())
    return (await session.execute(wanted.returning(BlockRow.id))).first() is not None


async def list_blocks(session: AsyncSession, site: str) -> list[str]:
    """Return the blocked names and ids at a site, in alphabetical order."""
    names = select(BlockRow.name).where(BlockRow.site == site).order_by(BlockRow.name)
    return list(await session.scalars(names))


async def blocked_as(session: AsyncSession, site: str, *names: str) -> str | None:
    """Return the name or id under which an account is blocked at a site; None if it is not blocked.

    Args:
        site: The account's site.
        names: The account's names and ids; upper and lower case are equivalent.
    """
    known = {name.lower(): name for name in reversed(names)}
    found = set(
        await session.scalars(select(BlockRow.name).where(BlockRow.site == site, BlockRow.name.in_(known)))
    )
    return next((known[name.lower()] for name in names if name.lower() in found), None)
