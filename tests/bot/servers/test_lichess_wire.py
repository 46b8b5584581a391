import html
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.base.dialects import BLACK, DIALECTS, WHITE, Dialect, SiteVariant, get_dialect
from bot.base.errors import ConfigError, ProtocolError
from bot.base.events import (
    Challenge,
    ChallengeGone,
    ChallengeReceived,
    ChatLine,
    Clock,
    EndReason,
    GameEnd,
    GameFinished,
    GameSnapshot,
    GameStarted,
    GameState,
    Opponent,
    OpponentGone,
    Room,
    Speed,
    Tournament,
)
from bot.base.game_server import UnplayableGame
from bot.servers.lichess_wire import (
    ChallengeDone,
    ChallengeMade,
    GameReader,
    read_account,
    read_account_event,
    read_challenge_answer,
    read_line,
    read_online_bot,
    read_playing,
    read_rating_diff,
    read_tournament,
)
from bot.servers.pychess import read_end
from engine.games import GAMES

ARENA = DIALECTS["arena"]
CHESS = Dialect("test", "", 7.0, {"standard": SiteVariant("chess", (WHITE, BLACK))})
SPECS = Path(__file__).parents[3].parent / "shared" / "data" / "lichess-openapi" / "specs"


def state(**fields: Any) -> dict[str, Any]:
    whole = {
        "type": "gameState",
        "moves": "",
        "wtime": 61000,
        "btime": 59500,
        "winc": 2000,
        "binc": 2000,
        "status": "started",
    }
    return whole | fields


def full(**fields: Any) -> dict[str, Any]:
    whole = {
        "type": "gameFull",
        "id": "abcd1234",
        "variant": {"key": "othello", "name": "Othello", "short": "Oth"},
        "clock": {"initial": 60000, "increment": 2000},
        "speed": "bullet",
        "perf": {"name": "Othello"},
        "rated": True,
        "createdAt": 1745112707998,
        "white": {"id": "ann", "name": "Ann", "title": None, "rating": 1412, "provisional": True},
        "black": {"id": "desdemona", "name": "Desdemona", "title": "BOT", "rating": 1500},
        "initialFen": "startpos",
        "state": state(),
    }
    return whole | fields


def read_game(*messages: dict[str, Any]) -> list[Any]:
    reader = GameReader(ARENA, "desdemona")
    return [reader.read(message) for message in messages]


def challenge(**fields: Any) -> dict[str, Any]:
    whole = {
        "id": "chal0001",
        "url": "http://127.0.0.1/chal0001",
        "status": "created",
        "challenger": {"id": "ann", "name": "Ann", "rating": 1412, "title": None},
        "destUser": {"id": "desdemona", "name": "Desdemona", "rating": 1500, "title": "BOT"},
        "variant": {"key": "othello", "name": "Othello", "short": "Oth"},
        "rated": True,
        "speed": "blitz",
        "timeControl": {"type": "clock", "limit": 300, "increment": 3, "show": "5+3"},
        "color": "random",
        "perf": {"icon": "", "name": "Othello"},
    }
    return {"type": "challenge", "challenge": whole | fields}


def read_challenge(**fields: Any) -> Challenge:
    event = read_account_event(challenge(**fields), ARENA, "desdemona")
    assert isinstance(event, ChallengeReceived)
    return event.challenge


# --- Dialects -------------------------------------------------------------------------------------------


def test_every_dialect_names_known_games() -> None:
    for name, dialect in DIALECTS.items():
        assert dialect.name == name
        assert all(variant.game in GAMES for variant in dialect.variants.values())


def test_unknown_dialect_is_a_config_error() -> None:
    assert get_dialect("arena") is ARENA
    with pytest.raises(ConfigError, match=r"'nowhere'; known: arena"):
        get_dialect("nowhere")


# --- Lines ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [b"", b"\n", b" \r\n"])
def test_blank_lines_are_keep_alives(line: bytes) -> None:
    assert read_line(line) is None


def test_so_many_brackets_and_no_more() -> None:
    assert read_line(b'{"a": [%s[]]}' % (b"[]," * 497)) is not None
    with pytest.raises(ProtocolError, match="brackets"):
        read_line(b'{"a": [%s{}]}' % (b"[]," * 498))


@pytest.mark.parametrize(
    "line",
    [b"{", b"[1]\n", b"null", b'{"a":NaN}', b"\xff\xfe", b"<html>", b'"gameFull"', b"[" * 100_000],
    ids=["cut", "list", "null", "nan", "bytes", "html", "text", "deep"],
)
def test_broken_lines_keep_what_was_received(line: bytes) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_line(line)
    if not line.startswith(b"null"):
        assert caught.value.raw is not None


# --- The account's stream -------------------------------------------------------------------------------


def test_challenge() -> None:
    assert read_challenge() == Challenge(
        id="chal0001",
        challenger=Opponent("ann", "Ann", 1412, is_bot=False),
        game="othello",
        variant="othello",
        kind="othello",
        rated=True,
        speed=Speed.BLITZ,
        clock=Clock(300, 3),
        days_per_turn=None,
        initial_position=None,
        is_ours=False,
        our_rating=1500,
    )


START_518 = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
START_960 = "bqnnrkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNNRKRB w KQkq - 0 1"
ENDING = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
XIANGQI_ENDING = "4k4/9/9/9/9/9/9/9/R8/3K5 w"


