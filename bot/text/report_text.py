"""Summarises a game's traps in sentences: how many there were and how the opponent replied."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.text.moment_text import MomentKind, MomentVerdict
from bot.text.sentence import JoinedText, ListText, Sentence, ShareText, TextPart, WhoText, part_json
from bot.text.trap_report import DecisionReport
from engine.expected import WHOLE

_MAX_SHORT_GAME_MOVES = 20
"""A game in which we make fewer moves than this is called short; few traps are expected in it."""


@dataclass(frozen=True, slots=True)
class ReportSummary:
    """The summary of a game."""

    traps: int
    saw: int
    """Number of traps that the opponent answered with the best reply."""
    baits_taken: int
    slips: int
    story: JoinedText

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; the story has the form of `bot.text.sentence.Sentence.to_json`."""
        return {
            "traps": self.traps,
            "saw": self.saw,
            "fell": self.baits_taken,
            "slips": self.slips,
            "story": part_json(self.story),
        }


def summarise_report(
    decisions: Sequence[DecisionReport],
    verdicts: Sequence[MomentVerdict],
    name: str,
    bot: str,
    *,
    sets_traps: bool,
    is_blind: bool = False,
    is_rated: bool = False,
    plain_share: float = 0.0,
) -> ReportSummary:
    """Summarise a game.

    Args:
        decisions: Our decisions whose moves were played.
        verdicts: The verdict on each of these decisions.
        name: The opponent.
        bot: The bot's name.
        sets_traps: Whether the strategy sets traps on purpose.
        is_blind: Whether to hide the strategy.
        is_rated: Whether the game is rated.
        plain_share: Share of games played by a strategy without traps (`bot.arena.blind_report.plain_share`).
    """
    kinds = [each.kind for each in verdicts]
    traps = sum(each.is_trap for each in verdicts)
    baits_taken = kinds.count(MomentKind.TOOK_BAIT)
    us = WhoText("bot", bot)
    lost = sum(
        decision.cost or 0
        for decision, each in zip(decisions, verdicts, strict=True)
        if each.kind is MomentKind.TOOK_BAIT
    )
    is_finished = not {MomentKind.PENDING, MomentKind.JUDGING} & set(kinds)
    story: list[TextPart] = [Sentence("The game is still being analysed.")]
    if traps or is_finished:
        story = [_trap_count_text(traps, us, sets_traps=sets_traps, is_blind=is_blind)]
    if is_finished and not traps and (is_blind or sets_traps):
        is_short = len(decisions) < _MAX_SHORT_GAME_MOVES
        story += _no_trap_reasons(us, plain_share, is_rated=is_rated, is_short=is_short)
    engines = [] if is_blind else list(dict.fromkeys(each.source.name for each in decisions if each.source))
    if engines:
        story.append(Sentence("The scores are from {engines}.", {"engines": ListText(engines)}))
    if traps:
        story.append(_baits_taken(traps, baits_taken, lost / WHOLE, WhoText("person", name)))
    if unchecked := sum(_is_unchecked(each) for each in decisions):
        story.append(
            Sentence(
                "For {n} moves it is not known whether people are tempted.",
                {"n": unchecked},
                one="For one move it is not known whether people are tempted.",
            )
        )
    if unjudged := sum(kind in (MomentKind.JUDGING, MomentKind.PENDING) for kind in kinds):
        story.append(
            Sentence("{n} replies are not judged yet.", {"n": unjudged}, one="One reply is not judged yet.")
        )
    return ReportSummary(
        traps=traps,
        saw=kinds.count(MomentKind.SAW),
        baits_taken=baits_taken,
        slips=sum(kind.is_slip for kind in kinds),
        story=JoinedText(story),
    )


def _trap_count_text(traps: int, us: WhoText, *, sets_traps: bool, is_blind: bool) -> Sentence:
    arguments: dict[str, TextPart] = {"name": us, "n": traps}
    if is_blind:
        if not traps:
            return Sentence("There was no trap in this game.")
        return Sentence(
            "There were {n} traps in this game.", arguments, one="There was {n} trap in this game."
        )
    if sets_traps:
        if not traps:
            return Sentence("{name} set no trap in this game.", arguments)
        return Sentence("{name} set {n} traps.", arguments, one="{name} set {n} trap.")
    if not traps:
        return Sentence(
            "In this game {name} did not mean to set traps; no trap arose by accident.", arguments
        )
    return Sentence(
        "In this game {name} did not mean to set traps; {n} traps arose by accident.",
        arguments,
        one="In this game {name} did not mean to set traps; {n} trap arose by accident.",
    )


def _no_trap_reasons(us: WhoText, plain_share: float, *, is_rated: bool, is_short: bool) -> list[TextPart]:
    """Explain possible reasons for a game without traps."""
    said: list[TextPart] = [Sentence("Traps are rare in a short game.")] if is_short else []
    arguments: dict[str, TextPart] = {"share": ShareText(plain_share), "name": us}
    if plain_share and is_rated:
        said.append(
            Sentence(
                "About {share} of {name}\N{RIGHT SINGLE QUOTATION MARK}s rated games, chosen at random, are "
                "played by a plain engine that does not look for traps.",
                arguments,
            )
        )
    elif plain_share:
        said.append(
            Sentence(
                "About {share} of {name}\N{RIGHT SINGLE QUOTATION MARK}s games, chosen at random, are played "
                "by a plain engine that does not look for traps.",
                arguments,
            )
        )
    return said


def _baits_taken(traps: int, baits_taken: int, lost: float, name: WhoText) -> Sentence:
    """Say how many baits the opponent took, and what they cost.

    Args:
        traps: Number of traps.
        baits_taken: Number of baits taken.
        lost: Total cost of the baits taken, as a share of a game.
        name: The opponent.
    """
    share = Sentence("{share} of a game", {"share": ShareText(lost)})
    arguments: dict[str, TextPart] = {"name": name, "share": share, "n": baits_taken}
    if baits_taken == 0 and traps == 1:
        return Sentence("{name} did not take the bait.", arguments, you="You did not take the bait.")
    if baits_taken == 0:
        return Sentence("{name} took none of the baits.", arguments, you="You took none of the baits.")
    if traps == 1:
        return Sentence(
            "{name} took the bait, which cost {share}.",
            arguments,
            you="You took the bait, which cost {share}.",
        )
    if baits_taken == traps:
        return Sentence(
            "{name} took a bait each time, which cost {share} in all.",
            arguments,
            you="You took a bait each time, which cost {share} in all.",
        )
    return Sentence(
        "{name} took {n} of the baits, which cost {share} in all.",
        arguments,
        you="You took {n} of the baits, which cost {share} in all.",
        one="{name} took {n} of the baits, which cost {share}.",
        you_one="You took {n} of the baits, which cost {share}.",
    )


def _is_unchecked(decision: DecisionReport) -> bool:
    """Whether the move's baits are unknown: the move was answered, but its forecast is not judged yet."""
    is_answered = decision.outcome is not None and decision.reply is not None
    is_checked = decision.forecast is not None and decision.forecast.is_judged
    return is_answered and not decision.is_decided and len(decision.replies) > 1 and not is_checked
