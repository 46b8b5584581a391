"""Settings of the whole suite."""

from collections.abc import Generator

import pytest
from hypothesis import settings

# The same examples on every run and every machine, however busy it is, and nothing kept between runs.
settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first, so that with several processes none is left waiting for them at the end."""
    items.sort(key=lambda item: "tests/system" not in item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What a rude server said may stand in the log as it is, and could not be sent to the main process."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report
