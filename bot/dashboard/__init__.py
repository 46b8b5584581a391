"""The operator's dashboard: what the bot does now, and what its games say."""
