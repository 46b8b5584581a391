"""Installs the program into .venv, for the Makefile: ``python3 deploy/install.py [extra]``.

Announces each step, and during a long one, every few seconds, how far it is; also when the output is a file.
Downloads packages while the core compiles.
Needs only Python, so that it can report what is missing.
"""

from __future__ import annotations  # lets an older Python get as far as `check_system`

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
# In pip's output when it cannot reach an index; the error that it ends with is about missing versions.
NO_NETWORK = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "Failed to establish")
PIP_SETTINGS = {
    # The pins hold in isolated build environments too; the setting's name depends on pip's version.
    "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
    "PIP_BUILD_CONSTRAINT": str(ROOT / "constraints.txt"),
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_USE_PEP517": "1",  # build packages without a pyproject.toml (chess) like all others
}
_SHOWN_LINES = 15
PROGRESS_S = 8.0
"""Seconds after which a line is printed about a step that goes on."""


def main(*arguments: str) -> None:
    """Install; exits with one line about what is missing, wrong or failed.

    Args:
        arguments: At most one: the name of an extra in pyproject.toml.
    """
    began = time.monotonic()
    check_system()
    if len(arguments) > 1:
        sys.exit("usage: python3 deploy/install.py [extra]")
    wanted = requirements("".join(arguments))
    BUILD.mkdir(exist_ok=True)
    if not has_pip():
        step("Creating .venv")
        run("venv", [sys.executable, "-m", "venv", "--clear", str(VENV)])
    REQUIREMENTS.write_text("\n".join(wanted) + "\n")
    core = pip("install", "--no-deps", "--editable", str(ROOT))
    step("Checking which packages are installed")
    if are_installed():
        step("Compiling the C++ core: one to three minutes on two cores")
        run("core", core)
    else:
        step("Downloading packages, and compiling the C++ core: one to three minutes on two cores")
        rmtree(WHEELS, ignore_errors=True)
        packages = pip("wheel", "--wheel-dir", str(WHEELS), "-r", str(REQUIREMENTS), is_quiet=False)
        finish(start("packages", packages), start("core", core))
        step("Installing packages")
        local = ("--no-index", "--find-links", str(WHEELS), "--no-compile")
        run("install", pip("install", *local, "-r", str(REQUIREMENTS)))
        step("Compiling the packages' Python files")
        # On all cores.  May fail: some packages have files for other versions of Python.
        compiling = [PYTHON, "-m", "compileall", "-qq", "-j", "0", str(VENV / "lib")]
        run("compileall", ["sh", "-c", '"$@" || true', "sh", *compiling])
        rmtree(WHEELS, ignore_errors=True)
    step(f"Installed in {time.monotonic() - began:.0f} s")


def check_system() -> None:
    """Exit unless the system has all that the installation builds on."""
    if sys.version_info < (3, 11):  # noqa: UP036 - make may run an older one
        sys.exit("Desdemona needs Python 3.11 or newer: make run PYTHON=python3.12, for instance")
    missing: dict[str, str] = {}
    compiler = os.environ.get("CXX", "")
    if compiler and not compiler.strip():  # CMake would look for a program of this name
        sys.exit("CXX is blank: unset it, or set it to a C++ compiler, for instance g++")
    if not (which(compiler.split()[0]) if compiler else any(map(which, COMPILERS))):
        missing["a C++ compiler"] = "g++"
    if find_spec("ensurepip") is None:
        missing["Python's venv"] = "python3-venv"
    if not Path(get_path("include"), "Python.h").exists():
        missing["Python's header files"] = "python3-dev"
    if missing:
        sys.exit(f"Missing: {', '.join(missing)}.  On Debian: apt install {' '.join(missing.values())}")


def has_pip() -> bool:
    """Whether .venv is complete: made by hand or on a machine without ensurepip, it may lack pip."""
    return (VENV / "bin" / "python").exists() and not subprocess.run(
        [PYTHON, "-c", "import pip"], capture_output=True, check=False
    ).returncode


