"""`desdemona stats` as the operator types it."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select, text, update

from bot.base.old_names import add_old_keys
from bot.base.rounding import NO_VALUE
from engine.bait_rule import FORECAST_RULE, forecast
from engine.figure_9 import FIGURE_9_RULE, classify_by_figure_9, expected_scale_centi
from engine.judge import JUDGE_VERSION
from engine.person.site_state import SiteState
from storage.database import Database
from storage.evidence.trials import NewTrial, start_trial
from storage.inserts import insert_new
from storage.ledger.games import finish_game
from storage.records import Endpoint, GameResult
from storage.tables.games import ForecastRow
from storage.tables.persons import SiteStateRow
from tests.bot.cli.test_main import in_database
from tests.bot.conftest import Command
from tests.bot.tempted import judged_by_own_costs
from tests.storage.samples import (
    ERRED,
    FELL,
    decision,
    drawn_decision,
    judge_replies,
    opened,
    settled,
    store_forecast,
)

NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
SETTINGS = "median, raw, margin 100, keep, risk 5/30 %, threshold 5 %"


@pytest.fixture
def three_games(migrated_file: Path) -> None:
    """Two games of trappy, one judged, and one of standard."""

    async def fill(database: Database) -> None:
        async with database.write() as session:
            game = await opened(session, "first", at=NOON)
            for ply, outcome in ((0, FELL), (2, ERRED)):
                made = decision(quality=225.0)
                decision_id = await settled(session, game.id, ply, made, outcome)
                foreseen = forecast(made.chosen, expected_scale_centi(made))
                await store_forecast(session, decision_id, made, judged_by_own_costs(made, foreseen))
            await finish_game(
                session, game.id, result=GameResult.WIN, end_reason="resign", moves=["f5", "d6", "c3", "f4"]
            )
            await judge_replies(session, game.id)
            await opened(session, "second", strategy="standard", opponent_rating=1200, at=NOON)
            await opened(session, "third", speed="bullet", at=NOON + timedelta(days=40))

    in_database(migrated_file, fill)


def lines_of(out: str) -> set[str]:
    return {" ".join(line.replace("│", " ").replace("┃", " ").split()) for line in out.splitlines()}


@pytest.mark.usefixtures("three_games")
def test_a_table_beside_chance_and_forecast(desdemona: Command) -> None:
    status, out, err = desdemona("stats")
    assert (status, err) == (0, "")
    lines = lines_of(out)
    trappy = [line.removeprefix("trappy, othello ") for line in lines if line.startswith("trappy, othello")]
    assert any(line.startswith("2 (1 opponent) 1 · 0 · 0 1 ") for line in trappy)
    assert any(line.startswith("errors 2 0.0 % ") for line in trappy)
    assert any(line.startswith("Figure 9 2 ") for line in trappy)
    assert f"standard, othello errors 0{f' {NO_VALUE}' * 5}" in lines
    said = " ".join(out.split())
    assert "valid at one planned analysis if games are independent." in said
    assert (
        f"Costs and errors: judge, version {JUDGE_VERSION}. Baits: rule {FORECAST_RULE}. Figure 9: " in said
    )
    assert "still being judged" not in said


@pytest.mark.usefixtures("three_games")
def test_groups_in_json_and_csv(desdemona: Command) -> None:
    _, out, _ = desdemona("stats", "--by", "player, speed", "--format", "json")
    rows = json.loads(out)
    assert [row["group"] for row in rows] == add_old_keys(
        [
            {"strategy": "standard", "speed": "blitz", "game": "othello"},
            {"strategy": "trappy", "speed": "blitz", "game": "othello"},
            {"strategy": "trappy", "speed": "bullet", "game": "othello"},
        ]
    )
    assert [row["replies"] for row in rows] == [0, 2, 0]
    assert rows[0]["rules"] == {"judge": JUDGE_VERSION, "baits": FORECAST_RULE, "figure_9": FIGURE_9_RULE}
    _, out, _ = desdemona("stats", "--by", "rating-band", "--format", "csv")
    flat = list(csv.DictReader(io.StringIO(out)))
    assert [(row["site"], row["rating-band"]) for row in flat] == [
        ("arena", "1200 to 1399"),
        ("arena", "1600 to 1799"),
    ]
    assert flat[1]["errors_beyond_chance_too_early"] == "2 of 100, P 1 of 30"


@pytest.mark.usefixtures("three_games")
def test_games_that_are_still_being_judged_are_named(desdemona: Command, migrated_file: Path) -> None:
    """Their replies count in no cost or error, and in the paper's counts all the same."""

    async def forget(database: Database) -> None:
        async with database.write() as session:
            await judge_replies(session, 1, version=JUDGE_VERSION - 1)

    in_database(migrated_file, forget)
    said = " ".join(desdemona("stats")[1].split())
    assert "1 game is still being judged: its replies count in no cost or error yet." in said
    rows = json.loads(desdemona("stats", "--format", "json")[1])
    assert [(row["replies"], row["unjudged"], row["unjudged_games"]) for row in rows] == [
        (0, 0, 0),
        (0, 2, 1),
    ]
    assert (rows[1]["errors"]["happened"], rows[1]["cost"]["n"], rows[1]["traps_set"]) == (None, 0, 2)
    status, out, err = desdemona("stats", "--calibration")
    assert (status, out) == (0, "")
    assert "1 game is still being judged" in err


