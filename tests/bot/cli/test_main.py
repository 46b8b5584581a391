import asyncio
import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from sqlalchemy import text

from bot.base.config import Config
from bot.base.dialects import Dialect
from bot.base.errors import AuthError, RefusedError
from bot.base.game_server import Account
from bot.cli import check as checking
from bot.cli.account_check import Finding
from bot.daemon import program
from storage import migrate
from storage.database import Database
from storage.evidence.queries.filter_language import parse_time
from storage.ledger.games import finish_game
from storage.records import GameResult
from tests.bot.conftest import Command
from tests.storage.samples import ERRED, FELL, UNANSWERED, decision, opened, settled


def in_database(path: Path, work: Callable[[Database], Awaitable[None]]) -> None:
    async def run() -> None:
        database = await Database.open(f"sqlite:///{path}")
        try:
            await work(database)
        finally:
            await database.close()

    asyncio.run(run())


async def nothing(_database: Database) -> None:
    """Leaves a database empty."""


@pytest.fixture
def two_games(migrated_file: Path) -> None:
    """A trappy game with three moves, won; a standard one a day later, still open."""

    async def fill(database: Database) -> None:
        noon = datetime(2026, 11, 1, 12, tzinfo=UTC)
        async with database.write() as session:
            game = await opened(session, "first", opponent_id="a", opponent_name="An\x1bna [bold]", at=noon)
            await settled(session, game.id, 0, decision(quality=225.0), FELL)
            await settled(session, game.id, 2, decision(), ERRED)
            await settled(session, game.id, 4, decision(quality=225.0), UNANSWERED)
            moves = ["f5", "d6", "c3", "d3", "c4"]
            await finish_game(session, game.id, result=GameResult.WIN, end_reason="resignation", moves=moves)
            later = noon + timedelta(days=1)
            await opened(session, "second", strategy="standard", rated=False, opponent_rating=1200, at=later)

    in_database(migrated_file, fill)


def test_help_and_version_need_no_settings(desdemona: Command, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("nonsense = [")
    assert desdemona("--help")[0] == 0
    assert desdemona("stats", "--help")[0] == 0
    assert desdemona("--version")[1].startswith("desdemona ")


@pytest.mark.usefixtures("two_games")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["second", "first"]),
        (["--strategy", "trappy"], ["first"]),
        (["--casual"], ["second"]),
        (["--rated"], ["first"]),
        (["--min-rating", "1300"], ["first"]),
        (["--max-rating", "1300"], ["second"]),
        (["--site", "elsewhere"], []),
        (["--opponent", "ANNA"], ["second"]),
        (["--match", "first"], []),
        (["--game", "othello", "--limit", "1"], ["second"]),
        (["--since", "2026-11-02T00:00+00:00"], ["second"]),
        (["--until", "2026-11-01T12:00+00:00"], []),
        (["--until", "2026-11-01T12:01+00:00"], ["first"]),
        (["--since", "2026-10-30", "--until", "2026-11-04"], ["second", "first"]),
    ],
)
def test_games_are_filtered(desdemona: Command, options: list[str], expected: list[str]) -> None:
    status, out, _ = desdemona("games", "--format", "json", *options)
    assert status == 0
    assert [game["game_id"] for game in json.loads(out)] == expected


def test_a_date_is_a_whole_day_of_this_machines_zone() -> None:
    begin, end = (parse_time("2026-11-30", end_of_day=last) for last in (False, True))
    assert end - begin == timedelta(days=1)
    assert begin == datetime(2026, 11, 30).astimezone()
    exact = parse_time("2026-11-30T18:00+01:00", end_of_day=True)
    assert exact == datetime(2026, 11, 30, 17, tzinfo=UTC)


@pytest.mark.usefixtures("two_games")
def test_games_as_a_table_and_csv(desdemona: Command) -> None:
    _, out, _ = desdemona("games")
    assert r"An\x1bna [bold]" in out  # neither steers the terminal nor reads as markup
    assert " plies)" in out.splitlines()[1]
    assert "\x1b" not in out
    _, out, _ = desdemona("games", "--format", "csv")
    assert [row["result"] for row in csv.DictReader(io.StringIO(out))] == ["", "win"]


