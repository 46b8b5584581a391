"""The server's clocks: their grammar, how they run, and how they are shown.

Times are whole microseconds, as the server's own are: what it shows is cut off and not rounded.
"""

import copy
import re
from dataclasses import dataclass
from typing import Self

US = 1_000_000
_BLINK = 10
"""Microseconds that always go by between a clock's start and the next look at it."""


def show_time(seconds: int, width: int = 5) -> str:
    """``MM:SS``, or as much more as it takes: ``01:00:00``, ``2.03:04:05``, ``-00:03``."""
    left = abs(seconds)
    days, left = divmod(left, 86_400)
    hours, left = divmod(left, 3_600)
    minutes, left = divmod(left, 60)
    text = "-" if seconds < 0 else ""
    if days:
        text += f"{days}."
    if days or hours or width >= 8:
        text += f"{hours:02}:"
    return f"{text}{minutes:02}:{left:02}".rjust(width)


def _seconds(text: str) -> int | None:
    """``HH:MM:SS``, ``MM:SS`` or bare minutes; None: it is no time."""
    parts = [part for part in text.split(":") if part]
    if not 1 <= len(parts) <= 3 or not all(re.fullmatch(r"\d+", part) for part in parts):
        return None
    if len(parts) == 1:
        return int(parts[0]) * 60
    total = 0
    for part in parts:
        total = 60 * total + int(part)
    return total


@dataclass(slots=True)
class Limits:
    """``ini,moves/inc,moves/ext,moves``; a missing field keeps its default, which is ``15:00//02:00``."""

    ini_s: int = 900
    inc_s: int = 0
    ext_s: int = 120
    ini_moves: int = 0
    inc_moves: int = 1
    ext_moves: int = 0
    ini_loses: bool = True
    inc_adds: bool = True
    ext_adds: bool = True

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None: it is no clock, so the server takes the word for a name."""
        found = cls()
        for field, part in zip(("ini", "inc", "ext"), text.split("/", 2), strict=False):
            time, _, moves = part.partition(",")
            if time:
                seconds = _seconds(time)
                if seconds is None:
                    return None
                setattr(found, f"{field}_s", seconds)
            if moves:
                if moves[0] in "nN":
                    setattr(found, {"ini": "ini_loses", "inc": "inc_adds", "ext": "ext_adds"}[field], False)
                    moves = moves[1:]
                if not moves.isdecimal() or (field == "inc" and int(moves) < 1):
                    return None
                setattr(found, f"{field}_moves", int(moves))
        return found

    def __str__(self) -> str:
        def counted(flag: bool, moves: int, default: int) -> str:
            text = ("" if flag else "N") + (str(moves) if moves != default else "")
            return f",{text}" if text else ""

        ini = show_time(self.ini_s) + counted(self.ini_loses, self.ini_moves, 0)
        inc = show_time(self.inc_s) + counted(self.inc_adds, self.inc_moves, 1) if self.inc_s else ""
        ext = show_time(self.ext_s) + counted(self.ext_adds, self.ext_moves, 0)
        return f"{ini}/{inc}/{ext}"


@dataclass(slots=True)
class GameClock:
    """One player's clock in one game."""

    limits: Limits
    left_us: int = 0
    running: bool = False
    soft: bool = False
    """`ini` has run out: the game goes on, and is lost by a little at best."""
    hard: bool = False
    """`ext` has run out, too: the game is over."""
    in_extension: bool = False
    moves: int = 0
    _since_inc: int = 0
    _since_ext: int = 0
    _spent_us: int = 0
    _started_us: int = 0
    _looked_us: int = 0
    _charged_us: int = 0

    def reset(self) -> None:
        """As before the first move."""
        self.left_us = self.limits.ini_s * US
        self.running = self.soft = self.hard = self.in_extension = False
        self.moves = self._since_inc = self._since_ext = self._spent_us = 0

    def start(self, now_us: int) -> None:
        if not self.running:
            self.running = True
            self._started_us = self._looked_us = now_us
            self._charged_us = 0

    def elapsed_us(self, now_us: int) -> int:
        """Since the start."""
        return now_us - self._started_us

    def shown_s(self, now_us: int) -> int:
        """What is left, cut off towards 0."""
        left_us = self.left_us - (now_us - self._looked_us + _BLINK if self.running else 0)
        return left_us // US if left_us >= 0 else -(-left_us // US)

    def event(self, now_us: int) -> None:
        """The server looks at a running clock: to the counters that is a move."""
        if self.running:
            spent_us = max(0, now_us - self._looked_us)
            self._looked_us = now_us
            self._charged_us += spent_us
            self._charge(spent_us)

    def stop(self, spent_us: int) -> None:
        """A move that took so long."""
        if self.running:
            self.running = False
            self._charge(max(0, spent_us - self._charged_us))

    def _charge(self, spent_us: int) -> None:
        limits = self.limits
        self._spent_us += spent_us
        self.left_us -= spent_us
        self._since_inc += 1
        if self.in_extension:
            self._since_ext += 1
        else:
            self.moves += 1
        if self.left_us < 0:
            if self.in_extension:
                self.soft = self.hard = True
                return
            if limits.ini_moves == 0:
                self.soft |= limits.ini_loses
                if limits.ext_s == 0:
                    self.soft = self.hard = True
            elif limits.ini_loses:
                self.soft = self.hard = True
        if not self.in_extension:
            if (limits.ini_moves and self.moves >= limits.ini_moves) or self.left_us < 0:
                self._extend()
                self.in_extension = True
        elif limits.ext_moves and self._since_ext >= limits.ext_moves:
            self._extend()
        if self._since_inc >= limits.inc_moves:
            inc_us = limits.inc_s * US
            self.left_us += inc_us if limits.inc_adds else min(self._spent_us, inc_us)
            self._since_inc = self._spent_us = 0

    def _extend(self) -> None:
        ext_us = self.limits.ext_s * US
        self.left_us = self.left_us + ext_us if self.limits.ext_adds else ext_us
        self._since_ext = 0

    def show(self, now_us: int) -> str:
        """As in the text boards of ``client -``."""
        limits = self.limits
        loses = "" if limits.ini_loses else "N"
        ini = f"{show_time(self.shown_s(now_us))},{loses}{self.moves}:{limits.ini_moves}"
        inc = ""
        if limits.inc_s:
            adds = "" if limits.inc_adds else "N"
            inc = f"{show_time(limits.inc_s)},{adds}{self.moves}:{limits.inc_moves}"
        ext = f"{show_time(limits.ext_s)},{'' if limits.ext_adds else 'N'}{self.moves}:{limits.ext_moves}"
        return f"{ini}/{inc}/{ext}"

    def copy(self) -> Self:
        return copy.copy(self)
