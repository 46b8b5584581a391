"""The trainer: puzzles from games in which people took a bait."""
