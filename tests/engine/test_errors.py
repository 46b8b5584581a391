"""The engine's errors have types, and whoever is outside the engine catches them by these."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import errors

ROOT = Path(__file__).parents[2]

# Where a bare ValueError may be caught, and what raises it there: never the engine, whose own have types.
PARSING = {
    "storage/evidence/game_records.py": {"probability_of"},  # JSON
    "storage/evidence/queries/filter_language.py": {"parse_filters", "parse_time"},
    "storage/packing/records.py": {"_json", "pack", "unpack"},
    "storage/packing/columns.py": {"_write_floats"},
    "storage/evidence/exports/games.py": {"read"},
    "bot/dashboard/controls.py": {"_minutes"},
    "bot/dashboard/access.py": {"_host_of", "read_form"},
    "bot/alarms/hooks.py": {"run_hook_command", "post_json"},
    "bot/account/block_list.py": {"_fetch", "names"},  # a name that no file has
    "bot/control/control_socket.py": {"_request"},
    "bot/arena/http.py": {"fields", "as_int"},
    "bot/arena/proxies.py": {"_parsed"},
    "bot/arena/traffic/assets.py": {"_languages"},  # JSON
    "bot/base/config.py": {
        "_placeholders_are_known",
        "_read_config_file",
        "_read_token_file",
        "_web_address",
        "is_loopback",
        "load_config",
    },
    "bot/base/network/http_session.py": {"proxy_of"},  # yarl
    "bot/base/old_names.py": {"_new_json"},
    "lab/cli/analyse.py": {"_settings"},  # quotes of a command
    "lab/cli/study.py": {"_read_card"},  # JSON
    "bot/cli/stats/stats_command.py": {"_keys"},
    "bot/views/results.py": {"load"},
    "bot/views/statistics/trial.py": {"_more_games_text"},  # our own arithmetic
    "bot/protocols/console.py": {"say"},  # a closed stream
    "bot/protocols/gtp.py": {"_loadsgf"},  # a name that no file has
    "bot/protocols/uci.py": {"_read_start"},  # python-chess
    "bot/match/player_specs.py": {"_command", "_spec_errors", "_number"},  # numbers, quotes of a command
    "bot/workers/pools.py": {"__init__"},  # dask
    "bot/servers/ggs/server.py": {"read_address"},
    "bot/servers/ggs/wire.py": {"_flag"},
    "bot/servers/lichess.py": {"_is_origin"},
    "bot/servers/lichess_calls.py": {"ask"},  # berserk
    "bot/servers/lichess_errors.py": {"read_error", "_redirect", "_retry_after_s"},
    "bot/servers/lichess_wire.py": {"read_line", "read_token_info"},
    "bot/servers/recording.py": {"data", "read", "write"},  # JSON, base64
    "bot/threads/cores.py": {"_cgroup_limits"},
    "storage/database.py": {"parse_url", "_create_engine"},  # SQLAlchemy
}


def functions_that_catch(path: Path) -> Iterator[tuple[str, ast.Try]]:
    """Names of the functions in which a bare ValueError is caught, with the statement."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, ast.Try]]:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            function = node.name
        if isinstance(node, ast.Try):
            caught = [name for handler in node.handlers if handler.type for name in ast.walk(handler.type)]
            if any(isinstance(name, ast.Name) and name.id == "ValueError" for name in caught):
                yield function, node
        for child in ast.iter_child_nodes(node):
            yield from walk(child, function)

    yield from walk(ast.parse(path.read_text()), "")


def engine_names(path: Path) -> set[str]:
    """What a module has from the engine."""
    return {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "engine"
        for alias in node.names
    }


def modules() -> list[Path]:
    outside = ("bot", "lab/analysis", "lab/cli", "lab/experiments", "storage")  # training is of the engine
    found = [path for package in outside for path in sorted((ROOT / package).rglob("*.py"))]
    assert found
    return found


def test_a_bare_value_error_is_caught_only_where_text_is_read() -> None:
    found: dict[str, set[str]] = {}
    for path in modules():
        for function, _ in functions_that_catch(path):
            found.setdefault(path.relative_to(ROOT).as_posix(), set()).add(function)
    assert found == PARSING


def test_what_it_is_caught_of_is_not_the_engine() -> None:
    for path in modules():
        ours = engine_names(path)
        for function, statement in functions_that_catch(path):
            used = {
                node.id
                for line in statement.body
                for node in ast.walk(line)
                if isinstance(node, ast.Name) and node.id in ours
            }
            assert not used, f"{path}, {function}: an error of {', '.join(used)} has a type of its own"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def f():\n try: pass\n except ValueError: pass", ["f"]),
        ("def f():\n try: pass\n except (OSError, ValueError) as e: pass", ["f"]),
        (
            "class A:\n async def g(self):\n  try: pass\n  except OSError: pass\n  except ValueError: pass",
            ["g"],
        ),
        ("def f():\n try: pass\n except OSError: pass", []),
    ],
)
def test_the_guard_itself(tmp_path: Path, source: str, found: list[str]) -> None:
    (tmp_path / "module.py").write_text(source)
    assert [function for function, _ in functions_that_catch(tmp_path / "module.py")] == found


def test_the_tree_is_the_one_that_is_drawn() -> None:
    drawn = re.findall(r"\+-- (\w+)", errors.__doc__ or "")
    classes = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert {kind.__name__ for kind in classes} == {"EngineFault", *drawn}
    assert all(issubclass(kind, errors.EngineFault) for kind in classes)
    assert [kind.__name__ for kind in classes if issubclass(kind, ValueError)] == ["BadSettings"]
