"""Describes failed HTTP exchanges for the operator: certificates, proxies, and pages from elsewhere."""

import html
import re
import ssl

import aiohttp

from bot.base.network.http_session import CERTIFICATES

_MAX_TITLE_LENGTH = 60
_CLOCK_CODES = frozenset({9, 10})
"""OpenSSL's codes for a certificate that is not valid yet, or not any more."""
_AUTHORITY_CODES = frozenset({18, 19, 20, 21})
"""OpenSSL's codes for a certificate that no trusted authority has signed."""


def describe_failure(error: BaseException) -> str:
    """Describe in one line why an HTTP request got no answer.

    Args:
        error: The exception that aiohttp raised.
    """
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"the certificate of {error.host} is not valid: {_certificate_problem(error)}"
        case aiohttp.ClientConnectorSSLError():
            reason = getattr(error.os_error, "reason", None) or error.os_error
            return f"{error.host}:{error.port} does not speak TLS as expected: {reason}"
        case aiohttp.ClientHttpProxyError():
            remedy = "; put the user's name and password into its URL" if error.status == 407 else ""
            return f"the proxy refused the connection: HTTP {error.status} {error.message}{remedy}"
        case aiohttp.ClientProxyConnectionError():
            return f"no connection to the proxy {error.host}:{error.port}: {_reason(error.os_error)}"
        case aiohttp.ClientConnectorError():
            return f"no connection to {error.host}:{error.port}: {_reason(error.os_error)}"
        case _:
            return one_line(error)


def _certificate_problem(error: aiohttp.ClientConnectorCertificateError) -> str:
    cause = error.certificate_error
    if not isinstance(cause, ssl.SSLCertVerificationError):
        return one_line(cause)
    said = cause.verify_message.rstrip(".")
    if cause.verify_code in _CLOCK_CODES:
        return f"{said}; is this machine's clock right?"
    if cause.verify_code in _AUTHORITY_CODES:
        return (
            f"{said}; a proxy or the network's login page may be in between. If you trust its authority, "
            f"name its certificate file in {CERTIFICATES}"
        )
    return f"{said}; another server seems to answer for it"


def _reason(error: OSError) -> str:
    return error.strerror or one_line(error)


def page_text(body: str | bytes) -> str:
    """Describe an answer that is a web page although data was requested; empty if it is not a page."""
    text = body.decode(errors="replace") if isinstance(body, bytes) else body
    text = text.lstrip("\ufeff \t\r\n")
    if not text.startswith("<"):
        return ""
    title = re.search(r"<title[^>]*>(.*?)</title", text, re.IGNORECASE | re.DOTALL)
    words = " ".join(html.unescape(title[1]).split())[:_MAX_TITLE_LENGTH] if title else ""
    shown = f" ({words!r})" if words else ""
    return f"a web page{shown} instead of data; it may come from a proxy or the network's login page"


def one_line(error: BaseException) -> str:
    """An exception's text without line breaks, or its class name if it has no text."""
    return " ".join(str(error).split()) or type(error).__name__
