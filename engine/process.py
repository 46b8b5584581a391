"""Runs another program with lines in and out; every wait for it is bounded.

One thread reads what the program prints, another what it complains of on standard error, so that neither can
block it; both keep little: a program that prints more than anybody reads has to wait, and a line of more than
64 KiB is dropped.  Writing never blocks for longer than a wait lasts.

The program runs in a process group of its own, which is killed when we close it.  When we are killed
ourselves, nobody is left to do so: for that a shell waits on a pipe whose other end only we hold, and kills
the group when the pipe ends, however that came about.
"""

import contextlib
import math
import os
import queue
import select
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Protocol

from engine.stop import StopFlag, Stopped

DEBIANS = "/usr/games"
"""Where Debian puts engines; neither root nor a service has it on the PATH."""
POLL_S = 0.02
"""A wait for an engine looks at the stop flag so often."""

_END_S = 1.0  # a program may take so long to end when it is asked to
_LONGEST_LINE = 1 << 16
_MOST_WAITING = 10_000  # lines that nobody has read yet
_COMPLAINTS = 3  # last lines of standard error that an error message shows
_WATCH = 'read -r _; kill -s KILL -- "-$1"'  # in this spelling every shell knows it


class EngineError(Exception):
    """An engine could not be started, ended, fell silent or said nonsense; the message says which."""


class EngineCrashed(EngineError):
    """The program ended by itself."""


class EngineTimeout(EngineError):
    """The program did not answer in time."""


class IllegalAnswer(EngineError):
    """The program answered with what is no legal move."""


class Resigned(EngineError):
    """The program gives the game up."""


class Waiting(Protocol):
    """How long to wait for a program; `engine.uci.link.Patience` is one, too."""

    @property
    def clock(self) -> Callable[[], float]:
        """Seconds of a clock that never goes back."""

    def check(self, name: str, since: float, /) -> None:
        """Whether to wait on for a program of that name, which has said nothing since then.

        Raises:
            Stopped: What it says is not wanted any more.
            EngineError: It has had its time.
        """


@dataclass(frozen=True, slots=True)
class WaitLimit:
    """How long to wait for a program, by `time.monotonic`."""

    stop: StopFlag
    """Ends the wait at once, with `Stopped`."""
    until: float = math.inf
    """A moment that ends it with `EngineTimeout`, whatever was said before."""
    silence_s: float = math.inf
    """So long the program may say nothing, in seconds."""
    late: str = "does not answer in time"
    """What a program has done that is not there by `until`."""
    clock: Callable[[], float] = time.monotonic

    def check(self, name: str, since: float) -> None:
        """See `Waiting.check`."""
        now = self.clock()
        if self.stop.is_set():
            raise Stopped("the engine was told to stop")
        if now >= self.until:
            raise EngineTimeout(f"{name} {self.late}")
        if now - since > self.silence_s:
            raise EngineTimeout(f"{name} has said nothing for {self.silence_s:g} s")


