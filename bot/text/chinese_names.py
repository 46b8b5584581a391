"""Adds the Chinese names of xiangqi moves to JSON for the arena's page."""

from collections.abc import Mapping
from typing import Any

from engine.game import MoveName

SUFFIX = "_chinese"


def with_chinese_names(values: Any) -> Any:
    """Copy JSON values; beside each ``KEY`` with a move's name, or a list of names, add ``KEY_chinese``.

    The arena's page shows it in place of the name if its reader reads Chinese characters (`parseJson` in
    bot/arena/static/common/language.js).
    """
    if isinstance(values, Mapping):
        copied: dict[str, Any] = {}
        for key, value in values.items():
            copied[key] = with_chinese_names(value)
            if isinstance(value, MoveName):
                copied[key + SUFFIX] = value.chinese
            elif isinstance(value, (list, tuple)) and value and all(isinstance(x, MoveName) for x in value):
                copied[key + SUFFIX] = [name.chinese for name in value]
        return copied
    return [with_chinese_names(each) for each in values] if isinstance(values, (list, tuple)) else values
