"""Numbers that are fixed before the first game, the same everywhere unless a trial says otherwise."""

ALPHA = 0.05
"""Greatest chance that an interval excludes the truth."""
CAP_GAMES = 50
"""So many of a person's first games count."""
RATING_BAND = 200
"""Width of a rating band, in rating points."""
