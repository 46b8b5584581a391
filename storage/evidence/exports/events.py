"""The export of events."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, select

from storage.evidence.exports.columns import ColumnKind, Export, ExportColumn, moment_text
from storage.filters import Filters, filter_conditions
from storage.tables.games import EventRow, GameRow

_WHOLE, _TEXT = ColumnKind.WHOLE, ColumnKind.TEXT


def _selected(filters: Filters) -> Sequence[ColumnElement[bool]]:
    """Site, account and time filter the events; any other filter selects events by their games."""
    found: list[ColumnElement[bool]] = []
    if filters.site is not None:
        found.append(EventRow.site == filters.site)
    if filters.account is not None:
        found.append(EventRow.account == filters.account.lower())
    if filters.since is not None:
        found.append(EventRow.at >= filters.since)
    if filters.until is not None:
        found.append(EventRow.at < filters.until)
    of_games = replace(filters, site=None, account=None, since=None, until=None)
    if of_games != Filters():
        found.append(EventRow.game_id.in_(select(GameRow.id).where(*filter_conditions(of_games))))
    return found


_STATEMENT: Any = select(
    EventRow.id,
    EventRow.at,
    EventRow.site,
    EventRow.account,
    EventRow.kind,
    EventRow.game_id,
    EventRow.detail,
).order_by(EventRow.id)

EVENTS = Export(
    "One row for each event: what happened that is no move.",
    (
        ExportColumn("event_id", _WHOLE, "key of the event"),
        ExportColumn("at", _TEXT, "moment"),
        ExportColumn("site", _TEXT, "key of the site, for instance arena"),
        ExportColumn("account", _TEXT, "name of our account"),
        ExportColumn("kind", _TEXT, "for instance challenge_declined"),
        ExportColumn("game_id", _WHOLE, "key of the game that it is about; null: none"),
        ExportColumn("detail", _TEXT, "JSON: what is known of it, such as reason or error"),
    ),
    _STATEMENT,
    lambda row: [
        (
            row.id,
            moment_text(row.at),
            row.site,
            row.account,
            row.kind,
            row.game_id,
            # Half a character of UTF-16 stays an escape: it cannot be written otherwise.
            json.dumps(row.detail, ensure_ascii=False).encode(errors="backslashreplace").decode(),
        )
    ],
    _selected,
)
