"""Databases, and what matches are made of."""

from tests.storage.conftest import backend, database, url

__all__ = ["backend", "database", "url"]  # used by name
