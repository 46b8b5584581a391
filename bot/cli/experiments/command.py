"""`desdemona experiment`: repeats the papers' experiments, and tells what came out."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bot.analysis.svg_files import NoPlots
from bot.base.log import printable
from bot.cli.common import (
    MOST,
    ShowFormat,
    UsageError,
    ask_database,
    config_of,
    note,
    print_json,
    stop_on_signals,
)
from bot.experiments.catalogue import EXPERIMENTS, get_experiment
from bot.experiments.experiment import Experiment, Result, Size
from bot.experiments.plots import draw
from bot.experiments.report import report_json, report_text
from bot.experiments.runner import run_experiment, run_of, stored_results

if TYPE_CHECKING:
    from bot.base.config import Config
    from bot.workers.pools import ClusterWorkers, LocalWorkers


Name = Annotated[str, typer.Argument(metavar="NAME", help="One of `desdemona experiment list`.")]
Small = Annotated[
    bool,
    typer.Option("--small/--full", help="Minutes, to see that it runs; or what docs/papers.md reports."),
]
Seed = Annotated[int, typer.Option(min=0, max=MOST, help="Seed of everything that is drawn by lot.")]
Plots = Annotated[
    Path | None,
    typer.Option(help="Folder for the charts, as SVG files; needs matplotlib, in the extra 'fit'."),
]
Format = Annotated[ShowFormat, typer.Option("--format", help="How to write it.")]


def list_command() -> None:
    """List the experiments, with the figures and tables that each repeats."""
    for name in EXPERIMENTS:
        experiment = get_experiment(name)
        jobs = {size: len(experiment.jobs(size)) for size in Size}
        typer.echo(f"{name}: {experiment.title}")
        typer.echo(f"    {experiment.source}; jobs: {jobs[Size.SMALL]} small, {jobs[Size.FULL]} full")
        if experiment.needs:
            typer.echo(f"    --full needs --folder, with {experiment.needs}")


def run_command(
    context: typer.Context,
    name: Name,
    small: Small = True,
    seed: Seed = 1,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, max=1024, help="Jobs at a time; by default 1, or what the cluster offers."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, whose workers do the jobs.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Folder of networks and games that some full experiments need; `list` says what for which."
        ),
    ] = None,
    plots: Plots = None,
    form: Format = ShowFormat.TABLE,
) -> None:
    """Run an experiment, and tell what came out.

    Each job's result is stored when it is done; the same command resumes a stopped run, with the same numbers
    as if it had never stopped.  The exit status is 128 plus the signal's number when a signal stopped it.
    """
    from bot.workers.pools import ClusterWorkers, LocalWorkers

    experiment, size = _known(name), _size(small)
    given = _given(experiment, size, folder)
    config = config_of(context)
    workers = LocalWorkers(concurrency or 1) if cluster is None else ClusterWorkers(cluster, concurrency)
    try:
        results, number = asyncio.run(_run(config, experiment, size, seed, workers, given))
    finally:
        workers.close()
    if number is not None:
        note("stopped; the same command resumes")
        raise typer.Exit(128 + number)
    _tell(experiment, results, size, plots, form)


def tell_command(
    context: typer.Context,
    name: Name,
    small: Small = True,
    seed: Seed = 1,
    plots: Plots = None,
    form: Format = ShowFormat.TABLE,
) -> None:
    """Tell what an experiment found, as far as it was run."""
    experiment, size = _known(name), _size(small)
    run, jobs = run_of(experiment, size, seed), experiment.jobs(size)
    results = ask_database(context, lambda database: stored_results(database, run, jobs))
    if not results:
        raise UsageError(f"{name} ({size.value}, seed {seed}) was not run; `desdemona experiment run` does")
    if len(results) < len(jobs):
        note(f"{len(results)} of {len(jobs)} jobs are done")
    _tell(experiment, results, size, plots, form)


def _known(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise UsageError(printable(f"there is no experiment {name!r}, only {', '.join(EXPERIMENTS)}"))
    return get_experiment(name)


def _given(experiment: Experiment, size: Size, folder: Path | None) -> str | None:
    """The folder for the workers; the small runs need none."""
    if not experiment.needs or size is Size.SMALL:
        if folder is not None:
            raise UsageError(f"--folder: {experiment.name} ({size.value}) reads no files")
        return None
    if folder is None:
        raise UsageError(f"{experiment.name} --full needs --folder, with {experiment.needs}")
    if not folder.is_dir():
        raise UsageError(printable(f"--folder: {folder} is not a folder"))
    return str(folder.resolve())


def _size(small: bool) -> Size:
    return Size.SMALL if small else Size.FULL


def _tell(
    experiment: Experiment, results: dict[str, Result], size: Size, plots: Path | None, form: ShowFormat
) -> None:
    report = experiment.report(results, size)
    if form is ShowFormat.JSON:
        print_json(report_json(report))
    else:
        typer.echo(f"# {experiment.title}\n\n{experiment.source}\n\n{report_text(report)}")
    if plots is not None:
        try:
            for path in draw(report.charts, plots, experiment.name):
                note(f"wrote {path}")
        except NoPlots as error:
            raise UsageError(f"--plots: {error}") from None
        except OSError as error:
            raise UsageError(f"--plots: {plots}: {error.strerror}") from None


async def _run(
    config: "Config",
    experiment: Experiment,
    size: Size,
    seed: int,
    workers: "LocalWorkers | ClusterWorkers",
    folder: str | None,
) -> tuple[dict[str, Result], int | None]:
    """Return the results, and the signal that ended the run, if any."""
    from bot.cli.analyse import counting
    from storage.database import LONG_PATIENCE_S, Database

    stop, received = stop_on_signals()
    database = await Database.open(config.storage.url, patience_s=LONG_PATIENCE_S)
    told = 0
    try:
        with counting(experiment.name, len(experiment.jobs(size))) as on_count:

            def on_result(done: int, _all: int) -> None:
                nonlocal told
                on_count(done - told)
                told = done

            results = await run_experiment(experiment, size, seed, database, workers, on_result, stop, folder)
    finally:
        await database.close()
    return results, received[0] if received else None
