"""`desdemona init` writes what it should where it should, and destroys nothing."""

import io
import sys
from pathlib import Path

import pytest

from bot.base.config import load_config, read_token
from bot.cli.account_check import Finding
from tests.bot.conftest import Command

TOKEN = "lip_VerySecretToken42"


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Finding]:
    """What the check finds."""
    found = [Finding("account", True, "signed in"), Finding("others", None, "not tried")]

    async def check(*_: object) -> list[Finding]:
        return found

    monkeypatch.setattr("bot.cli.check.check", check)
    return found


class Terminal(io.StringIO):
    """Standard input on which somebody types."""

    def isatty(self) -> bool:
        return True


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str, is_terminal: bool = False) -> None:
    text = "".join(f"{line}\n" for line in lines)
    monkeypatch.setattr(sys, "stdin", Terminal(text) if is_terminal else io.StringIO(text))


@pytest.mark.usefixtures("findings")
def test_a_site_without_questions(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, TOKEN)
    status, out, err = desdemona("init", "--site", "lichess")
    assert (status, out) == (0, "ok    account: signed in\n--    others: not tried\nNext: desdemona run\n")
    assert TOKEN not in out + err
    text = (tmp_path / "config.toml").read_text()
    assert TOKEN not in text
    assert len(text.splitlines()) < 15
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("[cl]*.*")} == {0o600}
    config = load_config()
    assert read_token(config.server) == TOKEN
    assert not config.arena.enabled
    assert config.challenges.variants == ("chess", "chess960", "from_position")
    assert config.challenges.rated


@pytest.mark.usefixtures("findings")
@pytest.mark.parametrize(
    ("arguments", "lines", "section", "values"),
    [
        (["--site", "arena"], [], "server", {"dialect": "arena", "token_file": ""}),
        (["--site", "pychess"], [TOKEN], "challenges", {"rated": False}),
        (["--site", "ggs", "--name", "desde"], ["pw"], "server", {"name": "desde"}),
        (["--site", "lichess", "--token-file", "my.token"], [], "server", {"token_file": "my.token"}),
        (["--site", "lichess", "--url", "https://x.org"], [TOKEN], "server", {"url": "https://x.org"}),
    ],
)  # fmt: skip
def test_sites(
    arguments: list[str],
    lines: list[str],
    section: str,
    values: dict[str, object],
    desdemona: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed(monkeypatch, *lines)
    assert desdemona("init", *arguments)[0] == 0
    found = getattr(load_config(), section)
    assert {key: getattr(found, key) for key in values} == values


@pytest.mark.usefixtures("findings")
def test_another_file(desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, TOKEN)
    (tmp_path / "etc").mkdir()
    status, out, _ = desdemona("--config", "etc/own.toml", "init", "--site", "lichess")
    assert (status, out.splitlines()[-1]) == (0, "Next: desdemona --config etc/own.toml run")
    file = load_config(tmp_path / "etc/own.toml").server.token_file
    assert file == str(tmp_path / "etc/lichess.token")
    assert Path(file).read_text() == f"{TOKEN}\n"


@pytest.mark.usefixtures("findings")
def test_a_token_in_the_environment_stays_there(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESDEMONA_SERVER__TOKEN", TOKEN)
    typed(monkeypatch)
    assert desdemona("init", "--site", "lichess")[0] == 0
    assert not list(tmp_path.glob("*.token"))
    assert "token" not in (tmp_path / "config.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "lines", "said"),
    [
        ([], [], "--site: '' is not known; known: arena, lichess, "),
        (["--site", "nowhere"], [], "--site: 'nowhere' is not known"),
        (["--site", "ggs"], ["pw"], "--name: ggs needs the account's name"),
        (["--site", "lichess"], [], "no token: use --token-file, standard input or"),
        (["--site", "lichess"], ["two words"], "a token consists of ASCII characters without spaces"),
        (["--site", "lichess", "--url", "x"], [TOKEN], "config.toml: server.url: "),
        (["--site", "ggs", "--name", "no one"], [TOKEN], "config.toml: server.name: "),
    ],
)
def test_what_is_wrong_writes_nothing(
    arguments: list[str],
    lines: list[str],
    said: str,
    desdemona: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed(monkeypatch, *lines)
    status, out, err = desdemona("init", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert TOKEN not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("findings")
def test_nothing_is_replaced_unasked(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, token = tmp_path / "config.toml", tmp_path / "lichess.token"
    config.write_text("[log]\n")
    typed(monkeypatch, TOKEN)
    status, _, err = desdemona("init", "--site", "lichess")
    assert (status, "config.toml exists; --force replaces it and keeps a copy" in err) == (2, True)
    typed(monkeypatch, "n", is_terminal=True)
    assert desdemona("init", "--site", "lichess")[0] == 1
    assert (config.read_text(), token.exists()) == ("[log]\n", False)
    for number, copy in enumerate(("config.toml.old", "config.toml.old2")):
        typed(monkeypatch, f"token{number}")
        assert desdemona("init", "--site", "lichess", "--force")[0] == 0
        assert (tmp_path / copy).exists()
    assert (tmp_path / "config.toml.old").read_text() == "[log]\n"
    assert (token.read_text(), (tmp_path / "lichess.token.old").read_text()) == ("token1\n", "token0\n")
    typed(monkeypatch, "y", "arena", is_terminal=True)
    assert desdemona("init")[0] == 0
    assert load_config().server.dialect == "arena"


def test_a_failed_check_is_named(
    desdemona: Command, findings: list[Finding], monkeypatch: pytest.MonkeyPatch
) -> None:
    findings[0] = Finding("account", False, "HTTP 401")
    typed(monkeypatch, TOKEN)
    status, out, _ = desdemona("init", "--site", "lichess")
    assert status == 1
    assert out.splitlines()[0] == "FAIL  account: HTTP 401"
    assert out.splitlines()[-1] == "Next: mend what failed, then desdemona check"
