"""The features of the chess evaluation, readable: mirrors engine/native/chess/chess_evaluation.hpp."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import chess

from engine.games.chess_evaluation import DANGERS, GROUPS, THREATS
from engine.games.linear_weights import group_offsets
from tests.engine.games.linear_features import Features

_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = range(6)
_ALL = chess.BB_ALL


@cache
def _starts() -> dict[str, int]:
    return group_offsets(GROUPS)


def features(board: chess.Board) -> Features:
    """All features of a position that has both kings."""
    walk = _ChessWalk(board)
    return Features(walk.counts, walk.middle(), walk.scale())


def _squares(mask: int) -> Iterator[int]:
    return chess.scan_forward(mask)


def _diagonal(square: int, occupied: int) -> int:
    return chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & occupied]


def _straight(square: int, occupied: int) -> int:
    return (
        chess.BB_RANK_ATTACKS[square][chess.BB_RANK_MASKS[square] & occupied]
        | chess.BB_FILE_ATTACKS[square][chess.BB_FILE_MASKS[square] & occupied]
    )


def _sideways(mask: int) -> int:
    return (mask & ~chess.BB_FILE_A) >> 1 | (mask & ~chess.BB_FILE_H) << 1


class _Side:
    """One of the two sides: the mover plays upwards, the waiter downwards."""

    def __init__(self, of: list[int], is_mover: bool) -> None:
        self.of = of
        self.is_mover = is_mover
        self.sign = 1 if is_mover else -1
        self.all = of[0] | of[1] | of[2] | of[3] | of[4] | of[5]
        self.king = chess.lsb(of[_KING])
        self.zone = chess.BB_KING_ATTACKS[self.king] | of[_KING]
        self.attacks = [0] * 6
        self.attacked = 0
        self.twice = 0  # attacked by two or more
        self.units = 0  # of attack on the other king

    def attack(self, kind: int, mask: int) -> None:
        self.attacks[kind] |= mask
        self.twice |= self.attacked & mask
        self.attacked |= mask

    def forward(self, mask: int) -> int:
        return mask << 8 & _ALL if self.is_mover else mask >> 8

    def ahead(self, mask: int) -> int:
        """All squares ahead on the same files."""
        squares = 0
        while mask := self.forward(mask):
            squares |= mask
        return squares

    def seen(self, square: int) -> int:
        """The square from the side's own view."""
        return square if self.is_mover else square ^ 56

    def nearest_rank(self, pawns: int) -> int:
        """Rank, from the side's own view, of the pawn closest to its own end of the board; 0: none."""
        if not pawns:
            return 0
        return self.seen(chess.lsb(pawns) if self.is_mover else chess.msb(pawns)) >> 3


