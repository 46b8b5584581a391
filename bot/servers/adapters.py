"""Opens the adapter for the site in the settings."""

from bot.base.config import Config
from bot.base.dialects import Dialect
from bot.servers import Server
from bot.servers.ggs import GgsServer, Recall, nothing_to_recall
from bot.servers.lichess import LichessServer


def make_server(
    config: Config, dialect: Dialect, url: str, token: str, recall: Recall = nothing_to_recall
) -> Server:
    """The adapter for a site; nothing is connected yet.  Make it inside a running event loop.

    Args:
        config: The settings.
        dialect: Of the site.
        url: Its address.
        token: Of the account, or its password.
        recall: Tells which games are open in the books.

    Raises:
        ConfigError: A setting cannot be right, as far as can be seen without asking the site.
    """
    if dialect.protocol == "ggs":
        return GgsServer(
            dialect,
            url,
            config.server.name,
            token,
            recall=recall,
            programs=config.ggs.programs,
            public=config.ggs.public,
            extension_s=config.ggs.extension_s,
            places=config.challenges.max_games,
        )
    return LichessServer(dialect, url, token)
