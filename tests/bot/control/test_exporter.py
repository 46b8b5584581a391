"""The gauges as Prometheus reads them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from bot.base.metrics import Metrics
from bot.control.exporter import exposition
from bot.control.health_monitor import RecentResults
from storage.evidence.queries.rating_curves import RatingCurve, RatingPoint
from tests.bot.dashboard.desk_samples import NOW, sample_status


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"desdemona_{name}", labels)


def shown(metrics: Metrics, **changes: Any) -> bytes:
    given: dict[str, Any] = {
        "status": sample_status(),
        "recent": None,
        "failures": {},
        "firing": {},
        **changes,
    }
    return exposition(metrics, given["status"], given["recent"], given["failures"], given["firing"])


def test_gauges_are_those_of_this_moment() -> None:
    metrics, status = Metrics(), sample_status()
    over = replace(status.games[0], is_over=True)
    text = shown(metrics, status=replace(status, games=(*status.games, over))).decode()
    assert 'desdemona_games_open{game="chess",site="lichess"} 1.0' in text
    assert value(metrics, "queue_length") == 1
    assert value(metrics, "workers_busy") == 3
    assert value(metrics, "workers") == 4
    assert value(metrics, "link_up", site="lichess") == 1
    assert "desdemona_build_info{" in text
    shown(metrics, status=replace(status, games=(), queue=()))
    assert value(metrics, "games_open", site="lichess", game="chess") is None
    assert value(metrics, "queue_length") == 0


def test_a_site_is_up_if_all_its_accounts_are() -> None:
    metrics, status = Metrics(), sample_status()
    first = status.accounts[0]
    assert first.link is not None
    down = replace(first, name="second", link=replace(first.link, is_up=False))
    away = replace(first, name="away", site="", link=None)
    for accounts in ((first, down, away), (down, first, away)):
        shown(metrics, status=replace(status, accounts=accounts))
        assert value(metrics, "link_up", site="lichess") == 0
        assert value(metrics, "link_up", site="away") == 0
    shown(metrics, status=replace(status, accounts=(first, replace(away, is_standby=True))))
    assert value(metrics, "link_up", site="lichess") == 1
    assert value(metrics, "link_up", site="away") is None  # the program that plays it has the link


def test_ratings_and_alarms() -> None:
    metrics = Metrics()
    later, earlier = RatingPoint(NOW, 1540), RatingPoint(NOW - timedelta(days=1), 1500)
    curves = (
        RatingCurve("lichess", "a", "chess", "blitz", (earlier, later)),
        RatingCurve("lichess", "b", "chess", "blitz", (earlier,)),
    )
    shown(
        metrics,
        recent=RecentResults(curves, {}),
        firing={"disk": True, "slow": False},
        failures={"chess": (4, 0)},
    )
    assert value(metrics, "rating", site="lichess", game="chess", speed="blitz") == 1540
    assert value(metrics, "alarm_firing", alarm="disk") == 1
    assert value(metrics, "alarm_firing", alarm="slow") == 0
    assert value(metrics, "model_failures_total", model="chess") == 4
