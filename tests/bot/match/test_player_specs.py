import pytest

from bot.match.conditions import (
    AdjudicationRule,
    GameClock,
    opponent_name,
    parse_adjudication,
    parse_clock,
    parse_id,
)
from bot.match.player_specs import ExternalSpec, HumanSpec, MatchError, OurSpec, game_of, parse_spec
from engine.human.shallow import ShallowOptions
from engine.params import Assessment, OpponentParams, OpponentScale, Scale
from engine.protocols.score_settings import EngineSettings, MoveLimit
from engine.protocols.settings import Allowance
from engine.strategies.calibrated import CALIBRATED
from engine.strategies.on_engine import STANDARD_UCI
from engine.strategies.opponent_model import OPPONENT_MODEL
from engine.strategies.standard import STANDARD
from engine.strategies.trappy import TRAPPY
from tests.bot.match.samples import terms


def test_ours() -> None:
    text = "trappy:depth=8, assessment=last,scale=expected,risk_percent=2.5,risk_share_percent=10"
    spec = parse_spec(f" {text} ")
    assert isinstance(spec, OurSpec)
    assert (spec.kind, spec.depth, spec.move_s) == (TRAPPY, 8, None)
    assert spec.params.assessment is Assessment.LAST
    assert spec.params.scale is Scale.EXPECTED
    assert (spec.params.risk_percent, spec.params.risk_share_percent) == (2.5, 10)
    assert spec.text == text


def test_ours_without_settings() -> None:
    assert parse_spec("standard") == OurSpec(text="standard", kind=STANDARD)
    assert parse_spec("standard:") == OurSpec(text="standard:", kind=STANDARD)


def test_strong() -> None:
    spec = parse_spec("strong:time=0.1,confidence=95,threads=2,contempt_centi=10,table_mb=16,book=my.book")
    assert isinstance(spec, OurSpec)
    assert (spec.move_s, spec.confidence_percent, spec.threads) == (0.1, 95, 2)
    assert (spec.contempt_centi, spec.table_mb, spec.sources) == (10, 16, (("book", "my.book"),))


def test_players_that_reckon_with_a_person() -> None:
    spec = parse_spec(
        "opponent_model:depth=6,model=data/models,calibrated=my.onnx,rating=1500,budget_percent=5,"
        "share_percent=40,least_percent=1,value_scale=pawns,checkmate_centi=900"
    )
    assert isinstance(spec, OurSpec)
    assert (spec.kind, spec.depth, spec.rating) == (OPPONENT_MODEL, 6, 1500)
    assert (spec.people.models, spec.people.calibrated) == (("data/models",), ("my.onnx",))
    assert spec.people.value == OpponentParams(OpponentScale.PAWNS, 5, 40, 1, 900)
    assert parse_spec("calibrated") == OurSpec(text="calibrated", kind=CALIBRATED)


def test_people() -> None:
    spec = parse_spec("human:model=data/models,rating=1500,temperature=0.8,name=Club")
    assert spec == HumanSpec(text=spec.text, model="data/models", rating=1500, temperature=0.8, name="Club")
    assert opponent_name(spec) == "Club"
    assert terms("standard", "human", move_s=0.1).allowance(spec, (1.0, 1.0)) == Allowance()
    assert opponent_name(parse_spec("human")) == "human"
    assert game_of(parse_spec("standard"), parse_spec("human"), "chess") == "chess"
    shallow = parse_spec("human:plies=1,percent=3,share_percent=2,temperature=0.5")
    assert shallow == HumanSpec(text=shallow.text, temperature=0.5, shallow=ShallowOptions(1, 3.0, 2.0))


