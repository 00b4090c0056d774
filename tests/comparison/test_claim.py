"""A paper's claim tested on runs of one's own."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import virtperf as vp
from rawperf.core.errors import ParameterError
from virtperf.cli import main
from virtperf.comparison.claim import claim, find_claim, listed
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
    result = claim(
        found, written(tmp_path / "a", secure), written(tmp_path / "b", plain), root=layout.root
    )
    assert result.verdict == verdict
    logs = [np.asarray(x) for x in (secure, plain)]
    ratio = logs[0].mean() / logs[1].mean()
    assert result.numbers["estimate"] == pytest.approx(100 * ratio - 100, abs=1e-9)
    se = math.sqrt(sum((x.std(ddof=1) / x.mean()) ** 2 / len(x) for x in logs))
    widest = 100 * ratio * (math.exp(stats.t(3).ppf(0.975) * se) - 1)
    assert 0 < result.numbers["estimate_high"] - result.numbers["estimate"] <= widest * 1.001


def test_few_noisy_runs_are_undecided_and_say_how_many_would_decide(
    layout: Layout, tmp_path: Path
) -> None:
    places = [
        written(tmp_path / "a", [60.0, 85.0, 75.0]),
        written(tmp_path / "b", [90.0, 110.0, 100.0]),
    ]
    result = claim(CLAIM, *places, root=layout.root)
    assert result.decision is Decision.UNDECIDED
    assert "would decide" in result.note


def test_units_of_a_level_are_converted(layout: Layout, tmp_path: Path) -> None:
    found = find_claim(layout, "firecracker-nsdi-2020/less-than-125-ms")
    folder = tmp_path / "boots"
    folder.mkdir()
    for n, value in enumerate([0.1, 0.101, 0.099, 0.1005]):
        (folder / f"run{n}.csv").write_text(f"boot_time_s\n{value}\n")
    result = claim(found, folder, root=layout.root)
    assert result.numbers["estimate"] == pytest.approx(100.125)
    assert result.verdict == "holds here"


RUNS = "data/measured/firecracker-nsdi-2020"


def test_boots_in_the_papers_form_are_judged_by_its_percentile(
    layout: Layout, root: Path, tmp_path: Path
) -> None:
    draw = np.random.default_rng(1)
    logged = draw.normal(110, 4, 400).round().astype(int)
    file = tmp_path / "boot-of-mine-fc.dat"
    file.write_text("".join(f"{1000 * ms + 300} {ms}\n" for ms in logged))
    result = claim("firecracker-nsdi-2020/less-than-125-ms", file, root=layout.root)
    assert result.verdict == "holds here"
    assert result.numbers["estimate"] == np.quantile(logged, 0.99, method="inverted_cdf")
    assert (
        result.numbers["estimate_low"]
        <= result.numbers["estimate"]
        <= result.numbers["estimate_high"]
    )
    slow = find_claim(layout, "firecracker-nsdi-2020/less-than-125-ms")
    file.write_text("".join(f"{1000 * ms + 9300} {ms + 60}\n" for ms in logged))
    assert claim(slow, file, root=layout.root).verdict == "does not hold here"


def test_packed_runs_of_the_authors_second_machine(layout: Layout, root: Path) -> None:
    found = find_claim(layout, "firecracker-nsdi-2020/fc-twice")
    names = ("qemu", "fc-api")
    places = [f"{root}/{RUNS}/rn.haswell-boot-serial-{n}/boot-serial-{n}.dat" for n in names]
    with zipfile.ZipFile(root / RUNS / "runs" / "all.zip") as packed:
        qemu, fc = (
            np.loadtxt(packed.open(f"rn.haswell-boot-serial-{n}/boot-serial-{n}.dat"))
            for n in names
        )
    result = claim(found, *places, root=layout.root)
    medians = [np.quantile(x, 0.5, method="inverted_cdf") for x in (qemu, fc[:, 1])]
    ratio = medians[0] / 1000 / medians[1]
    assert result.numbers["estimate"] == pytest.approx(ratio, rel=1e-9)
    assert result.verdict == "holds here"
    with pytest.raises(ParameterError, match="has no Boot time, pre-configured"):
        claim(found, *places[::-1], root=layout.root)


def test_missing_condition_is_named(layout: Layout, tmp_path: Path) -> None:
    with pytest.raises(
        ParameterError, match="compares 2 conditions, and 1 places are given"
    ) as err:
        claim(CLAIM, written(tmp_path / "a", [1.0, 2.0]), root=layout.root)
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


def test_a_kept_test_is_repeated_from_anywhere(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path / "a", [50.0, 50.5, 49.8], "requests")
    written(tmp_path / "b", [100.0, 100.4, 99.7], "requests")
    kept = tmp_path / "test.yaml"
    monkeypatch.chdir(tmp_path)
    first = invoke(root, "test", CLAIM, "a", "b", "--quantity", "requests", "--keep", str(kept))
    assert first.exit_code == 0, first.output
    monkeypatch.chdir(root)
    again = invoke(root, "test", str(kept))
    assert again.output.splitlines()[:2] == first.output.splitlines()[:2]
    assert invoke(root, "test", str(kept), "a").exit_code == 2
    kept.write_text(kept.read_text().replace("quantity", "quantiti"))
    wrong = invoke(root, "test", str(kept))
    assert wrong.exit_code == 2 and "unknown key 'quantiti'" in wrong.output


def test_in_python_it_is_shown_as_markdown(root: Path, tmp_path: Path) -> None:
    a = written(tmp_path / "a", [50.0, 50.5, 49.8])
    b = written(tmp_path / "b", [100.0, 100.4, 99.7])
    result = vp.claim(CLAIM, a, b, root=root)
    assert result.verdict == "does not hold here"
    assert "does not hold here" in result._repr_markdown_() and " at 0x" not in repr(result)


def test_unknown_claim_is_an_error_with_similar_names(root: Path) -> None:
    result = invoke(root, "show", "zvm-xen-2009/xen-software-costs-27-percnt")
    assert result.exit_code == 2 and "xen-software-costs-27-percent" in result.output
