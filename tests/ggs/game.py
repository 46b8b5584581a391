"""Types of games, one game on the service, and the text of both in its two forms."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Self

from tests.ggs.board import BadMove, Board
from tests.ggs.clocks import US, GameClock

if TYPE_CHECKING:
    from tests.ggs.match import Match

TRUST_S = 4
"""So much less than the server's own measurement may a trusted player report."""


class Refused(Exception):
    """What the service answers instead of doing it."""


@dataclass(frozen=True, slots=True)
class GameType:
    """``[s]<size>[k][r<discs>][a][b|w]``."""

    size: int
    synchro: bool = False
    komi: bool = False
    discs: int | None = None
    """Of a random start."""
    anti: bool = False
    colour: str = ""
    """That the asker wants: ``b`` or ``w``."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises `Refused` with the service's words; letters that it does not know it does not see."""
        shape = re.match(r"([sS]?)(\d+)(.*)", text)
        if not shape or int(shape[2]) not in (4, 6, 8, 10, 12, 14, 88):
            raise Refused("illegal board type")
        size, synchro = int(shape[2]), bool(shape[1])
        komi = anti = False
        discs: int | None = None
        colour = ""
        rest = shape[3].lower()
        while rest:
            letter, rest = rest[0], rest[1:]
            if letter == "k":
                if colour:
                    raise Refused("no preferred color in komi games")
                komi = True
            elif letter == "r":
                if colour:
                    raise Refused("no preferred color in rand games")
                number = re.match(r"\d+", rest)
                if not number or not 4 <= int(number[0]) <= max(0, size * size - 16):
                    raise Refused("missing or illegal rand-type")
                discs, rest = int(number[0]), rest[number.end() :]
            elif letter == "a":
                anti = True
            elif letter in "bw":
                if komi or discs is not None:
                    raise Refused("no preferred color in komi or rand games")
                if colour:
                    raise Refused("only one color preference allowed")
                colour = letter
        if synchro and komi:
            raise Refused("synchro+komi not supported")
        if discs is not None and not komi and not synchro:
            raise Refused("random games must be komi or synchro")
        return cls(size, synchro, komi, discs, anti, colour)

    def __str__(self) -> str:
        random = "" if self.discs is None else f"r{self.discs}"
        return f"{'s' * self.synchro}{self.size}{'k' * self.komi}{random}{self.colour}{'a' * self.anti}"

    @property
    def pool(self) -> str:
        """Key of the ratings."""
        return f"{self.size}{'r' * (self.discs is not None)}{'a' * self.anti}"

    def fits(self, other: "GameType") -> bool:
        """Whether two crossing requests are one match: the colours must be opposite, or free in both."""
        if (self.size, self.komi, self.discs, self.anti) != (other.size, other.komi, other.discs, other.anti):
            return False
        return {self.colour, other.colour} in ({""}, {"b", "w"})


@dataclass(slots=True)
class Played:
    """One move."""

    disc: str
    text: str
    """As its sender typed it."""
    evaluation: float = 0.0
    time_us: int = 0

    @classmethod
    def parse(cls, disc: str, text: str) -> Self:
        """``<move>[/<eval>[/<time>]]``; raises `Refused`."""
        move, _, rest = text.partition("/")
        if not move:
            raise Refused("illegal move string; must be <move>[/<eval>[/<time>]]")
        played = cls(disc, move)
        evaluation, _, time = rest.partition("/")
        if evaluation:
            number = _number(evaluation)
            if number is None:
                raise Refused("move eval expected")
            if abs(number) >= 1000:
                raise Refused("move eval out of range")
            # Half a hundredth goes away from 0, as in C.
            played.evaluation = float(Decimal(str(number)).quantize(Decimal("0.01"), ROUND_HALF_UP))
        if time:
            number = _number(time)
            if number is None or number < 0:
                raise Refused("move time >= 0 expected")
            if number >= 100_000:
                raise Refused("move time out of range")
            played.time_us = int(number * US)
        return played

    def __str__(self) -> str:
        text = self.text
        if self.evaluation or self.time_us >= 5_000:
            text += "/" + (f"{self.evaluation:.2f}" if self.evaluation else "")
        return text + (f"/{self.time_us / US:.2f}" if self.time_us >= 5_000 else "")


