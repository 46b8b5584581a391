"""Lab data: imported games, their analyses, and results of experiments."""