def test_other() -> None:
    spec = parse_spec('uci:"/opt/an engine" -u x; option.Skill Level=3; option.Book= ; time=0.2; name=Fish')
    assert spec == ExternalSpec(
        text='uci:"/opt/an engine" -u x; option.Skill Level=3; option.Book= ; time=0.2; name=Fish',
        kind="uci",
        command=("/opt/an engine", "-u", "x"),
        move_s=0.2,
        name="Fish",
        options=(("Skill Level", "3"), ("Book", "")),
    )
    assert opponent_name(spec) == "Fish"
    assert opponent_name(parse_spec("gtp:edax")) == "gtp:edax"


def test_ours_with_another_engine() -> None:
    text = "standard_uci:engine='/opt/an engine' -u,depth=7,limit=nodes,nodes=5,option.Threads=1,syzygy=b"
    spec = parse_spec(text)
    assert isinstance(spec, OurSpec)
    assert (spec.kind, spec.depth, spec.sources) == (STANDARD_UCI, 7, (("syzygy", "b"),))
    settings = EngineSettings(
        game="xiangqi",
        command=("/opt/an engine", "-u"),
        options=(("Threads", "1"),),
        depth=7,
        limit=MoveLimit.NODES,
        nodes=5,
    )
    assert spec.engine_for("xiangqi") == settings
    ours = parse_spec("trappy")
    assert isinstance(ours, OurSpec)
    assert ours.engine_for("chess") is None


def test_where_it_is_started() -> None:
    spec = parse_spec("nboard:./ntest x; dir=/opt/ntest; silence=60; longest=600; depth=4")
    assert isinstance(spec, ExternalSpec)
    assert (spec.directory, spec.response_timeout_s, spec.longest_s, spec.depth) == (
        "/opt/ntest",
        60.0,
        600.0,
        4,
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not known"),
        (
            "clever",
            "'clever' is not known; known: standard, trappy, strong, exploit, trappy_strong, ",
        ),
        ("trappy_uci", "engine is missing; write 'standard_uci:engine=stockfish,"),
        ("trappy_uci:engine=''", "the command is missing"),
        ("trappy_uci:engine=x,protocol=gtp", "must be one of uci, ucci"),
        ("standard_uci:engine=x,limit=time", "'time' is not a valid MoveLimit"),
        ("standard_uci:engine=x,protocol=ucci,limit=clock", "limit clock is for protocol uci"),
        ("standard_uci:engine=x,option.MultiPV=3", "MultiPV is set by Desdemona"),
        ("standard_uci:engine=x,confidence=95", "confidence is for the strong player"),
        ("trappy_uci:engine=x,polyglot=b.bin", "polyglot is for the strong player and standard_uci"),
        ("trappy_uci:engine=x,colour=red", "known: depth, .*, engine, protocol, limit, .*, option.NAME"),
        ("standard:engine=x", "'engine' is not known"),
        ("trappy:depth", "'depth' is not KEY=VALUE"),
        ("trappy:depth=", "is not KEY=VALUE"),
        ("trappy:depth=8,depth=9", "depth is set twice"),
        ("trappy:depth=1", "a whole number from 2 to 120"),
        ("trappy:depth=deep", "a whole number"),
        ("trappy:time=0", "seconds above 0"),
        ("trappy:time=nan", "seconds above 0"),
        ("trappy:assessment=worst", "assessment is 'worst'"),
        ("trappy:scale=expected,margin_centi=5", "must be 0 with the expected scale"),
        ("trappy:confidence=95", "confidence is for the strong player"),
        ("strong:confidence=80", "must be one of 73, 87, 95, 99, 100"),
        (
            "strong:colour=red",
            "'colour' is not known; known: depth, time, cpu, nodes, table_mb, confidence, ",
        ),
        ("standard:depht=3", "'depht' is not known; known: depth, time, cpu, nodes, table_mb, assessment, "),
        ("trappy:rating=1500", "rating is for players that model the opponent"),
        ("calibrated:confidence=95", "confidence is for the strong player"),
        ("calibrated:budget_percent=-1", "budget_percent is -1.0, must be 0 to 100"),
        ("opponent_model:rating=high", "a whole number"),
        (
            "opponent_model:colour=red",
            "table_mb, rating, assessment, .*, model, calibrated, budget_percent, ",
        ),
        ("human:depth=3", "'depth' is not known; known: model, rating, temperature, name"),
        ("human:temperature=nan", "it must be 0 to 100"),
        ("human:plies=11", "it must be a whole number from 0 to 10"),
        ("human:percent=0", "percent is 0.0, must be above 0"),
        ("human:model=x,plies=1", "plies is only for people without a model"),
        ("uci:", "the command is missing"),
        ("uci: ; time=1", "the command is missing"),
        ("uci:'a", "the command cannot be read"),
        (
            "uci:a; Threads=1",
            "'Threads' is not known; known: depth, time, cpu, nodes, name, dir, silence, longest, ",
        ),
        ("strong:nodes=0", "a whole number from 1 to"),
        ("strong:cpu=0", "seconds above 0"),
        ("strong:nodes=5,cpu=1", "cpu and nodes limit the same move; set only one of them"),
        ("strong:time=1,cpu=1", "time and cpu limit the same move"),
        ("uci:a; nodes=5; depth=2", "depth and nodes limit the same move"),
        (
            "gtp:a; cpu=1",
            "gtp cannot limit processor time: it has neither .* nor a command that makes a search",
        ),
        ("nboard:a; nodes=5", "nboard cannot limit nodes"),
        ("standard_uci:engine=x,cpu=1", "cpu is for players with a search of their own"),
        ("human:cpu=1", "'cpu' is not known"),
        ("gtp:a; option.x=1", "gtp has no options"),
    ],
)
def test_what_is_no_player(text: str, says: str) -> None:
    with pytest.raises(MatchError, match=says):
        parse_spec(text)


