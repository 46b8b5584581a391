"""`desdemona lab fit-person`: from a database of analysed games to a card."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli.common import UsageError
from engine.decision import ModelInfo
from engine.human.person_prior import base_key, read_card
from engine.person.site_state import SiteState
from lab.analysis import person_fitting
from lab.analysis.fitting import FitRefused
from lab.analysis.population import Population, population
from lab.cli import analyse as cli_analyse
from lab.cli import fit_person, fit_site, site_fitting, study_data
from lab.cli.fit_person import TiltedModel
from lab.cli.study_data import StudyData
from tests.engine.human.fakes import FakeModel
from tests.lab.analysis.test_person_fitting import made_up
from tests.lab.cli.test_analyse import ANALYSE, Command, desdemona

__all__ = ["desdemona"]  # used by name

HUMAN = ModelInfo("othello", "net", "f" * 64)


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Population:
    """Positions of persons, instead of those of the database."""
    given = population("othello", [replace(each, date="2016") for each in made_up(100, 30)], "net")
    monkeypatch.setattr(
        study_data,
        "read_people",
        lambda _, portion: StudyData(given, HUMAN, None, "made up", portion, None),
    )
    return given


FIT = ("lab", "fit-person", "--game", "othello", "--out", "person_othello.json", "--resamples", "20")


@pytest.mark.usefixtures("people")
def test_a_card_is_written_and_extended(desdemona: Command, tmp_path: Path) -> None:
    code, out, err = desdemona(*FIT, "--base", "human", "--truth-alone")
    assert (code, "evaluating on the other persons" in err) == (0, True)
    assert "rated 1300-1699" in out
    first = read_card(tmp_path / "person_othello.json")
    assert out.endswith(f"person_othello.json: sha256 {first.version}\n")
    assert (first.game, list(first.bases)) == ("othello", [base_key(HUMAN)])
    prior = first.bases[base_key(HUMAN)]
    assert (prior.depth, prior.least, prior.scale.unit, prior.scale.games) == (6, 1e-5, 400.0, 0)
    assert prior.grid.x == (0.0,)
    content = json.loads((tmp_path / "person_othello.json").read_text())["bases"][0]
    assert content["command"].startswith("desdemona lab fit-person --game othello")
    assert (content["data"], content["seed"], content["model"]) == ("made up", 1, "net")

    code, out, _ = desdemona(*FIT, "--base", "human", "--format", "json")
    assert code == 0
    assert json.loads(out) == json.loads((tmp_path / "person_othello.json").read_text())
    read_card.cache_clear()
    again = read_card(tmp_path / "person_othello.json")
    assert list(again.bases) == [base_key(HUMAN)], "replaced"
    assert len(again.bases[base_key(HUMAN)].grid.x) == 11


@pytest.mark.usefixtures("people")
def test_wrong_requests(desdemona: Command, tmp_path: Path) -> None:
    for options, what in (
        (("--first",), "No such option: --first"),
        (("--base", "human", "--calibrated", "x.onnx"), "--calibrated cannot be combined with --base human"),
    ):
        code, _, err = desdemona(*FIT, *options)
        assert (code, what in err) == (2, True)
    assert "x.onnx does not end in .json" in desdemona(*FIT[:-4], "--out", "x.onnx")[2]
    plain = ("lab", "fit", "--game", "othello", "--out", "x.onnx", "--truth-alone")
    assert "No such option: --truth-alone" in desdemona(*plain)[2]
    (tmp_path / "person_othello.json").write_text("{}")
    code, _, err = desdemona(*FIT, "--base", "human")
    assert code != 0
    assert "person_othello.json: not a card: KeyError: 'bases'" in err


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("old", [("lab", "fit", "--person"), ("model", "fit", "--person")])
def test_the_old_option_works_with_a_notice(desdemona: Command, tmp_path: Path, old: tuple[str, ...]) -> None:
    code, _, err = desdemona(*old, *FIT[2:], "--base", "human", "--truth-alone")
    assert code == 0, err
    assert "`fit --person` is now `fit-person`" in err
    assert (tmp_path / "person_othello.json").exists()


def test_the_base_model_is_told_by_its_files(people: Population) -> None:
    with pytest.raises(UsageError, match="no predictions of a human-move model"):
        fit_person.base_probabilities(people, None, TiltedModel.CALIBRATED, None)
    beside = fit_person.base_probabilities(people, HUMAN, TiltedModel.CALIBRATED, None)
    alone = fit_person.base_probabilities(people, HUMAN, TiltedModel.ALONE, None)
    assert beside.base == alone.base + "+" + HUMAN.sha256
    assert beside.name == "calibrated-othello beside net"
    assert beside.probabilities.tolist() != alone.probabilities.tolist()
    maia = replace(HUMAN, kind="maia")
    assert fit_person.base_probabilities(people, maia, TiltedModel.HUMAN, None).least == 1e-4


def test_names_and_clocks_come_from_the_games(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tags = {"Variant": "Othello", "Date": "2016.01.02", "TimeControl": "60+0", "Result": "1-0"}
    moves = "1. f5 d6 2. c3 d3 3. c4 f4 4. f6 f3"
    texts = []
    for first, second in (("Ann", "Bob"), ("Bob", "Ann"), ("Ann", "Cid")):
        told = {**tags, "White": second, "Black": first}
        texts.append("".join(f'[{key} "{value}"]\n' for key, value in told.items()) + f"\n{moves} 1-0\n\n")
    (tmp_path / "games.pgn").write_text("".join(texts))
    monkeypatch.setattr(cli_analyse, "_open", lambda *_: FakeModel("othello"))
    status, _, err = desdemona("import", "games.pgn", "--game", "othello")
    assert status == 0, err
    code, _, err = desdemona("lab", "analyse", "games.pgn", *ANALYSE[2:], "--model", "x.onnx")
    assert code == 0, err
    seen: dict[str, Any] = {}

    def keep(game: str, data: person_fitting.PersonReplies, *_: object, **others: object) -> None:
        seen.update(game=game, data=data, **others)
        raise FitRefused("seen enough")

    monkeypatch.setattr(person_fitting, "fit_person_prior", keep)
    assert "seen enough" in desdemona(*FIT, "--base", "human", "--elo")[2]
    data: person_fitting.PersonReplies = seen["data"]
    assert set(data.names) == {"Ann", "Bob", "Cid"}
    assert set(data.seconds) == {60.0}
    assert set(data.games) == {0, 1, 2}
    assert data.ratings[0] == 1500.0
    assert set(data.experience) == {0}


@pytest.mark.usefixtures("people")
def test_what_is_known_about_a_site_is_learned_and_measured(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = list[str]()
    monkeypatch.setattr(fit_site, "report_step", steps.append)
    assert desdemona(*FIT, "--base", "human", "--truth-alone")[0] == 0
    fit = ("lab", "fit-site", "--game", "othello", "--card", "person_othello.json", "--out", "site.state")
    code, out, err = desdemona(*fit)
    assert code == 0, err
    assert "in 147 games of people at the site: shift x +0.00, k " in out
    assert "other persons: " in out
    assert steps == ["costs and ratings"]
    found = json.loads(desdemona(*fit, "--format", "json")[1])
    x, k = found["shift"]
    assert x == pytest.approx(0.0, abs=1e-9)
    assert abs(k) < 1.5
    errors = found["errors"]
    assert 0.9 < errors["expected_after"] / errors["happened"] < 1.1
    state = SiteState.from_bytes((tmp_path / "site.state").read_bytes())
    assert (state.games, state.replies) == (found["games"], found["replies"]) == (147, 1470)
    code, _, err = desdemona(*fit[:-4], "--out", "site.state")
    assert code == 2
    assert "the people model has no prior for net" in err
    prior = read_card(tmp_path / "person_othello.json")
    with pytest.raises(FitRefused, match="one half of the persons is empty"):
        site_fitting.fit_site(prior, base_key(HUMAN), [], 1)
