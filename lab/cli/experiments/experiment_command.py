"""`desdemona lab`: replicates the papers' experiments and reports the results."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.base.log import printable
from bot.base.rounding import plural
from bot.cli.common import (
    MAX_OPTION_VALUE,
    ShowFormat,
    UsageError,
    ask_database,
    config_of,
    print_json,
    print_note,
    stop_on_signals,
)
from bot.cli.progress import show_progress
from lab.cli.lab_common import require_extra
from lab.experiments.catalogue import EXPERIMENTS, get_experiment
from lab.experiments.experiment import Experiment, Result, Size
from lab.experiments.experiment_report import report_json, report_text
from lab.experiments.experiment_runner import RunState, run_experiment, run_of, state_of, stored_results
from lab.experiments.plots import draw

if TYPE_CHECKING:
    from bot.base.config import Config
    from bot.workers.pools import ClusterWorkers, LocalWorkers
    from storage.database import Database


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the experiment, as listed by `desdemona lab list`.")
]
Small = Annotated[
    bool,
    typer.Option(
        "--small/--full", help="Run a one-minute test or the full run reported in docs/research/papers.md."
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=MAX_OPTION_VALUE, help="Random seed.")]
Plots = Annotated[
    Path | None,
    typer.Option(help="Folder for the charts (SVG files); requires matplotlib (extra 'lab')."),
]
Format = Annotated[ShowFormat, typer.Option("--format", help="Output format.")]


def list_command() -> None:
    """List the experiments and the figures that each replicates."""
    for name in EXPERIMENTS:
        experiment = get_experiment(name)
        jobs = {size: len(experiment.jobs(size)) for size in Size}
        typer.echo(f"{name}: {experiment.title}")
        typer.echo(f"    {experiment.source}; jobs: {jobs[Size.SMALL]} small, {jobs[Size.FULL]} full")
        if experiment.needs:
            typer.echo(f"    --full needs --folder with {experiment.needs}")


def run_command(
    context: typer.Context,
    name: Name,
    small: Small = True,
    seed: Seed = 1,
    concurrency: Annotated[
        int | None,
        typer.Option(
            min=1, max=1024, help="Maximum number of concurrent jobs; by default 1, or a cluster's capacity."
        ),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers run the jobs.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the networks and games that some full experiments need; see `lab list`."
        ),
    ] = None,
    plots: Plots = None,
    form: Format = ShowFormat.TABLE,
) -> None:
    """Run an experiment and report its results.

    The result of each finished job is stored. The same command resumes a stopped run, giving the same numbers
    as an uninterrupted run. If a signal stops the command, the exit status is 128 plus the signal's number.
    """
    from bot.workers.pools import ClusterWorkers, LocalWorkers

    experiment, size = _known(name), _size(small)
    given = _given(experiment, size, folder)
    _can_draw(plots)
    config = config_of(context)
    workers = LocalWorkers(concurrency or 1) if cluster is None else ClusterWorkers(cluster, concurrency)
    try:
        results, state, number = asyncio.run(_run(config, experiment, size, seed, workers, given))
    finally:
        workers.close()
    if number is not None:
        print_note("stopped; run the same command again to resume")
        raise typer.Exit(128 + number)
    _tell(experiment, results, state, size, plots, form)


def tell_command(
    context: typer.Context,
    name: Name,
    small: Small = True,
    seed: Seed = 1,
    plots: Plots = None,
    form: Format = ShowFormat.TABLE,
) -> None:
    """Report the results that an experiment has stored so far."""
    experiment, size = _known(name), _size(small)
    _can_draw(plots)
    run, jobs = run_of(experiment, size, seed), experiment.jobs(size)

    async def read(database: "Database") -> tuple[dict[str, Result], "RunState", str]:
        results = await stored_results(database, run, jobs)
        return results, await state_of(database, run, results, jobs), database.url

    results, state, url = ask_database(context, read)
    if not results:
        options = "".join([" --full" if size is Size.FULL else "", f" --seed {seed}" if seed != 1 else ""])
        raise UsageError(
            f"no results for {name} ({size.value}, seed {seed}) in {url}: run "
            f"`desdemona lab run {name}{options}`, or set [storage] url or DESDEMONA_STORAGE__URL to "
            "use another database"
        )
    if len(results) < len(jobs):
        print_note(f"{len(results)} of {len(jobs)} jobs are done; verdicts are based on these")
    _tell(experiment, results, state, size, plots, form)


def _can_draw(plots: Path | None) -> None:
    """Check for the plotting library, and create the folder, before the work starts."""
    if plots is not None:
        require_extra("--plots", "matplotlib")
        try:
            plots.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--plots: {plots}: {error.strerror}") from None


def _known(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise UsageError(printable(f"unknown experiment {name!r}; known: {', '.join(EXPERIMENTS)}"))
    return get_experiment(name)


def _given(experiment: Experiment, size: Size, folder: Path | None) -> str | None:
    """The folder that workers read; None if the run needs no files."""
    if not experiment.needs or size is Size.SMALL:
        if folder is not None:
            raise UsageError(f"--folder: {experiment.name} ({size.value}) needs no files")
        return None
    if folder is None:
        raise UsageError(f"{experiment.name} --full needs --folder with {experiment.needs}")
    if not folder.is_dir():
        raise UsageError(printable(f"--folder: {folder} is not a folder"))
    return str(folder.resolve())


def _size(small: bool) -> Size:
    return Size.SMALL if small else Size.FULL


def _tell(
    experiment: Experiment,
    results: dict[str, Result],
    state: RunState,
    size: Size,
    plots: Path | None,
    form: ShowFormat,
) -> None:
    report = experiment.report(results, size)
    if form is ShowFormat.JSON:
        print_json({"run": state.to_json(), **report_json(report)})
    else:
        typer.echo(f"# {experiment.title}\n\n{experiment.source}\n\n{state.text}\n\n{report_text(report)}")
    if plots is not None:
        try:
            for path in draw(report.charts, plots, experiment.name):
                print_note(f"wrote {path}")
        except OSError as error:
            raise UsageError(f"--plots: {plots}: {error.strerror}") from None


async def _run(
    config: "Config",
    experiment: Experiment,
    size: Size,
    seed: int,
    workers: "LocalWorkers | ClusterWorkers",
    folder: str | None,
) -> tuple[dict[str, Result], RunState, int | None]:
    """Return the results, the progress, and the signal that ended the run, if any."""
    from storage.database import LONG_BUSY_TIMEOUT_S, Database

    stop, received = stop_on_signals()
    database = await Database.open(config.storage.url, busy_timeout_s=LONG_BUSY_TIMEOUT_S)
    run, jobs = run_of(experiment, size, seed), experiment.jobs(size)
    print_note(
        f"{experiment.name}: {plural(len(jobs), 'job')}, {size.value}, seed {seed}; results are stored in "
        f"{database.url}"
    )
    try:
        with show_progress(experiment.name, len(jobs)) as on_count:
            results = await run_experiment(experiment, size, seed, database, workers, on_count, stop, folder)
        state = await state_of(database, run, results, jobs)
    finally:
        await database.close()
    return results, state, received[0] if received else None
