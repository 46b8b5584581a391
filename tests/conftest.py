"""Settings of the whole suite."""

import pytest
from hypothesis import settings

# The same examples on every run and every machine, and nothing kept between runs.
settings.register_profile("repeatable", derandomize=True, database=None)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first, so that with several processes none is left waiting for them at the end."""
    items.sort(key=lambda item: "tests/system" not in item.nodeid)
