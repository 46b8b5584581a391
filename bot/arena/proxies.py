"""Finds the client's address behind a proxy, so that limits apply to each client and not to the proxy."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

FORWARDED = "X-Forwarded-For"


class Proxies:
    """The proxies whose ``X-Forwarded-For`` header we trust."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        """
        Args:
            networks: Addresses or networks of the proxies.

        Raises:
            ValueError: An entry is neither an address nor a network.
        """
        self._networks = [ip_network(each) for each in networks]

    def __contains__(self, host: object) -> bool:
        """Whether a peer is a trusted proxy."""
        address = _parsed(str(host))
        return address is not None and self._trusts(address)

    def client_address(self, peer: str, forwarded: Sequence[str]) -> str:
        """The address that a request comes from, in the form returned by `limit_key`.

        Args:
            peer: Address from which the connection was opened.
            forwarded: The values of the request's ``X-Forwarded-For`` headers, in order.

        Returns:
            The peer if it is not trusted; otherwise the last forwarded address that is not trusted, because
            clients can forge all entries before the ones that a trusted proxy appends. The search stops at an
            entry that is not an address and returns the proxy that added it.
        """
        last = _parsed(peer)
        if last is None or not self._trusts(last):
            return limit_key(peer)
        for entry in reversed(",".join(forwarded).split(",")):
            address = _parsed(entry.strip())
            if address is None:
                break
            last = address
            if not self._trusts(address):
                break
        return limit_key(str(last))

    def _trusts(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self._networks)


def limit_key(host: str) -> str:
    """The key that represents an address in limits: an IPv6 address's /64 network, because it usually belongs
    to one person, or the IPv4 address itself. Text that is not an address is returned unchanged."""
    address = _parsed(host)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, 64), strict=False))
    return host if address is None else str(address)


_WIDER = {4: ((24, 4),), 6: ((56, 2), (48, 4))}
"""Lengths of the prefixes around an address, by IP version, each with its factor: the number of addresses
whose limits it has. Providers give homes a /56 or a /48, and hosts rent whole /24s."""
LIMIT_FACTORS = (1, 2, 4)
"""All factors, from an address's to the widest network's."""


@lru_cache(maxsize=10_000)
def networks(address: str) -> tuple[tuple[str, int], ...]:
    """The networks that share a limit with an address, from the address itself to the widest.

    Args:
        address: An address in the form returned by `limit_key`.

    Returns:
        Each network's key, and its factor.
    """
    parsed = _parsed(address.partition("/")[0])
    if parsed is None:
        return ((address, 1),)
    wider = (
        (str(ip_network((parsed, length), strict=False)), factor) for length, factor in _WIDER[parsed.version]
    )
    return (address, 1), *wider


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # Systems that serve both protocols on one socket write IPv4 addresses in the IPv6-mapped form.
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
