"""Chess against published counts, the core against python-chess, and what a game remembers."""

import random
from typing import Any

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import _native
from engine.game import MAX_PLIES, WIN_CENTI, BadPosition, Highlight, IllegalMove, replay
from engine.games.standard_chess import ChessPosition, StandardChess
from engine.search.searchers import make_searcher
from engine.stop import StopFlag
from tests.engine.positions import random_position
from tests.shared_data import shared_path

game = StandardChess()
native: Any = make_searcher("chess", 1)

# Leaf counts (https://www.chessprogramming.org/Perft_Results; the last three: threads 55274 and 71379 of
# http://www.talkchess.com, Chess960 castling and checks that no game leads to).
PERFT = {
    chess.STARTING_FEN: [20, 400, 8902, 197281, 4865609],
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1": [48, 2039, 97862, 4085603],
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1": [14, 191, 2812, 43238, 674624],
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1": [6, 264, 9467, 422333],
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8": [44, 1486, 62379, 2103487],
    "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq -": [23, 522, 12333, 285754],
    "8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q -": [34, 318, 9002, 118388],
    "8/6kR/8/8/8/bq6/1rqqqqqq/K1nqnbrq b - -": [7, 52, 4593, 50268],
}


def at(text: str) -> ChessPosition:
    return game.parse_position(text)


def after(text: str, *moves: str) -> ChessPosition:
    return replay(game, moves, at(text))


def texts(position: ChessPosition) -> list[str]:
    return [game.move_text(move) for move in game.legal_moves(position)]


def perft(board: chess.Board, depth: int) -> int:
    if depth == 1:
        return board.legal_moves.count()
    leaves = 0
    for move in board.legal_moves:
        board.push(move)
        leaves += perft(board, depth - 1)
        board.pop()
    return leaves


@pytest.mark.parametrize("text", PERFT)
def test_perft_of_the_native_core(text: str) -> None:
    for depth, leaves in enumerate([1, *PERFT[text]]):
        assert _native.chess_perft(text, depth) == leaves


@pytest.mark.parametrize("text", PERFT)
def test_perft_of_the_rules(text: str) -> None:
    for depth, leaves in enumerate(PERFT[text][:2], start=1):
        assert perft(at(text).board.copy(), depth) == leaves


def test_perft_files() -> None:
    """Every count of the files that a second or so affords."""
    checked = 0
    lines = shared_path("perft/chess_standard.epd").read_text().splitlines()
    counts = [(fen, count) for fen, *found in (line.split(" ;D") for line in lines) for count in found]
    fen = ""
    for line in shared_path("perft/chess_tricky.perft").read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "epd":
            fen = rest
        elif word == "perft":
            counts.append((fen, rest))
    for text, count in counts:
        depth, leaves = map(int, count.split())
        if leaves <= 300_000:
            assert _native.chess_perft(text, depth) == leaves, (text, depth)
            checked += 1
    assert checked > 500


# --- Random positions ---------------------------------------------------------------------------------------


