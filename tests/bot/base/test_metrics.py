"""Metrics: names and units as Prometheus wants them, and the totals for alarms beside them."""

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from bot.base.metrics import LATE_COMMIT_S, SLOW_COMMIT_S, ChallengeAnswer, Metrics, MetricTotals


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(f"desdemona_{name}", labels)


def test_decisions_and_the_slow_ones() -> None:
    metrics = Metrics()
    for took_s in (0.89, 0.9, 0.91):
        metrics.count_decision("chess", "trappy", took_s, 1.0)
    assert value(metrics, "decisions_total", game="chess", strategy="trappy", player="trappy") == 3
    assert value(metrics, "slow_decisions_total") == 1
    assert value(metrics, "decision_seconds_sum") == pytest.approx(2.7)
    assert metrics.tally == MetricTotals(decisions=3, slow_decisions=1)


def test_commits() -> None:
    metrics = Metrics()
    metrics.count_commit(SLOW_COMMIT_S)
    metrics.count_commit(SLOW_COMMIT_S + 0.01)
    metrics.count_commit(LATE_COMMIT_S)
    metrics.count_commit(LATE_COMMIT_S + 0.01)
    metrics.count_failed_commit()
    assert metrics.tally == MetricTotals(commits=4, slow_commits=3, late_commits=1, failed_commits=1)
    assert value(metrics, "commit_seconds_bucket", le="0.25") == 1
    assert value(metrics, "commit_seconds_count") == 4
    assert value(metrics, "failed_commits_total") == 1


def test_games_and_challenges() -> None:
    metrics = Metrics()
    metrics.count_game("arena", "chess", "trappy", "loss", is_lost_on_time=True)
    metrics.count_game("arena", "chess", "trappy", "win", is_lost_on_time=False)
    metrics.count_challenge_answer("arena", ChallengeAnswer.ACCEPTED)
    metrics.count_challenge_answer("arena", ChallengeAnswer.DECLINED, "later")
    assert (
        value(
            metrics,
            "games_total",
            site="arena",
            game="chess",
            strategy="trappy",
            player="trappy",
            result="loss",
        )
        == 1
    )
    assert value(metrics, "lost_on_time_total", site="arena", game="chess") == 1
    assert value(metrics, "challenges_total", site="arena", answer="declined", reason="later") == 1
    assert value(metrics, "challenges_total", site="arena", answer="accepted", reason="") == 1
    assert metrics.tally == MetricTotals(games=2, lost_on_time=1, answered=2, declined=1)


def test_traps_requests_and_events() -> None:
    metrics = Metrics()
    metrics.count_baits("chess", "tempting", 3, 1)
    metrics.count_request("lichess", 0.2)
    metrics.count_event("alarm")
    for outcome, number in (("set", 3), ("taken", 1), ("held", 2)):
        labels = {"game": "chess", "outcome": outcome}
        assert value(metrics, "baits_total", **labels, strategy="tempting") == number
        assert value(metrics, "traps_total", **labels, player="tempting") == number
    assert value(metrics, "request_seconds_bucket", site="lichess", le="0.25") == 1
    assert value(metrics, "request_seconds_bucket", site="lichess", le="0.1") == 0
    assert value(metrics, "events_total", kind="alarm") == 1


def test_failures_of_models_are_taken_over() -> None:
    metrics = Metrics()
    for total in (2, 2, 5):
        metrics.follow_model_failures({"chess": total})
    assert value(metrics, "model_failures_total", model="chess") == 5


def test_each_has_a_registry_of_its_own() -> None:
    first, second, shared = Metrics(), Metrics(), CollectorRegistry()
    first.count_event("x")
    assert value(second, "events_total", kind="x") is None
    assert Metrics(shared).registry is shared


def test_no_series_for_the_time_of_creation() -> None:
    metrics = Metrics()
    metrics.count_event("x")
    assert b"_created" not in generate_latest(metrics.registry)
