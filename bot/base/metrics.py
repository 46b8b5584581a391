"""Counters since the program started, for Prometheus and alarms.

Names and units follow Prometheus: ``desdemona_``, seconds, and ``_total`` for counters.  No label contains a
player's name.  Gauges are set on each scrape (`bot.control.exporter`).  The process's memory, descriptors and
processor time use Prometheus's standard ``process_`` names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)

NAMESPACE = "desdemona"
SLOW_COMMIT_S = 0.25
"""Threshold for a slow commit, in seconds; must be a bucket bound of the histogram."""
LATE_COMMIT_S = 2.5
"""Threshold for a commit that endangers the clock, in seconds; must be a bucket bound of the histogram."""
SLOW_MOVE_SHARE = 0.9
"""A decision counts as slow if it takes more than this fraction of the maximum time."""
_STRATEGY_LABELS = ("strategy", "player")
"""The label for the strategy, and its old name, which is also exported until 0.4.0."""
_COMMIT_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, SLOW_COMMIT_S, 0.5, 1, LATE_COMMIT_S, 10)
_REQUEST_BUCKETS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_DECISION_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60, 120)


class ChallengeAnswer(StrEnum):
    """The possible answers to a challenge."""

    ACCEPTED = "accepted"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True)
class MetricTotals:
    """Totals since the program started, for alarms."""

    commits: int = 0
    slow_commits: int = 0
    """Number of slow commits, including late ones."""
    late_commits: int = 0
    failed_commits: int = 0
    decisions: int = 0
    slow_decisions: int = 0
    answered: int = 0
    """Number of challenges accepted or declined."""
    declined: int = 0
    games: int = 0
    """Number of games that have ended."""
    lost_on_time: int = 0


class Metrics:
    """Counts events.

    Args:
        registry: The registry for the metrics; None for a new one.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        disable_created_metrics()  # type: ignore[no-untyped-call]  # else a second series for each counter
        self.registry = registry or CollectorRegistry()
        ProcessCollector(registry=self.registry)  # memory, descriptors, processor time: the client's own
        self.tally = MetricTotals()
        self._known_failures: dict[str, int] = {}
        self.build_info = self._gauge("build_info", "Always 1; labels give versions.", "version", "engine")
        self.games_open = self._gauge("games_open", "Games in progress.", "site", "game")
        self.queue_length = self._gauge("queue_length", "Challenges waiting for a slot.")
        self.link_up = self._gauge("link_up", "1 if every account's link to the site is up.", "site")
        self.workers_busy = self._gauge("workers_busy", "Search threads that are busy.")
        self.workers = self._gauge("workers", "Search threads.")
        self.tasks = self._gauge("tasks", "Tasks on the event loop.")
        self.rating = self._gauge(
            "rating", "Our rating at the start of the last rated game.", "site", "game", "speed"
        )
        self.alarm_firing = self._gauge("alarm_firing", "1 if the alarm is firing.", "alarm")
        self._games = self._counter("games", "Games ended.", "site", "game", *_STRATEGY_LABELS, "result")
        self._lost_on_time = self._counter("lost_on_time", "Games lost on time.", "site", "game")
        self._decisions = self._counter("decisions", "Decisions committed.", "game", *_STRATEGY_LABELS)
        self._decision_s = self._histogram(
            "decision_seconds",
            "Time from the start of our turn to the committed decision.",
            _DECISION_BUCKETS_S,
        )
        self._slow_decisions = self._counter(
            "slow_decisions", "Decisions that took more than 90 % of the maximum time."
        )
        about = "Confirmed baits that were set, taken, or not taken (held)."
        self._baits = self._counter("baits", about, "game", "strategy", "outcome")
        self._traps = self._counter("traps", f"Old name of `baits`. {about}", "game", "player", "outcome")
        self._challenges = self._counter("challenges", "Challenges answered.", "site", "answer", "reason")
        self._request_s = self._histogram(
            "request_seconds", "Time from a request to the response headers.", _REQUEST_BUCKETS_S, "site"
        )
        self._commit_s = self._histogram(
            "commit_seconds", "Duration of a game's transaction, including waits.", _COMMIT_BOUNDS
        )
        self._failed_commits = self._counter("failed_commits", "Transactions that failed.")
        self._model_failures = self._counter(
            "model_failures", "Failures of models of people, by game.", "model"
        )
        self._events = self._counter("events", "Events recorded.", "kind")

    def _counter(self, name: str, text: str, *labels: str) -> Counter:
        return Counter(name, text, labels, namespace=NAMESPACE, registry=self.registry)

    def _gauge(self, name: str, text: str, *labels: str) -> Gauge:
        return Gauge(name, text, labels, namespace=NAMESPACE, registry=self.registry)

    def _histogram(self, name: str, text: str, bounds: Sequence[float], *labels: str) -> Histogram:
        return Histogram(name, text, labels, namespace=NAMESPACE, registry=self.registry, buckets=bounds)

    def count_decision(self, game: str, strategy: str, took_s: float, longest_s: float) -> None:
        """Count a committed decision.

        Args:
            game: The decision's game.
            strategy: The strategy that made it.
            took_s: Seconds since our turn was reported.
            longest_s: Maximum duration in seconds (`bot.game.thinking.GameThinker.longest_s`).
        """
        is_slow = took_s > SLOW_MOVE_SHARE * longest_s
        self._decisions.labels(game, strategy, strategy).inc()
        self._decision_s.observe(took_s)
        if is_slow:
            self._slow_decisions.inc()
        self._add(decisions=1, slow_decisions=int(is_slow))

    def count_game(self, site: str, game: str, strategy: str, result: str, *, is_lost_on_time: bool) -> None:
        """Count a game whose record was closed."""
        self._games.labels(site, game, strategy, strategy, result).inc()
        if is_lost_on_time:
            self._lost_on_time.labels(site, game).inc()
        self._add(games=1, lost_on_time=int(is_lost_on_time))

    def count_baits(self, game: str, strategy: str, baits_set: int, taken: int) -> None:
        """Count the confirmed baits of a closed game, and how many of them the opponent took."""
        for outcome, number in (("set", baits_set), ("taken", taken), ("held", baits_set - taken)):
            for counter in (self._baits, self._traps):
                counter.labels(game, strategy, outcome).inc(number)

    def count_challenge_answer(self, site: str, answer: ChallengeAnswer, reason: str = "") -> None:
        """Count the answer to a challenge."""
        self._challenges.labels(site, answer, reason).inc()
        self._add(answered=1, declined=int(answer is ChallengeAnswer.DECLINED))

    def count_request(self, site: str, took_s: float) -> None:
        """Record the response time of a request to a site."""
        self._request_s.labels(site).observe(took_s)

    def count_commit(self, took_s: float) -> None:
        """Count a committed transaction of a game's record."""
        self._commit_s.observe(took_s)
        self._add(
            commits=1, slow_commits=int(took_s > SLOW_COMMIT_S), late_commits=int(took_s > LATE_COMMIT_S)
        )

    def count_failed_commit(self) -> None:
        """Count a transaction in which the database failed."""
        self._failed_commits.inc()
        self._add(failed_commits=1)

    def count_event(self, kind: str) -> None:
        """Count a recorded event."""
        self._events.labels(kind).inc()

    def follow_model_failures(self, failures: Mapping[str, int]) -> None:
        """Update the totals of model failures, keyed by game, from the models' own counts."""
        for model, total in failures.items():
            new = total - self._known_failures.get(model, 0)
            self._model_failures.labels(model).inc(max(0, new))
            self._known_failures[model] = total

    def _add(self, **changes: int) -> None:
        known = {name: getattr(self.tally, name) + change for name, change in changes.items()}
        self.tally = replace(self.tally, **known)
