"""`desdemona trial` as the operator types it."""

import csv
import io
import json
from pathlib import Path

import pytest

from bot.base.config import AssignmentConfig, AssignmentMethod, Config, TrialConfig
from bot.control.trial_plan import plan
from storage.errors import TrialError
from storage.records import Endpoint
from tests.bot.conftest import Command


@pytest.mark.usefixtures("migrated_file")
def test_a_trial_from_start_to_end(desdemona: Command) -> None:
    assert desdemona("trial", "list") == (0, "", "There is no trial; `desdemona trial start` begins one.\n")
    status, told, hint = desdemona(
        "trial", "start", "t1", "--opt", "500", "--cap", "20", "--endpoint", "cost"
    )
    assert "desdemona control reload" in hint
    assert "`--opt` is now `--planned-n`" in hint
    assert (status, told) == (0, "trial t1 has started: exploit, strong; endpoint cost\n")
    status, _, complaint = desdemona("trial", "start", "t2")
    assert status == 2
    assert "trial start: trial t1 is open; end it first" in complaint
    status, told, _ = desdemona("trial", "list", "--format", "json")
    (row,) = json.loads(told)
    assert (row["name"], row["arms"], row["ended_at"]) == ("t1", ["exploit", "strong"], None)
    assert (row["planned_n"], row["alpha"], row["cap"], row["endpoint"]) == (500, 0.05, 20, "cost")
    assert row["strata"]["by"] == ["game", "site", "speed", "rating_band"]
    assert row["configurations"]["exploit"]["strategy"] == "exploit"
    assert row["configurations"]["exploit"]["coin_probability"] == 0.6
    assert row["configurations"]["strong"]["settings"]["engine"]["max_depth"] == 10
    status, told, _ = desdemona("trial", "end")
    assert (status, told) == (0, "trial t1 has ended: 0 games\n")
    status, _, complaint = desdemona("trial", "end", "t1")
    assert status == 2
    assert "trial end: no trial is open" in complaint
    status, told, _ = desdemona("trial", "list")
    assert status == 0
    assert "t1" in told
    assert "started (UTC)" in told
    status, told, _ = desdemona("trial", "list", "--format", "csv")
    (flat,) = csv.DictReader(io.StringIO(told))
    assert (flat["name"], flat["arms"], flat["games"]) == ("t1", "exploit strong", "0")
    assert flat["ended_at"] != ""


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["start", "a b"], "trial start: name is 'a b'"),
        (["start", "t1", "--alpha", "2"], "trial start: alpha is 2.0, must be between 0 and 1"),
        (["start", "t1", "--planned-n", "0"], "trial start: planned_n is 0, must be from 1"),
        (["start", "t1", "--cap", "-1"], "trial start: cap is -1, must be from 1"),
        (["end", "t1"], "trial end: no trial is open"),
    ],
)
@pytest.mark.usefixtures("migrated_file")
def test_wrong_arguments(desdemona: Command, arguments: list[str], complaint: str) -> None:
    status, told, errors = desdemona("trial", *arguments)
    assert (status, told) == (2, "")
    assert complaint in errors


@pytest.mark.usefixtures("migrated_file")
def test_an_unknown_endpoint(desdemona: Command) -> None:
    status, _, errors = desdemona("trial", "start", "t1", "--endpoint", "elo")
    assert status == 2
    assert "'elo' is not one of 'score', 'cost'" in errors


def test_it_needs_a_database(desdemona: Command, database_file: Path) -> None:
    status, _, errors = desdemona("trial", "start", "t1")
    assert status != 0
    assert errors
    assert not database_file.exists()


def complaint_about(*configs: Config) -> str:
    with pytest.raises(TrialError) as told:
        plan(
            {f"a{number}": each for number, each in enumerate(configs, start=1)},
            "t1",
            planned_n=1000,
            alpha=0.05,
            cap=50,
            endpoint=Endpoint.SCORE,
        )
    return str(told.value)


