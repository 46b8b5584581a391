"""The command: in this process, and in others that are stopped in every way."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bot import __main__ as program
from bot.cli import match as cli_match
from bot.match.player_specs import MatchError
from bot.workers.pools import LocalWorkers
from engine.opponents.odds import ODDS, gives_odds
from storage.database import Database
from storage.filters import Filters
from storage.ledger.games import list_games
from storage.records import MATCH_SITE, GameStatus, StoredGame
from tests.bot.match.samples import fake
from tests.patience import PATIENCE_S
from tests.storage.busy import BusyWriter

T = TypeVar("T")
R = TypeVar("R")

Command = Callable[..., tuple[int, str, str]]

QUICK = ("standard", "trappy", "--game", "tictactoe", "--depth", "3")


class Place:
    """A folder with a database, and commands in it."""

    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite:///{folder / 'desdemona.db'}"
        self.folder = folder
        self.running: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "bot", "match", *arguments],
            cwd=self.folder,
            env={**os.environ, "DESDEMONA_STORAGE__URL": self.url},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.running.append(process)
        return process

    def games(self) -> list[StoredGame]:
        async def read() -> list[StoredGame]:
            database = await Database.open(self.url)
            try:
                async with database.read() as session:
                    return await list_games(session, Filters(site=MATCH_SITE))
            finally:
                await database.close()

        return asyncio.run(read())


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    yield found
    for process in found.running:
        process.kill()
        process.communicate()


@pytest.fixture
def desdemona(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Plays a match in this process; gives exit status, output and errors."""
    monkeypatch.setenv("DESDEMONA_STORAGE__URL", place.url)
    monkeypatch.chdir(place.folder)
    monkeypatch.setattr(cli_match, "LocalWorkers", Here)

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["desdemona", "match", *arguments])
        with pytest.raises(SystemExit) as leaving:
            program.main()
        told = capsys.readouterr()
        code = leaving.value.code
        return (code if isinstance(code, int) else 0), told.out, told.err

    return command


class Here(LocalWorkers):
    """Workers without a process of their own, which takes a second to start."""

    def run(self, work: Callable[[T], R], task: T) -> "Future[R]":
        future: Future[R] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(work(task))
        except MatchError as error:
            future.set_exception(error)
        return future


def after(process: subprocess.Popen[str], games: int) -> None:
    """Wait for so many games."""
    assert process.stderr is not None
    seen = 0
    while seen < games:
        line = process.stderr.readline()
        assert line, "it has ended"
        seen += line.startswith("game ")


def numbers(games: list[StoredGame]) -> list[int]:
    return sorted(game.selection["number"] for game in games)


def test_a_match(place: Place, desdemona: Command) -> None:
    code, out, err = desdemona(*QUICK, "--games", "6", "--json")
    told: dict[str, Any] = json.loads(out)
    assert code == 0
    assert told["games"] == told["wins"] + told["draws"] + told["losses"] == 6
    assert told["is_over"]
    assert sum(told["pairs"]) == 3
    assert err.count("\ngame ") == 5
    assert numbers(place.games()) == list(range(6))
    code, out, err = desdemona(*QUICK, "--games", "6")
    assert code == 0
    assert "6 of 6 games" in out
    assert "6 games have been played already" in err
    assert len(place.games()) == 6


