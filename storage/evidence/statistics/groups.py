"""Statistics of groups of games: costs and error rates of opponents' replies, actual and expected.

A group covers one game (Othello, chess, ...), and rating bands are per site, so that only comparable values
are summed. Replies are compared with what chance and the model of people predict for the same positions,
never with other positions: after a trap there are fewer good replies, so a random mover errs more often.

Differences have confidence sequences (`storage.evidence.inference.any_time`), clustered by person and valid
at any time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from typing import Any, Self

from engine.bait_rule import FORECAST_RULE
from engine.figure_9 import FIGURE_9_RULE
from engine.judge import JUDGE_VERSION
from storage.evidence.inference.any_time import AnyTimeEstimate
from storage.evidence.intervals import Performance
from storage.filters import PHASE_PLIES


class GroupKey(StrEnum):
    """Keys for grouping games and replies; the game is always added."""

    STRATEGY = "strategy"
    GAME = "game"
    SITE = "site"
    SPEED = "speed"
    RATING_BAND = "rating-band"
    WEEK = "week"
    MONTH = "month"
    OPPONENT_KIND = "opponent-kind"
    VERSION = "version"
    SETTINGS = "settings"
    PHASE = "phase"
    """The reply's phase; a game counts in every phase that it reached."""
    MODEL = "model"
    """The model of the reply's forecast; a game counts for each model that made forecasts in it."""

    @classmethod
    def parse(cls, text: str) -> list[Self]:
        """Parse the names of keys, separated by commas; `player`, a name in 0.2, remains valid until 0.4.0.

        Raises:
            ValueError: A name is unknown.
        """
        known = {key.value: key for key in cls} | {"player": cls("strategy")}
        names = [name.strip() for name in text.split(",")]
        if wrong := [name for name in names if name not in known]:
            raise ValueError(f"{wrong[0]!a:.40} is not known; known: {', '.join(cls)}")
        return [known[name] for name in names]


RULES = {"judge": JUDGE_VERSION, "baits": FORECAST_RULE, "figure_9": FIGURE_9_RULE}
"""The versions of the rules that make the numbers: costs and errors, baits, and the paper's traps."""
OF_REPLY = frozenset({GroupKey.PHASE, GroupKey.MODEL})
"""The keys that group replies; all other keys group games."""


def week_text(day: date) -> str:
    """Return the week that contains a day, as the date of its Monday, for instance ``2026-11-23``."""
    return str(day - timedelta(days=day.weekday()))


def phase_name(phase: int) -> str:
    """Return the name of a phase by its number (0 for the first), for instance ``plies 1 to 20``."""
    first = phase * PHASE_PLIES
    return f"plies {first + 1} to {first + PHASE_PLIES}"


@dataclass(slots=True)
class ObservedRate:
    """An observed frequency or mean cost and its expected values, all from 0 to 1.

    Do not change instances; like `AnyTimeEstimate`, the class is not frozen, to make creation fast.
    """

    n: int
    """Number of replies in which the event could be observed."""
    happened: float | None
    """Observed mean; this and the next two fields are None if there are no replies."""
    chance: float | None
    """Expected mean for a random mover, for whom all replies are equally likely."""
    model: float | None
    """Expected mean from the forecasts: by the model of people if the game has one, otherwise by the replies'
    shallow scores."""
    beyond_chance: AnyTimeEstimate
    """Observed mean minus `chance`."""
    beyond_model: AnyTimeEstimate
    """Observed mean minus `model`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStatistics:
    """Statistics of one group of games."""

    group: dict[str, str]
    """The values that the group's games share, keyed by the names in `GroupKey`."""
    games: int
    """Number of games, without aborted games."""
    wins: int
    draws: int
    losses: int
    unfinished: int
    persons: int
    """Number of different opponent accounts."""
    performance: Performance
    unjudged_games: int
    """Number of games that are over and have replies that the judge has yet to judge."""
    replies: int
    """Number of judged replies in undecided positions, from each account's first `CAP_GAMES` games."""
    unjudged: int
    """Number of such replies that the judge has yet to judge; errors and costs do not include them."""
    optimal: int
    """Number of judged replies that were among the best by the paper's rule, at the player's depth."""
    decided: int
    """Number of replies in positions with a forced win or loss; no other field includes these."""
    models: tuple[str, ...]
    """The models that forecast the replies, named by `storage.evidence.replies.model_text`; sorted."""
    errors: ObservedRate
    """Judged replies that cost at least 0.1 in expected score, by the judge (`engine.judge`)."""
    cost: ObservedRate
    """The cost of the judged replies, in expected score, by the judge."""
    baits_set: int
    """Number of replies to moves that set a bait."""
    baits: ObservedRate
    """Replies that take the bait, among replies to moves that set a bait."""
    traps_set: int
    """Number of answered moves that set a trap in the paper's sense (Figure 9), at the player's depth; like
    the next four fields and `falls`, it includes replies that are not judged yet."""
    traps_optimal: int
    traps_fell: int
    traps_fell_for_best: int
    traps_erred_elsewhere: int
    falls: ObservedRate
    """Replies that fall into a trap in the paper's sense."""
    rules: dict[str, int] = field(default_factory=lambda: dict(RULES))
    """See `RULES`."""


def flat_row(record: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Flatten a nested row; nested names are joined with ``_``, except those of the group."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        name = key if not before or before == "group" else f"{before}_{key}"
        if isinstance(value, dict):
            flat |= flat_row(value, name)
        else:
            flat[name] = ", ".join(value) if isinstance(value, tuple) else value
    return flat


def complete_keys(by: Sequence[GroupKey]) -> tuple[GroupKey, ...]:
    """Complete the keys of a request: add the game, and the site if the rating band is a key."""
    keys = list(dict.fromkeys(by))
    if GroupKey.RATING_BAND in keys and GroupKey.SITE not in keys:
        keys.insert(keys.index(GroupKey.RATING_BAND), GroupKey.SITE)
    if GroupKey.GAME not in keys:
        keys.append(GroupKey.GAME)
    return tuple(keys)
