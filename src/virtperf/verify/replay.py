"""Studies replayed from what people wrote, in a clean place, by the stages of some version of the
package.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import virtperf
from rawperf.core.errors import VirtperfError
from virtperf.pipeline.run import FIXED
from virtperf.pipeline.stages import Stage, load_stages

Progress = Callable[[str], None]
# Runs in the replaying process; the stages of one study share it, since importing takes longer than
# most of them.
_PROGRAM = """
import json, sys
import click
from virtperf.cli import main
root, commands = sys.argv[1], json.loads(sys.argv[2])
for command in commands:
    print(" ".join(command), flush=True)
    try:
        main(["--root", root, *command], prog_name="virtperf", standalone_mode=False)
    except click.ClickException as err:
        print(err.format_message(), file=sys.stderr)
        sys.exit(1)
"""


def own_source() -> Path:
    """The folder that holds the package which runs this."""
    return Path(virtperf.__file__).resolve().parent.parent


@dataclass(frozen=True)
class Place:
    """A folder with inputs or results, and its name in words, such as ``revision v1.0``.

    `source` is the folder with the package that replays it; None for results that are taken as they
        stand.
    """

    name: str
    root: Path
    source: Path | None = None
    commit: str = ""

    def stages(self, studies: Sequence[str]) -> list[Stage]:
        """The stages of these studies; where these are all, those that all studies share, too."""
        shared = ("",) if set(studies_of(self.root)) <= set(studies) else ()
        return [stage for stage in load_stages(self.root) if stage.study in (*studies, *shared)]


def studies_of(root: Path) -> list[str]:
    """Studies that have stages in a folder."""
    return sorted(path.parent.name for path in root.glob("pipelines/*/dvc.yaml"))


def copy_inputs(origin: Path, place: Path, studies: Sequence[str]) -> None:
    """Copy what the stages read and no stage writes: what people wrote. The package itself stays
    where it is.

    The stages that all studies share go along only where these studies are all.
    """
    stages = Place("", origin).stages(studies)
    shared = [origin / "dvc.yaml"] if any(not stage.study for stage in stages) else []
    pipelines = [origin / "pipelines" / study / "dvc.yaml" for study in studies]
    for file in (origin / "params.yaml", *shared, *pipelines):
        if file.is_file():
            _copy(file, place / file.relative_to(origin))
    outs = [Path(out) for stage in stages for out in stage.outs]
    for dep in sorted(
        {Path(dep) for stage in stages for dep in stage.deps if not dep.startswith("src/")}
    ):
        made = any(dep.is_relative_to(out) or out.is_relative_to(dep) for out in outs)
        # Links are copied as links: the stages refuse them within runs, and nothing outside is read
        # on the way.
        if not made and (origin / dep).is_dir():
            shutil.copytree(origin / dep, place / dep, symlinks=True, dirs_exist_ok=True)
        elif not made and (origin / dep).is_file() and not (place / dep).exists():
            _copy(origin / dep, place / dep)


def _copy(file: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(file, target)


def replay(
    places: Sequence[Place], studies: Sequence[str], progress: Progress, *, jobs: int = 1
) -> None:
    """Run the stages of some studies in every place that has a package, then those that all share
    if these are all.

    `jobs` studies run at the same time.

    Raises
    ------
    VirtperfError
        A stage failed; it names study, stage and the stage's own error.
    """
    live = [place for place in places if place.source is not None]
    tasks = [
        (place, study) for place in live for study in studies if study in studies_of(place.root)
    ]
    with ThreadPoolExecutor(max(1, min(jobs, len(tasks)))) as pool:
        list(
            pool.map(lambda task: run_stages(task[0], task[1], progress), tasks)
        )  # the first error cancels what waits
    for place in live:
        if any(not stage.study for stage in place.stages(studies)):
            run_stages(place, "", progress)


def run_stages(place: Place, study: str, progress: Progress) -> None:
    """Run the stages of one study, or ("") the shared ones, in a process of its own; raises as
    `replay` does.
    """
    commands = [
        list(c[1:]) for s in load_stages(place.root) if s.study == study for c in s.commands
    ]
    path = os.pathsep.join(filter(None, [str(place.source), os.environ.get("PYTHONPATH")]))
    label, stage, said = f"{place.name}, {study or 'all studies'}", "the start", ""
    names = {" ".join(command) for command in commands}
    process = subprocess.Popen(  # noqa: S603 - this interpreter, our own program
        [
            sys.executable,
            "-P",
            "-u",
            "-c",
            _PROGRAM,
            str(place.root.resolve()),
            json.dumps(commands),
        ],
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=place.root,
        env={**os.environ, **FIXED, "PYTHONPATH": path, "NO_COLOR": "1"},
    )
    with process:
        for line in map(str.strip, process.stdout or ()):
            if line in names:
                stage, said = f"virtperf {line}", ""
                progress(f"{label}: {stage}")
            else:
                said = line or said
    if process.returncode:
        reason = " ".join(
            filter(None, (said, f"(status {process.returncode})" if process.returncode < 0 else ""))
        )
        reason = reason or f"status {process.returncode}"
        raise VirtperfError(
            f"the replay of {label} failed",
            expected="every stage to end well",
            found=f"{stage} ended with: {reason.rstrip('.')}",
            remedy="run the same in a copy of those inputs.",
        )
