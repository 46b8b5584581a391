"""Questions in SQL: examples, a field for one's own, and the answer as a table."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.dashboard.page import Page, Query, Rows
from storage.ask.examples import EXAMPLES
from storage.ask.question import MOST_CHARACTERS, Answer, BadQuestion, ask
from storage.ask.views import VIEWS, AskView
from storage.database import Database

LIMIT_S = 2.0
"""Seconds that a question may take; `desdemona sql` allows more."""
MOST_ROWS = 1000


@dataclass(frozen=True, slots=True)
class AskPageView:
    """What the page shows."""

    question: str
    answer: Answer | None
    error: str
    examples: Mapping[str, str]
    views: Mapping[str, AskView]
    most_characters: int = MOST_CHARACTERS

    def to_json(self) -> dict[str, Any]:
        """See `bot.dashboard.page.View.to_json`."""
        rows = None if self.answer is None else self.answer.records()
        return {"question": self.question, "rows": rows, "error": self.error}

    def tables(self) -> Mapping[str, Rows]:
        """See `bot.dashboard.page.View.tables`."""
        return {"answer": [] if self.answer is None else self.answer.records()}


def ask_page(url: str) -> Page:
    """The page.

    Args:
        url: Of the database that questions are asked: with PostgreSQL a login of their own, which may read
            the views and nothing else.
    """
    turn = asyncio.Lock()  # one question at a time: moves are searched on the same processor

    async def load(_database: Database, query: Query) -> AskPageView:
        question, answer, error = query.own.get("sql", "").strip(), None, ""
        if question:
            try:
                async with turn:
                    answer = await ask(url, question, limit_s=LIMIT_S, most_rows=MOST_ROWS)
            except BadQuestion as found:
                error = str(found)
        return AskPageView(question, answer, error, EXAMPLES, VIEWS)

    return Page(
        "ask",
        "/dash/ask",
        "Ask",
        load,
        parameters=frozenset({"sql"}),
        filters=(),
        fresh_s=2.0,
        is_live=False,
    )
