"""The engine: rules, searches, trap arithmetic, players.  No network, no database, no globals."""

ENGINE_VERSION = "0.2.0"
"""The program's version; stored with every decision."""

SEARCH_REVISION = "2"
"""Changes whenever a change could alter a score or a choice; those of others are not mixed in."""
