"""Default constants of trials; a trial may set its own before its first game."""

ALPHA = 0.05
"""Maximum probability that an interval excludes the truth."""
CAP_GAMES = 50
"""How many of a person's games count: the first ones."""
