"""All pages, in the order of the menu."""

from bot.control.actions import OperatorActions
from bot.dashboard.page import Page
from bot.dashboard.pages import game, games, opponents, ratings, results, traps
from bot.dashboard.pages.events import events_page
from bot.dashboard.pages.now import now_page
from bot.dashboard.pages.opponent import opponent_page
from bot.dashboard.pages.works import works_page


def pages(actions: OperatorActions | None = None) -> tuple[Page, ...]:
    """All pages.

    Args:
        actions: The running program; None: there is none.
    """
    return (
        now_page(actions),
        works_page(),
        results.PAGE,
        traps.PAGE,
        opponents.PAGE,
        opponent_page(actions),
        games.PAGE,
        game.PAGE,
        events_page(actions),
        ratings.PAGE,
    )
