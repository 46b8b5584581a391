"""What is known of each site's people (`engine.person.site`), in a sentence for the operator."""

from collections.abc import Mapping

from bot.base.rounding import plural
from engine.games import get_rules
from engine.human.model import BadModel
from engine.human.person_prior import card_path, read_card
from engine.person.card import person_model
from engine.person.site import MIN_WEIGHT, RatingMap, SiteModel
from engine.person.site_state import BAND, SiteState
from storage.ledger.sites import SiteKey

_ROUNDED_TO = 10


def site_texts(states: Mapping[SiteKey, SiteState], site: str | None, game: str | None) -> list[str]:
    """A sentence for each site and game.

    Args:
        states: What is known.
        site: Only this site; None for all.
        game: Only this game; None for all.
    """
    return [
        _text(key, state)
        for key, state in states.items()
        if site in (None, key.site) and game in (None, key.game) and state.games
    ]


def _text(key: SiteKey, state: SiteState) -> str:
    head = f"{get_rules(key.game).title} at {key.site} ({plural(state.games, 'judged game')})"
    if state.weight < MIN_WEIGHT or not state.expected:
        return f"{head}: too early to say how its people differ from the model's."
    often = f"people err {state.errors / state.expected:.1f} times as often as the model's people"
    curve = _curve(key.game, state)
    if not curve.site:
        return f"{head}: {often}."
    middle = BAND * round((curve.site[0] + curve.site[-1]) / 2 / BAND)
    mapped = _ROUNDED_TO * round(curve.of(middle) / _ROUNDED_TO)
    return f"{head}: {often}; a rating of {middle} there is {mapped} on the model's scale."


def _curve(game: str, state: SiteState) -> RatingMap:
    """The site's curve of ratings; empty if the present models have none."""
    path = card_path(game)
    try:
        prior = read_card(path) if path.exists() else None
        for base in () if prior is None else prior.bases:
            model = SiteModel.of(person_model(game, prior, base))
            if model.version == state.version:
                return model.curve(state)
    except BadModel:  # `desdemona check` says so
        pass
    return RatingMap()
