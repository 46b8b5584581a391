"""The seams: which package may import which, what only some may use, and the map that tells it."""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bot.base.dialects import DIALECTS
from engine import VERSION
from tests.code_map import (
    PACKAGES,
    ROOT,
    circles,
    floors,
    folders,
    grouped,
    mapped_folders,
    module_graph,
    module_path,
    room_of,
    sources,
    tree_of,
)

# What each part may import of its own package, lowest first.  `BETWEEN` says which package may import which.
ENGINE = {
    "engine": set[str](),
    "engine.errors": set[str](),
    "engine.game": set[str](),
    "engine.stop": set[str](),
    "engine.time_management": set[str](),
    "engine.expected": {"game"},
    "engine.games": {"errors", "game"},
    "engine.params": {"errors", "expected"},
    "engine.formats": {"game", "games"},
    "engine.plain_values": set[str](),
    "engine.decision": {"errors", "params", "plain_values"},
    "engine.trappy": {"errors", "decision", "expected", "game", "params"},
    "engine.tempting": {"errors", "decision", "expected", "params"},
    "engine.judge": {
        "decision", "errors", "expected", "game", "games", "figure_9", "lookup", "plain_values", "search",
        "stop",
    },
    "engine.figure_9": {"decision", "errors", "expected", "game", "games", "params", "trappy"},
    "engine.randomised": {
        "decision", "errors", "expected", "game", "games", "figure_9", "opponents", "params", "search",
        "stop", "trappy",
    },
    "engine.bait_rule": {"decision", "expected", "human", "judge", "figure_9"},
    "engine.opponents": {"decision", "errors", "expected", "figure_9", "game", "games", "plain_values"},
    "engine.variety": {"decision", "game"},
    "engine.lookup": {"decision", "game", "games"},
    "engine.search": {"decision", "expected", "game", "games", "params", "stop", "tempting", "trappy"},
    "engine.human": {
        "errors", "decision", "expected", "figure_9", "game", "games", "judge", "params", "plain_values",
        "search", "stop", "trappy",
    },
    "engine.person": {"decision", "errors", "game", "games", "human", "plain_values"},
    "engine.pruning": {"decision", "errors", "randomised"},
    "engine.protocols": {
        "decision", "errors", "formats", "game", "games", "human", "params", "stop", "time_management",
        "trappy",
    },
    "engine.forecasts": {
        "bait_rule", "decision", "errors", "game", "games", "human", "judge", "figure_9", "lookup",
        "opponents", "person",
        "randomised", "search", "stop",
    },
    "engine.strategies": {
        "decision", "errors", "expected", "game", "games", "human", "figure_9", "lookup", "opponents",
        "params", "person", "protocols", "randomised", "search", "stop", "tempting", "time_management",
        "trappy", "variety",
    },
    "engine.verification": {"decision", "errors", "pruning", "strategies"},
    "engine.completion": {"decision", "errors", "games", "search", "stop", "strategies", "trappy"},
    "engine.move_chooser": {
        "decision", "game", "human", "opponents", "params", "protocols", "search", "stop", "strategies",
        "time_management", "variety",
    },
    "engine.native": set[str](),
}  # fmt: skip
STORAGE = {
    "storage": set[str](),
    "storage.drivers": set[str](),
    "storage.sqlite_access": {"errors"},
    "storage.errors": set[str](),
    "storage.packing": set[str](),
    "storage.records": set[str](),
    "storage.sql": {"errors", "evidence", "sqlite_access"},
    "storage.quarantine": {"records"},
    "storage.tables": {"errors", "packing", "records"},
    "storage.filters": {"errors", "records", "tables"},
    "storage.inserts": {"tables"},
    "storage.migrate": {"packing", "quarantine", "tables"},
    "storage.database": {"drivers", "errors", "migrate", "sqlite_access"},
    "storage.ledger": {"errors", "filters", "inserts", "packing", "records", "tables"},
    "storage.research": {"inserts", "records", "tables"},
    "storage.evidence": {
        "database", "errors", "filters", "inserts", "ledger", "packing", "records", "tables",
    },
    "storage.arena": {"evidence", "filters", "inserts", "ledger", "records", "tables"},
    "storage.maintenance": {
        "database", "errors", "evidence", "inserts", "ledger", "migrate", "packing", "quarantine", "records",
        "sqlite_access", "tables",
    },
}  # fmt: skip
BOT = {
    "bot": set[str](),
    "bot.base": set[str](),
    "bot.alarms": {"base", "text"},
    "bot.charts": {"base"},
    "bot.game": {"base", "threads"},
    "bot.protocols": {"base"},
    "bot.servers": {"base"},
    "bot.text": {"base"},
    "bot.threads": set(),
    "bot.workers": {"base"},
    "bot.account": {"base", "game", "servers", "threads"},
    "bot.parts": {"base", "charts"},
    "bot.arena": {"base", "charts", "text"},
    "bot.match": {"base", "game", "workers"},
    "bot.control": {"account", "alarms", "arena", "base", "game", "threads"},
    "bot.views": {"alarms", "base", "charts", "control", "parts", "text"},
    "bot.dashboard": {
        "alarms", "arena", "base", "charts", "control", "parts", "text", "views", "workers",
    },
    "bot.cli": {
        "account", "arena", "base", "control", "game", "match", "parts", "protocols", "servers", "text",
        "threads", "views", "workers",
    },
    "bot.__main__": {"base", "cli"},
    "bot.daemon": {
        "account", "alarms", "arena", "base", "cli", "control", "dashboard", "game", "servers", "threads",
        "views",
    },
}  # fmt: skip
LAB = {
    "lab": set[str](),
    "lab.training": set[str](),
    "lab.mutants": set[str](),
    "lab.analysis": {"training"},
    "lab.experiments": {"analysis", "training"},
    "lab.cli": {"analysis", "experiments", "training"},
}  # fmt: skip
BETWEEN = {
    "engine": set[str](),
    "storage": {"engine", "migrations"},
    "migrations": set[str](),
    "bot": {"engine", "storage"},
    "lab": {"bot", "engine", "storage"},
}

