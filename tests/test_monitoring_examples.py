"""The examples for Grafana and Prometheus name metrics and labels that the program really exports."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from bot.base.metrics import ChallengeAnswer, Metrics
from bot.control.exporter import exposition
from bot.control.health_monitor import RecentResults
from storage.evidence.queries.rating_curves import RatingCurve, RatingPoint
from tests.bot.dashboard.desk_samples import NOW, sample_status

FOLDER = Path(__file__).parents[1] / "deploy" / "monitoring"
ADDED = {"job", "instance", "le"}
"""Labels that Prometheus adds, and that of a histogram's bounds."""


@pytest.fixture(scope="module")
def exported() -> dict[str, set[str]]:
    """Every series that the program exports, with its labels."""
    metrics = Metrics()
    metrics.count_decision("chess", "trappy", 1.0, 2.0)
    metrics.count_game("arena", "chess", "trappy", "loss", is_lost_on_time=True)
    metrics.count_baits("chess", "trappy", 2, 1)
    metrics.count_challenge_answer("arena", ChallengeAnswer.DECLINED, "later")
    metrics.count_request("arena", 0.1)
    metrics.count_commit(0.1)
    metrics.count_event("alarm")
    curve = RatingCurve("arena", "a", "chess", "blitz", (RatingPoint(NOW, 1500),))
    text = exposition(
        metrics, sample_status(), RecentResults((curve,), {}), {"chess": (1, 0)}, {"disk": True}
    )
    return {
        sample.name: set(sample.labels)
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def expressions() -> Iterator[str]:
    for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))["groups"]:
        for rule in group["rules"]:
            yield rule["expr"]
    for panel in json.loads((FOLDER / "grafana.json").read_text("utf-8"))["panels"]:
        for target in panel["targets"]:
            yield target["expr"]


def named_labels(expression: str) -> set[str]:
    """Labels that an expression groups by or selects."""
    found = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", expression))
    for group in re.findall(r"by \(([^)]*)\)", expression):
        found |= set(group.replace(" ", "").split(","))
    return found


@pytest.mark.parametrize("expression", list(expressions()))
def test_metrics_and_labels_are_there(exported: dict[str, set[str]], expression: str) -> None:
    names = set(re.findall(r"desdemona_\w+", expression))
    assert names <= exported.keys()
    known = set().union(*(exported[name] for name in names), ADDED)
    assert named_labels(expression) <= known


def placeholders() -> Iterator[tuple[str, set[str]]]:
    for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))["groups"]:
        for rule in group["rules"]:
            yield rule["expr"], set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    for panel in json.loads((FOLDER / "grafana.json").read_text("utf-8"))["panels"]:
        for target in panel["targets"]:
            yield target["expr"], set(re.findall(r"{{(\w+)}}", target["legendFormat"]))


def test_texts_name_labels_that_are_left(exported: dict[str, set[str]]) -> None:
    for expression, wanted in placeholders():
        groups = re.findall(r"by \(([^)]*)\)", expression)
        kept = set(groups[0].replace(" ", "").split(",")) if groups else set[str]()
        if not groups:
            kept = set[str]().union(*(exported[name] for name in re.findall(r"desdemona_\w+", expression)))
        assert wanted <= kept, expression


def test_every_metric_that_we_promise_is_exported(exported: dict[str, set[str]]) -> None:
    wanted: dict[str, set[str]] = {
        "build_info": {"version", "engine"},
        "games_open": {"site", "game"},
        "games_total": {"site", "game", "strategy", "player", "result"},
        "decisions_total": {"game", "strategy", "player"},
        "decision_seconds_bucket": {"le"},
        "baits_total": {"game", "strategy", "outcome"},
        "traps_total": {"game", "player", "outcome"},
        "challenges_total": {"site", "answer", "reason"},
        "queue_length": set(),
        "link_up": {"site"},
        "request_seconds_bucket": {"site", "le"},
        "commit_seconds_bucket": {"le"},
        "workers_busy": set(),
        "model_failures_total": {"model"},
        "events_total": {"kind"},
        "rating": {"site", "game", "speed"},
    }
    assert {name: exported.get(f"desdemona_{name}") for name in wanted} == wanted


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    dashboard: dict[str, Any] = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken
        taken |= cells


def test_every_alert_has_a_test_for_promtool() -> None:
    """A case in which it fires, and one in which it does not."""
    groups = yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))["groups"]
    alerts = {rule["alert"] for group in groups for rule in group["rules"]}
    tests = yaml.safe_load((FOLDER / "alerts_test.yaml").read_text("utf-8"))["tests"]
    cases = [case for test in tests for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == alerts
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == alerts
