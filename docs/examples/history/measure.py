"""How long the readers of this repository take, over its own history: what readers.csv was made by.

Run in a clone with its whole history, with the environment installed:

    python docs/examples/history/measure.py docs/examples/history/readers.csv

Each of `REVISIONS` revisions, evenly spread over those that changed a reader and have
`virtperf.read`, is taken out of git. A process for each revision and replicate reads the same files
again and again, in turn with a reference computation, and tells the CPU time (user and system) of the
reader divided by that of the reference: on a machine with other work both are slowed alike. Replicates
come in rounds over all revisions, each in another order.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy  # noqa: F401 - imported once, so that each process only imports the readers
import pandas  # noqa: F401
import pydantic  # noqa: F401
import yaml  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
REVISIONS, REPLICATES, SEED = 30, 3, 20261124
FILES = {
    "xentop": "data/measured/zvm-xen-2009/examples/example-scaling-xen-9-r1/xentop.txt",
    "sar": "data/measured/zvm-xen-2009/examples/example-scaling-xen-9-r1/guests/lnweb1/sar.txt",
    "sadf": "tests/rawperf/samples/sadf/sadf.json",
}
NEEDED = ("src", "pyproject.toml", "params.yaml", "data/metrics.yaml")
TURNS, LEAST_S = 4, 0.05
"""Turns of reader and reference a file, and the CPU seconds that each takes at least."""


def git(*arguments: str) -> bytes:
    return subprocess.run(  # noqa: S603
        ["git", "-C", str(ROOT), *arguments],  # noqa: S607
        check=True,
        capture_output=True,
    ).stdout


def revisions() -> list[tuple[str, str]]:
    """Short hash and date of the chosen revisions, the oldest first."""
    listed = git(
        "log",
        "--first-parent",
        "--reverse",
        "--format=%h %cI",
        "--",
        "src/rawperf",
        "src/virtperf/formats",
        "src/virtperf/ingest",
        "src/virtperf/runs/ingest",
    ).decode()
    found = []
    for line in listed.splitlines():
        revision, date = line.split()
        try:
            public = git("show", f"{revision}:src/virtperf/__init__.py").decode()
        except subprocess.CalledProcessError:
            continue
        if '"read"' in public:
            found.append((revision, date))
    step = (len(found) - 1) / (REVISIONS - 1)
    return [found[round(step * place)] for place in range(REVISIONS)]


def take_out(revision: str, folder: Path) -> None:
    """The sources of a revision, with the entry points that its pyproject.toml declares."""
    listed = git("ls-tree", "--name-only", revision, *NEEDED).decode().split()
    with tarfile.open(fileobj=io.BytesIO(git("archive", revision, "--", *listed))) as tar:
        tar.extractall(folder, filter="data")
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    info = folder / "src" / "history_virtperf.egg-info"
    info.mkdir()
    (info / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: history-virtperf\nVersion: 0\n")
    with (info / "entry_points.txt").open("w") as out:
        for group, points in project.get("entry-points", {}).items():
            out.write(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()))


def cpu_s() -> float:
    used = os.times()
    return used.user + used.system


def reference() -> float:
    """Text to numbers and back, as readers do: no file, nothing that changes with a revision."""
    total = 0.0
    for line in ("12.5 guest1 0.25 1024\n" * 400).splitlines():
        a, name, b, c = line.split()
        total += float(a) * float(b) + int(c) + len(name)
    return total


def repeated(work: Callable[[], object], least_s: float) -> float:
    """CPU seconds of one call."""
    calls, start = 0, cpu_s()
    while (spent := cpu_s() - start) < least_s:
        work()
        calls += 1
    return spent / calls


def one_run(source: Path) -> dict[str, float]:
    """The ratio of each file's reader, in this process."""
    os.chdir(source.parent)  # where it finds its own dictionary of metrics
    sys.path[:] = [str(source), *(p for p in sys.path if "virtperf" not in p and "/src" not in p)]
    import virtperf

    assert Path(virtperf.__file__).is_relative_to(source), virtperf.__file__
    found = {}
    for name, path in FILES.items():
        file = ROOT / path
        assert len(virtperf.read(file)) > 0
        reader, other = 0.0, 0.0
        for _ in range(TURNS):
            reader += repeated(lambda file=file: virtperf.read(file), LEAST_S)
            other += repeated(reference, LEAST_S)
        found[name] = reader / other
    return found


def forked(source: Path) -> dict[str, float]:
    """`one_run` in a process of its own, which has imported nothing of the project before."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(send, "w") as out:
                out.write(json.dumps(one_run(source)))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(0)
    os.close(send)
    with os.fdopen(receive) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {}


def main() -> None:
    chosen = revisions()
    rng = random.Random(SEED)  # noqa: S311 - an order
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for revision, _ in chosen:
            folder = Path(scratch) / revision
            folder.mkdir()
            take_out(revision, folder)
        os.chdir(ROOT)
        for replicate in range(1, REPLICATES + 1):
            order = list(range(len(chosen)))
            rng.shuffle(order)
            for place in order:
                revision, date = chosen[place]
                found = forked(Path(scratch) / revision / "src")
                print(replicate, revision, found, file=sys.stderr, flush=True)
                if found:
                    shown = {name: f"{value:.4g}" for name, value in found.items()}
                    rows.append(
                        {"revision": revision, "date": date, "replicate": replicate, **shown}
                    )
    rows.sort(key=lambda row: (row["date"], row["revision"], row["replicate"]))
    with Path(sys.argv[1]).open("w", newline="") as out:
        writer = csv.DictWriter(out, ["revision", "date", "replicate", *FILES], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
