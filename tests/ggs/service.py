"""The Othello service ``/os``: settings, requests, matches, the store and the archive."""

import random
import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from tests.ggs.board import Board
from tests.ggs.clocks import US, Limits
from tests.ggs.game import GameType, Refused, Told
from tests.ggs.match import Match, Stored, Terms
from tests.ggs.rating import Rating, outcome, rate

Send = Callable[[str, str], None]
"""Name, text: what the service says to one user."""


_COMMANDS = (
    "abort", "accept", "aform", "ask", "assess", "bell", "break", "cancel", "client", "continue", "decline",
    "dform", "finger", "hear", "help", "history", "look", "match", "moves", "notify", "open", "play", "rank",
    "rated", "request", "resign", "score", "stored", "tell", "top", "track", "trust", "undo", "vt100",
    "watch", "who",
)  # fmt: skip


class Ids:
    """Numbers for requests, and for matches: the one that has been free for longest is used again.

    New ones are added by eights while fewer than 64 are free, behind those that were given back meanwhile; so
    an early number comes again sooner than one would think: ``.0`` after ``.15``.
    """

    def __init__(self) -> None:
        self._free = deque(range(8))
        self._beyond = 8

    def take(self) -> str:
        if len(self._free) < 64:
            self._free.extend(range(self._beyond, self._beyond + 8))
            self._beyond += 8
        return f".{self._free.popleft()}"

    def give_back(self, text: str) -> None:
        self._free.append(int(text[1:]))

    def next_is(self, *numbers: int) -> None:
        """For dialogues that begin in the middle."""
        last = max(numbers)
        self._free = deque([*numbers, *range(last + 1, last + 64)])
        self._beyond = last + 64


@dataclass(slots=True)
class Player:
    """What the service knows of one user; the settings of an unregistered one go with the connection."""

    name: str
    level: int = 0
    """0: unregistered, 1: user, 2: admin, 3: root."""
    open: int = 0
    client: bool = False
    trust: bool = False
    rated: bool = False
    bell: str = "-r -p -w -n -ns -nn -nt -ni -nr -nw -ta -to -tp"
    vt100: bool = False
    hear: bool = True
    hears_stored: bool = False
    hears_requests: bool = False
    hears_watchers: bool = False
    star_notify: bool = False
    star_track: bool = False
    notify: set[str] = field(default_factory=set)
    track: set[str] = field(default_factory=set)
    watch: set[str] = field(default_factory=set)
    accepts: str = ""
    declines: str = ""
    ratings: dict[str, Rating] = field(default_factory=dict)
    stored: dict[str, Stored] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Request:
    """Somebody's wish for a match; without `other` it is for everybody."""

    id: str
    asker: str
    other: str | None
    type: GameType
    rated: bool
    limits: tuple[Limits, Limits]
    """The asker's, and the other's."""
    key: str = ""
    """Of the stored match that it would take up."""

    def same_as(self, other: "Request") -> bool:
        """Asked a second time."""
        return (self.type, self.rated, self.asker, self.other, self.limits) == (
            other.type,
            other.rated,
            other.asker,
            other.other,
            other.limits,
        )

    def crosses(self, other: "Request") -> bool:
        """Both ask each other for the same."""
        return (
            self.key == other.key
            and self.rated == other.rated
            and self.limits == (other.limits[1], other.limits[0])
            and self.type.fits(other.type)
            and self.asker != other.asker
            and self.other in (other.asker, None)
            and other.other in (self.asker, None)
        )


def _cut(game_id: str) -> str:
    """A match's id of a game's: ``.3`` of ``.3.0``."""
    return game_id[:1] + game_id[1:].partition(".")[0]


