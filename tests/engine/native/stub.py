"""Generates the C++ core's stub from the built module: `python -m tests.engine.native.stub FILE`."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PATH = Path(__file__).parents[3] / "engine" / "_native.pyi"


def generated() -> str:
    """What nanobind's stubgen writes, without the values of constants (one is the processor's), formatted."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "_native.pyi"
        stubgen = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "engine._native", "-o", str(raw)]
        subprocess.run(stubgen, check=True)
        text = re.sub(r"^(\w+: \w+) = .*$", r"\1", raw.read_text(), flags=re.MULTILINE)
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(PATH), "-"]
    return subprocess.run(ruff, check=True, input=text, capture_output=True, text=True).stdout


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(generated())
