"""Rules of chess from python-chess, including Chess960.

Squares are numbered from a1 = 0 to h8 = 63.  A move is ``from + 64 * to + 4096 * promotion`` (0 none, 1
queen ... 4 knight); castling is the king's move of two squares, or in Chess960 the king taking its own rook,
as in UCI.  The C++ core (``engine/native/chess/chess.hpp``) has the same rules.

A position is written as in UCI: ``FEN``, or ``FEN moves m1 m2 ...`` with the game's moves since the last
irreversible one, so that repetitions are known.  The moves of a searched line follow as ``line l1 l2 ...``.
"""

import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cache, cached_property

import chess

from engine.game import (
    MAX_PLIES,
    WIN_CENTI,
    BadPosition,
    Ending,
    Highlight,
    IllegalMove,
    Move,
    lost_centi,
    ply_of_loss,
)
from engine.games import chess_evaluation

FIFTY_MOVE_RULE_PLIES = 100
"""Number of consecutive plies without a capture or a pawn move after which a game ends."""
MAX_FEN_PLY = 9_999
"""Largest ply count in a FEN; move numbers do not increase beyond it."""

_MAX_PIECES = 16
_PROMOTIONS = (None, chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT, chess.KING)
# After the promotions, the last of which only antichess has: drops of a piece, from and to the same square.
_DROPS = len(_PROMOTIONS) - chess.PAWN
_CODES = _DROPS + chess.KING

Moves = tuple[Move, ...]


def _number(move: chess.Move) -> Move:
    code = _PROMOTIONS.index(move.promotion) if move.drop is None else _DROPS + move.drop
    return move.from_square + 64 * move.to_square + 4096 * code


def _move(number: Move) -> chess.Move:
    start, to, code = number & 63, number >> 6 & 63, number >> 12
    if code < len(_PROMOTIONS):
        return chess.Move(start, to, _PROMOTIONS[code])
    return chess.Move(start, to, drop=code - _DROPS)


@cache  # a few thousand texts, which profile analyses use again and again
def _uci(number: Move) -> str:
    return _move(number).uci()


def _key(board: chess.Board) -> Hashable:
    """The properties that two positions must share to be the same for the repetition rule (FIDE Laws 9.2)."""
    if type(board) is not chess.Board:
        return board.epd()  # with pockets, promoted pieces and checks given, but slow
    return (
        board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings,
        board.occupied_co[chess.WHITE], board.turn, board.castling_rights, board.ep_square,
    )  # fmt: skip


@dataclass(frozen=True)
class ChessPosition:
    """A position with the part of its game's history that the rules need. Its board must not be changed."""

    board: chess.Board = field(compare=False)
    start: str
    """FEN of the earliest position that can recur: usually the one after a capture, a pawn move or a loss of
    castling rights."""
    moves: Moves
    """The game's moves since `start`."""
    line: Moves | None
    """Moves of a searched line after `moves`; None in the game itself."""
    past: tuple[Hashable, ...] = field(compare=False)
    """Keys of the game's positions, from `start` to the position after the last move in `moves`."""

    @cached_property
    def text(self) -> str:
        """See `Game.position_text`."""
        parts = [self.start]
        if self.moves:
            parts += ["moves", *map(_uci, self.moves)]
        if self.line:
            parts += ["line", *map(_uci, self.line)]
        return " ".join(parts)

    @cached_property
    def is_threefold_repetition(self) -> bool:
        """Whether the position occurs for the third time."""
        before = 2 if self.line else 3  # a line's own positions are not in the past
        return len(self.past) >= before and self.past.count(_key(self.board)) >= before

    @cached_property
    def is_repeated(self) -> bool:
        """Whether the position has occurred before; always false within a searched line."""
        before = 1 if self.line else 2
        return len(self.past) >= before and self.past.count(_key(self.board)) >= before

    @cached_property
    def is_draw_unless_mate(self) -> bool:
        """Whether a rule other than mate ends the game; checkmate has precedence."""
        board = self.board
        return (
            board.is_variant_end()
            or self.is_threefold_repetition
            or board.is_fifty_moves()
            or board.is_insufficient_material()
        )

    @cached_property
    def legal(self) -> Moves:
        """The legal moves, as numbers; empty if any rule has ended the game."""
        return () if self.is_draw_unless_mate else tuple(sorted(map(_number, self.board.legal_moves)))


