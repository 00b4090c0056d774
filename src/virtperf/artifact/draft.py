"""A draft study of a published artifact: its run folders, study.yaml, and notes on what is missing.

Everything that the artifact does not state is marked EXAMPLE. No claim is drafted: claims are the
paper's, in the words of who encodes them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import yaml

from rawperf.core.errors import RawperfError, require_known, visible
from rawperf.core.units import conversion_factor, is_unit
from rawperf.declared.read import DeclaredFormat, load_declaration
from rawperf.registry import build_dictionary
from virtperf.artifact.artifact_files import OpenedArtifact, opened_artifact
from virtperf.artifact.declarations import DeclaredTable, declare_tables
from virtperf.artifact.exhibits import propose_exhibit
from virtperf.artifact.inspection import InspectedFile, flow, inspect_artifact
from virtperf.artifact.measures import Measure, Measures, collect_measures
from virtperf.artifact.path_layout import NONE, TEST, ProposedRun, ProposedRuns, propose_runs
from virtperf.artifact.printed_numbers import (
    MAX_NAMED,
    RATIO,
    DataValue,
    Occurrence,
    PrintedNumber,
    find_occurrences,
    printed_numbers,
)
from virtperf.artifact.runs_table import RunLine, equal_runs, make_runs, table_text
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level, level_text
from virtperf.core.numbers import plural
from virtperf.core.paths import Layout
from virtperf.study.new.write import Drafted, render, write_study

RUNS_TABLE = "runs.csv"
NOTES = "draft.md"
MAX_LICENCE_BYTES = 200_000
MIN_FOR_MEDIAN = 20
"""Fewest samples of each run for which the median is observed, and their distribution shown."""
MAX_RATIOS = 50_000
_LICENCES = (
    ("Apache License 2.0", r"Apache License\s+Version 2\.0"),
    ("MIT License", r"MIT License|Permission is hereby granted, free of charge"),
    ("GNU General Public License", r"GNU GENERAL PUBLIC LICENSE"),
    ("Creative Commons Attribution 4.0", r"Attribution 4\.0 International"),
    ("BSD License", r"Redistribution and use in source and binary forms"),
)
_LICENCE_NAME = re.compile(r"(?i)(licen[cs]e|copying)(\.(txt|md))?")


@dataclass(frozen=True)
class Draft:
    """What was written: files, and the proposal that they are made of."""

    written: tuple[Path, ...]
    layout: ProposedRuns
    quantities: tuple[Measure, ...]
    unread: tuple[InspectedFile, ...]
    occurrences: tuple[Occurrence, ...]
    licence: str


def draft_study(
    repository: Layout,
    study_id: str,
    path: Path,
    title: str = "",
    *,
    renamed: Mapping[str, str] | None = None,
    claims: str = "",
    declarations: Sequence[Path] = (),
    dry_run: bool = False,
) -> Draft:
    """Write a draft study of an artifact, with its run folders; on error nothing is left.

    Parameters
    ----------
    renamed : mapping of str to str, optional
        Names of factors to use, by the proposed ones.
    claims : str, optional
        A text whose printed numbers are looked for in the data.
    declarations : sequence of Path
        YAML files that declare formats of files which no reader knows.
    dry_run : bool
        Whether to only propose it: nothing is written.

    Raises
    ------
    RawperfError
        No file of the artifact can be read; an unknown factor in `renamed`; a declaration that matches
        no file; and as `opened_artifact` and `write_study`.
    """
    inputs = tuple(map(load_declaration, declarations))
    with opened_artifact(path) as artifact:
        files = inspect_artifact(artifact, inputs)
        _require_matches(declarations, inputs, files)
        layout = _renamed(propose_runs(files), renamed or {})
        if not layout.runs:
            raise RawperfError(
                "no file of the artifact can be read",
                file=path,
                found=_first_problem(files),
                remedy="give the folder with the measurements; docs/formats/declared.md shows how "
                "to declare a format",
            )
        declared = declare_tables([file for run in layout.runs for file in run.files])
        dictionary = build_dictionary(repository.metrics, inputs)
        measures = collect_measures(artifact.root, layout.runs, declared, dictionary, inputs)
        quantities = propose_quantities(measures)
        factors = define_factors(layout)
        lines = run_lines(layout, factors, declared)
        occurrences = tuple(
            find_occurrences(printed_numbers(claims), data_values(layout.runs, quantities))
        )
        unread = _unread(layout, measures)
        licence_file, licence = find_licence(artifact)
        exhibits = _exhibits(layout.runs, quantities, factors)
        values = {
            "id": study_id,
            "title": title or f"EXAMPLE, replace this title: {study_id}",
            "artifact": visible(artifact.name),
            "licence": licence,
            "factors": factors,
            "quantities": {q.name: q.entry for q in quantities},
            "others": measures.others,
            "inputs": [
                *(yaml.safe_load(file.read_text(encoding="utf-8")) for file in declarations),
                *(table.entry for table in declared.values()),
            ],
            "exhibits": exhibits,
            "suggested": suggested_claims(occurrences, exhibits),
            "layout": layout,
            "lines": lines,
            "runs": len({line.run for line in lines}),
            "tests": Counter(str(run.factors.get(TEST, "all")) for run in layout.runs),
            "unread": _by_form(unread),
            "refused": artifact.refused,
            "equal": equal_runs(artifact, lines),
            "beside": [file.path for file in files if file.kind == "beside"],
            "occurrences": occurrences,
            "most": MAX_NAMED,
        }
        folder = repository.root / "testbeds" / study_id
        runs = repository.measured(study_id)
        beside = {
            runs / "README.md": _render("README.md.j2", values),
            runs / "NOTICE.md": _render("NOTICE.md.j2", values),
            folder / RUNS_TABLE: table_text(lines, list(factors)),
            folder / NOTES: _render("draft.md.j2", values),
        }
        if licence_file:
            text = (artifact.root / licence_file).read_text(encoding="utf-8", errors="replace")
            beside[runs / "LICENSE"] = text
        drafted = Drafted(
            {name: _render(f"{name}.j2", values) for name in ("study.yaml", "claims.yaml")},
            beside,
            partial(make_runs, artifact, lines, study_id),
        )
        written = [] if dry_run else write_study(repository, study_id, title, drafted=drafted)
    return Draft(tuple(written), layout, quantities, unread, occurrences, licence)


def _require_matches(
    declarations: Sequence[Path],
    inputs: Sequence[DeclaredFormat],
    files: Sequence[InspectedFile],
) -> None:
    formats = {file.format for file in files}
    for path, form in zip(declarations, inputs, strict=True):
        if form.name not in formats:
            raise RawperfError(
                "no file of the artifact matches the declaration",
                file=path,
                expected="match, with patterns of names (file) or of content (text)",
            )


def _first_problem(files: Sequence[InspectedFile]) -> str | None:
    """The most common form of files that are not read."""
    forms = _by_form([file for file in files if file.problem and file.kind == "unread"])
    if not forms:
        return None
    problem, start, paths = forms[0]
    more = f"; such files may be declared as {start}" if start else ""
    return f"{plural(len(paths), 'file')} such as {paths[0]}: {problem}{more}"


def _renamed(layout: ProposedRuns, renamed: Mapping[str, str]) -> ProposedRuns:
    for old, new in renamed.items():
        require_known(old, layout.sources, f"the draft has no factor {old!r}")
        if not re.fullmatch(r"[a-z][a-z0-9_]*", new):
            raise RawperfError(
                f"no factor can be named {new!r}", expected="lower-case letters, digits and _"
            )
    names = {name: renamed.get(name, name) for name in layout.sources}
    if len(set(names.values())) < len(names):
        raise RawperfError("two factors would have one name", found=", ".join(names.values()))
    runs = tuple(
        replace(run, factors={names.get(n, n): level for n, level in run.factors.items()})
        for run in layout.runs
    )
    sources = {names[name]: words for name, words in layout.sources.items()}
    return ProposedRuns(runs, sources, layout.left)


# ---- parts of study.yaml


def define_factors(layout: ProposedRuns) -> dict[str, dict[str, Any]]:
    """The factors: levels in order, and a default for those that some runs do not vary."""
    factors: dict[str, dict[str, Any]] = {}
    for name in layout.sources or {"artifact": ""}:
        levels = {run.factors[name]: None for run in layout.runs if name in run.factors}
        ordered = sorted(
            levels, key=lambda x: (isinstance(x, str), x if not isinstance(x, str) else 0)
        )
        entry: dict[str, Any] = {"label": name.replace("_", " "), "levels": ordered}
        if not ordered:
            entry = {"label": name, "levels": ["published"], "default": "published"}
        elif any(name not in run.factors for run in layout.runs):
            is_numeric = not any(isinstance(level, str) for level in ordered)
            default: Level = 0 if is_numeric and 0 not in ordered else NONE
            entry["levels"] = [*(level for level in ordered if level != default), default]
            entry["default"] = default
            entry["labels"] = {default: "not varied"}
        factors[name] = entry
    return factors


def run_lines(
    layout: ProposedRuns,
    factors: Mapping[str, Mapping[str, Any]],
    declared: Mapping[str, DeclaredTable],
) -> list[RunLine]:
    """The lines of the table of runs, with a name for each run."""
    lines = []
    taken: set[str] = set()
    for run in layout.runs:
        name = _run_name(run, taken)
        levels = {factor: run.factors[factor] for factor in factors if factor in run.factors}
        for file in run.files:
            form = declared[file.shape].name if file.shape in declared and file.table else ""
            lines.append(RunLine(name, file.path, levels, form, run.rows, run.replicate))
    return lines


def _run_name(run: ProposedRun, taken: set[str]) -> str:
    levels = [level_text(level) for level in run.factors.values() if level != NONE]
    words = "-".join(levels) or PurePosixPath(run.files[0].path).stem
    slug = re.sub(r"[^a-z0-9.]+", "-", words.lower()).strip("-.")[:80] or "run"
    name = base = f"{slug.rstrip('-.')}-r{run.replicate}"
    number = 2
    while name in taken:
        name, number = f"{base}-{number}", number + 1
    taken.add(name)
    return name


def propose_quantities(measures: Measures) -> tuple[Measure, ...]:
    """Name a quantity for each number; of many independent samples the median is observed."""
    names: set[str] = set()
    for measure in measures.proposed:
        measure.name = measure.metric
        if measure.name in names:
            words = f"{measure.metric}_{measure.entity_kind}".lower()
            measure.name = re.sub(r"[^a-z0-9]+", "_", words)
        names.add(measure.name)
        fewest = min((len(samples) for samples in measure.samples.values()), default=0)
        if measure.entities == 1 and fewest >= MIN_FOR_MEDIAN:
            measure.statistic = "median"
    return measures.proposed


def _exhibits(
    runs: Sequence[ProposedRun],
    quantities: Sequence[Measure],
    factors: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for quantity in quantities:
        conditions = [
            {
                name: runs[run].factors.get(name, entry.get("default"))
                for name, entry in factors.items()
            }
            for run in quantity.samples
        ]
        sampled = bool(quantity.statistic)
        found += [
            propose_exhibit(quantity.name, quantity.title, of_test, factors, sampled=sampled)
            for of_test in grouped((each.get(TEST), each) for each in conditions).values()
        ]
    return [{"id": f"figure-{n}", **entry} for n, entry in enumerate(found, start=1)]


# ---- values of the data


def data_values(runs: Sequence[ProposedRun], quantities: Sequence[Measure]) -> list[DataValue]:
    """Means of all conditions, and ratios of conditions that differ in one factor."""
    values: list[DataValue] = []
    ratios: list[DataValue] = []
    for quantity in quantities:
        by_condition = grouped(
            (tuple(runs[run].factors.items()), quantity.value(run)) for run in quantity.samples
        )
        means = {key: float(np.mean(of)) for key, of in by_condition.items()}
        for key, mean in means.items():
            words = _written(quantity.name, key)
            values.append(DataValue(mean, quantity.unit, words, words, quantity.is_unit_known))
        ratios += _ratios(quantity.name, means, MAX_RATIOS - len(ratios))
    return [*values, *ratios]


def _ratios(
    name: str, means: Mapping[tuple[tuple[str, Level], ...], float], most: int
) -> list[DataValue]:
    neighbours = grouped(
        ((factor, *key[:place], *key[place + 1 :]), key)
        for key in means
        for place, (factor, _) in enumerate(key)
    )
    ratios: list[DataValue] = []
    for keys in neighbours.values():
        for of in keys:
            for to in keys:
                if of != to and means[to] and len(ratios) < most:
                    words = f"{_written(name, of)} / {_written(name, to)}"
                    ratios.append(DataValue(means[of] / means[to], RATIO, words))
    return ratios


def _written(name: str, key: Sequence[tuple[str, Level]]) -> str:
    levels = ", ".join(f"{factor}={level_text(level)}" for factor, level in key)
    return f"{name}[{levels}]" if levels else name


def suggested_claims(
    occurrences: Sequence[Occurrence], exhibits: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Claims to start from: of numbers with a unit that few quantities round to."""
    figures = {entry["quantity"]: entry["id"] for entry in reversed(exhibits)}
    claims: list[dict[str, Any]] = []
    for each in occurrences:
        quantities = [value for value in each.found if value.quantity]
        if not each.number.units or len(quantities) > MAX_NAMED:
            continue
        for value in quantities:
            factor = _factor_to(value, each.number)
            number = len(claims) + 1
            claims.append(
                {
                    "id": f"line-{each.number.line}-{number}",
                    "kind": "value",
                    "of": value.quantity,
                    "value": float(f"{each.number.value * factor:.12g}"),
                    "half_width": float(f"{each.number.half_width * factor:.12g}"),
                    "says": "EXAMPLE, replace: the statement, in your own words.",
                    "about": [figures.get(value.quantity.partition("[")[0], "text")],
                    "section": "EXAMPLE",
                    "ledger": f"c{number:03d}",
                }
            )
    return claims


