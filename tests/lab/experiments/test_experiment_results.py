from dataclasses import replace

from lab.experiments.experiment_results import ExperimentRun, finished_between, keep_result, list_results
from storage.database import Database

RUN = ExperimentRun("pathology", "1", "small", 1)


async def test_results_belong_to_their_run_and_the_first_stays(database: Database) -> None:
    others = [
        replace(RUN, experiment="x"),
        replace(RUN, version="2"),
        replace(RUN, size="full"),
        replace(RUN, seed=2),
    ]
    async with database.write() as session:
        await keep_result(session, RUN, "job", {"wins": "0110", "right": [0.5]})
        await keep_result(session, RUN, "job", {"wins": "1"})
        await keep_result(session, RUN, "other job", {})
        for other in others:
            await keep_result(session, other, "job", {"is": other.size})
    async with database.read() as session:
        assert await list_results(session, RUN) == {"job": {"wins": "0110", "right": [0.5]}, "other job": {}}
        first, last = await finished_between(session, RUN) or (None, None)
        assert first is not None
        assert last is not None
        assert first <= last
        assert await finished_between(session, replace(RUN, seed=3)) is None
        for other in others:
            assert await list_results(session, other) == {"job": {"is": other.size}}
