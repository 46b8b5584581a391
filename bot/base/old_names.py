"""Names of the previous release that work until 0.4.0: settings, with one notice at start, and fields of JSON
and CSV, which are exported in addition to the new ones."""

import json
from collections.abc import Mapping
from typing import Any

RENAMED: Mapping[str, str] = {
    "selection": "assignment",
    "assignment.player": "assignment.strategy",
    "assignment.players": "assignment.strategies",
    "assignment.rules.player": "assignment.rules.strategy",
    "alarms.backup_h": "alarms.max_backup_age_h",
    "challenges.waiting": "challenges.max_waiting",
    "chat.watchers": "chat.spectator_commands",
    "ggs.programs": "ggs.bots",
    "human.least_percent": "human.min_reply_percent",
    "randomised.chance": "randomised.probability",
    "randomised.most_profiles": "randomised.max_profiles",
}
"""New names of tables and of settings, keyed by old name. Settings stay in their tables and are listed here
under the table's new name."""
RETIRED: Mapping[str, str] = {
    "trap.threshold_centi": "trap.threshold_percent, in points of expected score, replaces it",
}
"""Settings of 0.2.0 that are ignored, each with the reason."""
OLD_JSON_KEYS: Mapping[str, str] = {
    "at_depth_2": "at_a_glance",
    "control": "sound",
    "control_name": "sound_name",
    "control_value": "sound_value",
    "encounters": "met",
    "error_probability": "error_odds",
    "expected_control": "expected_sound",
    "expected_loss": "surprise",
    "is_paper_trap": "is_fall",
    "mean_control": "mean_sound",
    "planned_n": "opt",
    "probability": "odds",
    "score_texts": "looks",
    "shown_centi": "looks_centi",
    "strategy": "player",
    "value_control": "value_sound",
}
"""Old names of fields, keyed by new name."""


def rename_notice(old: str) -> str:
    """One clause that says what replaces an old setting."""
    return f"{old} is now {RENAMED[old]}" if old in RENAMED else f"{old} is ignored: {RETIRED[old]}"


def rename_settings(values: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
    """Settings under their new names (also in the tables of accounts), and the old names that were used.

    Args:
        values: Settings, keyed by table, as read from a file.

    Raises:
        ValueError: A setting is given under both names.
    """
    used: set[str] = set()
    renamed = _rename_nested(values, "", used)
    accounts = renamed.get("accounts")
    if isinstance(accounts, list):
        renamed["accounts"] = _rename_nested(accounts, "", used)
    return dict(renamed), used


def rename_variables(
    variables: Mapping[str, str | None], prefix: str
) -> tuple[dict[str, str | None], set[str]]:
    """Environment variables under their new names, and the old names that were used.

    A new name takes precedence over an old one.

    Args:
        variables: Values, keyed by name, in upper or lower case.
        prefix: The prefix of our variables, before the table's name.
    """
    renamed: dict[str, str | None] = {}
    used: set[str] = set()
    for name, value in variables.items():
        table, _, key = name.lower().removeprefix(prefix.lower()).partition("__")
        if name.lower().startswith(prefix.lower()):
            new = _new_name(table, used)
            if key:
                new = _new_name(f"{new}.{key}", used)
            if new in RETIRED:
                used.add(new)
                continue
            value = _new_json(new, value, used)
            new = new.replace(".", "__")
            if new != "__".join(filter(None, (table, key))):
                renamed.setdefault((prefix + new).lower(), value)
                continue
        renamed[name] = value
    return renamed, used


def _new_name(name: str, used: set[str]) -> str:
    if name in RENAMED:
        used.add(name)
    return RENAMED.get(name, name)


def _rename_nested(value: Any, where: str, used: set[str]) -> Any:
    if isinstance(value, list):
        return [_rename_nested(each, where, used) for each in value]
    if not isinstance(value, Mapping):
        return value
    renamed: dict[str, Any] = {}
    for key, below in value.items():
        old = f"{where}{key}"
        if old in RETIRED:
            used.add(old)
            continue
        new = _new_name(old, used)
        name = new.removeprefix(where)
        if name != key and name in value:
            raise ValueError(f"{old} is the old name of {new}: remove it")
        renamed[name] = _rename_nested(below, f"{new}.", used)
    return renamed


def _new_json(name: str, value: str | None, used: set[str]) -> str | None:
    """Rename the settings in a variable that holds a table, or a list of tables, as JSON."""
    try:
        settings = json.loads(value or "")
    except ValueError:
        return value
    renamed = _rename_nested(settings, f"{name}.", used)
    return value if renamed == settings else json.dumps(renamed)


def add_old_keys(value: Any) -> Any:
    """A plain JSON value with a copy of each renamed field under its old name, after all other fields."""
    if isinstance(value, Mapping):
        new = {name: add_old_keys(each) for name, each in value.items()}
        old = {OLD_JSON_KEYS[name]: each for name, each in new.items() if name in OLD_JSON_KEYS}
        return new | {name: each for name, each in old.items() if name not in new}
    if isinstance(value, list | tuple):
        return [add_old_keys(each) for each in value]
    return value
