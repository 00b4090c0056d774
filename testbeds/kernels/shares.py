"""Four guests with shares 100, 100, 200 and 200 on one processor: what each gets when the fourth wants little."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path

from emulator import Guest
from files import write_csv
from groups import groups

MEMORY_MB = 96
SHARES = {"guest1": 100, "guest2": 100, "guest3": 200, "guest4": 200}
FOURTH = {"busy": "tool loop 100000", "pulses": "tool pulse 80", "idle": "sleep 100000"}
WARMUP_S = 3
WINDOW_S = 15
SAMPLES = 5
COLUMNS = ("moment_s", *(f"{guest}_cpu_s" for guest in SHARES))


def measure(build: Path, into: Path, fourth: str) -> None:
    """Boot the guests, give their emulators shares of one processor, and count what each uses.

    Parameters
    ----------
    build, into : pathlib.Path
        What `build.sh` has made; the run's folder.
    fourth : str
        What the fourth guest does, one of `FOURTH`; the others are busy.
    """
    processor = max(os.sched_getaffinity(0))
    with (
        groups({name: share / 100 for name, share in SHARES.items()}) as inner,
        ExitStack() as stack,
    ):
        guests = [stack.enter_context(Guest(build, name, memory_mb=MEMORY_MB)) for name in SHARES]
        for guest in guests:
            guest.ready()
        for guest in guests:
            for thread in Path(f"/proc/{guest.pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {processor})
            inner[guest.name].enter(guest.pid)
            guest.begin(FOURTH[fourth] if guest.name == "guest4" else FOURTH["busy"])
        time.sleep(WARMUP_S)
        begin = time.monotonic()
        rows: list[list[float]] = []
        for number in range(SAMPLES + 1):
            time.sleep(max(0, begin + number * WINDOW_S / SAMPLES - time.monotonic()))
            used = [round(group.used_s(), 6) for group in inner.values()]
            rows.append([round(time.monotonic() - begin, 6), *used])
    write_csv(into / "usage.csv", COLUMNS, rows)
    used = [last - first for first, last in zip(rows[0], rows[-1], strict=True)]
    percent = [round(100 * part / sum(used[1:]), 4) for part in used[1:]]
    shares = [
        [name, SHARES[name], round(part, 6), share]
        for name, part, share in zip(SHARES, used[1:], percent, strict=True)
    ]
    write_csv(into / "guests.csv", ("guest", "share", "cpu_s", "percent"), shares)
    write_csv(
        into / "host.csv", ("processor_percent",), [[round(100 * sum(used[1:]) / used[0], 4)]]
    )
