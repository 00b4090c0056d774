"""The pipeline: every study's stages side by side, then what all studies share."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rawperf.core.errors import VirtperfError
from virtperf.core.paths import Layout
from virtperf.core.turn import turn
from virtperf.core.warm import ask, warm
from virtperf.pipeline.lockfiles import mend, settle
from virtperf.pipeline.stages import in_order, load_stages
from virtperf.pipeline.state import keep, kept, state

Say = Callable[[str], None]

LOCK = Path(".dvc", "tmp", "virtperf.lock")
FORKS = "virtperf.cli._warm"
ALONE = "--single-item"
"""Stages of one file as they are listed: DVC need not look for others in all folders, a second for
each study.
"""
# The same bytes on every machine: no hash seed, no thread count decides, nor which kernels suit the
# processor best (numpy has others for exp, log, cos and powers where there is AVX-512; their last
# bits differ).
FIXED = {
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "DVC_NO_ANALYTICS": "1",
    # Large arrays come and go: memory that the C library gives back each time costs a tenth of the
    # time.
    "MALLOC_MMAP_THRESHOLD_": str(256 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 30),
}


def run(
    layout: Layout, studies: Sequence[str], say: Say, *, jobs: int, force: bool = False
) -> None:
    """Run what is out of date by DVC; with `force` everything.

    Parameters
    ----------
    studies : sequence of str
        Only these, and nothing that all studies share; none: everything.
    say : callable
        Takes what DVC and the stages say on standard error, and what was repaired, a line at a
        time.
    jobs : int
        Studies that run at the same time.

    Raises
    ------
    VirtperfError
        A stage failed; what it and DVC said of it has been said.
    """

    def words() -> str:
        return f", which has run the pipeline since {time.strftime('%H:%M:%S')}"

    with turn(layout.root / LOCK, words, lambda who: say(f"waiting for {who}")) as lock:
        mend(layout.root, say)
        # DVC starts `virtperf` by its name: the one of this environment.
        path = os.pathsep.join(
            [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
        )
        environment = {**os.environ, **FIXED, "PATH": path}
        before, last = state(layout.root), kept(layout.root)
        if not force and not studies and last is not None:
            if last == before:
                return
            if _up_to_date(layout.root, environment):
                keep(layout.root, before)
                return
        how = ("--force",) if force else ()
        try:
            with warm(FORKS, layout.root, environment, lock) as address:
                _lanes(layout, studies or layout.studies(), say, address, jobs, how)
                settle(layout.root)  # what all studies share depends on the studies' lock files
                # those that they depend on have just been run
                if not studies and not _dvc(
                    layout.root, [*how, ALONE, "dvc.yaml"], "", say, address
                ):
                    raise _failed(["the pages over all studies"])
        finally:
            settle(layout.root)
        if not studies:
            keep(layout.root, before)


def _up_to_date(root: Path, environment: Mapping[str, str]) -> bool:
    """Whether DVC, asked once for all stages, finds nothing to run: study by study that takes five
    times as long.
    """
    command = [sys.executable, "-m", "dvc", "status", "--quiet"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False)  # noqa: S603
    return done.returncode == 0


def _lanes(
    layout: Layout, studies: Sequence[str], say: Say, address: str, jobs: int, how: Sequence[str]
) -> None:
    """Run the studies' stages, each study in a process of its own; one that fails does not stop the
    others.
    """

    def lane(study: str) -> bool:
        file = str(layout.pipeline(study).relative_to(layout.root))
        alone = (ALONE,) if in_order(stages, study) else ()
        return _dvc(layout.root, [*how, *alone, file], study, say, address)

    for study in studies:
        file = layout.pipeline(layout.known(study).name)
        if not file.is_file():
            raise VirtperfError(
                "the study's stages are missing",
                file=file,
                remedy="`virtperf check` says what to do.",
            )
    stages = load_stages(layout.root)
    longest_first = sorted(
        studies, key=lambda study: -_bytes(layout, study)
    )  # the last one runs alone
    with ThreadPoolExecutor(max(1, min(jobs, len(studies)))) as pool:
        ended = dict(zip(longest_first, pool.map(lane, longest_first), strict=True))
    if not all(ended.values()):
        raise _failed([study for study in studies if not ended[study]])


def _bytes(layout: Layout, study: str) -> int:
    """Bytes of what people wrote about a study and measured for it, after which the time that its
    stages take goes.
    """
    files = (*layout.definition(study).glob("*.yaml"), *layout.measured(study).rglob("*"))
    return sum(path.stat().st_size for path in files if path.is_file())


def _failed(names: Sequence[str]) -> VirtperfError:
    return VirtperfError(
        f"the pipeline stopped in {', '.join(names)}",
        remedy="the lines above say why; what had ended before is kept.",
    )


def _dvc(root: Path, arguments: Sequence[str], label: str, say: Say, address: str) -> bool:
    """`dvc repro` with these arguments; says what comes on standard error, and returns whether it
    ended well.
    """
    command = ["dvc", "--wait-for-lock", "repro", *arguments]
    reading, writing = os.pipe()
    with (
        Path(os.devnull).open("wb") as unheard,
        os.fdopen(reading, encoding="utf-8", errors="replace") as said,
    ):
        try:
            asked = ask(address, command, root, {}, unheard.fileno(), writing)
        finally:
            os.close(writing)
        for line in said:
            if line.strip():
                say(f"{label}: {line.rstrip()}" if label else line.rstrip())
        return asked.wait() == 0
