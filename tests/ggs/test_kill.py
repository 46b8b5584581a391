"""kill -9 in the middle of a rated match: the next start takes it up, and nothing is lost or done twice."""

from pathlib import Path

from tests.ggs.client import Client, Habits
from tests.ggs.outside import PLAYS, Outside
from tests.ggs.server import FakeGgs
from tests.ggs.table import BOT, PASSWORD


async def test_kill_9(tmp_path: Path) -> None:
    server = FakeGgs()
    for name in (BOT, "anna"):
        server.central.register(name, PASSWORD)
    async with server.running() as port:
        outside = Outside(tmp_path, port, engine__max_depth=2)
        anna = Client("anna", PASSWORD, Habits(seed=4, resigns_at=30))
        await anna.connect(port, commands=PLAYS)
        async with outside.daemon:
            await outside.until_there(anna)
            over = await outside.play(anna, "s8r14 30:00", at=16, do="kill")
            status, said = await outside.daemon.stop()
        await anna.close()
    assert (status, outside.daemon.starts, outside.resumed) == (0, 2, 1), said
    assert over.outcome == "-64.00"
    assert max(len(seat.moves) for seat in over.seats) >= 29
    assert anna.duplicates == []
    assert await outside.troubles() == []
