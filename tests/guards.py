"""Which test guards each module: that of its name, or the one that guards.toml names."""

import ast
import tomllib
from functools import cache
from pathlib import Path

from tests.code_map import ROOT, module_graph, module_name, module_path, sources, tree_of

GUARDED = ("bot", "engine", "lab", "storage")
_MAX_STEPS = 3
"""Imports from a test to the module that it guards."""


def modules() -> dict[str, Path]:
    """All modules that need a test, with their files."""
    return {
        module_name(path): path
        for path in sources()
        if path.suffix == ".py" and path.parts[0] in GUARDED and path.stem not in ("__init__", "__main__")
    }


def own_test(path: Path) -> Path:
    """The test that bears a module's name."""
    return Path("tests") / path.parent / f"test_{path.name}"


def table() -> dict[str, Path]:
    """The tests in guards.toml, by the module that each guards."""
    found = tomllib.loads((ROOT / "tests" / "guards.toml").read_text())
    return {module: Path(test) for module, test in found.items()}


def is_reached(module: str, test: Path) -> bool:
    """Whether a test gets to a module in a few steps: imports, or names of modules that are loaded later."""
    reached = _mentions(test)
    for _ in range(_MAX_STEPS - 1):
        reached |= {other for name in reached for other in _graph().get(name, frozenset())}
    return module in reached


@cache
def _graph() -> dict[str, frozenset[str]]:
    return {name: imported | _mentions(module_path(name)) for name, imported in module_graph().items()}


@cache
def _mentions(path: Path) -> frozenset[str]:
    """Modules that a file imports, or names in a text."""
    found = set()
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module)):
                found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
            case ast.Constant(value=str(text)):
                found.add(text)
    return frozenset(found & module_graph().keys())
