"""The commands, in this process and as a program that is stopped."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bot import __main__ as program
from bot.base.config import HumanConfig
from bot.workers.pools import LocalWorkers
from engine import SEARCH_REVISION
from engine.decision import ModelInfo
from engine.human.calibrated import open_calibrated
from engine.human.registry import ModelRegistry
from engine.human.reply_model import default_path
from lab.analysis import reply_profiles
from lab.cli import analyse as cli_analyse
from lab.cli import lab_common
from lab.cli import study as cli_study
from lab.training import judge_tilt
from storage.database import Database
from storage.ledger.games import set_moves
from tests.engine.human.fakes import FakeModel
from tests.lab.analysis.test_recorded_games import PGN
from tests.storage.samples import FELL, decision, opened, settled

T = TypeVar("T")
R = TypeVar("R")
Command = Callable[..., tuple[int, str, str]]

OTHELLO = "f5d6c3d3c4f4f6f3e6e7\nf5f6e6f4e3\n"


class Here(LocalWorkers):
    """Workers without a process of their own, which takes a second to start."""

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        future: Future[R] = Future()
        future.set_running_or_notify_cancel()
        future.set_result(work(task))
        return future


@pytest.fixture
def desdemona(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process, beside two games of Othello; gives exit status, output and errors."""
    monkeypatch.setenv("DESDEMONA_STORAGE__URL", f"sqlite:///{tmp_path / 'desdemona.db'}")
    monkeypatch.chdir(tmp_path)
    for module in (cli_analyse, cli_study):
        monkeypatch.setattr(module, "LocalWorkers", Here)
    (tmp_path / "games.txt").write_text(OTHELLO)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["desdemona", *arguments])
        with pytest.raises(SystemExit) as leaving:
            program.main()
        told = capsys.readouterr()
        code = leaving.value.code
        return (code if isinstance(code, int) else 0 if code is None else 1), told.out, told.err

    return command


ANALYSE = ("analyse", "games.txt", "--game", "othello", "--depth", "4")