@pytest.mark.parametrize(
    ("a", "b", "wanted", "game"),
    [
        ("standard", "trappy", None, "othello"),
        ("standard", "trappy", "connect4", "connect4"),
        ("strong", "uci:x", None, "chess"),
        ("uci:x", "strong", "xiangqi", "xiangqi"),
        ("strong", "ucci:x", None, "xiangqi"),
        ("uci:x", "ucci:x", None, "xiangqi"),
        ("nboard:x", "gtp:x", None, "othello"),
        ("standard_uci:engine=x", "trappy_uci:engine=x", None, "chess"),
        ("standard_uci:engine=x", "strong", "xiangqi", "xiangqi"),
        ("strong", "trappy_uci:engine=x,protocol=ucci", None, "xiangqi"),
    ],
)
def test_the_game_of_two_players(a: str, b: str, wanted: str | None, game: str) -> None:
    assert game_of(parse_spec(a), parse_spec(b), wanted) == game


@pytest.mark.parametrize(
    ("a", "b", "wanted", "says"),
    [
        ("nboard:x", "uci:y", None, "uci is for chess and xiangqi, not for othello"),
        ("gtp:x", "strong", "chess", "gtp is for othello, not for chess"),
        ("strong", "trappy", "draughts", "no game named 'draughts'"),
        ("strong", "trappy", "atomic", "not available in matches"),
        ("strong", "standard_uci:engine=x", "othello", "game is 'othello', must be one of chess"),
        ("strong", "standard_uci:engine=x,protocol=ucci", "chess", "protocol ucci is for xiangqi"),
        ("strong:polyglot=b.bin", "trappy", None, "polyglot is for chess, not for othello"),
    ],
)
def test_players_of_different_games(a: str, b: str, wanted: str | None, says: str) -> None:
    with pytest.raises(MatchError, match=says):
        game_of(parse_spec(a), parse_spec(b), wanted)


