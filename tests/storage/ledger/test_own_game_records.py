from dataclasses import replace
from datetime import UTC, datetime

import pytest

from engine.decision import Decision, DirectMove, SearchMode
from engine.formats.files import GameFormat, write
from engine.formats.ggf import from_record
from engine.game import WIN_CENTI
from storage.ledger.own_game_records import match_limits, match_of, record_of
from storage.records import MATCH_SITE, DecisionState, GameResult, GameStatus, StoredDecision, StoredGame
from tests.storage.samples import NEW_GAME, decision

AT = datetime(2026, 11, 1, 12, 30, 5, tzinfo=UTC)
GAME = StoredGame(
    **{name: getattr(NEW_GAME, name) for name in NEW_GAME.__dataclass_fields__},
    id=1,
    moves=("f5", "d6"),
    state=GameStatus.FINISHED,
    is_settled=True,
    result=GameResult.WIN,
    end_reason="time",
    rating_diff=None,
    started_at=AT,
    ended_at=AT,
)


def stored(made: Decision, ply: int = 0) -> StoredDecision:
    return StoredDecision(1, 1, ply, DecisionState.CONFIRMED, made, True, False, None, AT, AT, AT)


def picked(score_centi: int | None) -> Decision:
    return replace(decision(), search_mode=SearchMode.STRONG, pick=DirectMove(score_centi, 12, 100, True))


def test_a_game_from_either_side() -> None:
    told = record_of(GAME, "Me")
    assert (told.players, told.ratings, told.points) == (("Me", "Anna"), (1500, 1600), 1.0)
    assert (told.event, told.place, told.date) == ("rated blitz game", "arena", "2026.11.01")
    assert (told.clocks, told.ending) == (("180+2", "180+2"), "timeout")
    slow = replace(GAME, clock_initial_s=None, speed="correspondence")
    assert record_of(slow, "Me").event == "rated game without a clock"
    assert record_of(replace(slow, site="lichess"), "Me").event == "rated correspondence game"
    assert dict(told.tags)["UTCTime"] == "12:30:05"
    other = record_of(replace(GAME, our_side=1, clock_initial_s=None, end_reason="normal"), "Me")
    assert (other.players, other.ratings, other.points) == (("Anna", "Me"), (1600, 1500), 0.0)
    assert (other.clocks, other.ending) == (("", ""), "")
    assert record_of(replace(GAME, result=None, our_side=1), "Me").points is None


def test_a_game_of_ggs_keeps_its_type() -> None:
    game = replace(GAME, game="othello", variant="s8r18", site="ggs")
    told = from_record(record_of(game, "Me"))
    assert (told.kind, told.black_clock) == ("s8r18", "03:00/00:02")
    assert from_record(record_of(replace(game, variant="standard"), "Me")).kind == "8"


@pytest.mark.parametrize(
    ("made", "evaluation"),
    [
        (decision(), 1.0),
        (picked(-250), -2.5),
        (picked(WIN_CENTI + 1200), 12.0),
        (picked(-WIN_CENTI - 6400), -64.0),
        (picked(WIN_CENTI), None),
        (picked(None), None),
        (replace(picked(WIN_CENTI + 9_000), game="chess"), None),
    ],
)
def test_what_we_thought_of_a_move(made: Decision, evaluation: float | None) -> None:
    told = record_of(GAME, "Me", [stored(made)])
    assert told.times_s == (0.25, None)
    assert told.evaluations == ((evaluation, None) if evaluation is not None else ())


def test_a_move_that_came_about_otherwise_has_no_thoughts() -> None:
    told = record_of(replace(GAME, moves=("e6",)), "Me", [stored(decision()), stored(decision(), ply=2)])
    assert (told.evaluations, told.times_s) == ((), ())


