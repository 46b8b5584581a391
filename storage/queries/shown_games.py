"""Which games pages show: those that pass the filters, and matches on this machine only when asked for."""

from sqlalchemy import ColumnElement

from storage.filters import Filters, filter_conditions
from storage.records import MATCH_SITE
from storage.tables.games import GameRow


def shown_games(filters: Filters) -> list[ColumnElement[bool]]:
    """Conditions on `GameRow`.

    A match may have more games than years on the servers, and nobody to fool; so its games are shown only
    where the filters name its site or its name.
    """
    conditions = filter_conditions(filters)
    if not includes_matches(filters):
        conditions.append(GameRow.site != MATCH_SITE)
    return conditions


def includes_matches(filters: Filters) -> bool:
    """Whether games of matches on this machine are among them, if there are any."""
    return bool(filters.site or filters.match)