@pytest.mark.usefixtures("three_games")
def test_the_calibration_of_the_models(desdemona: Command) -> None:
    status, out, err = desdemona("stats", "--calibration")
    assert (status, err) == (0, "")
    lines = lines_of(out)
    (row,) = (line for line in lines if line.startswith("looks 6.5, othello 2 (1"))
    assert row.endswith(f" 0 {NO_VALUE} {NO_VALUE} {NO_VALUE} too early too early")
    _, out, _ = desdemona("stats", "--calibration", "--by", "speed,phase", "--format", "json")
    (row,) = json.loads(out)
    assert row["group"] == {
        "model": "looks 6.5",
        "speed": "blitz",
        "phase": "plies 1 to 20",
        "game": "othello",
    }
    assert (row["errors"]["n"], row["errors"]["happened"]) == (2, 0)
    assert row["errors"]["drift"]["mean"] == pytest.approx(-row["errors"]["expected"] / 2)
    _, out, _ = desdemona("stats", "--calibration", "--format", "csv")
    (flat,) = csv.DictReader(io.StringIO(out))
    assert (flat["model"], flat["game"], flat["errors_n"]) == ("looks 6.5", "othello", "2")


@pytest.mark.usefixtures("three_games")
def test_the_calibration_says_what_is_known_of_the_site_s_people(
    desdemona: Command, migrated_file: Path
) -> None:
    async def learned(database: Database) -> None:
        state = SiteState("v", 50, 1250, 40_000, errors=190_000, expected=100_000).to_bytes()
        async with database.write() as session:
            for site in ("arena", "lichess"):
                await insert_new(
                    session, SiteStateRow, site=site, game="othello", version="v", games=50, state=state
                )

    in_database(migrated_file, learned)
    said = " ".join(desdemona("stats", "--calibration", "--site", "arena")[1].split())
    assert "Othello at arena (50 judged games): people err 1.9 times as often as the model's people." in said
    assert "lichess" not in said
    assert "lichess" in desdemona("stats", "--calibration")[1]


@pytest.mark.usefixtures("three_games")
def test_forecasts_by_several_models_are_named(desdemona: Command, migrated_file: Path) -> None:
    async def change(database: Database) -> None:
        async with database.write() as session:
            first = select(func.min(ForecastRow.decision_id)).scalar_subquery()
            changed = update(ForecastRow).where(ForecastRow.decision_id == first)
            await session.execute(changed.values(model_name="people", model_sha256="0123456789"))

    in_database(migrated_file, change)
    _, _, err = desdemona("stats")
    assert err == (
        "The forecasts of trappy, othello come from different models (looks 6.5, people 01234567): "
        "add model to `--by` to separate them.\n"
    )
    _, out, err = desdemona("stats", "--by", "model", "--format", "csv")
    assert [row["models"] for row in csv.DictReader(io.StringIO(out))] == ["looks 6.5", "people 01234567"]
    assert err == ""


