"""All pages, in the order of the menu."""

from bot.dashboard.page import Page
from bot.dashboard.pages import now

PAGES: tuple[Page, ...] = (now.PAGE,)
