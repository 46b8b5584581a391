"""All pages, in the order of the menu."""

from bot.dashboard.page import Page
from bot.dashboard.pages import game, games, now, traps

PAGES: tuple[Page, ...] = (now.PAGE, traps.PAGE, games.PAGE, game.PAGE)
