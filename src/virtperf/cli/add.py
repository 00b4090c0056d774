"""`virtperf add`: add runs, exhibits and claims to a study."""

from __future__ import annotations

from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rawperf.cli import NearCommands
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from virtperf.runs.intake.describe import PromptQuestion
    from virtperf.runs.intake.preview import Preview
    from virtperf.study.definition import Study

LARGE_FILE_BYTES = 1_000_000
"""Size from which on a file should not be committed to git."""


@click.group(cls=NearCommands)
def add() -> None:
    """Add something to a study: a run, an exhibit, a claim."""


@add.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--factor",
    "factors",
    multiple=True,
    metavar="NAME=LEVEL",
    help="Once for each factor of the study.",
)
@click.option(
    "--name", metavar="RUN", help="The run's name; default: that of run.yaml, or of the folder."
)
@click.option(
    "--start",
    metavar="TIME",
    help="Start by the clock of the system under test, as in 2009-01-31T14:00:00.",
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
    help="Warm-up that the procedure declares.",
)
@click.option(
    "--window",
    nargs=2,
    type=click.FloatRange(0),
    metavar="BEGIN END",
    help="Measurement window, seconds.",
)
@click.option(
    "--clients", type=click.IntRange(1), help="Simulated clients of all drivers together."
)
@click.option(
    "--replicate", type=click.IntRange(1), help="Number of the run among those of its condition."
)
@click.option(
    "--file",
    "files",
    nargs=2,
    multiple=True,
    metavar="PATTERN KEY=VALUE,...",
    help="What files do not say: start_s, interval_s, at_s, clock_offset_s, format, entity, as in run.yaml.",
)
@click.option(
    "--example",
    is_flag=True,
    help="The run is made up: it is drawn on request and counts in no verdict.",
)
@click.option(
    "--yes", is_flag=True, help="Ask nothing, and copy the run if nothing is wrong with it."
)
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

    Raw files are what tools wrote, unedited; subfolders say whose they are (guests/web1/sar.txt). A
    run.yaml in the folder is checked and kept; without one it is made from the options, from
    questions on a terminal, from the study's procedure and from the files' own clocks. What the
    pipeline would make of the run is shown before anything is copied. Without a terminal and
    without --yes it is only shown. The folder itself is never changed.
    """
    import tempfile

    from virtperf.cli import _terminal
    from virtperf.core.params import load_parameters
    from virtperf.runs.ingest.folder import RUN_FILE
    from virtperf.runs.intake.describe import describe
    from virtperf.runs.intake.doubts import disturbed, window_differences
    from virtperf.runs.intake.given import RunFacts, parse_factor, parse_files, parse_start
    from virtperf.runs.intake.preview import preview
    from virtperf.runs.intake.snapshot import accept, check_duplicates, run_name, snapshot
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
        raise click.UsageError(
            f"the folder has a run.yaml, which says it: {', '.join(used)} can't be given too."
        )
    with tempfile.TemporaryDirectory(prefix="virtperf-") as temporary:
        copy = Path(temporary) / "runs" / target.name
        raw = snapshot(folder, copy)
        roots = {
            "measured": layout.measured(study_id),
            "example": layout.examples(study_id),
        }
        warnings = check_duplicates(copy, roots)
        notes: Sequence[str] = ()
        assumed: set[str] = set()
        if not described:
            given = RunFacts(
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
            assumed = set(study.factors) - set(given.factors)
            ask = _asked if _terminal.interactive() and not yes else None
            notes = describe(study, copy, raw, given, layout.measured(study_id), ask)
        level = load_parameters(layout.parameters).level
        found = preview(study, copy, layout.metrics, Path(temporary) / "work", level=level)
        asked_for = [str(metric) for metric in found.quantities["metric"]]
        warnings = [
            *warnings,
            *found.warnings,
            *disturbed(found.samples, found.run.get("window_s"), asked_for),
        ]
        warnings += window_differences(study, found.run, roots[found.run["provenance"]])
        _show(study, found, notes, warnings, assumed)
        where = target.relative_to(layout.root)
        if not yes and not _terminal.interactive():
            click.echo(f"\nNothing was copied. With --yes it goes to {where}.")
            return
        if not yes:
            click.confirm(f"\nCopy it to {where}?", abort=True)
        accept(copy, target)
        click.echo(f"\n{where}: copied. `virtperf pipeline {study.id}` brings it into the report.")
        _large(copy, where)


@add.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("exhibit_id", metavar="[ID", required=False)
@click.argument("kind", metavar="KIND]", required=False)
@click.argument("given", metavar="[NAME=VALUE]...", nargs=-1)
@click.pass_obj
def exhibit(
    layout: Layout, study_id: str, exhibit_id: str | None, kind: str | None, given: tuple[str, ...]
) -> None:
    """Write an exhibit into study.yaml, and a cell that shows it into the notebook.

    \b
    virtperf add exhibit my-study figure-2 line quantity=throughput title="Throughput over guests"
    virtperf add exhibit my-study table-2 table

    KIND is line, bar, table or another one of docs/add-a-study.md. Other names are those of the
    entry, each value as YAML has it. What has to be written by hand says EXAMPLE. Without ID, exhibits
    that the notebook does not show get a cell.
    """
    import json

    from rawperf.core.files import write_atomically
    from virtperf.check.notebook import shown_exhibits
    from virtperf.report.kinds import check_exhibits
    from virtperf.study.definition import load_study
    from virtperf.study.new.additions import add_exhibit
    from virtperf.study.new.notebook import with_exhibits

    folder = layout.known(study_id)
    study = load_study(folder)
    written = []
    if exhibit_id:
        if not kind:
            raise click.UsageError("say of which kind it is: line, bar, table or another one")
        written = add_exhibit(study, exhibit_id, kind, _entry(given), check_exhibits)
        study = load_study(folder)
    notebook = layout.notebook(study_id)
    text = notebook.read_text(encoding="utf-8")
    wanted = [each.id for each in study.exhibits]
    cells = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    seen = [shown_exhibits([source], wanted) & set(wanted) for source in cells]
    missing = [each for each in wanted if not any(each in shown for shown in seen)]
    if missing:
        write_atomically(notebook, with_exhibits(text, missing, [bool(shown) for shown in seen]))
        written.append(notebook)
    _wrote(layout, study_id, written)


@add.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("claim_id", metavar="ID")
@click.argument("kind", metavar="KIND")
@click.argument("given", metavar="[NAME=VALUE]...", nargs=-1)
@click.pass_obj
def claim(layout: Layout, study_id: str, claim_id: str, kind: str, given: tuple[str, ...]) -> None:
    """Write a claim into claims.yaml, or a hypothesis of a measured study into hypotheses.yaml.

    \b
    virtperf add claim my-study half ratio of="throughput[guests=4]" to="throughput[guests=1]" \\
        value=0.5 half_width=0.05

    Names are those of the entry, which docs/add-a-study.md lists by KIND, each value as YAML has it.
    Words and section that are not given say EXAMPLE; exhibits and the number of the note are filled
    in. A claim that is not in order is refused, and nothing is written.
    """
    from virtperf.study.definition import load_study
    from virtperf.study.new.additions import add_claim

    study = load_study(layout.known(study_id))
    _wrote(layout, study_id, add_claim(study, claim_id, kind, _entry(given)))


def _entry(given: Sequence[str]) -> dict[str, Any]:
    """Parse ``value=0.5`` and the like to an entry of YAML."""
    from rawperf.core.errors import StudyError
    from rawperf.core.yamlio import parse_yaml

    entry: dict[str, Any] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name.isidentifier():
            raise click.UsageError(f"{text!r} is not of the form NAME=VALUE")
        try:
            said = parse_yaml(f"value: {value}", text).data["value"]
        except StudyError as err:
            if value.startswith("["):
                raise click.UsageError(
                    f"{text!r}: a list of quantities with levels needs quotation marks, as in "
                    """order='["throughput[guests=4]", "throughput[guests=1]"]'"""
                ) from err
            said = value  # unquoted text with a colon is invalid YAML
        entry[name] = said
    return entry


def _wrote(layout: Layout, study_id: str, paths: Sequence[Path]) -> None:
    for path in paths:
        click.echo(path.resolve().relative_to(layout.root.resolve()))
    if not paths:
        click.echo("Nothing is missing.")
        return
    click.echo(f"\nReplace what says EXAMPLE, then: virtperf check {study_id}")


def _asked(question: PromptQuestion) -> str:
    kind = click.Choice(question.choices) if question.choices else str
    return str(click.prompt(question.text, type=kind, default=question.default))


def _show(
    study: Study, found: Preview, notes: Sequence[str], warnings: Sequence[str], assumed: Set[str]
) -> None:
    from virtperf.cli._terminal import say, show, warn
    from virtperf.report.wording import number

    info = found.run
    factors = ", ".join(
        f"{name} {level}{' (default)' if name in assumed and level == study.factors[name].default else ''}"
        for name, level in info["factors"].items()
    )
    say(
        f"{info['run_id']}: a run of {study.id}, {info['provenance']}, replicate {info['replicate']}",
        style="bold",
    )
    say(factors)
    start = f"start {info['start'] or 'not known'}"
    if info["duration_s"] is None:
        say(f"{start}, no clock: numbers are of the whole run")
    else:
        begin, end = info["window_s"]
        say(f"{start}, {info['duration_s']:g} s long, warm-up {info['warmup_s']:g} s")
        say(f"measurement window {begin:g} to {end:g} s")
    for note in notes:
        say(f"  {note}")
    times = found.samples.dropna(subset=["t_s"]).groupby("file")["t_s"].agg(["min", "max"])
    files = [
        (
            f["path"],
            f["format"] or "not read",
            f["entity"] or "host",
            f["clock"] or "",
            f["records"],
            f["samples"],
            *(f"{t:g}" for t in times[times.index == f["path"]].to_numpy().ravel()),
        )
        for f in info["files"]
    ]
    columns = ("file", "format", "of", "clock", "records", "samples", "first at s", "last at s")
    show(columns, files, title="Files", right=columns[4:])
    metrics = [
        (
            name,
            found.units[str(name)],
            len(group[["entity_kind", "entity"]].drop_duplicates()),
            len(group),
        )
        for name, group in found.samples.groupby("metric")
    ]
    show(
        ("metric", "unit", "entities", "samples"),
        metrics,
        title="Metrics",
        right=("entities", "samples"),
    )
    rows = []
    for row in found.quantities.to_dict("records"):
        kind = study.quantities[str(row["quantity"])]
        missing = row["value"] != row["value"]
        value = "missing" if missing else number(row["value"])
        if row["low"] == row["low"]:  # totals reported by a tool have no interval
            value += f" ({number(row['low'])} to {number(row['high'])})"
        # a single run has no reference point: its value is in the unit of its metric
        unit = found.units.get(str(row["metric"]), "") if kind.references else kind.unit
        rows.append((row["quantity"], value, "" if missing else unit, row["note"]))
    show(
        ("quantity", "value in the window", "unit", "note"),
        rows,
        title=f"What {study.id} takes from it",
    )
    for row in found.audits.to_dict("records"):
        seen, expected = number(row["value"]), number(row["expected"])
        say(
            f"audit {row['audit']} does not pass: {seen}, expected {expected} ({row['note']})",
            style="yellow",
        )
    warn(warnings)


def _large(copy: Path, where: Path) -> None:
    large = sorted(
        str(p.relative_to(copy))
        for p in copy.rglob("*")
        if p.is_file() and p.stat().st_size > LARGE_FILE_BYTES
    )
    if large:
        click.echo(
            f"Large files ({', '.join(large[:5])}): keep them out of git with `dvc add {where}`."
        )
