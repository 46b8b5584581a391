"""The arrows between the packages: bot -> storage -> engine, and nothing back."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "engine": set[str](),
    "storage": {"engine"},
    "migrations": set[str](),
    "bot": {"engine", "storage"},
}
# What the engine must not lean on: no network, no database, nothing asynchronous.
NOT_IN_ENGINE = {"asyncio", "aiohttp", "sqlalchemy", "alembic", "requests", "berserk", "socket", "sqlite3"}
# python-chess runs engines on an event loop in a thread of its own; what this module offers is synchronous.
LOOP_INSIDE = {"engine/uci/chess_link.py"}


def imported(path: Path) -> set[str]:
    """Top-level names that a module imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            names.add(node.module or "")
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_look_downwards_only(package: str) -> None:
    modules = list((ROOT / package).rglob("*.py"))
    assert modules
    forbidden = set(MAY_IMPORT) - MAY_IMPORT[package] - {package}
    if package == "storage":
        forbidden -= {"migrations"}  # data for Alembic, found by package name
    if package == "engine":
        forbidden |= NOT_IN_ENGINE
    for module in modules:
        allowed = {"asyncio"} if module.relative_to(ROOT).as_posix() in LOOP_INSIDE else set()
        assert not imported(module) & (forbidden - allowed), module


def test_only_storage_speaks_sql() -> None:
    for module in (ROOT / "bot").rglob("*.py"):
        assert not imported(module) & {"sqlite3", "alembic", "aiosqlite", "asyncpg"}, module


def test_the_searches_know_no_game() -> None:
    """Search, profiles, players and trap arithmetic name no game; only the registries do."""
    for name in ("search", "profiles", "players", "trappy", "decision", "limits", "params"):
        source = (ROOT / "engine" / f"{name}.py").read_text()
        tree = ast.parse(source)
        assert not {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & {"Othello", "TicTacToe"}
        assert "engine.games.othello" not in source
