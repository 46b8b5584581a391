"""Generates the stubs of the C++ modules from what was built: `python -m tests.engine.native.stub`.

They have the signatures alone: the docstrings are written once, in the bindings, and `help` shows them.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[3]
STUBS = {"engine._native": ROOT / "engine" / "_native.pyi", "lab._training": ROOT / "lab" / "_training.pyi"}
"""Where each module's stub lies."""


def generated(module: str) -> str:
    """What nanobind's stubgen writes, without docstrings and values of constants (one is the processor's),
    formatted."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / STUBS[module].name
        stubgen = [sys.executable, "-m", "nanobind.stubgen", "-q", "-D", "-m", module, "-o", str(raw)]
        subprocess.run(stubgen, check=True)
        text = re.sub(r"^(\w+: \w+) = .*$", r"\1", raw.read_text(), flags=re.MULTILINE)
    ruff = [sys.executable, "-m", "ruff", "format", "--quiet", "--stdin-filename", str(STUBS[module]), "-"]
    return subprocess.run(ruff, check=True, input=text, capture_output=True, text=True).stdout


if __name__ == "__main__":
    for name, path in STUBS.items():
        path.write_text(generated(name))
