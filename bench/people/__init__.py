"""How well, and how fast, models of people predict."""
