"""Imported games, their analyses, and results of experiments, for the lab."""
