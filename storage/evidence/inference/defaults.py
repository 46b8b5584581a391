"""Default constants of trials; a trial may set its own before its first game."""

ALPHA = 0.05
"""Maximum probability that an interval excludes the true value."""
CAP_GAMES = 50
"""Number of games that count per person, beginning with the person's first game."""
