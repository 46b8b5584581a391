"""`python -m lab.mutants [MODULE ...]`: tests mutants of all guarded modules, or of the given modules.

The exit status is 1 if fewer than 95 % of them are killed, or if lab/mutants/survivors.md omits a survivor.
"""

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

from bot.threads.cores import available_cores
from lab.mutants.guarded_modules import TABLE, GuardedModule
from lab.mutants.mutant_runner import (
    LIMIT_FACTOR,
    MIN_TIMEOUT_S,
    ROOT,
    MutantResult,
    MutantRun,
    MutantVerdict,
    preload,
    run,
)
from lab.mutants.mutators import BadTable, Mutant, select_mutants
from lab.mutants.native_build import Build

DOCUMENT = ROOT / "lab" / "mutants" / "survivors.md"
MIN_MUTATION_SCORE = 0.95


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.mutants", description=__doc__)
    parser.add_argument(
        "modules", nargs="*", help="paths of modules or parts of paths; by default all modules in the table"
    )
    parser.add_argument("--sample", type=int, help="number of mutants per module; -1: all")
    parser.add_argument("--workers", type=int, default=available_cores())
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    parser.add_argument(
        "--output", action="store_true", help="show the output of the tests that killed a mutant"
    )
    options = parser.parse_args()
    os.chdir(ROOT)
    guarded = [g for g in TABLE if not options.modules or any(part in g.path for part in options.modules)]
    try:
        mutants = {g: select_mutants(g, (ROOT / g.path).read_bytes(), options.sample) for g in guarded}
    except BadTable as error:
        print(f"lab/mutants/guarded_modules.py: {error}")
        return 1
    if options.list:
        for mutant in (each for group in mutants.values() for each in group):
            print(mutant.name)
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    preload()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        return _try(mutants, Path(folder), options.workers, options.output)


def _try(mutants: dict[GuardedModule, list[Mutant]], folder: Path, workers: int, show: bool) -> int:
    build = None
    if any(guarded.is_native for guarded in mutants):
        print("Compiling the core", flush=True)
        build = Build(ROOT, folder / "core")
        build.prepare(workers)
    print(f"Running the tests without mutants, {workers} at a time", flush=True)
    limits_s = {}
    for done in run([MutantRun(g, _original(g)) for g in mutants], folder, build, workers):
        if done.verdict is not MutantVerdict.SURVIVED:
            print(f"{done.output}\n{done.job.guarded.path}: its tests fail without a mutant ({done.verdict})")
            return 1
        limits_s[done.job.guarded] = MIN_TIMEOUT_S + LIMIT_FACTOR * done.took_s
        print(f"{done.took_s:6.1f} s  {done.job.guarded.path}", flush=True)
    jobs = [
        MutantRun(guarded, mutant, limits_s[guarded])
        for guarded, group in mutants.items()
        for mutant in group
    ]
    print(f"{len(jobs)} mutants", flush=True)
    ended = []
    for done in run(jobs, folder, build, workers):
        ended.append(done)
        print(f"{done.took_s:6.1f} s  {done.verdict:10} {done.job.mutant.name}", flush=True)
        if show and done.verdict is not MutantVerdict.SURVIVED:
            print(done.output)
    return _summary(mutants, ended)


def _original(guarded: GuardedModule) -> Mutant:
    return Mutant(guarded.path, "unchanged", (ROOT / guarded.path).read_bytes())


def _summary(mutants: dict[GuardedModule, list[Mutant]], ended: list[MutantResult]) -> int:
    """Print the results and return the exit status."""
    valid = [done for done in ended if done.verdict is not MutantVerdict.INVALID]
    survivors = sorted(done.job.mutant.name for done in valid if not done.verdict.is_kill)
    explained = DOCUMENT.read_text() if DOCUMENT.exists() else ""
    print()
    for guarded in mutants:
        own = [done for done in valid if done.job.guarded is guarded]
        killed = sum(done.verdict.is_kill for done in own)
        print(f"{killed:4} of {len(own):3}  {guarded.path}")
    unexplained = [name for name in survivors if f"- {name}: " not in explained]
    for name in survivors:
        print(f"survived{', unexplained' if name in unexplained else ''}: {name}")
    for done in valid:
        if done.verdict.is_kill and f"- {done.job.mutant.name}: " in explained:
            print(f"explained, but killed: {done.job.mutant.name}")
    killed = len(valid) - len(survivors)
    share = killed / len(valid) if valid else 0.0
    print(f"{len(valid)} mutants, {killed} killed, {len(survivors)} survived: {share:.1%}")
    # A fixed mutant that does not compile tests nothing.
    broken = [done.job.mutant for done in ended if done.verdict is MutantVerdict.INVALID]
    fixed = {mutant.name for guarded, group in mutants.items() for mutant in group[: len(guarded.fixed)]}
    bad = [mutant.name for mutant in broken if mutant.name in fixed]
    for name in bad:
        print(f"does not compile: {name}")
    return 1 if share < MIN_MUTATION_SCORE or unexplained or bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