class StandardChess:
    """FIDE Laws, but threefold repetition and the fifty-move rule end the game without a claim."""

    name = "chess"
    score_unit = "pawns"
    is_numbered_in_pairs = True
    title = "Chess"
    sides = ("white", "black")
    deepest_search = 60
    board_type: type[chess.Board] = chess.Board

    def initial(self) -> ChessPosition:
        return self.parse_position(self.board_type.starting_fen)

    def side_to_move(self, position: ChessPosition) -> int:
        return 0 if position.board.turn == chess.WHITE else 1

    def legal_moves(self, position: ChessPosition) -> Moves:
        return position.legal

    def play(self, position: ChessPosition, move: Move) -> ChessPosition:
        if move not in position.legal:
            raise IllegalMove(self.move_text(move), self.position_text(position))
        before = position.board
        board = before.copy(stack=False)
        chess_move = _move(move)
        board.push(chess_move)
        board.clear_stack()
        # An en passant square counts only if it adds a legal move, here as in FIDE's repetition rule.
        if board.ep_square is not None and not board.has_legal_en_passant():
            board.ep_square = None
        if position.line is not None:
            line = (*position.line, move)
            return ChessPosition(board, position.start, position.moves, line, position.past)
        if before.is_irreversible(chess_move):
            return _game_start(board)
        moves, past = (*position.moves, move), (*position.past, _key(board))
        return ChessPosition(board, position.start, moves, None, past)

    def pass_turn(self, position: ChessPosition) -> ChessPosition:
        """The position with the other side to move, which the rules do not allow but records contain.

        Raises:
            IllegalMove: The side to move is in check.
        """
        board = position.board.copy(stack=False)
        if board.is_check():
            raise IllegalMove("--", self.position_text(position))
        board.push(chess.Move.null())
        board.clear_stack()
        return _game_start(board)

    def for_search(self, position: ChessPosition) -> ChessPosition:
        if position.line is not None:
            return position
        return ChessPosition(position.board, position.start, position.moves, (), position.past)

    def without_rule_ending(self, position: ChessPosition) -> ChessPosition:
        board = position.board.copy(stack=False)
        board.halfmove_clock = 0
        return _game_start(board) if not board.is_insufficient_material() else position

    def is_repeated(self, position: ChessPosition) -> bool:
        return position.is_repeated

    def result_centi(self, position: ChessPosition) -> int:
        # Quicker mates score better; counted in plies of the game, not of the search: one score per position.
        return lost_centi(position.board.ply()) if position.board.is_checkmate() else 0

    def ending(self, position: ChessPosition) -> Ending:
        board = position.board
        if board.is_checkmate():
            return Ending("mate", "Checkmate.")
        if board.is_stalemate():
            return Ending("stalemate", "Stalemate.")
        if position.is_threefold_repetition:
            return Ending("draw", "The same position for the third time.")
        if board.is_insufficient_material():
            return Ending("draw", "Neither side can give mate.")
        return Ending("draw", "Fifty moves without a capture or a pawn move.")

    def evaluate_centi(self, position: ChessPosition) -> int:
        return chess_evaluation.evaluate_centi(position.text)

    def score_text(self, score_centi: float, position: ChessPosition) -> str:
        """A score in pawns, ``#3`` for mate in three moves, or ``#-2`` if the other side mates in two."""
        if abs(score_centi) < WIN_CENTI:
            return f"{score_centi / 100:+.2f}"
        last_ply = ply_of_loss(score_centi)
        if last_ply is None:
            return "won" if score_centi > 0 else "lost"
        moves = max(0, last_ply - self._ply(position) + 1) // 2
        return f"#{moves}" if score_centi > 0 else f"#-{moves}"

    def expected_scale_centi(self, position: ChessPosition) -> float:
        return chess_evaluation.expected_scale_centi(position.board)

    def move_text(self, move: Move) -> str:
        if not 0 < move < _CODES << 12:
            return f"move {move}"
        return _uci(move)

    def move_name(self, position: ChessPosition, move: Move) -> str:
        return position.board.san(_move(move))

    def parse_move(self, position: ChessPosition, text: str) -> Move:
        """Parse a legal move in UCI notation; castling may always be written as the king taking its rook."""
        if re.fullmatch("[PNBRQ]@[a-h][1-8]", text):
            move = _number(chess.Move.from_uci(text))
            if move in position.legal:
                return move
        elif re.fullmatch("[a-h][1-8][a-h][1-8][nbrqk]?", text):
            board = position.board
            start, to = chess.parse_square(text[:2]), chess.parse_square(text[2:4])
            rooks = board.castling_rights & board.occupied_co[board.turn]
            if not board.chess960 and board.kings >> start & 1 and rooks >> to & 1:
                to = start + 2 if to > start else start - 2
            move = _number(chess.Move(start, to, chess.PIECE_SYMBOLS.index(text[4]) if text[4:] else None))
            if move in position.legal:
                return move
        raise IllegalMove(text, self.position_text(position))

    def position_text(self, position: ChessPosition) -> str:
        return position.text

    def native_position(self, position: ChessPosition) -> str:
        """The position in the C++ core's format."""
        return position.text

    def board_text(self, position: ChessPosition) -> str:
        return position.board.fen()

    def parse_position(self, text: str) -> ChessPosition:
        """Read ``FEN moves m1 m2 ... line l1 l2 ...``, or only its first parts; the FEN may be ``startpos``.

        Castling rights are read as X-FEN or Shredder-FEN.  A right written as a file's letter makes the
        position a Chess960 position (where castling is the king taking its rook); so does a castling right
        for a king off the e-file, or for a rook outside a corner.
        """
        fields = [word for word in text.split(" ") if word]
        if fields[:1] == ["startpos"]:
            fields[:1] = self.board_type.starting_fen.split(" ")
        at = next((i for i, word in enumerate(fields) if word in ("moves", "line")), len(fields))
        fen, rest = fields[:at], fields[at:]
        split = rest.index("line") if "line" in rest else len(rest)
        position = _game_start(self._read_fen(fen))
        try:
            for word in rest[1:split]:
                position = self.play(position, self.parse_move(position, word))
            if split < len(rest):
                position = self.for_search(position)
            for word in rest[split + 1 :]:
                position = self.play(position, self.parse_move(position, word))
        except IllegalMove as error:
            raise BadPosition(f"{text!r}: {error}") from None
        return position

    def board_rows(self, position: ChessPosition) -> tuple[str, ...]:
        return tuple(str(position.board).replace(" ", "").split("\n"))

    def move_squares(self, move: Move) -> tuple[str, ...]:
        squares = chess.SQUARE_NAMES[move & 63], chess.SQUARE_NAMES[move >> 6 & 63]
        return squares[:1] if move >> 12 >= len(_PROMOTIONS) else squares

    def highlights(self, position: ChessPosition) -> tuple[Highlight, ...]:
        board = position.board
        king = board.king(board.turn)
        if king is None or not board.is_check():
            return ()
        side = self.sides[self.side_to_move(position)].capitalize()
        return (Highlight("check", (chess.SQUARE_NAMES[king],), f"{side} is in check."),)

    def plies_left(self, position: ChessPosition) -> int:
        # Human games last 64 more plies from the start and about 20 from an endgame, on average; programs,
        # which seldom resign, play on longer.
        return 24 + 3 * chess.popcount(position.board.occupied) // 2

    def most_plies_left(self, position: ChessPosition) -> int:
        board = position.board
        captures = chess.popcount(board.occupied) - 2
        steps = sum(7 - chess.square_rank(square) for square in board.pieces(chess.PAWN, chess.WHITE))
        steps += sum(chess.square_rank(square) for square in board.pieces(chess.PAWN, chess.BLACK))
        return FIFTY_MOVE_RULE_PLIES * (captures + steps + 1)

    def _read_fen(self, fields: list[str]) -> chess.Board:
        """Return the board that a FEN describes.

        Raises:
            BadPosition: The text is not a FEN, or not a position that rules and searches can handle.
        """
        return _read_fen(fields)

    @staticmethod
    def _ply(position: ChessPosition) -> int:
        """Number of plies since the game began, from which mate scores are computed."""
        return min(MAX_PLIES, position.board.ply())


