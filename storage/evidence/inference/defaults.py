"""Default constants of trials, fixed before the first game unless a trial sets its own."""

ALPHA = 0.05
"""Maximum probability that an interval excludes the truth."""
CAP_GAMES = 50
"""Number of a person's first games that count."""
