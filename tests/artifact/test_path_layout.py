"""Run folders proposed from paths: what varies is a factor if it is crossed with the rest."""

from __future__ import annotations

import pytest

from virtperf.artifact.artifact_files import opened_artifact
from virtperf.artifact.inspection import inspect_artifact
from virtperf.artifact.path_layout import propose_runs


def proposed(folder):
    with opened_artifact(folder) as opened:
        return propose_runs(inspect_artifact(opened))


def levels(runs, name):
    return sorted({run.factors.get(name) for run in runs}, key=str)


NUMBERS = "12\n13\n11\n"
PAIRS = "12 1\n13 2\n11 3\n"


def test_crossed_parts_are_factors(artifact):
    names = [
        f"{m}/boot-{s}-{n}.dat" for m in ("left", "right") for s in ("fc", "kvm") for n in (1, 10)
    ]
    found = proposed(artifact(dict.fromkeys(names, NUMBERS)))
    assert len(found.runs) == 8
    assert list(found.sources) == ["folder_1", "system", "name_1"]
    assert levels(found.runs, "folder_1") == ["left", "right"]
    assert levels(found.runs, "system") == ["fc", "kvm"]
    assert levels(found.runs, "name_1") == [1, 10]
    assert found.unnamed == ["folder_1", "name_1"]
    assert found.sources["system"] == "left/boot-{fc}-1"


def test_parts_without_counterparts_tell_tests_apart(artifact):
    files = dict.fromkeys(["boot-fc-api.dat", "boot-kvm-api.dat", "boot-fc-file.dat"], NUMBERS)
    files |= dict.fromkeys(["net-rx.dat", "net-tx.dat"], PAIRS)
    found = proposed(artifact(files))
    assert levels(found.runs, "test") == ["boot", "net"]
    by_test = {run.factors["test"]: set(run.factors) - {"test"} for run in found.runs}
    assert len(by_test["boot"]) == 2 and len(by_test["net"]) == 1
    assert not by_test["boot"] & by_test["net"]


def test_same_levels_in_two_tests_are_one_factor(artifact):
    files = dict.fromkeys(["boot-fc.dat", "boot-kvm.dat", "boot-xen.dat"], NUMBERS)
    files |= dict.fromkeys([f"net-{s}-{w}.dat" for s in ("fc", "kvm") for w in ("rx", "tx")], PAIRS)
    found = proposed(artifact(files))
    assert levels(found.runs, "system") == ["fc", "kvm", "xen"]
    assert levels(found.runs, "direction") == [None, "rx", "tx"]


def test_equal_numbers_at_one_depth_of_a_folder_are_one_factor(artifact):
    files = {f"out/alpha/{n}/x.dat": NUMBERS for n in (1, 4, 16)}
    files |= {f"out/beta-b/{n}/y.csv": "a,b\n1,2\n3,4\n" for n in (1, 4)}
    files |= {f"other/{n}/z/w.dat": PAIRS for n in (1, 4)}
    found = proposed(artifact(files))
    assert len(levels(found.runs, "test")) == 3
    assert found.unnamed == ["folder_2", "folder_3"]
    assert levels(found.runs, "folder_3") == [1, 16, 4, None]


def test_missing_end_of_a_name_is_a_level(artifact):
    names = [f"fio-{s}{end}.dat" for s in ("fc", "kvm") for end in ("", "-qd1")]
    found = proposed(artifact(dict.fromkeys(names, NUMBERS)))
    assert levels(found.runs, "qd") == [1, "none"]


def test_files_that_look_different_belong_to_one_run(artifact):
    names = [f"mem-{s}-{n}" for s in ("fc", "kvm") for n in (128, 256)]
    files = {f"{name}.txt": NUMBERS for name in names}
    files |= {f"{name}-map.txt": "Address Size Mapping\n00ab 4 one\n00ac 8 two\n" for name in names}
    found = proposed(artifact(files))
    assert len(found.runs) == 4
    assert {tuple(file.path for file in run.files) for run in found.runs} == {
        (f"{name}.txt", f"{name}-map.txt") for name in names
    }


