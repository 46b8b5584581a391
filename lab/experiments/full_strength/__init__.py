"""Games of the players at full strength."""
