"""`virtperf history`: detected changes, false alarms under autocorrelation, input checks."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from click.testing import CliRunner

import virtperf
from rawperf.core.errors import RawperfError
from tests.comparison.test_compare import A, B, raw_files, wrk
from tests.toy_runs import write_run
from tools.validation.histories import simulate
from virtperf.cli import main
from virtperf.comparison.changes import changes, critical_value

LEVEL, NOISE, REVISIONS = 100.0, 0.02, 40


def drawn(seed, count=60, autocorrelation=0.0, noise=NOISE, revisions=REVISIONS):
    """Logarithms of histories without a change, shape (count, revisions)."""
    return noise * simulate(revisions, autocorrelation, count, np.random.default_rng(seed))


def alarms(rows):
    return np.array([any(step.holds for step in changes(row).steps) for row in rows])


@pytest.mark.parametrize("autocorrelation", [0.0, 0.3])
def test_false_alarm_rate_over_three_looks(autocorrelation):
    """At a rate of 5 % over three runs of CI, at most 9 of 80 alarm with a probability of 98 %."""
    rows = drawn(11, 80, autocorrelation, revisions=43)
    assert sum(alarms(rows[:, :n]).astype(int) for n in (41, 42, 43)).astype(bool).sum() <= 9


def test_fall_of_two_and_a_half_deviations_is_found_within_three_revisions():
    """At a rate of 90 %, at least 48 of 60 are found with a probability of 99 %."""
    rows = drawn(12, revisions=43)
    rows[:, 40:] += np.log(0.95)
    found = [alarms(rows[:, :n]) for n in (41, 42, 43)]
    assert np.any(found, axis=0).sum() >= 48


@pytest.mark.parametrize("last", [1, 2, 3, 20])
def test_clear_step_is_named_singly(last):
    rows = drawn(13, 30, noise=0.01)
    rows[:, REVISIONS - last :] += np.log(1.1)
    at = REVISIONS - last
    named = [[(s.at, s.first, s.last) for s in changes(row).steps] for row in rows]
    assert sum((at, at, at) in steps for steps in named) >= 29


@pytest.mark.parametrize("last", [1, 2, 3, 20])
def test_set_of_named_revisions_holds_the_right_one(last):
    rows = drawn(14, 80)
    rows[:, REVISIONS - last :] += np.log(0.95)
    found = [step for row in rows for step in changes(row).steps[-1:]]
    right = [step.first <= REVISIONS - last <= step.last for step in found]
    assert len(right) > 10
    assert np.mean(right) > 0.9


@pytest.mark.parametrize("step", [0.0, 0.1])
def test_revisions_that_mask_each_other_are_noisy(step):
    rows = drawn(16, 20, noise=0.01)
    rows[:, [8, 15, 21]] += np.log([1.4, 1.5, 0.6])
    rows[:, 30:] += step
    found = [changes(row) for row in rows]
    assert sum([at for at, _ in each.noisy] == [8, 15, 21] for each in found) >= 19
    named = [[each.at for each in of.steps] for of in found]
    assert sum(steps == ([30] if step else []) for steps in named) >= 19


def test_values_without_noise_change_exactly(tmp_path):
    dates = [f"2026-01-{day:02d}" for day in range(1, 21)]
    values = ["10"] * 12 + ["12"] * 8
    table = virtperf.history(history_table(tmp_path, dates, values), lower=["x"])
    assert table.sentences == ("x is 20 % higher since r13 (2026-01-13), in every run: slower.",)
    assert table.rows[0].autocorrelation is None


@pytest.mark.parametrize("place", [0, 2, 20, 38])
def test_single_revision_apart_is_noisy_and_no_change(place):
    rows = drawn(15, 20)
    rows[:, place] += np.log(1.2)
    found = [changes(row) for row in rows]
    assert sum(bool(each.steps) for each in found) <= 1
    assert sum(place in dict(each.noisy) for each in found) >= 19


@pytest.mark.parametrize("revisions", [8, 9, 10, 11])
def test_step_in_a_short_history_is_found(revisions):
    rows = drawn(16, 30, noise=0.015, revisions=revisions)
    rows[:, revisions // 2 :] += np.log(0.87)
    assert sum(any(s.at == revisions // 2 for s in changes(row).steps) for row in rows) >= 27


@pytest.mark.parametrize("gap", [3, 4, 5])
def test_regression_soon_after_an_improvement_is_found(gap):
    rows = drawn(17, 20)
    rows[:, 38 - gap :] += np.log(0.85)
    rows[:, 38:] += np.log(1.15)
    steps = [changes(row).steps for row in rows]
    assert sum(len(of) == 2 and of[1].holds and of[1].shift.low > 0 for of in steps) >= 19


def test_values_without_spread():
    assert changes(np.full(10, 3.7)).steps == ()
    (step,) = changes([1.0] * 9 + [1.1]).steps
    assert (step.at, step.first, step.last) == (9, 9, 9)
    assert [at for at, _ in changes([1.0] * 4 + [1.1] + [1.0] * 5).noisy] == [4]


def test_series_that_grows_smoothly_has_no_levels():
    growth = np.cumsum(np.linspace(0.01, 0.03, 60))
    assert changes(growth).steps == ()


def test_p_values_of_several_benchmarks_share_the_false_alarm_rate():
    assert critical_value("newest", 40, 0.001) > critical_value("newest", 40, 0.02)
    tail = [critical_value("step", 40, alpha) for alpha in (1e-3, 1e-4, 1e-5)]
    assert np.diff(tail) == pytest.approx([np.log(10)] * 2, rel=0.5)


def table(tmp_path, values, replicates=3):
    """A table of benchmarks over revisions."""
    rng = np.random.default_rng(5)
    lines = ["revision,date,replicate," + ",".join(values)]
    for t in range(30):
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
        next(r for r in found.rows if r.name == n) for n in ("late", "early", "quiet")
    )
    assert late.verdict == "slower"
    assert [(c.revision, c.date) for c in late.changes] == [("rev28", "2026-01-29")]
    assert 10 in late.changes[0].change
    assert [(c.revision, c.verdict) for c in early.changes] == [("rev12", "faster")]
    assert early.levels == pytest.approx([40, 50], rel=0.01)
    assert (early.verdict, quiet.verdict, quiet.changes) == ("faster", "no change seen", ())
    assert found.sentences[0].startswith("late is 10.0 % higher since rev28 (2026-01-29)")


def test_command_exit_status_and_output_files(tmp_path):
    path = table(tmp_path, {"late": lambda t: 1.1 if t >= 28 else 1.0})
    call = ["history", str(path), "--lower-is-better", "late", "--fail-on", "slower"]
    result = CliRunner().invoke(main, [*call, "-o", str(tmp_path / "h.html"), "--format", "json"])
    assert result.exit_code == 1, result.output
    (row,) = json.loads(result.output)["rows"]
    assert (row["verdict"], row["tested"]) == ("slower", True)
    assert row["changes"][0]["revisions"] == ["rev28"]
    change = row["changes"][0]["change"]
    assert change["low"] < change["value"] < change["high"] and change["se"] is None
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
    assert (row.verdict, row.changes[0].revision) == ("slower", "c11")
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


def test_values_that_are_not_all_positive_are_compared_by_differences(tmp_path):
    path = table(tmp_path, {"x": lambda t: 5 if t >= 20 else 2})
    text = path.read_text().replace("rev3,2026-01-04,1,", "rev3,2026-01-04,1,-")
    path.write_text(text)
    found = virtperf.history(path, lower=["x"])
    (row,) = found.rows
    (change,) = row.changes
    assert (change.revision, change.verdict) == ("rev20", "slower")
    assert 3 in change.change
    assert found.sentences[0].startswith("x is 2.99")
    assert "%" not in found.sentences[0]
    assert (
        CliRunner().invoke(main, ["history", str(path), "-o", str(tmp_path / "x.html")]).exit_code
        == 0
    )


def rows_of(path, lines):
    path.write_text("\n".join(lines) + "\n")
    return path


def steps_table(tmp_path, columns="revision,seconds", late=1.2, revisions=20):
    """A history with a step at the revision in the middle, in one row a revision."""
    values = LEVEL * np.exp(drawn(18, 1, noise=0.01, revisions=revisions)[0])
    values[revisions // 2 :] *= late
    rows = [f"c{k:02},{value:.3f}" for k, value in enumerate(values)]
    return rows_of(tmp_path / "runs.csv", [columns, *rows])


def test_first_column_of_any_name_is_the_revision(tmp_path):
    found = virtperf.history(steps_table(tmp_path, "build,seconds"))
    assert found.rows[0].changes[0].revision == "c10"
    assert "column 'build' is taken as the revision; --revision names another" in found.notes


def test_rows_without_revision_are_numbered(tmp_path):
    path = rows_of(tmp_path / "runs.csv", ["seconds", *map(str, range(1, 9))])
    found = virtperf.history(path)
    assert [each.revision for each in found.rows[0].measured] == list("12345678")
    assert "no column tells revisions apart: each row is one" in found.notes


def test_text_columns_tell_benchmarks_apart(tmp_path):
    """A text with one value for each revision, such as its author, does not."""
    noise = np.exp(drawn(19, 2, noise=0.01, revisions=20))
    lines = ["commit,author,test,seconds"]
    order = [5, *range(5), *range(6, 20)]
    for k in order:
        for test, level in (("read", 1.0), ("write", 50.0 if k < 12 else 60.0)):
            lines.append(f"c{k:02},a{k % 3},{test},{level * noise[int(test == 'write'), k]:.4f}")
    found = virtperf.history(rows_of(tmp_path / "runs.csv", lines), lower=["*"])
    assert [(r.name, [c.revision for c in r.changes]) for r in found.rows] == [
        ("seconds, test=read", []),
        ("seconds, test=write", ["c12"]),
    ]
    assert [each.revision for each in found.rows[1].measured] == [f"c{k:02}" for k in order]
    assert any("'author' is left out" in note for note in found.notes)


def test_settings_tell_benchmarks_apart_and_numbers_of_runs_are_none(tmp_path):
    noise = np.exp(drawn(23, 4, noise=0.01, revisions=20))
    lines = ["commit,run,load,latency (ms)"]
    for k in range(20):
        for run in (1, 2):
            for load, level in ((1, 5.0), (4, 20.0 if k < 12 else 24.0)):
                row = 2 * int(load == 4) + run - 1
                lines.append(f"c{k:02},{run},{load},{level * noise[row, k]:.4f}")
    found = virtperf.history(rows_of(tmp_path / "runs.csv", lines), lower=["*"])
    assert [(r.name, [c.revision for c in r.changes]) for r in found.rows] == [
        ("latency, load=1", []),
        ("latency, load=4", ["c12"]),
    ]
    assert len(found.rows[0].measured[0].runs) == 2
    assert found.rows[0].measured[0].runs[0] == pytest.approx(5e-3, rel=0.1)  # in seconds
    assert "not compared: run (it numbers the rows)" in found.notes
    assert "rows are matched by load, which looks like a setting" in found.notes


def test_change_stays_until_it_is_accepted(tmp_path):
    path = steps_table(tmp_path)
    call = ["history", str(path), "--lower-is-better", "*", "--fail-on", "slower"]
    red = CliRunner().invoke(main, call)
    assert red.exit_code == 1
    assert "% higher since c10, " in red.output
    unknown = CliRunner().invoke(main, [*call, "--accept", "c03"])
    assert (
        "there is no change up to revision 'c03' to accept; expected one of c10" in unknown.output
    )
    assert CliRunner().invoke(main, [*call, "--accept", "c10"]).exit_code == 0
    assert json.loads((tmp_path / "runs.accepted.json").read_text()) == {"seconds": "c10"}
    green = CliRunner().invoke(main, call)
    assert (green.exit_code, "accepted: 1" in green.output) == (0, True)
    elsewhere = CliRunner().invoke(main, [*call, "--accepted", str(tmp_path / "none.json")])
    assert elsewhere.exit_code == 1
    again = path.read_text() + "".join(f"d{k},{150 + k % 3}\n" for k in range(4))
    path.write_text(again)
    assert CliRunner().invoke(main, call).exit_code == 1


def test_change_that_was_undone_does_not_hold(tmp_path):
    values = LEVEL * np.exp(drawn(20, 1, noise=0.01, revisions=30)[0])
    values[10:20] *= 1.2
    lines = ["revision,seconds", *(f"c{k},{value:.3f}" for k, value in enumerate(values))]
    found = virtperf.history(rows_of(tmp_path / "runs.csv", lines), lower=["*"])
    (row,) = found.rows
    assert [(c.revision, c.verdict) for c in row.changes] == [("c10", "slower"), ("c20", "faster")]
    assert not row.changes[0].holds
    assert "slower" not in found.verdicts


def test_too_few_revisions_are_not_tested(tmp_path):
    path = steps_table(tmp_path, revisions=5)
    found = virtperf.history(path)
    assert (found.rows[0].tested, found.rows[0].verdict) == (False, "not tested")
    assert found.sentences == ("Not tested, too few revisions (fewer than 6): seconds.",)
    result = CliRunner().invoke(main, ["history", str(path), "--fail-on", "not-tested"])
    assert result.exit_code == 1


def test_gate_without_a_known_direction_is_an_error(tmp_path):
    path = steps_table(tmp_path)
    result = CliRunner().invoke(main, ["history", str(path), "--fail-on", "slower"])
    assert result.exit_code == 2
    assert "--lower-is-better" in result.output
    assert CliRunner().invoke(main, ["history", str(path), "--fail-on", "higher"]).exit_code == 1


def test_markdown_escapes_cell_borders(tmp_path):
    found = virtperf.history(steps_table(tmp_path, "revision,a|b"))
    assert "a\\|b" in str(found)


def test_rows_keep_their_order_and_dates_that_disagree_are_said(tmp_path):
    dates = ["2026-01-01", "2026-01-05", "2026-01-03", "2026-01-06"]
    found = virtperf.history(history_table(tmp_path, dates))
    assert [m.revision for m in found.rows[0].measured] == ["r1", "r2", "r3", "r4"]
    assert any("r3 (2026-01-03) comes after r2 (2026-01-05)" in note for note in found.notes)
    found = virtperf.history(history_table(tmp_path, dates), by_date=True)
    assert [m.revision for m in found.rows[0].measured] == ["r1", "r3", "r2", "r4"]
    found = virtperf.history(history_table(tmp_path, sorted(dates, reverse=True)))
    assert [m.revision for m in found.rows[0].measured] == ["r4", "r3", "r2", "r1"]
    assert "the rows are newest first, by their dates: they are read in reverse" in found.notes


def history_table(tmp_path, dates, values=None, name="runs.csv"):
    """One row per date, and a benchmark `x` that increases with the rows."""
    values = values or [f"{1 + k / 1000:g}" for k in range(len(dates))]
    rows = [
        f"r{k},{date},{value}" for k, (date, value) in enumerate(zip(dates, values, strict=True), 1)
    ]
    path = tmp_path / name
    path.write_text("\n".join(["revision,date,x", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    "form",
    ["%s", "%s000", "%Y/%m/%d", "%d.%m.%Y %H:%M", "%a %b %d %H:%M:%S %Y +0000", "%Y-%m-%d"],
)
@pytest.mark.parametrize("column", ["date", "Date", "commit_date"])
def test_dates_in_other_forms_sort_revisions(tmp_path, form, column):
    days = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=20 * k) for k in (2, 0, 1)]
    dates = [day.strftime(form.replace("%s", str(int(day.timestamp())))) for day in days]
    path = history_table(tmp_path, dates, ["3", "1", "2"])
    path.write_text(path.read_text().replace("revision,date", f"revision,{column}"))
    (row,) = virtperf.history(path, by_date=True).rows
    assert [each.runs for each in row.measured] == [(1.0,), (2.0,), (3.0,)]
    assert row.measured[0].date.startswith("2026-01-01")


def test_lines_of_json_are_a_table_of_revisions(tmp_path):
    path = tmp_path / "runs.jsonl"
    rows = [{"message": f"m{k}", "sha": f"c{k}", "results": {"ms": 5 + k % 2}} for k in range(8)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (row,) = virtperf.history(path).rows
    assert (row.name, row.measured[7].revision) == ("results/ms", "c7")


def test_dates_are_sorted_by_time_not_as_text(tmp_path):
    """Time zones are converted; a date without a time is midnight."""
    dates = [
        "2026-01-31T12:00:00+09:00",
        "2026-01-31T04:00:00Z",
        "2026-01-31",
        "2026-01-31 03:30:00",
        "20260130",
    ]
    (row,) = virtperf.history(history_table(tmp_path, dates), by_date=True).rows
    assert [m.revision for m in row.measured] == ["r5", "r3", "r1", "r4", "r2"]


@pytest.mark.parametrize("date", ["1/3/2026", "3.1.2026", "2026-02-30", "2026-1-3", "yesterday"])
def test_invalid_date_is_rejected_with_line_number(tmp_path, date):
    path = history_table(tmp_path, ["2026-01-01", date, "2026-01-03"])
    with pytest.raises(
        RawperfError, match="invalid date in column 'date'; expected 2026"
    ) as caught:
        virtperf.history(path)
    assert (caught.value.file, caught.value.line) == (str(path), 3)
    assert date in str(caught.value.found)


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


@pytest.mark.parametrize(
    ("name", "named", "noisy", "noted"),
    [
        ("newest", [["c039"]], [], False),
        ("one-outlier", [], ["c020"], False),
        ("dates-not-in-order", [["c020"]], [], True),
        ("sustained", [["r14"]], [], False),
    ],
)
def test_example_histories(root, name, named, noisy, noted):
    found = virtperf.history(root / "tests" / "cases" / f"history-{name}.csv", lower=["*"])
    row = found.rows[0]
    assert [list(each.revisions) for each in row.open_changes] == named
    assert [each.revision for each in row.noisy] == noisy
    assert any("dates disagree" in note for note in found.notes) == noted