MAX_FILES = 20
WITHOUT_ROOMS = Path("migrations/versions")  # a row of numbered scripts, which only grows
MAX_LAYERS = 7

MAX_STORAGE_LAYERS = 6
# What the engine must not lean on: no network, no database, nothing asynchronous.
NOT_IN_ENGINE = {"asyncio", "aiohttp", "sqlalchemy", "alembic", "requests", "berserk", "socket", "sqlite3"}


def of_others(path: Path) -> set[str]:
    """Top-level names that a module imports."""
    names = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return {name.partition(".")[0] for name in names}


def code_of(*packages: str) -> Iterator[Path]:
    return (path for path in sources() if path.suffix == ".py" and path.parts[0] in packages)


@pytest.mark.parametrize(
    ("package", "table"), [("engine", ENGINE), ("storage", STORAGE), ("bot", BOT), ("lab", LAB)]
)
def test_each_part_imports_what_it_may(package: str, table: dict[str, set[str]]) -> None:
    rooms = grouped(module_graph(), room_of)
    inside = {room: {name for name in rooms[room] if name.startswith(f"{package}.")} for room in rooms}
    found = {room: inside[room] for room in rooms if room.partition(".")[0] == package}
    assert found == {room: {f"{package}.{name}" for name in names} for room, names in table.items()}


def test_packages_look_downwards_only() -> None:
    between = grouped(module_graph(), lambda name: name.partition(".")[0])
    assert {name: set(imported) for name, imported in between.items()} == BETWEEN


def test_nothing_imports_in_a_circle() -> None:
    assert circles(module_graph((*PACKAGES, "bench"))) == []
    assert circles(grouped(module_graph(), room_of)) == []


def test_the_bot_is_not_too_high() -> None:
    rooms = grouped(module_graph(), room_of)
    bot = {room: frozenset(other for other in rooms[room] if other in BOT) for room in BOT}
    assert max(floors(bot).values()) <= MAX_LAYERS


def test_the_storage_is_not_too_high() -> None:
    rooms = grouped(module_graph(), room_of)
    storage = {room: frozenset(other for other in rooms[room] if other in STORAGE) for room in STORAGE}
    assert max(floors(storage).values()) <= MAX_STORAGE_LAYERS


def test_only_the_evidence_judges() -> None:
    """What a reply costs and what is a bait: the rest of the storage is given that as plain values."""
    rules = {"engine.figure_9", "engine.bait_rule", "engine.randomised", "engine.expected"}
    found = {
        name
        for name, imported in module_graph().items()
        if name.startswith("storage.") and room_of(name) != "storage.evidence" and rules & imported
    }
    assert found == set()


def test_no_folder_is_too_full() -> None:
    count = Counter(path.parent for path in sources() if path.name != "__init__.py")
    del count[WITHOUT_ROOMS]
    assert {folder: files for folder, files in count.items() if files > MAX_FILES} == {}


def test_class_names_mean_one_thing() -> None:
    where: dict[str, list[str]] = {}
    for path in code_of(*PACKAGES):
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef):
                where.setdefault(node.name, []).append(path.as_posix())
    assert {name: paths for name, paths in where.items() if len(paths) > 1} == {}


