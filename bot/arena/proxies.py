"""Finds the client's address behind a proxy, so that limits apply to people and not to their proxy."""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

FORWARDED = "X-Forwarded-For"


class Proxies:
    """The proxies that are believed when they tell for whom they ask."""

    def __init__(self, networks: Iterable[str] = ()) -> None:
        """
        Args:
            networks: Their addresses, or networks of them.

        Raises:
            ValueError: One is neither.
        """
        self._networks = [ip_network(each) for each in networks]

    def __contains__(self, host: object) -> bool:
        """Whether a peer is one of them."""
        address = _parsed(str(host))
        return address is not None and self._trusts(address)

    def origin(self, peer: str, told: Sequence[str]) -> str:
        """Where a request comes from, as `limited_as` has it.

        Args:
            peer: Address of the one who is connected.
            told: The values of its ``X-Forwarded-For`` headers, in order.

        Returns:
            The peer, unless it is trusted; else the last address told that is not, since everybody may write
            whatever they like in front of what a trusted proxy appends.  What is no address ends the trail at
            the proxy that told it.
        """
        last = _parsed(peer)
        if last is None or not self._trusts(last):
            return limited_as(peer)
        for entry in reversed(",".join(told).split(",")):
            address = _parsed(entry.strip())
            if address is None:
                break
            last = address
            if not self._trusts(address):
                break
        return limited_as(str(last))

    def _trusts(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self._networks)


def limited_as(host: str) -> str:
    """An address as limits count it: of IPv6 the network of 64 bits, all of whose addresses are usually one
    person's.  What is no address stands for itself."""
    address = _parsed(host)
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, 64), strict=False))
    return host if address is None else str(address)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # The same host is written in two ways, by systems that serve both protocols on one socket.
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address
