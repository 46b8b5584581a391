from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.formats import files, pgn, transcripts
from engine.formats.files import GameFormat
from engine.formats.pgn import BadPgn
from engine.formats.pgn_splitter import PgnText, split
from engine.formats.record import BadGame, GameRecord, steps
from tests.engine.playouts import TEXTS, playouts
from tests.shared_data import shared_path

LICHESS = """[Event "Rated Bullet game"]
[Site "https://lichess.org/NRafdioG"]
[Date "2021.10.01"]
[Round "-"]
[White "xtz"]
[Black "al_fatih"]
[Result "1-0"]
[WhiteElo "1703"]
[BlackElo "?"]
[ECO "B50"]
[TimeControl "60+0"]
[Termination "Time forfeit"]

1. e4 { [%eval 0.17] [%clk 0:01:00] } 1... c5 $6 { [%eval -0.5] } (1... e5 2. f4 (2. d4) ) 2. Nf3! { a comment
[Event "in which tags are none"] } 2... d6 ; 3. h4
% escaped
3. Bb5+ 1-0
"""
PLAYOK = """[Event "?"]
[Site "PlayOK"]
[Date "2021.03.04"]
[Black "anna"]
[White "otto"]
[Result "34-30"]
[Time "10:11:12"]
[TimeControl "120"]
[BlackElo "1234"]
[WhiteElo "1100"]

1. f5 d6 2. c3 -- 3. d3 34-30
"""
LIVE = """[Event "WOC"]
[Black "A"]
[White "B"]
[Result "40-24"]

1. f5 f4 3. e3 f6 5. d3 c5
"""
XIANGQI = """[Game "Chinese Chess"]
[Event "Cup"]
[Red "Hu"]
[Black "Xu"]
[Result "1/2-1/2"]
[Format "ICCS"]

1. H2-E2 H9-G7
2. H0-G2 I9-H9 1/2-1/2
"""


def only(text: str) -> str:
    (game,) = split(text.splitlines(keepends=True))
    assert isinstance(game, PgnText)
    return text


def test_chess_with_all_that_annotators_write() -> None:
    assert pgn.parse(only(LICHESS)) == GameRecord(
        game="chess",
        players=("xtz", "al_fatih"),
        moves=("e2e4", "c7c5", "g1f3", "d7d6", "f1b5"),
        points=1.0,
        ending="timeout",
        event="Rated Bullet game",
        place="https://lichess.org/NRafdioG",
        date="2021.10.01",
        ratings=(1703, None),
        clocks=("60+0", "60+0"),
        evaluations=(0.17, 0.5, None, None, None),
        tags=(("ECO", "B50"),),
    )


def test_othello_of_a_site() -> None:
    game = pgn.parse(only(PLAYOK))
    assert (game.game, game.players) == ("othello", ("anna", "otto"))
    assert game.moves == ("f5", "d6", "c3", "d3")
    assert (game.margin, game.points, game.ratings) == (4, 1.0, (1234, 1100))
    assert game.tags == (("Time", "10:11:12"),)


def test_othello_with_numbered_plies() -> None:
    assert pgn.parse(only(LIVE)).moves == ("f5", "f4", "e3", "f6", "d3", "c5")


def test_othello_that_does_not_say_so() -> None:
    """Only when it is no chess, which is the commoner of the two."""
    assert pgn.parse("1. f5 d6 2. c3 *").game == "othello"
    assert pgn.parse("1. c4 c5 *").game == "chess"
    assert pgn.parse("1. c4 c5 *", "othello").game == "othello"
    assert pgn.parse('[Variant "Reversi"]\n\n1. c4 c5 *').game == "othello"


def test_what_the_moves_say_counts_and_not_the_result() -> None:
    start = '[SetUp "1"]\n[FEN "8/8/8/8/8/8/8/6bw b"]\n[Variant "Othello"]\n[Result "10-54"]\n\n'
    wiped_out = start.replace("6bw", "5bw1") + "1. h8 *"
    assert (pgn.parse(wiped_out).margin, pgn.parse(wiped_out).points) == (64, 1.0)