class _ChessWalk:
    def __init__(self, board: chess.Board) -> None:
        kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
        ours, theirs = board.occupied_co[board.turn], board.occupied_co[not board.turn]
        # The board is turned so that the side to move plays upwards.
        turned = (lambda mask: mask) if board.turn else chess.flip_vertical
        mover = _Side([turned(kind & ours) for kind in kinds], True)
        waiter = _Side([turned(kind & theirs) for kind in kinds], False)
        self.sides = mover, waiter
        self.occupied = mover.all | waiter.all
        self.counts: Counter[int] = Counter()
        both = (mover, waiter), (waiter, mover)
        for step in (self._begin, self._pieces, self._queens, self._king, self._pawns, self._threats):
            for own, other in both:
                step(own, other)
        self.counts[_starts()["tempo"]] += 1
        if waiter.attacked & mover.of[_KING]:
            self.counts[_starts()["in_check"]] += 1

    def _add(self, side: _Side, group: str, index: int = 0, times: int = 1) -> None:
        self.counts[_starts()[group] + index] += side.sign * times

    def _begin(self, own: _Side, other: _Side) -> None:
        """Inputs of the other steps: attacks of king and pawns."""
        del other
        self._add(own, "king_square", own.seen(own.king))
        own.attack(_KING, chess.BB_KING_ATTACKS[own.king])
        front = own.forward(own.of[_PAWN])
        own.attack(_PAWN, (front & ~chess.BB_FILE_A) >> 1)
        own.attack(_PAWN, (front & ~chess.BB_FILE_H) << 1)

    def _piece(self, own: _Side, other: _Side, kind: int, square: int, attacks: int, safe: int) -> None:
        """A piece's square, its mobility, and its attack on the enemy king zone."""
        name = chess.piece_name(kind + 1)
        self._add(own, f"{name}_square", own.seen(square))
        self._add(own, f"{name}_mobility", (attacks & safe).bit_count())
        if attacks & other.zone:
            own.units += (0, 2, 2, 3, 4)[kind]
        own.attack(kind, attacks)

    def _pieces(self, own: _Side, other: _Side) -> None:
        pawns, queens = own.of[_PAWN], own.of[_QUEEN]
        knights, bishops, rooks = own.of[_KNIGHT], own.of[_BISHOP], own.of[_ROOK]
        safe = ~(pawns | own.of[_KING] | other.attacks[_PAWN])
        for square in _squares(knights):
            self._piece(own, other, _KNIGHT, square, chess.BB_KNIGHT_ATTACKS[square], safe)
        # X-ray attacks: pieces see through their own side's queen, rooks also through rooks.
        for square in _squares(bishops):
            self._piece(own, other, _BISHOP, square, _diagonal(square, self.occupied ^ queens), safe)
            colour = chess.BB_DARK_SQUARES
            if not chess.BB_SQUARES[square] & colour:
                colour = chess.BB_LIGHT_SQUARES
            self._add(own, "bishop_pawns", times=(pawns & colour).bit_count())
        for square in _squares(rooks):
            self._piece(own, other, _ROOK, square, _straight(square, self.occupied ^ queens ^ rooks), safe)
            file = chess.BB_FILES[square & 7]
            if not pawns & file:
                self._add(own, "open_rook", 1 if other.of[_PAWN] & file else 0)
        # Outposts: squares that a pawn of ours defends and no enemy pawn can ever attack.
        outposts = own.attacks[_PAWN] & ~_sideways(other.ahead(other.of[_PAWN]))
        outposts &= sum(chess.BB_RANKS[rank if own.is_mover else 7 - rank] for rank in (3, 4, 5))
        self._add(own, "outpost", 0, (knights & outposts).bit_count())
        self._add(own, "outpost", 1, (bishops & outposts).bit_count())
        if bishops & chess.BB_DARK_SQUARES and bishops & chess.BB_LIGHT_SQUARES:
            self._add(own, "bishop_pair")
        self._add(own, "knight_pawns", times=knights.bit_count() * pawns.bit_count())
        self._add(own, "rook_pawns", times=rooks.bit_count() * pawns.bit_count())

    def _queens(self, own: _Side, other: _Side) -> None:
        """After the others: a square that a lesser piece attacks is not safe for a queen."""
        safe = ~(own.of[_PAWN] | own.of[_KING])
        for kind in (_PAWN, _KNIGHT, _BISHOP, _ROOK):
            safe &= ~other.attacks[kind]
        for square in _squares(own.of[_QUEEN]):
            attacks = _diagonal(square, self.occupied) | _straight(square, self.occupied)
            self._piece(own, other, _QUEEN, square, attacks, safe)

    def _king(self, own: _Side, other: _Side) -> None:
        """The king's pawn shield, the enemy pawn storm, and how heavily the king is attacked."""
        file, rank = own.king & 7, own.king >> 3
        ranks = range(rank, 8) if own.is_mover else range(rank + 1)
        not_behind = sum(chess.BB_RANKS[r] for r in ranks)
        middle = min(6, max(1, file))
        for f in range(middle - 1, middle + 2):
            here = chess.BB_FILES[f] & not_behind
            shield = own.nearest_rank(own.of[_PAWN] & here)
            storm = own.nearest_rank(other.of[_PAWN] & here)
            self._add(own, "shield_on_file" if f == file else "shield_beside", shield)
            is_blocked = shield != 0 and storm == shield + 1
            self._add(own, "storm_blocked" if is_blocked else "storm_free", storm)

        units = other.units
        alone = own.attacks[_KING] & ~own.twice
        # Squares beside the king that no other piece defends.
        units += 2 * (own.zone & other.attacked & (~own.attacked | alone)).bit_count()
        # Safe checks: from squares where nothing can take the piece, or only the king, although protected.
        safe = ~other.all & (~own.attacked | (other.twice & alone))
        diagonal = _diagonal(own.king, self.occupied) & safe
        straight = _straight(own.king, self.occupied) & safe
        knight = chess.BB_KNIGHT_ATTACKS[own.king] & safe
        units += 3 * bool(other.attacks[_KNIGHT] & knight)
        units += 2 * bool(other.attacks[_BISHOP] & diagonal)
        units += 4 * bool(other.attacks[_ROOK] & straight)
        units += 4 * bool(other.attacks[_QUEEN] & (diagonal | straight))
        whose = "moving" if own.is_mover else "waiting"
        queen = "with" if other.of[_QUEEN] else "without"
        self._add(own, f"danger_{whose}_{queen}_queen", min(units, DANGERS - 1))

    def _pawns(self, own: _Side, other: _Side) -> None:
        pawns = own.of[_PAWN]
        behind = other.ahead(pawns)  # the other side moves the other way
        ours_ahead, theirs_ahead = own.ahead(pawns), other.ahead(other.of[_PAWN])

        def by_openness(group: str, mask: int) -> None:
            self._add(own, group, 0, (mask & theirs_ahead).bit_count())
            self._add(own, group, 1, (mask & ~theirs_ahead).bit_count())

        self._add(own, "doubled", times=(pawns & behind).bit_count())
        isolated = pawns & ~_sideways(ours_ahead | pawns | behind)
        by_openness("isolated", isolated)
        # Backward: no pawn beside or behind it on adjacent files, and an enemy pawn guards the next square.
        guarded = other.forward(other.attacks[_PAWN])
        by_openness("backward", pawns & ~isolated & ~_sideways(ours_ahead | pawns) & guarded)

        phalanx = pawns & _sideways(pawns)
        passed = pawns & ~(theirs_ahead | _sideways(theirs_ahead)) & ~behind
        is_bare = not any(other.of[_KNIGHT:_KING])
        runs = False
        for square in _squares(pawns):
            mask, rank = chess.BB_SQUARES[square], own.seen(square) >> 3
            self._add(own, "pawn_square", own.seen(square))
            if mask & own.attacks[_PAWN]:
                self._add(own, "supported", rank)
            if mask & phalanx:
                self._add(own, "phalanx", rank)
            if not mask & passed:
                continue
            self._add(own, "passed", rank)
            next_square = own.forward(mask)
            if not next_square & self.occupied:
                self._add(own, "passed_free", rank)
                if not next_square & other.attacked:
                    self._add(own, "passed_safe", rank)
            if rank < 4:
                continue
            stop = square + 8 * own.sign & 63
            self._add(own, "passed_own_king", chess.square_distance(own.king, stop))
            self._add(own, "passed_other_king", chess.square_distance(other.king, stop))
            if is_bare and not own.ahead(mask) & self.occupied:
                goal = own.seen(56 + (square & 7))
                tempo = 0 if own.is_mover else 1
                runs = runs or chess.square_distance(other.king, goal) - tempo > 7 - rank
        if runs:
            self._add(own, "runner")

    def _threats(self, own: _Side, other: _Side) -> None:
        """Pieces that the next capture may win, counted separately: the first, the second, all further ones.

        The waiting side loses the first one at once; the side to move can save it, but hardly both.
        """
        whose, index = ("moving", 0) if own.is_mover else ("waiting", 1)
        pushes = self._pushes(other, own) & (own.all ^ own.of[_PAWN]) & ~other.attacks[_PAWN]
        self._add(own, "push_threat", index, pushes.bit_count())

        pawns, knights, bishops, rooks, queens, _ = own.of
        hangs = own.all & other.attacked & ~own.attacked
        defended = own.all & other.attacked & own.attacked
        by_pawn = defended & other.attacks[_PAWN]
        by_minor = defended & (other.attacks[_KNIGHT] | other.attacks[_BISHOP]) & ~by_pawn
        by_rook = defended & other.attacks[_ROOK] & ~by_pawn & ~by_minor
        outnumbered = defended & other.twice & ~own.twice & ~own.attacks[_PAWN] & ~by_pawn
        kinds = {
            "queen_hangs": queens & hangs,
            "queen_by_pawn": queens & by_pawn,
            "queen_by_minor": queens & by_minor,
            "rook_hangs": rooks & hangs,
            "queen_by_rook": queens & by_rook,
            "rook_by_pawn": rooks & by_pawn,
            "bishop_hangs": bishops & hangs,
            "knight_hangs": knights & hangs,
            "rook_outnumbered": rooks & outnumbered & ~by_minor,
            "bishop_by_pawn": bishops & by_pawn,
            "knight_by_pawn": knights & by_pawn,
            "rook_by_minor": rooks & by_minor,
            "minor_outnumbered": (knights | bishops) & outnumbered,
            "pawn_hangs": pawns & hangs,
            "pawn_outnumbered": pawns & outnumbered,
        }
        places = 0
        for index, kind in enumerate(THREATS):
            for _ in range(kinds[kind].bit_count()):
                place = ("first", "second", "more")[min(2, places)]
                self._add(own, f"threat_{whose}_{place}", index)
                places += 1

    def _pushes(self, own: _Side, other: _Side) -> int:
        """What a side's pawns would attack after a safe pawn push."""
        steps = own.forward(own.of[_PAWN]) & ~self.occupied
        third = chess.BB_RANK_3 if own.is_mover else chess.BB_RANK_6
        steps |= own.forward(steps & third) & ~self.occupied
        steps &= ~other.attacks[_PAWN] & (own.attacked | ~other.attacked)
        return _sideways(own.forward(steps))

    @staticmethod
    def _points(side: _Side) -> int:
        """Total value of a side's pieces; with both sides' initial pieces the sum is 64."""
        return sum((0, 3, 3, 5, 10)[kind] * side.of[kind].bit_count() for kind in range(5))

    def middle(self) -> int:
        return min(64, sum(self._points(side) for side in self.sides))

    def scale(self) -> int:
        mover, waiter = self.sides
        pieces = self._points(mover) - self._points(waiter)
        lead = pieces + mover.of[_PAWN].bit_count() - waiter.of[_PAWN].bit_count()
        ahead, pieces = (mover, pieces) if lead > 0 else (waiter, -pieces)
        if lead and not ahead.of[_PAWN] and pieces <= 3:
            return 12  # a piece up without pawns does not win
        bishops = mover.of[_BISHOP] | waiter.of[_BISHOP]
        only_bishops = all(self._points(side) == 3 and side.of[_BISHOP] for side in self.sides)
        if only_bishops and bishops & chess.BB_DARK_SQUARES and bishops & chess.BB_LIGHT_SQUARES:
            return 36  # opposite-coloured bishops
        return 64
