"""`desdemona lab fit-pair`: from a folder of games to a card."""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.common import ShowFormat, UsageError
from engine.opponents.pair_value import PairModel
from lab.analysis import pair_values
from lab.cli.fit_pair import fit_pair_command
from tests.lab.analysis.test_pair_values import PGN, drawn


def test_a_card_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    games = [PGN.replace("ann", f"ann{number}").replace("6. h3 h6", ("6. h3 h6", "6. a3 a6")[number % 2])
             for number in range(8)]  # fmt: skip
    (tmp_path / "games.pgn").write_text("".join(games))
    seeds: list[int] = []

    def searched(games: Any, *_: Any) -> Any:
        assert games
        seeds.append(len(seeds))
        return drawn(500, len(seeds))

    monkeypatch.setattr(pair_values, "samples", searched)
    out = tmp_path / "pair_chess.json"
    fit_pair_command(
        tmp_path, out, game="chess", learn_to=None, positions=1000, nodes=200, per_game=2, source="ours",
        seed=1, output=ShowFormat.TABLE,
    )  # fmt: skip
    assert "log-loss, the pair:" in capsys.readouterr().out
    card = json.loads(out.read_text())
    assert (card["game"], card["source"], card["learned"]) == (
        "chess",
        "ours",
        {"positions": 1000, "games": 500},
    )
    assert PairModel.parse(out.read_bytes(), out.name).game == "chess"
    with pytest.raises(UsageError, match="no games of othello"):
        fit_pair_command(tmp_path, out, game="othello")
