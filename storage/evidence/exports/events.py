"""The export of events."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, select

from storage.evidence.exports.columns import ColumnKind, ExportColumn, export_of, text, timestamp, whole
from storage.filters import Filters, filter_conditions
from storage.tables.games import EventRow, GameRow

_NAMES = ("challenger", "opponent")
"""Details with a person's name or ID."""


def _event_conditions(filters: Filters) -> Sequence[ColumnElement[bool]]:
    """Filters for site, account and time apply to events; all other filters apply to the events' games."""
    selected: list[ColumnElement[bool]] = []
    if filters.site is not None:
        selected.append(EventRow.site == filters.site)
    if filters.account is not None:
        selected.append(EventRow.account == filters.account.lower())
    if filters.since is not None:
        selected.append(EventRow.at >= filters.since)
    if filters.until is not None:
        selected.append(EventRow.at < filters.until)
    of_games = replace(filters, site=None, account=None, since=None, until=None)
    if of_games != Filters():
        selected.append(EventRow.game_id.in_(select(GameRow.id).where(*filter_conditions(of_games))))
    return selected


def _detail(detail: object) -> str:
    # A lone UTF-16 surrogate stays escaped: it cannot be written otherwise.
    return json.dumps(detail, ensure_ascii=False).encode(errors="backslashreplace").decode()


def _detail_without_names(detail: object) -> str:
    if isinstance(detail, Mapping):
        detail = {key: value for key, value in detail.items() if key not in _NAMES}
    return _detail(detail)


EVENTS = export_of(
    "One row for each event other than a move.",
    select(EventRow.id, EventRow.game_id).order_by(EventRow.id),
    [
        whole("event_id", "key of the event", EventRow.id),
        timestamp("at", "time of the event", EventRow.at),
        text("site", "site, for instance arena", EventRow.site),
        text("account", "name of our account", EventRow.account),
        text("kind", "kind, for instance challenge_declined", EventRow.kind),
        whole("game_id", "key of the game concerned; null: none", EventRow.game_id),
        ExportColumn(
            "detail",
            ColumnKind.TEXT,
            "JSON: details, such as the reason or the error",
            _detail,
            (EventRow.detail,),
            _detail_without_names,
        ),
    ],
    _event_conditions,
)
