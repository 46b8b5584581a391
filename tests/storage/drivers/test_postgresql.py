"""Connections to PostgreSQL that died in the pool."""

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from storage.database import create_engine, parse_url
from storage.drivers.postgresql import CHECK_QUERY, MAX_UNCHECKED_IDLE_S
from tests.storage.postgres import postgres_url

BACKEND = text("SELECT pg_backend_pid()")


@pytest.fixture
async def engine(postgres: str) -> AsyncIterator[AsyncEngine]:
    made = create_engine(parse_url(postgres_url(postgres, "postgres")))
    yield made
    await made.dispose()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    told = SimpleNamespace(now=100.0, asked=0)
    monkeypatch.setattr("storage.drivers.postgresql.time", SimpleNamespace(monotonic=lambda: told.now))
    real = asyncpg.Connection.execute

    async def counted(self: Any, query: str, *arguments: Any, **more: Any) -> Any:
        told.asked += query == CHECK_QUERY
        return await real(self, query, *arguments, **more)

    monkeypatch.setattr(asyncpg.Connection, "execute", counted)
    return told


async def backend(engine: AsyncEngine) -> int:
    async with engine.connect() as connection:
        found: int = (await connection.execute(BACKEND)).scalar_one()
        return found


async def end(postgres: str, number: int) -> None:
    connection = await asyncpg.connect(host=postgres, user="postgres", database="postgres")
    await connection.fetchval("SELECT pg_terminate_backend($1, 60000)", number)
    await connection.close()


async def test_only_an_idle_connection_is_asked(engine: AsyncEngine, clock: SimpleNamespace) -> None:
    first = await backend(engine)
    clock.now += MAX_UNCHECKED_IDLE_S - 0.01
    assert (await backend(engine), clock.asked) == (first, 0)
    clock.now += MAX_UNCHECKED_IDLE_S
    assert (await backend(engine), clock.asked) == (first, 1)
    assert (await backend(engine), clock.asked) == (first, 1)


@pytest.mark.parametrize("idle_s", [0.0, MAX_UNCHECKED_IDLE_S])
async def test_a_connection_that_the_server_closed_is_replaced(
    engine: AsyncEngine, clock: SimpleNamespace, postgres: str, idle_s: float
) -> None:
    first = await backend(engine)
    await end(postgres, first)
    clock.now += idle_s
    assert await backend(engine) != first
    assert clock.asked == 0  # that was known without asking


async def test_a_connection_that_does_not_answer_is_replaced(
    engine: AsyncEngine, clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await backend(engine)
    clock.now += MAX_UNCHECKED_IDLE_S

    real: Any = asyncpg.Connection.execute

    async def execute(self: Any, query: str, *arguments: Any, **more: Any) -> Any:
        if query == CHECK_QUERY:
            raise ConnectionResetError
        return await real(self, query, *arguments, **more)

    monkeypatch.setattr(asyncpg.Connection, "execute", execute)
    assert await backend(engine) != first
