"""In-memory copies of a game's stored data."""
