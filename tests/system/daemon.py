"""The real program as its operator runs it: `desdemona run` in a folder of its own."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.patience import PATIENCE_S

READY = "http://"
"""`desdemona run` prints the page's address once it listens."""


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Daemon:
    """`desdemona run` with its arena; may be killed and started again, on the same port and database."""

    def __init__(
        self, folder: Path, *, has_arena: bool = True, options: Sequence[str] = (), **settings: object
    ) -> None:
        """
        Args:
            folder: Working directory; the database and the log are kept here.
            has_arena: Whether it runs the arena itself, whose address says that it is up.
            options: Of `desdemona run`.
            settings: Overrides as in the environment, for instance ``engine__max_depth=4``.
        """
        self.folder = folder
        self._has_arena = has_arena
        self._options = options
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "desdemona.log"
        self.environment = {
            key: value for key, value in os.environ.items() if not key.startswith("DESDEMONA_")
        } | {
            "DESDEMONA_ARENA__PORT": str(self.port),
            "DESDEMONA_ARENA__ENABLED": str(has_arena).lower(),
            "DESDEMONA_DASHBOARD__PORT": "0",
            "DESDEMONA_LOG__FILE": str(self.log),
            # On a busy machine nobody may begin at once.
            "DESDEMONA_ARENA__FIRST_MOVE_S": "3600",
            "DESDEMONA_MANNERS__ABORT_AFTER_S": "3600",
            # These strategies are quick at the depth that the tests set.
            "DESDEMONA_ASSIGNMENT__METHOD": "balanced",
            # All people of a test have one address.
            "DESDEMONA_ARENA__GAMES_PER_OPPONENT": "1000",
            **{f"DESDEMONA_{key.upper()}": str(value) for key, value in settings.items()},
        }
        self.starts = 0
        self.up = asyncio.Event()
        """Set while the program answers."""
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.communicate()

    async def start(self) -> None:
        """Start it, and wait until its page is there if it has one."""
        self._process = await asyncio.create_subprocess_exec(
            *self.command("run", *self._options),
            cwd=self.folder,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        assert self._process.stdout is not None
        said = ""
        async with asyncio.timeout(PATIENCE_S):
            while self._has_arena and READY not in said:
                line = await self._process.stdout.readline()
                assert line, f"desdemona run ended with {await self._process.wait()}: {said}"
                said += line.decode()
        self.starts += 1
        self.up.set()

    @property
    def pid(self) -> int:
        """Of the running process."""
        assert self._process is not None
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether it ended without being told to."""
        return self._process is not None and self._process.returncode is not None and self.up.is_set()

    async def last_words(self) -> str:
        """What it printed since it was up; waits until it has ended."""
        assert self._process is not None
        said, _ = await self._process.communicate()
        return said.decode()

    async def kill(self) -> None:
        """kill -9: no time to tidy up."""
        assert self._process is not None
        self.up.clear()
        self._process.kill()
        await self._process.communicate()

    async def stop(self) -> tuple[int, str]:
        """SIGTERM, as an operator or a service manager does it.

        Returns:
            Exit status, and what it printed since it was up.
        """
        assert self._process is not None
        self.up.clear()
        self._process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE_S):
            said, _ = await self._process.communicate()
        status = self._process.returncode
        assert status is not None
        return status, said.decode()

    async def ask(self, *arguments: str) -> tuple[int, str, str]:
        """Run another of the operator's commands in the same folder.

        Returns:
            Exit status, standard output, standard error.
        """
        process = await asyncio.create_subprocess_exec(
            *self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()

    @staticmethod
    def command(*arguments: str) -> tuple[str, ...]:
        return (str(Path(sys.executable).with_name("desdemona")), *arguments)
