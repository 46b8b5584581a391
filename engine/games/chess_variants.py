"""Rules of lichess.org's chess variants from python-chess: `StandardChess` with another board.

Our own searches do not play the variants well: leave them to external engines, whose option ``UCI_Variant``
selects the variant (by its ``uci_variant`` in python-chess). The evaluation here (material only) is used
when such an engine fails to choose a move.

FENs are python-chess's: pockets in brackets, ``~`` after promoted pieces (crazyhouse), remaining checks
before the move counts (``3+3 0 1``, three-check).
"""

import re

import chess
from chess.variant import (
    AntichessBoard,
    AtomicBoard,
    CrazyhouseBoard,
    HordeBoard,
    KingOfTheHillBoard,
    RacingKingsBoard,
    ThreeCheckBoard,
)

from engine.game import MAX_PLIES, BadPosition, Ending, lost_centi
from engine.games.standard_chess import ChessPosition, StandardChess

_VALUE_CENTI = {chess.PAWN: 100, chess.KNIGHT: 300, chess.BISHOP: 300, chess.ROOK: 500, chess.QUEEN: 900}
_SCALE_CENTI = 200.0
"""Scale of the logistic curve; a lead is worth about as much as in chess."""
_MAX_PIECES = 52
"""Maximum number of pieces on the board and in both pockets; Horde starts with this many."""
_CHECKS = range(4)
_REJECTED_STATUS = (
    chess.STATUS_EMPTY
    | chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_BAD_CASTLING_RIGHTS
    | chess.STATUS_INVALID_EP_SQUARE
    | chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_RACE_CHECK
    | chess.STATUS_RACE_OVER
    | chess.STATUS_RACE_MATERIAL
)
"""Position errors that rules and engines cannot handle; reachable positions can have the other errors."""


class ChessVariant(StandardChess):
    """The rules of one variant.

    Args:
        name: The variant's key at lichess.org.
        title: The variant's display name.
        board_type: The board class with the variant's rules.
        end: The variant's own rule that ends a game, as a sentence for the player.
        sign: Sign of the piece values: -1 if the aim is to lose all pieces.
    """

    def __init__(self, name: str, title: str, board_type: type[chess.Board], end: str, sign: int = 1) -> None:
        self.name = name
        self.title = title
        self.board_type = board_type
        self._end = end
        self._sign = sign

    def result_centi(self, position: ChessPosition) -> int:
        board = position.board
        if board.is_variant_win():
            return -lost_centi(board.ply())
        return lost_centi(board.ply()) if board.is_variant_loss() else super().result_centi(position)

    def ending(self, position: ChessPosition) -> Ending:
        board = position.board
        if board.is_variant_win() or board.is_variant_loss():
            return Ending("variantEnd", self._end)
        return Ending("draw", self._end) if board.is_variant_draw() else super().ending(position)

    def evaluate_centi(self, position: ChessPosition) -> int:
        board = position.board
        ours, theirs = (self._material_centi(board, color) for color in (board.turn, not board.turn))
        return self._sign * (ours - theirs)

    @staticmethod
    def _material_centi(board: chess.Board, color: chess.Color) -> int:
        pocket = board.pockets[color] if isinstance(board, CrazyhouseBoard) else None
        return sum(
            worth * (len(board.pieces(kind, color)) + (pocket.count(kind) if pocket else 0))
            for kind, worth in _VALUE_CENTI.items()
        )

    def expected_scale_centi(self, position: ChessPosition) -> float:  # noqa: ARG002
        return _SCALE_CENTI

    def most_plies_left(self, position: ChessPosition) -> int:  # noqa: ARG002
        return MAX_PLIES

    def _read_fen(self, fields: list[str]) -> chess.Board:
        text = " ".join(fields)
        if not 4 <= len(fields) <= 7 or not all(re.fullmatch(r"[-+0-9]{1,5}", field) for field in fields[4:]):
            raise BadPosition(f"{text!r} is not a FEN of {self.title}")
        board = self.board_type(None)
        try:
            board.set_fen(text)
        except (ValueError, IndexError) as error:
            raise BadPosition(f"{text!r}: {error}") from None
        if isinstance(board, AntichessBoard):
            board.castling_rights = chess.BB_EMPTY  # lichess.org has no castling here
        if wrong := board.status() & _REJECTED_STATUS:
            raise BadPosition(f"{text!r}: {wrong.name}")
        pockets = board.pockets if isinstance(board, CrazyhouseBoard) else []
        if any(pocket.count(chess.KING) for pocket in pockets):
            raise BadPosition(f"{text!r}: a king in a pocket")
        if chess.popcount(board.occupied) + sum(map(len, pockets)) > _MAX_PIECES:
            raise BadPosition(f"{text!r}: more than {_MAX_PIECES} pieces")
        if isinstance(board, ThreeCheckBoard) and not set(board.remaining_checks) <= set(_CHECKS):
            raise BadPosition(f"{text!r}: the checks still to be given must be 0 to 3")
        if board.ep_square is not None and not board.has_legal_en_passant():
            board.ep_square = None
        return board


CHESS_VARIANTS = (
    ChessVariant("crazyhouse", "Crazyhouse", CrazyhouseBoard, ""),
    ChessVariant("antichess", "Antichess", AntichessBoard, "A side has no piece left, or no move.", sign=-1),
    ChessVariant("atomic", "Atomic", AtomicBoard, "A king has exploded."),
    ChessVariant("horde", "Horde", HordeBoard, "The horde is gone."),
    ChessVariant("kingOfTheHill", "King of the Hill", KingOfTheHillBoard, "A king is on the hill."),
    ChessVariant("racingKings", "Racing Kings", RacingKingsBoard, "The race is over."),
    ChessVariant("threeCheck", "Three-check", ThreeCheckBoard, "A third check."),
)
