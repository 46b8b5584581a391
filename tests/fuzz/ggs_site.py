"""A small GGS: the fake server's central and service, faults on the bot's connection, and its opponents.

The fake service keeps its own record of every match, with which the checks compare the bot's.
"""

import asyncio
import random
import re
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from tests.fuzz.ggs_faults import Fault, Kind, Place
from tests.fuzz.one_thread import MemoryTransport
from tests.ggs.board import name as square_name
from tests.ggs.central import SERVICE, Central, Connection
from tests.ggs.clocks import US
from tests.ggs.faults import any_list
from tests.ggs.game import Game
from tests.ggs.match import Match

BOT = "Desde"
PASSWORD = "secret"
EPOCH_S = 1_795_000_000.0
"""Unix time at which every run begins."""
LISTEN_RETRY_S = 10.0
"""An opponent asks again after this time."""
PATIENCE_S = 60.0
"""An opponent withdraws a request that nobody has answered for so long."""
_SWALLOWED_S = 0.05
"""What arrived so long before the end of a connection has been read."""


class Link(asyncio.Protocol):
    """The server's end of one connection of the bot; faults happen here."""

    def __init__(self, site: "Site") -> None:
        self._site = site
        self._loop = asyncio.get_running_loop()
        self._transport: MemoryTransport
        self._connection = Connection(site.central, self._put, self._hang_up)
        self._free_at = {True: 0.0, False: 0.0}
        """When the last message on its way arrives: to the bot, and from it."""
        self._on_way: dict[bool, deque[Callable[[], None]]] = {True: deque(), False: deque()}
        """What will arrive, each way, in order; timers of the same moment have none."""
        self._late: dict[bool, list[bytes]] = {True: [], False: []}
        """Messages that others overtake: lists, and news of who is there."""
        self._must_alert = False
        self.is_open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, MemoryTransport)
        self._transport = transport
        self.is_open = True
        self._connection.greet()

    def connection_lost(self, _: Exception | None) -> None:
        self.is_open = False
        self._connection.lost()

    def data_received(self, data: bytes) -> None:
        self._later(self._receive, data, to_bot=False)

    def _receive(self, data: bytes) -> None:
        if self.is_open:
            self._connection.receive(data)

    @property
    def is_held(self) -> bool:
        """Whether something is on its way."""
        return self.is_open and (max(self._free_at.values()) > self._loop.time() or any(self._late.values()))

    def cut(self, fault: Fault) -> None:
        """Lose the connection; the server may notice that later."""
        if fault.is_unnoticed:
            lost = self._connection.lost
            self.connection_lost = lambda _: None  # type: ignore[method-assign]
            self.is_open = False
            self._loop.call_later(fault.delay_s * 5, lost)
        self._transport.abort()

    def _hang_up(self) -> None:
        self._transport.close()

    def _later(self, do: Callable[[bytes], None], data: bytes, *, to_bot: bool) -> None:
        """Do something with a message when it arrives."""
        now = self._loop.time()
        due = max(now, self._free_at[to_bot])
        if fault := self._site.hit(Kind.HANG):
            if fault.is_for_good:  # without acknowledgements the other way ends, too
                self._free_at = dict.fromkeys(self._free_at, float("inf"))
            due = max(self._free_at[to_bot], fault.ends_s + self._site.began)
        elif fault := self._site.hit(Kind.DELAY):
            due = max(due, now + fault.delay_s)
        self._free_at[to_bot] = due
        if due <= now:
            do(data)
        elif due < float("inf"):
            self._on_way[to_bot].append(partial(do, data))
            self._loop.call_at(due, lambda: self._on_way[to_bot].popleft()())

    # --- What the server says ---------------------------------------------------------------------------

    def _put(self, data: bytes) -> None:
        text = data.decode("latin-1")
        self._site.calls[Place.LINK] += 1
        if self._connection.is_online:
            # Without its request nothing tells whether a match is new.
            if not re.match(r"\s*/os: \+ +\.", text) and self._site.hit(Kind.LOSE, text):
                self._must_alert = True
                self._site.lost_at = self._site.now
                return
            if self._must_alert or self._site.hit(Kind.ALERT):
                alert = re.sub(r"READY\r\n$", "ALERT\r\n", text)
                self._must_alert = self._must_alert and alert == text
                text = alert
            kinds = _late_kind(text)
            if kinds is None and re.search(rf": [+-] {SERVICE}\b", text):
                self._let_go(True)
                self._let_go(False)
            elif kinds is not None and (self._late[kinds] or self._site.hit(Kind.REORDER, text)):
                self._overtaken(kinds, text.encode("latin-1"))
                return
        self._send(text.encode("latin-1"))

    def _overtaken(self, kind: bool, data: bytes) -> None:
        if not self._late[kind]:
            self._loop.call_later(self._site.rng.uniform(0.2, 8.0), self._let_go, kind)
        self._late[kind].append(data)

    def _let_go(self, kind: bool) -> None:
        late, self._late[kind] = self._late[kind], []
        for data in late:
            self._send(data)

    def _send(self, data: bytes) -> None:
        told = self._site.meaning(data.decode("latin-1"))

        def write(data: bytes) -> None:
            if self.is_open:
                self._transport.write(data)
                self._loop.call_later(_SWALLOWED_S, read)

        def read() -> None:
            if self.is_open and told is not None:
                self._site.told.add(told)

        self._later(write, data, to_bot=True)


