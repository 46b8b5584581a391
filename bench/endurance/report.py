"""The report on a long run: compares its beginning with its end, and judges each claim."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

from bench.claims import MAX_MEMORY_GROWTH, Claim, Findings, none_found
from bench.endurance.samples import Sample

MAX_MORE_DESCRIPTORS = 8
"""Maximum increase in descriptors that does not count as a leak: the number of connections fluctuates."""
MAX_MORE_THREADS = 4
"""Maximum increase in threads: executors start a thread only if all others are busy, up to
`bot.daemon.program.MAX_IO_THREADS`."""
MAX_PAGE_SLOWDOWN = 2.0
"""Maximum ratio of a page's time at the end to its time at the start."""
MIN_MS = 50.0
"""Times below this never count as slow, because a busy machine adds noise of this size."""
MIN_FETCHES = 4
"""A page's times in two rests are compared only if each rest has at least this many requests for the page."""
MEASURES = ("rss_mb", "pss_mb", "descriptors", "threads", "tasks", "database_mb", "wal_mb")


@dataclass(frozen=True, slots=True)
class Fetch:
    """One response of the dashboard."""

    page: str
    ms: float
    status: int
    """HTTP status; 0 if the program did not answer."""
    games: int
    """Number of games that had ended at the time of the response."""
    rest: int | None = None
    """Index of the rest (a pause without games) in which the page was requested; None outside rests."""


