"""The code's own map: modules, imports and floors, and the map of folders in docs/development.md.

A module's *floor* is one above the highest of all that it imports; floor 1 imports nothing of ours.
"""

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("engine", "storage", "migrations", "bot", "lab")
PAGE = ROOT / "docs" / "development.md"
BEGIN, END = "<!-- folders -->", "<!-- end of folders -->"
CODE = (".py", ".cpp", ".hpp", ".js", ".css", ".html")

Graph = Mapping[str, frozenset[str]]
"""For each name the names that it imports."""


@cache
def sources() -> tuple[Path, ...]:
    """All files of code, relative to the project's root."""
    found = (path for folder in (*PACKAGES, "tests", "bench") for path in (ROOT / folder).rglob("*"))
    return tuple(sorted(path.relative_to(ROOT) for path in found if path.suffix in CODE))


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse((ROOT / path).read_text())


def module_name(path: Path) -> str:
    """``bot.game.game_runner`` of bot/game/game_runner.py, ``bot.game`` of bot/game/__init__.py."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def module_path(name: str) -> Path:
    """Where a module of `module_graph` lies."""
    base = Path(*name.split("."))
    return base / "__init__.py" if (ROOT / base).is_dir() else base.with_suffix(".py")


@cache
def module_graph(packages: tuple[str, ...] = PACKAGES) -> Graph:
    """Which modules of these packages each of them imports, also within functions."""
    paths = {
        module_name(path): path for path in sources() if path.suffix == ".py" and path.parts[0] in packages
    }
    known = frozenset(paths)
    return {name: _imports(path, known) - {name} for name, path in paths.items()}


def _imports(path: Path, known: frozenset[str]) -> frozenset[str]:
    found = set()
    for node in ast.walk(tree_of(path)):
        match node:
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module), level=0):
                modules = {f"{module}.{alias.name}" for alias in node.names} & known
                found |= modules
                if len(modules) < len(node.names):
                    found.add(module)
            case ast.ImportFrom():
                raise AssertionError(f"{path}: imports are absolute here")
    return known & found


def grouped(graph: Graph, group_of: Callable[[str], str]) -> Graph:
    """The graph between groups of its names."""
    between: dict[str, set[str]] = {group_of(name): set() for name in graph}
    for name, imported in graph.items():
        between[group_of(name)] |= {group_of(other) for other in imported} - {group_of(name)}
    return {name: frozenset(imported) for name, imported in between.items()}


def room_of(module: str) -> str:
    """The part of its package that a module belongs to: ``bot.game`` of ``bot.game.game_runner``."""
    return ".".join(module.split(".")[:2])


def circles(graph: Graph) -> list[set[str]]:
    """Sets of names that import each other in a circle."""
    reached = {name: _reached(graph, name) for name in graph}
    found = [{name} | {other for other in reached[name] if name in reached[other]} for name in graph]
    return [circle for circle in found if len(circle) > 1]


def _reached(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return seen


def floors(graph: Graph) -> dict[str, int]:
    """The floor of each name in a graph without circles."""
    found: dict[str, int] = {}

    def floor(name: str) -> int:
        if name not in found:
            found[name] = 1 + max((floor(other) for other in graph[name]), default=0)
        return found[name]

    for name in graph:
        floor(name)
    return found


def folders() -> set[str]:
    """Folders of the packages that hold files of code, as docs/development.md writes them."""
    files = (path for package in {*PACKAGES, "lab"} for path in (ROOT / package).rglob("*"))
    return {f"{path.relative_to(ROOT).parent.as_posix()}/" for path in files if path.suffix in CODE}


def mapped_folders() -> list[str]:
    """The folders that docs/development.md names in its map, in its order."""
    table = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    return re.findall(r"^\| `([^`]+/)` \|", table, re.MULTILINE)