def are_installed() -> bool:
    """Whether .venv already has all packages, so that there is nothing to download."""
    command = pip("install", "--no-index", "-r", str(REQUIREMENTS))
    environment = {**os.environ, **PIP_SETTINGS}
    return not subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).returncode


def requirements(extra: str) -> list[str]:
    """The program's requirements in pyproject.toml, with those of an extra, which may include other extras.

    Exits if there is no such extra.
    """
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    if extra and extra not in extras:
        sys.exit(f"unknown extra {extra!r}; pyproject.toml has {', '.join(extras)}")
    found: list[str] = []
    left = [*project["dependencies"], *([f"{project['name']}[{extra}]"] if extra else [])]
    while left:
        each = left.pop(0)
        if each.startswith(f"{project['name']}["):
            left += extras[each.partition("[")[2].rstrip("]")]
        else:
            found.append(each)
    return found


def pip(command: str, *arguments: str, is_quiet: bool = True) -> list[str]:
    """The command that runs .venv's pip."""
    return [PYTHON, "-m", "pip", command, *["--quiet"] * is_quiet, *arguments]


def start(name: str, command: list[str]) -> tuple[subprocess.Popen[bytes], Path]:
    """Start a command whose output goes to a log file; returns both."""
    log = BUILD / f"{name}.log"
    with log.open("wb") as file:
        environment = {**os.environ, **PIP_SETTINGS}
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=file, stderr=file, start_new_session=True
        )
        return process, log


def finish(*started: tuple[subprocess.Popen[bytes], Path]) -> None:
    """Wait for commands; when one fails, stop the others and exit with the end of its output."""
    running = list(started)
    began, clock = time.time(), time.monotonic()
    printed = clock
    try:
        while running:
            if (now := time.monotonic()) - printed >= PROGRESS_S:
                printed = now
                parts = [part for _, log in running if (part := progress(log, began))]
                step("; ".join([f"  {now - clock:.0f} s", *(parts or ["still at it"])]))
            for each in [each for each in running if each[0].poll() is not None]:
                running.remove(each)
                if each[0].returncode:
                    fail(each[1])
            time.sleep(0.1)
    finally:
        for process, _ in running:
            with suppress(ProcessLookupError, PermissionError):  # it has just ended
                os.killpg(process.pid, signal.SIGTERM)  # and the compilers that pip started
            process.wait()


def progress(log: Path, began: float) -> str:
    """How far a step is; empty if that is not known.

    Args:
        log: Its log file; ``core.log`` is that of the compiler, whose output pip keeps to itself.
        began: When the step began, in seconds since 1970.
    """
    if log.name == "core.log":
        made = {path: path.stat().st_mtime for path in BUILD.glob("*/CMakeFiles/*.dir/**/*.o")}
        new = [path for path, at in made.items() if at >= began]
        if not new:
            return "compiling"
        last = max(new, key=made.__getitem__)
        # .../CMakeFiles/unit_v3.dir/engine/native/chess/chess_unit.cpp.o; nanobind's are in a long folder
        target, *source = last.relative_to(BUILD).parts[2:]
        name = source[-1].removesuffix(".o")
        return f"{len(new)} C++ files compiled, last {name} for {target.removesuffix('.dir')}"
    said = [line.split() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    verbs = ("Collecting", "Downloading", "Building")
    return next((" ".join(words[:5]) for words in reversed(said) if words and words[0] in verbs), "")


def run(name: str, command: list[str]) -> None:
    """Run a command; exit with the end of its output if it fails."""
    finish(start(name, command))


def fail(log: Path) -> NoReturn:
    """Exit with the end of a command's output, and with what to do."""
    output, where = log.read_text(encoding="utf-8", errors="replace"), log.relative_to(ROOT)
    if any(sign in output for sign in NO_NETWORK):
        sys.exit(f"Packages cannot be downloaded: is there a network?  pip's output is in {where}")
    for line in output.splitlines()[-_SHOWN_LINES:]:
        print(f"    {line[:200]}", file=sys.stderr)
    sys.exit(f"This failed; its whole output is in {where}")


def step(text: str) -> None:
    """Announce a step."""
    print(text, flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
