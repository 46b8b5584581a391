"""Settings: their sources, and clear errors for wrong ones."""

import random
import struct
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import chess.polyglot
import pytest

from bot.base.config import (
    MAX_CONFIG_BYTES,
    ArenaConfig,
    AssignmentConfig,
    AssignmentMethod,
    ChatConfig,
    Config,
    MatchmakingConfig,
    ServerConfig,
    choose_accounts,
    load_config,
    read_token,
)
from bot.base.config_text import render
from bot.base.errors import ConfigError
from bot.base.events import MAX_CHAT_LENGTH
from engine.games import get_rules
from engine.lookup.polyglot import BookChoice, BookMoveChoice
from engine.params import Assessment, OpponentParams, OpponentScale, TrapParams

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


TWO_ACCOUNTS = """
[[accounts]]
name = "aa"
dialect = "arena"
[[accounts]]
name = "bb"
dialect = "arena"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_file_in_the_project_is_up_to_date() -> None:
    """After a change of bot/base/config.py: python -m bot.base.config_text > config.toml"""
    assert (ROOT / "config.toml").read_text(encoding="utf-8") == render()


def test_every_setting_has_a_comment() -> None:
    lines = render().splitlines()
    for before, line in pairwise(lines):
        if "=" in line and not line.startswith("#"):
            assert before.startswith("# "), line
    assert "token =" not in render()


def test_the_file_says_the_defaults() -> None:
    assert load_config(ROOT / "config.toml") == load_config(None) == Config()
    values: dict[str, dict[str, Any]] = tomllib.loads(render())
    assert set(values) == set(Config.model_fields) - {"accounts"}


def test_defaults_of_the_arithmetic_are_the_engines() -> None:
    assert Config().trap.params() == TrapParams()


def test_a_file_in_the_working_directory_is_found(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[engine]\nmax_depth = 7\n", encoding="utf-8")
    assert load_config().engine.max_depth == 7


def test_the_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, '[engine]\nmax_depth = 7\nmax_time_s = 3\n[trap]\nassessment = "last"\n')
    monkeypatch.setenv("DESDEMONA_ENGINE__MAX_DEPTH", "8")
    monkeypatch.setenv("DESDEMONA_CHALLENGES__BLOCK", '["anna", "ben"]')
    monkeypatch.setenv("DESDEMONA_CHALLENGES__RATED", "")
    config = load_config(path)
    assert (config.engine.max_depth, config.engine.max_time_s, config.engine.table_mb) == (8, 3.0, 64)
    assert config.challenges.block == ("anna", "ben")
    assert config.trap.params().assessment is Assessment.LAST


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[engin]\n", "my.toml: engin is not a setting; known here: storage, arena, server, servers"),
        ("[engine]\nmax_depht = 3\n", "my.toml: engine.max_depht is not a setting; known here: max_depth"),
        (
            "[engine]\nmax_depth = 1\n",
            "my.toml: engine.max_depth: Input should be greater than or equal to 2",
        ),
        ('[engine]\nmax_depth = "x"\n', "my.toml: engine.max_depth: Input should be a valid integer"),
        ("engine = 3\n", "my.toml: engine: Input should be a valid dictionary"),
        ("[trap]\nmargin_centi = nan\n", "trap.margin_centi"),
        ('[trap]\nscale = "log"\n', "my.toml: trap.scale: Input should be 'paper' or 'expected'"),
        ("[trap]\nrisk_percent = 0\n", "trap.risk_percent: Input should be greater than 0"),
        ("[trap]\nrisk_share_percent = 101\n", "trap.risk_share_percent: Input should be less than or eq"),
        (
            '[trap]\nscale = "expected"\nmargin_centi = 9\n',
            "trap: margin_centi is 9, must be 0 with the expec",
        ),
        ("[arena]\nfirst_move_s = inf\n", "arena.first_move_s: Input should be a finite number"),
        ('[trap]\nassessment = "mean"\n', "trap.assessment: Input should be 'median', 'best' or 'last'"),
        ('[assignment]\nstrategy = "tricky"\n', "assignment.strategy: no strategy named 'tricky'; known: "),
        ('[assignment]\nstrategies = ["trappy", "trappy"]\n', "assignment: strategies has a duplicate"),
        (
            '[assignment]\nstrategy = "strong"\n',
            "assignment: strategy is strong, but method full_strength does not use it",
        ),
        (
            '[assignment]\nmethod = "balanced"\nstrategy = "strong"\n',
            "assignment: strategy is strong, but method balanced does not use it",
        ),
        (
            '[assignment]\nmethod = "full_strength"\nstrategies = ["strong", "trappy"]\n',
            "assignment: method full_strength does not use strategies",
        ),
        ("[[assignment.rules]]\nspeed = 'bullet'\n", "assignment.rules.0.strategy: Field required"),
        (
            "[[assignment.rules]]\nstrategy = 'trappy'\nsped = 1\n",
            "assignment.rules.0.sped is not a setting; known here: strategy, game, site",
        ),
        ("[challenges]\nmin_rating = 4500\n", "challenges: min_rating is above max_rating"),
        ("[challenges]\nrated = false\ncasual = false\n", "no game could be accepted"),
        ('[challenges]\nvariants = ["go"]\n', "challenges.variants: no game named 'go'; known: othello"),
        ('[chat]\ngreeting = "Hi {rating}"\n', "chat.greeting: the only placeholders here are {opponent}"),
        ('[chat]\ngreeting = "{opponent:>999999999}"\n', "chat.greeting: the only placeholders here are"),
        ('[chat]\ngreeting = "{opponent!r}"\n', "chat.greeting: the only placeholders here are"),
        ('[chat]\ngreeting = "{}"\n', "chat.greeting: the only placeholders here are"),
        ('[chat]\ngreeting = "a\\u0000"\n', "chat.greeting: control characters and line breaks are not"),
        ('[chat]\nspectators = "a\\nb"\n', "chat.spectators: control characters and line breaks are not"),
        ('[storage]\nurl = "sqlite:///\\u007f"\n', "storage.url: control characters"),
        ('[storage]\nurl = "postgresql://u:pw@h/\\t"\n', "storage.url: control characters"),
        ('[engine]\nsyzygy = "a\\u0000b"\n', "engine.syzygy: control characters"),
        ('[challenges]\nblock = ["a\\u2028b"]\n', "challenges.block: control characters"),
        ('[challenges]\nallow = ["anna", ""]\n', "challenges.allow.1: String should have at least 1"),
        ('[challenges]\nblock = [" "]\n', "challenges.block.0: String should have at least 1"),
        (
            '[manners]\nodds = ["quen"]\n',
            "manners.odds: 'quen' is not known; known: pawn, knight",
        ),
        ('[matchmaking]\nblock = [""]\n', "matchmaking.block.0: String should have at least 1"),
        ('[matchmaking]\nvariants = [""]\n', "matchmaking.variants.0: String should have at least 1"),
        ('[matchmaking]\nclocks = [""]\n', "matchmaking.clocks: '' is not of the form 180+2"),
        (
            '[matchmaking]\nenabled = true\nvariants = ["standard", "othelo"]\n',
            "matchmaking.variants: arena allows no challenges in 'othelo'; known: othello, standard",
        ),
        (
            '[server]\ndialect = "lichess"\n[matchmaking]\nenabled = true\nvariants = ["fromPosition"]\n',
            "matchmaking.variants: lichess allows no challenges in 'fromPosition'; known: standard",
        ),
        (
            '[server]\ndialect = "ggs"\n[matchmaking]\nenabled = true\nvariants = ["s8r61"]\n',
            "ggs allows no challenges in 's8r61'; known: 8, 8b, 8w, s8, s8r5, s8r6",
        ),
        (
            '[[assignment.rules]]\nstrategy = "trappy"\ngame = "go"\n',
            "assignment.rules.0.game: no game named 'go'; known: othello",
        ),
        (
            '[[assignment.rules]]\nstrategy = "trappy"\nsite = "lichess.org"\n',
            "assignment.rules.0.site: Input should be 'arena', 'lichess'",
        ),
        ('[chat]\nfarewell = "{"\n', "chat.farewell: the only placeholders here are"),
        (
            f'[chat]\ngreeting = "{"x" * (MAX_CHAT_LENGTH + 1)}"\n',
            "chat.greeting: String should have at most 140",
        ),
        ('[storage]\nurl = "mysql://u:pw@host/db"\n', "storage.url: must look like sqlite:///path or postgr"),
        ('[storage]\nurl = "sqlite:///x.db?mode=ro"\n', "storage.url: a SQLite URL takes no options"),
        ('[server]\nurl = "ftp://host"\n', "server.url: must begin with http://, https:// or ggs://"),
        ('[dashboard]\npublic_url = "http://[::1"\n', "dashboard.public_url: must have a host, and any port"),
        ('[alarms]\nwebhook = "https://host:99999/x"\n', "alarms.webhook: must have a host, and any port"),
        ('[server]\ntoken = "secret"\n', "server.token does not belong in this file; set DESDEMONA_SERVER__"),
        ("[arena]\nenabled = false\n", "arena.enabled is false: there is no server to play on"),
        (f"{TWO_ACCOUNTS}[accounts.challenges]\nmax_gams = 3\n", "account bb: challenges.max_gams is not a"),
        (f"{TWO_ACCOUNTS}[accounts.challenges]\nmax_games = 0\n", "account bb: challenges.max_games: Input"),
        (f"{TWO_ACCOUNTS}[accounts.chat]\nfarewell = '{{'\n", "account bb: chat.farewell: the only placeh"),
        (f"{TWO_ACCOUNTS}tokn = 'x'\n", "my.toml: accounts.1.tokn is not a setting; known here: name"),
        (f"{TWO_ACCOUNTS}token = 'secret'\n", "a token does not belong in this file; set DESDEMONA"),
        (f"{TWO_ACCOUNTS}[server]\nname = 'x9'\n", "[server] and [[accounts]] cannot be combined"),
        (f"{TWO_ACCOUNTS}{TWO_ACCOUNTS}", "accounts: aa occurs twice"),
        (f"{TWO_ACCOUNTS}login = 'AA'\n", "accounts: aa occurs twice"),
        (
            "[[accounts]]\nname = 'b-b'\ndialect = 'lichess'\n[[accounts]]\nname = 'b_b'\ndialect = 'ggs'\n",
            "accounts: b-b occurs twice",  # one environment variable cannot hold two tokens
        ),
        (
            "[server]\ndialect = 'ggs'\n[challenges]\nmax_games = 1\n"
            "[matchmaking]\nenabled = true\nvariants = ['s8r20']\n",
            "matchmaking.variants: s8r20 is 2 simultaneous games, but challenges.max_games is 1",
        ),
        (f"{TWO_ACCOUNTS}[arena]\nenabled = false\n", "account aa: server.url is empty and arena.enabled"),
        (
            f"{TWO_ACCOUNTS}[accounts.matchmaking]\nenabled = true\nvariants = ['8']\n",
            "account bb: matchmaking.variants: arena allows no challenges in '8'",
        ),
        ("[engine\n", "my.toml: not a TOML file"),
        ("a = " + "[" * 100_000, "my.toml: not a TOML file"),
        ("# " + "x" * MAX_CONFIG_BYTES, "my.toml: larger than 1 MiB"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(written(tmp_path, text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "pw@" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ENGINE__MAX_DEPTH", "99", "environment variable DESDEMONA_ENGINE__MAX_DEPTH: engine.max_depth"),
        (
            "ENGINE__MAX_DEPHT",
            "9",
            "DESDEMONA_ENGINE__MAX_DEPHT is not a setting; settings look like",
        ),
        ("ENGINE", "7", "environment variable DESDEMONA_ENGINE: engine"),
        ("CHALLENGES__BLOCK", "anna", "lists are written as JSON"),
        (
            "CHALLENGES__MIN_RATING",
            "4500",
            "the defaults, DESDEMONA_CHALLENGES__MIN_RATING: challenges: min_r",
        ),
    ],
)
def test_what_is_wrong_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"DESDEMONA_{name}", value)
    with pytest.raises(ConfigError) as caught:
        load_config()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read the configuration .*none\.toml: No such file"):
        load_config(tmp_path / "none.toml")


def test_a_file_that_never_ends() -> None:
    with pytest.raises(ConfigError, match="cannot read the configuration /dev/zero: not a regular file"):
        load_config(Path("/dev/zero"))


def test_names_in_lists_are_trimmed(tmp_path: Path) -> None:
    path = written(tmp_path, '[challenges]\nallow = [" anna "]\n[matchmaking]\nvariants = ["unasked"]\n')
    assert load_config(path).challenges.allow == ("anna",)


def test_books_and_tables_are_opened(tmp_path: Path) -> None:
    assert Config().engine.strong_options().sources == {}
    assert Config().engine.strong_options().threads == 1
    entry = struct.pack(">QHHI", chess.polyglot.zobrist_hash(chess.Board()), 0o1434, 1, 0)  # e2e4
    (tmp_path / "book.bin").write_bytes(entry)
    config = load_config(written(tmp_path, '[engine]\npolyglot = "book.bin"\n'))
    assert [each.description for each in config.engine.strong_options().sources["chess"]] == [
        "a Polyglot book of 1 moves"
    ]


def test_several_books_in_order(tmp_path: Path) -> None:
    """The old key's book, then the others; each with its own use, and for its own game."""
    for name, squares in (("old.bin", 0o1434), ("white.bin", 0o1333), ("atomic.bin", 0o1232)):
        entry = struct.pack(">QHHI", chess.polyglot.zobrist_hash(chess.Board()), squares, 5, 0)
        (tmp_path / name).write_bytes(entry)
    text = """
        [engine]
        polyglot = "old.bin"
        [[engine.books]]
        file = "white.bin"
        colour = "white"
        choose = "best"
        max_ply = 12
        min_weight = 3
        [[engine.books]]
        file = "atomic.bin"
        game = "atomic"
        """
    config = load_config(written(tmp_path, text))
    assert config.engine.books[0].use() == BookMoveChoice(
        side=0, choice=BookChoice.BEST, max_ply=12, min_weight=3
    )
    assert config.engine.books[1].use() == BookMoveChoice(game="atomic")
    found = {
        game: [source.choose(get_rules(game).initial(), random.Random(1)) for source in sources]
        for game, sources in config.engine.strong_options().sources.items()
    }
    origins = {game: [move.pick.origin for move in moves if move] for game, moves in found.items()}
    assert origins == {
        "chess": ["old.bin, weighted: weight 5 of 5", "white.bin, best: weight 5 of 5"],
        "atomic": ["atomic.bin, weighted: weight 5 of 5"],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('colour = "white"', "engine.books.0.file: Field required"),
        (
            'file = "a.bin"\ngame = "othello"',
            "engine.books.0.game: there are no books for this game; known: chess, ",
        ),
        (
            'file = "a.bin"\ncolour = "red"',
            "books.0.colour: Input should be 'white', 'black'",
        ),
        (
            'file = "a.bin"\nchoose = "any"',
            "books.0.choose: Input should be 'weighted', 'best'",
        ),
        (
            'file = "a.bin"\nmax_ply = -1',
            "books.0.max_ply: Input should be greater than",
        ),
        (
            'file = "a.bin"\nmin_weight = 0',
            "books.0.min_weight: Input should be greater than",
        ),
        (
            'file = "a.bin"\nvariant = "x"',
            "books.0.variant is not a setting; known here: file, game",
        ),
    ],
)
def test_what_is_wrong_with_a_book(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(written(tmp_path, f"[[engine.books]]\n{text}\n"))
    assert message in str(caught.value)


def test_models_of_people_are_opened(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, '[human]\nbudget_percent = 5\nscale = "pawns"\n'))
    assert config.human.opponent_params() == OpponentParams(OpponentScale.PAWNS, 5)
    assert config.human.model_registry().games == ()
    missing = load_config(written(tmp_path, '[human]\nmodels = ["none.onnx"]\n'))
    with pytest.raises(ConfigError, match=r"human.models or human.calibrated: none.onnx: No such file"):
        missing.human.model_registry()
    with pytest.raises(ConfigError, match="budget_percent"):
        load_config(written(tmp_path, "[human]\nbudget_percent = 101\n"))


