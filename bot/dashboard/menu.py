"""All pages, in the order of the menu."""

from bot.base.config import DashboardConfig
from bot.control.actions import OperatorActions
from bot.dashboard.page import Page
from bot.dashboard.pages import game, games, opponents, ratings, results, traps
from bot.dashboard.pages.ask import ask_page
from bot.dashboard.pages.events import events_page
from bot.dashboard.pages.now import now_page
from bot.dashboard.pages.opponent import opponent_page
from bot.dashboard.pages.works import works_page


def pages(
    config: DashboardConfig, database_url: str, actions: OperatorActions | None = None
) -> tuple[Page, ...]:
    """The pages that the settings ask for.

    Args:
        config: The dashboard's settings.
        database_url: With its password, as in the settings.
        actions: The running program; None: there is none.
    """
    asked = (ask_page(config.ask_url or database_url),) if config.can_ask(database_url) else ()
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
        *asked,
    )
