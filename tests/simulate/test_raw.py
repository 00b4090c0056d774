"""Simulated run folders are what the tools would have written, and carry the truth that they were made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml

from rawperf import get_format, sniff
from rawperf.core.errors import StudyError
from tests.simulate.toy_raw import RAW, toy
from virtperf.core.params import load_parameters
from virtperf.reconstruct.feasible import centres, solve
from virtperf.simulate.load import load_raw
from virtperf.simulate.plan import plan_runs
from virtperf.simulate.raw import write_run
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study

ROOT = Path(__file__).resolve().parents[2]
STUDY = "zvm-xen-2009"
SEED = 20090131


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One run of each monitor, written: plans, raw.yaml, folder."""
    study = load_study(ROOT / "data" / "published" / STUDY)
    raw = load_raw(study, load_parameters(ROOT / "params.yaml").reconstruct)
    centre = centres(solve(study, load_claims(study)))
    plans = {plan.run_id: plan for plan in plan_runs(study, raw.borrow, centre, 1)}
    folder = tmp_path_factory.mktemp("runs")
    for run_id in ("scaling-xen-9-r1", "memory-zvm-7168-r1"):
        write_run(plans[run_id], STUDY, raw, SEED, folder)
    return plans, raw, folder


def reading(folder: Path, name: str):
    path = next(folder.rglob(name))
    return sniff(path.read_bytes(), file=name).read(path.read_bytes(), file=name)


def values(found, field: str, entity_kind: str | None = None):
    records = found.records
    keep = records["field"] == field
    if entity_kind is not None:
        keep &= records["entity_kind"] == entity_kind
    return records[keep]


def truth(plans, run_id: str, quantity: str) -> float:
    return plans[run_id].condition.truth[quantity]


def test_every_planned_condition_has_a_run(made):
    plans, _, folder = made
    # 5 + 4 scaling, 7 memory sizes, 3 + 2 encryption, 2 x 5 software levels, 2 web servers
    assert len(plans) == 33
    assert len(list((folder / "scaling-xen-9-r1" / "guests").iterdir())) == 9
    assert len(list((folder / "memory-zvm-7168-r1" / "drivers").iterdir())) == 5


def test_files_are_recognised_by_content_as_the_format_that_run_yaml_names(made):
    _, _, folder = made
    for run in folder.iterdir():
        entries = yaml.safe_load((run / "run.yaml").read_text())["files"]
        named = {str(p.relative_to(run)) for p in run.rglob("*") if p.is_file()} - {"run.yaml"}
        assert {entry["path"] for entry in entries} == named
        for entry in entries:
            data = (run / entry["path"]).read_bytes()
            assert sniff(data, file=entry["path"]).name == entry["format"]
            again = get_format(entry["format"]).read(data)
            assert not again.warnings, (entry["path"], again.warnings)


def test_xentop_carries_the_truth_in_percent_of_one_processor(made):
    plans, _, folder = made
    cpu = values(reading(folder / "scaling-xen-9-r1", "xentop.txt"), "CPU(%)")
    total = cpu.groupby("t")["value"].sum()
    assert len(total) == 9  # ten iterations show nine intervals
    assert total.mean() == pytest.approx(
        truth(plans, "scaling-xen-9-r1", "cpu_utilization") * 8, rel=0.02
    )
    assert total.max() <= 800


def test_the_counter_of_seconds_grows_as_the_shares_say(made):
    _, _, folder = made
    found = reading(folder / "scaling-xen-9-r1", "xentop.txt")
    share = values(found, "CPU(%)").groupby("entity")["value"].sum() / 100 * 60
    seconds = (
        values(found, "CPU(sec)").groupby("entity")["value"].agg(lambda s: s.iloc[-1] - s.iloc[0])
    )
    assert (
        share - seconds
    ).abs().max() < 2  # counters are cut to whole seconds, shares rounded to 0.1 %


def test_the_listing_carries_the_published_memory(made):
    plans, _, folder = made
    found = reading(folder / "memory-zvm-7168-r1", "perfkit.txt")
    pages = values(found, "R>2GB", "guest").groupby("t")["value"].sum()
    assert pages.to_numpy() / 256 == pytest.approx(
        truth(plans, "memory-zvm-7168-r1", "resident_memory"), abs=0.01
    )
    assert truth(plans, "memory-zvm-7168-r1", "resident_memory") == pytest.approx(
        6831, abs=0.5
    )  # Table 9
    assert len(pages) == 10


