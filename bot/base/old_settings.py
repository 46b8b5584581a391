"""Names of settings in the previous release, which still work, with one notice at start."""

import json
from collections.abc import Mapping
from typing import Any

RENAMED: Mapping[str, str] = {
    "selection": "assignment",
    "alarms.backup_h": "alarms.max_backup_age_h",
    "challenges.waiting": "challenges.max_waiting",
    "chat.watchers": "chat.spectator_commands",
    "ggs.programs": "ggs.bots",
    "human.least_percent": "human.min_reply_percent",
    "randomised.chance": "randomised.probability",
    "randomised.most_profiles": "randomised.max_profiles",
}
"""New names by old ones, of whole tables and of single settings, which stay in their tables."""


def with_new_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under their new names, the tables of accounts included.

    Args:
        values: Settings by table, as read from a file.

    Raises:
        ValueError: A setting is given under both names.
    """
    found = _renamed(values, "")
    for section, table in found.items():
        if isinstance(table, Mapping):
            found[section] = _renamed(table, f"{section}.")
    accounts = found.get("accounts")
    if isinstance(accounts, list):
        found["accounts"] = [
            with_new_names(account) if isinstance(account, Mapping) else account for account in accounts
        ]
    return found


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
                new = "__".join(RENAMED.get(f"{new}.{key}", f"{new}.{key}").split("."))
            else:
                value = _new_json(new, value)
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
        for old in RENAMED:
            section, _, key = old.partition(".")
            table = tables.get(section)
            if table is not None and (not key or (isinstance(table, Mapping) and key in table)):
                used.add(old)
    names = {name.upper() for name in variables}
    for old in RENAMED:
        variable = (prefix + old.replace(".", "__")).upper()
        if any(name == variable or ("." not in old and name.startswith(f"{variable}__")) for name in names):
            used.add(old)
    return [f"{old} is now {RENAMED[old]}" for old in sorted(used)]


def _renamed(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        old = f"{where}{key}"
        new = RENAMED.get(old, old).removeprefix(where)
        if new != key and new in table:
            raise ValueError(f"{old} is the old name of {where}{new}: leave it out")
        found[new] = value
    return found


def _new_json(table: str, value: str | None) -> str | None:
    """A whole table in one variable."""
    try:
        settings = json.loads(value or "")
    except ValueError:
        return value
    return json.dumps(_renamed(settings, f"{table}.")) if isinstance(settings, Mapping) else value


def _tables(accounts: object) -> list[Mapping[str, Any]]:
    return [each for each in accounts if isinstance(each, Mapping)] if isinstance(accounts, list) else []
