"""The control socket: commands, errors, and clients that hang up."""

import asyncio
import os
import socket
import stat
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from bot.base.errors import ConfigError
from bot.control.control_socket import ControlError, ask, serve_control_socket
from tests.patience import PATIENCE_S

Tell = Callable[[str], None]


async def echo(request: Mapping[str, Any], tell: Tell) -> None:
    tell(str(request["word"]))
    tell("twice")


async def fail(_request: Mapping[str, Any], _tell: Tell) -> None:
    raise ConfigError("engine: no")


async def crash(_request: Mapping[str, Any], _tell: Tell) -> None:
    raise ZeroDivisionError


TABLE = {"echo": echo, "fail": fail, "crash": crash}


async def _wait_for(event: asyncio.Event) -> None:
    await event.wait()
    await asyncio.sleep(0)


async def _until_answered(path: Path) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(ControlError):
                assert await asked(path, command="echo", word="mine") == ["mine", "twice"]
                return


async def asked(path: Path, **request: Any) -> list[str]:
    return await asyncio.to_thread(lambda: list(ask(path, request)))


async def test_commands(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 80) / ("y" * 80)  # longer than a socket's address may be
    async with serve_control_socket(path, TABLE):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        assert await asked(path, command="echo", word="a\nb") == ["a\nb", "twice"]
        with pytest.raises(ControlError, match=r"^engine: no$"):
            await asked(path, command="fail")
        with pytest.raises(ControlError, match="see its log"):
            await asked(path, command="crash")
        with pytest.raises(ControlError, match="unknown command; known: echo, fail, crash"):
            await asked(path, command=["echo"])
    assert not path.exists()
    with pytest.raises(ControlError, match="no program is listening at"):
        await asked(path, command="echo")


@pytest.mark.parametrize("line", [b"[]\n", b"{\n", b"\xff\n", b"", b"[" * 50_000 + b"\n", b"x" * 200_000])
async def test_garbage(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "socket"
    async with serve_control_socket(path, TABLE):
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(line)
        if writer.can_write_eof() and not line.endswith(b"\n"):
            writer.write_eof()
        async with asyncio.timeout(PATIENCE_S):
            said = await reader.read()
        writer.close()
        assert said in (b"", b'{"error": "a command must be one line with a JSON object"}\n')
        assert await asked(path, command="echo", word="still there") == ["still there", "twice"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"", "the program ended before the command did"),
        (b'{"text": "on', "the program ended before the command did"),
        (None, "no response from the program within 0.05 s"),
    ],
)
def test_a_program_that_is_killed_or_hangs(tmp_path: Path, answer: bytes | None, message: str) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener, ThreadPoolExecutor(1) as thread:
        listener.bind(str(path))
        listener.listen()
        asking = thread.submit(
            lambda: list(ask(path, {"command": "status"}, 0.05 if answer is None else None))
        )
        program, _ = listener.accept()
        with program:
            if answer is not None:
                program.sendall(answer)
                # With the request unread, closing resets the connection.
                program.close()
            with pytest.raises(ControlError, match=message):
                asking.result(PATIENCE_S)


async def test_hanging_up_cancels_the_command(tmp_path: Path) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def wait(_request: Mapping[str, Any], _tell: Tell) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with serve_control_socket(tmp_path / "socket", {"wait": wait}), asyncio.timeout(PATIENCE_S):
        _, writer = await asyncio.open_unix_connection(str(tmp_path / "socket"))
        writer.write(b'{"command": "wait"}\n')
        await begun.wait()
        writer.close()
        await cancelled.wait()


async def test_a_socket_left_behind_is_replaced_and_another_programs_only_when_it_is_gone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    async with serve_control_socket(path, TABLE):
        async with serve_control_socket(path, {}):
            assert "no control socket at" in caplog.text
            assert "another program is listening there" in caplog.text
        assert await asked(path, command="echo", word="mine") == ["mine", "twice"]
    first, second, is_time = AsyncExitStack(), AsyncExitStack(), asyncio.Event()
    await first.enter_async_context(serve_control_socket(path, {}))
    await second.enter_async_context(serve_control_socket(path, TABLE, sleep=lambda _: _wait_for(is_time)))
    with pytest.raises(ControlError, match="unknown command"):
        await asked(path, command="echo")
    await first.aclose()
    is_time.set()
    await _until_answered(path)
    path.unlink()  # as a cleaner of temporary files may do it
    await _until_answered(path)
    await second.aclose()
    assert not path.exists()


async def test_a_program_that_ends_leaves_the_socket_of_another(tmp_path: Path) -> None:
    path, ended = tmp_path / "socket", AsyncExitStack()
    await ended.enter_async_context(
        serve_control_socket(path, {}, sleep=lambda _: _wait_for(asyncio.Event()))
    )
    path.unlink()
    async with serve_control_socket(path, TABLE):
        await ended.aclose()
        assert await asked(path, command="echo", word="mine") == ["mine", "twice"]
    assert not path.exists()


async def test_a_folder_that_cannot_be_made(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    async with serve_control_socket(tmp_path / "file" / "socket", TABLE):
        assert "setting control.socket" in caplog.text