@pytest.mark.parametrize("result", ["65-0", "40-25", "99-99", "100-0", f"0-{'9' * 30}"])
def test_a_result_of_more_discs_than_there_are_is_none(result: str) -> None:
    text = f'[Variant "Othello"]\n[Result "{result}"]\n\n1. f5 d6'
    with pytest.raises(BadPgn, match=r"a result of [-0-9]+ discs is impossible"):
        pgn.parse(f"{text} *")
    assert pgn.parse(text.replace(result, "40-24")).margin == 16


def test_the_kind_of_othello_is_kept() -> None:
    game = pgn.parse(PLAYOK.replace('[Time "', '[Variant "xot"]\n[Time "'))
    assert ("Variant", "xot") in game.tags
    assert pgn.parse(pgn.write(game)) == game


def test_xiangqi() -> None:
    game = pgn.parse(only(XIANGQI))
    assert (game.game, game.players, game.points) == ("xiangqi", ("Hu", "Xu"), 0.5)
    assert game.moves == ("h3e3", "h10g8", "h1g3", "i10h10")
    assert "1. H2-E2 H9-G7 2. H0-G2 I9-H9 1/2-1/2" in pgn.write(game)
    wxf = XIANGQI.replace("H2-E2 H9-G7", "C2=5 H8+7").replace("H0-G2 I9-H9", "H2+3 R9=8")
    assert pgn.parse(only(wxf)).moves == game.moves


def test_chess960_castles_onto_its_rook() -> None:
    text = (
        '[Variant "Chess960"]\n[SetUp "1"]\n'
        '[FEN "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1"]\n\n'
        "1. Ng3 Ng6 2. O-O O-O *"
    )
    game = pgn.parse(text)
    assert game.moves == ("h1g3", "h8g6", "f1g1", "f8g8")
    assert '[Variant "Chess960"]' in pgn.write(game)
    assert "2. O-O O-O" in pgn.write(game)
    assert [move for _, move in steps(game)]


def test_chess960_where_king_and_rooks_stand_as_in_chess() -> None:
    """Then the FEN alone does not show it."""
    text = '[Variant "Chess960"]\n[FEN "rnnqkbbr/pppppppp/8/8/8/8/PPPPPPPP/RNNQKBBR w KQkq - 0 1"]\n\n*'
    game = pgn.parse(text)
    assert game.start == "rnnqkbbr/pppppppp/8/8/8/8/PPPPPPPP/RNNQKBBR w HAha - 0 1"
    assert pgn.parse(pgn.write(game)) == game
    with pytest.raises(pgn.BadPgn, match="FEN: "):
        pgn.parse(text.replace("rnnqkbbr", "nonsense"))


@pytest.mark.parametrize(
    ("variant", "moves", "game"),
    [
        ("Crazyhouse", "1. e4 d5 2. exd5 Qxd5 3. Nc3 Qa5 4. P@d5 *", "crazyhouse"),
        ("King of the Hill", "1. e4 e5 2. Ke2 *", "kingOfTheHill"),
        ("Three-check", "1. e4 e5 2. Qh5 Nc6 3. Qxf7+ *", "threeCheck"),
        ("Antichess", "1. e3 b5 2. Bxb5 *", "antichess"),
        ("From Position", "1. e4 *", "chess"),
    ],
)
def test_variants_of_chess(variant: str, moves: str, game: str) -> None:
    read = pgn.parse(f'[Variant "{variant}"]\n\n{moves}')
    assert read.game == game
    assert pgn.parse(pgn.write(read)) == read


