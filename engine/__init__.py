"""The engine: rules, searches, trap arithmetic, players.  It uses no network, database or global state."""

VERSION = "0.3.0"
"""The program's version."""

SEARCH_REVISION = "5"
"""Increased by every change that could alter a score or a choice; scores of two revisions are never mixed."""

ENGINE_VERSION = f"{VERSION}+{SEARCH_REVISION}"
"""Stored with every decision."""


def is_same_search(engine_version: str) -> bool:
    """Whether this version finds the same scores as the engine version in a record.

    Releases before 0.2.0 recorded only the search revision.
    """
    return engine_version.rpartition("+")[2] == SEARCH_REVISION
