"""What a game keeps in memory of what it stored."""
