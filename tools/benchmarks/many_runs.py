"""Scaling of all stages with the number of runs: `tools/benchmarks/many_runs.py [STUDY] [TIMES ...]`.

The study's runs are copied several times with new replicate numbers; the values are meaningless,
but the amount of data is realistic. Each run has a host/sadf.json. Works in a copy of the
committed repository. Prints seconds and peak memory per stage, then the largest page. See
docs/performance.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAGES = ("ingest", "summarize", "judge", "notebook", "report", "site")
STUDY, TIMES = "linux-2026", ("1", "2", "4", "8")
_RUN = re.compile(r"(?P<condition>.*)-r(?P<replicate>\d+)")


def repeat(runs: Path, times: int) -> int:
    """Copy runs until there are `times` as many; returns their number."""
    folders = sorted(path.parent for path in runs.glob("*/run.yaml"))
    for folder in folders:
        found = _RUN.fullmatch(folder.name)
        if found is None:
            raise ValueError(f"{folder.name}: a run of virtperf measure is called CONDITION-rN")
        for copy in range(1, times):
            replicate = int(found["replicate"]) + 1000 * copy
            name = f"{found['condition']}-r{replicate}"
            made = runs / name
            shutil.copytree(folder, made)
            run_yaml = (
                (made / "run.yaml")
                .read_text(encoding="utf-8")
                .replace(f"run: {folder.name}\n", f"run: {name}\n")
            )
            run_yaml = run_yaml.replace(
                f"replicate: {found['replicate']}\n", f"replicate: {replicate}\n"
            )
            (made / "run.yaml").write_text(run_yaml, encoding="utf-8")
            changed = made / "host" / "sadf.json"  # no two runs may have the same bytes
            changed.write_bytes(changed.read_bytes() + b"\n" * copy)
    return times * len(folders)


def stage(root: Path, name: str, study: str) -> str:
    """Run a stage; returns its seconds and peak memory of any process as text."""
    command = [sys.executable, "-m", "virtperf.cli", "--root", str(root), name, study]
    script = f"import resource, subprocess; subprocess.run({command!r}, check=True)"
    script += "; print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    begin = time.perf_counter()
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root
    )
    return f"{time.perf_counter() - begin:.1f} s, {int(done.stdout.split()[-1]) / 1024:.0f} MB"


def main() -> int:
    """Print the table."""
    study, times = (
        (sys.argv[1:2] or [STUDY])[0],
        [int(factor) for factor in (sys.argv[2:] or TIMES)],
    )
    print(f"| runs | {' | '.join(STAGES)} | largest page, MB |")
    print("|---" * (len(STAGES) + 2) + "|", flush=True)
    for factor in times:
        with tempfile.TemporaryDirectory() as place:
            root = Path(place) / "repository"
            subprocess.run(["git", "clone", "-q", str(ROOT), str(root)], check=True)  # noqa: S603, S607
            unpack = [sys.executable, "-m", "virtperf.cli", "--root", str(root), "unpack", study]
            subprocess.run(unpack, check=True)  # noqa: S603
            count = repeat(root / "data" / "measured" / study, factor)
            took = [stage(root, name, study) for name in STAGES]
            largest = max(path.stat().st_size for path in (root / "reports").glob("*.html")) / 1e6
        print(f"| {count:,} | {' | '.join(took)} | {largest:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
