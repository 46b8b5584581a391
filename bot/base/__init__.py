"""Foundations of the bot: settings, errors, server events, logging, reconnecting, site dialects."""
