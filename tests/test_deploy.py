"""The units for systemd are ones that systemd takes, and leave the program few rights."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.control.health_monitor import POLL_INTERVAL_S
from tests.programs import installed

FOLDER = Path(__file__).parents[1] / "deploy"
UNITS = ("desdemona.service", "desdemona-standby.service")
EXPOSURE = 15
"""Tenths of systemd's points, of 100: more rights than these need a reason."""


def directives(name: str) -> dict[str, str]:
    """The section [Service] of a unit; of a directive that is repeated, the last one."""
    unit = configparser.RawConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(FOLDER / name, "utf-8")
    return dict(unit["Service"])


def without_heading(name: str) -> list[str]:
    """A unit's lines but for its description and the comment at the top."""
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [line for line in lines[lines.index("[Unit]") :] if not line.startswith("Description=")]


@pytest.fixture(params=UNITS)
def unit(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A unit whose program is there: systemd looks."""
    text = (FOLDER / request.param).read_text("utf-8")
    path = tmp_path / str(request.param)
    path.write_text(text.replace("/srv/desdemona/.venv/bin/desdemona", str(shutil.which("true"))), "utf-8")
    return path


def test_systemd_finds_no_fault(unit: Path) -> None:
    command = [installed("systemd-analyze"), "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_has_few_rights(unit: Path) -> None:
    options = ["security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE}"]
    done = subprocess.run(
        [installed("systemd-analyze"), *options, str(unit)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_standby_is_the_same_program() -> None:
    first, second = UNITS
    assert without_heading(first) == without_heading(second)
    assert re.search(r" run --standby$", directives(first)["ExecStart"])


def test_it_is_watched_and_its_memory_is_limited() -> None:
    found = directives(UNITS[0])
    assert found["Type"] == "notify"
    assert float(found["WatchdogSec"]) >= 4 * POLL_INTERVAL_S  # some reports may be late
    assert re.fullmatch(r"\d+G", found["MemoryMax"])
    assert (found["Restart"], found["RestartPreventExitStatus"]) == ("on-failure", "2")
    assert found["User"] not in ("", "root")
    assert found["UMask"] == "0077"


def test_games_may_end_before_it_is_killed() -> None:
    """The setting that docs/operator/install.md recommends is shorter than the unit's limit."""
    page = (FOLDER.parent / "docs" / "operator" / "install.md").read_text("utf-8")
    drain = re.search(r"drain_s = (\d+)", page)
    assert drain is not None
    assert int(drain[1]) < int(directives(UNITS[0])["TimeoutStopSec"])