def test_uci_and_castling_with_zeros_are_read() -> None:
    assert pgn.parse("1. e2e4 e7e5 2. g1f3 b8c6 3. f1b5 a7a6 4. 0-0 *").moves[-1] == "e1g1"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "neither tags nor moves"),
        ("1. e4 e5 2. e5 *", r"move 3: 'e5' is not a legal move"),
        ("1. e4 f6 2. Qh5 -- *", "move 4: '--' is not a legal move"),
        ("1. e4 e9 *", "move 2: 'e9' is not a move"),
        ("1. e4 e5 2. N:f3 *", "move 3: 'N:f3' is not a move"),
        ("1. e4 e5 2. Nf *", "move 3: 'Nf' is not a move"),
        ("1. e4 e5 * 1. d4 *", "2 games instead of one"),
        ("1. f5 f5 *", "move 1: 'f5' is not a legal move in 'rnbq"),
        ('[FEN "8/8"]\n\n*', "FEN: "),
        ('[Variant "Bughouse"]\n\n1. e4 *', "unknown variant 'Bughouse'"),
        ('[Result "34-30"]\n\n1. Nf3 *', "move 1: 'nf3' is not a square"),
        ('[Red "x"]\n\n1. 炮二平二 *', "move 1: "),
    ],
)
def test_texts_that_are_no_game(text: str, why: str) -> None:
    with pytest.raises(BadPgn, match=why):
        pgn.parse(text)


def test_what_has_no_pgn() -> None:
    with pytest.raises(BadPgn, match="no PGN form of Connect Four"):
        pgn.write(GameRecord(game="connect4"))
    with pytest.raises(BadPgn, match="move 1: 'e2e5' is not a legal move"):
        pgn.write(GameRecord(game="chess", moves=("e2e5",)))


def test_a_file_is_cut_into_games() -> None:
    untagged = "1. e4 e5 *\n1. d4 0-1\n"
    found = files.read((LICHESS + "\n" + PLAYOK + "\n\n" + untagged + XIANGQI).split("\n"), GameFormat.PGN)
    games = [each.game for each in found if isinstance(each, GameRecord)]
    assert games == ["chess", "othello", "chess", "chess", "xiangqi"]


@pytest.mark.parametrize("game", ["othello", "chess", "xiangqi", "crazyhouse"])
@settings(deadline=None, max_examples=50)
@given(st.data())
def test_what_is_written_is_read_again(game: str, data: st.DataObject) -> None:
    elsewhere = game in ("othello", "chess")
    plies = 80 if game == "othello" else 24
    record = data.draw(playouts(game, elsewhere=elsewhere, most_plies=plies))
    # What PGN writes for "not known" is not known again.
    texts = ("event", "place", "round", "date")
    record = replace(record, **{name: _known(getattr(record, name)) for name in texts})  # type: ignore[arg-type]
    record = replace(record, players=(_known(record.players[0]), _known(record.players[1])))
    record = replace(record, clocks=(_known(record.clocks[0]), _known(record.clocks[1])))
    text = pgn.write(record)
    assert max(map(len, text.partition("\n\n")[2].splitlines()), default=0) <= 80
    assert pgn.parse(text) == record


def _known(text: str) -> str:
    return "" if text in ("?", "-", "????.??.??") else text


@given(TEXTS, TEXTS)
def test_names_may_be_anything(white: str, event: str) -> None:
    record = GameRecord(game="chess", players=(f'"{white}"]\\', "x"), event=f"[{event}", moves=("e2e4",))
    assert pgn.parse(pgn.write(record)) == record


FRAGMENTS = st.sampled_from(
    [
        *"\n{}()% ;", '[White "', '"]', "1.", "e4", "f5", "1-0", "34-30", "[%emt 0:0:1]", "[%eval 1e9]", "--",
        "O-O", '[Variant "Othello"]\n', '[FEN "', "8/8/8/8/8/8/8/8 w - - 0 1", "e.p.", "$1",
    ]
)  # fmt: skip