def test_players_on_another_engines_scores_need_one(tmp_path: Path) -> None:
    text = '[assignment]\nmethod = "fixed"\nstrategy = "opponent_model_uci"\n'
    with pytest.raises(ConfigError, match="opponent_model_uci needs an engine for othello"):
        load_config(written(tmp_path, text))
    fixed = load_config(written(tmp_path, text.replace("_uci", "")))
    assert fixed.assignment.strategy == "opponent_model"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('book = "none.gz"', "engine.book: none.gz: cannot be read: No such file"),
        ('polyglot = "none.bin"', "engine.polyglot: none.bin: cannot be read: no such file"),
        ('books = [{ file = "none.bin" }]', "engine.books.0: none.bin: cannot be read: no such file"),
        ('polyglot = "my.toml"', "engine.polyglot: my.toml: truncated, or not a Polyglot book"),
        ('syzygy = "none"', "engine.syzygy: none: no such folder"),
        ('syzygy = "."', "engine.syzygy: .: no Syzygy tables (*.rtbw) there"),
    ],
)
def test_books_and_tables_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    config = load_config(written(tmp_path, f"[engine]\n{text}\n"))
    with pytest.raises(ConfigError) as caught:
        config.engine.strong_options()
    assert message in str(caught.value)


def test_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://games.example"
    with pytest.raises(ConfigError, match="needs a token: set DESDEMONA_SERVER__TOKEN or server"):
        read_token(ServerConfig(url=url))
    path = tmp_path / "token"
    with pytest.raises(ConfigError, match=r"server\.token_file: cannot read .*No such file"):
        read_token(ServerConfig(url=url, token_file=str(path)))
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="is empty"):
        read_token(ServerConfig(url=url, token_file=str(path)))
    for device in (Path("/dev/zero"), tmp_path):
        with pytest.raises(ConfigError, match=r"server\.token_file: cannot read .*not a regular file"):
            read_token(ServerConfig(url=url, token_file=str(device)))
    path.write_bytes(b"\0" * (MAX_CONFIG_BYTES + 1))
    with pytest.raises(ConfigError, match=r"server\.token_file: cannot read .*larger than 1 MiB"):
        read_token(ServerConfig(url=url, token_file=str(path)))
    path.write_text("abc\n", encoding="utf-8")
    assert read_token(ServerConfig(url=url, token_file=str(path))) == "abc"
    monkeypatch.setenv("DESDEMONA_SERVER__TOKEN", "xyz")
    config = load_config()
    assert read_token(config.server) == "xyz"
    assert "xyz" not in repr(config)
    assert "xyz" not in config.model_dump_json()