def _number(text: str) -> float | None:
    found = re.match(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", text, re.IGNORECASE)
    return float(found[0]) if found else None


@dataclass(frozen=True, slots=True)
class Told:
    """One message in both forms."""

    plain: str
    """For ``client -``."""
    client: str
    """For ``client +``."""

    @classmethod
    def same(cls, text: str) -> Self:
        return cls(text, text)


@dataclass(slots=True)
class _Side:
    """What one player has asked for or suffered in a game."""

    undo: bool = False
    offer: float | None = None
    resigned: bool = False
    soft: int = 0
    """1: timed out first; 2: after the other."""
    hard: bool = False


@dataclass(slots=True)
class Game:
    """One board of a match.  Players are 0 (who asked) and 1; discs are ``*`` and ``O``."""

    match: "Match"
    number: int
    start: Board
    discs: tuple[str, str]
    """Of players 0 and 1."""
    clocks: tuple[GameClock, GameClock]
    board: Board = field(init=False)
    moves: list[Played] = field(default_factory=list)
    sides: tuple[_Side, _Side] = field(default_factory=lambda: (_Side(), _Side()))
    due_us: dict[int, int] = field(default_factory=dict)
    """When to look at a player's clock again."""
    _before: tuple[Board, tuple[GameClock, GameClock]] | None = None

    def __post_init__(self) -> None:
        self.board = self.start.copy()

    @property
    def id(self) -> str:
        return f"{self.match.id}.{self.number}" if self.match.type.synchro else self.match.id

    @property
    def mover(self) -> int:
        """The player whose turn it is."""
        return self.discs.index(self.board.to_move)

    @property
    def is_finished(self) -> bool:
        return (
            self.board.is_finished
            or self._is_agreed
            or any(side.resigned or side.hard for side in self.sides)
        )

    @property
    def _is_agreed(self) -> bool:
        first, second = (side.offer for side in self.sides)
        return first is not None and second is not None and first <= -second

    @property
    def blacks_result(self) -> float:
        """Of a finished game, in discs."""
        most = float(self.board.size**2)
        black = self.sides[self.discs.index("*")]
        white = self.sides[self.discs.index("O")]
        for lost in ("hard", "resigned"):
            if getattr(black, lost):
                return -most
            if getattr(white, lost):
                return most
        if black.offer is not None and white.offer is not None and self._is_agreed:
            return (black.offer - white.offer) / 2
        result = float(self.board.blacks_result)
        if self.match.type.anti:
            result = -result
        if black.soft == 1:
            return min(result, -2.0)
        if white.soft == 1:
            return max(result, 2.0)
        return result

    @property
    def result0(self) -> float:
        """In player 0's view."""
        return self.blacks_result if self.discs[0] == "*" else -self.blacks_result

    # --- Clocks -----------------------------------------------------------------------------------------

    def start_clock(self, now_us: int, *, silent: bool = False) -> None:
        """The mover's."""
        self.clocks[self.mover].start(now_us)
        if not silent:
            self._look_later(self.mover, now_us)

    def _look_later(self, player: int, now_us: int) -> None:
        self.due_us[player] = now_us + (self.clocks[player].shown_s(now_us) + TRUST_S + 1) * US

    def look_at_clock(self, player: int, now_us: int) -> list[Told]:
        """A time has come; what there is to say."""
        self.due_us.pop(player, None)
        self.clocks[player].event(now_us)
        return self._time_outs(player, now_us)

    def _time_outs(self, player: int, now_us: int) -> list[Told]:
        told = []
        clock, side = self.clocks[player], self.sides[player]
        who = f"{self.id} {self.match.names[player]} ({self.discs[player]})"
        if clock.soft and not side.soft:
            side.soft = self.sides[1 - player].soft + 1
            told.append(Told.same(f"timeout {who}"))
            if clock.running:
                self._look_later(player, now_us)
        if clock.hard:
            side.hard = True
            told.append(Told.same(f"fatal-timeout {who}"))
            self.due_us.pop(player, None)
        return told

    # --- Moves ------------------------------------------------------------------------------------------

    def play(self, player: int, text: str, *, trusted: bool, now_us: int) -> list[Told]:
        """What everybody is told of it; raises `Refused`."""
        played = Played.parse(self.board.to_move, text)
        for side in self.sides:
            side.undo, side.offer = False, None
        after = self.board.copy()
        try:
            after.play(played.text)
        except BadMove as error:
            raise Refused(str(error)) from None
        if player != self.mover and self.match.names[player] != self.match.names[self.mover]:
            raise Refused("not your turn")
        player = self.mover
        self._before = (self.board, (self.clocks[0].copy(), self.clocks[1].copy()))
        told = []
        elapsed_us = self.clocks[player].elapsed_us(now_us)
        if not trusted:
            played.time_us = elapsed_us
        elif played.time_us < elapsed_us - TRUST_S * US:
            more_s = (elapsed_us - TRUST_S * US - played.time_us) / US + 0.1
            who = f"{self.id} {self.match.names[player]} ({self.discs[player]})"
            told.append(Told.same(f"trust-violation {who} delta= {TRUST_S} + {more_s:.1f} secs"))
            played.time_us = elapsed_us
        self.board = after
        self.clocks[player].stop(played.time_us)
        self.due_us.pop(player, None)
        self.moves.append(played)
        plain = [f"update {self._head}", *self._last_move(now_us)]
        told.append(Told("\n".join(plain), f"update {self.id} {played}"))
        return told + self._time_outs(player, now_us)

    def replay(self, moves: list[Played], now_us: int) -> None:
        """To where the moves lead, with the clocks as their times left them."""
        self.board = self.start.copy()
        self.moves = []
        self.due_us.clear()
        self._before = None
        self.sides = (_Side(), _Side())
        for clock in self.clocks:
            clock.reset()
        for played in moves:
            player = self.mover
            self.clocks[player].start(now_us)
            self._before = (self.board.copy(), (self.clocks[0].copy(), self.clocks[1].copy()))
            self.board.play(played.text)
            self.clocks[player].stop(played.time_us)
            self.moves.append(played)
            self._time_outs(player, now_us)
        self.due_us.clear()

    # --- Texts ------------------------------------------------------------------------------------------

    @property
    def _head(self) -> str:
        return f"{self.id} {self.match.type} K?"

    def _clock_lines(self, show: Callable[[int], str]) -> list[str]:
        first = 1 if self.discs[1] == "*" else 0
        names, rating = self.match.names, self.match.rating
        return [
            f"{names[player]:8} ({rating(player):6.1f} {self.discs[player]}) {show(player)}"
            for player in (first, 1 - first)
        ]

    def _last_move(self, now_us: int, *, omit_last: bool = False) -> list[str]:
        board, clocks = self._before if omit_last and self._before else (self.board, self.clocks)
        moves = self.moves[:-1] if omit_last else self.moves
        return [
            f"{len(moves):3}: {moves[-1] if moves else 'PASS'}",
            *self._clock_lines(lambda player: clocks[player].show(now_us)),
            "",
            *board.lines,
        ]

    def join(self, now_us: int, *, omit_last: bool = False) -> Told:
        """Where the game stands; without its last move for those who may not see it yet."""
        moves = self.moves[:-1] if omit_last else self.moves
        plain = [f"join {self._head}", f"{len(moves)} move(s)"]
        if moves:
            plain += self._clock_lines(lambda player: str(self.clocks[player].limits))
            plain += ["", *self.start.lines]
            plain += [f"{number:3}: {played}" for number, played in enumerate(moves[:-1], start=1)]
        plain += self._last_move(now_us, omit_last=omit_last)
        return Told("\n".join(plain), f"join {self.id} {self.ggf(now_us, moves=moves)}")

    def ggf(self, now_us: int, *, moves: list[Played] | None = None, one_line: bool = False) -> str:
        """As `Game.join` and the archive have it."""
        shown = self.moves if moves is None else moves
        black = self.discs.index("*")
        names, rating = self.match.names, self.match.rating
        limits = [str(self.clocks[player].limits) for player in (black, 1 - black)]
        result = "?"
        if self.is_finished:
            result = f"{self.blacks_result:+.3f}"
            if any(side.resigned for side in self.sides):
                result += ":r"
            elif self._is_agreed:
                result += ":s"
            elif any(side.soft or side.hard for side in self.sides):
                result += ":t"
        stamp = datetime.fromtimestamp(now_us // US, UTC).strftime("%Y.%m.%d_%H:%M:%S.UTC")
        lines = [
            f"(;GM[Othello]PC[GGS/os]DT[{stamp}]",
            f"PB[{names[black]}]PW[{names[1 - black]}]",
            f"RB[{rating(black):g}]RW[{rating(1 - black):g}]",
            f"TI[{limits[0]}]" if limits[0] == limits[1] else f"TB[{limits[0]}]TW[{limits[1]}]",
            f"TY[{self.match.type}]RE[{result}]",
            f"BO[{self.start.ggf}]",
        ]
        texts = [f"{'B' if played.disc == '*' else 'W'}[{played}]" for played in shown]
        fours = ["".join(texts[at : at + 4]) for at in range(0, len(texts), 4)]
        # The server's own oddity: after a last line of exactly four moves the end stands on that line.
        if fours and len(texts) % 4 == 0:
            lines += [*fours[:-1], fours[-1] + ";)"]
        else:
            lines += [*fours, ";)"]
        return ("" if one_line else "\n").join(lines)
