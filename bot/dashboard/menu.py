"""All pages, in the order of the menu."""

from bot.base.config import DashboardConfig
from bot.dashboard.page import Page
from bot.dashboard.pages import events, game, games, now, ratings, traps, works
from bot.dashboard.pages.ask import ask_page


def pages(config: DashboardConfig, database_url: str) -> tuple[Page, ...]:
    """The pages that the settings ask for.

    Args:
        config: The dashboard's settings.
        database_url: With its password, as in the settings.
    """
    asked = (ask_page(config.ask_url or database_url),) if config.can_ask(database_url) else ()
    return (
        now.PAGE,
        works.PAGE,
        traps.PAGE,
        games.PAGE,
        game.PAGE,
        events.PAGE,
        ratings.PAGE,
        *asked,
    )