def test_the_map_names_each_folder_once() -> None:
    """After adding or moving a folder: a line in docs/development.md."""
    assert sorted(mapped_folders()) == sorted(folders())


def test_every_module_says_what_it_is() -> None:
    for name in module_graph():
        if not name.startswith("migrations.versions"):
            assert ast.get_docstring(tree_of(module_path(name))), name


def test_tests_mirror_the_tree() -> None:
    """Each folder of tests stands beside a folder of code, but for tests of the whole program."""
    whole = {
        "tests",
        "tests/browser",
        "tests/browser/public",
        "tests/docs",  # the pages of docs/
        "tests/browser/arena",  # single pages of the arena
        "tests/faults",
        "tests/fuzz",
        "tests/ggs",
        "tests/bot/dashboard/numbers",  # all pages at once, by their exports
        "tests/system",
    }
    folders = {
        path.parent for path in sources() if path.parts[0] == "tests" and path.name.startswith("test_")
    }
    code = {path.parent for path in sources()}
    assert {f.as_posix() for f in folders if f.relative_to("tests") not in code} <= whole


def test_the_engine_leans_on_no_network_and_no_loop() -> None:
    for path in code_of("engine"):
        assert not of_others(path) & NOT_IN_ENGINE, path


def test_inference_is_pure_arithmetic() -> None:
    """No database: the numbers of a trial can be recomputed from plain rows."""
    for path in code_of("storage"):
        if path.parent.as_posix() == "storage/evidence/inference":
            assert of_others(path) - set(sys.stdlib_module_names) <= {"numpy", "storage"}, path


def test_only_storage_speaks_sql() -> None:
    for path in code_of("bot"):
        assert not of_others(path) & {"sqlite3", "alembic", "aiosqlite", "asyncpg"}, path


def test_every_http_client_uses_the_proxies_of_the_environment() -> None:
    """All sessions are opened in one place; code that listens or tests may do as it likes."""
    clients = {"ClientSession", "request", "urlopen", "HTTPConnection", "HTTPSConnection"}
    found = {
        path.as_posix()
        for path in code_of("bot", "engine", "storage", "lab")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Call)
        and (getattr(node.func, "attr", "") or getattr(node.func, "id", "")) in clients
        and getattr(getattr(node.func, "value", None), "attr", "") != "_http"
    }
    assert found == {"bot/base/network/http_session.py"}


def test_the_searches_know_no_game() -> None:
    """Search, profiles, players and trap arithmetic name no game; only the registries do."""
    names = (
        "move_chooser",
        "verification",
        "trappy",
        "decision",
        "params",
        "search/reference",
        "search/profiles",
    )
    for name in (*names, "strategies/move_context", "strategies/strategy"):
        source = (ROOT / "engine" / f"{name}.py").read_text()
        tree = ast.parse(source)
        assert not {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & {"Othello", "TicTacToe"}
        assert "engine.games.othello" not in source


# Where sites may be named: their adapters; our own server, which speaks one's protocol and reserves names;
# the settings, where the operator chooses the site and sets what only one of them has; what sites differ in.
MAY_NAME_SITES = (
    "bot/servers/",
    "bot/arena/",
    "bot/base/config.py",
    "bot/base/old_names.py",
    "bot/base/dialects.py",
    "bot/base/notation.py",
)


def sites() -> set[str]:
    """Words by which a site is known, but for our own, whose settings and address the program has."""
    others = [dialect for dialect in DIALECTS.values() if dialect.home]
    homes = {urlsplit(dialect.home).hostname or "" for dialect in others}
    return {word.removeprefix("www.") for word in homes} | {
        word for dialect in others for word in (dialect.name, dialect.protocol)
    }


def words_of_code(path: Path) -> Iterator[str]:
    """Names and texts of a module, docstrings and comments left out."""
    tree = tree_of(path)
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
    names = sites()
    assert names >= {"lichess", "lichess.org", "playstrategy", "pychess.org", "ggs", "skatgame.net"}
    above = [
        path for path in code_of("engine", "storage", "bot") if not path.as_posix().startswith(MAY_NAME_SITES)
    ]
    assert Path("bot/account/matchmaking.py") in above
    for path in above:
        for word in words_of_code(path):
            named = [site for site in names if site in word.casefold()]
            assert not named, f"{path}: {word!r} names {', '.join(named)}"


def test_the_version_is_said_once() -> None:
    """The engine cannot ask the package's metadata, which an editable install leaves as they were."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION
