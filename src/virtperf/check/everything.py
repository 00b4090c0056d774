"""Validate all hand-written files of a repository, or of some studies."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rawperf import all_formats
from rawperf.core.errors import RawperfError, RunError, did_you_mean, suggest_similar
from rawperf.core.metrics import MetricDictionary, load_metrics
from rawperf.core.yamlio import load_yaml, read_text
from rawperf.registry import extend_with_presets
from virtperf.check.problems import Problems
from virtperf.check.study import check_study
from virtperf.check.study_notebook import check_notebook
from virtperf.core.numbers import plural
from virtperf.core.params import Parameters, load_parameters
from virtperf.core.paths import Layout
from virtperf.measure.definition import MEASURE_FILE
from virtperf.measure.plan import load_definition, missing_file_problems
from virtperf.report.frames import load
from virtperf.report.glossary import load_glossary
from virtperf.report.synthesis.definition import SYNTHESIS_FILE, load_file
from virtperf.report.synthesis.references import check_synthesis
from virtperf.report.written_for import changes
from virtperf.runs.ingest.folder import RESERVED, RUN_FILE, RunFolder, run_folders
from virtperf.runs.ingest.runs import Run, load_run
from virtperf.study.definition import Study
from virtperf.study.hypotheses import study_claims
from virtperf.study.readings import load_readings
from virtperf.study.run_groups import FACT_COLUMNS, fact_differences, facts_of

_PLACEHOLDER = re.compile(r"\bEXAMPLE\b")


def check_everything(layout: Layout, studies: Sequence[str] = ()) -> tuple[Problems, str]:
    """Check shared files and studies, by default all.

    Returns the problems, and a description of what was checked.
    """
    for name in studies:
        layout.known(name)
    layout = Layout(layout.root.absolute())
    problems = Problems(layout.root)
    dictionary = _metrics(layout.metrics, problems)
    if layout.readings.is_file():  # optional while no claim uses a word
        with problems.collected(layout.readings.parent):
            load_readings(layout.readings, report=problems.reporter(layout.readings.parent))
    with problems.collected(layout.glossary.parent):
        load_glossary(layout.glossary, problems.reporter(layout.glossary.parent))
    parameters = None
    with problems.collected(layout.root):
        parameters = load_parameters(layout.parameters, problems.reporter(layout.root))
        _listed_studies(layout, parameters, problems)
    for folder in sorted((layout.root / "data" / "published").glob("*/")):
        if not (folder / "study.yaml").is_file():
            problems.add(
                "the folder has no study.yaml", folder, remedy="add one, or remove the folder"
            )
    runs = 0
    defined: dict[str, Study] = {}
    selected = list(studies) or layout.studies()
    for name in selected:
        study = check_study(layout.definition(name), dictionary, problems)
        if study is not None:
            defined[name] = study
            check_notebook(layout.notebook(name), study, parameters, problems)
            runs += _runs(layout.measured(name), layout.root, study, problems)
    if not studies:
        check_synthesis_file(layout, defined, problems)
    counts = f"{plural(len(selected), 'study', 'studies')}, {plural(runs, 'measured run')}"
    return (
        problems,
        f"{counts}, src/rawperf/metrics.yaml, data/readings.yaml, params.yaml",
    )


def _metrics(path: Path, problems: Problems) -> MetricDictionary | None:
    """Check `src/rawperf/metrics.yaml` and declared formats; None if it can't be loaded."""
    with problems.collected(path.parent):
        dictionary = load_metrics(path, problems.reporter(path.parent))
        formats = all_formats()
        sources = (source for metric in dictionary.metrics.values() for source in metric.sources)
        if any(source.format not in formats for source in sources):
            _unknown_formats(path, dictionary, formats, problems)
        return extend_with_presets(dictionary, problems.reporter(path.parent))
    return None


def _unknown_formats(
    path: Path, dictionary: MetricDictionary, formats: Collection[str], problems: Problems
) -> None:
    """Report the formats in metric sources that are not installed."""
    document = load_yaml(path)
    for name in dictionary.metrics:
        for position, written in enumerate(document.data["metrics"][name].get("sources", ())):
            named = [written["format"]] if isinstance(written["format"], str) else written["format"]
            for other in (one for one in named if one not in formats):
                problems.add(
                    f"{name} is read from the format {other!r}, which is not installed",
                    path,
                    document.line("metrics", name, "sources", position),
                    expected=f"one of {', '.join(formats)}",
                    remedy="install its package, or correct the name",
                )


def _listed_studies(layout: Layout, parameters: Parameters, problems: Problems) -> None:
    """Check that `studies` in params.yaml lists every study of each kind, and nothing else."""
    written = parameters.studies
    document = load_yaml(layout.parameters)
    is_measured = {
        study: layout.definition(study) == layout.measured(study) for study in layout.studies()
    }
    papers = [study for study, measured in is_measured.items() if not measured]
    measured = [study for study in is_measured if study not in papers]
    for kind, listed, known in (
        ("papers", written.papers, papers),
        ("measured", written.measured, measured),
        ("example_reports", written.example_reports, papers),
    ):
        for position, study in enumerate(listed):
            if study not in known:
                words = "a paper" if known is papers else "a measured study"
                problems.add(
                    f"studies/{kind}: {study} is not the id of {words}",
                    layout.parameters,
                    document.line("studies", kind, position),
                    remedy=suggest_similar(study, known) or "remove the line, or add the study",
                )
            elif study in listed[:position]:
                line = document.line("studies", kind, position)
                problems.add(f"studies/{kind}: {study} occurs twice", layout.parameters, line)
        for study in known if kind != "example_reports" else ():
            if study not in listed:
                problems.add(
                    f"studies/{kind} does not list {study}: the pipeline leaves it out",
                    layout.parameters,
                    expected=f"a line `- {study}`",
                )