def test_settings_of_earlier_versions_keep_their_strategies(tmp_path: Path) -> None:
    def home(text: str) -> AssignmentConfig:
        account = '[[accounts]]\nname = "home"\ndialect = "arena"\n'
        own = '[accounts.assignment]\nstrategies = ["trappy", "tempting"]\n'
        return load_config(written(tmp_path, text + account + own)).by_account()["home"].assignment

    pair = '[assignment]\nstrategies = ["standard", "trappy"]\n'
    common = load_config(written(tmp_path, pair)).assignment
    assert (common.method, common.drawn_from) == ("balanced", ("standard", "trappy"))
    for text in (pair, ""):
        assert (home(text).method, home(text).drawn_from) == ("balanced", ("trappy", "tempting"))
        assert home(text).draws_casual_games
    assert home('[assignment]\nmethod = "fixed"\n').drawn_from == ()


def test_accounts_have_settings_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESDEMONA_TOKEN_MY_LICHESS", "secret")
    text = """
[challenges]
max_games = 3
casual = false
[[accounts]]
name = "home"
login = "Desdemona"
dialect = "arena"
[[accounts]]
name = "my-lichess"
dialect = "lichess"
[accounts.challenges]
max_games = 5
[accounts.assignment]
method = "rules"
rules = [{ strategy = "standard", game = "chess" }]
"""
    config = load_config(written(tmp_path, text))
    home, lichess = config.by_account().values()
    assert list(config.by_account()) == ["home", "my-lichess"]
    assert (home.server.name, home.uses_arena, home.challenges.max_games) == ("Desdemona", True, 3)
    assert (lichess.server.dialect, lichess.uses_arena, lichess.challenges.max_games) == ("lichess", False, 5)
    assert not lichess.challenges.casual
    assert lichess.assignment.rules[0].strategy == "standard"
    assert home.assignment == config.assignment
    assert read_token(lichess.server) == "secret"
    assert choose_accounts(config, ["MY-LICHESS"]) == {"my-lichess": lichess}
    with pytest.raises(ConfigError, match="no such account; known: home, my-lichess"):
        choose_accounts(config, ["home", "ggs"])
    monkeypatch.delenv("DESDEMONA_TOKEN_MY_LICHESS")
    needs = "lichess needs a token: set DESDEMONA_TOKEN_MY_LICHESS or accounts.my-lichess.token_file"
    with pytest.raises(ConfigError, match=needs):
        read_token(config.by_account()["my-lichess"].server)


