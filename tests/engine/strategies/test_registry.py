"""What strategies say of themselves, and that nothing else tells players apart by name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.strategies.registry import (
    STRATEGIES,
    own_strategies,
    strategies_in_comparison,
    strategy_named,
)
from engine.strategies.strategy import Strategy
from engine.strategies.trappy import TRAPPY

ROOT = Path(__file__).parents[3]
STRATEGY_MODULES = ROOT / "engine" / "strategies"
CODE = [path for package in ("engine", "bot", "lab", "storage") for path in (ROOT / package).rglob("*.py")]
OTHER_WORDS = {"search_mode", "variant", "key"}
"""What holds words of another kind, one of which is also a player's name: a search mode is ``strong``, too,
and a variant of chess ``standard``."""


def names_where(fact: str) -> set[str]:
    return {name for name, kind in STRATEGIES.items() if getattr(kind, fact)}


def test_the_table() -> None:
    assert list(STRATEGIES) == [
        "standard",
        "trappy",
        "strong",
        "exploit",
        "trappy_strong",
        "opponent_model",
        "calibrated",
        "tempting",
        "randomised",
        "gentle",
        "like",
        "trappy_uci",
        "standard_uci",
        "opponent_model_uci",
        "calibrated_uci",
    ]
    assert all(kind.name == name for name, kind in STRATEGIES.items())
    engines = {"trappy_uci", "standard_uci", "opponent_model_uci", "calibrated_uci"}
    people = {"opponent_model", "calibrated", "opponent_model_uci", "calibrated_uci"}
    assert names_where("asks_engine") == engines
    assert names_where("models_opponent") == people | {"exploit"}
    assert names_where("weighs_errors") == {"exploit"}
    assert names_where("is_calibrated") == {"calibrated", "calibrated_uci"}
    assert names_where("sets_traps") == people | {
        "exploit",
        "trappy_strong",
        "trappy",
        "trappy_uci",
        "tempting",
        "randomised",
    }
    assert names_where("draws_decisions") == {"randomised"}
    assert names_where("has_level") == {"gentle"}
    assert names_where("imitates_people") == {"like"}
    assert names_where("uses_people_models") == people | {"exploit", "like"}
    assert names_where("searches_selectively") == {"strong", "exploit", "trappy_strong"}
    assert names_where("plays_engine_games") == {"trappy_uci", "standard_uci"}
    assert names_where("plays_engine_moves") == {"standard_uci"}
    assert names_where("looks_up") == {"strong", "exploit", "trappy_strong", "standard_uci"}
    assert strategies_in_comparison() == ("standard", "trappy")
    assert own_strategies() == (
        "standard",
        "trappy",
        "strong",
        "exploit",
        "trappy_strong",
        "opponent_model",
        "calibrated",
        "tempting",
    )


@pytest.mark.parametrize("kind", STRATEGIES.values(), ids=STRATEGIES)
def test_what_goes_together(kind: Strategy) -> None:
    assert kind.models_opponent or not kind.is_calibrated, (
        "calibrated probabilities are of an opponent's replies"
    )
    assert kind.asks_engine or not kind.plays_engine_games, "those games need another engine"
    if kind.asks_engine:
        namesake = strategy_named(kind.name.removesuffix("_uci"))
        assert not namesake.asks_engine
        for fact in ("sets_traps", "counts_bonus", "models_opponent", "is_calibrated"):
            assert getattr(kind, fact) == getattr(namesake, fact)
        assert kind.best_move.__func__ is namesake.best_move.__func__  # type: ignore[attr-defined]


def test_kinds_by_name() -> None:
    assert strategy_named("trappy") is TRAPPY
    known = (
        "standard, trappy, strong, exploit, trappy_strong, opponent_model, calibrated, tempting, "
        "randomised, gentle, like, trappy_uci, standard_uci, opponent_model_uci, calibrated_uci"
    )
    with pytest.raises(ValueError, match=f"^no strategy named 'clever'; known: {known}$"):
        strategy_named("clever")


# --- Nobody else tells players apart --------------------------------------------------------------------


def names_in(node: ast.AST) -> set[str]:
    """Players' names among a node's constants."""
    return {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in STRATEGIES
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
    assert STRATEGY_MODULES / "registry.py" in CODE
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in CODE
        if path.parent != STRATEGY_MODULES
        for line in told_apart(ast.parse(path.read_text()))
    ]
    assert not found, "ask engine.strategies.registry instead"


def test_the_page_knows_no_player_by_name() -> None:
    names = STRATEGIES.keys() - {"standard", "strong"}  # a search mode, and a chip's look
    scripts = list((ROOT / "bot" / "arena" / "static").rglob("*.js"))
    assert scripts
    for script in scripts:
        quoted = set(re.findall(r"""["'`](\w+)["'`]""", script.read_text()))
        assert not quoted & names, script
