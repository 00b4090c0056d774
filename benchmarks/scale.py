"""Many large runs ingested: `benchmarks/scale.py [FILES] [MEGABYTES]`, each run having one file of that size.

Prints a table of one file that grows, of more and more runs, and of one process beside two: size, seconds, the most
memory of any process, and processor seconds a megabyte over those of the case before. Each case has its own process.
See docs/performance.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.raw_files import write
from tests.toy_runs import toy_study, write_run
from virtperf.core.parallel import most_processes
from virtperf.ingest.stage import ingest
from virtperf.study.definition import load_study

FILES, MEGABYTES = 8, 10
KINDS = ("xentop", "sar", "sadf-json", "iwl-xml", "iwl-console")
METRICS = Path(__file__).resolve().parents[1] / "data" / "metrics.yaml"
CLOCK = {"start": "2026-01-05T00:00:00", "duration_s": 366 * 86400, "warmup_s": 0, "window_s": [0, 3600]}
EVERY_S = 0.1


def runs(root: Path, kinds: list[str], megabytes: int) -> float:
    """Write a run for each of the kinds; MB of all files."""
    for number, kind in enumerate(kinds):
        name = f"r{number:03d}"
        folder = write_run(
            root, name, {}, replicate=number + 1, **CLOCK,
            files=[{"path": "raw.log", "format": kind, "start_s": 0, "interval_s": 1}],
        )  # fmt: skip
        write(kind, folder / "raw.log", megabytes * 1_000_000, number)  # no two runs may have the same bytes
    return sum(path.stat().st_size for path in root.rglob("raw.log")) / 1e6


def watched(found: dict[int, tuple[float, float]], over: threading.Event) -> None:
    """Note the most memory, in MB, and the processor time of this process and those that it started."""
    while not over.wait(EVERY_S):
        for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
            try:
                lines = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").splitlines()
                used = process.cpu_times()
            except (OSError, psutil.Error):
                continue
            peak = next((line for line in lines if line.startswith("VmHWM")), "VmHWM 0")
            before = found.get(process.pid, (0.0, 0.0))[0]  # a process that has ended says nothing of its memory
            found[process.pid] = max(before, int(peak.split()[1]) / 1024), used.user + used.system


def one(folder: Path, jobs: int) -> None:
    """Ingest the runs in this process, and print seconds, processor seconds and MB."""
    found: dict[int, tuple[float, float]] = {}
    over = threading.Event()
    watch = threading.Thread(target=watched, args=(found, over))
    watch.start()
    start = time.perf_counter()
    done = ingest(
        load_study(folder / "toy"), {"measured": folder / "runs"}, METRICS, folder / "samples", folder / "cache",
        jobs=jobs,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    over.set()
    watch.join()
    if done.quarantined:
        raise RuntimeError(str(done.quarantined))
    memory, used = zip(*found.values(), strict=True)
    print(json.dumps([seconds, sum(used), max(memory)]))


def case(what: str, kinds: list[str], megabytes: int, jobs: int, before: float | None = None) -> float:
    """Measure and print a row; processor seconds a MB."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        toy_study(folder)
        size = runs(folder / "runs", kinds, megabytes)
        done = subprocess.run(  # noqa: S603
            [sys.executable, __file__, "--one", str(folder), str(jobs)], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    seconds, used, memory = json.loads(done.stdout)
    ratio = "" if before is None else f"{used / size / before:.2f}"
    print(f"| {what} | {jobs} | {size:.0f} | {seconds:.1f} | {used:.1f} | {ratio} | {memory:.0f} |", flush=True)
    return float(used / size)


def main() -> int:
    """Print the table."""
    if sys.argv[1:2] == ["--one"]:
        one(Path(sys.argv[2]), int(sys.argv[3]))
        return 0
    files, megabytes = map(int, (*sys.argv[1:3], *(str(FILES), str(MEGABYTES))[len(sys.argv[1:3]) :]))
    print("| runs | processes | MB | seconds | processor seconds | a MB, over that above | peak memory, MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for kind in ("sar", "xentop"):
        before = None
        for times in (1, 2, 4):
            before = case(f"one file, {kind}", [kind], times * megabytes, 1, before)
    before = None
    for count in (max(1, files // 4), max(1, files // 2), files):
        kinds = [KINDS[number % len(KINDS)] for number in range(count)]
        before = case(f"{count} runs", kinds, megabytes, 1, before)
    case(f"{files} runs", kinds, megabytes, min(2, most_processes()), before)
    return 0


if __name__ == "__main__":
    sys.exit(main())
