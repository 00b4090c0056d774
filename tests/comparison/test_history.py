"""`virtperf history`: detected changes, false alarms under autocorrelation, input checks."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import virtperf
from rawperf.core.errors import RawperfError
from tests.comparison.test_compare import A, B, raw_files, wrk
from tests.toy_runs import write_run
from virtperf.cli import main
from virtperf.comparison.changes import ALPHA_NEWEST, _simulate_histories, changes

NOISE = 0.02


def alarms(rows):
    found = [changes(row) for row in rows]
    return np.array([bool(f.steps) or (f.p is not None and f.p <= ALPHA_NEWEST) for f in found])


@pytest.mark.slow
def test_false_alarm_rate_under_autocorrelated_noise():
    """At a false alarm rate of 5 %, at most 18 of 200 histories alarm with a probability of 99 %."""
    rows = np.exp(NOISE * _simulate_histories(40, 0.3, 200, np.random.default_rng(11)))
    assert alarms(rows).sum() <= 18


@pytest.mark.slow
def test_drop_lasting_three_revisions_is_detected():
    """validation/histories.py uses more histories."""
    rows = np.exp(NOISE * _simulate_histories(40, 0.0, 60, np.random.default_rng(12)))
    rows[:, 37:] *= 0.95
    assert alarms(rows).mean() >= 0.8


def table(tmp_path, values, replicates=3):
    """A table of benchmarks over revisions, newest first, so that rows must be sorted by date."""
    rng = np.random.default_rng(5)
    lines = ["revision,date,replicate," + ",".join(values)]
    for t in reversed(range(30)):
        for replicate in range(1, replicates + 1):
            runs = [
                f"{level(t) * np.exp(0.01 * rng.standard_normal()):.6g}"
                for level in values.values()
            ]
            lines.append(f"rev{t},2026-01-{t + 1:02},{replicate},{','.join(runs)}")
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_changes_have_revision_ratio_and_verdict(tmp_path):
    path = table(
        tmp_path,
        {
            "late": lambda t: 1.1 if t >= 28 else 1.0,
            "early": lambda t: 50 if t >= 12 else 40,
            "quiet": lambda t: 7,
        },
    )
    found = virtperf.history(path, lower=["late"], higher=["early"], quantities=["quiet"])
    late, early, quiet = (
        next(r for r in found.rows if r.benchmark == n) for n in ("late", "early", "quiet")
    )
    assert (late.verdict, late.newest.revision, late.newest.date) == (
        "slower",
        "rev28",
        "2026-01-29",
    )
    assert late.newest.low < 1.1 < late.newest.high
    assert [(c.revision, c.verdict) for c in early.changes] == [("rev12", "faster")]
    assert early.levels == pytest.approx([40, 50], rel=0.01)
    assert (early.verdict, quiet.verdict, quiet.changes) == ("no change seen", "no change seen", ())
    assert found.sentences[0].startswith("late is 9.6 % ")
    assert "higher since rev28 (2026-01-29)" in found.sentences[0]


def test_command_exit_status_and_output_files(tmp_path):
    path = table(tmp_path, {"late": lambda t: 1.1 if t >= 28 else 1.0})
    call = ["history", str(path), "--lower-is-better", "late", "--fail-on", "slower"]
    result = CliRunner().invoke(main, [*call, "-o", str(tmp_path / "h.html"), "--format", "json"])
    assert result.exit_code == 1, result.output
    assert json.loads(result.output)["rows"][0]["newest"]["revision"] == "rev28"
    page = (tmp_path / "h.html").read_text()
    assert page.count("<title>rev") == 30
    assert 'class="vp-moved"' in page
    assert "http" not in page.split("</style>")[1].replace("http-equiv", "")
    refused = CliRunner().invoke(main, [*call, "--revision", "commit"])
    assert "there is no column 'commit'" in refused.output


def test_folders_of_runs_named_by_date_and_revision(tmp_path):
    for day in range(1, 13):
        rates = B if day >= 11 else A
        folder = tmp_path / f"2026-02-{day:02}-c{day}"
        raw_files(
            folder, [1000 * rate * (1 + 0.001 * (day % 3)) + 0.37 * day for rate in rates[:3]]
        )
    found = virtperf.history(tmp_path, quantities=["throughput"])
    (row,) = found.rows
    assert (row.verdict, row.newest.revision) == ("slower", "c11")
    assert [len(m.runs) for m in row.measured] == [3] * 12


def test_revisions_that_look_like_numbers_are_texts(tmp_path):
    """Kernel 6.10 is not 6.1, and a commit of digits keeps its zeros."""
    path = tmp_path / "runs.csv"
    for names in (["6.1", "6.9", "6.10", "6.11"], ["0012345", "12345", "1e5", "100000"]):
        lines = ["revision,x", *(f"{name},{k + 1}" for k, name in enumerate(names))]
        path.write_text("\n".join(lines) + "\n")
        (row,) = virtperf.history(path).rows
        assert [(m.revision, m.runs) for m in row.measured] == [
            (name, (k + 1,)) for k, name in enumerate(names)
        ]


def test_revision_measured_on_two_days_keeps_all_runs(tmp_path):
    for day, revision in ((1, "c1"), (2, "c2"), (3, "c1")):
        raw_files(
            tmp_path / f"2026-02-{day:02}-{revision}", [1000.0 * rate + day for rate in A[:3]]
        )
    (row,) = virtperf.history(tmp_path, quantities=["throughput"]).rows
    assert [(m.revision, m.date, len(m.runs)) for m in row.measured] == [
        ("c1", "2026-02-01", 6),
        ("c2", "2026-02-02", 3),
    ]


def test_a_missing_place_is_said_to_be_missing(tmp_path):
    with pytest.raises(RawperfError, match=r"no such file or folder; expected a table .*\.csv"):
        virtperf.history(tmp_path / "nosuch.csv")
    with pytest.raises(RawperfError, match="there are no runs"):
        virtperf.history(str(tmp_path / "nosuch-*"))


def test_nonpositive_values_are_rejected(tmp_path):
    with pytest.raises(RawperfError, match="x is not positive at revision rev3"):
        virtperf.history(table(tmp_path, {"x": lambda t: 0 if t == 3 else 1}))


def history_table(tmp_path, dates, values=None, name="runs.csv"):
    """One row per date, and a benchmark `x` that increases with the rows."""
    values = values or [f"{1 + k / 1000:g}" for k in range(len(dates))]
    rows = [
        f"r{k},{date},{value}" for k, (date, value) in enumerate(zip(dates, values, strict=True), 1)
    ]
    path = tmp_path / name
    path.write_text("\n".join(["revision,date,x", *rows]) + "\n")
    return path


def test_dates_are_sorted_by_time_not_as_text(tmp_path):
    """Time zones are converted; a date without a time is midnight."""
    dates = [
        "2026-01-31T12:00:00+09:00",
        "2026-01-31T04:00:00Z",
        "2026-01-31",
        "2026-01-31 03:30:00",
        "20260130",
    ]
    (row,) = virtperf.history(history_table(tmp_path, dates)).rows
    assert [m.revision for m in row.measured] == ["r5", "r3", "r1", "r4", "r2"]


@pytest.mark.parametrize("date", ["1/3/2026", "3.1.2026", "2026-02-30", "2026-1-3", "yesterday"])
def test_invalid_date_is_rejected_with_line_number(tmp_path, date):
    path = history_table(tmp_path, ["2026-01-01", date, "2026-01-03"])
    with pytest.raises(
        RawperfError, match="invalid date in column 'date'; expected 2026"
    ) as caught:
        virtperf.history(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)
    assert date in caught.value.found


@pytest.mark.parametrize("column", ["date", "revision"])
def test_empty_date_or_revision_is_rejected(tmp_path, column):
    path = history_table(tmp_path, ["2026-01-01", "2026-01-02", "2026-01-03"])
    taken = {"date": "2026-01-02", "revision": "r2"}[column]
    path.write_text(path.read_text().replace(taken, ""))
    with pytest.raises(RawperfError, match=f"column '{column}' has an empty cell") as caught:
        virtperf.history(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)


def test_folder_name_with_impossible_date_is_rejected(tmp_path):
    for day in ("28", "30"):
        raw_files(tmp_path / f"2026-02-{day}-c{day}", [int(day) + rate for rate in A[:2]])
    with pytest.raises(RawperfError, match=r"invalid date in the folder's name.*2026-02-30"):
        virtperf.history(tmp_path)


def test_dates_are_required_for_all_revisions_or_none(tmp_path):
    for number, rate in enumerate(A, 1):
        dated = {"date": f"2026-01-0{number}"} if number > 1 else {}
        write_run(
            tmp_path,
            f"r{number}",
            {"wrk.txt": wrk(rate).encode()},
            study="kernels",
            factors={},
            tools={"revision": f"c{number}", **dated},
            **dict.fromkeys(("start", "duration_s", "warmup_s", "window_s")),
        )
    with pytest.raises(RawperfError, match="revision c1 has no date"):
        virtperf.history(tmp_path)


def test_non_numeric_cell_is_rejected(tmp_path):
    dates = [f"2026-01-{day:02}" for day in range(1, 31)]
    for cell, message in (
        ("abc", "not a finite number"),
        ("inf", "not a finite number"),
        ("1e+308", "too large"),
        ("1,5", "not a finite number"),
    ):
        written = f'"{cell}"'
        path = history_table(tmp_path, dates, [*["1.25"] * 29, written])
        with pytest.raises(RawperfError, match=f"column 'x' contains .*{message}") as caught:
            virtperf.history(path)
        assert (caught.value.line, caught.value.found) == (31, repr(cell))


def test_folders_without_run_yaml_among_runs_are_reported(tmp_path):
    for number, rate in enumerate(A, 1):
        raw = {"wrk.txt": wrk(rate).encode()}
        write_run(tmp_path, f"r{number}", raw, study="k", factors={}, tools={"revision": number})
    (tmp_path / "r2" / "run.yaml").unlink()
    assert virtperf.history(tmp_path).notes == ("left out: r2 (no run.yaml)",)


def test_options_not_applicable_to_a_table_are_rejected(tmp_path):
    path = history_table(tmp_path, ["2026-01-01", "2026-01-02"])
    for command in (["--where", "x=1"], ["--input-format", "wrk"], ["--lower-is-better", "x"]):
        result = CliRunner().invoke(main, ["history", str(path), *command])
        assert result.exit_code == (0 if "x" in command else 2), result.output
        assert ("do not apply to a table of revisions" in result.output) == ("x" not in command)
