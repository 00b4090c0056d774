"""A draft study: it passes the check and the stages, and says what is missing."""

from __future__ import annotations

import pytest
import yaml

from rawperf.core.errors import RawperfError
from tests.artifact.conftest import Write
from virtperf.artifact.artifact_files import opened_artifact
from virtperf.artifact.draft import draft_study
from virtperf.artifact.inspection import flow
from virtperf.artifact.runs_table import make_runs, read_table
from virtperf.check.everything import check_everything
from virtperf.core.params import load_parameters
from virtperf.core.stage_tables import MEANS
from virtperf.reconstruct.stage import reconstruct
from virtperf.runs.ingest.inputs import declared_inputs
from virtperf.runs.stage import process_runs
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study

FILES = {
    "left/boot-fc.dat": "100000\n104000\n102000\n",
    "left/boot-kvm.dat": "200000\n204000\n208000\n",
    "right/boot-fc.dat": "300000\n300000\n306000\n",
    "right/boot-kvm.dat": "400000\n404000\n402000\n",
    "rates.csv": "system,guests,metric,result\nfc,1,requests_per_second,50\nfc,2,requests_per_second,90\n"
    "kvm,1,requests_per_second,40\nkvm,2,requests_per_second,60\n",
    "log.txt": "begin\nstep 1 took 5 units\nstep 2 took 7 units\n",
    "LICENSE": "Apache License\nVersion 2.0, January 2004\n",
}


def problems(layout):
    return [str(problem) for problem in check_everything(layout)[0]]


def means(layout, study):
    defined = load_study(layout.published(study))
    parameters = load_parameters(layout.parameters)
    claims = load_claims(defined)
    reconstruct(defined, claims, parameters, layout.reconstructed(study).absolute(), lambda _: None)
    process_runs(layout, study, jobs=1)
    return MEANS.read(layout.runs(study) / MEANS.file, tuple(defined.factors))


def test_draft_passes_the_check_and_has_the_values(layout, artifact: Write):
    draft = draft_study(layout, "theirs", artifact(FILES))
    assert problems(layout) == []
    table = means(layout, "theirs")
    rates = table[table["quantity"] == "published_requests_per_second"]
    assert sorted(rates["value"]) == [40, 50, 60, 90]
    boots = table[table["quantity"] == "published_boot_column_1"]
    assert sorted(boots["value"]) == [102000, 204000, 302000, 402000]
    assert draft.licence == "Apache License 2.0"
    titles = {exhibit.title for exhibit in load_study(layout.published("theirs")).exhibits}
    assert {title.rpartition(", ")[2] for title in titles} == {"boot", "rates"}
    assert (layout.measured("theirs") / "LICENSE").read_text() == FILES["LICENSE"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("system,metric,result\na,rate,1\na,size,2\nb,rate,3\n", [1, 2, 3]),
        ("system,rate,size\na,1,2\nb,3,\nc,4,5\n", [1, 2, 3, 4, 5]),
        ("1\t5.5\n2\t6.5\n", [1.5, 6]),
        ("operation;rate\nget;1\nget;2\nset;5\nset;6\n", [1.5, 5.5]),
        ("elapsed,rate\n1,10\n2,20\n3,30\n4,40\n5,50\n", [30]),
    ],
)
def test_tables_of_each_form_are_read(layout, artifact: Write, text, expected):
    draft_study(layout, "theirs", artifact({"table.csv": text}))
    assert sorted(means(layout, "theirs")["value"]) == expected


def test_a_byte_order_mark_inside_a_table_is_no_part_of_a_level(layout, artifact: Write):
    text = "xen,5.5\nxen,6.5\n\ufeffkvm,2.5\nkvm,4.5\n"  # two files, joined
    draft_study(layout, "theirs", artifact({"joined.csv": text}))
    assert sorted(means(layout, "theirs")["value"]) == [3.5, 6]


STEPS = {
    "name": "steps",
    "match": {"file": "log.txt"},
    "reads": "lines",
    "lines": r"step\s+\S+\s+took\s+(?P<took>\S+)\s+units",
    "time": {"numbered": True},
    "fields": [{"field": "took", "metric": "step_time", "unit": "s"}],
    "metrics": {"step_time": {"unit": "s", "definition": "Time of a step."}},
}


