"""All pages, in the order of the menu."""

from bot.dashboard.page import Page
from bot.dashboard.pages import events, now, ratings, works

PAGES: tuple[Page, ...] = (now.PAGE, works.PAGE, events.PAGE, ratings.PAGE)
