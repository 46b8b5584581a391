"""The engine: rules, searches, trap arithmetic, players.  No network, no database, no globals."""

VERSION = "0.3.0"
"""The program's version."""

SEARCH_REVISION = "5"
"""Increased by every change that could alter a score or a choice; scores of two revisions are never mixed."""

ENGINE_VERSION = f"{VERSION}+{SEARCH_REVISION}"
"""Stored with every decision."""


def is_same_search(engine_version: str) -> bool:
    """Whether a record's engine version finds the same scores as this one.

    Releases before 0.2.0 recorded the search revision alone.
    """
    return engine_version.rpartition("+")[2] == SEARCH_REVISION
