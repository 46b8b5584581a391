"""The core's units, one for each instruction set: all the same to the last node, and no code in common."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine import _native
from engine.games.othello import Othello, OthelloPosition
from engine.games.othello_evaluation import weight_bytes
from engine.native.weak_symbols import weak_code
from engine.search.reference import INFINITY
from tests.engine.positions import random_position

ROOT = Path(__file__).parents[3]
POSITIONS = [
    random_position(Othello(), random.Random(seed), plies) for seed, plies in enumerate(range(2, 62, 5))
]


def everything(positions: Sequence[OthelloPosition]) -> list[Any]:
    """Whatever the unit in use makes of some positions."""
    stop = _native.StopFlag()
    core = _native.OthelloSearch(4, _native.OthelloEvaluation(weight_bytes()))
    found: list[Any] = []
    for position in positions:
        p = (position.mover, position.waiter)
        found.append(
            [_native.othello_moves_mask(*p), *(_native.othello_perft(*p, depth) for depth in range(6))]
        )
        found.append(core.evaluate(p))
        found.append([core.search(p, depth, -INFINITY, INFINITY, stop) for depth in range(6)])
        found += [
            core.trappy_candidates(p, 5, assessment, 100, False, b"", 0.0, 0.0, stop)
            for assessment in range(3)
        ]
        found += [
            core.think(p, depth, 0.0, confidence, 1, 0, stop) for depth, confidence in ((7, 73), (4, 100))
        ]
        if p[0].bit_count() + p[1].bit_count() > 50:
            found.append(core.solve(p, stop))
        found.append(core.nodes)
    return found


def run_with_unit(unit: str) -> subprocess.CompletedProcess[str]:
    """Runs this file with a unit forced."""
    command = [sys.executable, "-m", "tests.engine.native.test_units"]
    environment = {**os.environ, "DESDEMONA_UNIT": unit}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_units_are_the_same() -> None:
    assert _native.units()[0] == "baseline"
    assert _native.UNIT in _native.units()
    # As JSON, where tuples are lists.
    expected = json.loads(json.dumps(everything(POSITIONS)))
    for unit in _native.units():
        done = run_with_unit(unit)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert told["unit"] == unit
        assert told["found"] == expected, unit


def test_an_unknown_unit_is_an_import_error() -> None:
    done = run_with_unit("z80")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: DESDEMONA_UNIT is 'z80'; this processor runs: baseline"), done.stderr


def test_weak_code_is_found_in_a_listing() -> None:
    listing = (
        "0000000000000000 V DW.ref.__gxx_personality_v0\n"
        "                 U _Unwind_Resume\n"
        "0000000000000000 W _ZNSt6vectorIiED1Ev\n"
        "0000000000000010 t _ZN9desdemona4playEv\n"
        "0000000000000000 u _ZZN1fEvE1x\n"
    )
    assert weak_code(listing) == ["_ZNSt6vectorIiED1Ev", "_ZZN1fEvE1x"]


def test_the_build_refuses_weak_code(tmp_path: Path) -> None:
    """CMakeLists.txt has the check run before it links; here it meets a function that units would share."""
    assert "weak_symbols.py" in (ROOT / "CMakeLists.txt").read_text()
    compiler, nm = shutil.which("c++"), shutil.which("nm")
    if compiler is None or nm is None:
        pytest.skip("no compiler, or no nm")
    check = [sys.executable, str(ROOT / "engine" / "native" / "weak_symbols.py"), nm]
    for name, kind, complaint in (
        ("own", "static", ""),
        ("shared", "inline", "shared.o: other units may end up"),
    ):
        source, compiled = tmp_path / f"{name}.cpp", tmp_path / f"{name}.o"
        source.write_text(
            f"{kind} int twice(int n) {{ return 2 * n; }}\nint (*const pointer)(int) = twice;\n"
            "int use() { return pointer(1); }\nint (*address())(int) { return twice; }\n"
        )
        subprocess.run([compiler, "-O0", "-c", source, "-o", compiled], check=True)
        done = subprocess.run([*check, str(compiled)], capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == bool(complaint)
        assert complaint in done.stderr


if __name__ == "__main__":
    json.dump({"unit": _native.UNIT, "found": everything(POSITIONS)}, sys.stdout)
