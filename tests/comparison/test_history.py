"""`virtperf history`: changes with their revision, false alarms with autocorrelated noise, what is a history."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import virtperf
from rawperf.core.errors import VirtperfError
from tests.comparison.test_compare import A, B, raw_files
from virtperf.cli import main
from virtperf.comparison.changes import ALPHA_NEWEST, _histories, changes

NOISE = 0.02


def alarms(rows):
    found = [changes(row) for row in rows]
    return np.array([bool(f.steps) or (f.p is not None and f.p <= ALPHA_NEWEST) for f in found])


@pytest.mark.slow
def test_few_histories_without_a_change_show_one_although_noise_is_correlated():
    """Of 200 histories at most 18, with a probability of 99 % if 5 % are alarms."""
    rows = np.exp(NOISE * _histories(40, 0.3, 200, np.random.default_rng(11)))
    assert alarms(rows).sum() <= 18


@pytest.mark.slow
def test_a_fall_of_three_revisions_is_found():
    """validation/histories.py measures it with more of them."""
    rows = np.exp(NOISE * _histories(40, 0.0, 60, np.random.default_rng(12)))
    rows[:, 37:] *= 0.95
    assert alarms(rows).mean() >= 0.8


def table(tmp_path, values, replicates=3):
    """A table with benchmarks over revisions, newest rows first, so that dates must order them."""
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


def test_changes_have_their_revision_ratio_and_verdict(tmp_path):
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


def test_the_command_fails_where_it_should_and_writes_what_is_asked_for(tmp_path):
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
    found = virtperf.history(tmp_path, quantities=["page_element_throughput_total"])
    (row,) = found.rows
    assert (row.verdict, row.newest.revision) == ("slower", "c11")
    assert [len(m.runs) for m in row.measured] == [3] * 12


def test_values_that_have_no_ratio_are_refused(tmp_path):
    with pytest.raises(VirtperfError, match="x is not positive at revision rev3"):
        virtperf.history(table(tmp_path, {"x": lambda t: 0 if t == 3 else 1}))
