"""Mutants are what they are meant to be, and the table fits the sources."""

from pathlib import Path

import pytest

from lab.mutants.guarded_modules import TABLE, GuardedModule
from lab.mutants.mutators import BadTable, select_mutants

ROOT = Path(__file__).parents[3]
SOURCE = b'''"""Text for people."""

def f(a: int, b: int = 1) -> int:
    """More of it."""
    if a <= b and not b:
        raise ValueError("no" + "where")
    return max(a, b)
'''


@pytest.mark.parametrize("guarded", TABLE, ids=lambda guarded: guarded.path)
def test_the_table_fits_the_sources(guarded: GuardedModule) -> None:
    """Every fixed mutant has its place, and every test file is there."""
    source = (ROOT / guarded.path).read_bytes()
    mutants = select_mutants(guarded, source, sample=2)
    assert len(mutants) == len(guarded.fixed) + 2
    for mutant, (_, after) in zip(mutants, guarded.fixed, strict=False):
        assert after.encode() in mutant.source
    assert all(mutant.source != source for mutant in mutants)
    assert len({mutant.name for mutant in mutants}) == len(mutants)
    files = [argument for argument in guarded.tests if argument.endswith(".py")]
    assert files
    assert all((ROOT / file).is_file() for file in files)


def test_a_fixed_mutant_without_its_place_is_refused() -> None:
    for snippet, count in (("nowhere to be found", 0), ("int", 3)):
        with pytest.raises(BadTable, match=f"{count} times"):
            select_mutants(GuardedModule("f.py", (), fixed=((snippet, ""),)), SOURCE)


def test_python() -> None:
    mutants = select_mutants(GuardedModule("f.py", ()), SOURCE, sample=-1)
    assert {mutant.change.partition("` -> ")[2] for mutant in mutants} == {
        "`def f(a: int, b: int = 2) -> int:`",
        "`if a < b and not b:`",
        "`if a >= b and not b:`",
        "`if a <= b or not b:`",
        "`if True and not b:`",
        "`if a <= b and True:`",
        "`if a <= b and (b):`",
        "`if not (a <= b and not b):`",
        "`pass`",
        "`return min(a, b)`",
        "`return (a)`",
        "`return (b)`",
        "`return None`",
    }


def test_native() -> None:
    source = b"// a < b\n    if (a < 1 && !b) return -c;  // a < b\n"
    mutants = select_mutants(GuardedModule("f.hpp", ()), source, sample=-1)
    assert {mutant.change.partition(" -> ")[2].removesuffix(" // a < b`") for mutant in mutants} == {
        "`if (a <= 1 && !b) return -c;",
        "`if (a > 1 && !b) return -c;",
        "`if (a < 1 || !b) return -c;",
        "`if (a < 1 && b) return -c;",
        "`if (a < 1 && !b) return c;",
        "`if (a < 2 && !b) return -c;",
        "`if (false && a < 1 && !b) return -c;",
        "`if (true || a < 1 && !b) return -c;",
    }


def test_the_same_ones_are_drawn_each_time_and_elsewhere() -> None:
    """What is drawn depends on the changes alone, so that another line does not draw anew."""
    first = select_mutants(GuardedModule("f.py", ()), SOURCE, sample=5)
    again = select_mutants(GuardedModule("f.py", ()), SOURCE + b"\n\nX = f\n", sample=5)
    assert [mutant.change for mutant in first] == [mutant.change for mutant in again]