@pytest.mark.parametrize(
    ("names", "factor", "expected"),
    [
        (["threads=4.dat", "threads=8.dat"], "threads", [4, 8]),
        (["load-qd1.dat", "load-qd32.dat"], "qd", [1, 32]),
        (["load-4threads.dat", "load-8threads.dat"], "threads", [4, 8]),
        (["size-4.dat", "size-16.dat"], "size", [16, 4]),
        (["thp-on.dat", "thp-off.dat"], "thp", ["off", "on"]),
        (["kernels/5.4/a.dat", "kernels/5.10/a.dat"], "kernel", ["5.10", "5.4"]),
        (["vms/a/x.dat", "vms/b/x.dat"], "vm", ["a", "b"]),
        (["cpu/a/x.dat", "cpu/b/x.dat"], "folder_2", ["a", "b"]),
        (["m5d.metal/a.dat", "rn.haswell/a.dat"], "machine", ["m5d.metal", "rn.haswell"]),
        (["qemu.dat", "chv.dat", "fc.dat", "mine.dat"], "system", ["chv", "fc", "mine", "qemu"]),
        (["fio-64KB.dat", "fio-4KB.dat"], "size", ["4KB", "64KB"]),
        (["fio-randread.dat", "fio-randwrite.dat"], "access", ["randread", "randwrite"]),
        (["fio-read.dat", "fio-other.dat"], "name_1", ["other", "read"]),
        (["load.dat", "load-net.dat"], "net", ["net", "none"]),
        (
            ["qemu.dat", "mine.dat", "a.dat", "b.dat", "fc.dat"],
            "name_1",
            ["a", "b", "fc", "mine", "qemu"],
        ),
    ],
)
def test_names_in_paths_are_used(artifact, names, factor, expected):
    found = proposed(artifact(dict.fromkeys(names, NUMBERS)))
    assert list(found.sources) == [factor]
    assert levels(found.runs, factor) == expected


def test_two_parts_of_one_kind_have_two_names(artifact):
    names = [f"{guest}-{h}.dat" for guest in ("osv", "unikraft", "lupine") for h in ("qemu", "fc")]
    found = proposed(artifact(dict.fromkeys(names, NUMBERS)))
    assert levels(found.runs, "system") == ["lupine", "osv", "unikraft"]
    assert levels(found.runs, "hypervisor") == ["fc", "qemu"]


def test_a_part_and_a_column_of_one_kind_are_two_factors(artifact):
    table = "system,rate\nxen,5\nkvm,6\n"
    found = proposed(artifact({"qemu.csv": table, "fc.csv": table}))
    assert len(found.runs) == 4
    assert levels(found.runs, "system") == ["kvm", "xen"]
    assert levels(found.runs, "hypervisor") == ["fc", "qemu"]


def test_repetitions_are_replicates(artifact):
    names = [f"{s}/run{n}.dat" for s in ("fc", "kvm") for n in (1, 2, 3)]
    found = proposed(artifact(dict.fromkeys(names, NUMBERS)))
    assert [(run.factors["system"], run.replicate) for run in found.runs] == [
        (s, n) for s in ("fc", "kvm") for n in (1, 2, 3)
    ]
    assert "replicate" not in found.runs[0].factors


def test_names_in_no_common_form_are_one_factor(artifact):
    names = ["alpha.dat", "beta-x.dat", "gamma-y-z.dat"]
    found = proposed(artifact(dict.fromkeys(names, NUMBERS)))
    assert levels(found.runs, "name_1") == ["alpha", "beta-x", "gamma-y-z"]


def test_rows_of_a_table_are_runs(artifact):
    rows = [f"{s},{n},rate,{n}5" for s in ("fc", "kvm") for n in (1, 2)]
    found = proposed(artifact({"a.csv": "\n".join(["system,guests,metric,result", *rows, ""])}))
    assert [dict(run.factors) for run in found.runs] == [
        {"system": s, "guests": n} for s in ("fc", "kvm") for n in (1, 2)
    ]
    assert found.runs[0].rows == {"system": "fc", "guests": "1"}


def test_repeated_rows_are_samples_of_one_run(artifact):
    text = "operation\tthroughput\nGET\t5.5\nSET\t4.5\nGET\t5.6\nSET\t4.4\n"
    found = proposed(artifact({"docker.csv": text, "osv.csv": text}))
    assert len(found.runs) == 4
    assert levels(found.runs, "operation") == ["GET", "SET"]
    assert found.runs[0].files[0].roles.repeats


def test_files_without_a_reader_are_left(artifact):
    files = dict.fromkeys(["boot-fc.dat", "boot-kvm.dat"], NUMBERS)
    files |= {"notes-1.txt": "some words only\n", "notes-2.txt": "other words\n", "plot.py": "1\n"}
    found = proposed(artifact(files))
    assert [file.path for file in found.left] == ["notes-1.txt", "notes-2.txt"]
    assert len(found.runs) == 2


def test_machine_of_one_test_is_a_level_of_the_machines_of_others(artifact):
    files = {f"{m}/boot-{s}.dat": NUMBERS for m in ("left", "right") for s in ("fc", "kvm")}
    files |= {f"left/net-{way}.dat": PAIRS for way in ("rx", "tx")}
    found = proposed(artifact(files))
    assert levels(found.runs, "test") == ["boot", "net"]
    assert {run.factors["folder_1"] for run in found.runs if run.factors["test"] == "net"} == {
        "left"
    }


