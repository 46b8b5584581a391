"""The whole job: `desdemona run`, a person at the page, the books, and the operator's questions."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.arena.variants import VARIANTS
from engine.game import replay
from tests.browser.page import Page
from tests.programs import installed
from tests.system.daemon import Daemon
from tests.system.ledger import check_books, check_stats, complaints, exported, wait_until_settled

DEPTH = 4


@pytest.mark.parametrize(
    ("variant", "player", "resigns_after"),
    [
        ("connect4", "trappy", None),  # the shortest games that a person plays to their end
        ("standard", "trappy_uci", 3),  # would go on for hundreds of moves
    ],
)
async def test_a_person_plays_and_the_operator_reads(
    tab: Page, tmp_path: Path, variant: str, player: str, resigns_after: int | None
) -> None:
    settings: dict[str, Any] = {
        "assignment__method": "fixed",
        "assignment__strategy": player,
        "engine__max_depth": DEPTH,
    }
    if player == "trappy_uci":
        engine = {"game": "chess", "command": [installed("stockfish")], "depth": DEPTH}
        settings |= {"uci__engines": json.dumps([engine]), "challenges__variants": '["chess"]'}
    async with Daemon(tmp_path, **settings) as daemon:
        tab.forget_everything(daemon.url)
        game_id, told = await asyncio.to_thread(_play, tab, daemon.url, variant, resigns_after)
        records = await exported(daemon.url, [game_id])
        await wait_until_settled(tmp_path)
        status, said = await daemon.stop()
        assert (status, "Traceback" in said) == (0, False)
        assert complaints(daemon.log) == []

        counts = await check_books(daemon, records)
        assert set(counts) == {player}
        record, count = records[game_id], counts[player]
        # A busy machine may now and then leave a move to the core.
        assert (count["by_engine"] > 0) == (player == "trappy_uci")
        rules = VARIANTS[variant].rules
        goes_on = bool(rules.legal_moves(replay(rules, record["moves"].split())))
        assert goes_on == (resigns_after is not None)
        await _check_traps(daemon, game_id, told)
        assert "traps answered" in await check_stats(daemon, counts)
        if variant == "standard":  # one is enough
            await _check_show(daemon, game_id, count)


def _play(tab: Page, url: str, variant: str, resigns_after: int | None) -> tuple[str, dict[str, int]]:
    """Play a rated game to its end; its key, and the sums of its trap report."""
    tab.begin(url, "anna", variant=variant)
    if resigns_after is None:
        tab.play_to_end()
    else:
        for _ in range(resigns_after):
            assert tab.play_one()
        tab.resign()
    tab.find(".tile")
    tab.until_gone(".summary-story .hint")  # "the last moves are still being analysed"
    return tab.game_id, {kind: int(tab.text(f".tile-{kind} strong")) for kind in ("trap", "fell", "saw")}


async def _check_traps(daemon: Daemon, game_id: str, told: dict[str, int]) -> None:
    """What the person was told of the traps is what the operator reads."""
    _, out, _ = await daemon.ask("show", game_id, "--format", "json")
    answered = [
        d
        for d in json.loads(out)["decisions"]
        if len(d["replies"]) > 1 and d["outcome"] not in (None, "unanswered")
    ]
    assert {d["forecast"]["is_judged"] for d in answered} == {True}
    traps = [d for d in answered if d["forecast"]["baits"]]
    assert told["fell"] == sum(d["forecast"]["is_taken"] for d in traps)
    seen = [d for d in traps if not d["forecast"]["is_taken"]]
    assert told["saw"] == sum(d["judged"] is not None and d["judged"]["word"] == "good" for d in seen)


async def _check_show(daemon: Daemon, game_id: str, count: Counter[str]) -> None:
    status, out, err = await daemon.ask("show", game_id, "--format", "json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    decisions = told["decisions"]
    assert sum(d["is_trap"] for d in decisions) == count["traps_set"]
    status, text, err = await daemon.ask("show", game_id)
    assert (status, err) == (0, "")
    for decision in decisions:
        assert f"we played {decision['name']} · " in text
    assert f"1. {told['names'][0]} {told['names'][1]} 2." in text
