"""Runs another program and exchanges lines with it; every wait is bounded.

One thread reads the program's standard output, another its standard error, so that neither stream can block
it. Both buffers are bounded: a program that prints faster than we read blocks when 4 MiB are unread, and a
line of more than 64 KiB is dropped. Writing never blocks for longer than the caller's limit.

The program runs in its own process group, which `close` kills. A watchdog shell holds one end of a pipe and
only we hold the other; if our own process is killed, the pipe closes and the shell kills the group.
"""

import contextlib
import math
import os
import queue
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from engine.stop import StopFlag, Stopped

DEBIAN_GAMES = "/usr/games"
"""Debian's folder of game engines, which is not on the PATH of root or of services."""
STOP_POLL_INTERVAL_S = 0.02
"""Interval at which a wait for an engine checks the stop flag, in seconds."""

_EXIT_TIMEOUT_S = 1.0  # for a program to exit by itself
_MAX_LINE_LENGTH = 1 << 16
_MAX_UNREAD_BYTES = 4 << 20  # bytes of memory for unread lines
_MAX_QUOTED_ERROR_LINES = 3  # last lines of standard error that an error message shows
_WATCHDOG = 'read -r _; kill -s KILL -- "-$1"'  # a spelling that every shell understands
_PROC = Path("/proc")
_SCHEDULED = 2  # CPUCLOCK_SCHED of Linux: the time that the scheduler gave to all threads, in nanoseconds
_ENDED = slice(13, 15)
"""Indices, after the name, of the /proc/PID/stat fields cutime and cstime: the time of ended children."""


class EngineError(Exception):
    """An engine did not start, ended, fell silent or sent invalid output; the message says which."""


class EngineCrashed(EngineError):
    """The program exited by itself."""


class EngineTimeout(EngineError):
    """The program did not answer in time."""


class IllegalAnswer(EngineError):
    """The program's answer is not a legal move."""


class Resigned(EngineError):
    """The program resigns the game."""


class WaitPolicy(Protocol):
    """Limits the wait for a program: a `WaitLimit`, or a policy that limits processor time as well."""

    @property
    def clock(self) -> Callable[[], float]:
        """A monotonic clock, in seconds."""

    def check(self, name: str, since: float, /) -> None:
        """Return if the caller may keep waiting for the program `name`, silent since `since`; raise if not.

        Raises:
            Stopped: The answer is no longer wanted.
            EngineError: The program's time is up.
        """


@dataclass(frozen=True, slots=True)
class WaitLimit:
    """Limits the wait for a program, by `time.monotonic`."""

    stop: StopFlag
    """When set, ends the wait immediately with `Stopped`."""
    until: float = math.inf
    """Clock time at which the wait ends, whatever the program has printed."""
    response_timeout_s: float = math.inf
    """Longest silence of the program, in seconds."""
    late: str | None = "does not answer in time"
    """Text after the program's name in the `EngineTimeout` message when `until` passes. If this is None, the
    wait ends with `Stopped`, because no answer is wanted any more."""
    clock: Callable[[], float] = time.monotonic

    def check(self, name: str, since: float) -> None:
        """See `WaitPolicy.check`."""
        now = self.clock()
        if self.stop.is_set() or (self.late is None and now >= self.until):
            raise Stopped("the wait for the engine was ended")
        if now >= self.until:
            raise EngineTimeout(f"{name} {self.late}")
        if now - since > self.response_timeout_s:
            raise EngineTimeout(f"{name} has been silent for {self.response_timeout_s:g} s")


class _UnreadLines(queue.Queue[str | None]):
    """A queue that is full when its lines occupy `maxsize` bytes of memory; an item of None marks the end."""

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self._bytes = 0

    def _qsize(self) -> int:
        return self._bytes

    def _put(self, item: str | None) -> None:
        super()._put(item)
        self._bytes += sys.getsizeof(item)

    def _get(self) -> str | None:
        item = super()._get()
        self._bytes -= sys.getsizeof(item)
        return item