def any_start(rng: random.Random) -> ChessPosition:
    """The usual start, one of Chess960, or few pieces anywhere."""
    kind = rng.randrange(3)
    if kind == 0:
        return game.initial()
    if kind == 1:
        return at(chess.Board.from_chess960_pos(rng.randrange(960)).fen(shredder=True))
    while True:
        board = chess.Board(None)
        letters = ["K", "k", *rng.choices("QRBNPPPqrbnppp", k=rng.randrange(9))]
        for letter, square in zip(letters, rng.sample(range(8, 56), len(letters)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(letter))
        board.turn = rng.random() < 0.5
        if not board.was_into_check():
            return at(board.fen())


def any_game(seed: int, plies: int) -> ChessPosition:
    """Random moves; every other one takes the last one back if it can, so that positions repeat."""
    rng = random.Random(seed)
    position = any_start(rng)
    own = [0, 0]
    for ply in range(plies):
        legal = game.legal_moves(position)
        if not legal:
            break
        move = rng.choice(legal)
        back = (own[ply % 2] >> 6 & 63) | (own[ply % 2] & 63) << 6
        if rng.random() < 0.5 and back in legal:
            move = back
        own[ply % 2] = move
        position = game.play(position, move)
    return position


games = st.builds(any_game, st.integers(0, 2**32 - 1), st.integers(0, 120))


@given(games)
@settings(max_examples=75, deadline=None)
def test_the_core_has_the_same_moves(position: ChessPosition) -> None:
    """By the board alone: draws by count or material end no game there."""
    text = game.position_text(position)
    board = position.board.copy()
    expected = sorted(
        m.from_square + 64 * m.to_square + 4096 * (6 - (m.promotion or 6)) for m in board.legal_moves
    )
    assert _native.chess_perft(text, 1) == len(expected)
    assert _native.chess_perft(text, 2) == perft(board, 2)
    if game.legal_moves(position):
        native.scores_after(position, expected, 0, 0, StopFlag())  # refuses moves that are not legal
    line = game.for_search(position)
    for move in game.legal_moves(line)[:3]:
        following = game.play(line, move)
        assert _native.chess_perft(game.position_text(following), 1) == following.board.legal_moves.count()


@given(games)
@settings(max_examples=50, deadline=None)
def test_text_and_moves(position: ChessPosition) -> None:
    read = at(game.position_text(position))
    assert read == position
    assert hash(read) == hash(position)
    assert (read.past, read.board, read.board.chess960) == (
        position.past,
        position.board,
        position.board.chess960,
    )
    legal = game.legal_moves(position)
    assert game.legal_moves(read) == legal
    assert list(legal) == sorted(set(legal))
    assert [game.parse_move(position, text) for text in texts(position)] == list(legal)
    assert len({game.move_name(position, move) for move in legal}) == len(legal)
    line = game.for_search(position)
    for _ in range(4):
        moves = game.legal_moves(line)
        if not moves:
            break
        line = game.play(line, moves[len(moves) // 2])
        assert at(game.position_text(line)) == line


@given(games)
@settings(max_examples=30, deadline=None)
def test_a_game_is_over_just_when_python_chess_says_so(position: ChessPosition) -> None:
    board = replay_board(position)
    over = (
        board.is_checkmate() or board.is_stalemate() or board.is_repetition(3) or board.is_fifty_moves()
        or board.is_insufficient_material()
    )  # fmt: skip
    assert (not game.legal_moves(position)) == over
    if over:
        assert game.ending(position).kind == (
            "mate" if board.is_checkmate() else "stalemate" if board.is_stalemate() else "draw"
        )
        assert (game.result_centi(position) != 0) == board.is_checkmate()


def replay_board(position: ChessPosition) -> chess.Board:
    """The same by a board that keeps its moves."""
    start = at(position.start).board
    board = chess.Board(position.start, chess960=start.chess960)
    for move in position.moves:
        board.push_uci(game.move_text(move))
    return board


# --- What a game remembers ----------------------------------------------------------------------------------

SHUFFLE = ("g1f3", "g8f6", "f3g1", "f6g8")


def test_the_text_begins_at_the_last_move_that_cannot_be_undone() -> None:
    position = after("startpos", "e2e4", "e7e5", "g1f3")
    fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"
    assert game.position_text(position) == f"{fen} moves g1f3"
    assert game.board_text(position) == "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"
    assert at("startpos moves e2e4 e7e5 g1f3") == position
    king_moved = game.play(position, game.parse_move(position, "e8e7"))
    assert game.position_text(king_moved).split()[2] == "KQ"
    assert not king_moved.moves


def test_third_occurrence() -> None:
    twice = after("startpos", *SHUFFLE)
    assert game.legal_moves(twice)
    thrice = replay(game, SHUFFLE, twice)
    assert game.legal_moves(thrice) == ()
    assert game.result_centi(thrice) == 0
    assert game.ending(thrice) == ("draw", "The same position for the third time.")
    with pytest.raises(IllegalMove):
        game.play(thrice, game.legal_moves(twice)[0])
    with pytest.raises(BadPosition):
        at(game.position_text(thrice) + " e2e4")


def test_repetition_in_a_line_does_not_count() -> None:
    line = replay(game, SHUFFLE * 3, game.for_search(game.initial()))
    assert len(game.legal_moves(line)) == 20
    assert game.position_text(line).startswith(chess.STARTING_FEN + " line g1f3 g8f6")


def test_what_stood_twice_in_the_game_ends_a_line() -> None:
    twice = game.for_search(after("startpos", *SHUFFLE))
    assert len(game.legal_moves(twice)) == 20  # the game goes on
    back = replay(game, SHUFFLE, twice)
    assert game.legal_moves(back) == ()
    assert game.legal_moves(replay(game, SHUFFLE[:3], twice))


def test_a_right_to_castle_makes_another_position() -> None:
    start = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    rook_out_and_back = ("h1h2", "e8d8", "h2h1", "d8e8")
    twice = after(start, *rook_out_and_back, *rook_out_and_back)
    assert game.legal_moves(twice)  # the same board for the third time, but first with another right
    assert game.legal_moves(replay(game, rook_out_and_back[:1], twice)) == ()


def test_en_passant_makes_another_position_only_if_it_is_legal() -> None:
    with_taker = after("4k3/8/8/8/5p2/8/4P3/4K3 w - - 0 1", "e2e4")
    assert " e3 " in game.position_text(with_taker)
    assert "f4e3" in texts(with_taker)
    without = after("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4")
    assert " - " in game.position_text(without)
    pinned = after("8/8/8/8/k4p1R/8/4P3/4K3 w - - 0 1", "e2e4")  # taking would open the rank
    assert "f4e3" not in texts(pinned)
    assert " e3 " not in game.position_text(pinned)


def test_for_search() -> None:
    position = after("startpos", "g1f3")
    root = game.for_search(position)
    assert game.for_search(root) is root
    assert game.position_text(root) == game.position_text(position)
    line = game.play(root, game.parse_move(root, "g8f6"))
    assert game.position_text(line) == game.position_text(position) + " line g8f6"
    assert game.for_search(line) is line


# --- Ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", "mate", "Checkmate."),
        ("k7/1Q6/1K6/8/8/8/8/8 b - - 120 1", "mate", "Checkmate."),  # before the fifty moves
        ("k7/2Q5/1K6/8/8/8/8/8 b - - 0 1", "stalemate", "Stalemate."),
        ("k7/8/1K6/8/8/8/8/R7 b - - 100 1", "draw", "Fifty moves without a capture or a pawn move."),
        ("k7/8/1K6/8/8/8/8/8 b - - 0 1", "draw", "Neither side can give mate."),
        ("k1b5/8/1K6/8/8/8/8/5B2 b - - 0 1", "draw", "Neither side can give mate."),
        ("k7/8/1K6/8/8/8/8/5N2 b - - 0 1", "draw", "Neither side can give mate."),
    ],
)
def test_endings(text: str, kind: str, words: str) -> None:
    position = at(text)
    assert game.legal_moves(position) == ()
    assert game.ending(position) == (kind, words)
    if kind != "mate":
        assert game.result_centi(position) == 0


@pytest.mark.parametrize(
    "text",
    ["k7/8/1K6/8/8/8/8/R7 b - - 99 1", "kb6/8/1K6/8/8/8/8/5B2 b - - 0 1", "kn6/8/1K6/8/8/8/8/5N2 b - - 0 1"],
)
def test_games_that_go_on(text: str) -> None:
    assert game.legal_moves(at(text))


def test_quicker_mates_score_higher() -> None:
    mated = at("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3")
    assert game.result_centi(mated) == -WIN_CENTI - 10_000 + 4
    later = at("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 4")
    assert game.result_centi(later) == game.result_centi(mated) + 2
    last = at("rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 9999")
    assert game.result_centi(last) == -WIN_CENTI - 10_000 + MAX_PLIES


def test_scores_for_people() -> None:
    mated = after("startpos", "f2f3", "e7e5", "g2g4", "d8h4")
    score = game.result_centi(mated)
    assert game.score_text(score, mated) == "#-0"
    assert game.score_text(-score, after("startpos", "f2f3", "e7e5", "g2g4")) == "#1"
    assert game.score_text(score, after("startpos", "f2f3", "e7e5")) == "#-1"
    assert game.score_text(-score, after("startpos", "f2f3")) == "#2"
    assert game.score_text(35.0, mated) == "+0.35"
    assert game.score_text(-1234.5, mated) == "-12.35"
    assert game.score_text(WIN_CENTI, mated) == "won"
    assert game.score_text(-WIN_CENTI, mated) == "lost"


# --- Notation -----------------------------------------------------------------------------------------------


def test_castling() -> None:
    standard = at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    assert {"e1g1", "e1c1"} <= set(texts(standard))
    assert "e1h1" not in texts(standard)
    castles = game.parse_move(standard, "e1g1")
    assert game.parse_move(standard, "e1h1") == castles  # as some programs write it
    assert game.move_name(standard, castles) == "O-O"
    assert game.move_squares(castles) == ("e1", "g1")
    with pytest.raises(IllegalMove):
        game.parse_move(standard, "e1h8")
    assert game.board_rows(game.play(standard, castles))[7] == "R....RK."

    fischer = at("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1")
    assert {"e1h1", "e1a1"} <= set(texts(fischer))
    assert "e1g1" not in texts(fischer)
    assert fischer != standard
    assert game.position_text(fischer) == "r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1"
    short, long = (game.parse_move(fischer, text) for text in ("e1h1", "e1a1"))
    assert game.board_rows(game.play(fischer, short)) == game.board_rows(game.play(standard, castles))
    assert game.move_name(fischer, long) == "O-O-O"


def test_fischer_positions_are_known_by_their_castling_rights() -> None:
    assert at("1rk3r1/8/8/8/8/8/8/1RK3R1 w KQkq - 0 1").board.chess960
    assert game.position_text(at("1rk3r1/8/8/8/8/8/8/1RK3R1 w KQkq - 0 1")).split()[2] == "GBgb"
    # X-FEN: the outermost rook.
    assert game.position_text(at("4k3/8/8/8/8/8/8/RR2K1RR w KQ - 0 1")).split()[2] == "KQ"
    assert game.position_text(at("4k3/8/8/8/8/8/8/RR2K1RR w GB - 0 1")).split()[2] == "GB"
    # Without rights there is nothing to write in another way.
    lost = after("4k3/8/8/8/8/8/8/1R2K3 w B - 0 1", "e1f1")
    assert not lost.board.chess960
    assert at(game.position_text(lost)) == lost


def test_promotions() -> None:
    position = at("8/P7/8/8/8/8/8/k1K5 w - - 0 1")
    assert {"a7a8q", "a7a8r", "a7a8b", "a7a8n"} <= set(texts(position))
    for text in ("a7a8", "a7a8k", "a7a8Q", "c1d1q"):
        with pytest.raises(IllegalMove):
            game.parse_move(position, text)
    queen = game.parse_move(position, "a7a8q")
    assert game.move_name(position, queen) == "a8=Q#"


@pytest.mark.parametrize(
    "text", ["", "e2", "e2e4e5", "e2e9", "a1a1", "0000", "E2E4", "e2e5", "O-O", "\u0665" * 4]
)
def test_moves_that_are_none(text: str) -> None:
    with pytest.raises(IllegalMove):
        game.parse_move(game.initial(), text)


@pytest.mark.parametrize("move", [-1, 0, 5 << 12, 1 << 20, 12 + 64 * 36, 12 + 64 * 28 + 4096])
def test_numbers_that_are_no_moves(move: int) -> None:
    with pytest.raises(IllegalMove):
        game.play(game.initial(), move)


BAD = [
    ("", "a FEN has"),
    ("startpos w", "a FEN has"),
    ("8/8/8/8/8/8/8/8 w - - 0 1", "one king"),
    ("kk6/8/8/8/8/8/8/K7 w - - 0 1", "one king"),
    ("k7/8/8/8/8/8/8/K w - - 0 1", "board|columns"),
    ("k7/8/8/8/8/8/8/K43 w - - 0 1", "board|digits"),
    ("k7/8/8/8/8/8/K7 w - - 0 1", "board|rows"),
    ("k7/8/8/8/8/8/8/K~6 w - - 0 1", "board"),
    ("kQQQQQQQ/QQQQQQQQ/Q7/8/8/8/8/K7 b - - 0 1", "sixteen"),
    ("k6P/8/8/8/8/8/8/K7 w - - 0 1", "pawn"),
    ("k7/8/8/8/8/8/8/K7 x - - 0 1", "w or b"),
    ("k7/8/8/8/8/8/8/KR5r b - - 0 1 0", "a FEN has"),
    ("k7/8/8/8/8/8/8/R3K2r b - - 0 1", "in check"),
    ("k7/8/8/8/8/8/8/K7 w K - 0 1", "castling"),
    ("4k3/8/8/8/8/8/8/R3K2R w QA - 0 1", "two castling rights"),
    ("4k3/8/8/8/8/8/8/R3K2R w KQx - 0 1", "castling rights"),
    ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "passed"),
    ("4k3/8/8/4p3/8/8/8/4K3 w - e3 0 1", "en passant"),
    ("4k3/4p3/8/4p3/8/8/8/4K3 w - e6 0 1", "passed"),
    ("4k3/8/8/8/8/8/8/R3K3 w - - x 1", "not a count"),
    ("4k3/8/8/8/8/8/8/R3K3 w - - -1 1", "not a count"),
    ("4k3/8/8/8/8/8/8/R3K3 w - - 0 10000", "not a count|no move number"),
    ("startpos moves e2e5", "e2e5"),
    ("startpos line e2e4 e2e4", "e2e4"),
    ("startpos moves e2e4 moves e7e5", "moves"),
]


