"""The fake GGS server by itself, to rehearse with: `python -m tests.ggs --account MYBOT:secret`."""

import argparse
import asyncio
from contextlib import suppress

from tests.ggs.server import FakeGgs


async def serve(port: int, accounts: list[tuple[str, str]]) -> None:
    server = FakeGgs()
    for name, password in accounts:
        server.central.register(name, password)
    async with server.running(port) as bound:
        print(f"ggs://127.0.0.1:{bound}", flush=True)
        await asyncio.Event().wait()


def account(text: str) -> tuple[str, str]:
    name, colon, password = text.partition(":")
    if not (name and colon and password):
        raise argparse.ArgumentTypeError(f"expected NAME:PASSWORD, got {text!r}")
    return name, password


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=5055, help="on the loopback; 0: any free one")
    parser.add_argument(
        "--account", type=account, action="append", default=[], help="NAME:PASSWORD; registered"
    )
    arguments = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(arguments.port, arguments.account))


if __name__ == "__main__":
    main()
