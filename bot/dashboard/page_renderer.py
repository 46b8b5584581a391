"""Renders the response to a request for a page: its view as HTML, JSON or CSV.

The request contains the required state of the running program as plain values, so that another process can
answer the request (`bot.dashboard.page_workers`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, cast

from jinja2 import Environment

from bot.alarms.evaluator import AlarmStatus
from bot.base.old_names import add_old_keys
from bot.dashboard.controls import ActionResult
from bot.dashboard.page_cache import PageCache
from bot.parts.values import FormField
from bot.text.values_text import title_of
from bot.views.addresses import query_text
from bot.views.page import BadQuery, Page, Query, View
from storage.evidence.exports.csv_cells import csv_text
from storage.evidence.queries.filter_language import FIELDS, MAX_FILTER_LENGTH, filter_texts

_DATE_FIELDS = ("since", "until")
_NUMBER_FIELDS = ("min-rating", "max-rating")
_DATE_LENGTH = len("2026-11-30")


class OutputFormat(StrEnum):
    """The output format of a page."""

    HTML = "html"
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The common elements of all pages."""

    has_session: bool = False
    """Whether to show the sign-out button."""
    unacknowledged_alarms: tuple[AlarmStatus, ...] = ()
    said: ActionResult | None = None
    """The outcome of the user's last action."""


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page."""

    page: str
    """The page's name."""
    query: Query
    form: OutputFormat
    parts: Mapping[str, str] = field(default_factory=dict)
    """The variable parts of the page's path."""
    table: str = ""
    """Name of the table to return as CSV; empty selects the first table."""
    context: RequestContext = field(default_factory=RequestContext)
    live: Any = None
    """See `bot.views.page.Page.live`."""


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page rendered as text."""

    text: str
    table: str = ""
    """For CSV, the name of the table."""


class PageRenderer:
    """Renders pages.

    Args:
        pages: All pages, in the order of the menu.
        templates: See `bot.dashboard.rendering.environment`.
        cache: Computes and caches the pages' views.
    """

    def __init__(self, pages: Sequence[Page], templates: Environment, cache: PageCache) -> None:
        self._pages = {page.name: page for page in pages}
        self._templates = templates
        self._cache = cache

    async def answer(self, asked: PageRequest) -> RenderedPage:
        """Render the response to a request.

        Raises:
            BadQuery: The page has no table with this name.
            TooSlow, StorageError, DesdemonaError: As in `PageCache.get`.
        """
        page = self._pages[asked.page]
        view = (await self._cache.get(page, asked.query)).view
        if asked.live is not None:
            view = replace(cast("Any", view), **{page.live_field: asked.live})
        if asked.form is OutputFormat.JSON:
            return RenderedPage(json.dumps(add_old_keys(view.to_json()), default=str, ensure_ascii=False))
        if asked.form is OutputFormat.CSV:
            return _csv(asked, view)
        api = f"/dash/api/{page.name}{''.join(f'/{part}' for part in asked.parts.values())}"
        query = query_text({**asked.query.texts(), **dict.fromkeys(asked.parts, "")})
        text = self.render(
            "page.html",
            asked.context,
            page=page,
            view=view,
            filters=filter_fields(page, asked.query),
            own={name: text for name, text in asked.query.own.items() if name in page.parameters},
            api=api,
            query_string=query,
            csv_address=lambda table: f"{api}.csv?{query}{'&' if query else ''}table={table}",
        )
        return RenderedPage(text)

    def render(self, template: str, context: RequestContext, **values: Any) -> str:
        """Render a template with the values and the elements common to all pages."""
        return self._templates.get_template(template).render(
            menu=[page for page in self._pages.values() if page.is_in_menu],
            has_session=context.has_session,
            unacknowledged_alarms=context.unacknowledged_alarms,
            said=context.said,
            **values,
        )


def filter_fields(page: Page, query: Query) -> list[FormField]:
    """The form fields for the page's filters, with the query's values."""
    texts = filter_texts(query.filters)
    found = []
    for each in (FIELDS[name] for name in page.filters):
        value = texts.get(each.name, "")
        values = each.choices if value in ("", *each.choices) else (*each.choices, value)
        words = ((text, title_of(text) if each.name == "game" else text) for text in values)
        choices = (("", "any"), *words) if each.choices else ()
        kind = "date" if each.name in _DATE_FIELDS else "number" if each.name in _NUMBER_FIELDS else "text"
        shown = value[:_DATE_LENGTH] if kind == "date" else value
        found.append(FormField(each.name, each.title, shown, choices, MAX_FILTER_LENGTH, kind))
    return found


def _csv(asked: PageRequest, view: View) -> RenderedPage:
    tables = view.tables()
    if not tables:
        raise BadQuery("this page has no tables")
    name = asked.table or next(iter(tables))
    if name not in tables:
        raise BadQuery(f"table: {name!a:.40} is not known; known: {', '.join(tables)}")
    return RenderedPage(csv_text(add_old_keys(tables[name]), "\r\n"), name)
