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


def repetitive_position(game: Game[Any], rng: random.Random, plies: int) -> Any:
    """The same of two players who like to move to and fro: earlier positions come back."""
    position = game.initial()
    seen = [game.board_rows(position)]
    for _ in range(plies):
        following = [game.play(position, move) for move in game.legal_moves(position)]
        back = [each for each in following if game.board_rows(each) in seen]
        chosen = rng.choice(back if back and rng.random() < 0.7 else following)
        if not game.legal_moves(chosen):
            break
        position = chosen
        seen.append(game.board_rows(position))
    return position


def positions(game: Game[Any], max_plies: int) -> st.SearchStrategy[Any]:
    """Hypothesis strategy for positions in which the game goes on, some with a past that may come back."""
    return st.builds(
        lambda make, seed, plies: make(game, random.Random(seed), plies),
        st.sampled_from((random_position, random_position, repetitive_position)),
        st.integers(0, 2**32 - 1),
        st.integers(0, max_plies),
    )
