"""Hooks: what is sent where, and failures that are logged once and name no secret."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

import bot.alarms.hooks
from bot.alarms.evaluator import AlarmNotice
from bot.alarms.hooks import AlarmHooks, HookFailure, post_json, run_hook_command
from bot.base.config import AlarmsConfig

NOTICE = AlarmNotice(
    "disk", "firing", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "0.5 GB; `rm`", "Make room."
)
SAID = {
    "name": "disk",
    "state": "firing",
    "since": "2026-01-02T03:04:05+00:00",
    "text": "0.5 GB; `rm`",
    "cure": "Make room.",
    "url": "https://bot.example/dash/events",
}


async def test_both_hooks_get_the_same() -> None:
    sent: list[tuple[object, ...]] = []

    async def post(url: str, body: bytes) -> None:
        sent.append((url, json.loads(body)))

    async def run(command: Sequence[str], body: bytes, variables: Mapping[str, str]) -> None:
        sent.append((command, json.loads(body), dict(variables)))

    config = AlarmsConfig(webhook="https://hooks.example/x", command=("notify", "--now"))
    await AlarmHooks(config, SAID["url"], post, run).notify(NOTICE)
    variables = {f"ALARM_{name.upper()}": text for name, text in SAID.items()}
    assert sent == [("https://hooks.example/x", SAID), (("notify", "--now"), SAID, variables)]
    await AlarmHooks(AlarmsConfig(), "", post, run).notify(NOTICE)
    assert len(sent) == 2


async def test_failures_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    outcomes = iter((False, False, True, True, False))

    async def post(_url: str, _body: bytes) -> None:
        if not next(outcomes):
            raise HookFailure("no answer in 10 s")

    caplog.set_level(logging.INFO, "bot.alarms.hooks")
    hooks = AlarmHooks(AlarmsConfig(webhook="https://hooks.example/secret"), "", post)
    for _ in range(5):
        await hooks.notify(NOTICE)
    failed = "alarms.webhook: cannot send an alarm notice: no answer in 10 s"
    assert caplog.messages == [failed, "alarms.webhook: works again", failed]


@asynccontextmanager
async def answering(status: int, page: str | None = None) -> AsyncIterator[tuple[str, list[object]]]:
    got: list[object] = []

    async def hook(request: web.Request) -> web.Response:
        got.append((request.content_type, await request.json()))
        headers = {"Location": "/other"}
        return web.Response(status=status, headers=headers, text=page, content_type="text/html")

    app = web.Application()
    app.add_routes([web.post("/secret", hook)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/secret", got
    finally:
        await runner.cleanup()


async def test_a_webhook() -> None:
    async with answering(204) as (url, got):
        await post_json(url, b'{"a": 1}')
    assert got == [("application/json", {"a": 1})]


@pytest.mark.parametrize("status", [302, 404, 500])
async def test_a_webhook_that_is_refused(status: int) -> None:
    async with answering(status) as (url, _):
        with pytest.raises(HookFailure, match=rf"^the answer was {status}$"):
            await post_json(url, b"{}")


async def test_a_login_page_is_no_delivery() -> None:
    async with answering(200, "<html><title>Hotel</title></html>") as (url, _):
        with pytest.raises(HookFailure, match="a web page \\('Hotel'\\) instead of data"):
            await post_json(url, b"{}")
    async with answering(200, "ok") as (url, _):  # whatever PHP calls it
        await post_json(url, b"{}")


async def test_a_webhook_that_cannot_be_reached() -> None:
    async with answering(204) as (url, _):
        pass
    with pytest.raises(HookFailure) as caught:
        await post_json(url, b"{}")
    assert "secret" not in str(caught.value)


async def test_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESDEMONA_SERVER__TOKEN", "lip_secret")
    script = (
        "import os, sys; out = open(sys.argv[1], 'w'); "
        "print(sys.stdin.read(), os.environ['ALARM_NAME'], "
        "sum(name.startswith('DESDEMONA') for name in os.environ), sys.argv[2], file=out)"
    )
    out = tmp_path / "out"
    command = (sys.executable, "-c", script, str(out), "$(echo x); rm")
    await run_hook_command(command, b"body", {"ALARM_NAME": "disk"})
    assert out.read_text() == "body disk 0 $(echo x); rm\n"


async def test_commands_that_fail(tmp_path: Path) -> None:
    with pytest.raises(HookFailure, match="No such file"):
        await run_hook_command((str(tmp_path / "none"),), b"", {})
    failing = "import sys; print('first', file=sys.stderr); sys.exit('no mail')"
    with pytest.raises(HookFailure, match=r"^exit status 1: no mail$"):
        await run_hook_command((sys.executable, "-c", failing), b"", {})
    with pytest.raises(HookFailure, match=r"^exit status 3$"):
        await run_hook_command((sys.executable, "-c", "raise SystemExit(3)"), b"", {})


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[asyncio.subprocess.Process]:
    """The commands that hooks have started, which have no time to end."""
    monkeypatch.setattr(bot.alarms.hooks, "COMMAND_TIMEOUT_S", 0.0)
    found: list[asyncio.subprocess.Process] = []
    make = asyncio.create_subprocess_exec

    async def remember(*command: str, **options: object) -> asyncio.subprocess.Process:
        found.append(await make(*command, **options))  # type: ignore[arg-type]
        return found[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", remember)
    return found


async def test_a_command_that_hangs_is_killed(started: list[asyncio.subprocess.Process]) -> None:
    with pytest.raises(HookFailure, match="not finished in 0 s"):
        await run_hook_command((sys.executable, "-c", "import time; time.sleep(600)"), b"", {})
    assert started[0].returncode == -9


async def test_a_command_that_cannot_be_killed_is_left(
    started: list[asyncio.subprocess.Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs as another user by now, as with sudo: it is neither waited for nor an end of the program."""

    def refused(_group: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "killpg", refused)
    with pytest.raises(HookFailure, match="not finished in 0 s"):
        await run_hook_command((sys.executable, "-c", "import time; time.sleep(600)"), b"", {})
    started[0].kill()
    assert await started[0].wait() == -9


async def test_no_failure_of_a_hook_stops_the_watch(caplog: pytest.LogCaptureFixture) -> None:
    async def post(url: str, _body: bytes) -> None:
        raise RuntimeError(url)

    hooks = AlarmHooks(AlarmsConfig(webhook="https://hooks.example/secret"), "", post)
    await hooks.notify(NOTICE)
    assert caplog.messages == ["alarms.webhook: cannot send an alarm notice: RuntimeError"]
