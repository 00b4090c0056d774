"""The command line: one thin command a stage here, every other command in a module of its own."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rawperf.core.errors import VirtperfError
from virtperf import __version__
from virtperf.cli._terminal import status
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from virtperf.core.params import Parameters
    from virtperf.study.definition import Study

EXIT_QUARANTINED = 3


class _Commands(click.Group):
    """The stages, in their order, and the modules of this package, each imported when it is asked
    for.

    A module `like_this` there has a command `like_this`, which is called `like-this`; one that
    begins with an underscore has none. Whatever takes long to import is imported in the command's
    function, so that the list of commands appears at once. The package's own errors become one line
    on standard error.
    """

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except VirtperfError as err:
            raise click.ClickException(str(err)) from err
        except BrokenPipeError:
            raise
        except OSError as err:  # a full disk, a folder that can't be written, an input that no stage has made yet
            where = f"{err.filename}: " if err.filename else ""
            remedy = (
                ". `virtperf pipeline` runs the stages in order"
                if isinstance(err, FileNotFoundError)
                else ""
            )
            raise click.ClickException(f"{where}{err.strerror or err}{remedy}") from err

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *_modules()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = self.commands.get(cmd_name)
        module = _modules().get(cmd_name)
        if found is None and module is not None:
            found = getattr(importlib.import_module(f"{__name__}.{module}"), module)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in (
            ("Stages and what belongs to them", list(self.commands)),
            ("More", list(_modules())),
        ):
            found = [
                (name, c) for name in names if (c := self.get_command(ctx, name)) and not c.hidden
            ]
            width = formatter.width - 6 - max(map(len, names), default=0)
            if found:
                with formatter.section(title):
                    formatter.write_dl([(name, c.get_short_help_str(width)) for name, c in found])


def _modules() -> dict[str, str]:
    """Modules of `virtperf.cli` by the name of their command."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    return {name.replace("_", "-"): name for name in names if not name.startswith("_")}


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="virtperf")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The repository's folder (the one with data/ and params.yaml); default: where you are.",
)
@click.pass_context
def main(ctx: click.Context, root: Path) -> None:
    """Virtualization performance studies, from raw run files to a report that shows its evidence.

    The stages, in order: reconstruct, ingest, summarize, judge, notebook, report. `dvc repro` runs
    those that are out of date. STUDY is the name of a folder in data/published, for example:

    \b
        virtperf reconstruct STUDY
        virtperf ingest STUDY
    """
    ctx.obj = Layout(root)


def _stage(function: Callable[..., None]) -> click.Command:
    """The command of that name, for the repository's layout and one of its studies."""
    return main.command()(click.argument("study_id", metavar="STUDY")(click.pass_obj(function)))


def _load(layout: Layout, study_id: str) -> Study:
    from virtperf.study.definition import load_study

    return load_study(layout.known(study_id))


def _parameters(layout: Layout) -> Parameters:
    from virtperf.core.params import load_parameters

    return load_parameters(layout.parameters)


_scheduler = click.option(
    "--scheduler",
    metavar="ADDRESS",
    default="",
    help="A running Dask cluster (tcp://host:8786) does the work; its workers see the repository at this path.",
)
_jobs = click.option(
    "--jobs", type=click.IntRange(1), help="Processes; default: one a processor, as memory allows."
)


@_stage
def reconstruct(layout: Layout, study_id: str) -> None:
    """Compute what the paper's text pins down.

    Reads data/published/STUDY, writes data/reconstructed/STUDY: points.parquet, ranges.parquet,
    claims.parquet and contradictions.json. Nothing of it is a measurement.
    """
    from virtperf.reconstruct.stage import reconstruct as run
    from virtperf.study.claims import load_claims

    study = _load(layout, study_id)
    parameters = _parameters(layout)
    with status(f"reconstructing {study_id}") as progress:
        claims = load_claims(study, reading=parameters.reconstruct.readings)
        run(study, claims, parameters, layout.reconstructed(study_id).absolute(), progress)


@_stage
@click.option("--keep-going", is_flag=True, help="End with success although runs were quarantined.")
@_jobs
@_scheduler
def ingest(
    layout: Layout, study_id: str, keep_going: bool, jobs: int | None, scheduler: str
) -> None:
    """Read every run folder, measured and example ones alike, into tidy samples.

    Writes data/samples/STUDY: one Parquet file a run, and index.json with every file, warning and
    quarantined run. Only runs that changed are read again. A run that can't be read is quarantined
    with the reason and the others go on; the command then ends with status 3, unless --keep-going.
    """
    from virtperf.runs.ingest.stage import ingest as run
    from virtperf.runs.ingest.stage import refusal_error

    study = _load(layout, study_id)
    at = Layout(layout.root.absolute())  # of workers too
    roots = {"measured": at.measured(study_id), "example": at.examples(study_id)}
    with status(f"reading {study_id}") as progress:
        done = run(
            study,
            roots,
            at.metrics,
            at.samples(study_id),
            at.cache,
            jobs=jobs,
            scheduler=scheduler,
            progress=progress,
        )
    for refused in done.quarantined:
        click.echo(f"quarantined {refused['run']}: {refusal_error(refused)}", err=True)
    if done.quarantined and not keep_going:
        raise SystemExit(EXIT_QUARANTINED)


