"""Reports service state to systemd through sd_notify(3): one datagram for each state, ``NAME=value``.

Without systemd there is no ``NOTIFY_SOCKET`` in the environment, and nothing is sent.
"""

import os
import socket
from collections.abc import Mapping
from contextlib import suppress

READY = "READY=1"
STOPPING = "STOPPING=1"
WATCHDOG = "WATCHDOG=1"
"""Watchdog ping; send it at intervals shorter than the unit's WatchdogSec."""


def notify_systemd(state: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Send one state; return whether a service manager received it.

    Args:
        state: One of the constants above.
        environment: Holds the socket's address; an address with a leading ``@`` is in the abstract namespace.
    """
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return False
    if address.startswith("@"):
        address = f"\0{address[1:]}"
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as link:
        link.setblocking(False)  # a full queue must not stop the event loop
        link.sendto(state.encode(), address)
        return True
    return False
