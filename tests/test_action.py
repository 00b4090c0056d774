"""The steps of action.yml, run as a runner runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

INPUT = re.compile(r"\$\{\{ inputs\.(\w+) \}\}")


class Done(NamedTuple):
    status: int
    summary: str
    outputs: dict[str, str]
    errors: str


@pytest.fixture
def action(root: Path, tmp_path: Path) -> Callable[..., Done]:
    """Run the action's steps in a folder with results of two sides; stops at a step that fails."""
    if not (root / ".venv" / ".installed").is_file():
        pytest.skip("the repository has no environment of its own")
    declared = yaml.safe_load((root / "action.yml").read_text())
    job, temp = tmp_path / "job", tmp_path / "temp"
    for folder in (job, temp):
        folder.mkdir()
    for side, values in {
        "base": (10.0, 10.1, 9.9, 10.05),
        "new": (12.0, 12.1, 11.9, 12.05),
    }.items():
        (job / side).mkdir()
        for run, value in enumerate(values):
            (job / side / f"{run}.csv").write_text(f"seconds\n{value}\n")

    def run(arguments: str) -> Done:
        files = {name: temp / name for name in ("output", "summary")}
        given = {name: each.get("default", "") for name, each in declared["inputs"].items()}
        given["arguments"] = arguments
        status, errors = 0, ""
        for number, step in enumerate(declared["runs"]["steps"]):
            assert step["shell"] == "bash" and "${{" not in step["run"]
            script = temp / f"{number}.sh"
            script.write_text(step["run"])
            variables = {
                name: INPUT.sub(lambda m: given[m[1]], value)
                for name, value in step.get("env", {}).items()
            }
            context = {
                "GITHUB_ACTION_PATH": str(root),
                "GITHUB_ACTION": "gate",
                "GITHUB_OUTPUT": str(files["output"]),
                "GITHUB_STEP_SUMMARY": str(files["summary"]),
                "RUNNER_TEMP": str(temp),
            }
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
                cwd=job,
                env={**os.environ, **context, **variables},
                capture_output=True,
                text=True,
                check=False,
            )
            status, errors = done.returncode, errors + done.stderr
            if status:
                break
        lines = files["output"].read_text().splitlines()
        outputs = dict(line.split("=", 1) for line in lines)
        return Done(status, files["summary"].read_text(), outputs, errors)

    return run


def test_slower_fails_and_the_summary_says_why(action: Callable[..., Done]) -> None:
    done = action("compare base new --lower-is-better seconds --fail-on slower")
    assert done.status == 1, done.errors
    assert "+20.0 %" in done.summary and "slower" in done.summary
    assert json.loads(Path(done.outputs["json"]).read_text())
    assert "<html" in Path(done.outputs["page"]).read_text()


def test_faster_passes(action: Callable[..., Done]) -> None:
    done = action("compare new base --lower-is-better seconds --fail-on slower")
    assert done.status == 0, done.errors


def test_an_error_is_in_the_summary(action: Callable[..., Done]) -> None:
    done = action("compare base absent --fail-on slower")
    assert done.status != 0
    assert "absent" in done.summary and "absent" in done.errors and "seconds" not in done.summary


def test_arguments_are_words_not_commands(action: Callable[..., Done], tmp_path: Path) -> None:
    done = action(f"compare base '$(touch {tmp_path}/made)' ; touch {tmp_path}/made")
    assert done.status != 0 and "$(touch" in done.errors
    assert not (tmp_path / "made").exists()


def test_the_documented_example_calls_the_action_as_it_is(
    root: Path, action: Callable[..., Done]
) -> None:
    text = (root / "docs" / "compare.md").read_text()
    block = next(b for b in re.findall(r"```yaml\n(.*?)```", text, re.S) if "runs-on" in b)
    (step,) = (s for s in yaml.safe_load(block)["jobs"]["benchmark"]["steps"] if "with" in s)
    declared = yaml.safe_load((root / "action.yml").read_text())
    assert step["with"].keys() <= declared["inputs"].keys()
    done = action(step["with"]["arguments"].replace("results/", ""))
    assert done.status == 1, done.errors
