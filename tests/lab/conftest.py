"""Fixtures: those of the bot."""

from tests.bot.conftest import database, database_file, desdemona, migrated_file, template

__all__ = ["database", "database_file", "desdemona", "migrated_file", "template"]  # used by name
