"""A game's report for people who must not learn which strategy they played against (docs/trials.md).

It shows all traps in the game, whichever strategy set them. It omits everything that depends on the strategy
rather than on the position: its name, settings and search (depth, time, sources, models), how it was chosen,
and its scores of the other moves. Lists are sorted, because their order in the record follows the search.

A reply's scores are shown at three depths, whatever the depth of the search: at two and three plies, which
decide how good it looks, and at the full depth. A fixed number reveals nothing about the search. The judge
(`engine.judge`) searches in the same way whoever played, so its depths are shown.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bot.base.old_names import add_old_keys
from bot.text.chinese_names import with_chinese_names
from bot.text.moment_text import judge_moment
from bot.text.report_text import summarise_report
from bot.text.trap_report import DecisionReport, GameReport, JudgedReply, ReplyReport
from engine.games import get_rules
from engine.strategies.registry import STRATEGIES

# Fields are listed one by one, so that a new one is not shown by accident.
_GAME = (
    "site_game_id", "game", "variant", "initial_position", "our_side", "rated", "speed", "state", "result",
    "end_reason", "moves",
)  # fmt: skip
_DECISION = (
    "ply", "number", "count", "move", "name", "squares", "state", "position", "rows_before", "rows_after",
    "is_complete", "is_trap", "is_decided", "reply", "reply_name", "outcome", "fell_for_best", "cost",
    "cost_text",
)  # fmt: skip
_REPLY = ("reply", "name", "squares", "final_centi", "their_text", "quality", "is_paper_trap")


def blind_report(report: GameReport) -> dict[str, Any]:
    """The report in plain JSON values, with the keys of `GameReport.to_json` that it shows.

    Only blind reports contain `blind`, with the value true.
    """
    share = plain_share(report.header.drawn_from)
    decisions = [blind_decision(each) for each in report.decisions]
    fields = {
        "blind": True,
        **_only(_GAME, report.header),
        **_only(("sides", "names"), report),
        "plain_share": share,
        **report_texts(report, decisions, is_blind=True, plain_share=share),
    }
    return dict(with_chinese_names(add_old_keys(fields)))


def _only(names: Sequence[str], report: object) -> dict[str, Any]:
    return {name: getattr(report, name) for name in names}


def open_report(report: GameReport) -> dict[str, Any]:
    """The whole report in plain JSON values, with its sentences."""
    fields = report.to_json()
    return dict(with_chinese_names(add_old_keys({**fields, **report_texts(report, fields["decisions"])})))


def report_texts(
    report: GameReport,
    decisions: Sequence[dict[str, Any]],
    *,
    is_blind: bool = False,
    plain_share: float = 0.0,
) -> dict[str, Any]:
    """Return the decisions of a report, each with its verdict, and the summary of the game.

    Args:
        report: The game.
        decisions: Its decisions in plain JSON values.
        is_blind: Whether to hide which strategy played.
        plain_share: Result of `plain_share`.
    """
    header, unit = report.header, get_rules(report.header.game).score_unit
    name, bot = header.opponent_name, header.account or "the bot"
    verdicts = [judge_moment(each, name, bot, unit, is_blind=is_blind) for each in report.decisions]
    played = [
        (decision, verdict)
        for decision, verdict in zip(report.decisions, verdicts, strict=True)
        if decision.state != "dropped"
    ]
    summary = summarise_report(
        [decision for decision, _ in played],
        [verdict for _, verdict in played],
        name,
        bot,
        sets_traps=report.sets_traps,
        is_blind=is_blind,
        is_rated=header.rated,
        plain_share=plain_share,
    )
    return {
        "decisions": [
            {**plain, "verdict": verdict.to_json()}
            for plain, verdict in zip(decisions, verdicts, strict=True)
        ],
        "summary": summary.to_json(),
    }


def plain_share(players: Sequence[str]) -> float:
    """The share of games against people in which our strategy does not set traps on purpose.

    Args:
        players: Strategies from which each game's strategy is chosen uniformly at random; if empty, return 0.
    """
    plain = [player for player in players if player in STRATEGIES and not STRATEGIES[player].sets_traps]
    return len(plain) / max(1, len(players))


def blind_decision(decision: DecisionReport) -> dict[str, Any]:
    """One decision of a blind report."""
    # Without a trap worth counting, the best of the small ones is no one's business: it may be unknown.
    trap = decision.trap if decision.is_trap else None
    candidates = sorted(decision.candidates, key=lambda each: each.move)
    replies = sorted(decision.replies, key=lambda each: (each.final_centi, each.reply))
    shown = shown_depths(decision)
    return _only(_DECISION, decision) | {
        "candidates": [_only(("move", "name", "squares"), each) for each in candidates],
        "trap": None if trap is None else asdict(trap),
        "best": _judged(decision.best),
        "judged": _judged(decision.judged),
        "forecast": _forecast(decision),
        "replies": [_reply(each, shown, decision.forecast is not None) for each in replies],
    }


def _judged(judged: JudgedReply | None) -> dict[str, Any] | None:
    return None if judged is None else asdict(judged)


def _forecast(decision: DecisionReport) -> dict[str, Any] | None:
    """The baits without the model, and without the probability of an error, which depends on the profile."""
    forecast = decision.forecast
    if forecast is None:
        return None
    baits = [asdict(each) | {"odds": each.probability} for each in forecast.baits]  # odds: until 0.4.0
    return {"is_judged": forecast.is_judged, "baits": baits, "is_taken": forecast.is_taken}


def shown_depths(decision: DecisionReport) -> tuple[int, int, int]:
    """Indices into the lists of scores by depth: two plies, three plies, and the full depth."""
    last = max([len(each.scores_centi) for each in decision.replies], default=0) - 1
    return 0, min(1, max(0, last)), last


def _reply(reply: ReplyReport, shown: Sequence[int], has_forecast: bool) -> dict[str, Any]:
    """Show three scores of a reply, not all of them, since their number reveals the player's search depth.

    Args:
        shown: Result of `shown_depths`.
        has_forecast: Whether there is a forecast; without one the probabilities are the player's own.
    """
    known = shown if 0 <= shown[-1] < len(reply.scores_centi) else ()
    return _only(_REPLY, reply) | {
        "judged": _judged(reply.judged),
        "probability": reply.probability if has_forecast else None,
        "shown_centi": [reply.scores_centi[at] for at in known],
        "score_texts": [reply.score_texts[at] for at in known],
    }