def _factor_to(value: DataValue, number: PrintedNumber) -> float:
    """Factor from the printed unit to that of the quantity, for the meaning that fits the value."""
    if not value.is_unit_known:
        return 1.0
    factors = [conversion_factor(unit, value.unit) for unit in number.units if is_unit(unit)]
    return min(factors, key=lambda factor: abs(value.value - number.value * factor), default=1.0)


# ---- what is missing


def _unread(layout: ProposedRuns, measures: Measures) -> tuple[InspectedFile, ...]:
    in_runs = {file.path: file for run in layout.runs for file in run.files}
    failed = [
        replace(in_runs[path], kind="unread", problem=problem)
        for path, problem in measures.errors.items()
    ]
    unread = [file for file in (*in_runs.values(), *layout.left) if not file.is_read]
    left = [replace(file, problem="read, but in no run") for file in layout.left if file.is_read]
    return tuple(sorted([*failed, *unread, *left], key=lambda file: file.path))


def _by_form(files: Sequence[InspectedFile]) -> list[tuple[str, str, list[str]]]:
    """Files that one declaration may read: the problem, the declaration, and their paths."""
    forms: dict[tuple[str, str], list[str]] = {}
    starts: dict[tuple[str, str], Counter[str]] = {}
    for file in files:
        key = (file.problem, file.shape)
        forms.setdefault(key, []).append(file.path)
        starts.setdefault(key, Counter())[file.start] += bool(file.start)
    return [
        (key[0], starts[key].most_common(1)[0][0], paths)
        for key, paths in sorted(forms.items(), key=lambda item: -len(item[1]))
    ]


def find_licence(artifact: OpenedArtifact) -> tuple[str, str]:
    """The file with the artifact's licence and the licence's name; "" for none, and unknown ones."""
    found = [p for p in artifact.files if _LICENCE_NAME.fullmatch(PurePosixPath(p).name)]
    path = min(found, key=lambda p: p.count("/"), default="")
    if not path or artifact.files[path] > MAX_LICENCE_BYTES:
        return "", ""
    text = (artifact.root / path).read_text(encoding="utf-8", errors="replace")
    return path, next((name for name, words in _LICENCES if re.search(words, text)), "")


def _render(name: str, values: Mapping[str, object]) -> str:
    return render("virtperf.artifact", f"templates/{name}", values, flow=flow, code=code)


def code(text: object) -> str:
    """Markdown of a text of the artifact: as code, so that nothing in it is markup."""
    return "`" + visible(text).replace("`", "'").replace("|", "/").replace("\n", " ") + "`"
