"""Logging: a line of text for people, or a JSON object per line for machines.

Servers and opponents have a say in what is logged, so what is not printable is shown as an escape: no name
can begin a line of its own or talk to the operator's terminal.
"""

import json
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bot.base.errors import ConfigError

if TYPE_CHECKING:
    from bot.base.config import LogConfig  # takes long to import, and most want `printable` alone

_USUAL = set(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
"""What every record has; anything else was given by the caller as ``extra``."""


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
        entry |= {key: value for key, value in record.__dict__.items() if key not in _USUAL}
        # With nothing but ASCII: an unpaired surrogate, for one, could not be written.
        return json.dumps(entry, default=str)


class TextFormatter(logging.Formatter):
    """One line per message, and the lines of an exception indented below it."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - logging's name
        return printable(super().formatMessage(record))

    def formatException(self, exc_info: Any) -> str:  # noqa: N802 - logging's name
        lines = super().formatException(exc_info).split("\n")
        return "\n".join(f"    {printable(line)}" for line in lines)


def printable(text: str) -> str:
    """Text with an escape for each sign that cannot be printed."""
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text
    )


def set_up(config: "LogConfig") -> None:
    """Send all logging where the settings say.

    Raises:
        ConfigError: The file cannot be written.
    """
    handler: logging.Handler
    if config.file:
        path = Path(config.file)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handler = logging.FileHandler(path, encoding="utf-8")
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
    logging.basicConfig(level=config.level, handlers=[handler], force=True)
    # A line for each request and each statement is no news.
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    # It tells of every line of an engine that it cannot read; `engine.uci.source` says once what is wrong.
    logging.getLogger("chess.engine").setLevel(logging.CRITICAL)
