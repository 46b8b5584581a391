"""The operator's dashboard: what the bot does now, whether it works, and its controls."""
