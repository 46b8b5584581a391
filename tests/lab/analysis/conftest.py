"""Fixtures: databases, and what an analysis is stored in."""

from tests.storage.conftest import backend, database, url

__all__ = ["backend", "database", "url"]  # used by name
