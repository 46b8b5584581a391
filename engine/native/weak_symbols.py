"""Build check that rejects object files of the core that share code (`python weak_symbols.py NM OBJECT ...`).

An inline function compiled for several instruction sets becomes a weak symbol in each object file, and the
linker keeps only one copy, so a processor without AVX2 could execute AVX2 code. See unit.hpp.
"""

import subprocess
import sys


def weak_code(listing: str) -> list[str]:
    """Weak (W) and unique (u) symbols in `nm` output; not weak data (V), which contains no code."""
    return [line.split()[-1] for line in listing.splitlines() if line.split()[-2:-1] in (["W"], ["u"])]


if __name__ == "__main__":
    program, *objects = sys.argv[1:]
    for path in objects:
        found = weak_code(subprocess.run([program, path], check=True, capture_output=True, text=True).stdout)  # noqa: S603
        if found:
            sys.exit(f"{path}: other units may end up with this code: {', '.join(found)}")
