"""Formats a match's progress and result for people and for programs.  Prints nothing."""

from dataclasses import asdict
from typing import Any

from bot.base.log import printable
from bot.base.rounding import percent, plural
from bot.match.match_runner import MatchStanding
from bot.match.play import End, FinishedGame, ResourceUse
from bot.match.score import ScoreEstimate
from bot.match.sprt import SprtResult, SprtVerdict
from engine.games import get_rules

_WHO = ("A", "B")
_RESOURCE_USE_FIELDS = ("moves", "mean_s", "longest_s", "late", "mean_depth", "mean_cpu_s", "mean_nodes")
_FAILURES = {
    End.TIME: "lost on time",
    End.CRASH: "crashed",
    End.ILLEGAL: "played an illegal move",
    End.RESIGNATION: "resigned",
}


def game_line(game: FinishedGame, now: MatchStanding) -> str:
    """Format one line about a game that has just ended."""
    match, result = now.match, now.result
    first = "A" if game.number % 2 == 0 else "B"
    side = get_rules(match.terms.game).sides[0]
    return (
        f"game {game.number + 1}/{match.games} ({first} {side}): {ending_text(game)}; {short_text(now)}"
        if result.games
        else ""
    )


def ending_text(game: FinishedGame) -> str:
    """How a game ended: ``A won by 12``, ``B crashed: exit status 1``."""
    if game.loser is not None:
        return f"{_WHO[game.loser]} {_FAILURES.get(game.end, game.end)}: {printable(game.reason)}"
    text = "drawn" if game.points == 0.5 else f"{_WHO[game.points == 0]} won"
    if game.margin:
        text += f" by {abs(game.margin)}"
    return f"{text} (adjudicated)" if game.end is End.ADJUDICATED else text


def short_text(now: MatchStanding) -> str:
    """Format the current score, Elo and LLR as a short phrase."""
    result = now.result
    text = f"+{result.wins} ={result.draws} -{result.losses}, Elo {estimate_text(result.elo, '+.0f')}"
    return text if now.tested is None else f"{text}, LLR {now.tested.llr:+.2f}"


def result_text(now: MatchStanding) -> str:
    """The result so far, in several lines."""
    match, result = now.match, now.result
    terms = match.terms
    lines = [f"match {match.id}, {terms.game}: A {_player_name(now, 0)} against B {_player_name(now, 1)}"]
    if result.share is None:
        return f"{lines[0]}\nno games played yet"
    whole = _pairs_text(sum(result.pairs), "whole ")
    lines.append(
        f"{result.games} of {match.games} games: "
        f"+{result.wins} ={result.draws} -{result.losses}, {percent(result.share, 1)}"
    )
    lines.append(
        f"Elo {estimate_text(result.elo, '+.0f')} ({whole}; of 2 points A took "
        f"0: {result.pairs[0]}, 1/2: {result.pairs[1]}, 1: {result.pairs[2]}, 1 1/2: {result.pairs[3]}, "
        f"2: {result.pairs[4]})"
    )
    if result.discs.value is not None:
        lines.append(f"discs {estimate_text(result.discs, '+.2f')} a game")
    lines.append("ended: " + ", ".join(_end_text(*end) for end in result.ends))
    lines += [_resource_use_text(_WHO[which], spent) for which, spent in enumerate(result.spent)]
    if now.tested is not None:
        lines.append(_sprt_text(now.tested))
    if (fair := now.result_without_forfeits) is not None:
        lines.append(
            f"without the pairs of {plural(now.forfeits, 'forfeited game')} (time, crash, illegal move): "
            f"+{fair.wins} ={fair.draws} -{fair.losses}, Elo {estimate_text(fair.elo, '+.0f')}"
        )
        if now.tested_without_forfeits is not None:
            lines.append(f"without these pairs: {_sprt_text(now.tested_without_forfeits)}")
    return "\n".join(lines)