@pytest.mark.usefixtures("three_games")
def test_no_forecast_no_calibration(desdemona: Command) -> None:
    status, out, err = desdemona("stats", "--calibration", "--strategy", "standard")
    assert (status, out, err) == (0, "", "No replies with a forecast match these filters.\n")
    assert (
        json.loads(desdemona("stats", "--calibration", "--strategy", "standard", "--format", "json")[1]) == []
    )


@pytest.mark.usefixtures("three_games")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--by", "player,colour"), "--by: 'colour' is not known; known: strategy, game, site"),
        (("--calibration", "--plan"), "--calibration: a plan is a different report"),
        (("--calibration", "--arms", "a,b"), "--arms: --calibration compares no players"),
        (("--trial", "t9"), "--trial: no trial 't9' is known; known: none yet"),
        (("--plan", "--by", "strategy"), "--by: a plan has no groups"),
        (("--plan", "--arms", "a,b"), "--arms: a plan does not depend on a trial's strategies"),
        (
            ("--plan", "--without-suspects"),
            "--without-suspects: a plan does not distinguish",
        ),
        (("--trial", "t9", "--by", "strategy"), "--by: a trial's report has its own groups, the strata"),
        (("--trial", "t9", "--engine", "trappy"), "--strategy: selects by the random assignment"),
        (("--trial", "t9", "--version", "1"), "--version: selects by the random assignment"),
        (
            ("--trial", "t9", "--settings", SETTINGS),
            "--settings: selects by the random assignment, which would bias the comparison",
        ),
        (("--arms", "trappy,standard"), "--arms: selects two strategies of a trial and needs --trial"),
    ],
)
def test_what_is_not_known_or_changes_nothing(
    desdemona: Command, arguments: tuple[str, ...], complaint: str
) -> None:
    status, _, err = desdemona("stats", *arguments)
    assert status == 2
    assert complaint in err


def test_decisions_that_earlier_rules_judged_are_named(desdemona: Command, migrated_file: Path) -> None:
    async def fill(database: Database) -> None:
        async with database.write() as session:
            game = await opened(session, "first", at=NOON)
            await settled(session, game.id, 0, decision(quality=225.0), FELL)
            await finish_game(
                session, game.id, result=GameResult.WIN, end_reason="resign", moves=["f5", "d6"]
            )

    in_database(migrated_file, fill)
    _, out, err = desdemona("stats")
    assert any(line.startswith("trappy, othello errors 0 ") for line in lines_of(out))
    assert err.startswith("1 decision is not classified by current rules and not counted above: run")


def test_games_that_cannot_be_read_are_counted(desdemona: Command, migrated_file: Path) -> None:
    async def fill(database: Database) -> None:
        async with database.write() as session:
            for key in ("first", "second"):
                game = await opened(session, key, at=NOON)
                await settled(session, game.id, 0, decision(quality=225.0), FELL)
            await session.execute(text("PRAGMA ignore_check_constraints = ON"))
            await session.execute(text("UPDATE outcomes SET kind = 'odd' WHERE decision_id = 1"))

    in_database(migrated_file, fill)
    _, _, err = desdemona("stats")
    assert "1 game is left out, because a record of it cannot be read: run `desdemona db recheck`" in err


def test_a_plan_needs_no_database(desdemona: Command) -> None:
    status, out, err = desdemona("stats", "--plan")
    assert status == 0
    assert desdemona("stats", "--plan", "--format", "json")[0] == 0
    assert "assumption about people 20 Elo 50 Elo 100 Elo" in lines_of(out)
    assert "score 65% 9,271 / 20,719 1,487 / 2,940 374 / 720" in lines_of(out)
    assert "assumption about people 0.5 % 1 % 2 %" in lines_of(out)
    assert "residual sd 0.1 12,558 / 25,329 3,140 / 6,012 785 / 1,648" in lines_of(out)
    assert "games (1 each, assumed) 12,558 / 25,329 3,140 / 6,012 785 / 1,648" in lines_of(out)
    assert "20% of baits taken, 10 traps per person 5,683 / 11,210 909 / 1,795 227 / 560" in lines_of(out)
    assert "games (2 each, assumed) 2,841 / 5,605 455 / 898 114 / 280" in lines_of(out)
    assert "Days: unknown, because no game with a person finished in the last 28 days." in lines_of(out)
    assert (
        "Decisions: 1 randomised decision per game is assumed until there are 30 finished games against"
        in out
    )
    assert "there is no database at" in err
    assert "; the plan therefore assumes a number of randomised decisions per game" in err