def test_a_game_waits_for_other_programs_that_write(
    place: Place, desdemona: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.games() == []  # the tables are there
    writer = BusyWriter(monkeypatch, place.folder / "desdemona.db", refusals=4)
    code, _, _ = desdemona(*QUICK, "--games", "2")
    assert code == 0
    assert writer.refusals == 4
    assert numbers(place.games()) == [0, 1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_stopped_and_resumed(place: Place, desdemona: Command, number: signal.Signals) -> None:
    arguments = (*QUICK, "--games", "8")
    first = place.start(*arguments)
    after(first, 2)
    first.send_signal(number)
    out, err = first.communicate(timeout=PATIENCE_S)
    if number is signal.SIGKILL:
        assert first.returncode == -signal.SIGKILL
    else:
        assert first.returncode == 128 + number
        assert "of 8 games" in out
        assert "the same command resumes" in err
        assert "Traceback" not in err
    before = place.games()
    assert 2 <= len(before) < 8
    code, out, _ = desdemona(*arguments)
    assert code == 0
    assert "8 of 8 games" in out
    games = place.games()
    assert numbers(games) == list(range(8))
    assert all(game.state is GameStatus.FINISHED for game in games)
    assert {game.id for game in before} < {game.id for game in games}
    assert {(game.id, game.moves) for game in before} < {(game.id, game.moves) for game in games}


def test_workers_end_with_a_match_that_is_killed(place: Place, tmp_path: Path) -> None:
    """And so do the programs that play there: the pipe that one of them holds comes to its end."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = place.start(fake("gtp", "othello", f"hold={fifo}", "hang=1"), "standard", "--depth", "2")
    with fifo.open("rb") as held:  # when the program has opened the other end
        process.kill()
        assert held.read() == b""


def test_an_external_program(desdemona: Command) -> None:
    code, out, err = desdemona("standard", fake("nboard", "othello"), "--depth", "2", "--games", "2")
    assert code == 0
    assert "(Made-up" in out
    assert "discs" in out
    assert "game 2/2 (B black)" in err


def test_failures_are_told(desdemona: Command) -> None:
    opponent = fake("gtp", "othello", "illegal", more="; name=Fake")
    code, out, err = desdemona("standard", opponent, "--depth", "2", "--games", "2")
    assert code == 0
    assert err.count("B played an illegal move: ") == 2
    assert "ended: 2 B played an illegal move" in out


def test_a_bar_on_a_terminal(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    opponent = fake("gtp", "othello", "nonsense", more="; name=Fake")
    code, out, err = desdemona("standard", opponent, "--depth", "2", "--games", "2")
    assert code == 0
    assert "2/2" in err
    assert "game 2/2 (B black): B played an illegal move" in err  # above the bar
    assert out.startswith("match ")


def test_openings_of_a_file(place: Place, desdemona: Command) -> None:
    (place.folder / "openings.txt").write_text("f5d6\nf5f6\nf5f4\n")
    code, _, _ = desdemona("standard", "trappy", "--depth", "2", "--games", "4", "--openings", "openings.txt")
    assert code == 0
    games = place.games()
    assert len({game.moves[:2] for game in games}) == 2
    assert all(game.moves[0] == "f5" for game in games)


def test_a_match_at_odds(place: Place, desdemona: Command) -> None:
    quick = ("standard", "trappy", "--depth", "2", "--games", "2")
    assert desdemona(*quick, "--odds", "2-corners")[0] == 0
    games = sorted(place.games(), key=lambda game: game.our_side)
    assert [game.initial_position for game in games] == list(ODDS["othello"][1].starts)
    assert [gives_odds(game.game, game.initial_position, game.our_side) for game in games] == [True, True]
    # Other odds, another match.
    assert desdemona(*quick)[0] == 0
    assert len(place.games()) == 4


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("strong", "trappy", "--odds", "queen"), "othello has no odds 'queen'; known: 1-corner, 2-corners"),
        (("strong", "trappy", "--odds", "1-corner", "--openings", "x"), "--odds and --openings cannot"),
        (("clever", "standard"), "player 'clever'"),
        (
            ("strong", "trappy", "--cpu", "0.1"),
            "--cpu: this limit belongs to a player, for instance strong:cpu=0.1",
        ),
        (
            ("strong", "trappy", "--nodes", "9"),
            "--nodes: this limit belongs to a player, for instance strong:nodes=9",
        ),
        (("standard", "trappy", "--games", "5"), "--games is 5; it must be even"),
        (("standard", "trappy", "--time", "-1"), "--time is -1"),
        (("standard", "trappy", "--time", "1", "--tc", "1+1"), "a clock and a time per move cannot be"),
        (("standard", "trappy", "--tc", "fast"), "--tc: 'fast' is not a clock"),
        (("standard", "trappy", "--sprt", "5"), "--sprt: '5'"),
        (("standard", "trappy", "--adjudicate", "5"), "--adjudicate: '5'"),
        (("standard", "trappy", "--id", "a b"), "--id: 'a b'"),
        (
            ("standard", "trappy", "--openings", "none.txt"),
            "--openings: none.txt cannot be read: No such file",
        ),
        (
            ("standard", "trappy", "--openings", "/dev/zero"),
            "--openings: /dev/zero cannot be read: not a regular file",
        ),
        (("standard", "trappy", "--opening-plies", "4"), "--opening-plies needs --openings"),
        (
            ("standard", "uci:/nowhere/x", "--games", "2"),
            "player B (/nowhere/x) cannot begin a game: cannot start /nowhere/x: No such file",
        ),
    ],
)
def test_what_cannot_be_played(desdemona: Command, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = desdemona(*arguments)
    assert code == 2
    assert out == ""
    assert f"desdemona: {says}" in err
    assert "Traceback" not in err
    assert err.count("cannot start") <= 1
