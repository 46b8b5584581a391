"""Tests mirror the tree: each module has a test of its name, or guards.toml names the one that guards it."""

from pathlib import Path

from tests.code_map import ROOT
from tests.guards import is_reached, modules, own_test, table


def test_each_module_has_a_test_that_guards_it() -> None:
    """After adding a module: a test of its name, or a line in tests/guards.toml."""
    without = {name for name, path in modules().items() if not (ROOT / own_test(path)).is_file()}
    assert table().keys() == without


def test_the_named_tests_use_the_modules() -> None:
    assert [f"{module}: {test}" for module, test in table().items() if not is_reached(module, test)] == []


def test_a_test_of_something_else_guards_nothing() -> None:
    assert not is_reached("bot.servers.ggs.archive", Path("tests/engine/test_expected.py"))