@pytest.mark.parametrize(("text", "complaint"), BAD)
def test_bad_positions_say_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(BadPosition, match=complaint):
        at(text)
    with pytest.raises(ValueError, match=r"\w"):
        _native.chess_perft(text, 1)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_both_readers_refuse_the_same_texts(data: st.DataObject) -> None:
    text = data.draw(
        st.sampled_from([*PERFT, *(text for text, _ in BAD), "startpos moves e2e4 line e7e5 g1f3"])
    )
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 2))
        text = (
            text[:place]
            + data.draw(st.text("KQRBNPkqrbnp12345678/- wabcdefgh0\t", max_size=2))
            + text[place + cut :]
        )
    try:
        position = at(text)
    except BadPosition:
        with pytest.raises(ValueError, match=r"\w"):
            _native.chess_perft(text, 1)
    else:
        assert _native.chess_perft(text, 1) == position.board.legal_moves.count()


# --- What else a page and a clock ask -----------------------------------------------------------------------


def test_check_is_pointed_out() -> None:
    assert game.highlights(game.initial()) == ()
    checked = after("startpos", "e2e4", "f7f6", "d1h5")
    assert game.highlights(checked) == (Highlight("check", ("e8",), "Black is in check."),)


def test_sides_and_rows() -> None:
    position = game.initial()
    assert game.sides[game.side_to_move(position)] == "white"
    assert game.sides[game.side_to_move(after("startpos", "e2e4"))] == "black"
    assert game.board_rows(position)[0] == "rnbqkbnr"
    assert game.board_rows(position)[7] == "RNBQKBNR"
    assert game.board_rows(position)[4] == "........"


@given(st.integers(0, 2**32 - 1), st.integers(0, 150))
@settings(max_examples=40, deadline=None)
def test_no_game_is_longer_than_said(seed: int, plies: int) -> None:
    position: Any = random_position(game, random.Random(seed), plies)
    most = game.most_plies_left(position)
    assert most > game.deepest_search
    assert game.plies_left(position) >= 1
    for move in game.legal_moves(position)[:5]:
        following = game.play(position, move)
        if following.board.halfmove_clock == 0:
            assert game.most_plies_left(following) <= most - 100
        else:
            assert game.most_plies_left(following) == most


def test_recorded_games_replay() -> None:
    """Games between people: every move legal, and notes as they wrote them."""
    import chess.pgn

    replayed = 0
    with shared_path("chess-games/lichess_2021-10-01.pgn").open() as file:
        while replayed < 12 and (record := chess.pgn.read_game(file)) is not None:
            position = game.initial()
            for node in record.mainline():
                move = game.parse_move(position, node.move.uci())
                assert game.move_name(position, move) == node.san()
                position = game.play(position, move)
            assert position.board.fen() == record.end().board().fen()
            replayed += 1
    assert replayed == 12