def test_guests_and_hypervisor_add_up_to_the_processors(made):
    _, _, folder = made
    found = reading(folder / "memory-zvm-7168-r1", "perfkit.txt")
    busy, system = (
        values(found, field, "processor").groupby("t")["value"].sum() for field in ("%CPU", "%SYS")
    )
    guests = values(found, "%CPU", "guest").groupby("t")["value"].sum()
    assert (guests + system - busy).abs().max() < 1  # eight processors, each rounded to 0.1 %


def test_driver_logs_obey_the_closed_loop(made):
    _, _, folder = made
    # the memory test, of which the text has no response times; those of the scaling test exclude the closed loop
    drivers = list((folder / "memory-zvm-7168-r1" / "drivers").iterdir())
    assert len(drivers) == 5
    for driver in drivers:
        found = reading(driver, "console.log")
        x, r = (values(found, f)["value"].to_numpy()[30:] for f in ("pg elem/s", "resp avg"))
        assert np.mean(x * r) == pytest.approx(4, rel=0.02)  # clients of a driver
        snapshots = values(reading(driver, "snapshots.xml"), "page_elements")
        pages = values(found, "pg", "driver")["value"].to_numpy()
        assert (
            snapshots["value"].tolist() == pages[29::30].tolist()
        )  # every 300 s, of samples every 10 s


def test_the_same_seed_writes_the_same_bytes(made, tmp_path):
    plans, raw, folder = made
    write_run(plans["scaling-xen-9-r1"], STUDY, raw, SEED, tmp_path)
    for path in (folder / "scaling-xen-9-r1").rglob("*"):
        if path.is_file():
            again = tmp_path / path.relative_to(folder)
            assert path.read_bytes() == again.read_bytes()


# ---- what a declaration can say


def written(tmp_path, raw: str, run_id: str = "a-2-r1") -> Path:
    _, loaded, plans = toy(tmp_path, raw)
    write_run(plans[run_id], "toy", loaded, 1, tmp_path)
    return tmp_path / run_id


def test_run_yaml_says_what_the_blocks_say(tmp_path):
    head = yaml.safe_load((written(tmp_path, RAW) / "run.yaml").read_text())
    files = head.pop("files")
    assert files == [
        {
            "path": f"d{n}/console.log",
            "format": "iwl-console",
            "entity": f"d{n}",
            "start_s": 10,
            "interval_s": 10,
        }
        for n in (1, 2)
    ]
    assert head == {
        "study": "toy",
        "run": "a-2-r1",
        "provenance": "simulated",
        "factors": {"system": "a", "guests": 2},
        "replicate": 1,
        "start": "2011-03-01T09:00:00",
        "duration_s": 100,
        "warmup_s": 20,
        "window_s": [20, 100],
        "clients": 4,
    }


TIMES = """\
      - path: "steps/{name}-{guests}.txt"
        each: drivers
        format: time
        clock: none
        entry: {entity: "step-{name}", entity_kind: command, at_s: 5}
        records: [{report: shell, kind: host, fields: {real: 3, user: "round(weight / 7, 3)", sys: 0}}]
"""


def test_files_of_other_shapes_need_no_code(tmp_path):
    folder = written(tmp_path, RAW + TIMES)
    entries = {e["path"]: e for e in yaml.safe_load((folder / "run.yaml").read_text())["files"]}
    assert entries["steps/d1-2.txt"] == {
        "path": "steps/d1-2.txt",
        "format": "time",
        "entity": "step-d1",
        "entity_kind": "command",
        "at_s": 5,
    }
    found = get_format("time").read((folder / "steps" / "d1-2.txt").read_bytes())
    assert found.records.set_index("field")["value"].to_dict() == {
        "real": 3,
        "user": 0.143,
        "sys": 0,
    }


TEXT = """\
      - path: fio.json
        format: fio
        clock: none
        records:
          - {text: "{\\"fio version\\": \\"fio-2.1.7\\", \\"jobs\\": [\\n"}
          - {entities: guests, between: ",\\n", text: "{\\"jobname\\": \\"{name}\\", \\"usr_cpu\\": 0, \\"sys_cpu\\": 0, \\"ctx\\": 0, \\"read\\": {\\"runtime\\": 60000, \\"bw\\": {kib}, \\"lat\\": {\\"mean\\": {usec}}}}", fields: {kib: 1000 * weight, usec: "round(1 / 3, 2)"}}
          - {at: {system: a}, text: "\\n]}\\n"}
"""


