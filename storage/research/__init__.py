"""Analysed games of others, archives and results of experiments, for the lab."""
