"""Matches and games made up for tests."""

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

from bot.match.conditions import AdjudicationRule, GameClock, Terms
from bot.match.match_runner import Match
from bot.match.openings import Opening
from bot.match.play import End, FinishedGame, MatchGameRecord, ResourceUse
from bot.match.player_specs import game_of, parse_spec
from bot.match.sprt import Sprt

FAKE = Path(__file__).parents[2] / "engine" / "protocols" / "fake_external.py"


def fake(protocol: str, game: str, *faults: str, more: str = "") -> str:
    """The text of a program that plays the first legal move, with faults."""
    command = shlex.join([sys.executable, str(FAKE), game, protocol, *faults])
    return f"{protocol}:{command}{more}"


def terms(
    a: str = "standard",
    b: str = "trappy",
    *,
    game: str | None = None,
    depth: int | None = 2,
    move_s: float | None = None,
    clock: GameClock | None = None,
    grace_s: float = 1.0,
    adjudication: AdjudicationRule | None = None,
) -> Terms:
    """Terms of a match, by depth if nothing else is said."""
    spec_a, spec_b = parse_spec(a), parse_spec(b)
    return Terms(
        game=game_of(spec_a, spec_b, game),
        a=spec_a,
        b=spec_b,
        clock=clock,
        move_s=move_s,
        depth=depth,
        grace_s=grace_s,
        adjudication=adjudication,
        openings="seed 1",
    )


def match(given: Terms, games: int = 4, *, sprt: Sprt | None = None, name: str = "test") -> Match:
    """A match on those terms."""
    return Match(id=name, terms=given, games=games, seed=1, sprt=sprt)


def finished(
    number: int,
    points: float,
    *,
    margin: int | None = None,
    end: End = End.RULES,
    loser: int | None = None,
    used: tuple[ResourceUse, ResourceUse] = (ResourceUse(), ResourceUse()),
) -> FinishedGame:
    """A game that is over."""
    return FinishedGame(
        number=number,
        points=points,
        margin=margin,
        end=end,
        loser=loser,
        reason="",
        used=used,
        names=("standard", "trappy"),
    )


def played(number: int, points: float) -> MatchGameRecord:
    """A game of which nothing is known but who won."""
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)
    return MatchGameRecord(
        finished=finished(number, points),
        opening=Opening(None, ()),
        a_side=number % 2,
        moves=(),
        decisions=(),
        began=now,
        ended=now,
    )
