"""Recordings of the traffic with a site, and their replay; here, waits of a replay take no time."""

import asyncio
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from bot.base.config import ChallengesConfig, ChatConfig, Config, load_config
from bot.daemon.replay import replay
from bot.servers.lichess import LichessServer
from bot.servers.recording import NameMask, Recorder, Recording
from bot.servers.replayed_site import ReplayReport
from tests.bot.conftest import Command
from tests.bot.test_accounts import HOME, IAGO, Program
from tests.bot.virtual_time import run
from tests.ggs.client import Habits
from tests.ggs.table import BOT, PASSWORD, laid

EXAMPLE = Path(__file__).parent / "data" / "arena.jsonl"
"""A game of Connect Four against a challenger, as `test_a_game_at_the_arena` records it."""
RECORD = "[servers]\nrecord = '{folder}/recordings'\n"


def replayed(path: Path, config: Config | None = None) -> ReplayReport:
    return run(replay(Recording.read(path), config or Config()))


def test_a_game_at_the_arena(tmp_path: Path) -> None:
    """Two of our accounts play each other; each has a recording, without names, and replays it alike."""
    program = Program(tmp_path)
    program.write(HOME, IAGO, more=RECORD.format(folder=tmp_path))

    async def play() -> None:
        async with program:
            await program.shows("home: playing", "iago: playing")
            terms = {"name": "iago", "variant": "connect4", "clock": "10+0", "rated": True, "account": "Home"}
            await program.ask("challenge", **terms, colour="second", games=1)

    asyncio.run(play())
    config = load_config(program.path)
    for path in (files := sorted((tmp_path / "recordings").iterdir())):
        assert not re.search("iago|desdemona", path.read_text(), re.IGNORECASE)
        report = replayed(path, config)
        assert report.differences == []
        assert sum("/move/" in each for each in report.requests) > 5
    assert len(files) == 2


def test_a_game_at_ggs(template: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"

    async def play() -> None:
        recorder = Recorder(str(folder), "ggs", BOT, NameMask(PASSWORD))
        shutil.copy(template, tmp_path / "ggs.db")
        async with laid(tmp_path / "ggs.db", recorder=recorder) as table:
            anna = await table.sit(Habits(resigns_at=10))
            await table.play(anna, "8b 15:00/00:10")
            await anna.close()

    run(play())
    (path,) = folder.iterdir()
    assert not re.search(rf"\b(anna|{BOT}|{PASSWORD})\b", path.read_text(), re.IGNORECASE)
    config = Config(challenges=ChallengesConfig(max_games=4), chat=ChatConfig(farewell="{result}"))
    report = replayed(path, config)
    assert report.differences == []
    assert sum("/os play " in each for each in report.requests) == 5


def test_the_example() -> None:
    assert replayed(EXAMPLE).differences == []


def test_what_other_settings_would_have_done() -> None:
    report = replayed(EXAMPLE, Config(challenges=ChallengesConfig(rated=False)))
    accept = next(each for each in replayed(EXAMPLE).requests if each.endswith("/accept"))
    assert report.requests[0].startswith(accept.replace("accept", "decline {'reason':"))
    now = f"now, but not in the recording: {report.requests[0]}"
    assert report.differences[0] == now
    # The recorded site has not removed the challenge, so it is declined again.
    assert (
        next(each for each in report.differences if each != now) == f"in the recording, but not now: {accept}"
    )


def test_a_change_of_an_adapter_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request with another form, another address, or none."""

    async def act(self: LichessServer, path: str, form: Any = None, **more: Any) -> None:
        await real(self, path, {"x": "1"} if path.endswith("/accept") else form, **more)

    real = LichessServer._act
    monkeypatch.setattr(LichessServer, "_act", act)
    (difference,) = replayed(EXAMPLE).differences
    assert re.fullmatch(r"POST /api/challenge/\w+/accept: then \{\}, now \{'x': '1'\}", difference)


def test_a_recording_that_breaks_off(tmp_path: Path) -> None:
    """As when the program is killed while it writes."""
    lines = EXAMPLE.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if "/move/" in line)
    path = tmp_path / "cut.jsonl"
    path.write_text("\n".join([*lines[: at + 3], lines[at + 3][:20]]))
    report = replayed(path)
    assert report.differences == []
    assert sum("/move/" in each for each in report.requests) == 1


def test_reads_that_a_replay_leaves_out(tmp_path: Path) -> None:
    """The temporary database is compared with no list, and nobody is looked for."""
    lines = EXAMPLE.read_text().splitlines()
    more = (
        '{"s": 0.1, "n": 900, "request": "GET /api/games/user/user1?since=1"}',
        '{"s": 0.1, "n": 900, "status": 200, "headers": {"Content-Type": "application/x-ndjson"}}',
        '{"s": 0.1, "n": 900, "received": "{}"}',
    )
    (path := tmp_path / "more.jsonl").write_text("\n".join([*lines[:5], *more, *lines[5:], ""]))
    assert replayed(path).differences == []


def test_the_command(desdemona: Command, tmp_path: Path) -> None:
    status, told, _ = desdemona("replay", str(EXAMPLE), "--patience", "60")
    assert status == 0
    assert re.search(r"^POST /api/challenge/\w+/accept\n", told)
    assert told.endswith(" requests, 0 differences\n")
    (tmp_path / "bad.jsonl").write_text("{}\n")
    status, _, told = desdemona("replay", str(tmp_path / "bad.jsonl"))
    assert (status, "line 1: not a line of a recording" in told) == (2, True)
