"""Creates the adapter for the configured site."""

from collections.abc import Callable
from typing import cast

import aiohttp

from bot.base.config import Config
from bot.base.dialects import Dialect
from bot.base.game_server import Server
from bot.servers.ggs.server import GgsServer, Recall, nothing_to_recall
from bot.servers.lichess import LichessServer
from bot.servers.recording import UNMASKED_NAMES, NameMask, RecordedSession, Recorder


def make_server(
    config: Config,
    dialect: Dialect,
    url: str,
    token: str,
    recall: Recall = nothing_to_recall,
    on_answer: Callable[[float], None] = lambda _: None,
) -> Server:
    """Build the adapter for a site without connecting it. Must be called inside a running event loop.

    Args:
        config: The settings.
        dialect: The site's dialect.
        url: The site's URL.
        token: The account's token or password.
        recall: Returns the games that are still open in the database.
        on_answer: Called with the duration of each request, in seconds.

    Raises:
        ConfigError: A setting is invalid. The check sends no request.
    """
    mask = NameMask(token, (dialect.speaker, *UNMASKED_NAMES))
    if dialect.protocol == "ggs":
        return GgsServer(
            dialect,
            url,
            config.server.name,
            token,
            recall=recall,
            programs=config.ggs.bots,
            public=config.ggs.public,
            extension_s=config.ggs.extension_s,
            on_answer=on_answer,
            recorder=Recorder(config.servers.record, dialect.name, config.server.name, mask),
        )
    recorder = Recorder(config.servers.record, dialect.name, "", mask)

    def wrap(session: aiohttp.ClientSession) -> aiohttp.ClientSession:
        return cast(aiohttp.ClientSession, RecordedSession(session, recorder))

    is_direct = config.uses_arena
    if not config.servers.record:
        return LichessServer(dialect, url, token, is_direct=is_direct, on_answer=on_answer)
    return LichessServer(dialect, url, token, is_direct=is_direct, on_answer=on_answer, wrap=wrap)
