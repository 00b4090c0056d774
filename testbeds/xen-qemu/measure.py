"""Make one run: boot Xen unless the run's boot is there, and take what it wrote under the run's condition.

`virtperf measure xen-2026` calls this, once a run. A boot runs all conditions of its kind, so the first run of a boot
takes as long as the boot, and the others take no time. Remove a boot's folder in the build folder to repeat it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from boot import boot
from conditions import SITE_FILES, found, kind_of, plan, planned
from folders import write_boot, write_run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FAILED = "failed"
"""File in the folder of a boot that failed: runs do not repeat it one after the other."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "condition", nargs="+", metavar="FACTOR=LEVEL", help="all factors of the study"
    )
    parser.add_argument(
        "--boot",
        type=int,
        required=True,
        metavar="N",
        help="number of the boot, which is the replicate",
    )
    parser.add_argument(
        "--into", type=Path, required=True, metavar="FOLDER", help="where the raw files go"
    )
    parser.add_argument(
        "--fields", type=Path, required=True, metavar="FILE", help="gets what run.yaml is to say"
    )
    parser.add_argument(
        "--boots",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="keeps what boots say of themselves",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the order of conditions")
    parser.add_argument("--timeout", type=float, default=7000, help="seconds a boot may take")
    chosen = parser.parse_args()
    condition = found(dict(part.split("=", 1) for part in chosen.condition))
    build = Path(os.environ.get("TESTBED_BUILD", ROOT / "build/xen-qemu")).resolve()
    if not (build / "site.img").is_file():  # the last thing that is built
        environment = {**os.environ, "SITE_FILES": str(SITE_FILES)}
        subprocess.run([HERE / "build.sh", build], check=True, env=environment)
    work = build / f"boots/{kind_of(condition)}-{chosen.boot}"
    if not (work / "out").is_dir():
        _boot(build, work, plan(kind_of(condition), chosen.boot, chosen.seed), chosen)
    fields = write_run(
        work / "out",
        chosen.into,
        condition,
        versions=_versions(build),
        position=planned((work / "plan.sh").read_text()).index(condition) + 1,
    )
    chosen.fields.write_text(
        "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items())
    )
    return 0


def _boot(build: Path, work: Path, lines: str, chosen: argparse.Namespace) -> None:
    """Boot, and keep what the boot says of itself; one that failed is not repeated."""
    if (work / FAILED).exists():
        raise SystemExit(
            f"this boot failed before; its console.log says why. Remove {work} to repeat it"
        )
    shutil.rmtree(work, ignore_errors=True)
    try:
        boot(build, work, lines, seed=chosen.seed * 1000 + chosen.boot, timeout_s=chosen.timeout)
    except Exception:
        (work / FAILED).touch()
        raise
    write_boot(work / "out", chosen.boots / work.name)


def _versions(build: Path) -> dict[str, str]:
    versions = dict(line.split() for line in (build / "versions.txt").read_text().splitlines())
    emulator = subprocess.run(
        ["qemu-system-x86_64", "--version"], check=True, capture_output=True, text=True
    ).stdout
    return versions | {"qemu": re.findall(r"version (\S+)", emulator)[0]}


if __name__ == "__main__":
    sys.exit(main())
