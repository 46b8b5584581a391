"""The fake says what a real server says in one long dialogue, recorded once, or held again with a real one.

For the latter there must be one on this machine, with fresh databases, an administrator ``root`` and the
service ``/os`` up: ``DESDEMONA_TEST_GGS=5000`` names its port, ``DESDEMONA_TEST_GGS_ROOT`` the password if it
is not ``root``.  It takes a minute and a half, as a real server does not hurry.  To record it anew:
``python -m tests.ggs.test_real_server 5000``.
"""

import asyncio
import gzip
import json
import os
import sys
from pathlib import Path

from tests.bot.servers.ggs.transcripts import Line, Replay, halves, normal
from tests.ggs.dialogue import Dialogue, remark, tossed

RECORDING = Path(__file__).parent / "data" / "dialogue.jsonl.gz"


def compare(lines: list[Line]) -> None:
    """Say the same to the fake."""
    fake = Replay(lines)
    coins = iter(tossed(lines))
    fake.central.service.asker_is_black = lambda: next(coins, True)
    for who in {line.who for line in lines}:
        fake.events[remark(who)] = lambda who=who: fake.drop(who)  # type: ignore[misc]
    fake.run()
    for who, real in fake.recorded().items():
        for ours, theirs in zip(halves(fake.heard[who]), halves(real), strict=True):
            assert ours == theirs, who


def test_a_recorded_dialogue() -> None:
    with gzip.open(RECORDING, "rt") as file:
        compare([Line(*json.loads(text)) for text in file])


if (
    "DESDEMONA_TEST_GGS" in os.environ
):  # else there is nothing to be skipped: hardly anybody has such a server

    def test_the_dialogue_with_a_real_server() -> None:
        compare(
            _held(int(os.environ["DESDEMONA_TEST_GGS"]), os.environ.get("DESDEMONA_TEST_GGS_ROOT", "root"))
        )


def _held(port: int, root: str) -> list[Line]:
    dialogue = Dialogue(port, root)
    asyncio.run(dialogue.hold())
    return dialogue.lines


def _record(port: int) -> None:
    RECORDING.parent.mkdir(exist_ok=True)
    with gzip.GzipFile(RECORDING, "wb", mtime=0) as file:
        for line in _held(port, "root"):
            # The site's own texts, dates and measured times are of no use.
            raw = (
                line.raw
                if line.is_sent
                else normal(line.raw, banner="\n\nGeneric Game Server (GGS)\n").replace("\n", "\r\n")
            )
            file.write((json.dumps([line.t, line.who, line.is_sent, raw]) + "\n").encode())


if __name__ == "__main__":
    _record(int(sys.argv[1]))
