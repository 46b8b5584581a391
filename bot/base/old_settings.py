"""Names of settings in the previous release, which still work, with one notice at start."""

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
"""New names by old ones, of whole tables and of single settings, which stay in their tables.  The name of a
setting is that within its table's new name."""


def with_new_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under their new names, the tables of accounts included.

    Args:
        values: Settings by table, as read from a file.

    Raises:
        ValueError: A setting is given under both names.
    """
    found = _renamed(values, "")
    accounts = found.get("accounts")
    if isinstance(accounts, list):
        found["accounts"] = _renamed(accounts, "")
    return dict(found)


def with_new_variables(variables: Mapping[str, str | None], prefix: str) -> dict[str, str | None]:
    """Environment variables under their new names; a new name takes precedence over an old one.

    Args:
        variables: By name, in any case.
        prefix: Before the name of a table.
    """
    found: dict[str, str | None] = {}
    for name, value in variables.items():
        table, _, key = name.lower().removeprefix(prefix.lower()).partition("__")
        if name.lower().startswith(prefix.lower()):
            new = RENAMED.get(table, table)
            if key:
                new = RENAMED.get(f"{new}.{key}", f"{new}.{key}")
            value = _new_json(new, value)
            new = new.replace(".", "__")
            if new != "__".join(filter(None, (table, key))):
                found.setdefault((prefix + new).lower(), value)
                continue
        found[name] = value
    return found


def old_names(values: Mapping[str, Any], variables: Mapping[str, str], prefix: str) -> list[str]:
    """The old names in use, each with its new one, for a notice.

    Args:
        values: Settings by table, as read from a file.
        variables: The environment.
        prefix: Before the name of a table in the environment.
    """
    used = set()
    for tables in (values, *_tables(values.get("accounts"))):
        used |= {old for old in RENAMED if _has(tables, old)}
    names = {name.upper() for name in variables}
    for old in RENAMED:
        variable = (prefix + old.replace(".", "__")).upper()
        if any(name == variable or ("." not in old and name.startswith(f"{variable}__")) for name in names):
            used.add(old)
    return [f"{old} is now {RENAMED[old]}" for old in sorted(used)]


def _renamed(value: Any, where: str) -> Any:
    if isinstance(value, list):
        return [_renamed(each, where) for each in value]
    if not isinstance(value, Mapping):
        return value
    found: dict[str, Any] = {}
    for key, below in value.items():
        old = f"{where}{key}"
        new = RENAMED.get(old, old)
        name = new.removeprefix(where)
        if name != key and name in value:
            raise ValueError(f"{old} is the old name of {new}: leave it out")
        found[name] = _renamed(below, f"{new}.")
    return found


def _has(value: Any, name: str) -> bool:
    """Whether a name is in a table, or in one of a list of tables."""
    if isinstance(value, list):
        return any(_has(each, name) for each in value)
    key, _, rest = name.partition(".")
    return isinstance(value, Mapping) and key in value and (not rest or _has(value[key], rest))


def _new_json(name: str, value: str | None) -> str | None:
    """A table, or a list of tables, in one variable."""
    try:
        settings = json.loads(value or "")
    except ValueError:
        return value
    renamed = _renamed(settings, f"{name}.")
    return value if renamed == settings else json.dumps(renamed)


def _tables(accounts: object) -> list[Mapping[str, Any]]:
    return [each for each in accounts if isinstance(each, Mapping)] if isinstance(accounts, list) else []
