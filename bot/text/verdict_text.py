"""Sentences that state the verdict on a trial, identical on pages, in the terminal and in reports."""

from bot.base.rounding import percent, plural
from bot.text.values_text import number, signed_number
from storage.evidence.inference.verdict import IntervalFinding, TrialOutcome, TrialVerdict

_SAYS = {
    TrialOutcome.SCORE: ("{first} scores {by}more", "{second} scores {by}more"),
    TrialOutcome.COST: ("{first} costs people {by}more", "{second} costs people {by}more"),
    TrialOutcome.REPLY_COST: ("A trap costs people {by}more", "A trap costs people {by}less"),
    TrialOutcome.BEYOND_DIFFICULTY: (
        "A trap costs people {by}more, beyond difficulty",
        "A trap costs people {by}less, beyond difficulty",
    ),
    TrialOutcome.EARNED: ("A trap earns {by}more than it gives up", "A trap earns {by}less than it gives up"),
}
"""For each outcome, the sentences for intervals above 0 and below 0; ``by`` is empty or ends with a space."""
_UNITS = {TrialOutcome.SCORE: "per 100 games", TrialOutcome.COST: "per reply"}
_BROKEN = {
    "draw": "the random assignment differs from the recorded probabilities by more than chance allows",
    "missing": "outcomes are missing from one of the two groups more often than chance allows",
}


def outcome_name(verdict: TrialVerdict) -> str:
    """The outcome's display name, and whether its analysis was planned: ``cost (planned)``."""
    name = "cost" if verdict.outcome is TrialOutcome.REPLY_COST else verdict.outcome.value.replace("_", " ")
    return f"{name} ({'planned' if verdict.is_planned else 'exploratory'})"


def label(verdict: TrialVerdict, finding: IntervalFinding | None = None) -> str:
    """State the verdict in a few words.

    Args:
        verdict: The verdict.
        finding: The finding to state; None for the verdict's own finding.
    """
    said = verdict.finding if finding is None else finding
    more, less = _SAYS[verdict.outcome]
    return {
        IntervalFinding.TOO_EARLY: "Too early to say",
        IntervalFinding.NOT_CLEAR: "Not decided yet",
        IntervalFinding.NO_DIFFERENCE: "No difference that matters",
        IntervalFinding.MORE: _fill(more, verdict),
        IntervalFinding.LESS: _fill(less, verdict),
    }[said]


def headline(verdict: TrialVerdict) -> str:
    """State the verdict in one sentence, with the size of the difference if the verdict finds one."""
    if verdict.mean is None or verdict.finding not in (IntervalFinding.MORE, IntervalFinding.LESS):
        return f"{label(verdict)}."
    more, less = _SAYS[verdict.outcome]
    by = f"{number(abs(100 * verdict.mean), _digits(verdict))} points "
    said = _fill(more if verdict.finding is IntervalFinding.MORE else less, verdict, by)
    return f"{said}{_per(verdict)}."


def evidence(verdict: TrialVerdict) -> str:
    """State the interval and its sample sizes, or why there is no interval yet, and what is still judged."""
    if verdict.low is None or verdict.high is None:
        said = _missing(verdict)
    else:
        low, high = (signed_number(100 * limit, _digits(verdict)) for limit in (verdict.low, verdict.high))
        said = (
            f"The difference is between {low} and {high} points{_per(verdict)} "
            f"({level(verdict)}, valid at any time), from {_values(verdict)}."
        )
    return f"{said} {unjudged_text(verdict.unjudged, verdict.unit)}".rstrip()


def unjudged_text(count: int, unit: str) -> str:
    """Say how many games or decisions wait for the judge; empty if none do.

    Args:
        count: Their number.
        unit: ``game`` or ``decision``.
    """
    if not count:
        return ""
    are = "is" if count == 1 else "are"
    return f"{plural(count, unit)} {are} still being judged; the costs end before the first."


def outlook_text(verdict: TrialVerdict) -> str:
    """Say how many more values would decide the trial or narrow its interval; empty if unknown."""
    if verdict.finding is IntervalFinding.NOT_CLEAR:
        if verdict.more is None:
            return f"At this rate, not even a million more {verdict.unit}s would decide."
        return f"At this rate the trial needs about {plural(verdict.more, f'more {verdict.unit}')}."
    if verdict.finding.is_decided and verdict.more_to_narrow:
        more = plural(verdict.more_to_narrow, f"more {verdict.unit}")
        return f"About {more} would make the interval a third narrower."
    return ""


def warning(verdict: TrialVerdict) -> str:
    """State why the results are invalid; empty if they are valid."""
    reasons = " and ".join(_BROKEN[name] for name in verdict.broken)
    return f"DO NOT USE: {reasons}." if reasons else ""


def sentences(verdict: TrialVerdict) -> list[str]:
    """All sentences, in order."""
    said = (warning(verdict), headline(verdict), evidence(verdict), outlook_text(verdict))
    return [each for each in said if each]


def level(verdict: TrialVerdict) -> str:
    """The confidence level of the verdict's interval, for instance ``95 %``."""
    return percent(1 - verdict.alpha, 0 if round(100 * verdict.alpha, 6).is_integer() else 1)


def lower_first(text: str) -> str:
    """Make the first letter lower-case: ``not decided yet``."""
    return text[:1].lower() + text[1:]


def _fill(text: str, verdict: TrialVerdict, by: str = "") -> str:
    return text.format(first=verdict.first.capitalize(), second=verdict.second.capitalize(), by=by)


def _per(verdict: TrialVerdict) -> str:
    unit = _UNITS.get(verdict.outcome, "")
    return f" {unit}" if unit else ""


def _digits(verdict: TrialVerdict) -> int:
    """Decimals of values in points: 1 for scores, 2 for costs, whose differences are ten times smaller."""
    return 1 if verdict.outcome is TrialOutcome.SCORE else 2


def _values(verdict: TrialVerdict) -> str:
    people = plural(verdict.persons, "person", "people")
    return f"{plural(verdict.n, verdict.unit)} with {people}"


def _missing(verdict: TrialVerdict) -> str:
    for name, n in ((verdict.first, verdict.n_first), (verdict.second, verdict.n_second)):
        if verdict.n >= verdict.n_needed and not n:
            return f"{_values(verdict)} so far, none of them with {name}: there is nothing to compare."
    needs = []
    if verdict.n < verdict.n_needed:
        needs.append(plural(verdict.n_needed, verdict.unit))
    if verdict.effective_persons < verdict.persons_needed:
        needs.append(f"{verdict.persons_needed:g} people")
    effective = int(verdict.effective_persons)
    uneven = ""
    if effective < verdict.persons and verdict.effective_persons < verdict.persons_needed:
        uneven = f" Most are from a few people, so they count like {plural(effective, 'person', 'people')}."
    return f"{_values(verdict)} so far.{uneven} The interval appears at {' with '.join(needs)}."
