"""Formats a study as plain-text tables that fit a page."""

import math
from collections.abc import Sequence

from bot.analysis.fitting import Fitted
from bot.analysis.measures import Estimate
from bot.analysis.person_fitting import FittedPrior
from bot.analysis.study import Figure9, Judged, Study, Temptation
from storage.intervals import Share


def study_text(found: Study) -> str:
    """The whole study as text."""
    models = [
        f"  {name}: log-loss {_number(found.nll[name], 4)}, first guess right {_percent(found.top1[name])}"
        for name in found.nll
    ]
    parts = [
        f"{found.positions} positions of {found.games} games, {found.replies} replies, "
        f"{found.bad_replies} of them bad (10 % of expected score or more)\n"
        f"errors: {_share(found.errors)}; mean loss {_number(found.mean_loss, 4)}",
        "\n".join(["Predictions of all replies, by model:", *models]) if models else "",
        _section("Figure 9: traps that stood, and what people did", _figure9(found.figure9)),
        *(
            _section(f"Replies that cost the same, played: traps ({name}) and others", _temptation(rows))
            for name, rows in found.temptation.items()
        ),
        _section("Which bad reply is played", _judged(found.bad_reply, found.human_models)),
        _section("Which position provokes an error", _judged(found.error, found.human_models)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def fitted_text(fitted: Fitted) -> str:
    """A model's cross-validation results as text."""
    lines = []
    for each in fitted.validated:
        lines += [
            f"{each.part}: penalty {each.penalty:g}, {each.trees} trees",
            f"  log-loss {each.nll:.4f} a reply, {each.against} {each.against_nll:.4f}: "
            f"better by {_number(each.better, 4, signed=True)}",
            f"  AUC of bad replies {_number(each.auc)}, better by {_number(each.auc_better, signed=True)}",
        ]
    return "\n".join(lines) + "\n"


def person_text(fitted: FittedPrior) -> str:
    """A people model's prior and its measurement as text."""
    prior = fitted.prior
    lines = [
        f"over {fitted.base.name}, costs at depth {prior.depth}; learned from {fitted.replies} replies of "
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
    head = ["people", "persons", "replies", "errors", "nats", "expected/happened"]
    for kind in kinds:
        head += [f"{kind}: gain", "expected/happened"]
    body = []
    for band in fitted.bands:
        row = [band.name, str(band.persons), str(band.replies), str(band.errors)]
        row += [_value(band.nats, ".3f"), _number(band.ratio, 2)]
        for kind in kinds:
            row += [_number(band.gains[kind], 4, signed=True), _number(band.ratios[kind], 2)]
        body.append(row)
    return "\n".join([*lines, table([head, *body])]) + "\n"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Align columns: the first to the left, the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _section(title: str, text: str) -> str:
    return f"{title}\n{text}" if text else ""


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
        text += "\n" + table([["falls expected by, for each that happened", ""], *expected])
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


def _judged(rows: Sequence[Judged], models: Sequence[str]) -> str:
    if not rows:
        return ""
    head = ["predictor", "AUC", *(f"above {name}" for name in models), "Brier", "log-loss"]
    body = [
        [
            row.name if row.is_probability else f"{row.name} *",
            _number(row.auc),
            *(_number(row.above[name], signed=True) if name in row.above else "" for name in models),
            _value(row.brier, ".5f"),
            _value(row.log_loss, ".5f"),
        ]
        for row in rows
    ]
    note = "* no probability: Brier and log-loss are of a logistic curve, fitted on other games"
    return f"{table([head, *body])}\n{note}"


def _number(each: Estimate, digits: int = 3, *, signed: bool = False) -> str:
    return _estimate(each, f"{'+' if signed else ''}.{digits}f")


def _percent(each: Estimate) -> str:
    return _estimate(each, ".1%")


def _estimate(each: Estimate, form: str) -> str:
    value = _value(each, form)
    if math.isnan(each.low):
        return value if math.isnan(each.value) else f"{value} [-]"
    return f"{value} [{each.low:{form}}, {each.high:{form}}]"


def _value(each: Estimate, form: str) -> str:
    """The value without its interval; a dash: undefined."""
    return "-" if math.isnan(each.value) else f"{each.value:{form}}"


def _share(each: Share) -> str:
    if each.share is None or each.low is None or each.high is None:
        return "-"
    digits = 2 if each.share < 0.1 else 1
    return f"{each.share:.{digits}%} [{each.low:.{digits}%}, {each.high:.{digits}%}]"
