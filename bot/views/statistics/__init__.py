"""Views of statistics: groups of games, calibrations, plans, and the report of a trial."""
