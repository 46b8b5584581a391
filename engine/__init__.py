"""The engine: rules, searches, trap arithmetic, players.  No network, no database, no globals."""

ENGINE_VERSION = "0.2.0"
"""The program's version; stored with every decision."""

SEARCH_REVISION = "2"
"""Changes whenever a change could alter a score or a choice; those of others are not mixed in."""


def is_same_search(engine_version: str) -> bool:
    """Whether a record's engine version finds the scores that this one finds.

    Releases before 0.2.0 recorded the search revision as their engine version.
    """
    return engine_version in (ENGINE_VERSION, SEARCH_REVISION)
