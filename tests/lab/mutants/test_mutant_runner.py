"""Mutants and the tests that guard them, in a process that has imported nothing of the program yet."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import json, sys
from pathlib import Path

from lab.mutants.guarded_modules import GuardedModule
from lab.mutants.mutant_runner import MutantRun, run
from lab.mutants.mutators import Mutant

path, test, changes = json.loads(sys.argv[1])
source = Path(path).read_text()
jobs = [
    MutantRun(GuardedModule(path, (test,)), Mutant(path, name, source.replace(*change, 1).encode()), limit_s)
    for name, change, limit_s in changes
]
jobs.append(MutantRun(GuardedModule("lab/nowhere.py", (test,)), Mutant("lab/nowhere.py", "elsewhere", b"")))
folder = Path(sys.argv[2])
ended = {done.job.mutant.change: [done.verdict, done.output] for done in run(jobs, folder, None, 2)}
print(json.dumps([ended, [each.name for each in folder.iterdir()]]))
"""
PATH, TEST = "storage/evidence/inference/student.py", "tests/storage/evidence/inference/test_student.py"


def test_verdicts(tmp_path: Path) -> None:
    first = "def t_quantile("
    assert first in (ROOT / PATH).read_text()
    changes = [
        ("unchanged", (first, first), None),
        ("wrong", (first, f"{first}*_: float) -> float:\n    return 1.0\n\n\ndef _unused("), None),
        ("endless", (first, f"while True: ...\n{first}"), 0.2),
    ]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps([PATH, TEST, changes]), str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended, left = json.loads(done.stdout)
    assert {name: verdict for name, (verdict, _) in ended.items()} == {
        "unchanged": "survived",
        "wrong": "killed",
        "endless": "killed (endless)",
        "elsewhere": "not imported",
    }
    assert "FAILED" in ended["wrong"][1]
    assert left == []
    assert "while True: ..." not in (ROOT / PATH).read_text()