@given(st.text() | st.lists(FRAGMENTS | st.text(max_size=3), max_size=20).map("".join))
def test_no_text_raises_another_error(text: str) -> None:
    for game in (None, "othello", "chess", "xiangqi"):
        for found in files.read(text.split("\n"), GameFormat.PGN, game):
            if isinstance(found, GameRecord):
                assert pgn.parse(pgn.write(found), found.game).moves == found.moves


def test_real_games_make_the_round_trip() -> None:
    with shared_path("chess-games/lichess_2021-10-01.pgn").open(encoding="utf-8") as file:
        texts = list(split(file))
    assert len(texts) == 999
    for text in texts[::10]:
        assert isinstance(text, PgnText)
        found = pgn.read(text)
        assert found.record.points is not None
        assert len(found.record.clocks_s) == len(found.record.moves)
        assert found.skipped == []
        assert pgn.parse(pgn.write(found.record)) == found.record


def test_null_moves_of_annotators() -> None:
    for word in ("--", "Z0", "0000", "@@@@"):
        game = pgn.parse(f"1. e4 e5 2. Nf3 Nc6 3. {word} Nf6 4. Nc3 1-0")
        assert game.moves == ("e2e4", "e7e5", "g1f3", "b8c6", "0000", "g8f6", "b1c3")
    assert "3. -- Nf6" in pgn.write(game)
    assert pgn.parse(pgn.write(game)) == game
    played = list(steps(game))
    assert [move > 0 for _, move in played] == [True] * 4 + [False] + [True] * 2
    assert [position.board.turn for position, _ in played] == [True, False] * 3 + [True]
    with pytest.raises(BadGame, match="move 4: '--' is not a legal move"):
        list(steps(GameRecord(game="chess", moves=("e2e4", "f7f6", "d1h5", "0000"))))
    with pytest.raises(BadGame, match="no null moves"):
        transcripts.write(game)
    with pytest.raises(BadGame, match="no null moves"):
        transcripts.parse(" ".join(game.moves), "chess")


def test_dates_of_the_first_years_of_lichess() -> None:
    tags = '[UTCDate "2012.12.31"]\n[UTCTime "23:01:03"]\n'
    game = pgn.parse(f"{tags}\n1. e4 e6 1-0")
    assert (game.date, dict(game.tags)["UTCDate"]) == ("2012.12.31", "2012.12.31")
    assert pgn.parse(pgn.write(game)) == game
    assert pgn.parse(f'{tags}[Date "2013.01.01"]\n\n1. e4 *').date == "2013.01.01"
    assert pgn.parse('[UTCDate "????.??.??"]\n\n1. e4 *').date == ""


def test_remarks_and_moves_of_all_kinds() -> None:
    text = "1. e2-e4 e7e5 2. Ng1f3 Nc6 N 3. Bb5 +/- a6 = 4. 0-0?! $1 f5 ± 5. exf5 g5 6. fxg6e.p.!! D *"
    assert pgn.parse(text).moves[-3:] == ("e4f5", "g7g5", "f5g6")


def test_the_last_of_a_moves_annotations_counts() -> None:
    (found,) = files.read(
        ["1. e4 {[%eval 0.1] [%clk 0:01:02.5]} {[%eval -0.2]} (1. d4 {[%clk 0:0:1]}) e5 {[%emt 1:0:0]} *"],
        GameFormat.PGN,
    )
    assert isinstance(found, GameRecord)
    assert found.evaluations == (-0.2, None)
    assert found.times_s == (None, 3600.0)
    assert found.clocks_s == (62.5, None)


def test_a_long_line_of_comments_is_read_in_no_time() -> None:
    """python-chess alone would copy its rest after each of them: 10 GB."""
    game = pgn.parse("1. e4 " + "{x}" * 50_000 + " e5 *")
    assert game.moves == ("e2e4", "e7e5")


def test_a_start_that_is_none_is_told() -> None:
    with pytest.raises(BadGame, match="start: "):
        list(steps(GameRecord(game="chess", start="rubbish")))