def draws(path: Path, games: int, decisions: int) -> None:
    """Finished games of the player that draws decisions, and the given number of randomised decisions in the
    first one."""

    async def fill(database: Database) -> None:
        async with database.write() as session:
            for number in range(games):
                game = await opened(session, f"game{number}", strategy="randomised", at=NOON)
                for ply in range(decisions if number == 0 else 0):
                    made = drawn_decision(trap=True)
                    reply = classify_by_figure_9(made, made.chosen.replies[0].reply)
                    await settled(session, game.id, 2 * ply, made, reply)
                await finish_game(session, game.id, result=GameResult.WIN, end_reason="resign", moves=["f5"])

    in_database(path, fill)


def decision_rows(desdemona: Command, *options: str) -> list[dict[str, object]]:
    status, out, err = desdemona("stats", "--plan", *options, "--format", "json")
    assert (status, err) == (0, "")
    return [row for row in json.loads(out) if row["kind"] == "decisions"]


def test_a_plan_goes_by_the_bots_own_games(desdemona: Command, migrated_file: Path) -> None:
    draws(migrated_file, 30, 10)
    for row in decision_rows(desdemona):
        assert (row["per_game"], row["measured_in"]) == (pytest.approx(1 / 3), 30)
        assert row["fixed_games"] == pytest.approx(3 * float(str(row["fixed"])))
    for row in decision_rows(desdemona, "--game", "chess"):
        assert (row["per_game"], row["measured_in"]) == (1.0, None)
    _, out, err = desdemona("stats", "--plan")
    assert err == ""
    assert any(line.startswith("games (0.33 each, measured) 37,67") for line in lines_of(out))
    assert "Decisions: 10 randomised decisions got a reply in 30 finished games with people." in out


def test_a_plan_assumes_until_there_are_enough_games(desdemona: Command, migrated_file: Path) -> None:
    draws(migrated_file, 29, 10)
    assert {row["measured_in"] for row in decision_rows(desdemona)} == {None}
    told = " ".join(desdemona("stats", "--plan")[1].split())
    assert "30 finished games against people with the strategy randomised; there are 29." in told


def test_a_plan_without_any_draw_in_enough_games(desdemona: Command, migrated_file: Path) -> None:
    draws(migrated_file, 30, 0)
    assert {row["fixed_games"] for row in decision_rows(desdemona)} == {None}
    told = " ".join(desdemona("stats", "--plan")[1].split())
    assert "0 randomised decisions got a reply in 30 finished games with people, so no number" in told