def test_a_game_of_a_match_is_shown_as_one(desdemona: Command, database_file: Path) -> None:
    async def fill(database: Database) -> None:
        async with database.write() as session:
            for match in ("cup", "other"):
                terms = {"clock": None, "time_s": 0.5, "depth": None}
                await opened(
                    session,
                    f"{match}-0001",
                    site="match",
                    rated=False,
                    speed="correspondence",
                    selection={"method": "match", "match": match, "terms": terms},
                )

    in_database(database_file, fill)
    _, out, _ = desdemona("games", "--match", "cup")
    assert "cup-0001" in out
    assert "other-0001" not in out
    assert "casual" not in out
    _, out, _ = desdemona("show", "cup-0001")
    assert "match cup, 0.5 s a move" in out
    _, out, _ = desdemona("stats", "--site", "match", "--opponent", "anna", "--format", "json")
    assert json.loads(out)[0]["games"] == 2
    assert json.loads(desdemona("stats", "--match", "cup", "--format", "json")[1])[0]["games"] == 1
    assert json.loads(desdemona("stats", "--opponent", "nobody", "--format", "json")[1]) == []


@pytest.mark.usefixtures("two_games")
def test_show_tells_a_game(desdemona: Command) -> None:
    status, out, _ = desdemona("show", "first")
    assert status == 0
    assert "1. f5 d6 3. c3 d3 5. c4" in out
    assert "Move 1 · we played f5 · depth 4, 0.25 s" in out
    words = " ".join(out.split())
    answered, unanswered = words.partition("Move 2 ·")[0], words.partition("Move 3 ·")[2]
    assert "Not judged yet. " in answered
    assert "There was no bait here" not in words  # whether people are tempted is not known
    assert (
        "The paper's trap at depth 4: d6, quality 7.4 %. Figure 9 at that depth: fell for the best trap."
        in answered
    )
    assert "The last move. The game ended before desdemona's move was answered." in unanswered
    assert "The paper's trap at depth 4: d6, quality 7.4 %." in unanswered
    assert "Figure 9" not in unanswered
    assert "0 of 0 baits taken" in words
    assert "Traps in the paper's sense, each at its move's own depth: 2 set, 1 successful." in words
    assert "(best score)" in out
    assert "≤ +0.40" in out
    assert out.count("Move ") == 3
    assert desdemona("show", "first", "--traps")[1].count("Move ") == 0
    assert json.loads(desdemona("show", "first", "--format", "json")[1])["site_game_id"] == "first"


@pytest.mark.usefixtures("two_games")
def test_show_of_an_unknown_or_ambiguous_game(desdemona: Command, database_file: Path) -> None:
    unknown = "desdemona: unknown game 'third'; `desdemona games` lists the keys\n"
    assert desdemona("show", "third") == (2, "", unknown)

    async def add(database: Database) -> None:
        async with database.write() as session:
            await opened(session, "first", site="elsewhere")

    in_database(database_file, add)
    status, _, err = desdemona("show", "first")
    assert status == 2
    assert "several sites (arena, elsewhere)" in err
    assert desdemona("show", "first", "--site", "elsewhere")[0] == 0


def test_questions_make_no_database(desdemona: Command, database_file: Path) -> None:
    for command in (["stats"], ["games"], ["show", "first"], ["db", "current"]):
        status, out, err = desdemona(*command)
        assert (status, out) == (3, "")
        assert err == f"desdemona: there is no database at {database_file}; `desdemona run` creates one\n"
    assert not database_file.exists()


def test_an_empty_database_answers_kindly(desdemona: Command) -> None:
    assert desdemona("db", "upgrade")[0] == 0
    for command in ("stats", "games"):
        assert "No games yet." in desdemona(command)[2]
        assert "No games match these filters." in desdemona(command, "--rated")[2]
    assert desdemona("stats", "--format", "json")[1] == "[]\n"
    assert desdemona("stats", "--format", "csv")[1] == ""