def _game_start(board: chess.Board) -> ChessPosition:
    """Return a position that starts a new history, because the last move was irreversible."""
    if not board.castling_rights:
        board.chess960 = False  # it only affects how castling is written
    board.fullmove_number = min(MAX_FEN_PLY, board.fullmove_number)
    return ChessPosition(board, _fen(board), (), None, (_key(board),))


def _fen(board: chess.Board) -> str:
    return board.fen(shredder=board.chess960)


def _read_fen(fields: list[str]) -> chess.Board:
    """Return the board that a FEN of four, five or six fields describes.

    Raises:
        BadPosition: Not a FEN, or not a position that rules and searches can handle: one king each, at most
            sixteen pieces a side, no pawn on the first or last rank, the side not to move not in check.
    """
    if not 4 <= len(fields) <= 6:
        raise BadPosition(
            "a FEN has a board, the side to move, castling rights, an en passant square and optionally two "
            f"numbers, got {' '.join(fields)!r}"
        )
    pieces, side, castling, ep, *numbers = fields
    board = chess.Board(None)
    if not re.fullmatch("[1-8PNBRQKpnbrqk/]+", pieces):  # python-chess accepts more
        raise BadPosition(f"the board {pieces!r} is not eight ranks of eight squares")
    try:
        board.set_board_fen(pieces)
    except ValueError as error:
        raise BadPosition(str(error)) from None
    for mask in board.occupied_co:
        if chess.popcount(board.kings & mask) != 1:
            raise BadPosition(f"each side must have one king, got {pieces!r}")
        if chess.popcount(mask) > _MAX_PIECES:
            raise BadPosition(f"a side has more than sixteen pieces in {pieces!r}")
    if board.pawns & chess.BB_BACKRANKS:
        raise BadPosition(f"a pawn stands on the first or last rank in {pieces!r}")
    if side not in ("w", "b"):
        raise BadPosition(f"the side to move is w or b, not {side!r}")
    board.turn = side == "w"
    if board.was_into_check():
        raise BadPosition(f"the side that is not to move is in check in {pieces!r}")
    _read_castling(board, castling)
    board.ep_square = _read_ep(board, ep)
    if board.ep_square is not None and not board.has_legal_en_passant():
        board.ep_square = None
    for number in numbers:
        if not re.fullmatch("[0-9]{1,4}", number):
            raise BadPosition(f"{number!r} is not a count of plies or moves")
    if numbers:
        board.halfmove_clock = int(numbers[0])
    if len(numbers) > 1:
        board.fullmove_number = max(1, int(numbers[1]))
    return board