def test_a_token_of_no_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESDEMONA_TOKEN_CC", "secret")
    with pytest.raises(ConfigError, match="DESDEMONA_TOKEN_CC: no such account; known: DESDEMONA_TOKEN_AA"):
        load_config(written(tmp_path, TWO_ACCOUNTS))


def test_a_server_alone_is_the_one_account() -> None:
    config = Config()
    assert config.by_account() == {"arena": config}
    assert choose_accounts(config, []) == {"arena": config}


def test_levels_are_bots_of_the_arena_with_names_of_their_own() -> None:
    config = Config(arena=ArenaConfig(levels=(1, 6)), matchmaking=MatchmakingConfig(enabled=True))
    accounts = config.by_account()
    assert list(accounts) == ["arena", "Level-1", "Level-6"]
    assert accounts["arena"] is config
    weak = accounts["Level-1"]
    assert (weak.uses_arena, weak.server.name, weak.matchmaking.enabled) == (True, "Level-1", False)
    assert (weak.assignment.method, weak.assignment.strategy, weak.assignment.level) == ("fixed", "gentle", 1)
    with pytest.raises(ValueError, match="levels"):
        ArenaConfig(levels=(7,))


def test_bots_that_imitate_people_say_so() -> None:
    config = Config(arena=ArenaConfig(levels=(2,), like=(1100, 1900)))
    accounts = config.by_account()
    assert (
        list(accounts) == ["arena", *config.partner_names] == ["arena", "Level-2", "Like-1100", "Like-1900"]
    )
    like = accounts["Like-1900"]
    assert (like.uses_arena, like.server.name) == (True, "Like-1900")
    assert (like.assignment.strategy, like.assignment.like_rating) == ("like", 1900)
    assert like.chat.greeting == "Good luck, {opponent}! I am a program that plays as people rated 1900 do."
    assert ChatConfig(greeting=like.chat.greeting) == like.chat
    with pytest.raises(ConfigError, match=r"a bot of arena.like already has the name Like-1100"):
        Config.model_validate({"arena": {"like": [1100]}, "server": {"name": "like-1100"}}).by_account()
    with pytest.raises(ValueError, match="like, a weakened player that cannot be compared"):
        AssignmentConfig(strategies=("trappy", "like"))


def test_what_a_draw_chooses_from() -> None:
    assert AssignmentConfig().drawn_from == ("exploit", "strong")
    assert not AssignmentConfig().draws_casual_games
    assert AssignmentConfig(method=AssignmentMethod.BALANCED).drawn_from == ("standard", "trappy")
    assert AssignmentConfig(strategies=("trappy",)).drawn_from == ()
    assert AssignmentConfig(method=AssignmentMethod.FIXED).drawn_from == ()


@pytest.mark.parametrize(
    "taken",
    [
        {"server": {"name": "Level-3"}},
        {"accounts": [{"name": "level-3", "dialect": "lichess"}]},
        {"accounts": [{"name": "mine", "dialect": "arena", "login": "LEVEL-3"}]},
    ],
)
def test_an_account_does_not_share_its_name_with_a_level(taken: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"account .*: a bot of .* already has the name Level-3"):
        Config.model_validate({"arena": {"levels": [3]}, **taken}).by_account()
    Config.model_validate({"arena": {"levels": [2]}, **taken}).by_account()