@_stage
@_jobs
@_scheduler
def summarize(layout: Layout, study_id: str, jobs: int | None, scheduler: str) -> None:
    """Reduce samples to steady-state means with intervals, the study's quantities, and audits.

    Reads data/samples/STUDY, writes data/runs/STUDY: the tables series, observations, means,
    lineage, timelines, thumbnails and audits.
    """
    from virtperf.runs.summarize.stage import summarize as run

    level = _parameters(layout).level
    at = Layout(layout.root.absolute())  # of workers too
    with status(f"summarizing {study_id}") as progress:
        run(
            _load(layout, study_id),
            at.samples(study_id),
            at.runs(study_id),
            level=level,
            jobs=jobs,
            scheduler=scheduler,
            progress=progress,
        )


@_stage
def judge(layout: Layout, study_id: str) -> None:
    """Compare every claim, or hypothesis, with the observations: verdicts, estimates, reasons.

    Reads means.parquet of data/runs/STUDY and claims.parquet of data/reconstructed/STUDY, writes
    data/verdicts/STUDY/verdicts.parquet.
    """
    from rawperf.core.files import replaced_folder
    from virtperf.core.provenance import Provenance
    from virtperf.core.stage_tables import CLAIMS, EXAMPLE_VERDICTS, MEANS, VERDICTS
    from virtperf.study.hypotheses import claims_of
    from virtperf.verdicts.from_runs import judge as run

    study = _load(layout, study_id)
    parameters = _parameters(layout)
    measured = study.kind == "measured"
    text = None if measured else CLAIMS.read(layout.reconstructed(study_id) / CLAIMS.file)
    means = MEANS.read(layout.runs(study_id) / MEANS.file, tuple(study.factors))
    claims = claims_of(study, reading=parameters.reconstruct.readings)
    tables = {VERDICTS: Provenance.MEASURED, EXAMPLE_VERDICTS: Provenance.EXAMPLE}
    with replaced_folder(layout.verdicts(study_id)) as folder:
        for table, kind in tables.items():
            verdicts = run(study, claims, text, means, level=parameters.level, provenance=kind)
            table.write(verdicts, folder / table.file)


@_stage
def notebook(layout: Layout, study_id: str) -> None:
    """Execute the study's notebook with the parameters of params.yaml.

    Reads notebooks/STUDY.ipynb and the data that it shows, writes build/STUDY.ipynb.
    """
    from virtperf.core.params import notebook_parameters
    from virtperf.report.html.execute import execute

    _load(layout, study_id)
    p = _parameters(layout)
    values = notebook_parameters({"level": p.level, "seed": p.seed, **p.report.model_dump()})
    execute(layout.notebook(study_id), layout.executed(study_id), values.model_dump())


@_stage
def report(layout: Layout, study_id: str) -> None:
    """Render the executed notebook as one self-contained page, reports/STUDY.html.

    Also writes metrics/STUDY.json and .csv, the study in a few numbers, for `dvc metrics` and `dvc
    plots`.
    """
    from rawperf.core.files import json_text, write_atomically
    from virtperf.report.data import load
    from virtperf.report.html.report import render
    from virtperf.report.key_numbers import key_numbers, width_table

    study = _load(layout, study_id)
    render(layout.executed(study_id), layout.report(study_id), title=study.data["title"])
    data = load(study_id, layout.root / "data")
    numbers = layout.key_numbers(study_id)
    write_atomically(numbers, json_text(key_numbers(data)))
    write_atomically(
        numbers.with_suffix(".csv"), width_table(data).to_csv(index=False, lineterminator="\n")
    )


@_stage
@click.argument("exhibit")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The SVG file.",
)
def figure(layout: Layout, study_id: str, exhibit: str, output: Path) -> None:
    """Write one figure, such as figure-5, as an SVG file of its own."""
    from rawperf.core.files import write_atomically
    from virtperf.report import plot
    from virtperf.report.loaded import load_study as loaded

    _load(layout, study_id)
    shown = loaded(study_id, layout.root / "data").show(exhibit)
    if shown.figure is None or shown.record is None:
        raise VirtperfError(f"{exhibit} has no drawing", expected="a line, bar or time figure")
    record = shown.record
    title = f"{record.name}: {record.title}"
    svg = plot.svg(
        shown.figure, exhibit, title=title, description=record.caption, background="#ffffff"
    )
    write_atomically(output, f"{svg}\n")


@main.command("keep-outputs")
@click.argument("name")
@click.pass_obj
def keep_outputs(layout: Layout, name: str) -> None:
    """Copy the outputs of build/NAME.ipynb into notebooks/NAME.ipynb, ready to commit.

    The pipeline executes the notebook of a study; one that belongs to no study is executed here.
    """
    from virtperf.report.html.notebooks import keep_outputs as run

    if name not in layout.studies():
        from virtperf.report.html.execute import execute

        execute(layout.notebook(name), layout.executed(name), {})
    run(layout.executed(name), layout.notebook(name))
