"""A study replayed from what people wrote, in a clean place, by the stages of some version of the package."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import virtperf
from virtperf.core.errors import VirtperfError
from virtperf.core.paths import Layout
from virtperf.core.yamlio import load_yaml

Progress = Callable[[str], None]

STAGES = (
    ("reconstruct",), ("ingest", "--keep-going"), ("summarize",), ("judge",), ("notebook",), ("report",),
)  # fmt: skip
"""The commands of a repository without `dvc.yaml`, each followed by the study."""

LAST = "report"
"""The last stage whose output is compared."""

# Nothing of the machine decides a number: no hash seed, no thread count, no display.
FIXED = {
    "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg", "NO_COLOR": "1",
}  # fmt: skip

# Runs in the replaying process; the stages of one study share it, since importing takes longer than most of them.
_PROGRAM = """
import json, sys
import click
from virtperf.cli import main
root, commands = sys.argv[1], json.loads(sys.argv[2])
for command in commands:
    print(command[0], flush=True)
    try:
        main(["--root", root, *command], prog_name="virtperf", standalone_mode=False)
    except click.ClickException as err:
        print(err.format_message(), file=sys.stderr)
        sys.exit(1)
"""


def own_source() -> Path:
    """The folder that holds the package which runs this."""
    return Path(virtperf.__file__).resolve().parent.parent


def copy_inputs(origin: Layout, place: Layout, studies: Sequence[str]) -> None:
    """Copy what people wrote, and nothing that a stage or a cache has written.

    Raises
    ------
    VirtperfError
        A study does not exist.
    """
    for study in studies:
        origin.known(study)
    # Links are copied as links: the stages refuse them within runs, and nothing outside is read on the way.
    shutil.copytree(origin.root / "data" / "published", place.root / "data" / "published", symlinks=True)
    for study in studies:
        if origin.measured(study).is_dir():
            shutil.copytree(origin.measured(study), place.measured(study), symlinks=True)
        if origin.notebook(study).is_file():
            place.notebook(study).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(origin.notebook(study), place.notebook(study))
    for path in (origin.metrics, origin.parameters, origin.root / "dvc.yaml"):
        if path.is_file():
            shutil.copy(path, place.root / path.relative_to(origin.root))


@dataclass(frozen=True)
class Task:
    """One study to be replayed.

    Attributes
    ----------
    place : Layout
        Holds the inputs, as `copy_inputs` leaves it.
    study : str
    source : Path
        The folder with the package `virtperf` that is to run.
    label : str
        What messages say before the study's name.
    """

    place: Layout
    study: str
    source: Path
    label: str = ""


def replay(tasks: Sequence[Task], progress: Progress = lambda _: None, *, jobs: int = 1) -> None:
    """Run all stages of some studies, `jobs` of them at the same time.

    Raises
    ------
    VirtperfError
        A stage failed; it names study, stage and the stage's own error.
    """
    with ThreadPoolExecutor(max(1, min(jobs, len(tasks)))) as pool:
        running = [pool.submit(run_stages, task, progress) for task in tasks]
        try:
            for done in running:
                done.result()
        finally:
            for waiting in running:
                waiting.cancel()


def stage_commands(root: Path) -> list[tuple[str, ...]]:
    """The commands of a repository's stages in their order: name and options, without the study.

    They come from `dvc.yaml`, so that an older revision runs the stages that it had; those behind the report make
    nothing that is compared.
    """
    path = root / "dvc.yaml"
    if not path.is_file():
        return list(STAGES)
    found: list[tuple[str, ...]] = []
    for stage in load_yaml(path).data.get("stages", {}).values():
        command = shlex.split(str(stage.get("do", stage).get("cmd", "")))
        if command[:1] == ["virtperf"] and "${item}" in command:
            found.append(tuple(part for part in command[1:] if part != "${item}"))
    names = [command for command, *_ in found]
    return (found[: names.index(LAST) + 1] if LAST in names else found) or list(STAGES)


def run_stages(task: Task, progress: Progress) -> None:
    """Run the stages of one study in a process of its own; raises as `replay` does."""
    place, study = task.place, task.study
    commands = [[command, study, *options] for command, *options in stage_commands(place.root)]
    path = os.pathsep.join(filter(None, [str(task.source), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, **FIXED, "PYTHONPATH": path}
    stage = "start"
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(  # noqa: S603 - this interpreter, our own program
            [sys.executable, "-P", "-c", _PROGRAM, str(place.root), json.dumps(commands)],
            stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=place.root,
        )  # fmt: skip
        names = {command[0] for command in commands}
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.strip() in names:
                    stage = line.strip()
                    progress(f"{task.label}{study}: {stage}")
        if process.returncode:
            errors.seek(0)
            said = [line for line in errors.read().splitlines() if line.strip()]
            reason = said[-1] if said else f"status {process.returncode}"
            raise VirtperfError(
                f"the replay of {task.label}{study} failed", expected="every stage to end well",
                found=f"the stage {stage} ended with: {reason.rstrip('.')}",
                remedy=f"`virtperf {stage} {study}` shows the same in a copy of those inputs.",
            )  # fmt: skip
