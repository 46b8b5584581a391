"""Positions for tests: reached by random play, so that they are legal and all kinds turn up."""

import random
from typing import Any

from hypothesis import strategies as st

from engine.game import Game


def random_position(game: Game[Any], rng: random.Random, plies: int) -> Any:
    """A position after so many random plies, or the last one before the game's end."""
    position = game.initial()
    for _ in range(plies):
        moves = game.legal_moves(position)
        following = game.play(position, rng.choice(moves))
        if not game.legal_moves(following):
            break
        position = following
    return position


def positions(game: Game[Any], max_plies: int) -> st.SearchStrategy[Any]:
    """Hypothesis strategy for positions in which the game goes on."""
    return st.builds(
        lambda seed, plies: random_position(game, random.Random(seed), plies),
        st.integers(0, 2**32 - 1),
        st.integers(0, max_plies),
    )
