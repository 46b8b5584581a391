"""Default constants of trials; a trial may set its own before its first game."""

ALPHA = 0.05
"""Maximum probability that an interval excludes the true value."""
CAP_GAMES = 50
"""At most this many games of each person count, beginning with the first."""