class EngineProcess:
    """A running program; used by one thread at a time.

    Raises:
        EngineError: The program cannot be started.
    """

    def __init__(self, command: Sequence[str], directory: str | None = None) -> None:
        self.name = command[0]
        """The program's name in error messages."""
        self._lines = _UnreadLines(_MAX_UNREAD_BYTES)
        self._complaints: deque[str] = deque(maxlen=_MAX_QUOTED_ERROR_LINES)
        self._last_words = ""
        self._is_closed = False
        try:
            # Its own process group: Ctrl-C must reach only us, because we end the program ourselves.
            self._process = subprocess.Popen(  # noqa: S603 - the operator's own command
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                process_group=0,
            )
        except (OSError, ValueError) as error:
            raise EngineError(start_error_message(command[0], directory, error)) from error
        pid = self._process.pid
        try:
            self._watchdog = subprocess.Popen(  # noqa: S603
                ["/bin/sh", "-c", _WATCHDOG, "sh", str(pid)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            end_group(pid)
            raise EngineError(f"cannot start the watchdog of {command[0]}: {error}") from error
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None and stdout is not None and stderr is not None  # noqa: S101, PT018
        self._to: IO[bytes] = stdin
        os.set_blocking(stdin.fileno(), False)
        self._threads = [
            threading.Thread(target=self._read, args=(stdout, self._queue), name="engine-out", daemon=True),
            threading.Thread(
                target=self._read, args=(stderr, self._complain), name="engine-err", daemon=True
            ),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def has_unread_lines(self) -> bool:
        """Whether there are unread lines."""
        return not self._lines.empty()

    def processor_time_s(self) -> float | None:
        """Processor time that the program has used, with its threads and children; None if unknown."""
        return processor_time_s(self._process.pid)

    def send(self, line: str, wait: WaitPolicy) -> None:
        """Write a line.

        Raises:
            Stopped: The answer is no longer wanted.
            EngineCrashed: The program has ended.
            EngineError: The program does not read its input (`EngineTimeout` with a `WaitLimit`).
        """
        left = f"{line}\n".encode()
        since = wait.clock()
        while left:
            try:
                left = left[os.write(self._to.fileno(), left) :]
            except BlockingIOError:
                self._check(wait, since)
                select.select([], [self._to], [], STOP_POLL_INTERVAL_S)
            except (OSError, ValueError) as error:
                raise self._crash_error() from error

    def receive(self, wait: WaitPolicy, poll_s: float = STOP_POLL_INTERVAL_S) -> str:
        """Read the next line, stripped; it may be empty.

        Args:
            wait: Limits the wait.
            poll_s: Interval at which to check the limits, in seconds.

        Raises:
            Stopped: The answer is no longer wanted.
            EngineCrashed: The program has ended.
            EngineError: The program was silent too long, or time was up (`EngineTimeout` with a `WaitLimit`).
        """
        since = wait.clock()
        while True:
            self._check(wait, since)
            try:
                line = self._lines.get(timeout=poll_s)
            except queue.Empty:
                continue
            if line is None:
                with contextlib.suppress(queue.Full):
                    self._lines.put_nowait(None)  # for the next call
                raise self._crash_error()
            if line:
                self._last_words = line
            return line

    def close(self, farewell: str | None = None) -> None:
        """End the program, after sending any `farewell` and waiting briefly; further calls do nothing."""
        if self._is_closed:
            return
        if farewell is not None and self._process.poll() is None:
            with contextlib.suppress(EngineError, Stopped, subprocess.TimeoutExpired):
                self.send(farewell, WaitLimit(StopFlag(), time.monotonic() + _EXIT_TIMEOUT_S))
                self._process.wait(_EXIT_TIMEOUT_S)
        self._is_closed = True
        # The watchdog first: it must not kill a later group that reuses the number.
        self._watchdog.kill()
        self._watchdog.wait()
        end_group(self._process.pid)
        self._process.wait()
        for thread in self._threads:
            thread.join(_EXIT_TIMEOUT_S)
        # If a child of the program still holds the other end, its reader thread does not end.
        is_read = not any(thread.is_alive() for thread in self._threads)
        for pipe in (self._to, self._watchdog.stdin, *(self._process.stdout, self._process.stderr) * is_read):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def error_message(self, what: str) -> str:
        """An error message that quotes the program's last output."""
        return self._with_words(f"{self.name} {what}")

    def _with_words(self, message: str) -> str:
        said = [f"last output: {self._last_words[:200]}"] if self._last_words else []
        said += [f"standard error: {' | '.join(self._complaints)[:400]}"] if self._complaints else []
        return message + (f" ({'; '.join(said)})" if said else "")

    def handshake_error(self, question: str, answer: str, protocol: str) -> EngineTimeout:
        """The error for a program that fails the handshake."""
        return EngineTimeout(
            self.error_message(
                f"did not answer {question!r} with {answer!r}: does it speak {protocol}, or need an argument?"
            )
        )

    def _check(self, wait: WaitPolicy, since: float) -> None:
        try:
            wait.check(self.name, since)
        except EngineError as error:
            raise type(error)(self._with_words(str(error))) from None

    def _crash_error(self) -> EngineCrashed:
        try:
            status = str(self._process.wait(_EXIT_TIMEOUT_S))
        except subprocess.TimeoutExpired:
            status = "not known yet"
        self._threads[1].join(_EXIT_TIMEOUT_S)  # standard error usually has the reason
        return EngineCrashed(self.error_message(f"ended by itself, exit status {status}"))

    # --- Reader threads ---------------------------------------------------------------------------------

    @staticmethod
    def _read(pipe: IO[bytes], take: Callable[[str | None], None]) -> None:
        is_rest = False  # the rest of an overlong line
        try:
            while part := pipe.readline(_MAX_LINE_LENGTH):
                is_whole = part.endswith(b"\n") or len(part) < _MAX_LINE_LENGTH
                if is_whole and not is_rest:
                    take(part.decode("utf-8", "replace").replace("\ufeff", "").strip())  # a byte order mark
                is_rest = not is_whole
        except (OSError, ValueError):
            pass
        take(None)

    def _queue(self, line: str | None) -> None:
        """Queue a line, blocking while the queue is full; the engine then blocks on its output pipe."""
        while not self._is_closed:
            try:
                self._lines.put(line, timeout=STOP_POLL_INTERVAL_S)
            except queue.Full:
                continue
            return

    def _complain(self, line: str | None) -> None:
        if line:
            self._complaints.append(line[:200])


def end_group(pid: int) -> None:
    """Kill the remaining processes of an engine's group: an engine must not outlive its wrapper script."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def start_error_message(program: str, directory: str | None, error: OSError | ValueError) -> str:
    """The message about a program that cannot be started, including where we looked for it.

    Args:
        directory: The program's working directory; None to inherit ours.
    """
    if not isinstance(error, OSError):
        return f"cannot start {program}: {error}"
    if directory is not None and not os.path.isdir(directory):
        return f"cannot start {program}: there is no folder {directory}"
    said = f"cannot start {program}: {error.strerror}"
    here = os.getcwd()
    if "/" not in program:
        if isinstance(error, FileNotFoundError) and (path := shutil.which(program, path=DEBIAN_GAMES)):
            return f"{said} (it is not on the PATH; write {path})"
        return f"{said} (looked for on the PATH; write ./{program} for one in {directory or here})"
    if os.path.isabs(program):
        return said
    if directory is None:
        return f"{said} (looked for in {here}; dir= sets the folder)"
    return f"{said} (looked for in {directory})"


def processor_time_s(pid: int) -> float | None:
    """Processor time of all threads of a process and its descendants, in seconds.

    It includes ended children that their parents have waited for.

    Returns:
        None if unknown, because the process is gone or the system has no such clock.
    """
    try:
        spent_s = time.clock_gettime(~pid << 3 | _SCHEDULED) + _ended_children_s(pid)
    except (OSError, AttributeError, ValueError):
        return None
    return spent_s + sum(processor_time_s(child) or 0.0 for child in _children(pid))


def _ended_children_s(pid: int) -> float:
    # The name, in parentheses, may contain anything.
    fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return sum(int(ticks) for ticks in fields[_ENDED]) / os.sysconf("SC_CLK_TCK")


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):  # a thread, or the process, has just ended
        for task in (_PROC / str(pid) / "task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return children
