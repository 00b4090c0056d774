"""`virtperf check` reports every kind of mistake in hand-written files, with file and line, all at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.study.new.conftest import layout as layout
from tests.toy_runs import sar, write_run
from virtperf.check.everything import changed_findings, check_everything
from virtperf.core.paths import Layout
from virtperf.report.findings import MAX_WORDS
from virtperf.study.new.write import write_study

STUDY, CLAIMS = "data/published/mine/study.yaml", "data/published/mine/claims.yaml"
TABLE_TITLE = 'title: "EXAMPLE, replace: a printed table"'


@pytest.fixture
def repository(layout: Layout) -> Layout:
    """A repository with one valid new study."""
    write_study(layout, "mine")
    return layout


@pytest.fixture
def edit(repository: Layout) -> Callable[..., None]:
    """Replace a text that occurs exactly once in a file."""

    def replace(file: str, old: str, new: str) -> None:
        path = repository.root / file
        text = path.read_text()
        assert text.count(old) == 1, (file, old)
        path.write_text(text.replace(old, new))

    return replace


def found(repository: Layout, *studies: str) -> list[str]:
    return [str(problem) for problem in check_everything(repository, studies)[0]]


def line_of(repository: Layout, file: str, text: str) -> int:
    return 1 + (repository.root / file).read_text().split(text)[0].count("\n")


def test_new_study_has_no_problems(repository):
    assert found(repository) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            STUDY,
            "study: mine",
            "study: other",
            "the id 'other' differs from the folder name; expected the folder name 'mine'",
        ),
        (
            STUDY,
            "default: a\n",
            "default: c\n",
            "the default 'c' of system is not one of its levels",
        ),
        (
            STUDY,
            "{a: system A, b: system B}",
            "{a: system A, z: system B}",
            "label of 'z', which is not a level of system",
        ),
        (
            STUDY,
            "at: {system: b}, levels: [1, 2, 4]",
            "at: {system: c}, levels: [1, 2, 4]",
            "unknown level 'c' of system",
        ),
        (
            STUDY,
            "at: {system: a, guests: 1}",
            "at: {system: a, guests: 3}",
            "unknown level 3 of guests",
        ),
        (
            STUDY,
            "metric: throughput",
            "metric: speed",
            "'speed', which is not a known metric",
        ),
        (
            STUDY,
            "metric: throughput",
            "metric: single_response_time",
            "Write 'response_time', its name since this version.",
        ),
        (
            STUDY,
            "entity_kind: driver",
            "entity_kind: drivers",
            "throughput of a 'drivers', but no format provides it for this entity kind. Did you mean 'driver'?",
        ),
        (
            STUDY,
            "      relative: true\n",
            "      per: {metric: cpu_busy, entity_kind: gest}\n",
            "cpu_busy of a 'gest', but no format provides it for this entity kind",
        ),
        (
            STUDY,
            "      relative: true\n",
            "",
            "no conversion is known from '1/s' to '% of reference'",
        ),
        (
            STUDY,
            "      relative: true\n",
            "      per: {metric: speed, entity_kind: driver}\n",
            "by 'speed', which is not a known metric",
        ),
        (
            STUDY,
            'title: "EXAMPLE, replace: a printed table"',
            "titel: x",
            "exhibits/table-1: 'title' is missing",
        ),
        (
            STUDY,
            'title: "EXAMPLE, replace: a printed table"',
            "titel: x",
            "'titel' may be a misspelling of it: correct it",
        ),
        *(
            (STUDY, TABLE_TITLE, f"{TABLE_TITLE}, shows: {claim}", message)
            for claim, message in (
                ("nothing", "table-1 shows the unknown claim 'nothing'"),
                (
                    "example-to-replace",
                    "the claim example-to-replace is not about table-1, whose title it is",
                ),
            )
        ),
        (STUDY, "id: figure-1", "id: table-1", "duplicate id 'table-1'"),
        (STUDY, "table: table-1}", "table: table-9}", "the file of table table-9 is missing"),
        (STUDY, "    over: guests\n", "    over: zzz\n", "figure-1: unknown factor 'zzz'"),
        (
            STUDY,
            "    over: guests\n",
            "",
            "exhibits/figure-1: series 'system A' has no over",
        ),
        (
            STUDY,
            "{label: system A, at: {system: a}",
            "{label: system A, at: {system: a, guests: 2}",
            "exhibits/figure-1: series 'system A': at gives guests, the factor of the axis",
        ),
        (
            STUDY,
            "at: {system: a}, levels: [1, 2, 4]",
            "at: {system: a}, levels: [1, 2, 2]",
            "exhibits/figure-1/series/system A/levels: 2 occurs twice",
        ),
        (
            STUDY,
            'title: "EXAMPLE, replace: a printed table"',
            'title: ""',
            "exhibits/table-1/title: wrong value; expected at least 1 character; found ''",
        ),
        (STUDY, "kind: line ", "kind: diagram ", "exhibits/figure-1: 'rows' is missing"),
        (
            STUDY,
            "kind: line ",
            "kind: lines ",
            "there is no kind of exhibit 'lines'; expected one of bar, diagram, distribution, line",
        ),
        (STUDY, "\n    bounds: [0, null]", "\n    bounds: [0, null", "not valid YAML"),
        (
            STUDY,
            "\n    bounds: [0, null]",
            "\n    bounds: [100, 0]",
            "quantities/throughput/bounds: the lower bound 100 is not below the upper bound 0",
        ),
        (
            STUDY,
            "guests\n    levels: [1, 2, 4]",
            "guests\n    levels: [1, 2, 4, 1e400]",
            "'1e400' is text among numbers. YAML reads it as text: write 1.0e+400",
        ),
        (CLAIMS, "of: throughput\n", "of: speed\n", "unknown quantity 'speed'"),
        (
            CLAIMS,
            "for_each: {system: [a, b]}",
            "for_each: {system: [a, d]}",
            "unknown level 'd' of system",
        ),
        (
            CLAIMS,
            "about: [figure-1]\n    section: EXAMPLE",
            "about: [figure-7]\n    section: EXAMPLE",
            "unknown exhibit 'figure-7'",
        ),
        (
            CLAIMS,
            "kind: monotone",
            "kind: monotonous",
            "claims/example-to-replace/kind: wrong value; expected 'value', ",
        ),
        (CLAIMS, "kind: monotone", "kind: monotonous", "Did you mean 'monotone'?"),
        (
            CLAIMS,
            "ledger: c001\n",
            "ledger: c001\n    conflicts: [nobody]\n",
            "conflicts: unknown claim 'nobody'",
        ),
        (
            CLAIMS,
            "ledger: c001\n",
            "ledger: c002\n",
            "notes neither in a claim nor under not_encoded; found c001",
        ),
        (
            CLAIMS,
            "ledger: c001\n",
            "ledger: '1'\n",
            "no note '1'; expected c001 to c001, by n_statements of study.yaml",
        ),
        (
            CLAIMS,
            "assumptions: []",
            "assumptions: [{id: low, kind: value, of: 'throughput[guests=2]', value: -7, "
            "half_width: 1, says: Never seen., why: A test.}]",
            "low: no value from -8 to -6 is within the bounds; expected 0 to inf. Correct the number, or",
        ),
        (
            CLAIMS,
            "not_encoded: []",
            "not_encoded: [{ledger: c001, reason: an opinion about prices}]",
            "the note c001 is both encoded and under not_encoded",
        ),
        (CLAIMS, "study: mine", "study: other", "the claims belong to another study"),
        (
            "params.yaml",
            "- mine",
            "- mien",
            "studies/papers: mien is not the id of a paper. Did you mean 'mine'?",
        ),
        (
            "params.yaml",
            "- mine",
            "- mine\n    - mine",
            "studies/papers: mine occurs twice",
        ),
        (
            "params.yaml",
            "measured: []",
            "measured: [mine]",
            "studies/measured: mine is not the id of a measured study",
        ),
        (
            "params.yaml",
            "measured: []",
            "measured: []\n  example_reports: [yours]",
            "studies/example_reports: yours is not the id of a paper",
        ),
        (
            "params.yaml",
            "level: 0.95",
            "levle: 0.95",
            "unknown key 'levle'. Did you mean 'level'?",
        ),
        (
            "params.yaml",
            "readings: default",
            "readings: mild",
            "reconstruct/readings: wrong value; expected 'strict', 'default' or 'lenient'; found 'mild'",
        ),
    ],
)
def test_mistake_is_reported_with_its_location(repository, edit, file, old, new, message):
    edit(file, old, new)
    problems = found(repository)
    (mine,) = [p for p in problems if message in p]
    assert mine.startswith((f"{file} line ", f"{file}: "))


def test_finding_with_too_many_words_is_reported(repository, edit):
    def finding(extra: int) -> str:
        says = " ".join(["Throughput", *["never"] * extra, "falls."])
        rests_on = "[example-to-replace]"
        return f"findings:\n  - says: {says}\n    rests_on: {rests_on}\nexhibits:\n"

    edit(STUDY, "exhibits:\n", finding(MAX_WORDS - 2))
    assert found(repository) == []
    edit(STUDY, finding(MAX_WORDS - 2), finding(MAX_WORDS - 1))
    line = line_of(repository, STUDY, "  - says: Throughput")
    (problem,) = found(repository)
    assert problem.startswith(f"{STUDY} line {line}: findings: a sentence has 26 words; ")


def test_entity_kind_declared_in_run_yaml_is_accepted(repository, edit):
    observed = "metric: throughput, entity_kind: driver"
    edit(STUDY, observed, "metric: cpu_busy, entity_kind: partition")
    wrong = "cpu_busy of a 'partition', but no format provides it for this entity kind"
    assert any(wrong in problem for problem in found(repository))
    run = repository.measured("mine") / "first"
    run.mkdir(parents=True)
    (run / "run.yaml").write_text("files: [{path: sar.txt, entity: p1, entity_kind: partition}]")
    assert not any(wrong in problem for problem in found(repository))


def test_reported_lines_are_those_of_the_mistakes(repository, edit):
    edit(STUDY, "default: a\n", "default: c\n")
    edit(CLAIMS, "of: throughput\n", "of: speed\n")
    problems = found(repository)
    assert any(
        p.startswith(f"{STUDY} line {line_of(repository, STUDY, 'default: c')}:") for p in problems
    )
    assert any(
        p.startswith(f"{CLAIMS} line {line_of(repository, CLAIMS, '- id: example-to-replace')}:")
        for p in problems
    )


def test_all_problems_are_listed(repository, edit):
    edit(STUDY, "default: a\n", "default: c\n")
    edit(STUDY, "at: {system: a, guests: 1}", "at: {system: a, guests: 3}")
    edit(STUDY, "table: table-1}", "table: table-9}")
    edit(
        CLAIMS,
        "about: [figure-1]\n    section: EXAMPLE",
        "about: [figure-7, figure-8]\n    section: EXAMPLE",
    )
    edit("params.yaml", "level: 0.95", "levle: 0.95")
    edit("params.yaml", "readings: default", "readings: mild")
    edit(
        "src/rawperf/metrics.yaml", "  clients:\n    unit: count", "  clients:\n    unit: furlongs"
    )
    text = "\n".join(found(repository))
    for part in (
        "default 'c'",
        "unknown level 3",
        "table-9",
        "figure-7",
        "figure-8",
        "levle",
        "mild",
        "furlongs",
    ):
        assert part in text


def test_words_are_checked_in_claims_and_readings_file(repository, edit):
    edit(CLAIMS, '    says: "EXAMPLE', '    word: significently\n    says: "EXAMPLE')
    assert any(
        p.startswith(CLAIMS) and "did you mean 'significantly'" in p for p in found(repository)
    )
    edit("data/readings.yaml", "  significantly:\n    also:", "  significently:\n    alos:")
    (problem,) = found(repository)  # reported once, although loading claims reads it again
    assert problem.startswith(
        f"data/readings.yaml line {line_of(repository, 'data/readings.yaml', 'alos')}:"
    )
    assert "did you mean 'also'" in problem.lower()


def test_all_wrong_names_and_types_are_listed(repository, edit):
    edit(STUDY, "label: Throughput\n", "lable: Throughput\n")
    edit(STUDY, "n_statements: 1 ", "n_statements: many ")
    text = "\n".join(found(repository))
    assert "quantities/throughput: 'label' is missing" in text
    assert "quantities/throughput: unknown key 'lable'. Did you mean 'label'?" in text
    assert "n_statements: wrong value; expected a whole number; found 'many'" in text


def test_metric_dictionary_is_checked(repository, edit):
    edit("src/rawperf/metrics.yaml", "  clients:\n    unit: count\n", "  clients:\n")
    assert any("'unit' is missing" in p for p in found(repository))


def test_unknown_format_of_a_metric_is_reported(repository):
    path = repository.metrics
    path.write_text(path.read_text().replace("{format: xentop,", "{format: xenbottom,"))
    problems = [p for p in found(repository) if "the format 'xenbottom'" in p]
    assert len(problems) == path.read_text().count("xenbottom")


def test_inconsistent_spelling_of_a_name_is_reported(repository):
    path = repository.root / STUDY
    facts = "workload: {daytrader: DayTrader 2.0 on the web, web_server: one}\n"
    path.write_text(path.read_text() + facts)
    (problem,) = found(repository)
    assert (
        f"line {line_of(repository, STUDY, 'workload:')}: the report would show 'Daytrader', but the study"
        in problem
    )
    assert "spells it 'DayTrader'. Set the display name of daytrader under `names`" in problem
    path.write_text(path.read_text() + "names: {daytrader: DayTrader}\n")
    assert found(repository) == []


def test_unreferenced_tables_are_reported(repository):
    (repository.published("mine") / "tables" / "table-2.csv").write_text("a,b\n1,2\n")
    (problem,) = found(repository)
    assert problem.startswith(
        "data/published/mine/tables/table-2.csv: no exhibit or claim uses this table"
    )


def test_corrections_without_matching_cell_are_reported(repository):
    path = repository.published("mine") / "tables" / "corrections.csv"
    path.write_text(
        "table,row,column,printed,corrected,reason\ntable-1,nowhere,second column,1,2,because\n"
    )
    (problem,) = found(repository)
    assert problem.startswith(
        "data/published/mine/tables/corrections.csv line 2: table table-1 has no cell in row 'nowhere'"
    )


HEADING = "table,row,column,printed,corrected,reason\n"


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"", 1, "the file is empty; expected a header"),
        (b"a,b\n1,2\n", 1, f"unexpected header; expected {HEADING.strip()}"),
        (f"{HEADING}table-1,\xff\n".encode("latin-1"), 2, "not UTF-8; found the byte 0xff. Save"),
        (f"{HEADING}table-1\n".encode(), 2, "a row has fewer cells than the header"),
        (f"{HEADING}table-1,a,b,c,d,e,f\n".encode(), 2, "a row has more cells than the header"),
        (f'{HEADING}table-1,"a\n'.encode(), 2, "not a table"),
    ],
)
def test_malformed_corrections_file_is_reported(repository, content, line, problem):
    path = repository.published("mine") / "tables" / "corrections.csv"
    path.write_bytes(content)
    (said,) = found(repository)
    assert said.startswith(f"data/published/mine/tables/corrections.csv line {line}: ")
    assert problem in said


def test_malformed_printed_table_is_reported(repository):
    path = repository.published("mine") / "tables" / "table-1.csv"
    path.write_text(f'{path.read_text()}"open\n')
    lines = path.read_text().count("\n")
    (problem,) = found(repository)
    assert problem.startswith(f"data/published/mine/tables/table-1.csv line {lines}: not a table")


def test_non_utf_8_files_are_reported(repository, edit):
    path = repository.root / STUDY
    text = path.read_text()
    path.write_bytes(text.encode() + b"\xff\n")
    (said,) = found(repository)
    lines = text.count("\n")
    assert said.startswith(f"{STUDY} line {lines + 1}: the file is not UTF-8")
    assert changed_findings(repository, ["mine"]) == []
    path.write_text(text)
    run = repository.measured("mine") / "first"
    run.mkdir(parents=True)
    (run / "sar.txt").write_text("")
    (run / "run.yaml").write_bytes(b"study: mine\nrun: \xff\n")
    observed = "metric: throughput, entity_kind: driver"
    edit(STUDY, observed, "metric: cpu_busy, entity_kind: partition")  # kinds of runs are read
    damaged = "data/measured/mine/first/run.yaml line 2: the file is not UTF-8"
    assert any(problem.startswith(damaged) for problem in found(repository))


def test_missing_files_of_measure_yaml_are_reported(layout):
    write_study(layout, "mine", measured=True)
    path = layout.measured("mine") / "measure.yaml"
    assert found(layout) == []
    text = path.read_text()
    path.write_text(
        f"{text}hosts: {{far: {{ssh: far}}}}\n"
        "setup:\n"
        "  - [sh, '{here}/work.py', '{here}/.left']\n"
        "  - ['{root}/testbeds/kvm/prepare.sh']\n"
        "  - {run: ['{root}/there.sh'], on: far}\n"
    )
    (problem,) = found(layout)
    line = path.read_text().splitlines().index("  - ['{root}/testbeds/kvm/prepare.sh']") + 1
    assert problem.startswith(
        f"data/measured/mine/measure.yaml line {line}: setup: {{root}}/testbeds/kvm/prepare.sh does not exist"
    )
    assert "Add it, or correct the name" in problem


def test_plotted_points_without_claims_are_reported(repository, edit):
    edit(CLAIMS, "for_each: {system: [a, b]}", "for_each: {system: [a]}")
    (problem,) = found(repository)
    assert (
        "no claim constrains 3 point(s) of figure-1; found throughput[system=b, guests=1]"
        in problem
    )


def test_folder_without_study_yaml_is_reported(repository):
    (repository.root / "data" / "published" / "left-over").mkdir()
    assert found(repository) == [
        "data/published/left-over: the folder has no study.yaml. Add one, or remove the folder"
    ]


def test_study_that_the_pipeline_leaves_out_is_reported(repository, edit):
    edit("params.yaml", "    - mine\n", "    []\n")
    assert found(repository) == [
        "params.yaml: studies/papers does not list mine: the pipeline leaves it out; "
        "expected a line `- mine`"
    ]


# ---- notebooks


def rewritten(path: Path, change: Callable[[list[dict]], list[dict]]) -> None:
    document = json.loads(path.read_text())
    document["cells"] = change(document["cells"])
    path.write_text(json.dumps(document))


def contains(cell: dict, text: str) -> bool:
    return text in "".join(cell["source"])


def test_missing_or_invalid_notebook_is_reported(repository):
    path = repository.notebook("mine")
    path.write_text("{")
    assert any("notebooks/mine.ipynb: not a notebook" in p for p in found(repository))
    path.unlink()
    assert found(repository) == [
        "notebooks/mine.ipynb: the study has no notebook. See docs/add-a-study.md"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda cells: [c for c in cells if not contains(c, 'exhibit("figure-1"')],
            "figure-1 is not shown",
        ),
        (
            lambda cells: [c for c in cells if not contains(c, "load_study(")],
            'expected load_study("mine", data, ...)',
        ),
        (
            lambda cells: [c for c in cells if "tags" not in c["metadata"]],
            "exactly one cell must have the tag parameters",
        ),
        (
            lambda cells: [*cells, {**cells[-1], "source": 'study.exhibit("figure-2")'}],
            "figure-2 is not an exhibit",
        ),
        (
            lambda cells: [*cells, {**cells[-1], "source": 'study.exhibits("figure-3")'}],
            "figure-3 is not an exhibit",
        ),
        (
            lambda cells: [*cells, {**cells[-1], "source": "runs = (\nruns.head("}],
            "line 2: '(' was never closed",
        ),
    ],
)
def test_exhibit_missing_from_the_notebook_is_reported(repository, change, message):
    rewritten(repository.notebook("mine"), change)
    assert any(message in p for p in found(repository))


@pytest.mark.parametrize(
    "source",
    [
        "study.exhibits()",
        'study.exhibits("figure-1", "table-1")',
        "%matplotlib inline\nfiles = !ls\nstudy.exhibits()",
        'names = ["table-1", "figure-1"]\nfor name in names:\n    display(study.exhibit(name))',
    ],
)
def test_one_cell_may_show_several_exhibits(repository, source):
    rewritten(
        repository.notebook("mine"),
        lambda cells: [
            *(c for c in cells if not contains(c, ".exhibit(")),
            {**cells[-1], "source": source},
        ],
    )
    assert found(repository) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "seed = 20090131",
            "seed = 7",
            "the default of seed differs from params.yaml; expected 20090131; found 7",
        ),
        ("level = 0.95", "leval = 0.95", "unknown parameter leval"),
        ("level = 0.95", "leval = 0.95", "does not set level"),
    ],
)
def test_notebook_parameters_are_checked(repository, old, new, message):
    path = repository.notebook("mine")
    path.write_text(path.read_text().replace(old, new))
    assert any(message in p for p in found(repository))


# ---- measured runs

FACTORS = {"system": "a", "guests": 2}


def test_measured_runs_are_checked_without_reading_raw_files(repository):
    root = repository.measured("mine")
    write_run(root, "good", raw={"sar.txt": b"damaged"}, study="mine", factors=FACTORS)
    problems, counts = check_everything(repository)
    assert [str(p) for p in problems] == []
    assert "1 measured run," in counts
    write_run(
        root, "levels", raw={"sar.txt": sar()}, study="mine", factors={"system": "c", "guests": 2}
    )
    write_run(
        root, "window", raw={"sar.txt": sar()}, study="mine", factors=FACTORS, window_s=[300, 9000]
    )
    write_run(root, "nothing", raw={}, study="mine", factors=FACTORS)
    (root / "levels" / "link").symlink_to("/")
    text = "\n".join(found(repository))
    assert "data/measured/mine/levels/link: a symbolic link points outside the run folder" in text
    assert "data/measured/mine/window/run.yaml line" in text
    assert "data/measured/mine/nothing: the run folder contains no raw files" in text


def test_all_problems_of_a_run_are_listed(repository):
    folder = write_run(
        repository.measured("mine"), "r1", raw={"sar.txt": sar()}, study="mine", factors=FACTORS
    )
    path = folder / "run.yaml"
    path.write_text(path.read_text().replace("replicate: 1", "replicate: none") + "speed: 3\n")
    text = "\n".join(found(repository))
    assert "replicate: wrong value; expected a whole number; found 'none'" in text
    assert "unknown key 'speed'" in text
    assert "docs/run-folders.md" in text


def test_two_runs_of_a_condition_with_the_same_replicate_are_reported(repository):
    root = repository.measured("mine")
    for name, fields in {
        "r1": {},
        "r2": {"replicate": 2},
        "r3": {"factors": {"system": "b", "guests": 2}},
        "r4": {"block": "tuesday"},
        "r5": {"provenance": "example"},
        "r6": {"excluded": {"reason": "the machine was busy"}},
    }.items():
        fields = {"study": "mine", "factors": FACTORS, **fields}
        write_run(root, name, raw={"sar.txt": sar()}, **fields)
    assert found(repository) == []
    write_run(root, "again", raw={"sar.txt": sar()}, study="mine", factors=FACTORS)
    (problem,) = found(repository)
    line = line_of(repository, "data/measured/mine/r1/run.yaml", "replicate: 1")
    assert problem.startswith(
        f"data/measured/mine/r1/run.yaml line {line}: run again of the same condition has this "
        "replicate too; expected replicates of a condition with different numbers; found replicate: 1"
    )


def test_unknown_format_in_run_yaml_is_reported(repository):
    files = [{"path": "sar.txt", "format": "saar"}]
    root = repository.measured("mine")
    write_run(root, "r1", raw={"sar.txt": sar()}, study="mine", factors=FACTORS, files=files)
    (problem,) = found(repository)
    line = line_of(repository, "data/measured/mine/r1/run.yaml", "format: saar")
    assert f"run.yaml line {line}: no format is named 'saar'" in problem
    assert "Did you mean 'sar'" in problem


def test_run_folder_with_a_reserved_name_is_reported(repository):
    write_run(
        repository.measured("mine"),
        "examples",
        raw={"sar.txt": sar()},
        study="mine",
        factors=FACTORS,
    )
    assert found(repository) == [
        "data/measured/mine/examples/run.yaml: a run folder has a reserved name. Rename the folder"
    ]


def test_missing_runs_folder_is_reported(repository):
    (repository.measured("mine") / "README.md").unlink()
    repository.measured("mine").rmdir()
    (problem,) = found(repository)
    assert problem.startswith("data/measured/mine: the folder for measured runs is missing")


# ---- selection of studies


def test_only_selected_studies_are_checked(repository):
    write_study(repository, "other")
    (repository.notebook("other")).unlink()
    assert found(repository, "mine") == []
    assert len(found(repository, "other")) == len(found(repository)) == 1


def test_this_repository_has_no_problems(root):
    assert [str(p) for p in check_everything(Layout(root))[0]] == []


def test_damage_in_the_study_of_a_repeated_claim_is_reported_there(repository):
    write_study(repository, "machine", measured=True)
    path = repository.definition("machine") / "hypotheses.yaml"
    origin = "from: {study: mine, claim: example-to-replace}, reading: the same,"
    path.write_text(
        path.read_text().replace(
            "{id: two-do-more-than-one,", f"{{id: two-do-more-than-one, {origin}"
        )
    )
    paper = repository.root / STUDY
    line = paper.read_text().count("\n") + 1
    paper.write_bytes(paper.read_bytes() + b"\xff\n")
    problems = found(repository, "machine")
    assert any(p.startswith(f"{STUDY} line {line}: the file is not UTF-8") for p in problems)
    assert not any("hypotheses.yaml" in p for p in problems)
