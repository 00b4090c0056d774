"""Ingest of many large runs: `tools/benchmarks/scale.py [FILES] [MEGABYTES]`, one file of that size per
run.

Prints tables for one file of growing size, for a growing number of runs, and for one and two
processes: size, seconds, peak memory of any process, and CPU seconds per megabyte relative to the
previous case. Each case is a separate process. See docs/performance.md.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.toy_runs import toy_study, write_run
from tools.benchmarks.raw_files import write
from virtperf.core.parallel import max_processes
from virtperf.runs.ingest.stage import ingest
from virtperf.study.definition import load_study

FILES, MEGABYTES = 8, 10
KINDS = ("xentop", "sar", "sadf-json", "iwl-xml", "iwl-console")
METRICS = Path(__file__).resolve().parents[2] / "src" / "rawperf" / "metrics.yaml"
CLOCK = {
    "start": "2026-01-05T00:00:00",
    "duration_s": 366 * 86400,
    "warmup_s": 0,
    "window_s": [0, 3600],
}
EVERY_S = 0.1


def runs(root: Path, kinds: list[str], megabytes: int) -> float:
    """Write a run per kind; returns MB of all files."""
    for number, kind in enumerate(kinds):
        name = f"r{number:03d}"
        folder = write_run(
            root,
            name,
            {},
            replicate=number + 1,
            **CLOCK,
            files=[{"path": "raw.log", "format": kind, "start_s": 0, "interval_s": 1}],
        )
        write(
            kind, folder / "raw.log", megabytes * 1_000_000, number
        )  # no two runs may have the same bytes
    return sum(path.stat().st_size for path in root.rglob("raw.log")) / 1e6


def watched(process: subprocess.Popen[str]) -> tuple[float, float]:
    """CPU seconds and peak memory in MB of a process and its children until it ends.

    Sampled from outside: a thread in the process would change how it starts others.
    """
    found: dict[int, tuple[float, float]] = {}
    while process.poll() is None:
        for child in (
            psutil.Process(process.pid),
            *psutil.Process(process.pid).children(recursive=True),
        ):
            try:
                lines = Path(f"/proc/{child.pid}/status").read_text(encoding="utf-8").splitlines()
                used = child.cpu_times()
            except (OSError, psutil.Error):
                continue
            peak = next((line for line in lines if line.startswith("VmHWM")), "VmHWM 0")
            before = found.get(child.pid, (0.0, 0.0))[1]  # ended processes have no memory figures
            found[child.pid] = used.user + used.system, max(before, int(peak.split()[1]) / 1024)
        time.sleep(EVERY_S)
    used_s, memory = zip(*found.values(), strict=True)
    return sum(used_s), max(memory)


def one(folder: Path, jobs: int) -> None:
    """Ingest the runs in this process and print the seconds."""
    start = time.perf_counter()
    done = ingest(
        load_study(folder / "toy"),
        {"measured": folder / "runs"},
        METRICS,
        folder / "samples",
        folder / "cache",
        jobs=jobs,
    )
    if done.quarantined:
        raise RuntimeError(str(done.quarantined))
    print(time.perf_counter() - start)


def case(
    label: str, kinds: list[str], megabytes: int, jobs: int, before: float | None = None
) -> float:
    """Measure and print a row; returns CPU seconds per MB."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        toy_study(folder)
        size = runs(folder / "runs", kinds, megabytes)
        command = [sys.executable, __file__, "--one", str(folder), str(jobs)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
            used, memory = watched(process)
            output = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise RuntimeError(f"it ended with status {process.returncode}")
    seconds = float(output)
    ratio = "" if before is None else f"{used / size / before:.2f}"
    print(
        f"| {label} | {jobs} | {size:.0f} | {seconds:.1f} | {used:.1f} | {ratio} | {memory:.0f} |",
        flush=True,
    )
    return float(used / size)


def main() -> int:
    """Print the table."""
    if sys.argv[1:2] == ["--one"]:
        one(Path(sys.argv[2]), int(sys.argv[3]))
        return 0
    files, megabytes = map(
        int, (*sys.argv[1:3], *(str(FILES), str(MEGABYTES))[len(sys.argv[1:3]) :])
    )
    print(
        "| runs | processes | MB | seconds | CPU seconds | CPU time per MB, relative to the row above "
        "| peak memory, MB |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    for kind in ("sar", "xentop"):
        before = None
        for times in (1, 2, 4):
            before = case(f"one file, {kind}", [kind], times * megabytes, 1, before)
    before = None
    for count in (max(1, files // 4), max(1, files // 2), files):
        kinds = [KINDS[number % len(KINDS)] for number in range(count)]
        before = case(f"{count} runs", kinds, megabytes, 1, before)
    case(f"{files} runs", kinds, megabytes, min(2, max_processes()), before)
    return 0


if __name__ == "__main__":
    sys.exit(main())
