"""The claims that a long run should confirm, and whether it does."""

import resource
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

GROWTH = 1.1
"""Maximum ratio of memory at the end to memory at the beginning for it to count as flat."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A property that the run should have, and whether it does."""

    text: str
    holds: bool | None
    """None: this run cannot tell."""
    because: str


class Findings(ABC):
    """The results of a run, with its claims."""

    @property
    @abstractmethod
    def claims(self) -> list[Claim]:
        """All properties that the run should have."""

    @property
    def complaints(self) -> list[str]:
        """The reasons why the run did not pass."""
        return [f"{claim.text}: {claim.because}" for claim in self.claims if claim.holds is False]

    def verdict(self) -> Iterator[str]:
        """The end of the report: whether the run passed, and each claim."""
        can_tell = all(claim.holds is not None for claim in self.claims)
        well = "passed" if can_tell else "passed, as far as a run this short can tell"
        yield "verdict: " + ("NOT PASSED" if self.complaints else well)
        yield from claim_lines(self.claims)


def claim_lines(claims: Iterable[Claim]) -> Iterator[str]:
    """A line for each claim."""
    for claim in claims:
        word = {True: "yes", False: "NO", None: "cannot tell"}[claim.holds]
        yield f"  {word:11} {claim.text}: {claim.because}"


def none_found(text: str, found: Sequence[str]) -> Claim:
    """The claim that there is nothing of a kind; else it shows the first five."""
    shown = "; ".join(each[:200] for each in found[:5])
    return Claim(text, not found, f"{len(found)} found{': ' * bool(found)}{shown}")


def memory_flat(rss_mb: Sequence[tuple[int, float]], steady_s: int) -> Claim:
    """The claim that a program's last life does not grow.

    Args:
        rss_mb: Its memory every second, with the number of its life.
        steady_s: A life of fewer seconds is too short to tell.
    """
    life = [mb for number, mb in rss_mb if number == rss_mb[-1][0]]
    quarter = len(life) // 4
    if len(life) < steady_s:
        return Claim("memory flat", None, f"the bot's last life had only {len(life)} s")
    # The first quarter is warm-up.
    early, late = median(life[quarter : 2 * quarter]), median(life[-quarter:])
    return Claim("memory flat", late <= early * GROWTH, f"{early:.0f} MB early, {late:.0f} MB late")


def processor_s() -> tuple[float, float]:
    """Processor time of the processes that this one has started and that have ended, and of this one."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return others.ru_utime + others.ru_stime, own.ru_utime + own.ru_stime


@contextmanager
def working_folder(given: Path | None) -> Iterator[Path]:
    """The given folder, created if needed and not deleted afterwards; or a temporary one."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = given or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
