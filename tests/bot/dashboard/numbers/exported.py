"""What `desdemona export` writes, read back: all that the recomputations know of the database.

The judge's scores and depths, which no export has, are read from their table.
"""

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from bot import __main__ as program
from storage.database import Database

Row = dict[str, Any]
TABLES = ("games", "decisions", "outcomes", "baits", "records", "events")


class Exported:
    """The rows of the exports, by their names.

    Args:
        rows: By the name of the export.
        judgements: What the judge says of the replies played, by the decision.
    """

    def __init__(self, rows: Mapping[str, Sequence[Row]], judgements: Mapping[int, Row]) -> None:
        self.judgement = judgements
        self.games, self.decisions, self.outcomes, self.baits, self.records, self.events = (
            list(rows[name]) for name in TABLES
        )

    @cached_property
    def game(self) -> dict[int, Row]:
        return {row["game_id"]: row for row in self.games}

    @cached_property
    def outcome(self) -> dict[int, Row]:
        return {row["decision_id"]: row for row in self.outcomes}

    @cached_property
    def decision(self) -> dict[int, Row]:
        return {row["decision_id"]: row for row in self.decisions}

    @cached_property
    def record(self) -> dict[int, Row]:
        return {row["decision_id"]: row for row in self.records}

    @cached_property
    def decisions_of(self) -> dict[int, list[Row]]:
        return _by_game(self.decisions)

    @cached_property
    def baits_of(self) -> dict[int, list[Row]]:
        """Those that count: forecast by today's rules."""
        return _by_game([row for row in self.baits if row["is_current"]])

    @cached_property
    def outcomes_of(self) -> dict[int, list[Row]]:
        return _by_game(self.outcomes)


def _by_game(rows: Sequence[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["game_id"]].append(row)
    return found


def run_command(url: str, folder: Path, *arguments: str) -> None:
    """Run `desdemona` with a database, in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("DESDEMONA_STORAGE__URL", url)
        patch.setattr(sys, "argv", ["desdemona", *arguments])
        with pytest.raises(SystemExit) as left:
            program.main()
        assert left.value.code in (0, None)


def export(url: str, folder: Path) -> Exported:
    """Run the commands on a database."""
    rows: dict[str, list[Row]] = {}
    for what in TABLES:
        path = folder / f"{what}.jsonl"
        run_command(
            url, folder, "export", "--names", "--format", "jsonl", "--what", what, "--output", str(path)
        )
        rows[what] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return Exported(rows, asyncio.run(_judgements(url)))


async def _judgements(url: str) -> dict[int, Row]:
    """The table of judgements, each in the form of the costs in a forecast's record."""
    database = await Database.open(url)
    async with database.read() as session:
        rows = (await session.execute(text("SELECT decision_id, best, replies FROM judgements"))).all()
    await database.close()
    names = ("reply", "score_centi", "cost", "depth", "is_solved")
    found = {}
    for key, best, stored in rows:
        listed = json.loads(stored) if isinstance(stored, str) else stored
        replies = [dict(zip(names, each, strict=True)) for each in listed]
        found[key] = {"best": next(each for each in replies if each["reply"] == best), "replies": replies}
    return found
