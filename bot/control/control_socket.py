"""The control socket, through which an operator sends commands to the running program.

A client connects to a Unix socket that only the program's own user may open, and sends one line of JSON, such
as ``{"command": "reload"}``; further keys are arguments. The program answers with lines of JSON: any number
of ``{"text": ...}``, then ``{"done": true}`` or ``{"error": ...}``. Disconnecting cancels the command.
"""

import asyncio
import json
import logging
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

from bot.base.errors import DesdemonaError
from storage.errors import StorageError

logger = logging.getLogger(__name__)

Command = Callable[[Mapping[str, Any], Callable[[str], None]], Awaitable[None]]
"""A command, which receives the request and a function that sends a line of text to the client."""

LISTEN_RETRY_INTERVAL_S = 5.0
"""Seconds between attempts to listen on the socket."""
SHUTDOWN_TIMEOUT_S = 1.0
"""Maximum time in seconds for commands to finish when the program stops."""
MAX_REQUEST_BYTES = 1 << 16
"""Maximum size of a request, in bytes."""


class ControlError(DesdemonaError):
    """Error: a command cannot be carried out; the message says why."""


class NotRunning(ControlError):
    """Error: no running program is listening on the socket."""


@asynccontextmanager
async def serve_control_socket(
    path: Path,
    commands: Mapping[str, Command],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[None]:
    """Serve commands until the `with` block ends.

    If listening fails, the program logs the reason, continues and retries, because a previous instance may
    still be listening on the socket.

    Args:
        path: The socket's file.
        commands: The commands, keyed by name.
        sleep: Waits the given number of seconds.
    """
    clients: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(_serve(reader, writer, commands))
        clients.add(task)
        task.add_done_callback(clients.discard)
        task.add_done_callback(lambda _: writer.close())  # also when it was cancelled before it began

    tried = asyncio.Event()

    async def keep_listening() -> None:
        server: asyncio.Server | None = None
        file: tuple[int, int] | None = None
        try:
            while True:
                if file is None or _file_identity(path) != file:  # or somebody has removed it
                    try:
                        bound = _bind(path)
                    except OSError as error:
                        if not tried.is_set():
                            reason = error.strerror or error
                            logger.warning(
                                "no control socket at %s: %s (setting control.socket)", path, reason
                            )
                    else:
                        if server is not None:
                            server.close()
                        server = await asyncio.start_unix_server(
                            connected, sock=bound, limit=MAX_REQUEST_BYTES
                        )
                        file = _file_identity(path)
                        if tried.is_set():
                            logger.info("listening on control socket %s", path)
                tried.set()
                await sleep(LISTEN_RETRY_INTERVAL_S)
        finally:
            if server is not None:
                if _file_identity(path) == file:  # not another program's by now
                    _remove(path)
                server.close()

    keeping = asyncio.create_task(keep_listening())
    await asyncio.wait([keeping, waiting := asyncio.create_task(tried.wait())], return_when="FIRST_COMPLETED")
    try:
        yield
    finally:
        keeping.cancel()
        if clients:  # above all the one that has made the program stop
            await asyncio.wait(clients, timeout=SHUTDOWN_TIMEOUT_S)
        for task in (keeping, waiting, *clients):
            task.cancel()
        await asyncio.gather(keeping, waiting, *clients, return_exceptions=True)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _file_identity(path: Path) -> tuple[int, int] | None:
    """The device and inode of the file at a path, or None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _bind(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True)
    with _address(path) as address:
        if path.is_socket():
            # One that nobody listens on is left over from a program that was killed.
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(address)
                except ConnectionRefusedError:
                    path.unlink()
                else:
                    raise OSError("another program is listening there")
        bound = socket.socket(socket.AF_UNIX)
        before = os.umask(0o177)
        try:
            bound.bind(address)
        except OSError:
            bound.close()
            raise
        finally:
            os.umask(before)
    bound.setblocking(False)
    return bound


@contextmanager
def _address(path: Path) -> Iterator[str]:
    """Yield a socket address for the path, via the folder's descriptor to keep the address short."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


async def _serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, commands: Mapping[str, Command]
) -> None:
    def send(**fields: object) -> None:
        if not writer.is_closing():
            writer.write(json.dumps(fields).encode() + b"\n")

    try:
        request = await _request(reader)
        command = commands.get(str(request.get("command")))
        if command is None:
            raise ControlError(f"unknown command; known: {', '.join(commands)}")
        work = asyncio.ensure_future(command(request, lambda text: send(text=text)))
        hung_up = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait([work, hung_up], return_when=asyncio.FIRST_COMPLETED)
        finally:
            hung_up.cancel()
            work.cancel()
            await asyncio.wait([work, hung_up])
        if not work.cancelled():
            work.result()
        send(done=True)
    except (DesdemonaError, StorageError) as error:
        send(error=str(error))
    except ConnectionError:
        pass
    except Exception:
        logger.exception("a command on the control socket crashed")
        send(error="the command failed because of an error in the program; see its log")
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def _request(reader: asyncio.StreamReader) -> dict[str, Any]:
    try:
        request = json.loads(await reader.readline())
    except (ValueError, RecursionError):  # also a line that is too long
        request = None
    if not isinstance(request, dict):
        raise ControlError("a command must be one line with a JSON object")
    return request


def ask(path: Path, request: Mapping[str, Any], timeout_s: float | None = None) -> Iterator[str]:
    """Send a command to the running program, and yield its lines of text.

    Args:
        path: The socket's file.
        request: The command and its arguments.
        timeout_s: Maximum wait for the next line, in seconds, or None for no limit.

    Raises:
        NotRunning: No program is listening on the socket.
        ControlError: The program did not answer, or the command failed.
    """
    with socket.socket(socket.AF_UNIX) as link:
        try:
            with _address(path) as address:
                link.connect(address)
        except OSError as error:
            raise NotRunning(
                f"no program is listening at {path} ({error.strerror or error}); is `desdemona run` "
                "running with the same settings?"
            ) from None
        link.settimeout(timeout_s)
        try:
            link.sendall(json.dumps(request).encode() + b"\n")
            with link.makefile("rb") as lines:
                for line in lines:
                    answer = json.loads(line)
                    if "error" in answer:
                        raise ControlError(answer["error"])
                    if answer.get("done"):
                        return
                    yield answer["text"]
        except TimeoutError:
            raise ControlError(f"no response from the program within {timeout_s:g} s") from None
        except (ConnectionError, json.JSONDecodeError):
            pass  # it was killed
    raise ControlError("the program ended before the command did")
