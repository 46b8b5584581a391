"""A report that a test has changed, with the verdicts that the server gives on what it says now."""

from dataclasses import fields, is_dataclass
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from bot.text.moment_text import judge_moment
from bot.text.report_text import summarise_report
from bot.text.trap_report import DecisionReport
from engine.games import get_rules


def rejudged(report: dict[str, Any]) -> dict[str, Any]:
    """The same report, judged again; what a blind one leaves out is not asked for."""
    is_blind = report.get("blind", False)
    unit = get_rules(report["game"]).score_unit
    decisions = [_decision(each) for each in report["decisions"]]
    verdicts = [judge_moment(each, "anna", "Desdemona", unit, is_blind=is_blind) for each in decisions]
    played = [
        (made, verdict) for made, verdict in zip(decisions, verdicts, strict=True) if made.state != "dropped"
    ]
    summary = summarise_report(
        [made for made, _ in played],
        [verdict for _, verdict in played],
        "anna",
        "Desdemona",
        sets_traps=report.get("sets_traps", False),
        is_blind=is_blind,
        is_rated=report["rated"],
        plain_share=report.get("plain_share", 0.0),
    )
    plain = [
        {**each, "verdict": verdict.to_json()}
        for each, verdict in zip(report["decisions"], verdicts, strict=True)
    ]
    return {**report, "decisions": plain, "summary": summary.to_json()}


def _decision(plain: dict[str, Any]) -> DecisionReport:
    replies = [{"scores_centi": each.get("shown_centi"), **each} for each in plain["replies"]]
    found: DecisionReport = _made(DecisionReport, {**plain, "replies": replies})
    return found


def _made(kind: Any, value: Any) -> Any:
    """A value of a type from plain JSON values."""
    origin = get_origin(kind)
    if origin is UnionType:
        return None if value is None else _made(get_args(kind)[0], value)
    if origin is tuple:
        return tuple(_made(get_args(kind)[0], each) for each in value or ())
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        given = value or {}
        # A blind report has no candidates' scores, which nobody reads then.
        return kind(**{each.name: _made(hints[each.name], given.get(each.name)) for each in fields(kind)})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    return value
