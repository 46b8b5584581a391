"""Exports metrics to Prometheus: the counters as they are, and gauges set from the current status."""

from collections import Counter

from prometheus_client import generate_latest

from bot.base.metrics import Metrics
from bot.control.health_monitor import RecentResults
from bot.control.status import Status
from engine import ENGINE_VERSION


def exposition(
    metrics: Metrics,
    status: Status,
    recent: RecentResults | None,
    failures: dict[str, tuple[int, int]],
    firing: dict[str, bool],
) -> bytes:
    """Export the metrics in Prometheus's text format.

    Args:
        metrics: The counters, and the gauges to update.
        status: The current status.
        recent: Our recent ratings, or None if they have not been read yet.
        failures: Failures of the models of human play (`engine.human.registry.ModelRegistry.failures`).
        firing: Whether each alarm is firing, keyed by name.
    """
    metrics.follow_model_failures({game: total for game, (total, _) in failures.items()})
    metrics.build_info.clear()
    metrics.build_info.labels(status.version, str(ENGINE_VERSION)).set(1)
    metrics.queue_length.set(len(status.queue))
    metrics.workers_busy.set(status.workers.busy)
    metrics.workers.set(status.workers.threads)
    metrics.games_open.clear()
    for (site, game), number in Counter((each.site, each.game) for each in status.games_on).items():
        metrics.games_open.labels(site, game or "unknown").set(number)
    metrics.link_up.clear()
    links: dict[str, bool] = {}
    for account in status.accounts:
        if account.is_standby:
            continue  # the program that plays it has the link
        # One that has not signed in does not know its site yet.
        site = account.site or account.name
        links[site] = links.get(site, True) and not account.link_trouble
    for site, is_up in links.items():
        metrics.link_up.labels(site).set(int(is_up))
    metrics.rating.clear()
    curves = () if recent is None else recent.curves
    for curve in sorted(curves, key=lambda each: each.points[-1].at):
        metrics.rating.labels(curve.site, curve.game, curve.speed).set(curve.now)
    metrics.alarm_firing.clear()
    for name, fires in firing.items():
        metrics.alarm_firing.labels(name).set(int(fires))
    return generate_latest(metrics.registry)