def test_limits_of_a_player_replace_those_of_the_match() -> None:
    given = terms("standard:depth=5", "trappy", depth=None, move_s=0.5)
    assert given.allowance(given.a, (1, 1)) == Allowance(depth=5)
    assert given.allowance(given.b, (1, 1)) == Allowance(move_s=0.5)
    for text, allowance in (
        ("strong:nodes=9", Allowance(nodes=9)),
        ("strong:cpu=0.4", Allowance(cpu_s=0.4)),
        ("uci:x; nodes=9", Allowance(nodes=9)),
        ("ucci:x; cpu=0.4", Allowance(cpu_s=0.4)),
        ("strong:time=2,depth=9", Allowance(move_s=2, depth=9)),
    ):
        own = terms(text, "standard", depth=7, move_s=0.5, game="xiangqi")
        assert own.allowance(own.a, (1, 1)) == allowance
    clocked = terms("standard:depth=5", "trappy", depth=None, clock=GameClock(60, 0.5))
    expected = Allowance(remaining_s=(3.0, 4.0), increment_s=0.5, depth=5)
    assert clocked.allowance(clocked.a, (3.0, 4.0)) == expected


@pytest.mark.parametrize(
    ("a", "b", "limits", "says"),
    [
        ("standard", "trappy", {"depth": None}, "there is no limit"),
        ("standard", "trappy", {"clock": GameClock(1, 0), "move_s": 1.0}, "cannot be combined"),
        ("standard:time=1", "trappy", {"clock": GameClock(1, 0)}, "a time per move cannot be combined"),
        (
            "standard:nodes=9",
            "trappy",
            {"clock": GameClock(1, 0)},
            "with a clock, do not limit processor time",
        ),
        ("standard:cpu=1", "trappy", {"clock": GameClock(1, 0)}, "with a clock, do not limit processor time"),
        ("standard", "trappy", {"depth": 1}, "its depth must be 2 or more"),
        ("gtp:edax", "strong", {"depth": None, "move_s": 0.1}, "GTP counts in whole seconds"),
        ("gtp:edax; time=0.1", "strong", {}, "GTP counts in whole seconds"),
    ],
)
def test_impossible_terms(a: str, b: str, limits: dict[str, object], says: str) -> None:
    with pytest.raises(MatchError, match=says):
        terms(a, b, **limits)  # type: ignore[arg-type]


def test_a_level_of_gtps_own() -> None:
    given = terms("gtp:edax -l 6; depth=6", "strong", depth=None, move_s=0.1)
    assert given.allowance(given.a, (1, 1)).move_s is None


def test_equal_terms_make_the_same_match() -> None:
    assert terms().match_id() == terms().match_id()
    others = [terms("strong"), terms(b="strong"), terms(depth=3), terms(game="connect4"), terms(grace_s=2)]
    assert len({given.match_id() for given in [terms(), *others]}) == 6


def test_texts_of_the_command() -> None:
    assert parse_clock("60+0.6") == GameClock(60.0, 0.6)
    assert parse_clock("5") == GameClock(5.0, 0.0)
    assert parse_adjudication("900,6") == AdjudicationRule(900, 6)
    assert parse_id("first.match_1") == "first.match_1"
    for read, bad in [
        (parse_clock, "60+"),
        (parse_clock, "0+1"),
        (parse_clock, "-5+1"),
        (parse_clock, "1:00"),
        (parse_adjudication, "900"),
        (parse_adjudication, "0,6"),
        (parse_id, "a/b"),
        (parse_id, ""),
        (parse_id, "x" * 41),
    ]:
        with pytest.raises(MatchError):
            read(bad)


def test_nodes_of_another_engine_are_its_own_setting() -> None:
    """They limit its search for a move, not the player."""
    spec = parse_spec("standard_uci:engine=x,limit=nodes,nodes=5,depth=3")
    assert isinstance(spec, OurSpec)
    assert spec.nodes is None
    assert spec.engine is not None
    assert spec.engine.nodes == 5
    assert terms(spec.text, "standard", game="chess").allowance(spec, (1, 1)) == Allowance(depth=3)
