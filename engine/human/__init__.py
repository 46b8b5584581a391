"""What a person would play: p(move | position, history, rating, clock)."""