@pytest.mark.parametrize(
    ("key", "fen", "kind", "start"),
    [
        ("standard", None, "chess", None),
        ("standard", "startpos", "chess", None),
        ("standard", START_518, "chess", None),
        ("chess960", None, "chess960", None),
        ("chess960", START_960, "chess960", START_960),
        ("fromPosition", ENDING, "from_position", ENDING),
        ("fromPosition", START_518, "from_position", None),
    ],
)
def test_kinds_of_chess(key: str, fen: str | None, kind: str, start: str | None) -> None:
    message = challenge(variant={"key": key}, initialFen=fen)
    for dialect in ("lichess", "arena"):
        event = read_account_event(message, DIALECTS[dialect], "desdemona")
        assert isinstance(event, ChallengeReceived)
        asked = event.challenge
        assert (asked.game, asked.variant, asked.kind, asked.initial_position) == ("chess", key, kind, start)


def test_the_start_of_a_game_of_others_is_shown_as_it_is() -> None:
    asked = read_challenge(variant={"key": "dubious"}, initialFen="some position")
    assert (asked.game, asked.kind, asked.initial_position) == (None, "", "some position")


@pytest.mark.parametrize(("told", "expected"), [(10_000, 10_000), (10_001, None), (-10_001, None)])
def test_ratings_beyond_all_reason_are_none(told: int, expected: int | None) -> None:
    asked = read_challenge(destUser={"id": "desdemona", "rating": told})
    assert asked.our_rating == expected


def test_positions_that_cannot_be_played_are_no_game_of_ours() -> None:
    for fen in ("8/8/8/8/8/8/8/8 w - - 0 1", "rubbish", "8/8 \ud800", "8" * 501):
        event = read_account_event(
            challenge(variant={"key": "fromPosition"}, initialFen=fen), DIALECTS["lichess"], "desdemona"
        )
        assert isinstance(event, ChallengeReceived)
        assert (event.challenge.game, event.challenge.kind) == (None, "")


def test_other_games_from_a_position() -> None:
    asked = read_challenge(initialFen="8/8/8/3wb3/3bw3/3b4/8/8 w")
    assert (asked.kind, asked.initial_position) == ("from_position", "8/8/8/3wb3/3bw3/3b4/8/8 w")
    assert read_challenge(initialFen="8/8/8/3wb3/3bw3/8/8/8 b").kind == "othello"


@pytest.mark.parametrize(
    ("key", "fen"), [("fromPosition", ENDING.rpartition(" ")[0]), ("xiangqi", f"{XIANGQI_ENDING} - - 12")]
)
def test_no_game_begins_after_thousands_of_moves(key: str, fen: str) -> None:
    """The score of a mate tells some thousands of plies apart, and counts from the game's start."""
    for told, read in (("1000", "1000"), ("1001", "1000"), ("4500", "1000"), ("9" * 40, "1000"), ("0", "0")):
        asked = read_challenge(variant={"key": key}, initialFen=f"{fen} {told}")
        (snapshot,) = read_game(full(variant={"key": key}, initialFen=f"{fen} {told}"))
        assert asked.initial_position == snapshot.initial_position == f"{fen} {read}"


def test_a_late_mate_is_still_worth_more_the_sooner_it_comes() -> None:
    fen = START_518.replace("0 1", "0 9000")
    (snapshot,) = read_game(full(variant={"key": "fromPosition"}, initialFen=fen))
    chess = GAMES["chess"]
    lost = []
    for moves in ("f2f3 e7e5 g2g4 d8h4", "a2a3 a7a6 f2f3 e7e5 g2g4 d8h4"):
        position = chess.parse_position(snapshot.initial_position)
        for move in moves.split():
            position = chess.play(position, chess.parse_move(position, move))
        lost.append(chess.result_centi(position))
    assert lost[0] < lost[1]


@pytest.mark.parametrize("key", ["fromPosition", "xiangqi"])
@pytest.mark.parametrize("counts", ["-1 1", "99999 1", "x 1", "1.5 1", "0 -1", "0 x", "\u0661 1"])
def test_counts_that_are_none_are_refused(key: str, counts: str) -> None:
    board = ENDING.split()[0] if key == "fromPosition" else XIANGQI_ENDING.split()[0]
    fen = f"{board} w - - {counts}"
    assert read_challenge(variant={"key": key}, initialFen=fen).game is None
    with pytest.raises(ProtocolError, match="bad starting position"):
        read_game(full(variant={"key": key}, initialFen=fen))


@pytest.mark.parametrize(
    "flaw",
    [
        {"initialFen": "nonsense"},
        {"rated": "perhaps"},
        {"clock": {"initial": "soon"}},
        {"state": {"type": "gameState"}},
        {"state": "none"},
    ],
)
def test_a_game_that_cannot_be_played_says_what_is_known_of_it(flaw: dict[str, Any]) -> None:
    """So that it can be stored."""
    with pytest.raises(UnplayableGame) as caught:
        read_game(full(**flaw))
    known = caught.value.snapshot
    whole = read_game(full())[0]
    assert (known.game_id, known.our_side, known.opponent) == (whole.game_id, whole.our_side, whole.opponent)
    assert (known.initial_position, known.state.moves, known.state.end) == (None, (), None)


@pytest.mark.parametrize(("rules", "can_abort"), [(["noAbort"], False), (["noRematch"], True), (None, True)])
def test_the_rules_of_a_challenge(rules: list[str] | None, can_abort: bool) -> None:
    assert read_challenge(rules=rules).can_abort is can_abort


