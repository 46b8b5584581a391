"""The core with a changed header: what is compiled once, what for each mutant, and what is linked."""

from pathlib import Path

import pytest

from lab.mutants.native_build import MUTATED_UNIT, NATIVE, Build, DoesNotCompile

# It notes its arguments in the file that it is to make, with the headers that the include path leads to.
COMPILER = """#!/bin/sh
out= include= previous=
for argument; do
    case "$previous" in -o) out=$argument;; esac
    case "$argument" in -I*/native) include=${argument#-I};; esac
    previous=$argument
done
if [ -n "$include" ] && grep -q wrong "$include/search.hpp"; then echo "search.hpp: wrong" >&2; exit 1; fi
{ echo "$@"; [ -z "$include" ] || cat "$include/search.hpp"; } > "$out"
"""


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    native = tmp_path / NATIVE
    for name in ("module.cpp", "chess/chess_unit.cpp", str(MUTATED_UNIT), "search.hpp"):
        (native / name).parent.mkdir(parents=True, exist_ok=True)
        (native / name).write_text(f"{name} as it is\n")
    compiler = tmp_path / "compiler"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    made = Build(tmp_path, tmp_path / "core")
    made.prepare(workers=2)
    return made


@pytest.mark.usefixtures("build")
def test_all_but_one_unit_is_compiled_once(tmp_path: Path) -> None:
    objects = {path.name for path in (tmp_path / "core").iterdir()}
    assert objects == {"nb_combined.o", "module.o", "chess_unit.o"}


def test_a_mutant_is_compiled_into_a_folder_of_its_own_and_linked(build: Build, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    module = build.module(NATIVE / "search.hpp", b"a mutant\n", own)
    assert "a mutant" in (own / f"{MUTATED_UNIT.stem}.o").read_text()
    assert (tmp_path / NATIVE / "search.hpp").read_text() == "search.hpp as it is\n"
    linked = {Path(word).name for word in module.read_text().split() if word.endswith(".o")}
    assert linked == {"nb_combined.o", "module.o", "chess_unit.o", f"{MUTATED_UNIT.stem}.o"}
    assert module.parent == own
    assert module.name.startswith("_native.")


def test_what_the_compiler_refuses_is_told(build: Build, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    with pytest.raises(DoesNotCompile, match=r"search\.hpp: wrong"):
        build.module(NATIVE / "search.hpp", b"wrong\n", own)