def test_a_declaration_takes_files_that_no_format_reads(layout, artifact: Write, tmp_path):
    declaration = tmp_path / "steps.yaml"
    declaration.write_text(yaml.safe_dump(STEPS))
    draft = draft_study(layout, "theirs", artifact(FILES), declarations=[declaration])
    assert problems(layout) == [] and not draft.unread
    table = means(layout, "theirs")
    assert table[table["quantity"] == "step_time"]["value"].tolist() == [6]
    declaration.write_text(yaml.safe_dump(STEPS | {"match": {"file": "other.txt"}}))
    with pytest.raises(RawperfError, match=r"steps.yaml: no file of the artifact matches"):
        draft_study(layout, "others", artifact(FILES), declarations=[declaration])


def test_raw_files_are_unchanged(layout, artifact: Write):
    draft_study(layout, "theirs", artifact(FILES))
    runs = layout.measured("theirs")
    copied = {p.name: p.read_text() for p in runs.glob("boot*left*/*.dat")}
    assert copied == {name[5:]: text for name, text in FILES.items() if name.startswith("left/")}
    (rows,) = runs.glob("*kvm-2*/rates.csv")
    assert rows.read_text() == "system,guests,metric,result\nkvm,2,requests_per_second,60\n"


def test_factors_are_renamed_everywhere(layout, artifact: Write):
    draft_study(layout, "theirs", artifact(FILES), renamed={"folder_1": "machine"})
    assert load_study(layout.published("theirs")).factors["machine"].levels == (
        "left",
        "right",
        "none",
    )
    (run,) = layout.measured("theirs").glob("boot-left-fc*/run.yaml")
    assert yaml.safe_load(run.read_text())["factors"]["machine"] == "left"


@pytest.mark.parametrize(
    ("renamed", "problem"),
    [
        ({"other": "x"}, "no factor 'other'"),
        ({"folder_1": "X y"}, "no factor can be named"),
        ({"folder_1": "system"}, "two factors would have one name"),
    ],
)
def test_wrong_names_leave_nothing(layout, artifact: Write, renamed, problem):
    folder = artifact(FILES)
    before = sorted(layout.root.rglob("*"))
    with pytest.raises(RawperfError, match=problem):
        draft_study(layout, "theirs", folder, renamed=renamed)
    assert sorted(layout.root.rglob("*")) == before


def test_unread_file_is_listed_with_a_declaration_that_reads_it(layout, artifact: Write):
    folder = artifact(FILES)
    draft_study(layout, "theirs", folder)
    notes = (layout.root / "testbeds" / "theirs" / "draft.md").read_text()
    assert "1 file, such as `log.txt`" in notes
    (line,) = [line.strip() for line in notes.splitlines() if line.startswith("      {name: mine")]
    declaration = layout.root / "mine.yaml"
    declaration.write_text(line)
    (form,), _ = declared_inputs(None, None, declaration)
    (table,) = [form.read((folder / "log.txt").read_bytes(), file="log.txt")]
    assert sorted(table.records["value"]) == [1, 2, 5, 7]


def test_runs_with_equal_files_are_listed(layout, artifact: Write):
    text = "app,memory\nredis,{}\nnginx,{}\n"
    draft_study(
        layout, "theirs", artifact({"a.csv": text.format(7, 5), "b.csv": text.format(7, 6)})
    )
    notes = (layout.root / "testbeds" / "theirs" / "draft.md").read_text()
    assert "- `b-redis-r1`, as `a-redis-r1`" in notes and "nginx-r1`, as" not in notes
    assert len(means(layout, "theirs")) == 3


