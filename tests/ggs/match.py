"""One match: a game, or the two of a synchro match, and who hears what of it when."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

from tests.ggs.board import Board
from tests.ggs.clocks import GameClock, Limits
from tests.ggs.game import Game, GameType, Played, Refused, Told


@dataclass(frozen=True, slots=True)
class Terms:
    """What a match is played by."""

    type: GameType
    rated: bool
    names: tuple[str, str]
    """Who asked, and whom."""
    limits: tuple[Limits, Limits]
    """Theirs, in the same order."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An adjourned match, until it is taken up."""

    key: str
    """For instance ``.4``; of the archive, too, once it has ended."""
    terms: Terms
    date: int
    games: tuple[tuple[str, tuple[str, str], tuple[Played, ...]], ...]
    """Of each: the start as GGF, the discs of both players, the moves."""


class Hall(Protocol):
    """What a match needs of the service."""

    def now_us(self) -> int: ...
    def tell(self, names: Iterable[str], told: Told) -> None: ...
    def rating(self, name: str, pool: str) -> float: ...
    def trusts(self, name: str) -> bool: ...
    def ended(self, match: "Match") -> None: ...


@dataclass(slots=True)
class Match:
    """Raises `Refused` with the service's words where a player may not do a thing."""

    hall: Hall
    id: str
    key: str
    """Of the store and of the archive."""
    terms: Terms
    watchers: set[str] = field(default_factory=set)
    games: list[Game] = field(default_factory=list)
    left: str | None = None
    """Who has adjourned it."""
    aborts: set[str] = field(default_factory=set)
    is_over: bool = False
    _withheld: dict[int, tuple[str, list[Told]]] = field(default_factory=dict)
    """Of a synchro match: who moved in a game, and what the others have not been told yet."""
    _moved: list[bool] = field(default_factory=lambda: [False, False])

    @property
    def type(self) -> GameType:
        return self.terms.type

    @property
    def names(self) -> tuple[str, str]:
        return self.terms.names

    def rating(self, player: int) -> float:
        return self.hall.rating(self.names[player], self.type.pool)

    def begin(self, start: Board, asker_is_black: Callable[[], bool]) -> None:
        """Set up the games of a new match, and start the clocks."""
        black = {"b": True, "w": False}.get(self.type.colour)
        if black is None:
            black = True if self.type.discs is not None else asker_is_black()
        self._add(start, black)
        if self.type.synchro:
            self._add(start, not black)
        for game in self.games:
            game.start_clock(self.hall.now_us())

    def resume(self, stored: Stored) -> None:
        """Set up the games as they were left, and start the clocks."""
        now_us = self.hall.now_us()
        for start, discs, moves in stored.games:
            game = self._add(Board.read(start), discs[0] == "*")
            game.replay(list(moves), now_us)
            if not game.is_finished:
                game.start_clock(now_us)
        if self.type.synchro:
            self._moved = [game.is_finished for game in self.games]

    def _add(self, start: Board, asker_is_black: bool) -> Game:
        clocks = (GameClock(self.terms.limits[0]), GameClock(self.terms.limits[1]))
        for clock in clocks:
            clock.reset()
        game = Game(self, len(self.games), start, ("*", "O") if asker_is_black else ("O", "*"), clocks)
        self.games.append(game)
        return game

    # --- What is told -----------------------------------------------------------------------------------

    @property
    def head(self) -> str:
        """``.0 1720 alice 1720 bob 8 R``, with the ratings of now."""
        (one, two), flag = self.names, "R" if self.terms.rated else "U"
        return f"{self.id} {self.rating(0):.0f} {one} {self.rating(1):.0f} {two} {self.type} {flag}"

    def _tell_all(self, messages: Iterable[Told]) -> None:
        for told in messages:
            self.hall.tell({*self.names, *self.watchers}, told)

    def _longer_game(self) -> int | None:
        """Of a synchro match whose games are a move apart: the one that is ahead."""
        if not self.type.synchro or self.is_finished:
            return None
        first, second = (len(game.moves) for game in self.games)
        if abs(first - second) != 1:
            return None
        return 0 if first > second else 1

    def join(self, name: str) -> None:
        """Tell somebody where the games stand, but not the move that only its player may know of."""
        ahead = self._longer_game()
        for game in self.games:
            omit = False
            if game.number == ahead:
                omit = name not in self.names or self.names[game.discs.index(game.moves[-1].disc)] != name
            self.hall.tell([name], game.join(self.hall.now_us(), omit_last=omit))

    def _end_line(self, game: Game, how: str) -> Told:
        return Told.same(f"end {game.id} ( {self.names[0]} vs. {self.names[1]} ) {how}")

    # --- What players do --------------------------------------------------------------------------------

    def _player(self, name: str) -> int:
        return self.names.index(name)

    def play(self, name: str, game_id: str, text: str) -> None:
        number = game_id[1:].partition(".")[2]
        if bool(number) != self.type.synchro:
            raise Refused(f"error {game_id} game id needed (only) in synchro games")
        if number and number not in ("0", "1"):
            raise Refused(f"error {game_id} game id must be .0 or .1 in synchro games")
        game = self.games[int(number or 0)]
        player = self._player(name)
        if self.type.synchro and not game.clocks[player].running:
            raise Refused(f"error {game_id} wrong game!")
        now_us = self.hall.now_us()
        try:
            told = game.play(player, text, trusted=self.hall.trusts(name), now_us=now_us)
        except Refused as error:
            raise Refused(f"error {game.id} {error}") from None
        if not self.type.synchro:
            self._tell_all(told)
            if game.is_finished:
                self._finish()
            else:
                game.start_clock(now_us)
            return
        if game.is_finished:
            told.append(self._end_line(game, f"{game.result0:+.2f}"))
        for one in told:
            self.hall.tell([name], one)
        self._withheld[game.number] = (name, told)
        self._moved[game.number] = True
        self._both_moved()

    def _both_moved(self) -> None:
        if not all(self._moved):
            return
        for game in self.games:
            if not game.is_finished:
                game.start_clock(self.hall.now_us())
        self._moved = [game.is_finished for game in self.games]
        for _, (name, told) in sorted(self._withheld.items()):
            for one in told:
                self.hall.tell({*self.names, *self.watchers} - {name}, one)
        self._withheld.clear()
        if self.is_finished:
            self._finish()

    @property
    def is_finished(self) -> bool:
        return all(game.is_finished for game in self.games)

    def tick(self) -> None:
        """Look at the clocks whose time has come."""
        now_us = self.hall.now_us()
        for game in self.games:
            for player, due_us in list(game.due_us.items()):
                if self.is_over or now_us < due_us:
                    continue
                self._tell_all(game.look_at_clock(player, now_us))
                if not game.is_finished:
                    continue
                if self.type.synchro:
                    self._tell_all([self._end_line(game, f"{game.result0:+.2f}")])
                if self.is_finished:
                    self._finish()
                elif self.type.synchro:
                    other = self.games[1 - game.number]
                    if not any(clock.running for clock in other.clocks):
                        other.start_clock(now_us)
                    self._moved[game.number] = True
                    self._both_moved()

    def undo(self, name: str, game_id: str) -> None:
        if self.type.synchro:
            raise Refused(f"error {game_id} no undo in synchro games")
        [game] = self.games
        if not game.moves:
            raise Refused(f"error {game.id} nothing to undo")
        game.sides[self._player(name)].undo = True
        if self.names[0] != self.names[1] and not all(side.undo for side in game.sides):
            self._tell_all([Told.same(f"undo {game.id} {name} is asking")])
            return
        now_us = self.hall.now_us()
        game.replay(game.moves[:-1], now_us)
        game.clocks[game.mover].start(now_us)
        self._tell_all([game.join(now_us)])
        game.start_clock(now_us)

    def score(self, name: str, game_id: str, value: str) -> None:
        if self.type.synchro:
            raise Refused(f"error {game_id} no score in synchro games")
        [game] = self.games
        try:
            game.sides[self._player(name)].offer = float(value)
        except ValueError:
            raise Refused(f"error {game.id} score <value>") from None
        if self.names[0] == self.names[1]:
            for side in game.sides:
                side.offer = 0.0
        if game.is_finished:
            self._finish()
        else:
            self._tell_all([Told.same(f"score {game.id} {name} is offering")])

    def resign(self, name: str) -> None:
        """Every game of the match."""
        for game in self.games:
            game.sides[self._player(name)].resigned = True
        if self.type.synchro:
            self._tell_all([self._end_line(game, f"{game.result0:+.2f}") for game in self.games])
        self._finish()

    def abort(self, name: str) -> None:
        self.aborts.add(name)
        if self.aborts >= {*self.names}:
            if self.type.synchro:
                self._tell_all([self._end_line(game, "aborted") for game in self.games])
            self._finish()
        else:
            self._tell_all([Told.same(f"abort {game.id} {name} is asking") for game in self.games])

    def adjourn(self, name: str, *, gone: bool = False) -> None:
        """A player breaks the match off, or is gone."""
        self.left = name
        if self.type.synchro and not gone:
            self._tell_all([self._end_line(game, f"player {name} left") for game in self.games])
        self._finish()

    # --- Its end ----------------------------------------------------------------------------------------

    def _finish(self) -> None:
        self.is_over = True
        self.hall.ended(self)

    @property
    def is_aborted(self) -> bool:
        return self.aborts >= {*self.names}

    @property
    def result0(self) -> float:
        """Of a finished match, in discs and the first player's view."""
        return sum(game.result0 for game in self.games) / len(self.games)

    def stored(self, now: int) -> Stored:
        """As it can be taken up again: a move that only one of two games has is taken back."""
        ahead = self._longer_game()
        return Stored(
            self.key,
            self.terms,
            now,
            tuple(
                (game.start.ggf, game.discs, tuple(game.moves[: -1 if game.number == ahead else None]))
                for game in self.games
            ),
        )

    def record(self) -> str:
        """The archive's line."""
        games = "".join(game.ggf(self.hall.now_us(), one_line=True) for game in self.games)
        return f"{len(self.games)} {games}"
