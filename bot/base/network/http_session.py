"""HTTP sessions that use the proxies and certificates named by the environment.

All our HTTP requests use `open_session`. aiohttp's own `trust_env` ignores ALL_PROXY, networks in NO_PROXY
and proxies without a scheme, and would let a .netrc file replace an account's token.
"""

import os
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from requests.utils import get_environ_proxies, select_proxy
from yarl import URL

from bot.base.config import Config, is_loopback
from bot.base.dialects import get_dialect
from bot.base.errors import ConfigError

CERTIFICATES = "SSL_CERT_FILE"
"""Environment variable that names a file of trusted certificate authorities (read by OpenSSL)."""


def open_session(*, is_direct: bool = False, **options: Any) -> aiohttp.ClientSession:
    """Open a session; call this inside a running event loop.

    Args:
        is_direct: Whether to use no proxy, because the server is part of this program.
        options: Passed on to `aiohttp.ClientSession`.
    """
    return aiohttp.ClientSession(middlewares=() if is_direct else (_use_proxy,), **options)


async def _use_proxy(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    # Per request and not per session, because a redirect may lead to another host.
    try:
        proxy = proxy_of(str(request.url))
    except ConfigError as error:
        raise aiohttp.ClientConnectionError(str(error)) from error
    if proxy:
        request.update_proxy(URL(proxy), None, None)
    return await handler(request)


def proxy_of(url: str) -> str:
    """The URL of the proxy for a connection, including its password; empty for a direct connection.

    This machine's own addresses never use a proxy.

    Raises:
        ConfigError: The environment names a proxy that we cannot use, or the connection is not HTTP.
    """
    scheme, host = urlsplit(url).scheme, urlsplit(url).hostname
    if host is None or is_loopback(host):
        return ""
    proxy = select_proxy(url, get_environ_proxies(url))
    if not proxy:
        return ""
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    variable = _variable_with(scheme)
    remedy = f"add {host} to NO_PROXY for a direct connection"
    if scheme not in ("http", "https"):
        raise ConfigError(
            f"environment: {variable} is set, but {scheme.upper()} is not HTTP and has no proxies; {remedy}"
        )
    try:
        parts = urlsplit(proxy)
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is not a number
        is_complete = False
    if not is_complete:
        raise ConfigError(f"environment: {variable} is not of the form http://host:port")
    if parts.scheme not in ("http", "https"):
        kind = "SOCKS proxies" if parts.scheme.startswith("socks") else f"{parts.scheme} proxies"
        raise ConfigError(
            f"environment: {variable} is {without_password(proxy)}, but {kind} are not supported; "
            f"set it to an HTTP proxy, or {remedy}"
        )
    return proxy


def outgoing_urls(accounts: Mapping[str, Config]) -> dict[str, str]:
    """The addresses outside this program that it may use, keyed by setting.

    Args:
        accounts: The settings of each account, keyed by its name.
    """
    urls = dict[str, str]()
    for name, config in accounts.items():
        label = f"account {name}: " if len(accounts) > 1 else ""
        if not config.uses_arena:
            urls[f"{label}server.url"] = config.server.url or get_dialect(config.server.dialect).home
        for number, url in enumerate(config.challenges.block_urls):
            urls[f"{label}challenges.block_urls.{number}"] = url
        if config.online.explorer:
            urls["online.explorer_url"] = config.online.explorer_url
        if config.online.tablebase:
            urls["online.tablebase_url"] = config.online.tablebase_url
        if config.alarms.webhook:
            urls["alarms.webhook"] = config.alarms.webhook
    return urls


def check_network(urls: Mapping[str, str]) -> str:
    """Check the environment's proxies and certificates, without connecting to anything.

    Args:
        urls: The addresses that the program will use, keyed by setting (see `outgoing_urls`).

    Returns:
        How each host will be reached, for the operator; empty if the environment has no such settings.

    Raises:
        ConfigError: A proxy or a certificate file cannot be used.
    """
    shown = dict[str, str]()
    for setting, url in urls.items():
        try:
            proxy = proxy_of(url)
        except ConfigError as error:
            raise ConfigError(f"{setting}: {error}") from None
        if proxy:
            shown[urlsplit(url).hostname or url] = without_password(proxy)
    text = "; ".join(f"{host} through the proxy {proxy}" for host, proxy in shown.items())
    file = os.environ.get(CERTIFICATES)
    if file is None:
        return text
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except OSError as error:  # also an ssl.SSLError
        raise ConfigError(f"environment: {CERTIFICATES}: cannot use {file!r}: {error}") from None
    return "; ".join(filter(None, (text, f"certificates of {file}")))


def names_proxies() -> bool:
    """Whether the environment names a proxy for HTTP."""
    return any(_variable_with(scheme) for scheme in ("http", "https"))


def without_password(proxy: str) -> str:
    """A proxy's URL without its user's name and password."""
    parts = urlsplit(proxy)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _variable_with(scheme: str) -> str:
    """The environment variable that names the proxy for a scheme, in the order of `select_proxy`."""
    names = (f"{scheme}_proxy", f"{scheme}_proxy".upper(), "all_proxy", "ALL_PROXY")
    return next((name for name in names if os.environ.get(name)), "")
