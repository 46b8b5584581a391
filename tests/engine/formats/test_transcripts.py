import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.formats import transcripts
from engine.formats.record import GameRecord
from engine.formats.transcripts import BadTranscript
from engine.games import GAMES
from tests.engine.playouts import playouts
from tests.shared_data import shared_path


@pytest.mark.parametrize(
    "line",
    [
        "f5d6c3d3c4",
        "F5D6C3D3C4",
        "1. f5 d6 2. c3 d3 3. c4",
        "1. f5 2. d6 3. c3 4. d3 5. c4",
        "f5 d6 c3 d3 c4 0-1 33:31 H9",
        "f5-d6-c3-d3-c4",
        "f5--d6pac3psd3PASSc4",
        "f5 -- d6 pa c3 ps d3 pass c4",
    ],
)
def test_othello_in_many_hands(line: str) -> None:
    assert transcripts.parse(line).moves == ("f5", "d6", "c3", "d3", "c4")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("hello", "no move in 'hello'"),
        ("f5f5", "disc 2: 'f5' is not a legal move"),
        ("e2e4 e7e5", "disc 1: 'e2'"),
    ],
)
def test_lines_that_are_no_game(line: str, why: str) -> None:
    with pytest.raises(BadTranscript, match=why):
        transcripts.parse(line)


def test_other_games_are_told_in_their_own_notation() -> None:
    mated = transcripts.parse("f2f3 e7e5 g2g4 d8h4", "chess")
    assert (mated.moves[-1], mated.points) == ("d8h4", 0.0)
    xiangqi = transcripts.parse("h3e3 H9-G7", "xiangqi")
    assert (xiangqi.moves, xiangqi.points) == (("h3e3", "h10g8"), None)
    with pytest.raises(BadTranscript, match="move 2: 'e2e4'"):
        transcripts.parse("e2e4 e2e4", "chess")
    with pytest.raises(BadTranscript, match="no move"):
        transcripts.parse("  ", "chess")


def test_a_game_from_elsewhere_has_no_transcript() -> None:
    with pytest.raises(BadTranscript, match="usual start"):
        transcripts.write(GameRecord(game="othello", start="8/8/8/3bw3/3wb3/8/8/8 b"))


@given(playouts("othello"))
def test_what_is_written_is_read_again(record: GameRecord) -> None:
    if not any(move != "pass" for move in record.moves):
        return
    read = transcripts.parse(transcripts.write(record))
    # A pass at the end of an unfinished game is in nobody's transcript.
    last = len(record.moves) - (record.moves[-1] == "pass")
    assert read.moves == record.moves[:last]
    assert read.margin == record.margin
    assert read.points == (None if record.margin is None else record.points)


@pytest.mark.parametrize("game", ["chess", "xiangqi", "connect4", "tictactoe"])
def test_other_games_are_read_again(game: str) -> None:
    moves = []
    rules = GAMES[game]
    position = rules.initial()
    for ply in range(6):
        move = rules.legal_moves(position)[ply % 3]
        moves.append(rules.move_text(move))
        position = rules.play(position, move)
    record = GameRecord(game=game, moves=tuple(moves))
    assert transcripts.parse(transcripts.write(record), game) == record


@given(st.text() | st.text("abcdefgh12345678 -paPA.", max_size=40), st.sampled_from(["othello", "chess"]))
def test_no_line_raises_another_error(line: str, game: str) -> None:
    transcripts.is_remark(line)
    try:
        transcripts.parse(line, game)
    except BadTranscript:
        return


def test_a_list_of_openings_is_read() -> None:
    lines = shared_path("openings/xot_8ply_small.txt").read_text().splitlines()
    assert {len(transcripts.parse(line).moves) for line in lines[:500]} == {8}
