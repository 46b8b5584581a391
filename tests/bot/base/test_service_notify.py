"""What systemd is told."""

import socket
from pathlib import Path

import pytest

from bot.base.service_notify import READY, WATCHDOG, notify_systemd


def heard(link: socket.socket) -> bytes:
    link.setblocking(False)
    return link.recv(100)


def test_a_socket_in_the_file_system(tmp_path: Path) -> None:
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
        link.bind(path)
        assert notify_systemd(READY, {"NOTIFY_SOCKET": path})
        assert heard(link) == b"READY=1"


def test_an_abstract_socket(tmp_path: Path) -> None:
    name = f"desdemona-test-{tmp_path.name}-{id(tmp_path)}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as link:
        link.bind(f"\0{name}")
        assert notify_systemd(WATCHDOG, {"NOTIFY_SOCKET": f"@{name}"})
        assert heard(link) == b"WATCHDOG=1"


@pytest.mark.parametrize("address", ["", "relative", "/no/such/socket", "@nobody-listens-there"])
def test_nobody_to_tell(address: str) -> None:
    assert not notify_systemd(READY, {"NOTIFY_SOCKET": address})
    assert not notify_systemd(READY, {})