def _late_kind(text: str) -> bool | None:
    """Of the messages that may come late: a list (True), or news of who is there; None: neither."""
    if any_list(text):
        return True
    return False if re.match(rf"\s*: [+-] (?!{SERVICE}\b)", text) else None


@dataclass(slots=True)
class Person:
    """An opponent: asks for one match, plays it to its end, and takes it up again when it was adjourned."""

    name: str
    wish: str
    """``s8r14 05:00/00:03``."""
    is_rated: bool
    resigns_at: int
    """Plies of both games together."""
    stops_at: int
    """Plies of both games together after which its clocks run out."""
    asks_to_resume: bool
    """Otherwise it waits for the bot to ask."""
    is_playable: bool
    """The bot plays what it wishes for."""
    thinks_s: float
    rng: random.Random
    connection: Connection | None = None
    asked_at: float = -LISTEN_RETRY_S
    moves_at: dict[tuple[str, int], float] = field(default_factory=dict)
    """When it will send its move, by the game and the ply."""
    was_refused: bool = False
    is_away_until: float = 0.0


class Site:
    """The server, its players, and the faults.

    Args:
        faults: With times in seconds since the site was made.
        rng: Source of everything that is random.
    """

    def __init__(self, faults: Sequence[Fault], rng: random.Random) -> None:
        self._loop = asyncio.get_running_loop()
        self.began = self._loop.time()
        self._faults = faults
        self.rng = rng
        self.central = Central(lambda: round((EPOCH_S + self.now) * US), rng.randrange(2**32))
        self.central.register(BOT, PASSWORD)
        self.service = self.central.service
        self.people: list[Person] = []
        self.story: list[str] = []
        self.injected: Counter[tuple[Kind, Place]] = Counter()
        self.calls: Counter[Place] = Counter()
        self.told: set[tuple[str, str]] = set()
        """What the bot has read: the kind of line, and the match's key or board."""
        self.lost_at: float | None = None
        """When a message was dropped last."""
        self.link_fault_at = 0.0
        """When the connection was under a fault, or lost, for the last time."""
        self._links: list[Link] = []
        self._events = sorted(
            (event for fault in faults for event in self._events_of(fault)), key=lambda event: event[0]
        )

    @property
    def now(self) -> float:
        """Seconds since the beginning."""
        return self._loop.time() - self.began

    def tell(self, what: str) -> None:
        """Add to the story of this run."""
        self.story.append(f"{self.now:7.2f} {what}")

    # --- Faults -----------------------------------------------------------------------------------------

    def _active(self, fault: Fault) -> bool:
        return fault.begins_s <= self.now < fault.ends_s

    def hit(self, kind: Kind, text: str = "") -> Fault | None:
        """The fault that hits a message."""
        for fault in self._faults:
            if fault.kind is kind and self._active(fault) and self.rng.random() < fault.share:
                self.injected[kind, fault.place] += 1
                if text:
                    self.tell(f"  {kind}: {' '.join(text.split())[:70]}")
                return fault
        return None

    def _events_of(self, fault: Fault) -> list[tuple[float, Callable[[], None]]]:
        """What a fault does at certain times."""
        match fault.kind, fault.place:
            case Kind.CUT | Kind.REFUSED, _:
                times = [fault.begins_s]
                while fault.kind is Kind.CUT and times[-1] < fault.ends_s:
                    times.append(times[-1] + self.rng.uniform(0.5, 2 * fault.delay_s))
                return [(at, lambda: self._cut(fault)) for at in times if at < fault.ends_s]
            case _, Place.SERVICE:
                return [(fault.begins_s, self._stop_service), (fault.ends_s, self._start_service)]
            case _, Place.OPPONENT:
                return [(fault.begins_s, lambda: self._send_away(fault))]
        return []

    def _cut(self, fault: Fault) -> None:
        for link in self.open_links:
            self.injected[fault.kind, fault.place] += 1
            self.tell(f"  {fault.kind}: the connection is lost")
            link.cut(fault)

    def _stop_service(self) -> None:
        if self.central.service_is_up:
            self.injected[Kind.GONE, Place.SERVICE] += 1
            self.tell("  the service goes")
            self.central.stop_service()

    def _start_service(self) -> None:
        others = (fault for fault in self._faults if fault.place is Place.SERVICE)
        if not self.central.service_is_up and not any(map(self._active, others)):
            self.tell("  the service is back")
            self.central.start_service()

    def _send_away(self, fault: Fault) -> None:
        for person in self.people:
            if person.connection is not None and self.rng.random() < fault.share:
                self.injected[fault.kind, fault.place] += 1
                self.tell(f"  {person.name} leaves")
                person.is_away_until = float("inf") if fault.is_for_good else fault.ends_s
                person.connection.close()
                person.connection = None

    @property
    def is_troubled(self) -> bool:
        """Whether something keeps the bot from playing just now."""
        return (
            any(fault.place is Place.LINK and self._active(fault) for fault in self._faults)
            or any(link.is_held for link in self._links)
            or not self.bot_is_ready
        )

    @property
    def open_links(self) -> list[Link]:
        return [link for link in self._links if link.is_open]

    @property
    def bot_is_ready(self) -> bool:
        """Whether the service knows the bot, which is connected, and that it plays."""
        is_there = bool(self.open_links) and BOT in self.service.present
        return is_there and self.service.players[BOT].open > 0

    async def dial(self, *_: object) -> asyncio.Protocol:
        """A new connection of the bot."""
        if fault := self.hit(Kind.HANG):
            await asyncio.sleep(1e6 if fault.is_for_good else fault.ends_s - self.now)
        elif fault := self.hit(Kind.DELAY):
            await asyncio.sleep(fault.delay_s)
        if self.hit(Kind.REFUSED):
            raise ConnectionRefusedError
        self.tell("the bot connects")
        self._links = [*self.open_links, Link(self)]
        return self._links[-1]

    def meaning(self, text: str) -> tuple[str, str] | None:
        """What a line says of a match: its kind, and the board or match by a key that lasts."""
        found = re.match(r"\s*/os: (join|update|- match|\+ match) +(\.\d+)(\.\d)?", text)
        if found is None:
            return None
        match = next((match for match in reversed(self.service.begun) if match.id == found[2]), None)
        return None if match is None else (found[1], match.key + (found[3] or ""))

    # --- Time -------------------------------------------------------------------------------------------

    def tick(self) -> None:
        """Do what is due."""
        while self._events and self._events[0][0] <= self.now:
            self._events.pop(0)[1]()
        before = {match.key: self._shown(match) for match in self.service.matches.values()}
        if any(fault.place is not Place.OPPONENT and self._active(fault) for fault in self._faults):
            self.link_fault_at = self.now
        self.service.tick()
        for person in self.people:
            self._live(person)
        for match in self.service.begun:
            shown = self._shown(match)
            if before.get(match.key, "") != shown and not match.is_over:
                self.tell(f"{match.key}: {shown}")

    @staticmethod
    def _shown(match: Match) -> str:
        return (
            f"{match.names[0]} and {match.names[1]}, {' and '.join(str(len(g.moves)) for g in match.games)}"
        )

    # --- Opponents --------------------------------------------------------------------------------------

    def add(self, person: Person) -> None:
        """Somebody new, who will log in."""
        self.central.register(person.name, PASSWORD)
        self.people.append(person)

    def matches_of(self, name: str) -> list[Match]:
        """The latest record of each match of somebody."""
        latest = {match.key: match for match in self.service.begun if name in match.names}
        return list(latest.values())

    def is_done(self, person: Person) -> bool:
        """Whether nothing more will happen with somebody."""
        if person.was_refused or person.is_away_until == float("inf"):
            return not any(person.name in match.names for match in self.service.matches.values())
        matches = self.matches_of(person.name)
        return bool(matches) and all(match.is_over and not self.is_stored(match) for match in matches)

    def was_read(self, key: str) -> bool:
        """Whether the bot has read where a match stands."""
        return any(("join", board) in self.told for board in (key, f"{key}.0", f"{key}.1"))

    def is_stored(self, match: Match) -> bool:
        """Whether a match can be taken up again."""
        return match.key in self.service.players[match.names[0]].stored

    def _live(self, person: Person) -> None:
        if person.connection is None:
            if self.now < person.is_away_until:
                return
            person.connection = Connection(self.central, lambda _: None, lambda: None)
            person.connection.receive(f"{person.name}\r\n{PASSWORD}\r\n".encode("latin-1"))
            self.tell(f"{person.name} is here")
        if not self.central.service_is_up:
            return

        def say(line: str) -> None:
            self.service.command(person.name, line)

        if self.service.players[person.name].open == 0:
            for line in ("open 5", "client +", f"rated {'+' if person.is_rated else '-'}"):
                say(line)
        for request in list(self.service.requests.values()):
            if request.other == person.name:
                say(f"accept {request.id}")
            elif request.asker == person.name and self.now - person.asked_at > PATIENCE_S:
                say(f"cancel {request.id}")
        live = [match for match in self.service.matches.values() if person.name in match.names]
        for match in live:
            self._play(person, match, say)
        if not live and not self.is_done(person):
            self._wish(person, say)

    def _wish(self, person: Person, say: Callable[[str], None]) -> None:
        is_waiting = any(request.asker == person.name for request in self.service.requests.values())
        if not is_waiting and person.asked_at >= 0 and not person.is_playable:
            person.was_refused = True
            self.tell(f"{person.name} gives up")
            return
        if is_waiting or not self.bot_is_ready or self.now - person.asked_at < LISTEN_RETRY_S:
            return
        stored = list(self.service.players[person.name].stored)
        if stored and (person.asks_to_resume or not self.was_read(stored[0])):
            say(f"ask {stored[0]}")
        elif not stored:
            say(f"ask {person.wish} {BOT}")
        else:
            return
        person.asked_at = self.now
        self.tell(f"{person.name} asks {'to resume' if stored else person.wish}")

    def _play(self, person: Person, match: Match, say: Callable[[str], None]) -> None:
        plies = sum(len(game.moves) for game in match.games)
        if plies >= person.stops_at:
            return
        if plies >= person.resigns_at:
            self.tell(f"{person.name} resigns")
            say(f"resign {match.id}")
            return
        me = match.names.index(person.name)
        for game in match.games:
            if match.is_over or game.is_finished or game.mover != me or not game.clocks[me].running:
                continue
            due = self._due(person, match, game)
            if self.now >= due:
                moves = game.board.moves()
                say(f"play {game.id} {square_name(person.rng.choice(moves)) if moves else 'PA'}")

    def _due(self, person: Person, match: Match, game: Game) -> float:
        key = (f"{match.id}{match.key}.{game.number}", len(game.moves))
        return person.moves_at.setdefault(key, self.now + person.rng.uniform(0.0, person.thinks_s))
