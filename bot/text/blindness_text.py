"""Sentences that say whether a trial's games reveal their strategies, for pages, the terminal and alarms."""

from bot.base.rounding import plural
from storage.evidence.inference.blindness import FALSE_ALARM_RATE, BlindnessReport


def blindness_finding(report: BlindnessReport) -> str:
    """State in one or two sentences whether what people see reveals the strategy."""
    if report.games <= 0:
        return "It is too early to check whether the strategy can be recognised."
    if not report.is_revealed:
        return "Nothing that people see reveals the strategy so far."
    best = f", best from {report.best_feature}" if report.best_feature else ""
    return (
        f"People can recognise the strategy{best}: in {plural(report.games, 'game')}, a classifier reaches "
        f"an AUC of {report.auc or 0.5:.2f}. A blind trial is accused with a probability of at most "
        f"{FALSE_ALARM_RATE:.1%}, however long it runs."
    )
