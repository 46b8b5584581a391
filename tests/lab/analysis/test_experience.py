"""Errors by the games that people had played before."""

from dataclasses import replace

import numpy as np
import pytest

from lab.analysis.experience import errors_by_experience
from lab.analysis.population import Population, population
from tests.lab.analysis.samples import position
from tests.lab.analysis.test_study import TRAP


def people() -> Population:
    names = ["Ann", "Bob", "Bob", "Cid", "", "Zebra (a)"]
    given = [
        replace(position(3 * at, TRAP, played, (0.5, 0.3, 0.2)), name=name)
        for at, (name, played) in enumerate(zip(names, [1, 0, 2, 0, 1, 1], strict=True))
    ]
    return population("othello", given, "net")


def test_errors_made_and_expected() -> None:
    given = people()
    found = errors_by_experience(given, given.models, {"Bob": 40, "Cid": 40, "Zebra (a)": 40})
    assert [(band.people, band.errors.count, band.errors.of, band.errors.persons) for band in found] == [
        ("games before: 0", 1, 1, 1),
        ("games before: 31-200", 1, 3, 2),
    ]
    # Two replies of three are errors, with a probability of .3 and .2.
    assert [band.expected["net"].value for band in found] == pytest.approx([0.5, 1.5])


def test_unknown_games_are_not_none() -> None:
    given = people()
    assert errors_by_experience(given, given.models, None) == ()


def test_nobody_erred() -> None:
    given = population("othello", [replace(position(0, TRAP, 0, (1, 0, 0)), name="Ann")], "net")
    (band,) = errors_by_experience(given, given.models, {})
    assert np.isnan(band.expected["net"].value)
