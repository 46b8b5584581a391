"""The container file: what it copies is there, who it runs as, and the command that asks for its health."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def steps() -> list[tuple[str, str]]:
    """The instructions of the container file with their arguments, in order."""
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    text = "\n".join(line for line in lines if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in joined if line)]


def arguments(steps: list[tuple[str, str]], wanted: str) -> list[str]:
    return [rest for word, rest in steps if word == wanted]


def test_all_that_the_build_needs_is_copied(steps: list[tuple[str, str]]) -> None:
    copied: set[str] = set()
    for rest in arguments(steps, "COPY"):
        if not rest.startswith("--from="):
            copied |= set(rest.split()[:-1])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    named = {project["project"]["readme"], *project["project"]["license-files"]}
    installed = re.findall(r"(?:config\.toml|deploy)", (ROOT / "CMakeLists.txt").read_text("utf-8"))
    packages = set(project["tool"]["scikit-build"]["wheel"]["packages"])
    wanted = packages | named | set(installed) | {"CMakeLists.txt", "constraints.txt", "pyproject.toml"}
    assert copied == wanted
    assert all((ROOT / name).exists() for name in copied)
    let_through = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in let_through if line.startswith("!")} == copied


def test_it_runs_as_a_user_of_its_own(steps: list[tuple[str, str]]) -> None:
    assert arguments(steps, "USER") == ["desdemona"]
    assert steps.index(("USER", "desdemona")) > max(n for n, (word, _) in enumerate(steps) if word == "RUN")
    assert arguments(steps, "STOPSIGNAL") == ["SIGTERM"]
    (folder,) = arguments(steps, "VOLUME")
    assert f"{arguments(steps, 'WORKDIR')[-1]}/data" == folder
    # The program itself, not a shell, which would keep the signal to itself.
    assert json.loads(arguments(steps, "ENTRYPOINT")[0]) == ["desdemona"]
    assert json.loads(arguments(steps, "CMD")[0]) == ["run"]


def test_the_compiler_stays_behind(steps: list[tuple[str, str]]) -> None:
    stages = [number for number, (word, _) in enumerate(steps) if word == "FROM"]
    assert len(stages) == 2
    assert "g++" in json.dumps(steps[: stages[1]])
    assert "g++" not in json.dumps(steps[stages[1] :])


@contextmanager
def answering(status: int) -> Iterator[int]:
    """A server whose /healthz answers with a status, and anything else with 404; yields its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (404, 1)])
def test_its_health_is_that_of_the_program(steps: list[tuple[str, str]], status: int, code: int) -> None:
    python, *rest = json.loads(arguments(steps, "HEALTHCHECK")[0].partition("CMD")[2])
    assert python == "python3"
    with answering(status) as port:
        environment = {**os.environ, "DESDEMONA_DASHBOARD__PORT": str(port)}
        done = subprocess.run([sys.executable, *rest], env=environment, capture_output=True, check=False)
    assert done.returncode == code
    done = subprocess.run([sys.executable, *rest], env=environment, capture_output=True, check=False)
    assert done.returncode == 1  # nobody listens there
