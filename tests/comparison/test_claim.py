"""A paper's claim tested on runs of one's own."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from rawperf.core.errors import ParameterError
from virtperf.cli import main
from virtperf.comparison.claim import find_claim, listed, verdict_on
from virtperf.core.paths import Layout
from virtperf.verdicts.regions import Decision

CLAIM = "zvm-xen-2009/xen-software-costs-27-percent"


@pytest.fixture
def layout(root: Path) -> Layout:
    return Layout(root)


def written(folder: Path, values: list[float], name: str = "throughput") -> Path:
    """One CSV file a run, as a script of one's own would write it."""
    folder.mkdir()
    for n, value in enumerate(values):
        (folder / f"run{n}.csv").write_text(f"{name}\n{value}\n")
    return folder


def invoke(root: Path, *arguments: str):
    return CliRunner().invoke(main, ["--root", str(root), "claim", *arguments])


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0.73, "holds here"), (0.5, "does not hold here")],
)
def test_verdict_and_interval_are_those_of_the_log_ratio(
    layout: Layout, tmp_path: Path, share: float, verdict: str
) -> None:
    plain = [100.0, 100.4, 99.7, 100.1]
    secure = [share * v for v in (99.9, 100.1, 100.2, 99.8)]
    found = find_claim(layout, CLAIM)
    result = verdict_on(
        found, [written(tmp_path / "a", secure), written(tmp_path / "b", plain)], layout
    )
    assert result.verdict == verdict
    logs = [np.asarray(x) for x in (secure, plain)]
    ratio = logs[0].mean() / logs[1].mean()
    assert result.row["estimate"] == pytest.approx(100 * ratio - 100, abs=1e-9)
    se = math.sqrt(sum((x.std(ddof=1) / x.mean()) ** 2 / len(x) for x in logs))
    widest = 100 * ratio * (math.exp(stats.t(3).ppf(0.975) * se) - 1)
    assert 0 < result.row["estimate_high"] - result.row["estimate"] <= widest * 1.001


def test_few_noisy_runs_are_undecided_and_say_how_many_would_decide(
    layout: Layout, tmp_path: Path
) -> None:
    places = [
        written(tmp_path / "a", [60.0, 85.0, 75.0]),
        written(tmp_path / "b", [90.0, 110.0, 100.0]),
    ]
    result = verdict_on(find_claim(layout, CLAIM), places, layout)
    assert result.decision is Decision.UNDECIDED
    assert "would decide" in result.row["reason"]


def test_units_of_a_level_are_converted(layout: Layout, tmp_path: Path) -> None:
    claim = "firecracker-nsdi-2020/less-than-125-ms"
    found = find_claim(layout, claim)
    folder = tmp_path / "boots"
    folder.mkdir()
    for n, value in enumerate([0.1, 0.101, 0.099, 0.1005]):
        (folder / f"run{n}.csv").write_text(f"boot_time_s\n{value}\n")
    result = verdict_on(found, [folder], layout)
    assert result.row["estimate"] == pytest.approx(100.125)
    assert result.verdict == "holds here"


def test_missing_condition_is_named(layout: Layout, tmp_path: Path) -> None:
    with pytest.raises(
        ParameterError, match="compares 2 conditions, and 1 places are given"
    ) as err:
        verdict_on(find_claim(layout, CLAIM), [written(tmp_path / "a", [1.0, 2.0])], layout)
    assert "no encryption" in str(err.value) or "encryption" in str(err.value)


def test_claim_of_several_conditions_needs_levels(layout: Layout) -> None:
    found = find_claim(layout, "zvm-xen-2009/no-loss-down-to-7-gb")
    with pytest.raises(ParameterError, match="has 5 sets of conditions"):
        found.at({})
    (instance,) = found.at({"central_storage": 7168}).claim.instances
    assert dict(instance.parts[0].terms[0][1].at)["central_storage"] == 7168


def test_search_finds_all_words(layout: Layout) -> None:
    names = [claim["claim"] for claim in listed(layout, ("encryption", "27 %")).data["claims"]]
    assert CLAIM in names
    assert all("zvm" in name for name in names)


def test_commands_print_and_fail_on_request(root: Path, tmp_path: Path) -> None:
    a = written(tmp_path / "a", [50.0, 50.5, 49.8])
    b = written(tmp_path / "b", [100.0, 100.4, 99.7])
    shown = invoke(root, "show", CLAIM)
    assert shown.exit_code == 0 and "Xen loses 27 %" in shown.output
    result = invoke(root, "test", CLAIM, str(a), str(b), "--format", "json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.output)
    assert data["verdict"] == "does not hold here" and data["estimate"] == pytest.approx(
        -49.93, abs=0.2
    )
    failing = invoke(root, "test", CLAIM, str(a), str(b), "--fail-on", "fails")
    assert failing.exit_code == 1 and "does not hold here" in failing.output
    page = tmp_path / "claim.html"
    invoke(root, "test", CLAIM, str(a), str(b), "-o", str(page))
    assert "does not hold here" in page.read_text()


def test_unknown_claim_is_an_error_with_similar_names(root: Path) -> None:
    result = invoke(root, "show", "zvm-xen-2009/xen-software-costs-27-percnt")
    assert result.exit_code == 2 and "xen-software-costs-27-percent" in result.output
