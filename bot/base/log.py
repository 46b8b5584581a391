"""Logging: one line of text per message for people, or one JSON object per line for programs.

Servers and opponents influence the log, so unprintable characters are escaped: no name can begin a new line
or control the operator's terminal.
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.base.errors import ConfigError
from bot.base.old_names import add_old_keys

if TYPE_CHECKING:
    from bot.base.config import LogConfig  # takes long to import, and most want `printable` alone

OWN_PACKAGES = ("bot", "engine", "storage")
"""Our packages; `log.level` sets the level of their loggers."""
_STANDARD_RECORD_FIELDS = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
"""Attributes of every record; other attributes come from the caller's ``extra``."""
_LINE_LIMIT_PERIOD_S = 60.0


account: ContextVar[str] = ContextVar("account", default="")
"""Name of the account with which the current task plays."""
is_alone: ContextVar[bool] = ContextVar("is_alone", default=False)
"""Whether there is only one account; if so, log lines for people omit its name."""
site: ContextVar[str] = ContextVar("site", default="")
"""The current account's site, once known."""
game: ContextVar[str] = ContextVar("game", default="")
"""The site's ID of the game that the current task plays."""


def account_label() -> str:
    """The account's name; empty if there is only one account."""
    return "" if is_alone.get() else account.get()


class ContextFilter(logging.Filter):
    """Adds account, site and game to each record, if known."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the fields, and return True, so that no record is dropped."""
        for name, variable in (("account", account), ("site", site), ("game", game)):
            if value := variable.get():
                setattr(record, name, value)
        return True


class PrivateFileHandler(WatchedFileHandler):
    """Appends to a file that only our user may read; starts a new file when the old one has been moved."""

    def _open(self) -> TextIOWrapper:
        def private(path: str, flags: int) -> int:
            return os.open(path, flags, 0o600)

        return open(self.baseFilename, "a", encoding=self.encoding, opener=private)


class JsonFormatter(logging.Formatter):
    """One JSON object per message: time (UTC), level, logger, message, exception, and the caller's extras."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        entry |= {key: value for key, value in record.__dict__.items() if key not in _STANDARD_RECORD_FIELDS}
        # ASCII only: a lone surrogate, for one, could not be encoded.
        return json.dumps(add_old_keys(entry), default=str)


class TextFormatter(logging.Formatter):
    """One line per message, followed by the indented lines of an exception."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        name = account_label()
        return printable(f"{super().formatMessage(record)}{name and f' [{name}]'}")

    def formatException(self, exc_info: Any) -> str:  # noqa: N802 - logging's name
        lines = super().formatException(exc_info).split("\n")
        return "\n".join(f"    {printable(line)}" for line in lines)


def printable(text: str) -> str:
    """Escape the unprintable characters of a text."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text
    )


def configure_logging(config: "LogConfig") -> None:
    """Configure logging according to the settings.

    Raises:
        ConfigError: The file cannot be written.
    """
    handler: logging.Handler
    if config.file:
        path = Path(config.file)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handler = PrivateFileHandler(path, encoding="utf-8")
        except OSError as error:
            raise ConfigError(f"log.file: cannot write {path}: {error.strerror}") from None
    else:
        handler = logging.StreamHandler(sys.stderr)
    if config.format == "json":
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(
            TextFormatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s", "%Y-%m-%d %H:%M:%S")
        )
    handler.addFilter(ContextFilter())
    # Lines of drivers, one for each statement and request, would bury ours: of others only warnings.
    others = max(logging.WARNING, logging.getLevelNamesMapping()[config.level])
    logging.basicConfig(level=others, handlers=[handler], force=True)
    for name in OWN_PACKAGES:
        logging.getLogger(name).setLevel(config.level)
    # It logs every unparsable line of an engine; `engine.protocols.engine_source` reports the error once.
    logging.getLogger("chess.engine").setLevel(logging.CRITICAL)


LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
"""The levels for `set_level`."""


def set_level(level: str) -> str:
    """Set the minimum level of our messages until the program ends; return the previous level.

    Raises:
        ConfigError: There is no such level.
    """
    if level not in LEVELS:
        raise ConfigError(f"log level {level!a:.40} is not known; known: {', '.join(LEVELS)}")
    before = current_level()
    for name in OWN_PACKAGES:
        logging.getLogger(name).setLevel(level)
    return before


def current_level() -> str:
    """The current minimum level."""
    return logging.getLevelName(logging.getLogger(OWN_PACKAGES[0]).getEffectiveLevel())


@dataclass(frozen=True, slots=True)
class LoggedError:
    """An error as it was logged."""

    at: datetime
    account: str
    """Name of the account in whose task the error occurred, if there are several accounts."""
    message: str


class ErrorMemory(logging.Handler):
    """Remembers the latest error that was logged."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.latest: LoggedError | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Remember a record."""
        try:
            message = record.getMessage()
        except Exception:
            self.handleError(record)
            return
        at = datetime.fromtimestamp(record.created, UTC)
        self.latest = LoggedError(at, account_label(), printable(message)[:500])


@contextmanager
def capture_errors() -> Iterator[ErrorMemory]:
    """Remember the latest error that our packages log while the `with` block runs."""
    memory = ErrorMemory()
    loggers = [logging.getLogger(name) for name in OWN_PACKAGES]
    for each in loggers:
        each.addHandler(memory)
    try:
        yield memory
    finally:
        for each in loggers:
            each.removeHandler(memory)


class LogLineLimiter:
    """Limits the number of similar log lines per minute."""

    def __init__(self, per_minute: int, clock: Callable[[], float]) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._began = float("-inf")
        self._lines = 0
        self._dropped = 0

    def next(self) -> str | None:
        """A suffix for the next line that counts the omitted lines; None to omit the next line, too."""
        now = self._clock()
        if now - self._began >= _LINE_LIMIT_PERIOD_S:
            self._began, self._lines = now, 0
        if self._lines >= self._per_minute:
            self._dropped += 1
            return None
        self._lines += 1
        dropped, self._dropped = self._dropped, 0
        return f" ({dropped} similar lines omitted before this one)" if dropped else ""
