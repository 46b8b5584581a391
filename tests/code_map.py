"""The code's own map: modules, imports and floors, and the list of modules in docs/development.md.

``python -m tests.code_map`` rewrites that list from the modules' first sentences; a test compares it with the
tree.  A module's *floor* is one above the highest of all that it imports; floor 1 imports nothing of ours.
"""

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("engine", "storage", "migrations", "bot", "lab")
PAGE = ROOT / "docs" / "development.md"
BEGIN, END = "<!-- The list of modules: `make map` writes it. -->", "<!-- End of the list. -->"
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
    """``bot.game.player`` of bot/game/player.py, ``bot.game`` of bot/game/__init__.py."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def module_path(name: str) -> Path:
    """Where a module of `module_graph` lies."""
    base = Path(*name.split("."))
    return base / "__init__.py" if (ROOT / base).is_dir() else base.with_suffix(".py")


@cache
def module_graph() -> Graph:
    """Which of our modules each module imports, also within functions."""
    paths = {
        module_name(path): path for path in sources() if path.suffix == ".py" and path.parts[0] in PACKAGES
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
    """The part of its package that a module belongs to: ``bot.game`` of ``bot.game.player``."""
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


def first_paragraph(path: Path) -> str:
    """What a file says of itself first: the first paragraph of its docstring or comment, on one line."""
    if path.suffix == ".py":
        text = (ast.get_docstring(tree_of(path)) or "").partition("\n\n")[0]
    else:
        text = (ROOT / path).read_text()
        comment = re.match(r"(?://.*\n)+", text)
        lines = [line.removeprefix("//").strip() for line in comment[0].splitlines()] if comment else []
        text = " ".join(lines[: lines.index("")] if "" in lines else lines)
        text = re.split(r"(?<=[.:])\s+(?=[A-Z])", text)[0]
    return " ".join(text.split())


def map_text() -> str:
    """The list of modules: packages from the lowest floor up, and in each its modules likewise."""
    graph = module_graph()
    rooms = floors(grouped(graph, room_of))
    height = floors(graph)
    elsewhere = ("migrations.", "engine.native.")  # revisions need no map; the core has tables of its own
    named = [name for name in graph if first_paragraph(module_path(name)) and not name.startswith(elsewhere)]

    def folder(name: str) -> str:
        return module_path(name).parent.as_posix()

    def place(name: str) -> tuple[int, int, str]:
        package = name.partition(".")[0]
        is_top = folder(name) == package
        return PACKAGES.index(package), -1 if is_top else rooms[room_of(name)], folder(name)

    lines: list[str] = []
    for at, group in groupby(sorted(named, key=place), key=place):
        names = sorted(group, key=lambda name: (height[name], name))
        lines += _table(at[2], [module_path(name) for name in names])
        if at[2] == "engine":
            for native in sorted(
                {path.parent for path in sources() if path.parts[:2] == ("engine", "native")}
            ):
                headers = [
                    path
                    for path in sources()
                    if path.parent == native and path.suffix in (".hpp", ".cpp", ".py")
                ]
                lines += _table(native.as_posix(), [path for path in headers if first_paragraph(path)])
    page = "bot/arena/static"
    for part in sorted({path.parent for path in sources() if path.as_posix().startswith(page)}):
        scripts = [path for path in sources() if path.parent == part and path.suffix == ".js"]
        lines += _table(part.as_posix(), scripts) if scripts else []
    return "\n".join(lines)


def _table(folder: str, paths: list[Path]) -> list[str]:
    about = next((first_paragraph(path) for path in paths if path.name == "__init__.py"), "")
    rows = [
        f"| `{path.name}` | {_cell(first_paragraph(path))} |" for path in paths if path.name != "__init__.py"
    ]
    table = ["| module | what it is |", "|---|---|", *rows, ""] if rows else []
    return [f"### `{folder}/`", "", *([about, ""] if about else []), *table]


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


def page_text() -> str:
    """docs/development.md with the list as it should be."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return f"{before}{BEGIN}\n\n{map_text()}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page_text())
