"""A plan for a claim is a valid study whose hypothesis has the claim's limits."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from rawperf.core.errors import ParameterError
from virtperf.cli import main
from virtperf.comparison.claim import all_claims
from virtperf.comparison.claim_plan import plan
from virtperf.core.paths import Layout
from virtperf.study.definition import load_study
from virtperf.study.hypotheses import load_hypotheses

CLAIM = "zvm-xen-2009/xen-software-costs-27-percent"


@pytest.fixture
def repository(root: Path, tmp_path: Path) -> Path:
    for name in ("data/published", "data/readings.yaml", "params.yaml", "dvc.yaml"):
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(root / name, tmp_path / name)
    shutil.copytree(
        root / "data" / "measured" / "xen-2026",
        tmp_path / "data" / "measured" / "xen-2026",
        ignore=shutil.ignore_patterns("runs"),
    )
    others = {"  - kernels-2026\n", "  - linux-2026\n"}
    lines = (tmp_path / "params.yaml").read_text().splitlines(keepends=True)
    kept = [line for line in lines if not any(line.endswith(other.strip(" ")) for other in others)]
    (tmp_path / "params.yaml").write_text("".join(kept))
    return tmp_path


def run(repository: Path, *arguments: str) -> str:
    result = CliRunner().invoke(main, ["--root", str(repository), *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_plan_passes_check_and_its_hypothesis_has_the_claims_limits(repository: Path) -> None:
    run(repository, "claim", "plan", CLAIM, "mine")
    out = CliRunner().invoke(main, ["--root", str(repository), "check", "mine"]).output
    assert out.startswith("no problems in 1 study"), out
    study = load_study(repository / "data" / "measured" / "mine")
    (hypothesis,) = load_hypotheses(study)
    assert (hypothesis.low, hypothesis.high) == (-27.5, -26.5)
    assert [len(part.terms) for part in hypothesis.instances[0].parts] == [1, 1]
    labels = study.factors["condition"].level_labels
    assert "software encryption" in labels[1] and "software encryption" not in labels[2]


def test_work_says_what_is_missing_and_prints_what_the_study_reads(repository: Path) -> None:
    run(repository, "claim", "plan", CLAIM, "mine")
    work = repository / "data" / "measured" / "mine" / "work.py"
    command = [sys.executable, str(work), "1", "0.2"]
    missing = subprocess.run(command, capture_output=True, text=True, check=False)
    assert missing.returncode == 1 and "software encryption" in missing.stderr
    text = work.read_text()
    begin = text.index("    sys.exit(")
    filled = (
        text[:begin]
        + "    time.sleep(0.1)\n    return 7.0 / condition\n"
        + text[text.index("\n\nif __name__") :]
    )
    work.write_text(filled)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    head, first, *_ = done.stdout.splitlines()
    declared = yaml.safe_load((work.parent / "study.yaml").read_text())["inputs"][0]
    assert head.split(",") == [declared["time"]["field"], declared["fields"][0]["field"]]
    assert first.endswith(",7.0")


def test_claim_for_several_levels_needs_one(repository: Path) -> None:
    several = next(c for c in all_claims(Layout(repository)) if len(c.claim.instances) > 1)
    result = CliRunner().invoke(
        main, ["--root", str(repository), "claim", "plan", several.name, "mine"]
    )
    assert result.exit_code == 2 and "--at guest=load" in result.output
    assert not (repository / "data" / "measured" / "mine").exists()


def test_claims_of_each_kind_are_planned_or_refused(repository: Path) -> None:
    layout = Layout(repository)
    planned, refused = set(), set()
    for found in all_claims(layout):
        if found.claim.kind in planned or len(found.claim.instances) > 1:
            continue
        name = f"a-{found.claim.kind.replace('_', '-')}"
        try:
            plan(layout, found, name)
        except ParameterError:
            refused.add(found.claim.kind)
            continue
        planned.add(found.claim.kind)
        (hypothesis,) = load_hypotheses(load_study(repository / "data" / "measured" / name))
        assert hypothesis.kind == found.claim.kind
        assert (hypothesis.low, hypothesis.high) == (found.claim.low, found.claim.high)
    assert {"ratio", "percent_change", "value", "ordering"} <= planned, (planned, refused)
    assert "monotone" in refused - planned
