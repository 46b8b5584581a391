"""Formats a study as plain-text tables."""

import math
from collections.abc import Mapping, Sequence

from lab.analysis.added_value import AddedValue
from lab.analysis.baits import BaitRow, BaitTable
from lab.analysis.experience import ErrorBand
from lab.analysis.fitting import FittedModel
from lab.analysis.measures import Estimate, PersonShare
from lab.analysis.person_fitting import FittedPrior
from lab.analysis.study import PredictorQuality, Study
from lab.analysis.trap_counts import Figure9, Temptation
from storage.evidence.inference.any_time import MIN_PERSONS

_NO_INTERVAL = "[-]"


def study_text(found: Study) -> str:
    """Return the whole study as text."""
    models = [
        f"  {name}: log-loss {_number(found.nll[name], 4)}, top-1 accuracy {_percent(found.top1[name])}"
        for name in found.nll
    ]
    parts = [
        f"{found.positions} positions of {found.games} games, {found.persons} persons "
        f"(P {found.effective_persons:.0f}), {found.replies} replies, "
        f"{found.bad_replies} of them bad (10 % of expected score or more, at the analysis's depth)\n"
        f"errors: {_share(found.errors)}; mean loss {_number(found.mean_loss, 4)}",
        "" if found.baits is None else _baits(found.baits),
        "Everything below is exploratory: none of it was fixed as an endpoint beforehand.",
        "\n".join(["Predictions of all replies, by model:", *models]) if models else "",
        _section(
            "Errors by number of games previously played: actual, and expected per actual error",
            _experience(found.experience),
        ),
        _section("Figure 9: traps set, and people's replies", _figure9(found.figure9)),
        *(
            _section(
                f"How often replies of equal cost were played: traps ({name}) and others", _temptation(rows)
            )
            for name, rows in found.temptation.items()
        ),
        _section("Which bad reply is played", _judged(found.bad_reply, found.human_models)),
        _section(
            "What trappiness adds to a logit of model, cost and shallow scores, in nats per reply",
            _added(found.added),
        ),
        _section("Which position provokes an error", _judged(found.error, found.human_models)),
    ]
    text = "\n\n".join(part for part in parts if part)
    if found.effective_persons < MIN_PERSONS:
        persons = f"{math.floor(found.effective_persons)} of {MIN_PERSONS:g} effective persons"
        text += f"\n\nToo early for intervals: {persons} (docs/statistics.md)."
    elif _NO_INTERVAL in text:
        text += f"\n\n{_NO_INTERVAL}: no interval below {MIN_PERSONS:g} effective persons."
    return f"{text}\n"


def fitted_text(fitted: FittedModel) -> str:
    """A model's cross-validation results as text."""
    lines = []
    for each in fitted.validated:
        lines += [
            f"{each.part}: penalty {each.penalty:g}, {each.trees} trees",
            f"  log-loss {each.nll:.4f} per reply, {each.against} {each.against_nll:.4f}: "
            f"improvement {_number(each.better, 4, signed=True)}",
            f"  AUC of bad replies {_number(each.auc)}, improvement {_number(each.auc_better, signed=True)}",
        ]
    return "\n".join(lines) + "\n"


def person_text(fitted: FittedPrior) -> str:
    """Return a people model's prior and its evaluation as text."""
    prior = fitted.prior
    lines = [
        f"over {fitted.base.name}, costs at depth {prior.depth}; learned from {fitted.replies} replies by "
        f"{fitted.persons} persons"
    ]
    kinds = {"unrated": prior.unrated} | ({} if prior.rated is None else {"rated": prior.rated})
    for kind, gaussian in kinds.items():
        for at, axis in enumerate(("x", "k")):
            mean = " ".join(
                f"{number:+.3f} {name}"
                for name, number in zip(gaussian.features, gaussian.coefficients[:, at], strict=True)
            )
            deviation = math.sqrt(gaussian.covariance[at, at])
            lines.append(f"  {kind}, {axis}: {mean}, standard deviation {deviation:.3f}")
    head = ["people", "persons", "replies", "errors", "nats", "expected/actual"]
    for kind in kinds:
        head += [f"{kind}: gain", "expected/actual"]
    body = []
    for band in fitted.bands:
        row = [band.name, str(band.persons), str(band.replies), str(band.errors)]
        row += [_value(band.nats, ".3f"), _number(band.ratio, 2)]
        for kind in kinds:
            row += [_number(band.gains[kind], 4, signed=True), _number(band.ratios[kind], 2)]
        body.append(row)
    return "\n".join([*lines, table([head, *body])]) + "\n"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as a table with the first column aligned left and the others aligned right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _section(title: str, text: str) -> str:
    return f"{title}\n{text}" if text else ""


