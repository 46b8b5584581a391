"""Compares JSON whose numbers may differ by rounding."""

from typing import Any

import pytest


def nearly(value: Any) -> Any:
    """The same value with every floating-point number in it as `pytest.approx`."""
    match value:
        case float():
            return pytest.approx(value, rel=1e-6, abs=1e-9)
        case dict():
            return {key: nearly(each) for key, each in value.items()}
        case list() | tuple():
            return [nearly(each) for each in value]
        case _:
            return value