def _read_castling(board: chess.Board, text: str) -> None:
    if text == "-":
        return
    for letter in text:
        color = letter.isupper()
        king = chess.msb(board.kings & board.occupied_co[color])
        back_rank = chess.BB_RANK_1 if color else chess.BB_RANK_8
        rooks = board.rooks & board.occupied_co[color] & back_rank if back_rank >> king & 1 else 0
        before = rooks & ((1 << king) - 1)
        behind = rooks & ~before
        kind = letter.lower()
        if kind == "k":
            rook = 1 << chess.msb(behind) if behind else 0
        elif kind == "q":
            rook = before & -before
        elif kind in chess.FILE_NAMES:
            rook = rooks & chess.BB_FILES[chess.FILE_NAMES.index(kind)]
            board.chess960 = True
        else:
            raise BadPosition(f"{text!r} are not castling rights")
        if not rook:
            raise BadPosition(f"there is no king and rook for the castling right {letter!r}")
        if board.castling_rights & (before if rook & before else behind):
            raise BadPosition(f"two castling rights on one side in {text!r}")
        board.castling_rights |= rook
        if chess.square_file(king) != chess.square_file(chess.E1) or not rook & chess.BB_CORNERS:
            board.chess960 = True


def _read_ep(board: chess.Board, text: str) -> int | None:
    if text == "-":
        return None
    if not re.fullmatch("[a-h]6" if board.turn else "[a-h]3", text):
        raise BadPosition(f"{text!r} is not an en passant square here")
    square = chess.parse_square(text)
    behind, ahead = (square - 8, square + 8) if board.turn else (square + 8, square - 8)
    pawn = board.pawns & board.occupied_co[not board.turn]
    if not pawn >> behind & 1 or board.occupied >> square & 1 or board.occupied >> ahead & 1:
        raise BadPosition(f"no pawn can have just passed {text!r}")
    return square