def test_settings_that_compare_nothing() -> None:
    fixed = Config(assignment=AssignmentConfig(method=AssignmentMethod.FIXED))
    alone = Config(assignment=AssignmentConfig(strategies=("trappy",)))
    assert complaint_about(fixed, alone).startswith("nothing to compare: no account has assignment.method")


def test_settings_that_tell_the_player() -> None:
    assert complaint_about(Config(trial=TrialConfig(reveal=True))).startswith("trial.reveal is true")
    seeded = Config(assignment=AssignmentConfig(seed=7))
    assert complaint_about(Config(), seeded).startswith("account a2: assignment.seed is 7")


def test_accounts_that_compare_different_players() -> None:
    other = Config(assignment=AssignmentConfig(strategies=("trappy", "strong")))
    assert complaint_about(Config(), other) == (
        "accounts a1 and a2 choose among different strategies: exploit, strong; strong, trappy"
    )


def test_accounts_that_draw_nothing_are_no_matter() -> None:
    fixed = Config(assignment=AssignmentConfig(method=AssignmentMethod.FIXED))
    turned = Config(assignment=AssignmentConfig(strategies=("trappy", "standard")))
    balanced = Config(assignment=AssignmentConfig(method=AssignmentMethod.BALANCED))
    configs = {"a1": fixed, "a2": balanced, "a3": turned}
    new = plan(configs, "t1", planned_n=1000, alpha=0.05, cap=50, endpoint=Endpoint.SCORE)
    assert new.arms == ("standard", "trappy")
    assert set(new.configurations) == {"standard", "trappy"}


ALONE = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="randomised")


@pytest.mark.parametrize("selection", [ALONE, AssignmentConfig(strategies=("randomised",))])
def test_a_trial_of_single_decisions_alone(selection: AssignmentConfig) -> None:
    configs = {"a1": Config(assignment=selection), "a2": Config(assignment=ALONE)}
    new = plan(configs, "t1", planned_n=None, alpha=0.05, cap=50, endpoint=None)
    assert (new.arms, new.planned_n, new.endpoint) == (("randomised",), 6000, Endpoint.COST)
    assert new.configurations["randomised"]["settings"]["randomised"]["probability"] == 0.5
    given = plan(configs, "t1", planned_n=700, alpha=0.05, cap=50, endpoint=Endpoint.COST)
    assert given.planned_n == 700


def test_single_decisions_beside_other_players() -> None:
    both = Config(assignment=AssignmentConfig(strategies=("standard", "randomised")))
    new = plan({"a1": both}, "t1", planned_n=None, alpha=0.05, cap=50, endpoint=None)
    assert (new.arms, new.planned_n, new.endpoint) == (("randomised", "standard"), 1000, Endpoint.SCORE)


def test_single_decisions_that_cannot_be_a_trial() -> None:
    alone = Config(assignment=ALONE)
    assert complaint_about(alone) == (
        "endpoint is score: trials of single decisions compare only the reply's cost"
    )
    told = Config(assignment=ALONE, trial=TrialConfig(reveal=True))
    assert complaint_about(told).startswith("trial.reveal is true")
    seeded = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="randomised", seed=7)
    assert complaint_about(Config(assignment=seeded)).startswith("account a1: assignment.seed is 7")
    assert complaint_about(alone, Config()).startswith("accounts a1 and a2 choose among different strategies")
    rules = Config(assignment=AssignmentConfig(method=AssignmentMethod.RULES, strategy="randomised"))
    assert complaint_about(rules).startswith("nothing to compare")


@pytest.mark.usefixtures("migrated_file")
def test_a_trial_of_single_decisions_is_started(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESDEMONA_ASSIGNMENT__METHOD", "fixed")
    monkeypatch.setenv("DESDEMONA_ASSIGNMENT__STRATEGY", "randomised")
    status, told, _ = desdemona("trial", "start", "m1")
    assert (status, told) == (0, "trial m1 has started: randomised; endpoint cost\n")
    _, told, _ = desdemona("trial", "list", "--format", "json")
    assert json.loads(told)[0]["planned_n"] == 6000
    status, told, _ = desdemona("stats", "--trial", "m1")
    assert status == 0
    assert "0 decisions drawn: trap 0, no trap 0" in told
