"""What the kinds of players say of themselves, and that nothing else tells players apart by name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.player_kinds import (
    COMPARED_KINDS,
    ENGINE_GAME_KINDS,
    OWN_KINDS,
    PLAYER_KINDS,
    Choosing,
    PlayerKind,
    kind_named,
)

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "engine" / "player_kinds.py"
CODE = [path for package in ("engine", "bot", "lab", "storage") for path in (ROOT / package).rglob("*.py")]
OTHER_WORDS = {"search_mode", "variant", "key"}
"""What holds words of another kind, one of which is also a player's name: a search mode is ``strong``, too,
and a variant of chess ``standard``."""


def names_where(fact: str) -> set[str]:
    return {name for name, kind in PLAYER_KINDS.items() if getattr(kind, fact)}


def test_the_table() -> None:
    assert list(PLAYER_KINDS) == [
        "standard",
        "trappy",
        "strong",
        "opponent_model",
        "calibrated",
        "tempting",
        "randomised",
        "gentle",
        "trappy_uci",
        "standard_uci",
        "opponent_model_uci",
        "calibrated_uci",
    ]
    assert all(kind.name == name for name, kind in PLAYER_KINDS.items())
    engines = {"trappy_uci", "standard_uci", "opponent_model_uci", "calibrated_uci"}
    people = {"opponent_model", "calibrated", "opponent_model_uci", "calibrated_uci"}
    assert names_where("asks_engine") == engines
    assert names_where("models_opponent") == people
    assert names_where("is_calibrated") == {"calibrated", "calibrated_uci"}
    assert names_where("sets_traps") == people | {"trappy", "trappy_uci", "tempting", "randomised"}
    assert names_where("draws_decisions") == {"randomised"}
    assert names_where("has_level") == {"gentle"}
    assert names_where("searches_selectively") == {"strong"}
    assert names_where("plays_engine_games") == set(ENGINE_GAME_KINDS) == {"trappy_uci", "standard_uci"}
    assert names_where("plays_engine_moves") == {"standard_uci"}
    assert names_where("looks_up") == {"strong", "standard_uci"}
    assert COMPARED_KINDS == ("standard", "trappy")
    assert OWN_KINDS == ("standard", "trappy", "strong", "opponent_model", "calibrated", "tempting")


@pytest.mark.parametrize("kind", PLAYER_KINDS.values(), ids=PLAYER_KINDS)
def test_what_goes_together(kind: PlayerKind) -> None:
    assert kind.models_opponent or not kind.is_calibrated, "calibrated odds are of an opponent's replies"
    assert kind.asks_engine or not kind.plays_engine_games, "those games need another engine"
    if kind.asks_engine:
        namesake = kind_named(kind.name.removesuffix("_uci"))
        assert not namesake.asks_engine
        assert (kind.choosing, kind.is_calibrated) == (namesake.choosing, namesake.is_calibrated)


def test_every_way_to_choose_has_a_player() -> None:
    assert {kind.choosing for kind in PLAYER_KINDS.values()} == set(Choosing)


def test_kinds_by_name() -> None:
    assert kind_named("trappy").choosing is Choosing.ADJUSTED
    known = (
        "standard, trappy, strong, opponent_model, calibrated, tempting, randomised, gentle, "
        "trappy_uci, standard_uci, opponent_model_uci, calibrated_uci"
    )
    with pytest.raises(ValueError, match=f"^no player named 'clever'; known: {known}$"):
        kind_named("clever")


# --- Nobody else tells players apart --------------------------------------------------------------------


def names_in(node: ast.AST) -> set[str]:
    """Players' names among a node's constants."""
    return {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in PLAYER_KINDS
    }


def holds_other_words(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in OTHER_WORDS
    return False


def told_apart(tree: ast.AST) -> Iterator[int]:
    """Lines that compare something with a player's name, or list several of them."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left, _, others) if not any(map(holds_other_words, (left, *others))):
                suspects, most = [left, *others], 0
            case ast.MatchValue(value):
                suspects, most = [value], 0
            case ast.Tuple(parts) | ast.List(parts) | ast.Set(parts):
                suspects, most = parts, 1
            case ast.Dict(keys):
                suspects, most = [key for key in keys if key is not None], 1
            case _:
                continue
        if len(set().union(*map(names_in, suspects))) > most:
            yield node.lineno


@pytest.mark.parametrize(
    "code",
    [
        'kind == "strong"',
        '"trappy" != game.player',
        'player in ("trappy", other)',
        'player not in {"calibrated"}',
        'match kind:\n    case "strong" | "other":\n        pass',
        'SOME = ("trappy", "strong")',
        'BY_KIND = {"trappy": 1, "standard": 2}',
        'for kind in ["opponent_model", "calibrated"]: pass',
    ],
)
def test_comparisons_are_found(code: str) -> None:
    assert list(told_apart(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        'decision.search_mode != "strong"',
        'variant.key not in ("standard", OTHER)',
        'Section(player="trappy")',
        'kind.name == "somebody"',
    ],
)
def test_other_words_are_left_alone(code: str) -> None:
    assert not list(told_apart(ast.parse(code)))


def test_nothing_else_tells_players_apart_by_name() -> None:
    assert TABLE in CODE
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in CODE
        if path != TABLE
        for line in told_apart(ast.parse(path.read_text()))
    ]
    assert not found, "ask engine.player_kinds instead"


def test_the_page_knows_no_player_by_name() -> None:
    names = PLAYER_KINDS.keys() - {"standard", "strong"}  # a search mode, and a chip's look
    scripts = list((ROOT / "bot" / "arena" / "static").rglob("*.js"))
    assert scripts
    for script in scripts:
        quoted = set(re.findall(r"""["'`](\w+)["'`]""", script.read_text()))
        assert not quoted & names, script