def test_a_format_that_prints_nothing_is_written_as_a_text(tmp_path):
    folder = written(tmp_path, RAW + TEXT)
    (entry,) = (
        e
        for e in yaml.safe_load((folder / "run.yaml").read_text())["files"]
        if e["path"] == "fio.json"
    )
    assert entry == {"path": "fio.json", "format": "fio"}
    found = (
        sniff((folder / "fio.json").read_bytes()).read((folder / "fio.json").read_bytes()).records
    )
    rates = found[found["field"] == "read/bw"].set_index("entity")["value"].to_dict()
    assert rates == {"g1": 2000, "g2": 2000, "h7": 1000}
    assert found.loc[found["field"] == "read/lat/mean", "value"].tolist() == [0.33] * 3


def test_a_file_of_one_entity_has_records_of_others_and_values_of_its_own(tmp_path):
    each = TEXT.replace("path: fio.json", 'path: "fio-{name}.json"\n        each: drivers')
    folder = written(tmp_path, RAW + each.replace("round(1 / 3, 2)", "round(last(rate), 3)"))
    files = [(folder / f"fio-{name}.json").read_bytes() for name in ("d1", "d2")]
    found = [get_format("fio").read(file).records for file in files]
    assert [records["entity"].unique().tolist() for records in found] == [["g1", "h7", "g2"]] * 2
    (one,), (other,) = (
        set(records.loc[records["field"] == "read/lat/mean", "value"]) for records in found
    )
    assert one != other


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{name}", "{nam}", "nothing stands for 'nam'"),
        ("between: ", "kind: job, between: ", "records have a kind, or the text"),
        (
            "kib: 1000 * weight",
            "kib: last(rate)",
            "kib varies over  drivers, its records over  guests",
        ),
        ("format: fio\n", "format: no-such\n", "no format is called 'no-such'"),
        (
            '- {at: {system: a}, text: "\\n]}\\n"}',
            "- {kind: job, fields: {a: 1}}",
            "either all records of a file",
        ),
    ],
)
def test_a_text_that_is_none_is_refused_with_its_line(tmp_path, old, new, problem):
    assert old in TEXT
    with pytest.raises(StudyError, match=problem) as err:
        written(tmp_path, RAW + TEXT.replace(old, new))
    assert err.value.line


REFUSED = {
    "another set": ("fields: {real: 3", "fields: {real: at(rate) * 0 + 3", "needs `times`"),
    "no placeholder": ("steps/{name}", "steps/{nam}", "nothing stands for 'nam', only for"),
    "the same path twice": ('"steps/{name}-{guests}.txt"', "steps.txt", "written twice"),
    "out of the folder": ('"steps/', '"../', "leads out of the run folder"),
    "what no tool prints": ("real: 3", "real: -3", "time can't print this reading"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_not_be_written_is_refused_with_its_line(tmp_path, what):
    old, new, problem = REFUSED[what]
    with pytest.raises(StudyError, match=problem) as err:
        written(tmp_path, RAW + TIMES.replace(old, new))
    assert err.value.file == "raw.yaml" and err.value.line and "run a-2-r1" in err.value.problem


def test_a_run_without_files_is_refused(tmp_path):
    raw = (
        RAW.replace("  - run:", "  - at: {system: b}\n    run:")
        + "  - run: {start: 2011-03-01T09:00:00}\n"
    )
    with pytest.raises(StudyError, match="no block for it says duration_s"):
        written(tmp_path, raw)


def test_records_at_times_of_their_own(tmp_path):
    console = """\
      - path: console.txt
        format: cms-console
        clock: time-of-day
        records:
          - {report: command, kind: command, entities: drivers, entity: "QUERY D{n}", when: 7 * n,
             fields: {return code: 0, virtual CPU: 0.01, total CPU: 0.02, elapsed: "only(n > 1, 7)"}}
"""
    folder = written(tmp_path, RAW + console)
    text = (folder / "console.txt").read_text()
    assert "Ready; T=0.01/0.02 09:00:07" in text and "Ready; T=0.01/0.02 09:00:14" in text
