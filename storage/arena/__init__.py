"""The embedded server: its accounts, ratings and puzzles."""
