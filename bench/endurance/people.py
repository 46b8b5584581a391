"""Simulated people with short games: most resign early; some leave, time out, or send invalid requests."""

import random

from bot.base.dialects import DIALECTS
from bot.base.events import Clock
from tests.system.person import Habits, Wish

# Kinds of games, and their weights; those that the bot does not support are left out.
VARIANTS = {"othello": 4, "standard": 3, "connect4": 3, "xiangqi": 2, "chess960": 1}
CLOCKS = (Clock(60, 0), Clock(60, 1), Clock(180, 2))
FLAGGING = Clock(0, 1)
"""Clock for players who lose on time: it starts at only three seconds."""
RESIGN_AT = (2, 9)
"""Most people resign after a number of moves in this range."""
ENDS = {
    "resigns": 0.78,
    "aborts": 0.04,
    "flags": 0.04,
    "leaves": 0.04,
    "blinks": 0.07,
    "plays on": 0.03,
}
"""The probability of each way in which a person ends a game."""
RUDE, RATED = 0.05, 0.5


def draw_wish(rng: random.Random) -> Wish:
    """Choose at random the game that a person requests, and how it will end."""
    known = {key: weight for key, weight in VARIANTS.items() if key in DIALECTS["arena"].variants}
    (variant,) = rng.choices([*known], [*known.values()])
    (end,) = rng.choices([*ENDS], [*ENDS.values()])
    if end == "plays on":
        variant = "connect4"  # the shortest of all
    at = rng.randint(*RESIGN_AT)
    is_timed = end == "flags"
    return Wish(
        variant=variant,
        clock=FLAGGING if is_timed else rng.choice(CLOCKS),
        rated=not is_timed and rng.random() < RATED,
        habits=Habits(
            resign_at={"resigns": at, "aborts": at % 2, "blinks": at + 2}.get(end),
            flags_at=at if is_timed else None,
            leaves_at=at if end == "leaves" else None,
            blinks_at=at if end == "blinks" else None,
            offers_draws=0.03,
            asks_back=0.03,
            says=0.03,
            is_rude=rng.random() < RUDE,
        ),
    )
