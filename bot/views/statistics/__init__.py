"""Views of statistics: groups of games, calibrations, plans, and a trial's report."""