def test_a_trials_report(desdemona: Command, migrated_file: Path) -> None:
    """Forty games of four persons and an aborted one: too early for an interval, and said so."""

    async def fill(database: Database) -> None:
        async with database.write() as session:
            configurations: dict[str, dict[str, str]] = {"standard": {}, "trappy": {}}
            plan = NewTrial(
                name="t1",
                arms=("standard", "trappy"),
                configurations=configurations,
                endpoint=Endpoint.SCORE,
                planned_n=500,
            )
            trial = await start_trial(session, plan, at=NOON)
            for number in range(41):
                player = ("trappy", "standard")[number % 2]
                chances = {"trappy": 0.6, "standard": 0.4} if number % 3 else {"trappy": 0.4, "standard": 0.6}
                game = await opened(
                    session,
                    f"game{number}",
                    strategy=player,
                    trial_id=trial.id,
                    opponent_id=f"person{number % 4}",
                    selection={
                        "method": "balanced",
                        "chances": chances,
                        "number": number,
                        "favour": 0.6,
                        "blind": True,
                    },
                    at=NOON + timedelta(hours=number + 1),
                )
                result = GameResult.WIN if player == "trappy" else GameResult.LOSS
                over = NOON + timedelta(hours=number + 2)
                await finish_game(
                    session,
                    game.id,
                    result=result,
                    end_reason="resign",
                    aborted=number == 40,
                    moves=["f5"],
                    at=over,
                )

    in_database(migrated_file, fill)
    status, out, err = desdemona("stats", "--trial", "t1")
    assert (status, err) == (0, "")
    lines = lines_of(out)
    assert "Trial t1, since 2026-11-25; planned endpoint: score. 41 games, 0 of them running." in lines
    assert {"assigned trappy, standard 21, 20", "without a result 1, 0", "with a result 40"} <= lines
    assert {"It is too early to check the random choices.", "Too early to say."} <= lines
    assert "40 games with 4 people so far. The interval appears at 100 games with 30 people." in lines
    assert "Elo" not in out.replace("50 Elo", ""), "no Elo before its interval"
    _, text, _ = desdemona("stats", "--trial", "t1", "--arms", "standard,trappy", "--format", "json")
    report = json.loads(text)
    assert (report["arms"], report["counted"]) == (["standard", "trappy"], 40)
    assert (report["drawn_treated"], report["drawn_untreated"]) == (20, 21)
    assert report["endpoint"] == "score"
    assert (report["score"]["estimate"]["mean"], report["score"]["estimate"]["too_early"]) == (None, True)
    status, _, err = desdemona("stats", "--trial", "t1", "--arms", "standard,strong")
    assert (status, "--arms: 'standard,strong' does not name two of the trial's players" in err) == (2, True)


_by_lot: dict[tuple[str, ...], bytes] = {}


def store_drawn(path: Path, arms: tuple[str, ...]) -> None:
    """Into an empty database a trial with eight randomised decisions of four persons, made only once."""
    if arms in _by_lot:
        path.write_bytes(_by_lot[arms])
        return

    async def fill(database: Database) -> None:
        async with database.write() as session:
            endpoint = Endpoint.COST if len(arms) == 1 else Endpoint.SCORE
            plan = NewTrial(name="m1", arms=arms, configurations={arm: {} for arm in arms}, endpoint=endpoint)
            trial = await start_trial(session, plan, at=NOON)
            for number in range(8):
                selection = {"chances": dict.fromkeys(arms, 1 / len(arms)), "blind": True}
                game = await opened(
                    session,
                    f"game{number}",
                    strategy="randomised",
                    trial_id=trial.id,
                    opponent_id=f"person{number % 4}",
                    selection=selection,
                    at=NOON,
                )
                made = drawn_decision(trap=number % 2 == 0)
                reply = made.chosen.replies[number % 3].reply
                await settled(session, game.id, 0, made, classify_by_figure_9(made, reply))
                moves = [made.move, reply]
                await finish_game(session, game.id, result=GameResult.WIN, end_reason="resign", moves=moves)
                await judge_replies(session, game.id)

    in_database(path, fill)
    _by_lot[arms] = path.read_bytes()


def test_a_report_of_single_decisions_alone(desdemona: Command, migrated_file: Path) -> None:
    store_drawn(migrated_file, ("randomised",))
    status, out, err = desdemona("stats", "--trial", "m1")
    assert (status, err) == (0, "")
    told = " ".join(out.split())
    assert "Single decisions: with and without a trap (8 decisions drawn: trap 4, no trap 4)" in told
    assert "8 decisions with 4 people so far. The interval appears at 100 decisions with 30" in told
    for name in ("cost (planned)", "beyond difficulty (exploratory)", "earned (exploratory)"):
        assert f" {name} 8 (4 people) too early \N{EN DASH} Too early to say" in told
    _, text, _ = desdemona("stats", "--trial", "m1", "--format", "json")
    report = json.loads(text)
    assert set(report) == {
        "trial",
        "arms",
        "endpoint",
        "rules",
        "decisions",
        "verdict",
        "verdicts",
        "blindness",
    }
    assert report["blindness"] is None
    assert report["arms"] == ["randomised"]
    assert report["decisions"]["counted"] == 8
    assert report["decisions"]["planned_n"] == report["decisions"]["opt"] == 1000
    status, _, err = desdemona("stats", "--trial", "m1", "--arms", "randomised,trappy")
    assert (status, "does not name two of the trial's players" in err) == (2, True)
    assert desdemona("stats", "--trial", "m1", "--format", "csv")[0] == 2


