"""Names of fields in the JSON and CSV of 0.2, exported beside the new ones until 0.4.0."""

from collections.abc import Mapping
from typing import Any

OLD_KEYS: Mapping[str, str] = {
    "control": "sound",
    "control_name": "sound_name",
    "control_value": "sound_value",
    "error_probability": "error_odds",
    "expected_control": "expected_sound",
    "expected_loss": "surprise",
    "is_paper_trap": "is_fall",
    "mean_control": "mean_sound",
    "planned_n": "opt",
    "probability": "odds",
    "score_texts": "looks",
    "shallow_plies": "glance_plies",
    "shallow_text": "glance_text",
    "shown_centi": "looks_centi",
    "strategy": "player",
    "value_control": "value_sound",
}
"""Old names by new ones."""


def with_old_keys(value: Any) -> Any:
    """A plain JSON value whose renamed fields also stand under their old names, after all others."""
    if isinstance(value, Mapping):
        new = {name: with_old_keys(each) for name, each in value.items()}
        old = {OLD_KEYS[name]: each for name, each in new.items() if name in OLD_KEYS}
        return new | {name: each for name, each in old.items() if name not in new}
    if isinstance(value, list | tuple):
        return [with_old_keys(each) for each in value]
    return value
