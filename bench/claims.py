"""Claims that a long run should confirm, and the verdicts on them."""

import resource
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

MAX_MEMORY_GROWTH = 1.1
"""Maximum ratio of final to initial memory at which memory counts as constant."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim about a run, with its verdict."""

    text: str
    holds: bool | None
    """Whether the claim holds; None if this run is inconclusive."""
    because: str


class Findings(ABC):
    """The results of a run, with the claims about it."""

    @property
    @abstractmethod
    def claims(self) -> list[Claim]:
        """All claims about the run."""

    @property
    def complaints(self) -> list[str]:
        """The reasons why the run failed; empty if it passed."""
        return [f"{claim.text}: {claim.because}" for claim in self.claims if claim.holds is False]

    def verdict(self) -> Iterator[str]:
        """The end of the report: whether the run passed, and each claim."""
        can_tell = all(claim.holds is not None for claim in self.claims)
        well = "passed" if can_tell else "passed, as far as a run this short can tell"
        yield "verdict: " + ("NOT PASSED" if self.complaints else well)
        yield from claim_lines(self.claims)


def claim_lines(claims: Iterable[Claim]) -> Iterator[str]:
    """One line per claim."""
    for claim in claims:
        word = {True: "yes", False: "NO", None: "cannot tell"}[claim.holds]
        yield f"  {word:11} {claim.text}: {claim.because}"


def none_found(text: str, found: Sequence[str]) -> Claim:
    """Claim that a list is empty; if it is not, show its first five items."""
    shown = "; ".join(each[:200] for each in found[:5])
    return Claim(text, not found, f"{len(found)} found{': ' * bool(found)}{shown}")


def memory_flat(rss_mb: Sequence[tuple[int, float]], steady_s: int) -> Claim:
    """Claim that memory does not grow after the program's last restart.

    Args:
        rss_mb: Process number (increases at each restart) and memory in MB, sampled every second.
        steady_s: Minimum time since the last restart for a verdict, in seconds.
    """
    life = [mb for number, mb in rss_mb if number == rss_mb[-1][0]]
    quarter = len(life) // 4
    if len(life) < steady_s:
        return Claim("memory flat", None, f"the bot's last run lasted only {len(life)} s")
    # The first quarter is warm-up.
    early, late = median(life[quarter : 2 * quarter]), median(life[-quarter:])
    return Claim(
        "memory flat", late <= early * MAX_MEMORY_GROWTH, f"{early:.0f} MB early, {late:.0f} MB late"
    )


def processor_s() -> tuple[float, float]:
    """Return the processor seconds of this process's finished children, and of this process itself."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return others.ru_utime + others.ru_stime, own.ru_utime + own.ru_stime


@contextmanager
def working_folder(given: Path | None) -> Iterator[Path]:
    """Yield the given folder, created if needed, or a temporary folder if none is given."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = given or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
