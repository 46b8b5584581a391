"""`desdemona engine`: its options, and what it takes from the settings."""

import io
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from bot import __main__ as program
from bot.base.config import AssignmentConfig, AssignmentMethod, Config, EngineConfig, TrapConfig
from bot.cli.engine import settings
from engine.games import networks
from engine.search import searchers
from engine.strategies.standard import STANDARD
from engine.strategies.strong import STRONG
from engine.strategies.trappy import TRAPPY


def typed(monkeypatch: pytest.MonkeyPatch, text: str, *arguments: str) -> int:
    """Type the command; the text is all that the other program says."""
    monkeypatch.setattr(sys, "argv", ["desdemona", "engine", *arguments])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.raises(SystemExit) as leaving:
        program.main()
    code = leaving.value.code
    return code if isinstance(code, int) else 0


@pytest.mark.parametrize(
    ("arguments", "text", "answer"),
    [
        (("--protocol", "nboard"), "ping 1\n", "pong 1\n"),
        (("--protocol", "gtp", "--game", "othello"), "name\nquit\n", "= Desdemona\n\n= \n\n"),
        (("--protocol", "uci"), "isready\nquit\n", "readyok\n"),
        (("--protocol", "ucci"), "isready\nquit\n", "readyok\nbye\n"),
        (("--protocol", "uci", "--game", "xiangqi"), "position startpos moves a1a2\nisready\n", "readyok\n"),
    ],
)
def test_all_protocols(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
    arguments: tuple[str, ...],
    text: str,
    answer: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed(monkeypatch, text, *arguments) == 0
    assert capfdbinary.readouterr().out.decode() == answer
    assert not list(tmp_path.iterdir()), "it writes nothing"


def test_a_damaged_file_is_refused_before_the_first_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    searchers._network.cache_clear()
    networks.weights.cache_clear()
    (tmp_path / "chess_network.xz").write_bytes(b"")
    weights = Path(networks.__file__).with_name("chess_weights.json")
    (tmp_path / "chess_weights.json").write_bytes(weights.read_bytes())
    monkeypatch.setattr(resources, "files", lambda _: tmp_path)
    assert typed(monkeypatch, "uci\nquit\n", "--protocol", "uci") == program.EXIT_USER_ERROR
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("desdemona: ")
    assert "chess_network.xz" in err


def answers_to(output: int) -> tuple[int, str]:
    """Exit status and errors of a program whose answers go to this file descriptor."""
    done = subprocess.run(
        [sys.executable, "-m", "bot", "engine", "--protocol", "gtp"],
        input="name\nquit\n",
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(output)
    return done.returncode, done.stderr


def test_a_full_disk_is_reported() -> None:
    message = "desdemona: cannot write the output: No space left on device\n"
    assert answers_to(os.open("/dev/full", os.O_WRONLY)) == (program.EXIT_USER_ERROR, message)


def test_a_program_that_has_gone_is_no_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    assert answers_to(writer) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--protocol", "gtp", "--game", "chess"), "--game: gtp is for othello, not for 'chess'"),
        (("--protocol", "uci", "--game", "go"), "--game: uci is for chess and xiangqi, not for 'go'"),
        (("--protocol", "uci", "--strategy", "trappy_uci"), "known: standard, trappy, strong"),
        (("--protocol", "uci", "--strategy", "x"), "--strategy: 'x' is not known"),
    ],
)
def test_mistakes(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed(monkeypatch, "", *arguments) == program.EXIT_USER_ERROR
    assert message in capsys.readouterr().err


def test_an_unknown_protocol(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(monkeypatch, "", "--protocol", "xboard") == 2
    assert "Invalid value for '--protocol': 'xboard' is not one of 'nboard'" in capsys.readouterr().err


def test_what_the_settings_say() -> None:
    config = Config(
        engine=EngineConfig(max_depth=7, max_time_s=3.5, table_mb=8, strong_depth=20, threads=2),
        trap=TrapConfig(margin_centi=50),
        assignment=AssignmentConfig(method=AssignmentMethod.FIXED, strategy="strong"),
    )
    found = settings(config, None, None)
    assert (found.strategy, found.depth, found.full_depth, found.move_s) == (STRONG, None, 7, 3.5)
    assert (found.table_mb, found.params.margin_centi) == (8, 50)
    assert (found.strong.depth, found.strong.threads) == (20, 2)
    assert settings(config, "standard", 4).strategy is STANDARD
    assert settings(config, "standard", 4).depth == 4
    other = AssignmentConfig(method=AssignmentMethod.FIXED, strategy="trappy_uci")
    assert settings(config.model_copy(update={"assignment": other}), None, None).strategy is TRAPPY, (
        "ours alone"
    )
