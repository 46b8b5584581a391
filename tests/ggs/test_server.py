"""The fake server on a port: clocks, faults, restarts and evictions, met by the scripted client."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.bot.virtual_time import run
from tests.ggs.client import Client, Habits
from tests.ggs.clocks import Limits
from tests.ggs.faults import Chance, Fault, MoveCodec, Strike, holding
from tests.ggs.server import FakeGgs

PLAYS = ("tell /os open 5", "tell /os rated +")


def served(do: Callable[[FakeGgs, int], Awaitable[None]], *strikes: Strike) -> MoveCodec:
    """Run a test on a server that knows alice and bob; time passes only where everybody waits."""
    plan = MoveCodec(*strikes)

    async def serve() -> None:
        fake = FakeGgs(plan)
        for name in ("alice", "bob"):
            fake.central.register(name, "secret")
        async with fake.running() as port:
            await do(fake, port)

    run(serve())
    return plan


async def two(port: int, alice: Habits | None = None, bob: Habits | None = None) -> tuple[Client, Client]:
    return (
        await Client("alice", "secret", alice).connect(port, commands=PLAYS),
        await Client("bob", "secret", bob or Habits(seed=2)).connect(port, commands=PLAYS),
    )


@pytest.mark.parametrize("kind", ["8", "8b", "8w", "s8", "s8r14", "s8r20", "6", "s10"])
def test_games_of_every_kind_come_to_their_ends(kind: str) -> None:
    async def play(_: FakeGgs, port: int) -> None:
        alice, bob = await two(port)
        over = await alice.play(f"{kind} 05:00 bob")
        await bob.until(lambda: bool(bob.over))
        assert bob.over[0].outcome == over.outcome
        results = [seat.board.blacks_result * (1 if seat.black == over.first else -1) for seat in over.seats]
        assert over.outcome == f"{sum(results) / len(results):+.2f}"
        assert [seat.board.is_finished for seat in over.seats] == [True] * (1 + kind.startswith("s"))
        assert alice.duplicates == bob.duplicates == []
        await alice.close()
        await bob.close()

    served(play)


@pytest.mark.parametrize(
    ("habits", "outcome", "key"),
    [
        (Habits(resigns_at=10), "-64.00", ".0"),
        (Habits(aborts_at=10), "aborted", ""),
        (Habits(scores_at=60), "+0.00", ".0"),
        (Habits(breaks_at=10), "alice left", ".0"),
        (Habits(leaves_at=10), "alice left", ".0"),
        (Habits(stops_at=10), "-64.00", ".0"),
    ],
)
def test_every_other_end(habits: Habits, outcome: str, key: str) -> None:
    async def play(_: FakeGgs, port: int) -> None:
        alice, bob = await two(port, habits, Habits(seed=2, grants=True))
        alice.os("ask 8b 00:30//00:05 bob")
        await bob.until(lambda: bool(bob.over))
        assert (bob.over[0].outcome, bob.over[0].key) == (outcome, key)
        if habits.stops_at:
            said = "\n".join(bob.lines)
            assert said.index("/os: timeout .0 alice (*)") < said.index("/os: fatal-timeout .0 alice (*)")
        await alice.close()
        await bob.close()

    served(play)


@pytest.mark.parametrize("rated", ["+", "-"])
def test_a_lost_connection_stores_rated_games_only(rated: str) -> None:
    async def play(_: FakeGgs, port: int) -> None:
        alice, bob = await two(port, Habits(leaves_at=20))
        for client in (alice, bob):
            client.os(f"rated {rated}")
            await client.settled()
        alice.os("ask s8r14 01:00 bob")
        await bob.until(lambda: bool(bob.over))
        if rated == "-":
            assert "stored 0 bob" in await bob.answer("stored")
        else:
            moves = sum(len(seat.moves) for seat in bob.over[0].seats)
            await alice.connect(port, commands=PLAYS)
            over = await alice.play(bob.over[0].key.join(("", "")))
            # Of a move that only one game had, nothing is left.
            assert sum(len(seat.moves) for seat in over.seats) > moves
            assert all(seat.board.is_finished for seat in over.seats)
            assert over.key == bob.over[0].key
        await alice.close()
        await bob.close()

    served(play)


async def _whole_game(_: FakeGgs, port: int) -> None:
    alice, bob = await two(port)
    over = await alice.play("8 05:00 bob")
    assert over.seats[0].board.is_finished
    assert "ALERT" not in bob.lines
    await alice.close()
    await bob.close()


@pytest.mark.parametrize("fault", [Fault.SPLIT, Fault.GATHER, Fault.SLOW, Fault.ALERT])
def test_faults_that_cost_nothing(fault: Fault) -> None:
    strikes = [Strike(fault, name="alice", after=3 * number) for number in range(10)]
    assert served(_whole_game, *strikes).struck[fault] == 10


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.CLOSE, Fault.EVICT])
def test_faults_that_cost_the_connection(fault: Fault) -> None:
    async def play(fake: FakeGgs, port: int) -> None:
        alice, bob = await two(port)
        alice.os("ask 8b 05:00 bob")
        await bob.until(lambda: bool(bob.over))
        assert bob.over[0].outcome == "alice left"
        await alice.until(lambda: not alice.is_connected)
        await alice.connect(port, commands=PLAYS)
        assert (await alice.play(".0")).seats[0].board.is_finished
        assert fake.connections == 3
        await alice.close()
        await bob.close()

    served(play, Strike(fault, holding("update"), after=9, name="alice"))


def test_silence() -> None:
    async def play(_: FakeGgs, port: int) -> None:
        alice, bob = await two(port)
        alice.os("ask 8b 05:00 bob")
        with pytest.raises(TimeoutError):
            await alice.until(lambda: bool(alice.over))
        assert alice.is_connected
        await alice.close()
        await bob.until(lambda: bool(bob.over))
        assert bob.over[0].outcome == "alice left"
        await bob.close()

    served(play, Strike(Fault.SILENCE, holding("update"), after=9, name="alice"))


def test_a_restart_of_the_service() -> None:
    async def play(_: FakeGgs, port: int) -> None:
        alice, bob = await two(port)
        alice.os("ask 8b 05:00 bob")
        await alice.until(lambda: not alice.service_is_up)
        assert "ERR user '/os' not found." in "".join(await _said(alice, "tell /os stored"))
        await alice.until(lambda: alice.service_is_up)
        assert alice.over == []
        assert "stored 1 alice" in await alice.answer("stored")
        assert (await alice.play(".0")).seats[0].board.is_finished
        await alice.close()
        await bob.close()

    async def _said(client: Client, line: str) -> list[str]:
        before = len(client.blocks)
        client.say(line)
        await client.until(lambda: len(client.blocks) > before)
        return client.blocks[before:]

    served(play, Strike(Fault.RESTART, holding("update"), after=9, name="alice"))


def test_chance_strikes_the_same_blocks_by_the_same_seed() -> None:
    def drawn(seed: int) -> list[Fault | None]:
        plan = Chance(seed, {Fault.SPLIT: 0.2, Fault.CUT: 0.2}, ["alice"], {Fault.CUT: 3})
        return [plan.strike("alice", "") for _ in range(100)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert drawn(1).count(Fault.CUT) == 3
    assert Chance(1, {Fault.CUT: 1.0}, ["alice"]).strike("bob", "") is None


def test_trust_and_the_clock() -> None:
    async def play(_: FakeGgs, port: int) -> None:
        alice, bob = await two(port, Habits(stops_at=0), Habits(stops_at=0))
        alice.os("ask 8b 05:00/00:10 bob")
        await alice.until(lambda: bool(alice.seats))
        await asyncio.sleep(7.5)
        alice.os("play .0 f5/1.5/2")
        bob.os("trust -")
        await bob.settled()
        await asyncio.sleep(3.5)
        bob.os("client -")
        bob.os("play .0 d6/0.5/0.1")
        await bob.settled()
        said = "\n".join(bob.lines)
        assert "trust-violation .0 alice (*) delta= 4 + 1.6 secs" in said
        assert "update .0 f5/1.50/7.5" in said
        assert "|  2: d6/0.50/3.5" in said
        # 300 s - 7.5 s + 10 s, and 300 s - 3.5 s + 10 s.
        assert "(1720.0 *) 05:02,1:0/00:10,1:1/02:00,1:0" in said
        assert "(1720.0 O) 05:06,1:0/00:10,1:1/02:00,1:0" in said
        await alice.close()
        await bob.close()

    served(play)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("5", "05:00//02:00"),
        ("90", "01:30:00//02:00"),
        ("0:30", "00:30//02:00"),
        ("05:00/00:12", "05:00/00:12/02:00"),
        ("05:00/12/00:30", "05:00/12:00/00:30"),
        ("05:00//0", "05:00//00:00"),
        ("10000", "6.22:40:00//02:00"),
        ("1,N2/0:5,N3/4,N1", "01:00,N2/00:05,N3/04:00,N1"),
        ("5//4,N", None),
        ("x", None),
        ("5/x", None),
        ("5/1,0", None),
    ],
)
def test_clock_grammar(written: str, shown: str | None) -> None:
    limits = Limits.parse(written)
    assert (limits and str(limits)) == shown