def test_the_schema_is_told_and_upgraded(desdemona: Command, database_file: Path) -> None:
    status, out, _ = desdemona("db", "upgrade")
    assert (status, out) == (0, f"{database_file}: schema {migrate.newest_revision()}, up to date\n")
    assert desdemona("db", "current")[1] == f"schema {migrate.newest_revision()}, up to date\n"

    async def age(database: Database) -> None:
        async with database.write() as session:
            await session.execute(text("DELETE FROM alembic_version"))

    in_database(database_file, age)
    assert desdemona("db", "current")[1] == f"schema empty, newest {migrate.newest_revision()}\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--config", "nowhere.toml", "stats"], "nowhere.toml"),
        (["stats", "--engine", "deep"], "--strategy: 'deep' is not known; known: standard, trappy"),
        (["games", "--game", "go"], "--game: 'go' is not known; known: othello, chess, xiangqi, connect4"),
        (["stats", "--since", "yesterday"], "--since: 'yesterday' is not a date or time"),
        (["stats", "--until", "9999-12-31"], "--until: '9999-12-31' is not a date or time"),
        (
            ["stats", "--since", "0001-01-01T00:00+14:00"],
            "--since: '0001-01-01T00:00+14:00' is not a date or time",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(desdemona: Command, arguments: list[str], expected: str) -> None:
    status, out, err = desdemona(*arguments)
    assert (status, out) == (2, "")
    assert expected in err
    assert err.startswith("desdemona: ")
    assert err.count("\n") == 1


def test_a_wrong_key_in_the_file_is_named(desdemona: Command, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[engine]\nmax_dept = 8\n")
    status, _, err = desdemona("run")
    assert status == 2
    assert "config.toml" in err
    assert "engine.max_dept is not a setting" in err


def test_run_hands_over_the_settings_and_the_status(
    desdemona: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def run(config: Config, path: Path | None, *, only: Collection[str], is_standby: bool) -> int:
        seen.append((config.engine.max_depth, path, list(only), is_standby))
        return 3

    monkeypatch.setattr(program, "run", run)
    (tmp_path / "mine.toml").write_text("[engine]\nmax_depth = 4\n")
    assert desdemona("--config", "mine.toml", "run")[0] == 3
    assert desdemona("run", "--only", "a", "--only", "b", "--standby")[0] == 3
    assert seen == [(4, Path("mine.toml"), [], False), (10, None, ["a", "b"], True)]


def test_an_error_of_run_is_told_in_one_line(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_config: Config, _path: Path | None, **_options: object) -> int:
        raise AuthError("the server does not accept the token")

    monkeypatch.setattr(program, "run", run)
    assert desdemona("run") == (2, "", "desdemona: the server does not accept the token\n")


def test_arena_serves_alone(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Config] = []

    async def serve(config: Config) -> None:
        seen.append(config)

    monkeypatch.setattr(program, "serve_arena", serve)
    monkeypatch.setattr("bot.base.log.configure_logging", lambda _config: None)
    assert desdemona("arena")[0] == 0
    assert len(seen) == 1


def test_check_prints_what_it_finds(desdemona: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check(_config: Config, _source: str) -> list[Finding]:
        return [Finding("database", True, "fine"), Finding("account", False, "no token")]

    monkeypatch.setattr(checking, "check", check)
    assert desdemona("check")[:2] == (1, "ok    database: fine\nFAIL  account: no token\n")


def test_a_bot_account_gets_a_token(desdemona: Command) -> None:
    status, out, err = desdemona("arena-account", "add-bot", "Brabantio")
    assert status == 0
    token = out.strip()
    assert len(token) >= 16
    assert token not in err
    assert desdemona("arena-account", "add-bot", "Brabantio")[1].strip() not in ("", token)
    status, _, err = desdemona("arena-account", "add-bot", "desdemona")
    assert status == 2
    assert "is one of the bot's own accounts" in err
    assert err.count("\n") == 1
    status, _, err = desdemona("arena-account", "add-bot", "no spaces, please")
    assert status == 2
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    [
        (["--version"], ""),
        (["--version"], "1"),
        (["games", "--help"], "1"),
        (["games", "--format", "json"], ""),
    ],
)
def test_output_that_cannot_be_written(database_file: Path, arguments: list[str], unbuffered: str) -> None:
    if "json" in arguments:
        in_database(database_file, nothing)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bot", *arguments],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == "desdemona: cannot write the output: No space left on device\n"
    assert done.returncode == 2


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_gone_is_no_error(unbuffered: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "bot", "--version"],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_closed_output_is_no_error() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -m bot --version >&-', sys.executable],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_core_can_be_forced_to_an_instruction_set() -> None:
    for unit, status, told in (
        ("baseline", 0, "= Desdemona"),
        ("z80", 1, "DESDEMONA_UNIT is 'z80'; this processor runs"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "bot", "engine", "--protocol", "gtp"],
            env={**os.environ, "DESDEMONA_UNIT": unit},
            input="name\nquit\n",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status
        assert told in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


# --- upgrade-account ------------------------------------------------------------------------------------


class FakeSite:
    """Stands in for the adapter; says who the account is, and remembers what it was asked to do."""

    account_ = Account("iago", "Iago", is_bot=False, games=0)
    upgraded: ClassVar[list[str]] = []
    refuses = False

    def __init__(self, dialect: Dialect, url: str, token: str, **_: object) -> None:
        assert token == "lip_secret"
        self.where = f"{dialect.name} {url}"

    async def account(self) -> Account:
        return self.account_

    async def upgrade(self) -> None:
        if self.refuses:
            raise RefusedError("POST /api/bot/account/upgrade: HTTP 400: It has played", 400)
        self.upgraded.append(self.where)

    async def close(self) -> None: ...


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> type[FakeSite]:
    class Site(FakeSite):
        upgraded: ClassVar[list[str]] = []

    monkeypatch.setattr("bot.servers.adapters.LichessServer", Site)
    monkeypatch.setenv("DESDEMONA_SERVER__DIALECT", "lichess")
    monkeypatch.setenv("DESDEMONA_SERVER__TOKEN", "lip_secret")
    return Site


def test_an_upgrade_asks_first(
    desdemona: Command, site: type[FakeSite], monkeypatch: pytest.MonkeyPatch
) -> None:
    for typed, upgraded in (("n\n", False), ("", False), ("y\n", True)):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        status, out, err = desdemona("upgrade-account")
        assert "Make Iago at https://lichess.org a bot account?  This cannot be undone." in err
        assert (status == 0) == upgraded
        assert out.strip() == ("Iago at https://lichess.org is a bot account now" if upgraded else "")
        assert "lip_secret" not in out + err
    assert site.upgraded == ["lichess https://lichess.org"]


def test_an_upgrade_without_a_question(
    desdemona: Command, site: type[FakeSite], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESDEMONA_SERVER__URL", "http://127.0.0.1:9")
    status, out, err = desdemona("upgrade-account", "--yes")
    assert (status, err) == (0, "")
    assert out == "Iago at http://127.0.0.1:9 is a bot account now\n"
    assert site.upgraded == ["lichess http://127.0.0.1:9"]


@pytest.mark.parametrize(
    ("account", "says"),
    [
        (Account("iago", "Iago", is_bot=True), "is already a bot account"),
        (Account("iago", "Iago", is_bot=False, games=3), "has played already (games: 3)"),
    ],
)
def test_accounts_that_cannot_become_a_bots(
    desdemona: Command, site: type[FakeSite], account: Account, says: str
) -> None:
    site.account_ = account
    status, out, err = desdemona("upgrade-account", "--yes")
    assert (status, out, site.upgraded) == (2, "", [])
    assert err.startswith("desdemona: Iago at https://lichess.org ")
    assert says in err
    assert err.count("\n") == 1


def test_an_upgrade_that_the_site_refuses(desdemona: Command, site: type[FakeSite]) -> None:
    site.account_ = Account("iago", "Iago", is_bot=False)  # it does not say how many games
    site.refuses = True
    status, _, err = desdemona("upgrade-account", "--yes")
    assert (status, "HTTP 400: It has played" in err) == (2, True)


def test_an_upgrade_needs_another_server_and_a_token(
    desdemona: Command, site: type[FakeSite], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DESDEMONA_SERVER__TOKEN")
    status, _, err = desdemona("upgrade-account", "--yes")
    assert (status, "lichess needs a token" in err) == (2, True)
    monkeypatch.delenv("DESDEMONA_SERVER__DIALECT")
    status, _, err = desdemona("upgrade-account", "--yes")
    assert (status, "the embedded arena creates" in err) == (2, True)
    assert site.upgraded == []