def _baits(found: BaitTable) -> str:
    """The primary endpoint and the table of baits, as text."""
    first = found.primary
    lines = [
        f"Primary endpoint, baits, {first.model}: expected divided by actual number played: "
        f"{_number(first.ratio, 2)}",
        "For each move, only the bait with the highest probability times cost counts.",
        _bait_rows(found.rows),
        f"decided positions left out: {found.decided}; judge {found.judge_version}; in the others, errors by "
        f"the judge: {_share(found.errors)}; mean cost {_number(found.mean_cost, 4)}",
    ]
    if found.likely_errors_predicted is not None:
        lines.append(
            f"errors among the two likeliest replies: {found.likely_errors_predicted:.1%} predicted, "
            f"{_share(found.likely_errors)} played, of {found.likely_errors.of}"
        )
    if found.tilt is not None:
        tilt = found.tilt
        lines.append(
            f"the judge's costs beyond the forecasts, fitted to these {tilt.moves} moves: "
            f"{tilt.tilt.power:.2f} ln p {tilt.tilt.constant:+.3f} - {tilt.tilt.per_cost:.2f} times the cost "
            f"(0 to 1), "
            f"{tilt.nats_before - tilt.nats:+.4f} nats better"
        )
    return "\n".join(lines)


def _bait_rows(rows: Sequence[BaitRow]) -> str:
    head = ["model", "people", "moves", "persons", "set one", "sets", "played"]
    body = [
        [
            row.model,
            row.people,
            str(row.offered.of),
            str(row.offered.persons),
            _share(row.offered),
            str(row.played.of),
            _share(row.played),
            "-" if row.predicted is None else f"{row.predicted:.1%}",
            _number(row.ratio, 2),
            _share(row.fell),
        ]
        for row in rows
    ]
    return table([[*head, "predicted", "predicted/played", "any bait"], *body])


def _experience(rows: Sequence[ErrorBand]) -> str:
    if not rows:
        return ""
    names = list(rows[0].expected)
    body = [
        [
            row.people,
            str(row.errors.persons),
            str(row.errors.of),
            _share(row.errors),
            *(_number(row.expected[name], 2) for name in names),
        ]
        for row in rows
    ]
    return table([["people", "persons", "replies", "errors", *names], *body])


def _figure9(rows: Sequence[Figure9]) -> str:
    head = ["trap", "set", "optimal", "fell", "for the best", "elsewhere", "optimal without a trap"]
    body = [
        [
            row.trap,
            str(row.set),
            _share(row.optimal),
            _share(row.fell),
            str(row.fell_for_best.count),
            _share(row.elsewhere),
            _share(row.plain_optimal),
        ]
        for row in rows
    ]
    expected = [
        [f"{row.trap}: {model}", _number(each)] for row in rows for model, each in row.expected.items()
    ]
    text = table([head, *body])
    if expected:
        text += "\n" + table([["expected falls per actual fall, by model", ""], *expected])
    return text


def _temptation(rows: Sequence[Temptation]) -> str:
    body = [
        [
            f"{row.low:.0%} to {row.high:.0%}",
            _share(row.trap),
            str(row.trap.of),
            _share(row.other),
            str(row.other.of),
        ]
        for row in rows
    ]
    return table([["cost", "traps", "of", "others", "of"], *body])


def _judged(rows: Sequence[PredictorQuality], models: Sequence[str]) -> str:
    if not rows:
        return ""
    inside = any(row.within is not None for row in rows)
    within = ["AUC within positions", *(f"above {name}" for name in models)] if inside else []
    head = ["predictor", "AUC", *(f"above {name}" for name in models), *within, "Brier", "log-loss"]
    body = [
        [
            row.name if row.is_probability else f"{row.name} *",
            _number(row.auc),
            *_above(row.above, models),
            *([] if row.within is None else [_number(row.within), *_above(row.within_above, models)]),
            _value(row.brier, ".5f"),
            _value(row.log_loss, ".5f"),
        ]
        for row in rows
    ]
    note = (
        "* not a probability: Brier score and log-loss are those of a logistic curve fitted on other people"
    )
    return f"{table([head, *body])}\n{note}"


def _added(rows: Sequence[AddedValue]) -> str:
    if not rows:
        return ""
    body = [[row.model, _value(row.nats, ".4f"), _number(row.gain, 4, signed=True)] for row in rows]
    return table([["model", "without trappiness", "gain"], *body])


def _above(above: Mapping[str, Estimate], models: Sequence[str]) -> list[str]:
    return [_number(above[name], signed=True) if name in above else "" for name in models]


def _number(each: Estimate, digits: int = 3, *, signed: bool = False) -> str:
    return _estimate(each, f"{'+' if signed else ''}.{digits}f")


def _percent(each: Estimate) -> str:
    return _estimate(each, ".1%")


def _estimate(each: Estimate, form: str) -> str:
    value = _value(each, form)
    if math.isnan(each.low):
        return value if math.isnan(each.value) else f"{value} {_NO_INTERVAL}"
    return f"{value} [{each.low:{form}}, {each.high:{form}}]"


def _value(each: Estimate, form: str) -> str:
    """Return the value without its interval, or a dash if the value is undefined."""
    return "-" if math.isnan(each.value) else f"{each.value:{form}}"


def _share(each: PersonShare) -> str:
    if each.share is None:
        return "-"
    digits = 2 if each.share < 0.1 else 1
    if each.low is None or each.high is None:
        return f"{each.share:.{digits}%} {_NO_INTERVAL}"
    return f"{each.share:.{digits}%} [{each.low:.{digits}%}, {each.high:.{digits}%}]"