def test_games_are_looked_into_and_studied(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = desdemona(*ANALYSE, "--json")
    assert code == 0
    told: dict[str, Any] = json.loads(out)
    assert told["known"] == told["failed"] == 0
    assert "2 games" in err
    assert desdemona(*ANALYSE)[1] == f"native, depth 4: 0 moves analysed, {told['new']} already known\n"

    monkeypatch.setattr(cli_analyse, "_open", lambda *_: FakeModel("othello"))
    code, out, err = desdemona("lab", "analyse", "--game", "othello", "--depth", "4", "--model", "x.onnx")
    assert (code, err) == (0, "")
    assert out.endswith(f"; {told['new']} predicted by fake\n")

    code, out, err = desdemona("lab", "study", "--game", "othello", "--resamples", "20", "--format", "json")
    assert code == 0
    study: dict[str, Any] = json.loads(out)
    assert study["positions"] == told["new"]
    assert study["human_models"] == ["fake"]
    assert {row["model"] for row in study["baits"]["rows"]} == {"calibrated model", "fake", "R"}
    assert study["experience"] == [], "games without a year"
    assert study["baits"]["errors"]["of"] == told["new"]
    monkeypatch.setattr(reply_profiles, "decision_costs", None)  # the database has all of them
    asked = ("--resamples", "20", "--format", "json")
    assert json.loads(desdemona("lab", "study", "--game", "othello", *asked)[1]) == study
    assert (
        "rated by results" in desdemona("lab", "study", "--game", "othello", "--resamples", "20", "--elo")[1]
    )
    code, out, err = desdemona("lab", "study", "--game", "othello", "--resamples", "20", "--human", "fake")
    assert code == 0
    assert "Figure 9" in out
    study_to = ("lab", "study", "--game", "othello", "--resamples", "20", "--tilt-to", "tilted.onnx")
    code, out, err = desdemona(*study_to)
    assert (code, "Figure 9" in out, "--tilt-to: needs a calibrated model and more moves" in err) == (
        2,
        True,
        True,
    )
    monkeypatch.setattr(judge_tilt, "MIN_MOVES", 10)
    monkeypatch.setattr(judge_tilt, "held_out", lambda _, forecasts: list(forecasts))  # two games, no folds
    assert desdemona(*study_to)[0] == 0
    tilted = open_calibrated(Path("tilted.onnx"))
    card = json.loads(Path("tilted.json").read_text())
    assert tilted.judge_tilt is not None
    assert card["judge_tilt"]["per_cost"] == tilted.judge_tilt.per_cost
    assert card["sha256"] == tilted.info.sha256
    for option in ("--own", "--min-rating=1500"):
        code, _, err = desdemona("lab", "study", "--game", "othello", "--elo", option)
        assert (code, "--elo cannot be combined with" in err) == (2, True)
    code, out, err = desdemona("lab", "study", "--game", "othello", "--human", "maia")
    assert (code, out) == (2, "")
    assert "no predictions of 'maia' for these positions; models: fake ffffff" in err


def test_games_that_people_had_played_before(desdemona: Command, tmp_path: Path) -> None:
    (tmp_path / "new.pgn").write_text(PGN.split('\n\n[Event "B"]')[0] + "\n")
    assert desdemona("lab", "analyse", "new.pgn", "--game", "chess", "--depth", "3", "--sample", "4")[0] == 0
    study = ("study", "--game", "chess", "--resamples", "20", "--format", "json")
    assert json.loads(desdemona(*study)[1])["experience"] == [], "no games of earlier years"
    old = '[White "Anna"]\n[Black "Clara"]\n[Date "{}.01.02"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n'
    (tmp_path / "old.pgn").write_text(old.format(2019) + old.format(2020) + old.format(2021))
    assert desdemona("import", "old.pgn")[0] == 0
    found = json.loads(desdemona(*study)[1])["experience"]
    people = {band["people"]: band["errors"]["persons"] for band in found}
    assert people == {"games before: 0": 1, "games before: 1-30": 1}


def test_a_study_that_is_stopped_goes_on(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    desdemona(*ANALYSE)
    study = ("lab", "study", "--game", "othello", "--resamples", "20")

    def stopped() -> tuple[asyncio.Event, list[int]]:
        event = asyncio.Event()
        event.set()
        return event, [signal.SIGINT]

    with monkeypatch.context() as patched:
        patched.setattr(cli_study, "stop_on_signals", stopped)
        code, out, err = desdemona(*study)
    assert (code, out) == (128 + signal.SIGINT, "")
    assert err.endswith("stopped; run the same command again to resume\n")
    assert desdemona(*study)[0] == 0


def test_analyses_are_listed(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    positions = json.loads(desdemona(*ANALYSE, "--json")[1])["new"]
    monkeypatch.setattr(cli_analyse, "_open", lambda *_: FakeModel("othello"))
    desdemona("lab", "analyse", "--game", "othello", "--depth", "4", "--model", "x.onnx")
    desdemona("lab", "analyse", "games.txt", "--game", "othello", "--depth", "3", "--sample", "1")
    code, out, err = desdemona("lab", "study", "--game", "othello", "--list")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"1: native, depth 4, {SEARCH_REVISION}: {positions} positions of 2 games; models: fake ffffff",
        f"2: native, depth 3, {SEARCH_REVISION}: 1 position of 1 game; models: none",
    ]
    listed = json.loads(desdemona("lab", "study", "--game", "othello", "--list", "--format", "json")[1])
    assert [(each["id"], each["models"]) for each in listed] == [(1, ["fake ffffff"]), (2, [])]
    for option in ("--own", "--tilt-to=x.onnx", "--calibrated=x.onnx"):
        error = desdemona("lab", "study", "--game", "othello", "--list", option)[2]
        assert "--list can be combined only with" in error
    told = desdemona("lab", "study", "--game", "chess", "--list")
    assert told == (0, "", "there is no chess analysis: run `desdemona lab analyse`\n")


def test_what_tilt_to_needs_is_checked_before_the_study(desdemona: Command) -> None:
    study_to = ("lab", "study", "--game", "othello", "--tilt-to")
    assert desdemona(*study_to, "x.txt")[2] == "desdemona: --tilt-to: x.txt does not end in .onnx\n"
    assert desdemona(*study_to, "no/x.onnx")[2] == "desdemona: --tilt-to: no is not a folder\n"
    shutil.copy(default_path("othello"), "model.onnx")
    ask = (*study_to, "x.onnx", "--calibrated", "model.onnx")
    assert "--tilt-to: the model's card model.json cannot be read: " in desdemona(*ask)[2]
    Path("model.json").write_text("[]")
    assert "--tilt-to: the model's card model.json is not a JSON object" in desdemona(*ask)[2]
    Path("model.json").write_text("{}")
    assert "there is no database" in desdemona(*ask)[2]


def test_one_game_alone_has_no_intervals(desdemona: Command, tmp_path: Path) -> None:
    (tmp_path / "games.txt").write_text(OTHELLO.split("\n", 1)[0])
    desdemona(*ANALYSE)
    code, out, _ = desdemona("lab", "study", "--game", "othello", "--resamples", "20")
    assert code == 0
    assert " [-]" in out
    assert "nan" not in out
    told = desdemona("lab", "study", "--game", "othello", "--resamples", "20", "--format", "json")[1]
    loss = json.loads(told, parse_constant=pytest.fail)["mean_loss"]
    assert loss["value"] >= 0
    assert loss["low"] is loss["high"] is None


def test_copies_of_games_are_told_of(desdemona: Command, tmp_path: Path) -> None:
    (tmp_path / "again.txt").write_text(OTHELLO * 2)
    alone = json.loads(desdemona(*ANALYSE, "--json")[1])
    code, out, err = desdemona(*ANALYSE, "again.txt", "--json")
    assert (code, json.loads(out)) == (0, {**alone, "known": alone["new"], "new": 0})
    assert "number of games found more than once (only the first copy counts): 2\n" in err
    assert "\n2 games, " in err


def test_names_of_models_do_not_talk_to_the_terminal(
    desdemona: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a database may be older than the rule that they can be printed."""
    model = FakeModel("othello")
    model.info = ModelInfo("othello", "\x1b[31mred", "a" * 64)
    monkeypatch.setattr(cli_analyse, "_open", lambda *_: model)
    said = [
        desdemona(*ANALYSE, "--model", "x.onnx"),
        desdemona("lab", "study", "--game", "othello", "--resamples", "20"),
    ]
    for code, out, err in said:
        assert code == 0
        assert "\\x1b[31mred" in out
        assert "\x1b" not in out + err
    told = desdemona("lab", "fit", "--game", "othello", "--out", "x.onnx", "--name", "a\a")
    assert told == (2, "", "desdemona: --name: 'a\\x07' is not at most 80 printable characters\n")


def test_a_study_is_told_before_it_is_drawn(desdemona: Command, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra `lab`")
    desdemona(*ANALYSE)
    (tmp_path / "file").touch()
    code, out, err = desdemona("lab", "study", "--game", "othello", "--resamples", "20", "--plots", "file")
    assert code == 2
    assert "Figure 9" in out
    assert err.endswith("desdemona: --plots: file: File exists\n")


def test_models_are_told_apart_by_their_files(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    desdemona(*ANALYSE)
    for name, digit in (("net", "a"), ("net", "b"), ("other", "c")):
        model = FakeModel("othello")
        model.info = ModelInfo("othello", name, digit * 64)
        monkeypatch.setattr(cli_analyse, "_open", lambda *_, model=model: model)
        desdemona("lab", "analyse", "--game", "othello", "--depth", "4", "--model", "x.onnx")

    def studied(*asked: str) -> tuple[str, list[str]]:
        code, out, err = desdemona(
            "lab", "study", "--game", "othello", "--resamples", "20", "--format", "json", *asked
        )
        assert code == 0, err
        study: dict[str, Any] = json.loads(out)
        return study["about"].split("; ")[1], study["human_models"]

    assert studied() == ("human-move model other cccccc", ["other", "net aaaaaa", "net bbbbbb"])
    newest = ("human-move model net bbbbbb", ["net", "net aaaaaa", "other"])
    assert studied("--human", "net") == newest
    assert studied("--human", "bbbbbb") == newest
    assert studied("--human", "A" * 10) == ("human-move model net aaaaaa", ["net", "net bbbbbb", "other"])
    assert desdemona("lab", "study", "--game", "othello", "--human", "aaaaa")[0] != 0, "five digits"


async def own_games(url: str) -> None:
    """Of three players, of whom one wrote down what another model expected."""
    database = await Database.open(url)
    made = decision(quality=225)
    replies = tuple(replace(reply, probability=1 / 3) for reply in made.chosen.replies)
    told = replace(
        made.with_chosen(replace(made.chosen, replies=replies)), model=ModelInfo("maia", "old", "a" * 64)
    )
    async with database.write() as session:
        for player, each in (("standard", made), ("trappy", made), ("opponent_model", told)):
            game = await opened(session, player, strategy=player)
            await settled(session, game.id, 0, each, FELL)
            await set_moves(session, game.id, ("f5", "d6", "c3"))
    await database.close()


def test_own_games_of_all_players_count_alike(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(own_games(f"sqlite:///{tmp_path / 'desdemona.db'}"))
    study = ("study", "--game", "othello", "--own", "--resamples", "20", "--format", "json")
    code, out, err = desdemona(*study)
    assert code == 0, err
    found = json.loads(out)
    model = ModelRegistry().models("othello").human.info
    assert found["about"] == (
        f"othello: the bot's own games with people; human-move model {model.name} {model.sha256[:6]}; "
        "3 positions of 3 games"
    )
    assert (found["positions"], found["human_models"]) == (3, [model.name])
    assert found["baits"]["errors"]["of"] == 3
    assert found["experience"] == []

    def guesses(_: HumanConfig) -> ModelRegistry:
        return ModelRegistry(folder=tmp_path)

    monkeypatch.setattr(HumanConfig, "model_registry", guesses)
    found = json.loads(desdemona(*study)[1])
    assert found["about"].endswith("with people; no human-move model; 3 positions of 3 games")
    assert (found["positions"], found["human_models"]) == (3, [])
    assert "cannot be combined with --own" in desdemona(*study, "--human", "net")[2]


def test_positions_of_which_a_model_has_not_spoken_are_told_of(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "games.txt").write_text(OTHELLO.splitlines()[0])
    desdemona(*ANALYSE)
    monkeypatch.setattr(cli_analyse, "_open", lambda *_: FakeModel("othello"))
    desdemona("lab", "analyse", "--game", "othello", "--depth", "4", "--model", "x.onnx")
    (tmp_path / "games.txt").write_text(OTHELLO)
    more = json.loads(desdemona(*ANALYSE, "--json")[1])["new"]
    assert more > 0
    err = desdemona("lab", "study", "--game", "othello", "--resamples", "20")[2]
    assert f" of 1 game, {more} others left out because they lack its prediction\n" in err


def test_too_little_to_learn_from(desdemona: Command, tmp_path: Path) -> None:
    desdemona(*ANALYSE)
    code, out, err = desdemona("lab", "fit", "--game", "othello", "--first", "--out", "made.onnx")
    assert code != 0
    assert out == ""
    assert "at least 500 positions are needed" in err
    assert not (tmp_path / "made.onnx").exists()


@pytest.mark.parametrize(
    ("out", "text"),
    [
        ("made.json", "--out: made.json does not end in .onnx"),
        ("made", "--out: made does not end in .onnx"),
        (".onnx", "--out: .onnx does not end in .onnx"),
        ("folder.onnx", "--out: folder.onnx is not a regular file"),
        ("card.onnx", "--out: card.json is not a regular file"),
        ("no/such/folder.onnx", "--out: no/such is not a folder"),
    ],
)
def test_where_no_model_is_written(desdemona: Command, tmp_path: Path, out: str, text: str) -> None:
    """Said before anything is read."""
    (tmp_path / "folder.onnx").mkdir()
    (tmp_path / "card.json").mkdir()
    told = desdemona("lab", "fit", "--game", "othello", "--first", "--out", out)
    assert told == (2, "", f"desdemona: {text}\n")


def test_the_card_goes_beside_the_model(tmp_path: Path) -> None:
    lab_common.write_model(tmp_path / "made.onnx", {"seed": 1}, b"network")
    assert (tmp_path / "made.onnx").read_bytes() == b"network"
    assert json.loads((tmp_path / "made.json").read_text()) == {"seed": 1}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("analyse", "none.txt", "--game", "othello"), "none.txt: No such file"),
        (("analyse", "games.txt", "--game", "go"), "--game: 'go' is not known"),
        (("analyse", "--game", "othello"), "pass game files, or --model"),
        (("analyse", "games.txt", "--game", "chess"), "no chess game in games.txt"),
        ((*ANALYSE, "--from-year", "1999"), "none of the 2 games has a move"),
        ((*ANALYSE, "--model", "none.onnx"), "--model: none.onnx: No such file"),
        ((*ANALYSE, "--option", "Hash=1"), "--option requires --source uci"),
        ((*ANALYSE, "--source", "uci"), "game is 'othello'"),
        (
            ("analyse", "games.txt", "--game", "chess", "--source", "uci", "--option", "Hash"),
            "'Hash' is not NAME=VALUE",
        ),
        (
            ("analyse", "games.txt", "--game", "chess", "--source", "uci", "--engine", "./none"),
            "cannot start ./none",
        ),
    ],
)
def test_what_makes_no_sense(desdemona: Command, arguments: tuple[str, ...], text: str) -> None:
    code, out, err = desdemona(*arguments)
    assert code != 0
    assert out == ""
    assert text in err
    assert "Traceback" not in err


def test_there_has_to_be_something_to_study(desdemona: Command) -> None:
    assert "there is no database" in desdemona("lab", "study", "--game", "othello")[2]
    desdemona(*ANALYSE)
    assert (
        "there is no chess analysis: run `desdemona lab analyse`"
        in desdemona("lab", "study", "--game", "chess")[2]
    )
    assert "with number 7; known: 1" in desdemona("lab", "study", "--game", "othello", "--analysis", "7")[2]
    assert "no position passes" in desdemona("lab", "study", "--game", "othello", "--min-rating", "9")[2]
    assert "--own" not in desdemona("lab", "study", "--game", "othello", "--own")[2]
    told = desdemona("lab", "fit", "--game", "go", "--own", "--first", "--out", "x.onnx")[2]
    assert "--game: 'go' is not known" in told
    told = desdemona("lab", "study", "--game", "othello", "--calibrated", "none.onnx")[2]
    assert "none.onnx: No such file" in told


def test_a_run_that_is_stopped_goes_on(tmp_path: Path) -> None:
    """As a program with workers in processes of their own."""
    (tmp_path / "games.pgn").write_text(PGN)
    command = [sys.executable, "-m", "bot", "analyse", "games.pgn", "--game", "chess", "--depth", "3"]
    env = {**os.environ, "DESDEMONA_STORAGE__URL": f"sqlite:///{tmp_path / 'desdemona.db'}"}
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("profiles: "):
            break
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode in (0, 128 + signal.SIGINT)  # 0: all was done before it heard
    again = subprocess.run(
        [*command, "--json"], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    told = json.loads(again.stdout)
    assert told["known"] >= 1
    assert told["known"] + told["new"] == 9
    assert told["failed"] == 0


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("lab", "fit", "--game", "othello", "--out", "x.onnx"), "lab fit"),
        (("study", "--game", "othello", "--plots", "plots"), "--plots"),
        (("lab", "run", "figures-3-to-5", "--plots", "plots"), "--plots"),
    ],
)
def test_what_is_not_installed_is_said_at_once(
    desdemona: Command, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], what: str
) -> None:
    monkeypatch.setattr(lab_common, "find_spec", lambda _: None)
    status, out, err = desdemona(*command)
    assert (status, out) == (2, "")
    assert f"{what} needs the extra `lab`: `pip install 'desdemona[lab]'`" in err
