"""The tilts of a person during a game: what their replies tell, from the prior of the site's people.

The state of a person is a fold of their own games alone, from the prior of the model's people. Where the
site's people are known, that prior is replaced for the prediction (`engine.person.tilt.with_prior`). What the
fold mixed in again before each game but the first is left out first, as far as the games speak against it:
for a person unlike the site's people, the site's prior would raise it above what they have shown for long.
"""

from engine.person.card import PersonModel
from engine.person.site import SiteModel
from engine.person.state import KnownPerson, tilts_after, tilts_at_start
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
    return tilts_after(_at_start(known, model, rating, seconds), known.state, model, known.earlier)


def _at_start(known: KnownPerson, model: PersonModel, rating: float | None, seconds: float | None) -> Weights:
    state, site = known.state, SiteModel.of(model)
    if known.site is None or not site.is_known(known.site):
        return tilts_at_start(state, model, rating, seconds)
    prior = site.prior_weights(known.site, rating, seconds)
    mixed_in = model.forgetting * (1.0 - 1.0 / max(1, state.games))
    before = with_prior(without_tail(state.tilts, mixed_in), model.tilt_weights(rating, seconds), prior)
    return start_weights(before, prior, model.forgetting)