def test_a_report_of_games_and_single_decisions(desdemona: Command, migrated_file: Path) -> None:
    store_drawn(migrated_file, ("randomised", "standard"))
    _, out, _ = desdemona("stats", "--trial", "m1")
    assert "assigned randomised, standard 8, 0" in lines_of(out)
    assert "8 decisions drawn: trap 4, no trap 4" in " ".join(out.split())
    _, text, _ = desdemona("stats", "--trial", "m1", "--format", "json")
    report = json.loads(text)
    assert (report["counted"], report["decisions"]["counted"]) == (8, 8)
    assert report["decisions"]["planned_n"] == 6000


def changed(path: Path, statement: str) -> None:
    async def change(database: Database) -> None:
        async with database.write() as session:
            await session.execute(text(statement))

    in_database(path, change)


def test_a_damaged_record_is_moved_by_a_recheck_and_the_report_goes_on(
    desdemona: Command, migrated_file: Path
) -> None:
    store_drawn(migrated_file, ("randomised", "standard"))
    changed(migrated_file, "UPDATE decisions SET record = x'1b' WHERE id = 3")
    status, out, err = desdemona("stats", "--trial", "m1")
    assert (status, err) == (0, "")
    why = "packed in format 27, which this version does not know"
    assert f"1 decision cannot be read (decision 3 of game 3, ply 0: {why})" in " ".join(out.split())
    assert " 7 (4 people) " in " ".join(out.split())
    assert desdemona("stats")[0] == 0
    assert "row 3 of decisions" in desdemona("db", "recheck")[1]
    status, out, err = desdemona("stats", "--trial", "m1")
    assert (status, err) == (0, "")
    assert " 7 (4 people) " in " ".join(out.split())


@pytest.mark.parametrize("bug", [ValueError("ours"), KeyError("ours"), ZeroDivisionError("ours")])
@pytest.mark.parametrize(
    ("where", "command"),
    [
        ("storage.evidence.queries.trial_report.games_report_and_interim", ("--trial", "m1")),
        ("storage.evidence.queries.trial_report.decisions_report", ("--trial", "m1")),
        ("storage.evidence.statistics.trial_rows.trial_decision", ("--trial", "m1")),
        ("storage.evidence.statistics.trial_rows._trial_rows", ("--trial", "m1")),
        ("storage.evidence.statistics.suspect_rows.suspects", ("--without-suspects",)),
        ("storage.evidence.statistics.group_rows.cells_of", ()),
        ("storage.evidence.statistics.calibrations.is_among", ("--calibration",)),
    ],
)
def test_a_bug_of_ours_is_no_damaged_record(
    desdemona: Command,
    migrated_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    bug: Exception,
    where: str,
    command: tuple[str, ...],
) -> None:
    store_drawn(migrated_file, ("randomised", "standard"))

    def broken(*_: object, **__: object) -> None:
        raise bug

    monkeypatch.setattr(where, broken)
    with pytest.raises(type(bug), match="ours"):
        desdemona("stats", *command)


def test_json_of_a_trial_hides_what_is_too_early(desdemona: Command, migrated_file: Path) -> None:
    store_drawn(migrated_file, ("randomised", "standard"))
    told = json.loads(desdemona("stats", "--trial", "m1", "--format", "json")[1])
    for estimate in (told["score"]["estimate"], told["decisions"]["cost"]["any_time"]["estimate"]):
        assert (estimate["mean"], estimate["too_early"], estimate["n"]) == (None, True, 8)
        assert estimate["why_too_early"]
    assert (told["elo"]["value"], told["decisions"]["cost"]["fixed"]["value"]) == (None, None)