def test_printed_numbers_are_looked_for_in_the_data(layout, artifact: Write):
    text = "Boots take 102000 us here, 0.9 s there.\nThis secret sentence says 1.5 times.\n"
    draft = draft_study(layout, "theirs", artifact(FILES), claims=text)
    assert [bool(each.found) for each in draft.occurrences] == [True, False, True]
    notes = (layout.root / "testbeds" / "theirs" / "draft.md").read_text()
    assert "| 1 | `0.9 s` |" in notes and "| no |" in notes
    claims = (layout.published("theirs") / "claims.yaml").read_text()
    assert "of: 'published_boot_column_1[" in claims
    assert load_study(layout.published("theirs")).n_statements == 0
    written = [p for p in layout.root.rglob("*") if p.is_file()]
    assert not [p for p in written if b"secret" in p.read_bytes()]


def test_hostile_names_are_only_text(layout, artifact: Write):
    head = '"<script>alert(1)</script>","a: [b","{{ 7 * 7 }}",value'
    rows = ['"<b>x</b>","]: &y",*z,1', '"<b>x</b>",!!python/object:os,%y,2']
    draft_study(layout, "theirs", artifact({"t-{{ 6 * 7 }}.csv": "\n".join([head, *rows, ""])}))
    assert problems(layout) == []
    assert len(means(layout, "theirs")) == 2
    notes = (layout.root / "testbeds" / "theirs" / "draft.md").read_text()
    assert "49" not in notes and "42" not in notes


def test_artifact_without_numbers_is_one_error(layout, artifact: Write):
    folder = artifact({"a.txt": "no number at all\n", "b.py": "print(1)\n"})
    with pytest.raises(RawperfError, match="no file of the artifact can be read"):
        draft_study(layout, "theirs", folder)
    assert not layout.published("theirs").exists()


def test_runs_are_made_again_from_an_edited_table(layout, artifact: Write):
    folder = artifact(FILES)
    draft_study(layout, "theirs", folder)
    table = layout.root / "testbeds" / "theirs" / "runs.csv"
    runs = layout.measured("theirs")
    before = {p: p.read_bytes() for p in runs.rglob("*") if p.is_file()}
    with opened_artifact(folder) as opened:
        assert make_runs(opened, read_table(table), "theirs", runs) == 8
    assert {p: p.read_bytes() for p in runs.rglob("*") if p.is_file()} == before
    table.write_text(table.read_text().replace("folder_1", "machine"))
    with opened_artifact(folder) as opened:
        make_runs(opened, read_table(table), "theirs", runs)
    (run,) = runs.glob("boot-left-fc*/run.yaml")
    assert yaml.safe_load(run.read_text())["factors"]["machine"] == "left"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("left/boot-fc.dat", "../../secret.txt", "the artifact has no such file"),
        ("boot-left-fc-r1,", "../out,", "no run can be named"),
        ('""guests"": ""1""', '""guests"": ""9""', "no row of the table has these cells"),
        (",1,rates.csv", ",one,rates.csv", "line .*a wrong cell"),
    ],
)
def test_wrong_table_of_runs_is_refused(layout, artifact: Write, old, new, problem):
    folder = artifact(FILES)
    draft_study(layout, "theirs", folder)
    table = layout.root / "testbeds" / "theirs" / "runs.csv"
    text = table.read_text()
    assert old in text
    table.write_text(text.replace(old, new, 1))
    with pytest.raises(RawperfError, match=problem), opened_artifact(folder) as opened:
        make_runs(opened, read_table(table), "theirs", layout.measured("theirs"))


def test_folder_of_someone_else_is_kept(layout, artifact: Write):
    folder = artifact(FILES)
    draft_study(layout, "theirs", folder)
    run = next(layout.measured("theirs").glob("boot-left-fc*")) / "run.yaml"
    run.write_text("study: theirs\n")
    table = read_table(layout.root / "testbeds" / "theirs" / "runs.csv")
    with (
        pytest.raises(RawperfError, match="was not made from an artifact"),
        opened_artifact(folder) as opened,
    ):
        make_runs(opened, table, "theirs", layout.measured("theirs"))
    assert run.read_text() == "study: theirs\n"


def test_flow_is_one_line_that_reads_back():
    value = {"on": "yes", "a b": ["1e6", 1, None, "x: y # z", "two\nlines", "'"], "n": {"k": "é"}}
    text = flow(value)
    assert "\n" not in text
    assert yaml.safe_load(text) == value
