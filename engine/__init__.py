"""The part that thinks: rules, searches, trap arithmetic, players. No network, no database, no globals."""

ENGINE_VERSION = "2"
"""Changes whenever a change could alter a score or a choice; stored with every decision."""
