"""The features of the xiangqi evaluation, readable: mirrors engine/native/xiangqi/xiangqi_evaluation.hpp.

Boards are strings of 90 letters, as in `engine.games.xiangqi`.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache

from engine.games.linear_weights import group_offsets
from engine.games.xiangqi_evaluation import DANGERS, GROUPS, THREATS
from tests.engine.games.linear_features import Features

_FILES, _RANKS = 9, 10
_KINDS = "PABNCRK"
_PIECES = ("soldier", "advisor", "elephant", "horse", "cannon", "rook", "general")
_SIDEWAYS = ((1, 0), (-1, 0), (0, 1), (0, -1))
_DIAGONALS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


@cache
def _starts() -> dict[str, int]:
    return group_offsets(GROUPS)


def features(board: str, side: int) -> Features:
    """All features of a position that has both generals."""
    walk = _XiangqiWalk(board, side)
    return Features(walk.counts, walk.middle(), walk.scale())


def _steps(square: int, steps: Iterable[tuple[int, int]]) -> list[int]:
    found = ((square % _FILES + files, square // _FILES + ranks) for files, ranks in steps)
    return [_FILES * rank + file for file, rank in found if 0 <= file < _FILES and 0 <= rank < _RANKS]


_RAYS = [
    [_steps(square, [(files * n, ranks * n) for n in range(1, _RANKS)]) for files, ranks in _SIDEWAYS]
    for square in range(_FILES * _RANKS)
]
_PALACES = [
    frozenset(_FILES * rank + file for file in range(3, 6) for rank in ranks)
    for ranks in (range(3), range(7, 10))
]
_ADVISOR_POINTS = [
    frozenset(s for s in palace if (s % _FILES + s // _FILES) % 2 == 1 - colour)
    for colour, palace in enumerate(_PALACES)
]
_ELEPHANT_POINTS = [
    frozenset(s if colour == 0 else 89 - s for s in (2, 6, 18, 22, 26, 38, 42)) for colour in (0, 1)
]


class _Camp:
    """One of the two sides."""

    def __init__(self, board: str, colour: int, is_mover: bool) -> None:
        self.colour = colour
        self.is_mover = is_mover
        self.sign = 1 if is_mover else -1
        letters = _KINDS if colour == 0 else _KINDS.lower()
        self.of = {
            kind: {s for s in range(90) if board[s] == letter}
            for kind, letter in zip(_KINDS, letters, strict=True)
        }
        self.all = set[int]().union(*self.of.values())
        self.general = next(iter(self.of["K"]))
        self.attacks = {kind: set[int]() for kind in _KINDS}
        self.times = Counter[int]()  # how many pieces attack a square
        self.units = 0  # of attack on the other general

    @property
    def attacked(self) -> set[int]:
        return set(self.times)

    @property
    def twice(self) -> set[int]:
        """Squares that two pieces or more attack."""
        return {square for square, times in self.times.items() if times > 1}

    @property
    def cheap_attacks(self) -> set[int]:
        return self.attacks["P"] | self.attacks["A"] | self.attacks["B"]

    @property
    def force(self) -> int:
        return 2 * len(self.of["R"]) + len(self.of["N"]) + len(self.of["C"])

    @property
    def guards(self) -> int:
        return len(self.of["A"]) + len(self.of["B"])


class _XiangqiWalk:
    def __init__(self, board: str, side: int) -> None:
        self.board = board
        mover, waiter = _Camp(board, side, True), _Camp(board, 1 - side, False)
        self.camps = mover, waiter
        self.counts = Counter[int]()
        both = (mover, waiter), (waiter, mover)
        for step in (self._steppers, self._jumpers, self._rooks, self._general, self._threats):
            for own, other in both:
                step(own, other)
        self._facing()
        self.counts[_starts()["tempo"]] += 1
        if mover.general in waiter.times:
            self.counts[_starts()["in_check"]] += 1

    def _add(self, camp: _Camp, group: str, index: int = 0, times: int = 1) -> None:
        self.counts[_starts()[group] + index] += camp.sign * times

    def _piece(self, own: _Camp, other: _Camp, kind: str, square: int, attacks: Iterable[int]) -> set[int]:
        """A piece's square, and its attacks."""
        attacked = set(attacks)
        rank, file = divmod(square, _FILES)
        rank = rank if own.colour == 0 else 9 - rank
        self._add(own, f"{_PIECES[_KINDS.index(kind)]}_place", 5 * rank + min(file, 8 - file))
        if attacked & _PALACES[other.colour]:
            own.units += {"P": 2, "N": 3, "C": 2, "R": 3}.get(kind, 0)
        own.attacks[kind] |= attacked
        own.times.update(attacked)
        return attacked

    def _steppers(self, own: _Camp, other: _Camp) -> None:
        """Soldiers, advisors, elephants and the general."""
        forward = 1 if own.colour == 0 else -1
        for square in own.of["P"]:
            has_crossed = square // _FILES in (range(5, 10) if own.colour == 0 else range(5))
            ways = [(0, forward), (1, 0), (-1, 0)] if has_crossed else [(0, forward)]
            self._piece(own, other, "P", square, _steps(square, ways))
        for square in own.of["A"]:
            points = set(_steps(square, _DIAGONALS)) & _ADVISOR_POINTS[own.colour]
            self._piece(own, other, "A", square, points)
        for square in own.of["B"]:
            eyes = [step for step in _DIAGONALS if self._is_empty(square, step)]
            reached = set(_steps(square, [(2 * files, 2 * ranks) for files, ranks in eyes]))
            self._piece(own, other, "B", square, reached & _ELEPHANT_POINTS[own.colour])
        self._piece(own, other, "K", own.general, set(_steps(own.general, _SIDEWAYS)) & _PALACES[own.colour])
        self._add(own, "soldier_links", times=len(own.of["P"] & own.attacks["P"]))
        self._add(own, "elephant_links", times=len(own.of["B"] & own.attacks["B"]))

    def _is_empty(self, square: int, step: tuple[int, int]) -> bool:
        return any(self.board[beside] == "." for beside in _steps(square, [step]))

    def _horse_attacks(self, square: int) -> set[int]:
        ahead = [
            (2 * files + turn * ranks, 2 * ranks + turn * files)
            for files, ranks in _SIDEWAYS
            if self._is_empty(square, (files, ranks))
            for turn in (1, -1)
        ]
        return set(_steps(square, ahead))

    def _reach(self, square: int, screens: int = 0) -> set[int]:
        """Squares a rook's line reaches behind this many screens, up to and including the next piece."""
        reached = set()
        for ray in _RAYS[square]:
            met = 0
            for target in ray:
                if met == screens:
                    reached.add(target)
                met += self.board[target] != "."
        return reached

    def _jumpers(self, own: _Camp, other: _Camp) -> None:
        """Horses and cannons: their mobility excludes squares that cheap pieces guard."""
        unsafe = own.all | other.cheap_attacks
        for square in own.of["N"]:
            attacks = self._piece(own, other, "N", square, self._horse_attacks(square))
            self._add(own, "horse_mobility", len(attacks - unsafe))
        for square in own.of["C"]:
            behind = {target for target in self._reach(square, 1) if self.board[target] != "."}
            self._piece(own, other, "C", square, behind)
            quiet = {target for target in self._reach(square) if self.board[target] == "."}
            self._add(own, "cannon_mobility", len(quiet - unsafe))
            self._aim(own, other, "cannon_aim", 4, square)
        self._add(own, "horse_links", times=len(own.of["N"] & own.attacks["N"]))

    def _rooks(self, own: _Camp, other: _Camp) -> None:
        """After the others: a square that a lesser piece guards is not safe for a chariot."""
        unsafe = own.all | other.cheap_attacks | other.attacks["N"] | other.attacks["C"]
        for square in own.of["R"]:
            attacks = self._piece(own, other, "R", square, self._reach(square))
            self._add(own, "rook_mobility", len(attacks - unsafe))
            self._aim(own, other, "rook_aim", 3, square)

    def _pieces_between(self, a: int, b: int) -> int | None:
        """Pieces between two squares; None: they share no line."""
        for ray in _RAYS[a]:
            if b in ray:
                return sum(self.board[square] != "." for square in ray[: ray.index(b)])
        return None

    def _aim(self, own: _Camp, other: _Camp, group: str, steps: int, square: int) -> None:
        """Pieces between a piece and the other general on a common line."""
        pieces = self._pieces_between(square, other.general)
        if pieces is not None:
            line = "file" if (square - other.general) % _FILES == 0 else "rank"
            self._add(own, f"{group}_on_{line}", min(pieces, steps - 1))

    def _general(self, own: _Camp, other: _Camp) -> None:
        """The guards of a general, and how heavily it is attacked."""
        advisors, elephants = min(2, len(own.of["A"])), min(2, len(own.of["B"]))
        self._add(own, "guards", 3 * advisors + elephants)
        attackers = min(4, len(other.of["R"]) + len(other.of["N"]))
        self._add(own, "advisors_versus", 5 * advisors + attackers)
        self._add(own, "elephants_versus", 3 * elephants + min(2, len(other.of["C"])))

        alone = own.attacks["K"] - own.twice  # guarded by the general only
        units = other.units + len(alone & other.attacked)
        # Safe checks: from squares where nothing takes the piece, or only the general, although protected.
        unsafe = (own.attacked - (alone & other.twice)) | other.all
        horses_to = [s for s in other.attacks["N"] - unsafe if own.general in self._horse_attacks(s)]
        units += 3 * bool((other.attacks["R"] & self._reach(own.general)) - unsafe)
        units += 3 * bool(horses_to)
        whose = "moving" if own.is_mover else "waiting"
        self._add(own, f"danger_{whose}_{advisors}_advisors", min(units, DANGERS - 1))

    def _threats(self, own: _Camp, other: _Camp) -> None:
        """Pieces that the next capture may win, counted separately: the first, the second, all further ones.

        The waiting side loses the first one at once; the side to move can save it, but hardly both.
        """
        cheap = own.of["P"] | own.of["A"] | own.of["B"]
        minors, rooks = own.of["N"] | own.of["C"], own.of["R"]
        hangs = own.all & other.attacked - own.attacked
        defended = own.all & other.attacked & own.attacked
        by_cheap = defended & other.cheap_attacks
        by_minor = defended & (other.attacks["N"] | other.attacks["C"]) - by_cheap
        outnumbered = defended & other.twice - own.twice - by_cheap
        kinds = {
            "rook_hangs": rooks & hangs,
            "rook_by_cheap": rooks & by_cheap,
            "rook_by_minor": rooks & by_minor,
            "cannon_hangs": own.of["C"] & hangs,
            "horse_hangs": own.of["N"] & hangs,
            "rook_outnumbered": rooks & outnumbered - by_minor,
            "minor_by_cheap": minors & by_cheap,
            "minor_outnumbered": minors & outnumbered,
            "elephant_hangs": own.of["B"] & hangs,
            "advisor_hangs": own.of["A"] & hangs,
            "cheap_outnumbered": cheap & outnumbered,
            "soldier_hangs": own.of["P"] & hangs,
        }
        whose = "moving" if own.is_mover else "waiting"
        places = 0
        for index, kind in enumerate(THREATS):
            for _ in kinds[kind]:
                place = ("first", "second", "more")[min(2, places)]
                self._add(own, f"threat_{whose}_{place}", index)
                places += 1

    def _facing(self) -> None:
        """The only piece between the generals may not leave their file."""
        mover, waiter = self.camps
        if (mover.general - waiter.general) % _FILES == 0 and (
            self._pieces_between(mover.general, waiter.general) == 1
        ):
            between = self._reach(mover.general) & self._reach(waiter.general)
            (piece,) = between & (mover.all | waiter.all)
            self._add(mover if piece in mover.all else waiter, "facing")

    def middle(self) -> int:
        return min(64, 4 * sum(camp.force for camp in self.camps))

    def scale(self) -> int:
        mover, waiter = self.camps
        points = [9 * camp.force + 4 * camp.guards + 2 * len(camp.of["P"]) for camp in self.camps]
        if points[0] == points[1]:
            return 64
        ahead, behind = (mover, waiter) if points[0] > points[1] else (waiter, mover)
        soldiers = len(ahead.of["P"])
        # Attackers are needed to win, and one is hardly enough against enough guards.
        if ahead.force + soldiers == 0:
            return 2
        if ahead.force + soldiers == 1 and behind.guards >= 2:
            return 16
        if ahead.force == 2 and soldiers == 0 and (behind.guards == 4 or behind.force > 0):
            return 24
        return 64