def _sprt_text(test: SprtResult) -> str:
    verdict = {
        SprtVerdict.OPEN: "not decided",
        SprtVerdict.H0: f"A is not stronger by {test.sprt.elo1:+g} or more (H0)",
        SprtVerdict.H1: f"A is stronger by more than {test.sprt.elo0:+g} (H1)",
    }[test.verdict]
    return (
        f"SPRT {test.sprt.elo0:+g} against {test.sprt.elo1:+g}: LLR {test.llr:+.2f} "
        f"({test.sprt.lower:.2f} to {test.sprt.upper:.2f}) after {_pairs_text(test.pairs)}: {verdict}"
    )


def result_json(now: MatchStanding) -> dict[str, Any]:
    """The result so far as plain JSON values; null stands for infinity."""
    match, result, fair = now.match, now.result, now.result_without_forfeits
    return {
        "match": match.id,
        "terms": match.terms.to_json(),
        "names": {"a": result.names[0], "b": result.names[1]},
        "games_wanted": match.games,
        "games": result.games,
        "wins": result.wins,
        "draws": result.draws,
        "losses": result.losses,
        "share": result.share,
        "pairs": list(result.pairs),
        "elo": asdict(result.elo),
        "discs": asdict(result.discs),
        "ends": [
            {"end": end.value, "lost_by": None if loser is None else _WHO[loser].lower(), "games": count}
            for end, loser, count in result.ends
        ],
        "used": {
            _WHO[which].lower(): {name: getattr(spent, name) for name in _RESOURCE_USE_FIELDS}
            for which, spent in enumerate(result.spent)
        },
        "sprt": _sprt_json(now.tested),
        "without_forfeits": None
        if fair is None
        else {
            "forfeits": now.forfeits,
            **{name: getattr(fair, name) for name in ("games", "wins", "draws", "losses", "share")},
            "elo": asdict(fair.elo),
            "sprt": _sprt_json(now.tested_without_forfeits),
        },
        "is_over": now.is_over,
    }


def _sprt_json(test: SprtResult | None) -> dict[str, Any] | None:
    if test is None:
        return None
    bounds = {name: getattr(test.sprt, name) for name in ("lower", "upper")}
    return asdict(test.sprt) | bounds | {"llr": test.llr, "pairs": test.pairs, "verdict": test.verdict.value}


def estimate_text(estimate: ScoreEstimate, form: str) -> str:
    """Format as ``+12 (95 %: -3 to +27)``, with infinity in words: ``minus infinity (95 %: below +234)``."""
    if estimate.value is None and estimate.low is None and estimate.high is None:
        return "not known"
    infinite = "minus infinity" if estimate.low is None else "plus infinity"
    value = infinite if estimate.value is None else f"{estimate.value:{form}}"
    if estimate.low is None and estimate.high is None:
        return value
    if estimate.low is None:
        return f"{value} (95 %: below {estimate.high:{form}})"
    if estimate.high is None:
        return f"{value} (95 %: above {estimate.low:{form}})"
    return f"{value} (95 %: {estimate.low:{form}} to {estimate.high:{form}})"


def _pairs_text(count: int, kind: str = "") -> str:
    return f"{count} {kind}pair{'' if count == 1 else 's'}"


def _player_name(now: MatchStanding, which: int) -> str:
    text, name = now.match.terms.spec(which).text, now.result.names[which]
    return printable(text if name in ("", text) else f"{text} ({name})")


def _end_text(end: End, loser: int | None, count: int) -> str:
    if loser is not None:
        return f"{count} {_WHO[loser]} {_FAILURES.get(end, end)}"
    return f"{count} by the rules" if end is End.RULES else f"{count} {end}"


def _resource_use_text(who: str, spent: ResourceUse) -> str:
    depth = "" if spent.mean_depth is None else f", mean depth {spent.mean_depth:.1f}"
    late = f", {spent.late} over the limit" if spent.late else ""
    costs = [] if spent.mean_cpu_s is None else [f"{1e3 * spent.mean_cpu_s:.0f} ms of processor time"]
    costs += [] if spent.mean_nodes is None else [f"{spent.mean_nodes:,.0f} nodes"]
    cost = f" ({', '.join(costs)})" if costs else ""
    return (
        f"{who}: {spent.moves} moves, {1e3 * spent.mean_s:.0f} ms a move{cost}, longest "
        f"{1e3 * spent.longest_s:.0f} ms{late}{depth}"
    )
