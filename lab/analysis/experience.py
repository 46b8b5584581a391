"""Expected and actual errors, by the number of games that the person had played previously."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lab.analysis.measures import Estimate, PersonShare, estimate_of, person_share
from lab.analysis.persons import games_bands, is_person
from lab.analysis.population import MIN_ERROR_SCORE_LOSS, Population
from storage.evidence.inference.fixed import fixed_ratio


@dataclass(frozen=True, slots=True)
class ErrorBand:
    """The errors of people who had previously played similar numbers of games."""

    people: str
    errors: PersonShare
    """Share of replies that cost at least 10 % of expected score."""
    expected: dict[str, Estimate]
    """Expected errors divided by actual errors, keyed by model name."""


def errors_by_experience(
    people: Population,
    probabilities: Mapping[str, NDArray[np.float64]],
    games_before: Mapping[str, int] | None,
) -> tuple[ErrorBand, ...]:
    """Errors by band of the number of earlier games; bands without a reply are omitted.

    Args:
        probabilities: Each model's probabilities for the replies, keyed by model name.
        games_before: Number of games each person had played previously, keyed by name; 0 for missing names.
            None: unknown.

    Returns:
        The bands, excluding programs and unnamed people; empty if the numbers of games are unknown.
    """
    if games_before is None:
        return ()
    games = [
        games_before.get(stored.name, 0) if is_person(stored.name) else None for stored in people.positions
    ]
    erred = people.loss[people.rows.played] >= MIN_ERROR_SCORE_LOSS
    expected = {
        name: people.sums(np.where(people.loss >= MIN_ERROR_SCORE_LOSS, p, 0.0))
        for name, p in probabilities.items()
    }
    errors, persons = erred.astype(np.float64), people.persons
    return tuple(
        ErrorBand(
            name,
            person_share(erred[inside], persons[inside]),
            {
                model: estimate_of(fixed_ratio(sums[inside], errors[inside], persons[inside]))
                for model, sums in expected.items()
            },
        )
        for name, inside in games_bands(games).items()
        if inside.any()
    )
