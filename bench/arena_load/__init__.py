"""The arena under attacks, many spectators, and random requests."""
