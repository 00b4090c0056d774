"""One boot of Xen under QEMU, from a plan to the folder of its results."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

MEMORY_MB, DOM0_MB, RESULTS_MB = 2048, 512, 64
XEN = f"console=com1 com1=115200,8n1 dom0_mem={DOM0_MB}M,max:{DOM0_MB}M sched=credit2 no-reboot spec-ctrl=no xpti=no"
DOM0 = "console=hvc0 rdinit=/init mitigations=off cryptomgr.notests quiet"
QEMU = [
    "qemu-system-x86_64",
    "-accel",
    "tcg",
    "-machine",
    "q35",
    "-cpu",
    "qemu64",
    "-smp",
    "1",
    "-m",
    str(MEMORY_MB),
    "-icount",
    "shift=4,sleep=off",
    "-rtc",
    "base=2026-01-01T00:00:00,clock=vm",
    "-display",
    "none",
    "-nic",
    "none",
    "-no-reboot",
    "-serial",
    "stdio",
    "-monitor",
    "none",
]
"""16 ns of virtual time an instruction; time stands still while the emulation does, so other load changes nothing."""


def boot(build: Path, work: Path, plan: str, *, seed: int, timeout_s: float) -> None:
    """Run a plan; what dom0 wrote is then the folder `out` in `work`.

    Parameters
    ----------
    build : Path
        What build.sh made.
    work : Path
        Folder of this boot; `console.log` grows in it while the boot runs.
    plan : str
        Shell commands for dom0 (dom0/experiments.sh).
    seed : int
        Of QEMU's random numbers.
    timeout_s : float
        Wall time.

    Raises
    ------
    subprocess.TimeoutExpired, RuntimeError
        The boot took too long, or dom0 wrote no results.
    """
    work.mkdir(parents=True, exist_ok=True)
    (work / "plan.sh").write_text(plan)
    added = subprocess.run(
        [build / "root/bin/busybox", "cpio", "-o", "-H", "newc"],
        input=b"plan.sh\n",
        cwd=work,
        check=True,
        capture_output=True,
    ).stdout
    initrd, results = work / "initrd", work / "results.img"
    # the kernel takes several archives one after the other, each padded to four bytes
    packed = (build / "dom0.cpio.gz").read_bytes()
    initrd.write_bytes(packed + b"\0" * (-len(packed) % 4) + added)
    with results.open("wb") as image:
        image.truncate(RESULTS_MB * 1024**2)
    with (work / "console.log").open("wb") as log:
        subprocess.run(
            [
                *QEMU,
                "-seed",
                str(seed),
                "-kernel",
                build / "xen",
                "-append",
                XEN,
                "-initrd",
                f"{build / 'vmlinuz'} {DOM0},{initrd}",
                "-drive",
                f"file={results},if=virtio,format=raw",
                "-drive",
                f"file={build / 'site.img'},if=virtio,format=raw,readonly=on",
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=True,
            timeout=timeout_s,
            preexec_fn=lambda: os.nice(max(0, 15 - os.nice(0))),
        )
    data = results.read_bytes()
    initrd.unlink()
    results.unlink()
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            # before 3.11.4 Python has no filters
            safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(work, **safe)  # noqa: S202 - of our own dom0
    except tarfile.ReadError as err:
        raise RuntimeError(f"dom0 wrote no results; see {work / 'console.log'}") from err
