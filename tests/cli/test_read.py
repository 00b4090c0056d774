"""`virtperf read`: previews, output files, standard input, errors; outside a repository."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from tests.toy_runs import console, netstat, sar


@pytest.fixture
def listing(tmp_path):
    (tmp_path / "sar.txt").write_bytes(sar())
    return "sar.txt"


def test_preview_lists_format_and_every_field(run, listing):
    text = run("read", listing).output
    assert "(format sar, recognised with certainty" in text
    assert "from 2009-01-09 14:06:00 to 2009-01-09 14:15:00" in text
    assert "120 records of 2 entities" in text
    for field in ("%user", "%steal", "%idle"):
        assert field in text
    assert "cpu_user" in text  # the packaged metric dictionary


def test_preview_with_dictionary_shows_metrics(run, listing, root):
    text = run("read", listing, "--metrics", str(root / "src" / "rawperf" / "metrics.yaml")).output
    assert "cpu_user" in text
    assert "No metric dictionary" not in text


def test_metric_dictionary_of_the_repository_is_used(run, listing, root):
    assert "cpu_user" in run("--root", str(root), "read", listing).output


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_all_output_formats_have_the_same_rows(run, listing, root, tmp_path, suffix):
    metrics = str(root / "src" / "rawperf" / "metrics.yaml")
    output = run("read", listing, "--metrics", metrics, "-o", f"out.{suffix}").output
    assert output == f"out.{suffix}: 120 records of sar.txt, read as sar\n"
    path = tmp_path / f"out.{suffix}"
    if suffix == "csv":
        table = pd.read_csv(path, keep_default_na=False)
    elif suffix == "parquet":
        table = pd.read_parquet(path)
    else:
        table = pd.DataFrame(json.loads(path.read_text())["records"])
    assert len(table) == 120
    assert pd.to_numeric(table["metric_value"], errors="coerce").sum() == pytest.approx(
        10
    )  # ten minutes whose shares add up to 1; only the row "all" stands for the host
    assert table["t"].iloc[0] == 1231509960


def test_standard_input_and_output(run):
    text = run("read", "-", "-o", "-", stdin=netstat(7)).output
    assert text.splitlines()[0].startswith("report,entity_kind,entity,field,t,value,line,metric")
    assert re.search(r"segments received,,7\.0,\d+,", text)


def test_control_characters_are_removed_from_terminal_output(run, tmp_path):
    log = netstat(7).replace(b"segments received", b"segments \x1b[31mreceived [bold]")
    (tmp_path / "n.txt").write_bytes(log)
    text = run("read", "n.txt").output
    assert "\x1b" not in text
    assert "[bold]" in text


def test_interval_option_gives_times_to_numbered_samples(run, tmp_path):
    (tmp_path / "d1.log").write_bytes(console(n=4))
    assert "the sample number, 0 to 3" in run("read", "d1.log").output
    assert (
        "seconds since the first sample, 0 to 30"
        in run("read", "d1.log", "--interval", "10").output
    )


def test_errors_are_one_line(run, tmp_path, listing):
    (tmp_path / "unknown.txt").write_text("nothing of the kind\n")
    output = run("read", "unknown.txt", status=1).output
    assert output.startswith("Error: unknown.txt: no known format recognises this file")
    assert (
        run("read", "absent.txt", status=1).output
        == "Error: absent.txt: the file can't be read: No such file or directory\n"
    )
    assert "no format is named 'x'" in run("read", listing, "--input-format", "x", status=1).output
    assert (
        "must end in .csv, .parquet, .json"
        in run("read", listing, "-o", "out.xlsx", status=2).output
    )
    assert not list(tmp_path.glob("out*"))
    assert "absent does not exist" in run("read", listing, "-o", "absent/out.csv", status=2).output
    assert not (tmp_path / "absent").exists()


def test_times_after_year_9999_are_printed(run, tmp_path):
    (tmp_path / "late.txt").write_bytes(
        b"Linux 6.1 (h) 9999-12-31\n\n23:59:50   runq-sz   plist-sz\n00:00:10   1  2\n00:00:20   1  2\n"
    )
    assert "to 10000-01-01 00:00:20" in run("read", "late.txt").output


DECLARATION = """\
name: own
title: my driver's CSV
reads: csv
time: {field: t, since: start}
entity: {kind: driver, name: who}
fields: [{field: tps, metric: throughput, unit: 1/s}]
"""


def test_declared_format_is_read(run, tmp_path, root):
    (tmp_path / "own.yaml").write_text(DECLARATION)
    (tmp_path / "d.csv").write_text("t,who,tps\n10,a,5\n20,a,6\n")
    text = run("--root", str(root), "read", "d.csv", "--input-format", "own.yaml").output
    assert "d.csv: my driver's CSV (format own, as specified)" in text
    assert "t is seconds since the tool started, 10 to 20" in text
    assert re.search(r"driver +tps +throughput +1/s +2 +5\.5 +5 +6", text)
    (tmp_path / "own.yaml").write_text(DECLARATION.replace("field: tps", "field: tpz"))
    output = run("read", "d.csv", "--input-format", "own.yaml", status=1).output
    assert "d.csv line 1: there is no column 'tpz'" in output
    assert "Did you mean 'tps'" in output
    (tmp_path / "own.yaml").write_text(DECLARATION.replace("reads: csv", "reads: cvs"))
    assert (
        "own.yaml line 3: reads: wrong value"
        in run("read", "d.csv", "--input-format", "own.yaml", status=1).output
    )