WIPED_OUT = ("e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5")
"""Black takes white's last disc."""
_FULL = """
c4 c5 f6 c3 b5 g7 e3 e6 c2 f3 g3 a5 h8 b3 f4 f2 b4 f5 f7 h3 a3 d2 e2 e1 a6 e7 d7 c1 c6 g8 f1 g4 d1 b6 b1 d3
g6 b7 f8 a7 c7 h6 a8 b2 g5 g2 a1 d6 h2 h5 a4 d8 c8 h7 e8 a2 h4 b8 pass h1 g1
"""
FULL = tuple(_FULL.split())
"""Black has 48 discs."""


@pytest.mark.parametrize(
    ("moves", "result", "end_reason", "pgn", "ggf"),
    [
        (FULL, GameResult.WIN, "normal", "48-16", "+32.000"),
        (WIPED_OUT, GameResult.WIN, "normal", "64-0", "+64.000"),
        (WIPED_OUT[:5], GameResult.WIN, "resignation", "1-0", "+64.000:r"),
        (FULL, GameResult.LOSS, "time", "0-1", "-64.000:t"),
        (WIPED_OUT[:5], GameResult.DRAW, "agreement", "1/2-1/2", "+0.000:s"),
        (WIPED_OUT[:5], GameResult.LOSS, "crash", "0-1", "-64.000:r"),
        (FULL, GameResult.LOSS, "normal", "0-1", "-64.000:r"),  # the site has the last word
        (("a1",), GameResult.WIN, "normal", "1-0", "+64.000:r"),
        (WIPED_OUT[:5], None, None, "*", "?"),
    ],
)
def test_results_are_in_discs_where_the_moves_reach_the_end(
    moves: tuple[str, ...], result: GameResult | None, end_reason: str | None, pgn: str, ggf: str
) -> None:
    told = record_of(replace(GAME, moves=moves, result=result, end_reason=end_reason), "Me")
    assert from_record(told).result == (None if ggf == "?" else ggf)
    if moves != ("a1",):
        assert f'[Result "{pgn}"]' in write(told, GameFormat.PGN)


def test_a_game_of_a_match() -> None:
    terms = {"a": "strong:depth=8", "b": "gtp:x; depth=3", "clock": None, "time_s": 0.1, "depth": 12}
    game = replace(
        GAME,
        site=MATCH_SITE,
        selection={"method": "match", "match": "cup", "terms": terms},
        rated=False,
        speed="correspondence",
        clock_initial_s=None,
        end_reason="illegal move",
    )
    assert match_of(game) == "cup"
    assert match_of(GAME) is None
    assert match_limits(game) == "A depth 8, B depth 3"
    told = record_of(game, "Me")
    assert (told.event, told.clocks) == ("match cup", ("", ""))
    tags = dict(told.tags)
    assert (tags["PlayerA"], tags["PlayerB"]) == ("strong:depth=8", "gtp:x; depth=3")
    assert (tags["LimitA"], tags["LimitB"], tags["Termination"]) == ("depth 8", "depth 3", "rules infraction")
    plain = replace(game, selection={**game.selection, "terms": {**terms, "a": "strong", "b": "uci:x -d 3"}})
    assert match_limits(plain) == "0.1 s a move, depth 12"
    others = {**terms, "a": "strong:cpu=0.05", "b": "uci:x; nodes=9000"}
    fair = replace(game, selection={**game.selection, "terms": others})
    assert match_limits(fair) == "A 0.05 s of processor time a move, B 9000 nodes a move"
    on_an_engine = {**terms, "a": "standard_uci:engine=x,limit=nodes,nodes=5", "b": "strong"}
    assert match_limits(replace(game, selection={**game.selection, "terms": on_an_engine})) == (
        "0.1 s a move, depth 12"
    )
    on_a_clock = replace(game, clock_initial_s=60, selection={**game.selection, "terms": {"clock": "60+0.6"}})
    assert record_of(on_a_clock, "Me").clocks == ("60+0.6", "60+0.6")
    assert match_limits(on_a_clock) == "60+0.6"
