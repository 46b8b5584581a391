"""The tilts of a person during a game: what their replies tell, from the prior of the site's people.

The state of a person is a fold of their own games alone, from the prior of the model's people. Where the
site's people are known, that prior is replaced for the prediction (`engine.person.tilt.with_prior`). What the
fold mixed in again before each game but the first is left out first, as far as the games speak against it:
for a person unlike the site's people, the site's prior would raise it above what they have shown for long.
This is approximate if the person's rating or speed was another in earlier games.
"""

import numpy as np
from numpy.typing import NDArray

from engine.person.card import PersonModel
from engine.person.site import SiteModel
from engine.person.site_state import SiteState
from engine.person.state import KnownPerson, PersonState, tilts_after
from engine.person.tilt import Weights, start_weights, with_prior, without_tail


def present_tilts(
    known: KnownPerson, model: PersonModel, rating: float | None, seconds: float | None
) -> Weights:
    """The weights of the tilts with which the person's next reply is predicted.

    Args:
        known: The state before the game, the replies in it so far, and the site.
        model: The model by which the state was folded.
        rating: See `engine.person.state.FoldedGame.rating`.
        seconds: Likewise.
    """
    before, prior = among_people(known.state, model, known.site, rating, seconds)
    start = start_weights(before, prior, model.forgetting)
    return tilts_after(start, known.state, model, known.earlier)


def among_people(
    state: PersonState,
    model: PersonModel,
    others: SiteState | None,
    rating: float | None,
    seconds: float | None,
) -> tuple[Weights, NDArray[np.float64]]:
    """The weights after a person's latest game, and the prior from which they began.

    Args:
        state: The person's state.
        model: The model by which it was folded.
        others: What is known of the site's other people. If that is too little, the prior is the model's.
        rating: See `engine.person.state.FoldedGame.rating`.
        seconds: Likewise.
    """
    prior, site = model.tilt_weights(rating, seconds), SiteModel.of(model)
    if others is None or not site.is_known(others):
        return state.tilts, prior
    at_site = site.prior_weights(others, rating, seconds)
    mixed_in = model.forgetting * (1.0 - 1.0 / max(1, state.games))
    return with_prior(without_tail(state.tilts, mixed_in), prior, at_site), at_site
