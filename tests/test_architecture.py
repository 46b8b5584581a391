"""The arrows between the packages: bot -> storage -> engine, and nothing back."""

import ast
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bot.base.dialects import DIALECTS

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


def test_only_commands_know_of_commands() -> None:
    for module in (ROOT / "bot").rglob("*.py"):
        if module.name == "__main__.py" or module.name.startswith("cli"):
            continue
        tree = ast.parse(module.read_text())
        sources = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not [source for source in sources if source.startswith("bot.cli")], module


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


# Where sites may be named: their adapters; our own server, which speaks one's protocol and reserves names;
# the settings, where the operator chooses the site and sets what only one of them has.
MAY_NAME_SITES = ("bot/servers/", "bot/arena/", "bot/base/config.py")


def sites() -> set[str]:
    """Words by which a site is known, but for our own, whose settings and address the program has."""
    others = [dialect for dialect in DIALECTS.values() if dialect.home]
    homes = {urlsplit(dialect.home).hostname or "" for dialect in others}
    return {word.removeprefix("www.") for word in homes} | {
        word for dialect in others for word in (dialect.name, dialect.protocol)
    }


def words_of_code(path: Path) -> Iterator[str]:
    """Names and texts of a module, docstrings and comments left out."""
    tree = ast.parse(path.read_text())
    told = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(str(text)) if node not in told:
                yield text
            case ast.Name(name) | ast.Attribute(attr=name) | ast.arg(name) | ast.keyword(str(name)):
                yield name
            case ast.alias(name) | ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.ImportFrom(str(name)):
                yield name


def test_nothing_above_the_adapters_names_a_site() -> None:
    assert sites() >= {"lichess", "lichess.org", "playstrategy", "pychess.org", "ggs", "skatgame.net"}
    above = [
        module
        for package in ("engine", "storage", "bot")
        for module in (ROOT / package).rglob("*.py")
        if not module.relative_to(ROOT).as_posix().startswith(MAY_NAME_SITES)
    ]
    assert ROOT / "bot" / "matchmaking.py" in above
    for module in above:
        for word in words_of_code(module):
            named = [site for site in sites() if site in word.casefold()]
            assert not named, f"{module}: {word!r} names {', '.join(named)}"
