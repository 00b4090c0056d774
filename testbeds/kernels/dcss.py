"""Guests read the same file: in memory that they share, from a disk that they share, from disks of their own."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

import host
from emulator import Guest
from files import meminfo_kib, write_csv

MEMORY_MB = 192
SEGMENT_MB = 80
KINDS = ("segment", "disk", "disk-ksm", "own-disk")
READ_COLUMNS = ("cpu_s", "elapsed_s", "minor_faults", "major_faults")
GUEST_COLUMNS = (
    *("guest", "data_kib", "host_data_kib"),
    *(f"{time}_{column}" for time in ("first", "second") for column in READ_COLUMNS),
)
HOST_COLUMNS = (
    *("memory_kib", "images_kib", "emulators_kib", "total_kib", "data_kib"),
    *("total_per_guest_kib", "data_per_guest_kib", "ksm_shared", "ksm_sharing"),
)
MOUNTS = ("-o ro /dev/vda", "-o ro,dax=always /dev/pmem0")


def measure(build: Path, into: Path, guests: int, data: str) -> None:
    """Boot the guests, let each read the file twice, and write down the memory that this takes.

    Parameters
    ----------
    build, into : pathlib.Path
        What `build.sh` has made; the run's folder.
    guests : int
    data : str
        One of `KINDS`: where the file lies.
    """
    names = [f"guest{number}" for number in range(1, guests + 1)]
    images = _images(build, names, data)
    for image in images:
        host.forget(image)
    with host.merging(data == "disk-ksm", build / "merging"), ExitStack() as stack:
        started = [
            stack.enter_context(Guest(build, name, memory_mb=MEMORY_MB, options=_disk(image, data)))
            for name, image in zip(names, images * (guests // len(images)), strict=True)
        ]
        for guest in started:
            guest.ready()
            guest.run(f"mount -t ext4 {MOUNTS[data == 'segment']} /data")
            if (data == "segment") != ("dax=always" in guest.run("cat /proc/mounts")):
                raise OSError(f"{guest.name}: the file is not mounted as it should be")
        before = _look(into, "before", started, images, data)
        for guest in started:
            guest.resume()
            guest.begin("tool read /data/file && tool read /data/file")
        reads = {guest.name: guest.end() for guest in started}
        after = _look(into, "after", started, images, data)
    _write(into, names, before, after, reads)


def _images(build: Path, names: list[str], data: str) -> list[Path]:
    """The image that all guests share, or a copy for each."""
    image = build / "data.img"
    if data != "own-disk":
        return [image]
    copies = [build / f"data-{name}.img" for name in names]
    for copy in copies:
        if not copy.is_file():
            shutil.copyfile(image, copy)
    return copies


def _disk(image: Path, data: str) -> list[str]:
    """QEMU's options for the file system: shared memory, or a disk that the host caches."""
    if data == "segment":
        backend = f"memory-backend-file,id=segment,share=on,mem-path={image},size={SEGMENT_MB}M"
        return ["-object", backend, "-device", "virtio-pmem-pci,memdev=segment"]
    return ["-drive", f"file={image},if=virtio,format=raw,readonly=on,cache=writeback"]


def _look(
    into: Path, moment: str, guests: list[Guest], images: list[Path], data: str
) -> dict[str, dict[str, int]]:
    """Memory of guests and host at a moment, with the raw text in the run's folder.

    All guests stand still afterwards.
    """
    found: dict[str, dict[str, int]] = {"cached": {}, "memory": {}, "emulator": {}}
    for guest in guests:
        found["cached"][guest.name] = meminfo_kib(guest.stand_still(into, moment), "Cached")
    if data == "disk-ksm":
        host.merge()
    for guest in guests:
        text = host.smaps(guest.pid, guest.memory_mb)
        (into / "guests" / guest.name / f"smaps-{moment}.txt").write_text(text)
        found["memory"][guest.name], found["emulator"][guest.name] = host.pss_kib(text)
    pages = host.cached(images)
    (into / f"fincore-{moment}.txt").write_text(pages)
    found["images"] = {"all": host.cached_kib(pages)}
    counters = host.merged()
    (into / f"ksm-{moment}.txt").write_text(counters)
    found["ksm"] = {name: int(count) for name, count in map(str.split, counters.splitlines())}
    return found


def _write(
    into: Path,
    names: list[str],
    before: dict[str, dict[str, int]],
    after: dict[str, dict[str, int]],
    reads: dict[str, str],
) -> None:
    rows: list[list[object]] = []
    for name in names:
        first, second = (line.split() for line in reads[name].splitlines())
        if first[-1] != second[-1]:
            raise OSError(f"{name} read other data the second time")
        grown = [after[kind][name] - before[kind][name] for kind in ("cached", "memory")]
        rows.append([name, *grown, *first[:4], *second[:4]])
        (into / "guests" / name / "reads.txt").write_text(reads[name])
    write_csv(into / "guests.csv", GUEST_COLUMNS, rows)
    memory, emulators = (sum(after[kind].values()) for kind in ("memory", "emulator"))
    total = memory + after["images"]["all"]
    data_kib = total - sum(before["memory"].values()) - before["images"]["all"]
    row = [
        *(memory, after["images"]["all"], emulators - memory, total, data_kib),
        *(round(kib / len(names), 1) for kib in (total, data_kib)),
        *(after["ksm"][name] for name in ("pages_shared", "pages_sharing")),
    ]
    write_csv(into / "host.csv", HOST_COLUMNS, [row])
