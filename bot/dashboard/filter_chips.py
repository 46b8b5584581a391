"""The filters of a page as chips: the current values, and a small form to change them."""

from dataclasses import dataclass

from bot.text.values_text import title_of
from bot.views.addresses import query_text
from bot.views.page import Page, Query
from storage.evidence.queries.filter_language import FIELDS, FilterField, filter_texts

NAMED = ("game", "opponents", "strategy", "site", "speed", "rated", "min-rating", "max-rating", "since")
"""Chips that are shown even without a value; the others only with one, or under "more"."""
_DATES = ("since", "until")
_NUMBERS = ("min-rating", "max-rating")


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter."""

    name: str
    title: str
    value: str
    """As in the address; empty: not chosen."""
    shown: str
    choices: tuple[tuple[str, str], ...]
    """Values and their words; empty: any text."""
    input_type: str
    """Type of the form's field, if there are no choices."""
    others: tuple[tuple[str, str], ...]
    """The other parameters, which the form must preserve."""
    without: str
    """The address without this filter."""
    is_common: bool


def chips(page: Page, query: Query) -> list[Chip]:
    """The page's filters, the active and common ones first."""
    texts = filter_texts(query.filters)
    own = {name: text for name, text in query.own.items() if name in page.parameters}
    chips = [_chip(FIELDS[name], texts, own) for name in page.filters]
    return sorted(chips, key=lambda chip: not (chip.is_common or chip.value))


def _chip(field: FilterField, texts: dict[str, str], own: dict[str, str]) -> Chip:
    value = texts.get(field.name, "")
    others = {name: text for name, text in {**texts, **own}.items() if name != field.name}
    values = field.choices if not field.choices or value in ("", *field.choices) else (*field.choices, value)
    choices = tuple((each, title_of(each) if field.name == "game" else each) for each in values)
    return Chip(
        name=field.name,
        title=field.title,
        value=value,
        shown=dict(choices).get(value, value) or "any",
        choices=choices,
        input_type="date" if field.name in _DATES else "number" if field.name in _NUMBERS else "text",
        others=tuple(others.items()),
        without=f"?{query_text(others)}",
        is_common=field.name in NAMED,
    )
