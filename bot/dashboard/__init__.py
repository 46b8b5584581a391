"""The operator's page: what the bot does, whether it works, and its controls."""