def test_slow_challenges() -> None:
    slow = read_challenge(timeControl={"type": "correspondence", "daysPerTurn": 3}, speed="correspondence")
    assert (slow.clock, slow.days_per_turn, slow.speed) == (None, 3, Speed.CORRESPONDENCE)
    unlimited = read_challenge(timeControl={"type": "unlimited"}, speed="correspondence")
    assert (unlimited.clock, unlimited.days_per_turn) == (None, None)


def test_challenge_of_our_own_and_of_nobody() -> None:
    assert read_challenge(challenger={"id": "desdemona", "name": "Desdemona", "title": "BOT"}).is_ours
    assert read_challenge(challenger=None).challenger is None
    nobody = challenge()
    del nobody["challenge"]["challenger"]
    event = read_account_event(nobody, ARENA, "desdemona")
    assert isinstance(event, ChallengeReceived)
    assert event.challenge.challenger is None
    assert not event.challenge.is_ours


def test_challenge_to_what_we_do_not_play() -> None:
    asked = read_challenge(
        variant={"key": "chess960", "name": "Chess960"}, timeControl={"type": "unlimited"}, initialFen="8/8"
    )
    assert (asked.game, asked.kind, asked.variant, asked.clock) == (None, "", "chess960", None)
    assert asked.initial_position == "8/8"


@pytest.mark.parametrize("kind", ["challengeCanceled", "challengeDeclined"])
def test_challenge_gone(kind: str) -> None:
    message = challenge(status="canceled", declineReason="x") | {"type": kind}
    assert read_account_event(message, ARENA, "desdemona") == ChallengeGone("chal0001")


def test_game_start_and_finish() -> None:
    game = {"gameId": "abcd1234", "variant": {"key": "othello", "name": "Othello"}, "new field": [1]}
    start = {"type": "gameStart", "game": game}
    assert read_account_event(start, ARENA, "x") == GameStarted("abcd1234", True, game="othello")
    chess = {"type": "gameStart", "game": game | {"variant": {"key": "antichess"}}}
    assert read_account_event(chess, ARENA, "x") == GameStarted("abcd1234", False)
    finish = {"type": "gameFinish", "game": game | {"ratingDiff": -7}}
    assert read_account_event(finish, ARENA, "x") == GameFinished("abcd1234", -7)
    assert read_account_event({"type": "gameFinish", "game": game}, ARENA, "x") == GameFinished(
        "abcd1234", None
    )


@pytest.mark.parametrize(
    ("fields", "is_tournament"),
    [
        ({"tournamentId": "cypr0001"}, True),
        ({"source": "arena"}, True),
        ({"source": "friend", "tournamentId": None}, False),
    ],
)
def test_which_games_a_tournament_paired(fields: dict[str, Any], is_tournament: bool) -> None:
    game = {"gameId": "abcd1234", "variant": {"key": "othello"}} | fields
    started = read_account_event({"type": "gameStart", "game": game}, ARENA, "x")
    assert started == GameStarted("abcd1234", True, game="othello", is_tournament=is_tournament)
    (snapshot,) = read_game(full(**fields))
    assert snapshot.is_tournament is is_tournament


CYPRUS = {"id": "cypr0001", "fullName": "Cyprus Arena", "variant": "chess960"}


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, Tournament("Cyprus Arena", "chess", "chess960", is_over=False)),
        (
            {"variant": {"key": "antichess", "name": "Antichess"}},
            Tournament("Cyprus Arena", None, "antichess", is_over=False),
        ),
        (
            {"isFinished": True},
            Tournament("Cyprus Arena", "chess", "chess960", is_over=True),
        ),
    ],
)
def test_tournaments(fields: dict[str, Any], expected: Tournament) -> None:
    assert read_tournament(CYPRUS | fields, ARENA) == expected


@pytest.mark.parametrize("message", [[], {}, CYPRUS | {"fullName": 5}])
def test_broken_tournaments(message: object) -> None:
    with pytest.raises(ProtocolError):
        read_tournament(message, ARENA)


@pytest.mark.parametrize("message", [{}, {"type": "tournamentReminder"}, {"type": 3}, {"error": "x"}])
def test_unknown_account_events_are_skipped(message: dict[str, Any]) -> None:
    assert read_account_event(message, ARENA, "x") is None


