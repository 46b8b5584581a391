"""The arena's tables: the embedded server's accounts, ratings and puzzles."""
