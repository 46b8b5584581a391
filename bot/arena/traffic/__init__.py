"""What keeps the arena quick and open while strangers ask too much of it."""