@pytest.mark.parametrize(
    "message",
    [
        {"type": "gameStart"},
        {"type": "gameStart", "game": {"gameId": 5}},
        {"type": "gameStart", "game": {"gameId": "../../account"}},
        {"type": "challengeCanceled", "challenge": []},
        challenge(rated=1),
        challenge(timeControl={"type": "clock", "limit": True, "increment": 0}),
        challenge(challenger="ann"),
        challenge(id=""),
        challenge(initialFen=5),
        {"type": "gameStart", "game": {}},
    ],
)
def test_broken_account_events_keep_the_message(message: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_account_event(message, ARENA, "x")
    assert caught.value.raw is not None


@pytest.mark.parametrize("odd", [1500.5, "1500", True, [], 10**30, -(10**30)])
def test_odd_numbers_that_a_game_can_do_without_are_none(odd: object) -> None:
    who = {"id": "ann", "name": "Ann", "rating": odd}
    asked = read_challenge(challenger=who, destUser={"id": "desdemona", "rating": odd}, rematchOf=odd)
    assert (asked.challenger, asked.our_rating) == (Opponent("ann", "Ann", None, is_bot=False), None)
    finish = {"type": "gameFinish", "game": {"gameId": "abcd1234", "ratingDiff": odd}}
    assert read_account_event(finish, ARENA, "x") == GameFinished("abcd1234", None)
    (snapshot,) = read_game(
        full(white=who, black={"id": "desdemona", "rating": odd}, state=state(expiration={"idleMillis": odd}))
    )
    assert (snapshot.opponent.rating, snapshot.our_rating) == (None, None)
    assert read_online_bot({"id": "ann", "username": "Ann", "perfs": {"blitz": who}}).ratings == {}


def test_odd_times_that_a_game_can_do_without_are_none() -> None:
    _, gone = read_game(full(), {"type": "opponentGone", "gone": True, "claimWinInSeconds": 7.5})
    assert gone == OpponentGone(True, None)
    (slow,) = read_game(full(clock=None, speed="correspondence", daysPerTurn="3"))
    assert slow.days_per_turn is None


# --- The stream of a game -------------------------------------------------------------------------------


def test_snapshot() -> None:
    assert read_game(full(state=state(moves="f5 d6"))) == [
        GameSnapshot(
            game_id="abcd1234",
            game="othello",
            variant="othello",
            initial_position=None,
            our_side=0,
            rated=True,
            speed=Speed.BULLET,
            clock=Clock(60, 2),
            opponent=Opponent("ann", "Ann", 1412, is_bot=False),
            our_rating=1500,
            # Black moves first at Othello, so side 0 has the black clock.
            state=GameState(("f5", "d6"), (59.5, 61.0), (False, False), (False, False), None),
        )
    ]


def test_in_chess_white_is_side_0() -> None:
    message = full(variant={"key": "standard"}, state=state(wdraw=True, btakeback=True, moves="e2e4"))
    snapshot = GameReader(CHESS, "desdemona").read(message)
    assert isinstance(snapshot, GameSnapshot)
    assert snapshot.our_side == 1
    assert snapshot.state == GameState(("e2e4",), (61.0, 59.5), (True, False), (False, True), None)


def test_states_after_the_snapshot() -> None:
    _, moved, offered = read_game(
        full(), state(moves="f5 d6 pass", btime=2**40), state(moves="f5", wdraw=True, btakeback=True)
    )
    assert moved == GameState(
        ("f5", "d6", "pass"), ((2**31 - 1) / 1000, 61.0), (False, False), (False, False), None
    )
    assert (offered.draw_offered_by, offered.takeback_offered_by) == ((False, True), (True, False))


def test_a_state_ahead_of_the_snapshot_is_not_needed() -> None:
    assert read_game(state(moves="f5"))[0] is None


@pytest.mark.parametrize("clock", [None, "absent"])
def test_game_without_a_clock(clock: str | None) -> None:
    message = full(speed="correspondence", clock=None, state=state(wtime=2147483647, btime=2147483647))
    if clock == "absent":
        del message["clock"]
    snapshot, later = read_game(message, state(moves="f5"))
    assert snapshot.clock is None
    assert snapshot.state.remaining_s is None
    assert later.remaining_s is None


@pytest.mark.parametrize(
    ("fields", "end"),
    [
        ({"status": "variantEnd", "winner": "white"}, GameEnd(EndReason.NORMAL, 1, "variantEnd")),
        ({"status": "mate", "winner": "black"}, GameEnd(EndReason.NORMAL, 0, "mate")),
        ({"status": "stalemate"}, GameEnd(EndReason.NORMAL, None, "stalemate")),
        ({"status": "draw"}, GameEnd(EndReason.NORMAL, None, "draw")),
        ({"status": "resign", "winner": "black"}, GameEnd(EndReason.RESIGNATION, 0, "resign")),
        ({"status": "outoftime", "winner": "black"}, GameEnd(EndReason.TIME, 0, "outoftime")),
        ({"status": "outoftime"}, GameEnd(EndReason.TIME, None, "outoftime")),
        ({"status": "timeout", "winner": "white"}, GameEnd(EndReason.LEFT, 1, "timeout")),
        ({"status": "aborted"}, GameEnd(EndReason.ABORTED, None, "aborted")),
        ({"status": "noStart", "winner": "white"}, GameEnd(EndReason.ABORTED, None, "noStart")),
        ({"status": "cheat", "winner": "white"}, GameEnd(EndReason.OTHER, 1, "cheat")),
        ({"status": "brandNew"}, GameEnd(EndReason.OTHER, None, "brandNew")),
        ({"status": "created"}, None),
    ],
)
def test_ends(fields: dict[str, Any], end: GameEnd | None) -> None:
    _, event = read_game(full(), state(**fields))
    assert event.end == end


def test_the_double_end_reads_as_two_states() -> None:
    # A draw by the rules comes as two states: the last move with the game still on, then its end.
    _, before, after = read_game(full(), state(moves="f5"), state(moves="f5", status="draw"))
    assert before.end is None
    assert after.end is not None
    assert before.moves == after.moves


def test_chat_and_absence() -> None:
    events = read_game(
        full(),
        {"type": "chatLine", "room": "player", "username": "Ann", "text": "hi"},
        {"type": "chatLine", "room": "spectator", "username": "li\nchess", "text": "!eval\x1b" + "x" * 2000},
        {"type": "chatLine", "room": "player", "username": "lichess", "text": "Takeback sent"},
        {"type": "chatLine", "room": "team", "username": "Ann", "text": "hi"},
        {"type": "opponentGone", "gone": True, "claimWinInSeconds": 8},
        {"type": "opponentGone", "gone": False},
        {"type": "brandNew"},
    )
    assert events[1:] == [
        ChatLine("Ann", Room.PLAYER, "hi"),
        ChatLine("li\ufffdchess", Room.SPECTATOR, "!eval\ufffd" + "x" * 994),
        ChatLine("lichess", Room.PLAYER, "Takeback sent", by_site=True),
        None,
        OpponentGone(True, 8),
        OpponentGone(False, None),
        None,
    ]


def test_days_of_a_correspondence_game() -> None:
    (slow,) = read_game(full(clock=None, speed="correspondence", daysPerTurn=2))
    assert (slow.clock, slow.days_per_turn) == (None, 2)
    (endless,) = read_game(full(clock=None, speed="correspondence", daysPerTurn=10**400))
    assert endless.days_per_turn == 14


def test_castling_is_told_in_our_words() -> None:
    moves = "e2e4 e7e5 g1f3 g8f6 f1e2 f8e7"
    reader = GameReader(DIALECTS["lichess"], "desdemona")
    snapshot = reader.read(full(variant={"key": "standard"}, state=state(moves=f"{moves} e1h1")))
    assert isinstance(snapshot, GameSnapshot)
    assert snapshot.state.moves == (*moves.split(), "e1g1")
    later = reader.read(state(moves=f"{moves} e1h1 e8h8"))
    assert isinstance(later, GameState)
    assert later.moves == (*moves.split(), "e1g1", "e8g8")


def test_chess960_keeps_its_castling() -> None:
    reader = GameReader(DIALECTS["lichess"], "desdemona")
    castled = state(moves="g2g3 g7g6 f1g1")
    snapshot = reader.read(full(variant={"key": "chess960"}, initialFen=START_960, state=castled))
    assert isinstance(snapshot, GameSnapshot)
    assert (snapshot.variant, snapshot.initial_position) == ("chess960", START_960)
    assert snapshot.state.moves == ("g2g3", "g7g6", "f1g1")


def test_times_beyond_all_reason_are_cut() -> None:
    snapshot, gone = read_game(
        full(state=state(btime=-(10**400), wtime=10**400)),
        {"type": "opponentGone", "gone": True, "claimWinInSeconds": 10**400},
    )
    assert snapshot.state.remaining_s == (0.0, 2147483.647)
    assert gone == OpponentGone(True, 2147483)
    asked = read_challenge(timeControl={"type": "clock", "limit": 10**400, "increment": -1}, speed=None)
    assert asked.clock == Clock(2147483, 0)


def test_names_that_cannot_be_written_are_mended() -> None:
    rude = {"id": "a\ud800", "name": "A\ud800\n\x1b[31mB" + "x" * 1000, "rating": 1500}
    (snapshot,) = read_game(full(white=rude))
    assert snapshot.opponent.id == "a\ufffd"
    assert snapshot.opponent.name.startswith("A\ufffd\ufffd\ufffd[31mBxx")
    assert len(snapshot.opponent.name) == 64
    asked = read_challenge(challenger=rude, variant={"key": "go\n"})
    assert asked.challenger == snapshot.opponent
    assert asked.variant == "go\ufffd"


def test_computer_and_anonymous_opponents() -> None:
    (computer,) = read_game(full(white={"aiLevel": 3, "id": None, "name": "level 3"}))
    assert computer.opponent == Opponent("ai-level-3", "level 3", None, is_bot=True)
    (nobody,) = read_game(full(white={"name": "Anonymous"}))
    assert nobody.opponent == Opponent("anonymous", "Anonymous", None, is_bot=False)


@pytest.mark.parametrize(
    ("limit_s", "increment_s", "speed"),
    [(15, 0, "ultraBullet"), (60, 0, "bullet"), (180, 0, "blitz"), (480, 0, "rapid"), (600, 30, "classical")],
)
def test_speed_is_worked_out_when_the_site_is_silent(limit_s: int, increment_s: int, speed: str) -> None:
    clock = {"initial": 1000 * limit_s, "increment": 1000 * increment_s}
    (snapshot,) = read_game(full(clock=clock, speed="othello"))
    assert snapshot.speed == speed
    (slow,) = read_game(full(clock=None, speed=None))
    assert slow.speed is Speed.CORRESPONDENCE


@pytest.mark.parametrize(
    "message",
    [
        full(variant={"key": "antichess"}),
        full(variant=None),
        full(black={"id": "somebody", "name": "Somebody"}),
        full(black=None),
        full(clock={"initial": "60000", "increment": 0}),
        full(rated=None),
        full(id="a/b"),
        full(initialFen=5),
        full(state=None),
        full(state=state(moves=["f5"])),
        full(state=state(wtime=True)),
        full(state=state(status=None)),
        full(state=state(status="resign", winner="red")),
        full(initialFen="8/8/8/8/8/8/8/8 b"),
        full(initialFen="8/8"),
        {"type": "gameFull"},
        {"type": "opponentGone", "gone": "yes"},
        {"type": "chatLine", "room": "player", "username": "Ann"},
        {"type": "chatLine", "room": "player", "username": 5, "text": "hi"},
    ],
)
def test_broken_game_messages_keep_the_message(message: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as caught:
        read_game(message)
    assert caught.value.raw is not None


def test_an_impossible_list_of_moves() -> None:
    for dialect, key in (("lichess", "standard"), ("playstrategy", "flipello")):
        reader = GameReader(DIALECTS[dialect], "desdemona")
        message = full(variant={"key": key}, state=state(moves="e2e5"))
        message |= {"p1": message["white"], "p2": message["black"]}
        with pytest.raises(ProtocolError, match="impossible game"):
            reader.read(message)


def test_a_start_of_just_so_many_characters() -> None:
    start = "7k/8/8/8/8/8/R7/1R5K w - - 0 1"
    variant = {"key": "fromPosition"}
    for length, game in ((500, "chess"), (501, None)):
        event = read_account_event(
            challenge(variant=variant, initialFen=start.ljust(length)), DIALECTS["lichess"], "desdemona"
        )
        assert isinstance(event, ChallengeReceived)
        assert event.challenge.game == game


def test_a_time_that_is_no_number() -> None:
    with pytest.raises(ProtocolError, match="wtime"):
        read_game(full(state=state(wtime=math.nan)))


def test_a_list_of_moves_too_long_to_follow() -> None:
    with pytest.raises(ProtocolError, match="12000 moves"):
        read_game(full(state=state(moves="g1f3 g8f6 f3g1 f6g8 " * 3000)))


# --- PlayStrategy ---------------------------------------------------------------------------------------

PLAYSTRATEGY = DIALECTS["playstrategy"]


def flipello(**fields: Any) -> dict[str, Any]:
    whole = full(
        variant={"key": "flipello", "name": "Othello", "short": "Oth", "lib": 2, "boardSize": {"key": "8x8"}},
        clock={"initial": 60000, "increment": 2000, "clockType": "fischer"},
        p1={"id": "ann", "name": "Ann", "title": None, "rating": 1412},
        p2={"id": "desdemona", "name": "Desdemona", "title": "BOT", "rating": 1500},
        state=state(wdraw=False, bdraw=False, activeplayer="p1", abortable=True),
    )
    del whole["white"], whole["black"]
    return whole | fields


def test_othello_at_playstrategy() -> None:
    reader = GameReader(PLAYSTRATEGY, "desdemona")
    snapshot = reader.read(flipello(state=state(moves="P@e3 P@f3")))
    assert isinstance(snapshot, GameSnapshot)
    assert (snapshot.game, snapshot.variant, snapshot.our_side) == ("othello", "flipello", 1)
    # "w" is P1, who is black and moves first.
    assert snapshot.state == GameState(("e6", "f6"), (61.0, 59.5), (False, False), (False, False), None)
    over = reader.read(state(moves="P@e3 P@f3", status="variantEnd", winner="p2"))
    assert isinstance(over, GameState)
    assert over.end == GameEnd(EndReason.NORMAL, 1, "variantEnd")


@pytest.mark.parametrize(
    ("fen", "start"),
    [
        ("startpos", None),
        ("8/8/8/3pP3/3Pp3/8/8/8[PPPPpppp] w - - 0 1", None),
        ("8/8/8/3pP3/3Pp3/3P4/8/8[PPPPpppp] b - - 0 1", "8/8/8/3wb3/3bw3/3b4/8/8 w"),
    ],
)
def test_starts_at_playstrategy(fen: str, start: str | None) -> None:
    snapshot = GameReader(PLAYSTRATEGY, "desdemona").read(flipello(initialFen=fen))
    assert isinstance(snapshot, GameSnapshot)
    assert snapshot.initial_position == start
    event = read_account_event(
        challenge(variant={"key": "flipello"}, initialFen=fen, playerIndex="p1"), PLAYSTRATEGY, "desdemona"
    )
    assert isinstance(event, ChallengeReceived)
    assert event.challenge.game == "othello"
    assert event.challenge.kind == ("othello" if start is None else "from_position")


def test_actions_of_one_turn_are_moves_of_their_own() -> None:
    snapshot = GameReader(PLAYSTRATEGY, "desdemona").read(flipello(state=state(moves="P@e3,P@f3 P@g3")))
    assert isinstance(snapshot, GameSnapshot)
    assert snapshot.state.moves == ("e6", "f6", "g6")


@pytest.mark.parametrize(
    ("clock", "read"),
    [
        ({"initial": 60000, "delay": 3000, "clockType": "bronstein"}, Clock(60, 3)),
        ({"initial": 60000, "delay": 0, "clockType": "usdelay"}, Clock(60, 0)),
        ({"initial": 60000, "increment": None, "delay": 3000}, Clock(60, 3)),
        ({"initial": 59600, "increment": 2600}, Clock(60, 3)),
        ({"initial": 60000, "increment": 0, "byoyomi": 9000, "periods": 1}, Clock(60, 0)),
        (None, None),
    ],
)
def test_clocks_at_playstrategy(clock: Any, read: Clock | None) -> None:
    snapshot = GameReader(PLAYSTRATEGY, "desdemona").read(flipello(clock=clock))
    assert isinstance(snapshot, GameSnapshot)
    assert snapshot.clock == read


def test_xiangqi_at_playstrategy_and_its_start() -> None:
    snapshot = GameReader(PLAYSTRATEGY, "ann").read(
        flipello(variant={"key": "xiangqi"}, state=state(moves="h3e3 b8e8"))
    )
    assert isinstance(snapshot, GameSnapshot)
    assert (snapshot.game, snapshot.our_side, snapshot.state.moves) == ("xiangqi", 0, ("h3e3", "b8e8"))
    started = {
        "gameId": "abcd1234",
        "playerIndex": "p1",
        "variant": {"gameLogic": {"id": 2}, "key": "xiangqi"},
    }
    assert read_account_event({"type": "gameStart", "game": started}, PLAYSTRATEGY, "ann") == GameStarted(
        "abcd1234", True, game="xiangqi"
    )


# --- PyChess --------------------------------------------------------------------------------------------

PYCHESS = DIALECTS["pychess"]


def pychess_state(**fields: Any) -> dict[str, Any]:
    return state(winc=3, binc=3, wdraw=False, bdraw=False) | fields


def pychess_full(**fields: Any) -> dict[str, Any]:
    return {
        "type": "gameFull",
        "id": "abcd1234",
        "variant": {"name": "xiangqi"},
        "white": {"name": "Ann"},
        "black": {"name": "Desdemona"},
        "initialFen": "",
        "createdAt": 1745112707,
        "state": pychess_state(wtime=300_000, btime=300_000),
    } | fields


def test_a_game_at_pychess() -> None:
    reader = GameReader(PYCHESS, "Desdemona")
    assert reader.read(pychess_state(moves="h3e3")) is None  # it may come in front
    snapshot = reader.read(pychess_full())
    assert snapshot == GameSnapshot(
        game_id="abcd1234",
        game="xiangqi",
        variant="xiangqi",
        initial_position=None,
        our_side=1,
        rated=False,
        speed=Speed.BLITZ,
        clock=Clock(300, 3),
        opponent=Opponent("Ann", "Ann", None, is_bot=False),
        our_rating=None,
        state=GameState((), (300.0, 300.0), (False, False), (False, False), None),
    )
    assert reader.read({"type": "ping"}) is None
    moved = reader.read(pychess_state(moves="h3e3", wtime=298_500.0))
    assert isinstance(moved, GameState)
    assert (moved.moves, moved.remaining_s, moved.end) == (("h3e3",), (298.5, 59.5), None)
    over = reader.read({"type": "gameEnd", "game": {"id": "abcd1234"}})
    assert isinstance(over, GameState)
    assert (over.moves, over.end) == (("h3e3",), GameEnd(EndReason.UNKNOWN, None, "gameEnd"))
    assert reader.is_over
    assert reader.read({"type": "gameEnd", "game": {"id": "abcd1234"}}) == over


def test_a_game_that_the_site_has_loaded_again_has_the_usual_start() -> None:
    snapshot = GameReader(PYCHESS, "Desdemona").read(pychess_full(initialFen="None"))
    assert isinstance(snapshot, GameSnapshot)
    assert snapshot.initial_position is None


def test_an_increment_in_other_units() -> None:
    minutes = replace(PYCHESS, increment_unit_s=60.0)
    snapshot = GameReader(minutes, "Ann").read(pychess_full())
    assert isinstance(snapshot, GameSnapshot)
    assert snapshot.clock == Clock(300, 180)


def test_an_end_before_the_snapshot_is_skipped() -> None:
    reader = GameReader(PYCHESS, "Desdemona")
    assert reader.read({"type": "gameEnd", "game": {"id": "abcd1234"}}) is None
    assert not reader.started


def test_chess_has_two_names_at_pychess() -> None:
    snapshot = GameReader(PYCHESS, "Ann").read(pychess_full(variant={"name": "chess"}))
    assert isinstance(snapshot, GameSnapshot)
    assert snapshot.game == "chess"


@pytest.mark.parametrize(
    ("fields", "game", "kind"),
    [
        ({"variant": {"key": "xiangqi"}}, "xiangqi", "xiangqi"),
        ({"variant": {"key": "standard"}}, "chess", "chess"),
        ({"variant": {"key": "standard"}, "chess960": True}, None, ""),
        ({"variant": {"key": "ataxx"}}, None, ""),
    ],
)
def test_challenges_at_pychess(fields: dict[str, Any], game: str | None, kind: str) -> None:
    who = {"name": "Ann", "rating": 1500, "title": ""}
    message = challenge(challenger=who, chess960=False, rated=False, level=6)
    del message["challenge"]["destUser"]
    message["challenge"] |= fields
    event = read_account_event(message, PYCHESS, "Desdemona")
    assert isinstance(event, ChallengeReceived)
    assert event.challenge.challenger == Opponent("Ann", "Ann", 1500, is_bot=False)
    assert (event.challenge.game, event.challenge.kind) == (game, kind)


def test_a_start_without_a_variant() -> None:
    start = {"type": "gameStart", "game": {"id": "abcd1234", "skill_level": "0", "chess960": "False"}}
    assert read_account_event(start, PYCHESS, "Desdemona") == GameStarted("abcd1234", True)


PYCHESS_PAGES = (
    (Path(__file__).parent / "data" / "pychess_pages.txt").read_text(encoding="utf-8").splitlines()
)
"""From pychess-variants: of each page the attribute with the game's record."""


@pytest.mark.parametrize(
    ("page", "end"),
    list(
        zip(
            PYCHESS_PAGES,
            [
                GameEnd(EndReason.NORMAL, 0, "mate"),
                GameEnd(EndReason.NORMAL, 0, "mate"),
                GameEnd(EndReason.NORMAL, None, "stalemate"),
                GameEnd(EndReason.NORMAL, None, "draw"),
                GameEnd(EndReason.RESIGNATION, 1, "resign"),
                GameEnd(EndReason.TIME, 1, "outoftime"),
                GameEnd(EndReason.RESIGNATION, 1, "resign"),
                GameEnd(EndReason.TIME, 1, "outoftime"),
                GameEnd(EndReason.NORMAL, 0, "mate"),
            ],
            strict=True,
        ),
    ),
)
def test_recorded_pages_of_games(page: str, end: GameEnd) -> None:
    record = json.loads(html.unescape(page.removeprefix('data-board="').removesuffix('"')))
    reader = GameReader(PYCHESS, "Desdemona")
    assert read_end(page, reader) is None  # before the snapshot
    reader.read(
        pychess_full(
            id=record["gameId"],
            variant={"name": record["variant"]},
            initialFen=record["steps"][0]["fen"],
            state=pychess_state(moves=""),
        )
    )
    over = read_end(page, reader)
    assert over is not None
    assert over.end == end
    assert " ".join(over.moves) == record["uci_usi"].partition(" moves ")[2]
    assert reader.is_over


# --- Answers --------------------------------------------------------------------------------------------


def test_account() -> None:
    account = read_account(
        {
            "id": "desdemona",
            "username": "Desdemona",
            "title": "BOT",
        }
    )
    assert (account.id, account.name, account.is_bot) == ("desdemona", "Desdemona", True)
    person = read_account({"id": "ann", "username": "Ann"})
    assert (person.is_bot, person.games) == (False, None)
    assert read_account({"id": "ann", "username": "Ann", "count": {"all": 7}}).games == 7
    assert read_account({"id": "ann", "username": "Ann", "count": "many"}).games is None
    broken: object
    for broken in ([], {"id": "ann"}, "ann"):
        with pytest.raises(ProtocolError):
            read_account(broken)


def test_online_bots() -> None:
    bot = read_online_bot(
        {
            "id": "iago",
            "username": "Iago",
            "perfs": {
                "blitz": {"games": 99, "rating": 2100, "rd": 45},
                "bullet": {"games": 1, "rating": 1500, "rd": 300, "prov": True},
                "storm": {"runs": 3, "score": 12},
                "odd": 5,
            },
        }
    )
    assert (bot.id, bot.name, bot.ratings) == ("iago", "Iago", {"blitz": 2100})
    assert read_online_bot({"id": "x", "username": "X"}).ratings == {}
    broken: dict[str, Any]
    for broken in ({}, {"id": "x"}, {"id": "x", "username": "X", "perfs": []}):
        with pytest.raises(ProtocolError):
            read_online_bot(broken)


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ({"id": "chal0001", "status": "created"}, ChallengeMade("chal0001")),
        ({"challenge": {"id": "chal0001"}, "socketVersion": 0}, ChallengeMade("chal0001")),
        ({"done": "accepted"}, ChallengeDone("accepted")),
        ({"done": "declined"}, ChallengeDone("declined")),
    ],
)
def test_answers_to_our_challenges(message: dict[str, Any], told: object) -> None:
    assert read_challenge_answer(message) == told


