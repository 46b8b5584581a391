"""Asks a question in SQL: the reader runs in a child process, which is killed when it takes too long."""

import asyncio
import json
import sys
from dataclasses import dataclass
from typing import Any

from storage.errors import StorageError

MOST_CHARACTERS = 20_000
"""Longest question, in characters."""
_GRACE_S = 1.0
"""For the child to start, beyond the time that a question may take."""


class BadQuestion(StorageError):
    """The question cannot be answered; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    is_cut: bool
    """Whether rows beyond `most_rows` were cut off."""

    def records(self) -> list[dict[str, Any]]:
        """The rows by column; a column's name that occurs again gets a number."""
        names: list[str] = []
        for name in self.columns:
            own, number = name, len(names) + 1
            while own in names:
                own, number = f"{name}_{number}", number + 1
            names.append(own)
        return [dict(zip(names, row, strict=True)) for row in self.rows]


async def ask(url: str, sql: str, *, limit_s: float, most_rows: int) -> Answer:
    """Ask a question.

    Args:
        url: The database's, as in the settings.
        sql: One SELECT.
        limit_s: Seconds that it may take.
        most_rows: Most rows to return.

    Raises:
        BadQuestion: It has a mistake, is not allowed, or takes too long.
    """
    if len(sql) > MOST_CHARACTERS:
        raise BadQuestion(f"the question is longer than {MOST_CHARACTERS:,} characters")
    if not sql.strip():
        raise BadQuestion("the question is empty")
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # the current folder may have modules of any name
        "-m",
        "storage.ask.reader",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    request = {"url": url, "sql": sql, "limit_s": limit_s, "most_rows": most_rows}
    try:
        async with asyncio.timeout(limit_s + _GRACE_S):
            out, _ = await child.communicate(json.dumps(request).encode())
    except TimeoutError:
        raise BadQuestion(f"the question takes longer than {limit_s:g} s; narrow it") from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    try:
        found = json.loads(out)
    except ValueError:
        raise BadQuestion("the question needs more memory than it may have") from None
    if "error" in found:
        raise BadQuestion(found["error"])
    return Answer(tuple(found["columns"]), tuple(map(tuple, found["rows"])), found["is_cut"])
