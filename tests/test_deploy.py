"""The unit file for systemd is one that systemd takes."""

import shutil
import subprocess
from pathlib import Path

from tests.programs import installed

UNIT = Path(__file__).parents[1] / "deploy" / "desdemona.service"


def test_systemd_finds_no_fault(tmp_path: Path) -> None:
    program = shutil.which("true")  # systemd looks whether the program is there
    text = UNIT.read_text("utf-8").replace("/srv/desdemona/.venv/bin/desdemona", str(program))
    unit = tmp_path / UNIT.name
    unit.write_text(text, "utf-8")
    done = subprocess.run(
        [installed("systemd-analyze"), "verify", "--man=no", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