def _runs(root: Path, repository: Path, study: Study, problems: Problems) -> int:
    """Check `measure.yaml` and all `run.yaml` of a study; returns the number of runs.

    Raw files are not read.
    """
    if not root.is_dir():
        remedy = "create it, with a README.md so that git tracks it"
        problems.add("the folder for measured runs is missing", root, remedy=remedy)
        return 0
    if (root / MEASURE_FILE).is_file():
        with problems.collected(root):
            report, path = problems.reporter(root), root / MEASURE_FILE
            definition = load_definition(path, study, report)
            with suppress(ValueError):  # an unknown placeholder, reported by `load_definition`
                for problem in missing_file_problems(path, definition, study, repository):
                    report(problem)
    for path in (root / name / RUN_FILE for name in sorted(RESERVED)):
        if path.is_file():
            problems.add("a run folder has a reserved name", path, remedy="rename the folder")

    def refused(_: str, error: RunError) -> None:
        problems.reporter(root)(error)

    folders = run_folders(root, refused)
    entries = []
    replicates: dict[tuple[object, ...], str] = {}
    for folder in folders:
        try:
            run = load_run(folder, study, "measured", folder.raw_files(), problems.reporter(root))
            if not run.excluded:
                _check_replicate(run, folder, replicates, problems)
            if run.provenance == "measured" and not run.excluded:
                entries.append(run.model_dump(mode="json", include=set(FACT_COLUMNS)))
        except RunError as err:
            problems.reporter(root)(err)
        except OSError as err:
            problems.add(f"the run can't be read: {err.strerror}", folder.path)
    for difference in fact_differences(study, entries):
        problems.add(difference.words, root, remedy=difference.remedy)
    facts = {fact for entry in entries for fact in facts_of(entry)}
    for fact in study.machine_may_differ.keys() - facts if entries else ():
        problems.reporter(study.folder)(
            study.document.error(
                f"no run records {fact!r}",
                "machine_may_differ",
                fact,
                remedy=did_you_mean(fact, sorted(facts)),
            )
        )
    return len(folders)


def _check_replicate(
    run: Run, folder: RunFolder, replicates: dict[tuple[object, ...], str], problems: Problems
) -> None:
    """Report a run with the replicate of an earlier one of its condition and block; `replicates`
    has the names of the runs so far, to which the run is added.
    """
    condition = tuple(sorted((name, repr(level)) for name, level in run.factors.items()))
    other = replicates.setdefault((run.provenance, condition, run.block, run.replicate), run.run_id)
    if other != run.run_id:
        path = folder.path / RUN_FILE
        problems.add(
            f"run {other} of the same condition{' and block' if run.block else ''} has this replicate too",
            path,
            load_yaml(path, aliases=False, content=folder.read(RUN_FILE)).line("replicate"),
            expected="replicates of a condition with different numbers",
            found=f"replicate: {run.replicate}",
            remedy="number one of the two runs anew, correct its factors, or exclude it",
        )


def check_synthesis_file(layout: Layout, studies: Mapping[str, Study], problems: Problems) -> None:
    """Check the optional `data/synthesis.yaml` against the studies that could be loaded."""
    path = layout.root / "data" / SYNTHESIS_FILE
    if path.is_file():
        with problems.collected(path.parent):
            file = load_file(path, problems.reporter(path.parent))
            known = {name: (study, study_claims(study)) for name, study in studies.items()}
            check_synthesis(file, known, problems.reporter(layout.root))


def placeholders(layout: Layout, studies: list[str]) -> str:
    """Message listing files with EXAMPLE placeholders, comments excluded; "" if there are none."""
    counts: dict[str, int] = {}
    for study in studies:
        folder, notebook = layout.definition(study), layout.notebook(study)
        tables, notice = sorted(folder.rglob("*.csv")), layout.measured(study) / "NOTICE.md"
        for path in [*sorted(folder.rglob("*.yaml")), *tables, notebook, notice]:
            if count := sum(bool(_PLACEHOLDER.search(line)) for line in _lines(path)):
                counts[path.relative_to(layout.root).as_posix()] = count
    if not counts:
        return ""
    total = sum(counts.values())
    files = ", ".join(f"{path} ({count})" for path, count in counts.items())
    return f"{plural(total, 'line')} with EXAMPLE placeholders to be replaced: {files}."


def changed_findings(layout: Layout, studies: Sequence[str]) -> list[str]:
    """Messages about changes since findings were written.

    Studies whose stages have not run, or with other problems, are skipped.
    """
    messages = []
    for study_id in studies:
        path = layout.definition(study_id) / "study.yaml"
        with suppress(RawperfError):
            if "written_for" not in read_text(path, path.name):
                continue
            level = load_parameters(layout.parameters).level
            data = load(study_id, layout.root / "data")
            if data.missing:
                continue
            where = path.relative_to(layout.root).as_posix()
            for position, finding in enumerate(data.study.findings):
                line = data.study.document.line("findings", position)
                messages += [
                    f"{where} line {line}: {words}" for words in changes(data, finding, level)
                ]
    return messages


def _lines(path: Path) -> list[str]:
    """Lines of a file without comments; of a notebook, its cells; empty if unreadable."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
            return text.splitlines()
    except (OSError, ValueError, LookupError, TypeError):
        return []
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]
