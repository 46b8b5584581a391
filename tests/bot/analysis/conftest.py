"""Fixtures: databases, and what an analysis is stored in."""

from tests.storage.conftest import (
    backend,
    database,
    postgres,
    postgres_template,
    sqlite_template,
    url,
)

__all__ = ["backend", "database", "postgres", "postgres_template", "sqlite_template", "url"]  # used by name
