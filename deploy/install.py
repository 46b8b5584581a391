"""Installs the program into .venv, for the Makefile: ``python3 deploy/install.py [extra]``.

Says each step when it begins, and nothing else unless one fails.  Packages are downloaded while the core is
compiled.  Needs nothing but Python, so that it can say what is missing.
"""

from __future__ import annotations  # an older Python gets as far as `check_system`, which says so

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from shutil import rmtree, which
from sysconfig import get_path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = str(VENV / "bin" / "python")
BUILD = ROOT / "build"
WHEELS = BUILD / "wheels"
REQUIREMENTS = BUILD / "requirements.txt"
COMPILERS = ("c++", "g++", "clang++")
# What pip says when it cannot reach an index; then it goes on about versions that there are not.
NO_NETWORK = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "Failed to establish")
PIP_SETTINGS = {
    # The lock holds for the isolated environments of builds too; the setting's name depends on pip's age.
    "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
    "PIP_BUILD_CONSTRAINT": str(ROOT / "constraints.txt"),
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_USE_PEP517": "1",  # packages without a pyproject.toml (chess) are built as all others are
}
_TOLD_LINES = 15


def main(extra: str = "") -> None:
    """Install; exits with a line that says what is missing or what failed.

    Args:
        extra: One of pyproject.toml's, or "" for none.
    """
    began = time.monotonic()
    check_system()
    BUILD.mkdir(exist_ok=True)
    if not has_pip():
        step("Creating .venv")
        run("venv", [sys.executable, "-m", "venv", "--clear", str(VENV)])
    REQUIREMENTS.write_text("\n".join(requirements(extra)) + "\n")
    core = pip("install", "--no-deps", "--editable", str(ROOT))
    if are_installed():
        step("Compiling the C++ core: about a minute on two cores")
        run("core", core)
    else:
        step("Downloading packages, and compiling the C++ core: about a minute on two cores")
        rmtree(WHEELS, ignore_errors=True)
        packages = pip("wheel", "--wheel-dir", str(WHEELS), "-r", str(REQUIREMENTS))
        finish(start("packages", packages), start("core", core))
        step("Installing packages")
        local = ("--no-index", "--find-links", str(WHEELS), "--no-compile")
        run("install", pip("install", *local, "-r", str(REQUIREMENTS)))
        # On all cores; some packages bring files that are for other versions of Python.
        subprocess.run([PYTHON, "-m", "compileall", "-qq", "-j", "0", str(VENV / "lib")], check=False)
        rmtree(WHEELS, ignore_errors=True)
    step(f"Installed in {time.monotonic() - began:.0f} s")


def check_system() -> None:
    """Exit unless there is all that has to be there before."""
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever calls make may have an older one
        sys.exit("Desdemona needs Python 3.11 or newer: make run PYTHON=python3.12, for instance")
    missing: dict[str, str] = {}
    if not (which(os.environ["CXX"].split()[0]) if os.environ.get("CXX") else any(map(which, COMPILERS))):
        missing["a C++ compiler"] = "g++"
    if find_spec("ensurepip") is None:
        missing["Python's venv"] = "python3-venv"
    if not Path(get_path("include"), "Python.h").exists():
        missing["Python's header files"] = "python3-dev"
    if missing:
        sys.exit(f"Missing: {', '.join(missing)}.  On Debian: apt install {' '.join(missing.values())}")


def has_pip() -> bool:
    """Whether .venv is whole: it may have been begun by hand or on a machine without ensurepip."""
    return (VENV / "bin" / "python").exists() and not subprocess.run(
        [PYTHON, "-c", "import pip"], capture_output=True, check=False
    ).returncode


def are_installed() -> bool:
    """Whether .venv has all packages already, so that nothing has to be downloaded for them."""
    command = pip("install", "--no-index", "-r", str(REQUIREMENTS))
    environment = {**os.environ, **PIP_SETTINGS}
    return not subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode


def requirements(extra: str) -> list[str]:
    """What the program needs by pyproject.toml, with those of an extra, which may name others."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found: list[str] = []
    left = [*project["dependencies"], *([f"{project['name']}[{extra}]"] if extra else [])]
    while left:
        each = left.pop(0)
        if each.startswith(f"{project['name']}["):
            left += project["optional-dependencies"][each.partition("[")[2].rstrip("]")]
        else:
            found.append(each)
    return found


def pip(command: str, *arguments: str) -> list[str]:
    """How to call the pip of .venv."""
    return [PYTHON, "-m", "pip", command, "--quiet", *arguments]


def start(name: str, command: list[str]) -> tuple[subprocess.Popen[bytes], Path]:
    """Begin a command, whose words go to a log."""
    log = BUILD / f"{name}.log"
    with log.open("wb") as file:
        environment = {**os.environ, **PIP_SETTINGS}
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=file, stderr=file, start_new_session=True
        )
        return process, log


def finish(*started: tuple[subprocess.Popen[bytes], Path]) -> None:
    """Wait for commands; exit with the last words of the first that fails, and stop the others."""
    running = list(started)
    try:
        while running:
            for each in [each for each in running if each[0].poll() is not None]:
                running.remove(each)
                if each[0].returncode:
                    fail(each[1])
            time.sleep(0.1)
    finally:
        for process, _ in running:
            with suppress(ProcessLookupError, PermissionError):  # it has just ended by itself
                os.killpg(process.pid, signal.SIGTERM)  # and the compilers that pip has started
            process.wait()


def run(name: str, command: list[str]) -> None:
    """Do a command; exit with its last words when it fails."""
    finish(start(name, command))


def fail(log: Path) -> NoReturn:
    """Exit with the last words of a command, and what to do."""
    said, where = log.read_text(encoding="utf-8", errors="replace"), log.relative_to(ROOT)
    if any(sign in said for sign in NO_NETWORK):
        sys.exit(f"Packages cannot be downloaded: is there a network?  What pip said is in {where}")
    for line in said.splitlines()[-_TOLD_LINES:]:
        print(f"    {line[:200]}", file=sys.stderr)
    sys.exit(f"This failed; all of what it said is in {where}")


def step(text: str) -> None:
    """Say what begins."""
    print(text, flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