class Service:
    """Everything behind ``tell /os``.

    Args:
        send: Brings a text to a user, for instance by `Central`.
        now_us: Unix time in microseconds.
        chance: For colours and random starts.
    """

    def __init__(self, send: Send, now_us: Callable[[], int], chance: random.Random) -> None:
        self._send = send
        self.now_us = now_us
        self._chance = chance
        self.players: dict[str, Player] = {}
        """Everybody that was ever here and is registered, and who is here."""
        self.present: set[str] = set()
        self.requests: dict[str, Request] = {}
        self.matches: dict[str, Match] = {}
        self.begun: list[Match] = []
        """Every match that ever began or was taken up, the latest last."""
        self.archive: dict[str, str] = {}
        self.next_key = 0
        self.request_ids = Ids()
        self.match_ids = Ids()
        self.asker_is_black: Callable[[], bool] = lambda: chance.random() < 0.5
        self.random_start: Callable[[int, int], Board] = lambda size, discs: Board.random(size, discs, chance)
        self._commands: dict[str, Callable[[Player, str], None]] = {
            name: getattr(self, f"_do_{name}") for name in _COMMANDS
        }

    # --- Comings and goings -----------------------------------------------------------------------------

    def arrive(self, name: str, level: int) -> None:
        """A user has logged in, or the service has found one there when it started."""
        player = self.players.get(name)
        if player is None or level == 0:
            player = self.players[name] = Player(name)
        player.level = level
        self.present.add(name)
        self._tell_of_stored(player)

    def promote(self, name: str, level: int) -> None:
        """An admin has registered somebody who is here."""
        if name in self.players:
            self.players[name].level = level

    def leave(self, name: str) -> None:
        """The connection is gone: requests are withdrawn, matches adjourned."""
        if name not in self.present:
            return
        # The server tells those who stay; one who is gone hears nothing more.
        self.present.discard(name)
        self._drop_requests(name)
        for match in list(self.matches.values()):
            if name in match.names:
                match.adjourn(name, gone=True)
            match.watchers.discard(name)
        self.players[name].watch.clear()

    def stop(self) -> None:
        """The process ends: matches are stored, requests lost, and nobody is told."""
        self.present.clear()
        for match in list(self.matches.values()):
            match.adjourn(match.names[0], gone=True)
        self.requests.clear()
        self.request_ids, self.match_ids = Ids(), Ids()
        for player in self.players.values():
            player.watch.clear()

    def tick(self) -> None:
        """Look at the clocks whose time has come."""
        for match in list(self.matches.values()):
            match.tick()

    @property
    def next_due_us(self) -> int | None:
        """When `tick` has something to do."""
        return min(
            (due for match in self.matches.values() for game in match.games for due in game.due_us.values()),
            default=None,
        )

    def _tell_of_stored(self, player: Player) -> None:
        others = {name for stored in player.stored.values() for name in stored.terms.names} - {player.name}
        here = sorted(others & self.present)
        if player.hears_stored and here:
            self._say(player, "\n".join(f"+ {name} stored" for name in here))
        # The server's own mistake: it is not the waiting opponent who is told, but who comes, of himself.
        if any(self.players[name].hears_stored for name in here):
            self._say(player, f"+ {player.name} stored")

    # --- Saying -----------------------------------------------------------------------------------------

    def _say(self, player: Player, text: str) -> None:
        if player.name in self.present:
            self._send(player.name, text)

    def tell(self, names: Iterable[str], told: Told) -> None:
        for name in sorted(names):
            if name in self.present:
                player = self.players[name]
                self._say(player, told.client if player.client else told.plain)

    def command(self, name: str, line: str) -> None:
        """One line after ``tell /os``."""
        word, _, rest = line.strip().partition(" ")
        player = self.players[name]
        do = self._commands.get(word)
        if do is None:
            self._say(player, f"ERR command '{word}' not recognized.")
            return
        try:
            do(player, rest.strip())
        except Refused as error:
            self._say(player, str(error))

    # --- Settings ---------------------------------------------------------------------------------------

    @staticmethod
    def _switched(word: str, now: bool, text: str) -> bool:
        if text not in ("", "+", "-"):
            raise Refused(f"ERR {word} [+|-].")
        return not now if not text else text == "+"

    def _do_open(self, player: Player, text: str) -> None:
        if not text.isdecimal():
            raise Refused(f"ERR open <n != {text}>.")
        player.open = int(text)
        self._drop_if_full(player)

    def _do_client(self, player: Player, text: str) -> None:
        player.client = self._switched("client", player.client, text)

    def _do_trust(self, player: Player, text: str) -> None:
        player.trust = self._switched("trust", player.trust, text)

    def _do_vt100(self, player: Player, text: str) -> None:
        player.vt100 = self._switched("vt100", player.vt100, text)

    def _do_hear(self, player: Player, text: str) -> None:
        player.hear = self._switched("hear", player.hear, text)

    def _do_rated(self, player: Player, text: str) -> None:
        if player.level < 1:
            raise Refused("ERR you are not registered.")
        player.rated = self._switched("rated", player.rated, text)

    def _do_bell(self, player: Player, text: str) -> None:
        flags = dict.fromkeys(part[1:] for part in player.bell.split())
        if not text or not all(part[0] in "+-" and part[1:] in flags for part in text.split()):
            raise Refused("ERR bell (+|-)(r|p|w|n|ns|nn|nt|ni|nr|nw|ta|to|tp).")
        for part in text.split():
            player.bell = re.sub(rf"[+-]{part[1:]}\b", part, player.bell)

    def _do_aform(self, player: Player, text: str) -> None:
        player.accepts = text  # kept and shown; nothing here is accepted or declined by it

    def _do_dform(self, player: Player, text: str) -> None:
        player.declines = text

    def _do_notify(self, player: Player, text: str) -> None:
        self._follow(player, "notify", text)

    def _do_track(self, player: Player, text: str) -> None:
        self._follow(player, "track", text)

    def _follow(self, player: Player, what: str, text: str) -> None:
        names: set[str] = getattr(player, what)
        sign, _, rest = text.partition(" ")
        if not text:
            self._say(player, f"{what} {len(names)} : {' '.join(sorted(names))}")
        for name in rest.split():
            if name == "*":
                setattr(player, f"star_{what}", sign == "+")
            elif sign == "+":
                names.add(name)
                for match in self.matches.values() if what == "track" else ():
                    if name in match.names and player.name not in match.names:
                        match.watchers.add(player.name)
                        player.watch.add(match.id)
                        match.join(player.name)
            else:
                names.discard(name)

    # --- Requests ---------------------------------------------------------------------------------------

    def _busy(self, name: str) -> int:
        return sum(name in match.names for match in self.matches.values())

    def _is_full(self, player: Player) -> bool:
        return player.open <= self._busy(player.name)

    def _drop_if_full(self, player: Player) -> None:
        if self._is_full(player):
            self._drop_requests(player.name)

    def _drop_requests(self, name: str) -> None:
        def rank(request: Request) -> tuple[int, str]:
            return (2 if not request.other else 1 if request.asker == name else 0, request.id)

        mine = [request for request in self.requests.values() if name in (request.asker, request.other)]
        # From the end of each list, and ids are sorted as text.
        for request in sorted(mine, key=rank, reverse=True):
            self._withdraw(request)

    def _withdraw(self, request: Request) -> None:
        if self.requests.pop(request.id, None):
            self._tell_request(request, "-")
            self.request_ids.give_back(request.id)

    def _line(self, request: Request) -> str:
        def who(name: str) -> str:
            return f"{self.rating(name, request.type.pool):6.1f} {name:8}"

        mine, theirs = request.limits
        flag = "S" if request.key else "R" if request.rated else "U"
        text = f"{request.id:>4} {who(request.asker)} {mine} {request.type!s:>8} {flag} "
        text += who(request.other) if request.other else "*      *       "
        if mine != theirs:
            text += f" {theirs}"
        return text + (f" {request.key}" if request.key else "")

    def _tell_request(self, request: Request, sign: str) -> None:
        names = {request.asker, request.other} - {None}
        if request.other is None:
            names |= {
                player.name
                for name in self.present
                if (player := self.players[name]).hears_requests
                and player.rated == request.rated
                and not self._is_full(player)
            }
        text = f"{sign} {self._line(request)}"
        self.tell((name for name in names if name), Told.same(text))

    def _read_request(self, player: Player, text: str) -> Request:
        word, _, rest = text.partition(" ")
        if word.startswith("."):
            stored = player.stored.get(word)
            if stored is None:
                raise Refused(f"ERR no archived match '{word}' found.")
            one, two = stored.terms.names
            other = two if one == player.name else one
            if other not in self.present:
                raise Refused(f"ERR no opponent present for archived match '{word}'.")
            limits = stored.terms.limits
            return Request("", player.name, other, stored.terms.type, True, limits, word)
        kind = GameType.parse(word)
        rest = rest.strip()
        mine = theirs = Limits()
        word, _, more = rest.partition(" ")
        limits_asked = Limits.parse(word) if word else None
        if limits_asked is not None:
            mine = theirs = limits_asked
            rest = more.strip()
            word, _, more = rest.partition(" ")
            limits_asked = Limits.parse(word) if word else None
            if limits_asked is not None:
                theirs, rest = limits_asked, more.strip()
        if not rest:
            return Request("", player.name, None, kind, player.rated, (mine, theirs))
        if rest not in self.present:
            raise Refused(f"ERR user '{rest}' not found.")
        return Request("", player.name, rest, kind, player.rated and rest != player.name, (mine, theirs))

    def _do_ask(self, player: Player, text: str) -> None:
        if not text:
            raise Refused("ERR ask <.stored> | <type> <myclock> [ oppclock [ opponent ] ].")
        if self._is_full(player):
            raise Refused("ERR Your open value is too low for new matches.")
        request = self._read_request(player, text)
        if request.other is not None:
            other = self.players[request.other]
            if player.rated and not other.rated:
                raise Refused("ERR rated variable mismatch.")
            if self._is_full(other):
                raise Refused("ERR Player is not accepting new matches.")
        same = [old for old in self.requests.values() if (old.other is None) == (request.other is None)]
        if any(request.same_as(old) for old in same):
            raise Refused("ERR match with same parameters is already pending.")
        for old in [*same, *(old for old in self.requests.values() if old not in same)]:
            if old.crosses(request):
                self._start(old, old.asker, player.name)
                return
        if request.other == player.name:
            self._start(request, player.name, player.name)
            return
        request.id = self.request_ids.take()
        self.requests[request.id] = request
        self._tell_request(request, "+")

    def _do_continue(self, player: Player, _: str) -> None:
        for key in list(player.stored):
            if self._is_full(player):
                return
            try:
                self._do_ask(player, key)
            except Refused:
                continue

    def _do_accept(self, player: Player, text: str) -> None:
        if not text:
            raise Refused("ERR accept <id>.")
        request = self.requests.get(text)
        if request is None or request.other not in (None, player.name, None):
            raise Refused(f"ERR request '{text}' not found.")
        if request.asker == player.name:
            raise Refused("ERR you cannot accept your own match request.")
        self._start(request, request.asker, player.name)

    def _do_decline(self, player: Player, text: str) -> None:
        unknown = set()
        for word in sorted({*text.split()}):
            if word.startswith("."):
                request = self.requests.get(word)
                if request is None or request.other != player.name:
                    unknown.add(word)
                else:
                    self._withdraw(request)
            elif word not in self.present:
                unknown.add(word)
            else:
                # The server goes on through a list from which it takes meanwhile, beyond its new end, where
                # the last one still lies: of two both go, of three the second stays.
                mine = sorted(old.id for old in self.requests.values() if old.other == player.name)
                size = len(mine)
                for at in range(size):
                    old = self.requests.get(mine[at])
                    if old and old.asker == word:
                        gone = mine.index(old.id)
                        mine[gone : size - 1] = mine[gone + 1 : size]
                        size -= 1
                        self._withdraw(old)
        if unknown:
            raise Refused(f"decline ERR not found: {' '.join(sorted(unknown))}")

    def _do_cancel(self, player: Player, text: str) -> None:
        unknown = set()
        for word in sorted({*text.split()}):
            request = self.requests.get(word)
            if word.startswith("."):
                if request is None or request.asker != player.name:
                    unknown.add(word)
                else:
                    self._withdraw(request)
            elif word not in self.present:
                unknown.add(word)
            # By name it does nothing at all.
        if unknown:
            raise Refused(f"cancel ERR not found: {' '.join(sorted(unknown))}")

    def _do_request(self, player: Player, text: str) -> None:
        if text in ("+", "-"):
            player.hears_requests = text == "+"
            return
        mine = sorted(self.requests.values(), key=lambda request: request.id)
        received = [request for request in mine if request.other == player.name]
        sent = [request for request in mine if request.asker == player.name]
        everybody = [request for request in mine if request.other is None]
        # Shown are those that the other's formula would accept, and an empty one accepts nothing.
        counts = [f"{word}({len(some)}/{len(some)})" for word, some in (("recv", received), ("send", sent))]
        lines = [f"request glob(0/{len(everybody)}) {' '.join(counts)}"]
        for title, some in (("recv", received), ("sent", sent)):
            if some:
                lines += [f"{title} {len(some)}", *(self._line(request) for request in some)]
        self._say(player, "\n".join(lines))

    # --- Matches ----------------------------------------------------------------------------------------

    def _start(self, request: Request, asker: str, other: str) -> None:
        if request.type.komi or request.type.size == 88:
            raise Refused(f"this fake plays no {request.type}")
        stored = self.players[asker].stored.get(request.key)
        terms = stored.terms if stored else Terms(request.type, request.rated, (asker, other), request.limits)
        if stored:
            for name in terms.names:
                self.players[name].stored.pop(request.key, None)
            key = request.key
        else:
            key, self.next_key = f".{self.next_key}", self.next_key + 1
        match = Match(self, self.match_ids.take(), key, terms)
        self.matches[match.id] = match
        self.begun.append(match)
        if stored:
            match.resume(stored)
        else:
            size, discs = request.type.size, request.type.discs
            match.begin(
                Board.usual(size) if discs is None else self.random_start(size, discs), self.asker_is_black
            )
        trackers = set(self._followers(match, "track")) - {*terms.names}
        self.tell(
            {*terms.names, *self._followers(match, "notify"), *trackers}, Told.same(f"+ match {match.head}")
        )
        for name in trackers:
            match.watchers.add(name)
            self.players[name].watch.add(match.id)
        for name in sorted({*terms.names, *trackers}):
            match.join(name)
        self._withdraw(request)
        for name in dict.fromkeys(terms.names):
            self._drop_if_full(self.players[name])

    def _followers(self, match: Match, what: str) -> list[str]:
        return [
            name
            for name in self.present
            if getattr(player := self.players[name], f"star_{what}") or getattr(player, what) & {*match.names}
        ]

    def rating(self, name: str, pool: str) -> float:
        return self._rating(name, pool).rank

    def _rating(self, name: str, pool: str) -> Rating:
        return self.players[name].ratings.get(pool) or Rating()

    def trusts(self, name: str) -> bool:
        return self.players[name].trust

    def ended(self, match: Match) -> None:
        """Archive or store it, and tell."""
        self.matches.pop(match.id)
        self.match_ids.give_back(match.id)
        everybody = {
            *match.names,
            *match.watchers,
            *self._followers(match, "track"),
            *self._followers(match, "notify"),
        }
        rated, now = match.terms.rated, self.now_us() // US
        head = match.head
        if match.is_aborted:
            outcome = "aborted"
        elif match.left is not None:
            outcome = f"{match.left} left" + (f" {match.key}" if rated else "")
            if rated:
                stored = match.stored(now)
                for name in match.names:
                    self.players[name].stored[match.key] = stored
        else:
            outcome = f"{match.result0:+.2f} " + (f" {match.key}" if rated else "")
            if rated:
                self._archive(match, now)
                head = match.head
        for name in match.watchers:
            self.players[name].watch.discard(match.id)
        self.tell(everybody, Told.same(f"- match {head} {outcome}"))

    def _archive(self, match: Match, now: int) -> None:
        pool, discs = match.type.pool, match.result0
        players = [self.players[name] for name in match.names]
        ratings = [player.ratings.setdefault(pool, Rating()) for player in players]
        before = [(rating.rank, rating.deviation_at(now)) for rating in ratings]
        self.archive[match.key] = match.record()
        stamp = datetime.fromtimestamp(now, UTC).strftime("%d %b %Y %H:%M:%S")
        line = f"{match.key:8} {stamp:20} "
        for (rank, _), player in zip(before, players, strict=True):
            line += f"{rank:4.0f} {player.name:8} "
        for player in players:
            player.history.append(f"{line}{discs:+6.1f} {match.type}")
        rate(discs, ratings[0], ratings[1], now)
        lines = [f"rating_update {match.id}"]
        for (rank, deviation), rating, player in zip(before, ratings, players, strict=True):
            lines.append(
                f"{player.name:8} {rank:7.2f} @ {deviation:6.2f}  {rating.rank - rank:+7.2f}"
                f" -> {rating.rank:7.2f} @ {rating.deviation_at(now):6.2f}"
            )
        self.tell({*match.names, *match.watchers}, Told.same("\n".join(lines)))

    def _mine(self, player: Player, word: str, text: str) -> tuple[Match, str]:
        """A match by its id, or the only one; and the id."""
        ids = text.split()
        playing = [match for match in self.matches.values() if player.name in match.names]
        if not ids and len(playing) == 1:
            ids = [playing[0].id]
        if len(ids) != 1:
            raise Refused(f"ERR {word} <match>.")
        return self._match(ids[0], of=playing, shown=text), ids[0]

    @staticmethod
    def _match(text: str, *, of: Iterable[Match], shown: str) -> Match:
        number = _cut(text)
        for match in of:
            if match.id == number:
                return match
        raise Refused(f"ERR match '{shown}' not found.")

    def _do_play(self, player: Player, text: str) -> None:
        if not text:
            raise Refused("ERR play <match> <move> [eval] [time].")
        playing = [match for match in self.matches.values() if player.name in match.names]
        if not text.startswith(".") and len(playing) == 1:
            playing[0].play(player.name, playing[0].id, text)
            return
        game_id, _, move = text.partition(" ")
        self._match(game_id, of=playing, shown=_cut(game_id)).play(player.name, game_id, move.strip())

    def _do_undo(self, player: Player, text: str) -> None:
        match, game_id = self._mine(player, "undo", text)
        match.undo(player.name, game_id)

    def _do_abort(self, player: Player, text: str) -> None:
        self._mine(player, "abort", text)[0].abort(player.name)

    def _do_break(self, player: Player, text: str) -> None:
        self._mine(player, "break", text)[0].adjourn(player.name)

    def _do_resign(self, player: Player, text: str) -> None:
        self._mine(player, "resign", text)[0].resign(player.name)

    def _do_score(self, player: Player, text: str) -> None:
        words = text.split()
        playing = [match for match in self.matches.values() if player.name in match.names]
        if len(words) == 1 and not text.startswith(".") and len(playing) == 1:
            words.insert(0, playing[0].id)
        if len(words) != 2:
            raise Refused("ERR score <id> <your score>.")
        self._match(words[0], of=playing, shown=words[0]).score(player.name, words[0], words[1])

    def _do_moves(self, player: Player, text: str) -> None:
        ids = text.split()
        if not ids:
            match, _ = self._mine(player, "moves", text)
        elif len(ids) == 1:
            match = self._match(ids[0], of=self.matches.values(), shown=ids[0])
        else:
            raise Refused("ERR moves <match>.")
        match.join(player.name)

    def _do_watch(self, player: Player, text: str) -> None:
        sign, _, rest = text.partition(" ")
        if sign in ("+", "-") and not rest:
            player.hears_watchers = sign == "+"
            return
        unknown = []
        for word in sorted({*rest.split()}):
            number = _cut(word)
            match = self.matches.get(number)
            if match is None:
                unknown.append(number)
            elif sign == "-":
                match.watchers.discard(player.name)
                player.watch.discard(number)
            elif player.name not in match.names:
                match.watchers.add(player.name)
                player.watch.add(number)
                match.join(player.name)
        if unknown:
            raise Refused(f"watch {sign} ERR not found: {' '.join(unknown)}")

    def _do_tell(self, player: Player, text: str) -> None:
        word, _, rest = text.partition(" ")
        whom = "A"
        if word in ("a", "o", "p"):
            whom = word.upper()
            word, _, rest = rest.strip().partition(" ")
        if not word:
            raise Refused("ERR tell [o] <.id> [mssg].")
        playing = [match for match in self.matches.values() if player.name in match.names]
        if not word.startswith(".") and len(playing) == 1:
            # The server's own mistake: the first word of what is said is lost.
            match, word = playing[0], playing[0].id
        else:
            match = self._match(word, of=self.matches.values(), shown=word)
        names = {*(match.names if whom != "O" else ()), *(match.watchers if whom != "P" else ())} - {
            player.name
        }
        rank = self.rating(player.name, match.type.pool)
        self.tell(names, Told.same(f"{word} {whom} {rank:4.0f} {player.name}: {rest.strip()}"))

    # --- Queries ----------------------------------------------------------------------------------------

    def _do_match(self, player: Player, text: str) -> None:
        ids = text.split()
        found = [
            match for match in self.matches.values() if not ids or match.id in ids or {*ids} & {*match.names}
        ]
        lines = [f"match {len(found)}/{len(self.matches)}"]
        for match in sorted(found, key=lambda match: match.id):
            (one, two), flag = match.names, "R" if match.terms.rated else "U"
            lines.append(
                f"{match.id:>4} {match.rating(0):4.0f} {one:8} {match.rating(1):4.0f} {two:8} "
                f"{match.type!s:>8}  {flag} {len(match.watchers)}"
            )
        unknown = sorted(
            word
            for word in ids
            if word not in self.matches and (word.startswith(".") or word not in self.present)
        )
        if unknown:
            lines.append(f"ERR not found: {' '.join(unknown)}")
        self._say(player, "\n".join(lines))

    def _each(self, player: Player, word: str, text: str, show: Callable[[Player], str]) -> None:
        unknown = []
        for name in sorted({*text.split()}) or [player.name]:
            if name in self.players:
                self._say(player, show(self.players[name]))
            else:
                unknown.append(name)
        if unknown:
            raise Refused(f"{word} ERR not found: {' '.join(unknown)}")

    def _do_stored(self, player: Player, text: str) -> None:
        if text in ("+", "-"):
            player.hears_stored = text == "+"
            return

        def show(whose: Player) -> str:
            lines = [f"stored {len(whose.stored)} {whose.name}"]
            for stored in whose.stored.values():
                stamp = datetime.fromtimestamp(stored.date, UTC).strftime("%d %b %Y %H:%M:%S")
                one, two = stored.terms.names
                lines.append(f"{stored.key:8} {stamp:20} {one:8} {two:8} {stored.terms.type}:l")
            return "\n".join(lines)

        self._each(player, "stored", text, show)

    def _do_history(self, player: Player, text: str) -> None:
        self._each(
            player,
            "history",
            text,
            lambda whose: "\n".join([f"history {len(whose.history)} {whose.name}", *whose.history]),
        )

    def _do_look(self, player: Player, text: str) -> None:
        if text not in self.archive:
            raise Refused(f"ERR no archived match '{text}' found.")
        self._say(player, f"look\n{self.archive[text]}")

    def _do_finger(self, player: Player, text: str) -> None:
        self._each(player, "finger", text, self._finger)

    def _finger(self, player: Player) -> str:
        def sign(flag: bool) -> str:
            return "+" if flag else "-"

        def listed(names: Iterable[str], star: bool = False) -> str:
            return "* " * star + " ".join(sorted(names))

        mine = self.requests.values()
        sent = listed(request.id for request in mine if request.asker == player.name)
        received = listed(request.id for request in mine if request.other == player.name)
        playing = listed(match.id for match in self.matches.values() if player.name in match.names)
        now = self.now_us() // US
        lines = [
            f"finger {player.name}",
            f"login  : {player.name}",
            "dblen  :   0.0 = 0 / 0",
            f"level  : {player.level}",
            f"open   : {player.open}",
            f"client : {sign(player.client)}",
            f"trust  : {sign(player.trust)}",
            f"rated  : {sign(player.rated)}",
            f"bell   : {player.bell}",
            f"vt100  : {sign(player.vt100)}",
            f"hear   : {sign(player.hear)}",
            f"play   : {playing}",
            f"stored ({sign(player.hears_stored)}) : {len(player.stored)}",
            f"notify (-) : {listed(player.notify, player.star_notify)}",
            f"track  (-) : {listed(player.track, player.star_track)}",
            "ignore (-) : ",
            f"request({sign(player.hears_requests)}) : {sent} : {received}",
            f"watch  ({sign(player.hears_watchers)}) : {listed(player.watch)}",
            f"accept : {player.accepts}",
            f"decline: {player.declines}",
            "Type  Rating@StDev      Inactive       AScore    Win   Draw   Loss",
        ]
        lines += [f"{pool:5} {rating.show(now)}" for pool, rating in sorted(player.ratings.items())]
        return "\n".join(lines)

    @staticmethod
    def _pool(text: str) -> str:
        word = text.split()[0]
        if not re.fullmatch(r"(4|6|8|10|12|14|88)r?a?", word):
            raise Refused(f"ERR rating type '{word}' unknown.")
        return word

    def _do_who(self, player: Player, text: str) -> None:
        if not text:
            raise Refused("ERR who <type> [a] [-pts +pts].")
        pool, now = self._pool(text), self.now_us() // US
        lines = [f"who {len(self.present):5}      change:    win    draw    loss         match(es)"]
        for name in sorted(self.present, key=lambda name: self.rating(name, pool)):
            rating = self._rating(name, pool)
            sign = "-" if self._is_full(self.players[name]) else "+"
            lines.append(f"{name:8} {sign} {rating.rank:6.1f}@{rating.deviation_at(now):5.1f}")
        self._say(player, "\n".join(lines))

    def _do_rank(self, player: Player, text: str) -> None:
        if not text:
            raise Refused("ERR rank <type> [login]")
        pool, now = self._pool(text), self.now_us() // US
        ranked = sorted(
            (name for name, who in self.players.items() if pool in who.ratings),
            key=lambda name: -self.rating(name, pool),
        )
        lines = [f"rank    0.0@  0.0      Inactive       AScore    Win   Draw   Loss {len(ranked)}"]
        lines += [
            f"{number:5} {name:8} {self._rating(name, pool).show(now)}{' <=' if name == player.name else ''}"
            for number, name in enumerate(ranked, start=1)
        ]
        self._say(player, "\n".join(lines))

    def _do_top(self, _: Player, text: str) -> None:
        if not text:
            raise Refused("ERR top <type> [num]")

    def _do_assess(self, player: Player, text: str) -> None:
        words = text.split()
        if len(words) == 3:
            words.insert(1, player.name)
        if len(words) != 4:
            raise Refused("ERR assess <.id> | (<type> <login> [login]) <score>.")
        pool, names, discs, now = self._pool(text), words[1:3], float(words[3]), self.now_us() // US
        for name in names:
            if name not in self.players:
                raise Refused(f"ERR user '{name}' not found.")
        before = [self._rating(name, pool) for name in names]
        after = [replace(rating) for rating in before]
        rate(discs, after[0], after[1], now)
        lines = [f"assess {pool} {discs:+.2f} -> {outcome(discs):.4f}"]
        for name, old, new in zip(names, before, after, strict=True):
            lines.append(
                f"{name:8} {old.rank:7.2f}@{old.deviation_at(now):6.2f}  {new.rank - old.rank:+7.2f}"
                f" -> {new.rank:7.2f}@{new.deviation:6.2f}"
            )
        self._say(player, "\n".join(lines))

    def _do_help(self, player: Player, text: str) -> None:
        self._say(player, f"help {text or 'help'}\nOthello Service Server help files")
