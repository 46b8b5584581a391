"""Default constants of trials; a trial may set its own before its first game."""

ALPHA = 0.05
"""Maximum probability that an interval excludes the truth."""
CAP_GAMES = 50
"""Number of games that count per person, starting with the first."""
