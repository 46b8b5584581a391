"""A long run of the bot on the fake GGS server, with every kind of fault: ``python -m bench.sites.ggs_soak``.

The bot plays plain, random and synchro matches, rated and unrated, against opponents that resign, leave and
return, request undo and abort, or just play on. Lines are lost, newer lines overtake replies, connections are
cut, closed or silenced, the service restarts, and another client logs in under the bot's name. At the end the
ledger is compared with the opponents' records. Time is virtual: the event loop jumps to its next timer.

With ``--port`` the program itself plays on a real server on this machine: rated matches of every kind, one
after another, with cut connections and ``kill -9``.
"""

import argparse
import asyncio
import logging
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from tests.bot import virtual_time
from tests.ggs.client import Client, Habits
from tests.ggs.faults import Chance, Fault
from tests.ggs.outside import PLAYS, Outside
from tests.ggs.table import BOT, PASSWORD, Table, empty_database, laid
from tests.system.ledger import log_lines

KINDS = ("8", "8b", "8w", "s8", "s8r14", "s8r18", "s8r20")
PROBABILITIES = {
    Fault.SPLIT: 0.05,
    Fault.GATHER: 0.03,
    Fault.SLOW: 0.01,
    Fault.LATE: 0.1,
    Fault.ALERT: 0.01,
    Fault.LOSE: 0.004,
    Fault.CUT: 0.003,
    Fault.CLOSE: 0.003,
    Fault.SILENCE: 0.001,
    Fault.RESTART: 0.001,
    Fault.EVICT: 0.001,
}
"""Probability of each fault per block sent to the bot; `Fault.LATE` affects only lists."""


def habits(chance: random.Random) -> Habits:
    """An opponent's habits in one match; most opponents play to the end."""
    usual = Habits(greedy=chance.random() < 0.5, seed=chance.randrange(10**6))
    at = chance.randint(2, 50)
    return chance.choice(
        [
            usual, usual, usual, usual,
            replace(usual, leaves_at=at),
            replace(usual, resigns_at=at),
            replace(usual, undoes_at=at, chats_at=at),
            replace(usual, aborts_at=at),
            replace(usual, breaks_at=at),
        ]
    )  # fmt: skip


async def play(table: Table, matches: int, seed: int) -> Counter[str]:
    """Play the given number of matches in sequence; count them by kind and by how they ended."""
    chance = random.Random(seed)
    ends: Counter[str] = Counter()
    for number in range(1, matches + 1):
        kind, rated = chance.choice(KINDS), chance.random() < 0.8
        anna = await table.sit(habits(chance), rated=rated)
        if anna.habits.breaks_at is not None:
            # Once; the resumed match is played to its end.
            anna.habits = replace(anna.habits, breaks_at=None, leaves_at=anna.habits.breaks_at)
        over = await table.play(anna, f"{kind} 15:00/00:05")
        await anna.close()
        how = "result" if over.outcome[0] in "+-" else re.sub(".* left", "left", over.outcome)
        ends[f"{kind} {'rated' if over.flag == 'R' else 'unrated'} {how}"] += 1
        show(f"\r{number}/{matches} matches, at {asyncio.get_running_loop().time():.0f} s")
    return ends


def show(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


async def soak(matches: int, seed: int, without: Collection[Fault]) -> bool:
    """Play on the fake server, print a report, and return whether the run passed."""
    probabilities = {fault: each for fault, each in PROBABILITIES.items() if fault not in without}
    chance = Chance(seed, probabilities, [BOT])
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ggs.db"
        await asyncio.to_thread(empty_database, path)
        async with laid(path, plan=chance, seed=seed) as table:
            ends = await play(table, matches, seed)
            wrong = await table.troubles()
            boards = sum(len(over.seats) for over in table.over)
            connections = table.server.connections
            refused = Counter(text.split(maxsplit=2)[-1] for text in table.server.refused)
    print()
    for what, count in sorted(ends.items()):
        print(f"{count:5}  {what}")
    print(
        f"{matches} matches on {boards} boards, {connections} connections, {time.monotonic() - began:.0f} s"
    )
    print("faults:", ", ".join(f"{fault} {count}" for fault, count in chance.struck.most_common()))
    print("refused:", ", ".join(f"{text!r} {count}" for text, count in refused.most_common()) or "nothing")
    for line in wrong:
        print("WRONG", line)
    print("all right" if not wrong else f"{len(wrong)} errors found")
    return not wrong


PLAN = (
    *[("8 02:00", 0, "")] * 8,
    *[("8b 02:00/00:01", 0, "")] * 4,
    *[("8w 02:00", 0, "")] * 4,
    ("s8r14 05:00", 0, ""),
    ("s8 05:00", 0, ""),
    ("8 05:00", 20, "cut"),
    ("8b 05:00", 15, "kill"),
    ("s8r18 05:00", 14, "kill"),
    ("s8r20 05:00", 12, "cut"),
)
"""Matches to request on a real server; some specify the number of moves after which the opponent's
connection is cut or the bot is killed."""


async def outside(port: int, root: str) -> bool:
    """Run `desdemona run` on a real server, print a report, and return whether it passed."""
    admin = await Client("root", root).connect(port)
    for name in (BOT, "anna"):
        newcomer = await Client(name, PASSWORD).connect(port)
        admin.say(f"name {name} {name}")
        admin.say(f"email {name} {name}@example")
        await admin.settled()
        await newcomer.close()
    await admin.close()
    anna = await Client("anna", PASSWORD, Habits(seed=4)).connect(port, commands=PLAYS)
    with tempfile.TemporaryDirectory() as folder:
        table = Outside(Path(folder), port)
        async with table.daemon:
            await table.until_there(anna)
            for what, at, do in PLAN:
                over = await table.play(anna, what, at=at, do=do)
                print(
                    f"{what:16} {do:5} {over.outcome} {over.flag} {[len(seat.moves) for seat in over.seats]}"
                )
            status, said = await table.daemon.stop()
        wrong = [*(await table.troubles()), *anna.duplicates]
        wrong += log_lines(table.daemon.log, "ERROR", "CRITICAL")
        if status:
            wrong.append(f"ended with {status}: {said}")
    await anna.close()
    boards = sum(len(over.seats) for over in table.over)
    print(f"{len(table.over)} matches on {boards} boards, resumed {table.resumed} times")
    for line in wrong:
        print("WRONG", line)
    print("all right" if not wrong else f"{len(wrong)} errors found")
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--matches", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], type=Fault, help="faults to leave out")
    parser.add_argument("--port", type=int, default=0, help="play on a real server at this loopback port")
    parser.add_argument("--root", default="root", help="password of that server's administrator")
    parser.add_argument("--log", default="", help="file for the bot's log")
    given = parser.parse_args()
    if given.log:
        logging.basicConfig(
            filename=given.log, level=logging.DEBUG, format="%(levelname)s %(name)s %(message)s"
        )
        for name in ("aiosqlite", "alembic", "asyncio"):
            logging.getLogger(name).setLevel(logging.WARNING)
    if given.port:
        return 0 if asyncio.run(outside(given.port, given.root)) else 1
    # Otherwise the run would spend most of its time waiting for the loopback to stay quiet.
    virtual_time.SETTLE_S = 0.002
    return 0 if virtual_time.run(soak(given.matches, given.seed, given.without)) else 1


if __name__ == "__main__":
    sys.exit(main())
