"""Statements that are compiled once for all databases of the tests.

SQLAlchemy keeps compiled statements with the engine that ran them, and nearly every test opens an engine of
its own: to compile the same statements for each of them took a fifth of the tests' time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from sqlalchemy.ext.asyncio import AsyncEngine

from storage import database

_create_engine = database._create_engine
_first: dict[str, AsyncEngine] = {}
"""The first engine by its driver."""


def _made_alike(*arguments: Any, **more: Any) -> AsyncEngine:
    made = _create_engine(*arguments, **more)
    engine = made.sync_engine
    first = _first.setdefault(made.driver, made).sync_engine
    # A statement is compiled for a dialect: the very object.
    engine.dialect = engine.pool._dialect = first.dialect
    engine._compiled_cache = first._compiled_cache
    return made


@contextmanager
def shared_statements() -> Iterator[None]:
    """Engines that are made in the block share their compiled statements."""
    with patch.object(database, "_create_engine", _made_alike):
        yield
