"""Public pages of the arena, without an account: games, players, and rankings."""
