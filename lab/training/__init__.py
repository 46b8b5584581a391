"""Programs that make the engine's data. Nothing here runs during a game."""
