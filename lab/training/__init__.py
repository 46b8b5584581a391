"""Programs that generate the engine's data; nothing here runs during a game."""