def test_folders_in_no_common_form_are_one_factor(artifact):
    names = ["base-auto", "base-manual", "huge-auto", "huge-manual", "odd-huge-auto-o9-c3"]
    files = {f"run/{name}/{n}/counts.dat": NUMBERS for name in names for n in (1, 4)}
    found = proposed(artifact(files))
    assert levels(found.runs, "configuration") == sorted(names)
    assert list(found.sources) == ["configuration", "folder_3"] and len(found.runs) == 10


def test_files_of_one_form_are_never_one_run(artifact):
    names = [
        f"boot-{how}-{s}-time.dat" for how in ("parallel-50", "serial-9") for s in ("fc", "kvm")
    ]
    found = proposed(artifact(dict.fromkeys(names, NUMBERS)))
    assert [len(run.files) for run in found.runs] == [1, 1, 1, 1]
    assert levels(found.runs, "system") == ["fc", "kvm"]
    assert levels(found.runs, "test") == ["boot-parallel-50-time", "boot-serial-9-time"]


def test_names_of_tables_with_conditions_are_tests(artifact):
    table = "runtime,result\nrunc,{}\nrunsc,{}\n"
    files = {f"{name}.csv": table.format(n, n + 1) for n, name in enumerate(("startup", "density"))}
    found = proposed(artifact(files))
    assert levels(found.runs, "test") == ["density", "startup"]
    assert found.unnamed == [] and len(found.runs) == 4


def test_values_below_a_line_and_names_with_a_number_of_their_own(artifact):
    files = {
        f"start-io.{name}.v2-100_{number}": f"io.{name}.v2,overlayfs,100\n{NUMBERS}12\n14\n"
        for name, number in (("runc", 3655234905), ("kata", 2383679960))
    }
    found = proposed(artifact(files))
    assert sorted(len(run.files[0].table.rows) for run in found.runs) == [5, 5]
    assert not any("3655234905" in str(run.factors) for run in found.runs)


def test_json_is_no_table(artifact):
    text = '{"start": [0.85, 7201.4], "build": [3658.8, 10897.5]}\n'
    found = proposed(artifact({"out/1/a.json": text, "out/2/a.json": text, "x.csv": PAIRS}))
    assert {file.path for run in found.runs for file in run.files} == {"x.csv"}


def test_columns_without_a_heading_are_named_by_other_tables_and_by_levels(artifact):
    headed = "target,language,time\n" + "".join(
        f"{t},{x},{n}.5\n" for t in ("one", "two") for x in ("go", "js") for n in (3, 3, 4)
    )
    plain = "".join(f"{x},{t},{n}\n" for x in ("two", "one") for t in ("go", "js") for n in (7, 8))
    known = "".join(
        f"{s},{size},{n}e-7\n"
        for s in ("runc", "runsc_kvm", "runsc_ptrace")
        for size in (4096, 16384)
        for n in (1.25, 2.5, 3.125)
    )
    files = {"a/times.csv": headed, "b/results.csv": plain, "c/reads.csv": known}
    found = proposed(artifact(files))
    assert found.sources["target"] == "column target, column_1"
    assert found.sources["language"] == "column language, column_2"
    assert found.sources["system"] == "column column_1"
    reads = [run for run in found.runs if run.factors["test"] == "c"]
    assert len(reads) == 6 and levels(reads, "column_2") == [16384, 4096]
    assert found.unnamed == ["column_2"]


def test_a_list_of_numbers_above_folders_names_them(artifact):
    files = {f"{s}/{n}/x.dat": NUMBERS for s in ("a", "b") for n in (1, 4, 12)}
    settings = '{"args": {"bench_threads": [1, 4, 12], "cores": 12, "iterations": [1, 4]}}'
    found = proposed(artifact(files | dict.fromkeys(("a/meta.json", "b/meta.json"), settings)))
    assert levels(found.runs, "bench_threads") == [1, 12, 4]
    other = settings.replace('"iterations": [1, 4]', '"iterations": [12, 4, 1]')
    both = proposed(artifact(files | dict.fromkeys(("a/meta.json", "b/meta.json"), other)))
    assert both.unnamed == ["folder_1", "folder_2"]


def test_names_of_files_that_say_what_was_measured_are_tests(artifact):
    files = {f"out/{n}/{w}.dat": NUMBERS for n in (1, 4) for w in ("counts", "times")}
    assert levels(proposed(artifact(files)).runs, "test") == ["counts", "times"]
