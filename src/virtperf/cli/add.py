"""`virtperf add`: add runs, exhibits and claims to a study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rawperf.cli import SuggestingGroup
from virtperf.cli import _shared
from virtperf.cli._shared import print_line, print_table, warn
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    import pandas as pd

    from virtperf.runs.intake.describe import PromptQuestion
    from virtperf.runs.one_run import Preview
    from virtperf.study.definition import Study

LARGE_FILE_BYTES = 1_000_000
"""Size from which on a file should not be committed to git."""


@click.group(cls=SuggestingGroup)
def add() -> None:
    """Add a run, an exhibit or a claim to a study."""


@add.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--factor",
    "factors",
    multiple=True,
    metavar="NAME=LEVEL",
    help="Level of a factor; give it once per factor of the study.",
)
@click.option(
    "--name", metavar="RUN", help="Name of the run; default: from run.yaml, or the folder's name."
)
@click.option(
    "--start",
    metavar="TIME",
    help="Start time by the clock of the system under test, such as 2009-01-31T14:00:00.",
)
@click.option(
    "--duration",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Length of the run.",
)
@click.option(
    "--warmup",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="Length of the warm-up.",
)
@click.option(
    "--window",
    nargs=2,
    type=click.FloatRange(0),
    metavar="BEGIN END",
    help="Measurement window, in seconds from the run's start.",
)
@click.option(
    "--clients", type=click.IntRange(1), help="Total number of simulated clients of all drivers."
)
@click.option(
    "--replicate", type=click.IntRange(1), help="Replicate number of the run in its condition."
)
@click.option(
    "--file",
    "files",
    nargs=2,
    multiple=True,
    metavar="PATTERN KEY=VALUE,...",
    help="Facts that the matching files lack: start_s, interval_s, at_s, clock_offset_s, format, "
    "entity, entity_kind, as in run.yaml; repeatable.",
)
@click.option(
    "--example",
    is_flag=True,
    help="The run is synthetic: shown only on request, and ignored by verdicts.",
)
@click.option("--yes", is_flag=True, help="Do not prompt; copy the run if it has no errors.")
@click.pass_obj
def run(
    layout: Layout,
    study_id: str,
    folder: Path,
    factors: Sequence[str],
    name: str | None,
    start: str | None,
    duration: float | None,
    warmup: float | None,
    window: tuple[float, float] | None,
    clients: int | None,
    replicate: int | None,
    files: Sequence[tuple[str, str]],
    example: bool,
    yes: bool,
) -> None:
    """Check a folder of raw files and copy it to data/measured/STUDY.

    Raw files are unedited outputs of tools; subfolders name the machine (guests/web1/sar.txt). A
    run.yaml in the folder is validated and kept; without one it is generated from the options,
    prompts on a terminal, the study's procedure and the files' own clocks. A preview of the
    pipeline's results is shown before anything is copied. Without a terminal and without --yes
    nothing is copied. The folder itself is never changed.
    """
    import tempfile

    from virtperf.core.params import load_parameters
    from virtperf.runs.ingest.folder import RUN_FILE
    from virtperf.runs.intake.describe import describe
    from virtperf.runs.intake.doubts import (
        describe_disturbances,
        record_doubts,
        window_differences,
    )
    from virtperf.runs.intake.given import RunFacts, parse_factor, parse_files, parse_start
    from virtperf.runs.intake.snapshot import accept, check_duplicates, run_name, snapshot
    from virtperf.runs.one_run import preview
    from virtperf.study.definition import load_study

    study = load_study(layout.known(study_id))
    target = layout.measured(study_id) / run_name(folder, name)
    described = (folder / RUN_FILE).is_file()
    options = {
        "--factor": factors,
        "--start": start,
        "--duration": duration,
        "--warmup": warmup,
        "--window": window,
        "--clients": clients,
        "--replicate": replicate,
        "--file": files,
        "--example": example,
    }
    used = [option for option, value in options.items() if value]
    if described and used:
        raise click.UsageError(f"the folder has a run.yaml: {', '.join(used)} can't be given too.")
    with tempfile.TemporaryDirectory(prefix="virtperf-") as temporary:
        copy = Path(temporary) / target.name
        raw = snapshot(folder, copy)
        roots = {
            "measured": layout.measured(study_id),
            "example": layout.examples(study_id),
        }
        warnings = check_duplicates(copy, roots)
        notes: Sequence[str] = ()
        assumed: set[str] = set()
        if not described:
            facts = RunFacts(
                dict(parse_factor(study, text) for text in factors),
                parse_files(files, raw),
                parse_start(start) if start else None,
                duration,
                warmup,
                window,
                clients,
                replicate,
                "example" if example else "measured",
            )
            assumed = set(study.factors) - set(facts.factors)
            ask = _prompt if _shared.interactive() and not yes else None
            notes = describe(study, copy, raw, facts, layout.measured(study_id), ask)
        level = load_parameters(layout.parameters).level
        previewed = preview(study, copy, layout.metrics, level=level)
        asked_for = [str(metric) for metric in previewed.quantities["metric"]]
        disturbed = describe_disturbances(
            previewed.samples, previewed.run.get("window_s"), asked_for
        )
        warned = [
            *warnings,
            *window_differences(study, previewed.run, roots[previewed.run["provenance"]]),
        ]
        shown = [
            *warned,
            *previewed.warnings,
            *(f"disturbed ({text.replace(': ', '): ', 1)}" for text in disturbed),
        ]
        _show(study, previewed, notes, shown, assumed)
        where = target.relative_to(layout.root)
        if not yes and not _shared.interactive():
            click.echo(f"\nNothing was copied. To copy the run to {where}, add --yes.")
            return
        if not yes:
            click.confirm(f"\nCopy it to {where}?", abort=True)
        doubts = [n.removeprefix("warning: ") for n in notes if n.startswith("warning: ")]
        record_doubts(copy / RUN_FILE, disturbed, [*warned, *doubts])
        accept(copy, target)
        click.echo(f"\nCopied to {where}. To update the report: virtperf pipeline {study.id}")
        _warn_of_large_files(copy, where)


@add.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("path", metavar="ARTIFACT", type=click.Path(exists=True, path_type=Path))
@click.pass_obj
def artifact(layout: Layout, study_id: str, path: Path) -> None:
    """Make a study's run folders from a copy of its published artifact.

    ARTIFACT is a folder or a zip file, of which nothing is run. testbeds/STUDY/runs.csv lists the
    file, the format, the rows of a table and the levels of the factors of each run; `virtperf new study
    --artifact` wrote it, and it may be edited. Folders that this command made before are replaced.
    """
    from virtperf.artifact.artifact_files import opened_artifact
    from virtperf.artifact.draft import RUNS_TABLE
    from virtperf.artifact.runs_table import make_runs, read_table
    from virtperf.core.numbers import plural

    layout.known(study_id)
    lines = read_table(layout.root / "testbeds" / study_id / RUNS_TABLE)
    with opened_artifact(path) as opened:
        count = make_runs(opened, lines, study_id, layout.measured(study_id))
    where = layout.measured(study_id).relative_to(layout.root)
    click.echo(f"{plural(count, 'run')} in {where}. To check them: virtperf check {study_id}")


@add.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("exhibit_id", metavar="[ID", required=False)
@click.argument("kind", metavar="KIND]", required=False)
@click.argument("fields", metavar="[NAME=VALUE]...", nargs=-1)
@click.pass_obj
def exhibit(
    layout: Layout, study_id: str, exhibit_id: str | None, kind: str | None, fields: tuple[str, ...]
) -> None:
    """Add an exhibit to study.yaml, and a cell to the notebook.

    \b
    virtperf add exhibit my-study figure-2 line quantity=throughput title="Throughput over guests"
    virtperf add exhibit my-study table-2 table

    docs/add-a-study.md lists the values of KIND (line, bar, table, ...) and the names of their fields.
    Values are YAML. Fields to be filled in by hand contain EXAMPLE. Without ID, cells are added for
    all exhibits that the notebook does not show.
    """
    import json

    from rawperf.core.files import write_atomically
    from virtperf.check.study_notebook import shown_exhibits
    from virtperf.report.kinds import check_exhibits
    from virtperf.study.definition import load_study
    from virtperf.study.new.additions import add_exhibit
    from virtperf.study.new.notebook_template import insert_exhibits

    folder = layout.known(study_id)
    study = load_study(folder)
    written = []
    if exhibit_id:
        if not kind:
            raise click.UsageError("KIND is missing: give line, bar, table, ...")
        written = add_exhibit(study, exhibit_id, kind, _entry(fields), check_exhibits)
        study = load_study(folder)
    notebook = layout.notebook(study_id)
    text = notebook.read_text(encoding="utf-8")
    exhibit_ids = [each.id for each in study.exhibits]
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    seen = [shown_exhibits([source], exhibit_ids) & set(exhibit_ids) for source in cells]
    missing = [each for each in exhibit_ids if not any(each in shown for shown in seen)]
    if missing:
        write_atomically(notebook, insert_exhibits(text, missing, [bool(shown) for shown in seen]))
        written.append(notebook)
    _wrote(layout, study_id, written)


@add.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("claim_id", metavar="ID")
@click.argument("kind", metavar="KIND")
@click.argument("fields", metavar="[NAME=VALUE]...", nargs=-1)
@click.pass_obj
def claim(layout: Layout, study_id: str, claim_id: str, kind: str, fields: tuple[str, ...]) -> None:
    """Add a claim to claims.yaml, or a hypothesis to hypotheses.yaml.

    \b
    virtperf add claim my-study half ratio of="throughput[guests=4]" to="throughput[guests=1]" \\
        value=0.5 half_width=0.05

    Measured studies have hypotheses instead of claims. docs/add-a-study.md lists the names of the
    fields by KIND; values are YAML. Omitted quotation and section contain EXAMPLE; exhibits and the
    number of the note are filled in. An invalid claim is rejected, and nothing is written.
    """
    from virtperf.study.definition import load_study
    from virtperf.study.new.additions import add_claim

    study = load_study(layout.known(study_id))
    _wrote(layout, study_id, add_claim(study, claim_id, kind, _entry(fields)))


def _entry(fields: Sequence[str]) -> dict[str, Any]:
    """Parse ``value=0.5`` and the like to an entry of YAML."""
    import json

    from rawperf.core.errors import StudyError
    from rawperf.core.yamlio import parse_yaml

    entry: dict[str, Any] = {}
    for text in fields:
        name, sign, value = text.partition("=")
        if not sign or not name.isidentifier():
            raise click.UsageError(f"{text!r}: expected NAME=VALUE")
        if name in entry:
            raise click.UsageError(f"{text!r}: {name} is given twice")
        try:
            parsed = parse_yaml(f"value: {value}", text).data["value"]
            json.dumps(parsed)
        except TypeError:  # a date
            parsed = value
        except StudyError as err:
            if value.startswith("["):
                raise click.UsageError(
                    f"{text!r}: not a list: close its bracket, and quote quantities with levels, as in "
                    """order='["throughput[guests=4]", "throughput[guests=1]"]'"""
                ) from err
            parsed = value  # unquoted text with a colon is invalid YAML
        entry[name] = parsed
    return entry


def _wrote(layout: Layout, study_id: str, paths: Sequence[Path]) -> None:
    for path in paths:
        click.echo(path.resolve().relative_to(layout.root.resolve()))
    if not paths:
        click.echo("Nothing to add.")
        return
    left = any("EXAMPLE" in path.read_text(encoding="utf-8") for path in paths)
    click.echo(
        f"\n{'Replace the EXAMPLE placeholders, then' if left else 'Next'}: virtperf check {study_id}"
    )


def _prompt(question: PromptQuestion) -> str:
    kind = click.Choice(question.choices) if question.choices else str
    return str(click.prompt(question.text, type=kind, default=question.default))


def _show(
    study: Study,
    previewed: Preview,
    notes: Sequence[str],
    warnings: Sequence[str],
    assumed: Set[str],
) -> None:
    from virtperf.core.numbers import number

    title, *facts = _run_lines(study, previewed.run, assumed)
    print_line(title, style="bold")
    for line in (*facts, *(f"  {note}" for note in notes)):
        print_line(line)
    file_columns = (
        "file",
        "format",
        "entity",
        "clock",
        "records",
        "samples",
        "first, s",
        "last, s",
    )
    print_table(file_columns, _file_rows(previewed), title="Files", right=file_columns[4:])
    metric_columns = ("metric", "unit", "entities", "samples")
    print_table(metric_columns, _metric_rows(previewed), title="Metrics", right=metric_columns[2:])
    print_table(
        ("quantity", "value in the window", "unit", "note"),
        [_observation_row(study, previewed, row) for row in _records(previewed.quantities)],
        title=f"Observations that {study.id} takes from this run",
    )
    for row in _records(previewed.audits):
        observed, expected = number(row["value"]), number(row["expected"])
        print_line(
            f"audit {row['audit']} failed: found {observed}, expected {expected} ({row['note']})",
            style="yellow",
        )
    warn(warnings)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _run_lines(study: Study, info: Mapping[str, Any], assumed: Set[str]) -> list[str]:
    """Lines on the run: its name and provenance, levels, times."""
    levels = []
    for name, level in info["factors"].items():
        is_default = name in assumed and level == study.factors[name].default
        levels.append(f"{name} {level}{' (default)' if is_default else ''}")
    lines = [
        f"{info['run_id']}: {study.id}, {info['provenance']}, replicate {info['replicate']}",
        ", ".join(levels),
    ]
    start = f"start {info['start'] or 'unknown'}"
    if info["duration_s"] is None:
        return [*lines, f"{start}, no timestamps: values cover the whole run"]
    begin, end = info["window_s"]
    return [
        *lines,
        f"{start}, duration {info['duration_s']:g} s, warm-up {info['warmup_s']:g} s",
        f"measurement window {begin:g} to {end:g} s",
    ]


def _file_rows(previewed: Preview) -> list[tuple[Any, ...]]:
    times = previewed.samples.dropna(subset=["t_s"]).groupby("file")["t_s"].agg(["min", "max"])
    return [
        (
            file["path"],
            file["format"] or "not read",
            file["entity"] or "host",
            file["clock"] or "",
            file["records"],
            file["samples"],
            *(f"{t:g}" for t in times[times.index == file["path"]].to_numpy().ravel()),
        )
        for file in previewed.run["files"]
    ]


def _metric_rows(previewed: Preview) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for metric, samples in previewed.samples.groupby("metric"):
        entities = samples[["entity_kind", "entity"]].drop_duplicates()
        rows.append((metric, previewed.units[str(metric)], len(entities), len(samples)))
    return rows


def _observation_row(study: Study, previewed: Preview, row: Mapping[str, Any]) -> tuple[Any, ...]:
    from virtperf.core.numbers import number

    if math.isnan(row["value"]):
        return row["quantity"], "missing", "", row["note"]
    value = number(row["value"])
    if not math.isnan(row["low"]):  # totals reported by a tool have no interval
        value += f" ({number(row['low'])} to {number(row['high'])})"
    kind = study.quantities[str(row["quantity"])]
    # a single run has no reference point: its value is in the unit of its metric
    unit = previewed.units.get(str(row["metric"]), "") if kind.references else kind.unit
    return row["quantity"], value, unit, row["note"]


def _warn_of_large_files(copy: Path, where: Path) -> None:
    large = sorted(
        str(p.relative_to(copy))
        for p in copy.rglob("*")
        if p.is_file() and p.stat().st_size > LARGE_FILE_BYTES
    )
    if large:
        click.echo(
            f"Large files ({', '.join(large[:5])}): track them with `dvc add {where}`, not with git."
        )
