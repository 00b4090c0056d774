"""Build the testbed where it is not built, boot it, and write a run folder of every condition (see README.md).

What is there already is not made again: remove the build folder, or a boot's folder in it, to repeat that.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from boot import boot
from conditions import KINDS, SITE_FILES, plan, planned
from folders import write_boot, write_run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="kinds of boots")
    parser.add_argument("--boots", nargs="+", type=int, default=[1, 2, 3], metavar="N", help="numbers of the boots")
    parser.add_argument("--seed", type=int, default=1, help="of the order of conditions")
    parser.add_argument("--study", type=Path, default=ROOT / "data/measured/xen-2026", help="where run folders go")
    parser.add_argument("--timeout", type=float, default=7200, help="seconds a boot may take")
    chosen = parser.parse_args()
    build = Path(os.environ.get("TESTBED_BUILD", ROOT / "build/xen-qemu")).resolve()
    if not (build / "site.img").is_file():  # the last thing that is built
        environment = {**os.environ, "SITE_FILES": str(SITE_FILES)}
        subprocess.run([HERE / "build.sh", build], check=True, env=environment)
    versions = dict(line.split() for line in (build / "versions.txt").read_text().splitlines())
    emulator = subprocess.run(["qemu-system-x86_64", "--version"], check=True, capture_output=True, text=True).stdout
    versions["qemu"] = re.findall(r"version (\S+)", emulator)[0]
    for number in chosen.boots:
        for kind in chosen.kinds:
            began = time.monotonic()
            work = build / f"boots/{kind}-{number}"
            out = work / "out"
            if not out.is_dir():
                shutil.rmtree(work, ignore_errors=True)
                lines = plan(kind, number, chosen.seed)
                boot(build, work, lines, seed=chosen.seed * 1000 + number, timeout_s=chosen.timeout)
            order = planned((work / "plan.sh").read_text())
            for position, condition in enumerate(order, start=1):
                write_run(out, chosen.study, condition, boot=number, position=position, versions=versions)
            write_boot(out, chosen.study, work.name)
            minutes = (time.monotonic() - began) / 60
            print(f"{kind} boot {number}: {len(order)} runs in {minutes:.0f} minutes", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