class EngineProcess:
    """A running program; for one thread at a time.

    Raises:
        EngineError: It cannot be started.
    """

    def __init__(self, command: Sequence[str], directory: str | None = None) -> None:
        self.name = command[0]
        """What error messages call it."""
        self._lines: queue.Queue[str | None] = queue.Queue(_MOST_WAITING)
        self._complaints: deque[str] = deque(maxlen=_COMPLAINTS)
        self._last_words = ""
        self._is_closed = False
        try:
            # A process group of its own: Ctrl-C is for us, who end it ourselves.
            self._process = subprocess.Popen(  # noqa: S603 - the operator's own command
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                process_group=0,
            )
        except (OSError, ValueError) as error:
            raise EngineError(not_started(command[0], directory, error)) from error
        pid = self._process.pid
        try:
            self._watch = subprocess.Popen(  # noqa: S603
                ["/bin/sh", "-c", _WATCH, "sh", str(pid)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            end_group(pid)
            raise EngineError(f"cannot start a watch over {command[0]}: {error}") from error
        stdin, stdout, stderr = self._process.stdin, self._process.stdout, self._process.stderr
        assert stdin is not None and stdout is not None and stderr is not None  # noqa: S101, PT018
        self._to: IO[bytes] = stdin
        os.set_blocking(stdin.fileno(), False)
        self._threads = [
            threading.Thread(target=self._read, args=(stdout, self._tell), name="engine-out", daemon=True),
            threading.Thread(
                target=self._read, args=(stderr, self._complain), name="engine-err", daemon=True
            ),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def has_said(self) -> bool:
        """There are lines that nobody has heard yet."""
        return not self._lines.empty()

    def say(self, line: str, wait: Waiting) -> None:
        """Write a line.

        Raises:
            Stopped: The wait was ended.
            EngineCrashed: The program has ended.
            EngineError: It does not read what it is told; a `WaitLimit` has it as `EngineTimeout`.
        """
        left = f"{line}\n".encode()
        since = wait.clock()
        while left:
            try:
                left = left[os.write(self._to.fileno(), left) :]
            except BlockingIOError:
                self._check(wait, since)
                select.select([], [self._to], [], POLL_S)
            except (OSError, ValueError) as error:
                raise self._ended() from error

    def hear(self, wait: Waiting) -> str:
        """The next line, without blanks around it; it may be empty.

        Raises:
            Stopped: The wait was ended.
            EngineCrashed: The program has ended.
            EngineError: It said nothing for too long, or went on talking for too long; likewise.
        """
        since = wait.clock()
        while True:
            self._check(wait, since)
            try:
                line = self._lines.get(timeout=POLL_S)
            except queue.Empty:
                continue
            if line is None:
                with contextlib.suppress(queue.Full):
                    self._lines.put_nowait(None)  # for whoever asks next
                raise self._ended()
            if line:
                self._last_words = line
            return line

    def close(self, farewell: str | None = None) -> None:
        """End the program, with a moment's time to end by itself after a farewell; more calls do nothing."""
        if self._is_closed:
            return
        if farewell is not None and self._process.poll() is None:
            with contextlib.suppress(EngineError, Stopped, subprocess.TimeoutExpired):
                self.say(farewell, WaitLimit(StopFlag(), time.monotonic() + _END_S))
                self._process.wait(_END_S)
        self._is_closed = True
        # The watch first: it must not kill a group that has got the number later.
        self._watch.kill()
        self._watch.wait()
        end_group(self._process.pid)
        self._process.wait()
        for thread in self._threads:
            thread.join(_END_S)
        # Where a child of the program's still holds the other end, its reader does not end.
        is_read = not any(thread.is_alive() for thread in self._threads)
        for pipe in (self._to, self._watch.stdin, *(self._process.stdout, self._process.stderr) * is_read):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def complaint(self, what: str) -> str:
        """A message with what the program said last."""
        return self._with_words(f"{self.name} {what}")

    def _with_words(self, message: str) -> str:
        said = [f"last said: {self._last_words[:200]}"] if self._last_words else []
        said += [f"complained: {' | '.join(self._complaints)[:400]}"] if self._complaints else []
        return message + (f" ({'; '.join(said)})" if said else "")

    def unanswered(self, question: str, answer: str, protocol: str) -> EngineTimeout:
        """The error of a program that does not take up the conversation."""
        return EngineTimeout(
            self.complaint(
                f"did not answer {question!r} with {answer!r}: does it speak {protocol}, or need an argument?"
            )
        )

    def _check(self, wait: Waiting, since: float) -> None:
        try:
            wait.check(self.name, since)
        except EngineError as error:
            raise type(error)(self._with_words(str(error))) from None

    def _ended(self) -> EngineCrashed:
        try:
            status = str(self._process.wait(_END_S))
        except subprocess.TimeoutExpired:
            status = "not known yet"
        self._threads[1].join(_END_S)  # what it complained of is the best part
        return EngineCrashed(self.complaint(f"ended by itself, exit status {status}"))

    # --- On the threads ---------------------------------------------------------------------------------

    @staticmethod
    def _read(pipe: IO[bytes], tell: Callable[[str | None], None]) -> None:
        is_rest = False  # of a line that is too long
        try:
            while part := pipe.readline(_LONGEST_LINE):
                is_whole = part.endswith(b"\n") or len(part) < _LONGEST_LINE
                if is_whole and not is_rest:
                    tell(part.decode("utf-8", "replace").strip())
                is_rest = not is_whole
        except (OSError, ValueError):
            pass
        tell(None)

    def _tell(self, line: str | None) -> None:
        """Hand a line over; a program that says more than anybody reads has to wait."""
        while not self._is_closed:
            try:
                self._lines.put(line, timeout=POLL_S)
            except queue.Full:
                continue
            return

    def _complain(self, line: str | None) -> None:
        if line:
            self._complaints.append(line[:200])


def end_group(pid: int) -> None:
    """Kill what is left of an engine's process group: a wrapper's engine must not live on without it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def not_started(program: str, directory: str | None, error: OSError | ValueError) -> str:
    """Why a program does not start, and where it was looked for.

    Args:
        directory: Where it was to run; None: here, for one that could have been told another.
    """
    if not isinstance(error, OSError):
        return f"cannot start {program}: {error}"
    if directory is not None and not os.path.isdir(directory):
        return f"cannot start {program}: there is no folder {directory}"
    said = f"cannot start {program}: {error.strerror}"
    here = os.getcwd()
    if "/" not in program:
        if isinstance(error, FileNotFoundError) and (found := shutil.which(program, path=DEBIANS)):
            return f"{said} (it is not on the PATH; write {found})"
        return f"{said} (looked for on the PATH; write ./{program} for one in {directory or here})"
    if os.path.isabs(program):
        return said
    if directory is None:
        return f"{said} (looked for in {here}; dir= says where)"
    return f"{said} (looked for in {directory})"
