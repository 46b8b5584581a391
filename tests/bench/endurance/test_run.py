"""The long run of `bench.endurance.run`, small: the real program, killed, stopped, backed up, watched."""

import json
import re
from pathlib import Path

from bench.endurance.report import Fetch
from bench.endurance.run import Endurance, read_fetches


async def test_a_few_games_with_everything_going_on(tmp_path: Path) -> None:
    run = Endurance(tmp_path, games=8, at_once=4, seed=1, kills=1, stops=1, upkeep=1, rest_s=0.0)
    found = await run.run()
    # On a busy machine a page may say, with a 503, that it takes too long.
    slow = r"every page answers: (\S+(, computed)?: 503(, )?)+"
    complaints = [each for each in found.complaints if not re.fullmatch(slow, each)]
    assert complaints == [], "\n".join(found.lines())
    assert (found.games, found.results.total()) == (8, 8)
    ends, upkeep = ("kill -9", "SIGTERM, start"), ("log rotated", "db backup", "db vacuum", "db prune")
    assert found.acts == {"rest": 2, **dict.fromkeys((*ends, *upkeep), 1)}
    assert len(list((tmp_path / "backups").iterdir())) == 1
    assert found.fetches
    assert [each.life for each in found.rests][-1] == 3


def test_fetches_know_how_many_games_were_over(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    rows = [{"at": at, "page": "now", "ms": 500.0, "status": 200, "bytes": 1} for at in (10.4, 10.6, 30.0)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows) + '{"at": 31')
    assert read_fetches(path, [10.0, 20.0], [(9.0, 9.5), (10.0, 10.2)]) == [
        Fetch("now", 500.0, 200, 0, None),
        Fetch("now", 500.0, 200, 1, 1),
        Fetch("now", 500.0, 200, 2, None),
    ]
