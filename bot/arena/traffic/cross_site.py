"""Recognises requests that a page of another site makes a visitor's browser send.

Such a page cannot read the answers but can measure how long they take, and so learn what is private: what an
operator's database contains, or whether the visitor is playing. Browsers describe every request to HTTPS
and loopback addresses in its ``Sec-Fetch-*`` headers; programs send none of these headers.
"""

from aiohttp import web

FOREIGN_REQUEST = "Pages of other sites may link to this address but not load it"
"""The error for requests that are `from_other_site`."""
RESOURCE_POLICY = "Cross-Origin-Resource-Policy"
"""Header that tells browsers which sites' pages may load a response: ``same-origin`` or ``cross-origin``."""


def from_other_site(request: web.Request) -> bool:
    """Whether a page of another origin loads this address, rather than a visitor following a link to it.

    Pages of other ports and subdomains (``same-site``) count as other sites: another program on this machine
    may have written them.
    """
    if request.headers.get("Sec-Fetch-Site", "none") in ("same-origin", "none"):
        return False
    is_link = (
        request.method in ("GET", "HEAD")
        and request.headers.get("Sec-Fetch-Mode") == "navigate"
        and request.headers.get("Sec-Fetch-Dest") == "document"
    )
    return not is_link
