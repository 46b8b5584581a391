"""The core's trap arithmetic is that of `engine.trappy`, to the last bit: without a search around it."""

import itertools
import os
import random
import shutil
import subprocess
from array import array
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import trappy
from engine.expected import expected_table
from engine.game import WIN_CENTI
from engine.params import Assessment, DecidedScores, Scale, TrapParams

# Of the core that is under test; elsewhere when that one is not the working tree's.
NATIVE = Path(os.environ.get("DESDEMONA_NATIVE_SOURCE", Path(__file__).parents[3] / "engine" / "native"))
INFINITE = 1_000_000

PARAMS = [
    *(TrapParams(assessment, margin) for assessment in Assessment for margin in (0, 8, 100)),
    TrapParams(decided=DecidedScores.PAPER),
    *(
        TrapParams(
            decided=decided,
            scale=Scale.EXPECTED,
            logistic_centi=10,
            risk_percent=risk,
            risk_share_percent=share,
        )
        for risk, share in ((5, 25), (0.5, 100), (20, 40))
        for decided in DecidedScores
    ),
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no compiler")
    source = Path(__file__).with_name("trap_arithmetic.cpp")
    built = tmp_path_factory.mktemp("trap_arithmetic") / "ask"
    flags = ["-std=c++20", "-O1", "-ffp-contract=off", f"-I{NATIVE}"]
    subprocess.run([compiler, *flags, str(source), "-o", str(built)], check=True)
    return built


def answers(program: Path, params: TrapParams, questions: list[str]) -> list[float]:
    """What the core says."""
    is_expected = params.scale is Scale.EXPECTED
    table = array("h", expected_table(params.logistic_centi)) if is_expected else array("h")
    first = [
        list(Assessment).index(params.assessment),
        params.margin_centi,
        int(params.decided is DecidedScores.SWINDLE),
        params.risk_budget,
        params.risk_share,
        len(table),
        *table,
    ]
    told = "\n".join((" ".join(map(str, first)), *questions))
    done = subprocess.run([program], input=told, capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


def some_score(rng: random.Random) -> int:
    """Near nothing, where equal numbers meet; usual; or at a border."""
    return rng.choice(
        (
            rng.randint(-12, 12),
            4 * rng.randint(-12, 12),
            rng.randint(-2000, 2000),
            rng.choice((-1, 1)) * (WIN_CENTI + rng.randint(-1, 1)),
            rng.choice((-1, 1)) * rng.choice((98, 99, 100, 101)),
        )
    )


def cases(
    rng: random.Random, params: TrapParams, score: int, raw: int, shallow: list[int]
) -> Iterator[tuple[str, float]]:
    """Questions, and the answers of `engine.trappy`."""
    yield f"w {score}", trappy.utility(score, params)
    assessed = -trappy.assess_shallow_scores(
        [-trappy.utility(each, params) for each in shallow], params.assessment
    )
    yield f"a {len(shallow)} {' '.join(map(str, shallow))}", assessed
    quality = trappy.reply_quality([*shallow, score], raw, params)
    yield f"q {assessed} {score} {raw}", quality
    bound = rng.choice((score, INFINITE))
    yield f"m {assessed} {bound} {raw}", trappy.quality_ceiling(assessed, bound, raw, params)
    yield f"c {raw}", trappy.bonus_cap(raw, params)
    size = 4 * params.risk_budget if params.scale is Scale.EXPECTED else max(abs(raw), params.margin_centi)
    for each in (quality, size * rng.choice((0.125, 0.25, 0.5, 1.9, 2, 2.5, 1e6)), 0.0, -1.0):
        yield f"b {each!r} {raw}", trappy.bonus(each, raw, params)
    # The one thing that only the core knows: what to try first, where no reply is a trap yet.
    final = trappy.utility(score, params)
    profit = final - trappy.utility(raw, params)
    scale = 4 * params.risk_budget if params.scale is Scale.EXPECTED else max(abs(final), params.margin_centi)
    hope = profit * (final - assessed) / (scale + 1)
    yield f"i {assessed} {score} {raw}", quality if quality > 0 or profit <= 0 else hope


@pytest.mark.parametrize("params", PARAMS)
def test_the_core_computes_as_python_does(program: Path, params: TrapParams) -> None:
    rng = random.Random(1)
    near = [
        (score, raw, [shallow]) for score, raw, shallow in itertools.product((-32, -8, 0, 2, 8, 32), repeat=3)
    ]
    far = [
        (some_score(rng), some_score(rng), [some_score(rng) for _ in range(rng.randint(1, 7))])
        for _ in range(500)
    ]
    asked = [case for numbers in (*near, *far) for case in cases(rng, params, *numbers)]
    found = answers(program, params, [question for question, _ in asked])
    assert len(found) == len(asked)
    for (question, expected), answer in zip(asked, found, strict=True):
        assert answer == expected, question
