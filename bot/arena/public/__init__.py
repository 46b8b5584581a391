"""The arena's public pages, which need no account: games, players, and rankings."""