@dataclass
class EnduranceReport(Findings):
    """The results of a run."""

    games: int = 0
    at_once: int = 0
    seconds: float = 0.0
    results: Counter[str] = field(default_factory=Counter)
    """Number of games at the arena, keyed by how they ended."""
    plies: int = 0
    people: int = 0
    decisions: int = 0
    acts: Counter[str] = field(default_factory=Counter)
    """Number of disturbances of the program, keyed by their name."""
    act_s: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Durations of the disturbances in seconds, keyed by their name."""
    failed: list[str] = field(default_factory=list)
    """Operator commands that failed, and failed attempts to stop the program."""
    samples: list[Sample] = field(default_factory=list)
    rests: list[Sample] = field(default_factory=list)
    """Samples taken while no game was running: at the start, after the last warm-up, and at the end."""
    fetches: list[Fetch] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Games at the arena that are missing from the bot's records, or differ from them."""
    hanging: list[str] = field(default_factory=list)
    lost_on_time: list[str] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)
    """Losses on time that are excused, because restarting the program can take longer than the clock."""
    wrong: list[str] = field(default_factory=list)
    """The findings of `desdemona db recheck`."""
    logged: list[str] = field(default_factory=list)
    """Tracebacks and errors in the log."""
    processor_s: tuple[float, float] = (0.0, 0.0)
    """Processor time of the program over all restarts, including operator commands and the page reader; and
    processor time of the simulated people."""

    @property
    def claims(self) -> list[Claim]:
        """All claims about the run."""
        return [
            none_found("no game missing or incompletely recorded", self.lost),
            none_found("no game left open", self.hanging),
            none_found("no game lost on time by the bot", self.lost_on_time),
            none_found("`desdemona db recheck` finds nothing", self.wrong),
            none_found("no traceback and no error in the log", self.logged),
            none_found("every command and stop succeeded", self.failed),
            self._flat("memory flat (RSS)", "rss_mb"),
            self._flat("memory flat (PSS)", "pss_mb"),
            self._flat("descriptors flat", "descriptors", MAX_MORE_DESCRIPTORS),
            self._flat("threads flat", "threads", MAX_MORE_THREADS),
            self._flat("tasks flat", "tasks", MAX_MORE_DESCRIPTORS),
            self._pages_answer(),
            self._pages_fast(),
        ]

    def _flat(self, text: str, measure: str, slack: float = 0.0) -> Claim:
        life = [each for each in self.rests if each.life == self.rests[-1].life]
        if len(life) < 2:
            return Claim(text, None, "only one sample without running games since the last restart")
        first, last = getattr(life[0], measure), getattr(life[-1], measure)
        holds = last <= max(first * MAX_MEMORY_GROWTH, first + slack)
        games = life[-1].games - life[0].games
        return Claim(text, holds, f"{first:.0f}, and {last:.0f} after {games} more games")

    def _pages_answer(self) -> Claim:
        bad = Counter(f"{each.page}: {each.status}" for each in self.fetches if each.status not in (0, 200))
        # 503 is a valid answer while the program signs in or the database is rewritten.
        statuses = [what for what in bad if what not in ("readyz: 503", "healthz: 503")]
        return Claim(
            "every page answers", not statuses, ", ".join(statuses) or f"{len(self.fetches)} answers"
        )

    def _pages_fast(self) -> Claim:
        slow, compared = [], 0
        for page, (first, last) in self.times(at_rest=True).items():
            if min(len(first), len(last)) < MIN_FETCHES:
                continue
            compared += 1
            before, after = median(first), median(last)
            if after > MAX_PAGE_SLOWDOWN * before and after > MIN_MS:
                slow.append(f"{page} {before:.0f} -> {after:.0f} ms")
        text = f"no page is over {MAX_PAGE_SLOWDOWN:g} times slower at the end than at the start (median)"
        if not compared:
            return Claim(text, None, "too few answers")
        return Claim(text, not slow, "; ".join(slow) or f"{compared} pages")

    def times(self, *, at_rest: bool) -> dict[str, tuple[list[float], list[float]]]:
        """For each page, the response times at the start and at the end, in milliseconds.

        Args:
            at_rest: Whether to compare the first and last rest instead of the first and last tenth of the
                games.
        """
        last_rest = len(self.rests) - 1
        times: dict[str, tuple[list[float], list[float]]] = {}
        for each in self.fetches:
            if each.status != 200:
                continue
            both = times.setdefault(each.page, ([], []))
            if at_rest:
                is_first, is_last = each.rest == 0, each.rest == last_rest > 0
            else:
                is_first = each.rest is None and each.games < self.games / 10
                is_last = each.rest is None and each.games >= 0.9 * self.games
            if is_first:
                both[0].append(each.ms)
            elif is_last:
                both[1].append(each.ms)
        return times

    def lines(self) -> Iterator[str]:
        """The report."""
        yield (
            f"{self.games} games by {self.people} people, {self.at_once} at a time, in {self.seconds:.0f} s: "
            f"{self.games / self.seconds:.1f} games, {self.plies / self.seconds:.0f} plies, "
            f"{self.decisions / self.seconds:.0f} decisions per second"
        )
        yield f"ended by {', '.join(f'{n} {what}' for what, n in self.results.most_common())}"
        for act, number in self.acts.items():
            took = self.act_s[act]
            yield f"{act}: {number} times, median {median(took):.1f} s, longest {max(took):.1f} s"
        bot_s, people_s = self.processor_s
        yield f"lost on time with a clock so short that a restart may use it up: {len(self.excused)}"
        yield f"processor time: program, commands and reader {bot_s:.0f} s, people {people_s:.0f} s"
        yield ""
        games = ", ".join(str(each.games) for each in self.rests)
        yield f"{'':28} first tenth  last tenth  ratio   at rest, after games: {games}"
        firsts = [each for each in self.samples if each.games < self.games / 10]
        lasts = [each for each in self.samples if each.games >= 0.9 * self.games]
        for measure in MEASURES:
            cells = [
                median([getattr(each, measure) for each in part]) if part else None
                for part in (firsts, lasts)
            ]
            rests = " ".join(f"{getattr(each, measure):9.1f}" for each in self.rests)
            yield f"{measure:28} {_pair(cells[0], cells[1])}   {rests}"
        for text, at_rest in (("under load: first tenth", False), ("at rest: first", True)):
            yield ""
            yield f"{'page, ms':28} {f'{text}: p50, p95, n':36} {'last: p50, p95, n':26} ratios"
            for page, (first, last) in self.times(at_rest=at_rest).items():
                ratios = ""
                if first and last:
                    ratios = f"{median(last) / median(first):.2f} {_p95(last) / _p95(first):.2f}"
                yield f"{page:28} {_spread(first):36} {_spread(last):26} {ratios}"
        yield ""
        for each in [*self.lost, *self.hanging, *self.lost_on_time, *self.wrong, *self.logged, *self.failed][
            :40
        ]:
            yield f"  {each}"
        yield from self.verdict()


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def _spread(values: Sequence[float]) -> str:
    return f"{median(values):7.1f} {_p95(values):8.1f} {len(values):5}" if values else "-"


def _pair(first: float | None, last: float | None) -> str:
    if first is None or last is None:
        return f"{'-':>11} {'-':>11} {'-':>6}"
    ratio = f"{last / first:.2f}" if first else "-"
    return f"{first:11.1f} {last:11.1f} {ratio:>6}"
