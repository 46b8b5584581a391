"""The strategies, one object each, with their requirements, choice of moves, and verification of records."""
