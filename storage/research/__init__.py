"""Data of the lab: imported games, their analyses, and results of experiments."""
