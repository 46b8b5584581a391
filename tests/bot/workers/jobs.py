"""Jobs for `bot.workers.process_pool`; the module imports little, since every new process imports it."""

import os
import signal
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


def pid(_: object) -> int:
    return os.getpid()


def die(_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_half_told(_: object) -> bytes:
    """Kill the process in the middle of its answer."""

    def send(line: Connection, data: Any) -> None:
        os.write(line.fileno(), bytes(data)[: len(data) // 2])
        die(None)

    Connection._send = send  # type: ignore[attr-defined]
    return bytes(1_000)


def wait_for(place: Path) -> str:
    """Report that the job runs, and wait until it may end."""
    with (place / "told").open("w") as told:
        told.write(f"{os.getpid()}\n")
    with (place / "go").open() as go:
        return go.readline()


def fail(_: object) -> None:
    raise ValueError("on purpose")


class Odd(Exception):
    """An error that can be pickled but not unpickled."""

    def __init__(self, what: str, number: int) -> None:
        super().__init__(f"{what} {number}")


def fail_oddly(_: object) -> None:
    raise Odd("odd", 1)


def fail_with_a_lock(_: object) -> None:
    error = ValueError("holds what can't be sent")
    error.lock = threading.Lock()  # type: ignore[attr-defined]
    raise error


def answer_oddly(_: object) -> object:
    return lambda: None


def mask(_: object) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def leave(_: object) -> None:
    sys.exit("by itself")


def forever(_: object) -> None:
    print("at work", flush=True)  # noqa: T201 - read below
    while True:
        pass