def test_what_became_of_our_challenges() -> None:
    assert [ChallengeDone(word).accepted for word in ("accepted", "declined", "canceled")] == [
        True,
        False,
        False,
    ]


def test_broken_answers_to_our_challenges() -> None:
    broken: dict[str, Any]
    for broken in ({}, {"done": True}, {"challenge": {}}, {"id": "a/b"}):
        with pytest.raises(ProtocolError):
            read_challenge_answer(broken)


def test_playing() -> None:
    assert read_playing([{"gameId": "abcd1234", "fullId": "abcd1234wxyz"}, {"gameId": "e"}]) == [
        "abcd1234",
        "e",
    ]
    broken: object
    for broken in (None, {}, ["abcd1234"], [{}]):
        with pytest.raises(ProtocolError):
            read_playing(broken)


# --- The protocol's own examples ------------------------------------------------------------------------


def load(path: str) -> Any:
    if not SPECS.is_dir():
        pytest.skip(f"the OpenAPI description of the Bot API is not at {SPECS}")
    return yaml.safe_load((SPECS / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("example", "kind"),
    [
        ("stream-challenge", ChallengeReceived),
        ("stream-challengeCanceled", ChallengeGone),
        ("stream-challengeDeclined", ChallengeGone),
        ("stream-gameStart", GameStarted),
        ("stream-gameStart-ai", GameStarted),
        ("stream-gameFinish", GameFinished),
        ("stream-gameFinish-ai", GameFinished),
    ],
)
def test_examples_of_account_events(example: str, kind: type) -> None:
    message = load(f"examples/{example}.json.yaml")["value"]
    assert isinstance(read_account_event(message, CHESS, "adriana"), kind)


def test_rating_diff_of_an_exported_game() -> None:
    record = load("examples/games-exportOneGame.json.yaml")["value"]
    name, diff = next((p["user"]["name"], p["ratingDiff"]) for p in record["players"].values())
    assert read_rating_diff(record, name.upper()) == diff
    assert read_rating_diff(record, "somebody") is None
    assert read_rating_diff({}, name) is None


def test_examples_of_other_programs_and_of_a_challenge_of_ours() -> None:
    bot = read_online_bot(load("examples/bot-getOnlineBots.json.yaml")["value"])
    assert bot.name
    made = load("examples/challenges-createChallenge.json.yaml")["value"]
    assert read_challenge_answer(made) == ChallengeMade(made.get("challenge", made)["id"])


def test_example_of_chat() -> None:
    line = GameReader(CHESS, "mary").read(load("schemas/ChatLineEvent.yaml")["example"])
    assert line == ChatLine("thibault", Room.PLAYER, "Good luck, have fun")


@pytest.mark.parametrize("schema", ["GameFullEvent", "GameStateEvent", "OpponentGoneEvent"])
def test_examples_of_game_events(schema: str) -> None:
    reader = GameReader(CHESS, "mary")
    snapshot = reader.read(load("schemas/GameFullEvent.yaml")["example"])
    assert isinstance(snapshot, GameSnapshot)
    assert (snapshot.our_side, snapshot.clock) == (1, Clock(900, 0))
    assert reader.read(load(f"schemas/{schema}.yaml")["example"]) is not None


def test_example_of_an_account() -> None:
    example = load("examples/account-getMyProfile.json.yaml")["value"]
    assert read_account(example).name == example["username"]
