"""Lists all dashboard pages, in menu order."""

from bot.control.actions import OperatorActions
from bot.views import game, games, opponents, ratings, results, traps, trial_verdict
from bot.views.events import events_page
from bot.views.opponent import opponent_page
from bot.views.overview import now_page
from bot.views.page import Page


def pages(actions: OperatorActions | None = None) -> tuple[Page, ...]:
    """All pages.

    Args:
        actions: The running program; None if no program is running.
    """
    return (
        now_page(actions),
        trial_verdict.PAGE,
        results.PAGE,
        traps.PAGE,
        opponents.PAGE,
        opponent_page(actions),
        games.PAGE,
        game.PAGE,
        events_page(actions),
        ratings.PAGE,
    )
