"""Programs that make the data the engine thinks with.  Nothing here runs in a game."""
