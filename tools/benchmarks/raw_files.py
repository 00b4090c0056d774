"""Reproducible raw files of any length, as input of tools/benchmarks/formats.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import numpy as np

from rawperf.zvm.perfkit.layout import load_layouts, locate_columns

SEED = 20090101
WIDTHS = {
    "NAME": 10,
    "STATE": 6,
    "CPU(sec)": 10,
    "CPU(%)": 6,
    "MEM(k)": 10,
    "MEM(%)": 6,
    "MAXMEM(k)": 10,
    "MAXMEM(%)": 9,
    "VCPUS": 5,
    "NETS": 4,
    "NETTX(k)": 8,
    "NETRX(k)": 8,
    "VBDS": 4,
    "VBD_OO": 8,
    "VBD_RD": 8,
    "VBD_WR": 8,
    "SSID": 4,
}
"""Columns of xentop and their widths, as xentop.c of Xen 3.1 prints them."""
GUESTS = ("Domain-0", *(f"guest-{number:02d}" for number in range(1, 32)))
START = datetime(2026, 1, 5, tzinfo=UTC)


def xentop(rng: np.random.Generator) -> Iterator[str]:
    """32 domains, one sample per call."""
    head = " ".join(name.rjust(width) for name, width in WIDTHS.items())
    seconds, first = np.zeros(len(GUESTS), dtype=int), True
    while True:
        seconds += rng.integers(0, 60, len(GUESTS))
        lines = [head]
        for place, (name, v) in enumerate(
            zip(GUESTS, rng.integers(0, 99_999, (len(GUESTS), 6)).tolist(), strict=True)
        ):
            most = ("1048576", "12.5") if place else ("no limit", "n/a")
            cells = (
                name,
                "--b---",
                str(seconds[place]),
                "0.0" if first else f"{v[0] / 200:.1f}",
                "1048576",
                "12.5",
                *most,
                "2",
                "1",
                str(v[1]),
                str(v[2]),
                "1",
                "0",
                str(v[3]),
                str(v[4]),
                "0",
            )
            lines.append(
                " ".join(
                    cell.rjust(width) for cell, width in zip(cells, WIDTHS.values(), strict=True)
                )
            )
        first = False
        yield "\n".join(lines) + "\n"


def sar(rng: np.random.Generator) -> Iterator[str]:
    """Processors, disks and memory of one machine, past many midnights."""
    yield "Linux 5.14.0-70 (host1) \t2026-01-05 \t_x86_64_\t(16 CPU)\n\n"
    for step in range(60, 100_000_000):
        before, now = (f"{START + timedelta(seconds=10 * s):%H:%M:%S}" for s in (step - 1, step))
        v = np.round(rng.random((26, 8)) * 40, 2).tolist()
        lines = [f"{before}        CPU     %user     %nice   %system   %iowait    %steal     %idle"]
        for cpu, row in zip(("all", *range(16)), v[:17], strict=True):
            lines.append(f"{now}     {cpu!s:>6}" + "".join(f"{x:10.2f}" for x in row[:6]))
        lines += [
            "",
            f"{before}        DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util",
        ]
        lines += [
            f"{now}  dev8-{16 * disk:<4}" + "".join(f"{x:10.2f}" for x in v[17 + disk])
            for disk in range(8)
        ]
        lines += ["", f"{before}    kbmemfree   kbavail kbmemused  %memused kbbuffers  kbcached"]
        a, b, c, d, e, f, *_ = v[25]
        lines += [
            f"{now}    {1e4 * a:10.0f}{1e4 * b:10.0f}{1e4 * c:10.0f}{d:10.2f}{1e4 * e:10.0f}{1e4 * f:10.0f}",
            "",
        ]
        yield "\n".join(lines) + "\n"


def _objects(
    key: str, names: list[str], fields: tuple[str, ...], v: list[list[float]], tabs: int
) -> str:
    rows = (
        "\t" * tabs
        + f'{{"{key}": "{name}", '
        + ", ".join(f'"{f}": {x:.2f}' for f, x in zip(fields, row, strict=False))
        + "}"
        for name, row in zip(names, v, strict=False)
    )
    return ",\n".join(rows)


def sadf(rng: np.random.Generator) -> Iterator[str]:
    """The same machine as JSON; the file ends at the requested size."""
    yield (
        '{"sysstat": {\n\t"hosts": [\n\t\t{\n\t\t\t"nodename": "host1",\n\t\t\t"sysname": "Linux",\n'
        '\t\t\t"number-of-cpus": 16,\n\t\t\t"file-date": "2026-01-05",\n\t\t\t"statistics": [\n'
    )
    cpus, disks = ["all", *map(str, range(15))], [f"dev8-{16 * disk}" for disk in range(8)]
    for step in range(1, 100_000_000):
        now = START + timedelta(seconds=10 * step)
        v = np.round(rng.random((16, 10)) * 40, 2).tolist()
        stamp = f'{{"date": "{now:%Y-%m-%d}", "time": "{now:%H:%M:%S}", "utc": 1, "interval": 10}}'
        cpu = _objects("cpu", cpus, ("user", "nice", "system", "iowait", "steal", "idle"), v, 6)
        disk = _objects(
            "disk-device",
            disks,
            ("tps", "rkB", "wkB", "dkB", "areq-sz", "aqu-sz", "await", "util"),
            v,
            6,
        )
        net = _objects(
            "iface", ["eth0", "eth1"], ("rxpck", "txpck", "rxkB", "txkB", "rxcmp", "txcmp"), v, 7
        )
        yield (
            f'{"," if step > 1 else ""}\n\t\t\t\t{{\n\t\t\t\t\t"timestamp": {stamp},\n'
            f'\t\t\t\t\t"cpu-load": [\n{cpu}\n\t\t\t\t\t],\n'
            f'\t\t\t\t\t"io": {{"tps": {v[0][0]:.2f}, "io-reads": {{"rtps": {v[0][1]:.2f}}}}},\n'
            f'\t\t\t\t\t"disk": [\n{disk}\n\t\t\t\t\t],\n'
            f'\t\t\t\t\t"network": {{\n\t\t\t\t\t\t"net-dev": [\n{net}\n\t\t\t\t\t\t]\n\t\t\t\t\t}}\n\t\t\t\t}}'
        )


def iwl_xml(rng: np.random.Generator) -> Iterator[str]:
    """Snapshots a minute apart."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<iwl engine="triplet1">\n'
    for minute in range(1, 100_000_000):
        a, b, c, d, e = rng.integers(0, 10**9, 5).tolist()
        yield (
            f"  <snapshot>\n    <elapsed>{60 * minute}</elapsed>\n    <pages>{a}</pages>\n    <page_elements>{b}"
            f"</page_elements>\n    <transactions>{c}</transactions>\n    <response_time_avg>{d / 1e9:.3f}"
            f"</response_time_avg>\n    <errors>{e % 100}</errors>\n  </snapshot>\n"
        )


def iwl_console(rng: np.random.Generator) -> Iterator[str]:
    """Status lines."""
    for line in range(1, 100_000_000):
        a, b, c, d = rng.random(4).tolist()
        yield (
            f"# clients 50/50 | rd {100 * a:.3f} MB/s | wr {100 * b:.3f} MB/s | pg {1000 * line} | web err 0"
            f" | resp avg = {c / 10:.3f} | pg elem/s = {1000 * d:.3f}\n"
        )


def perfkit(rng: np.random.Generator, rows: int = 60) -> Iterator[str]:
    """Guests of a z/VM system: a page of `rows` per minute, and every ten minutes the processors."""
    users = (">System<", *(f"LINUX{number:03d}" for number in range(1, rows)))
    for minute in range(100_000_000):
        begin, end = (f"{START + timedelta(minutes=m):%H:%M:%S}" for m in (minute, minute + 1))
        for report, entities, between, behind in (
            ("FCX112", users, "", "  EME,CL3,DIS"),
            ("FCX100", [f"P{n:02d}" for n in range(16)], "  IFL", ""),
        )[: 1 + (minute % 10 == 0)]:
            layout = load_layouts()[report][0]
            cells = [
                cell
                for cell in locate_columns(layout, layout.heading) or ()
                if not cell.column.text
            ]
            lines = [
                f"1{report}  Run 2026/01/06 08:00:00  {layout.name:<80}Page {minute % 10_000:>5}",
                f"{'':41}{layout.title}",
                f" From {begin:<90}  VMSYS1",
                f" To   {end:<90}  CPU 2097-701   SN 0A1B2",
                f" For  {'    60 Secs 00:01:00':<90}  z/VM   V.6.3.0",
                " " + "_" * 126,
                *layout.heading,
                "",
            ]
            size = np.minimum(np.exp(rng.normal(0, 2, (len(entities), len(cells)))), 9999)
            for entity, row in zip(entities, size.tolist(), strict=True):
                line = f" {entity}{between}".ljust(cells[0].start)
                for cell, x in zip(cells, row, strict=True):
                    text = f"{x:.1f}"
                    line += (text[1:] if text.startswith("0.") else text).rjust(
                        cell.end - cell.start
                    )
                lines.append(line + behind)
            yield "\n".join(lines) + "\n"


def declared_csv(rng: np.random.Generator) -> Iterator[str]:
    """Columns of a driver on eight hosts."""
    yield "time,host,users,tps,millis,cpu,note\n"
    for second in range(0, 1_000_000_000, 125):
        v = rng.random((1000, 3)).tolist()
        yield "".join(
            f"{1_700_000_000 + second + k // 8},host{k % 8:02d},{k % 100},{1000 * a:.3f},{50 * b:.3f},"
            f"{100 * c:.2f},warm\n"
            for k, (a, b, c) in enumerate(v)
        )


def declared_csv_long(rng: np.random.Generator) -> Iterator[str]:
    """The same numbers in long format: one per row, with name and value columns."""
    yield "time,host,field,value\n"
    for second in range(0, 1_000_000_000, 125):
        v = rng.random((1000, 3)).tolist()
        yield "".join(
            f"{start},users,{k % 100}\n{start},tps,{1000 * a:.3f}\n"
            f"{start},millis,{50 * b:.3f}\n{start},cpu,{100 * c:.2f}\n"
            for k, (a, b, c) in enumerate(v)
            for start in (f"{1_700_000_000 + second + k // 8},host{k % 8:02d}",)
        )


KINDS: dict[str, tuple[Callable[[np.random.Generator], Iterator[str]], str]] = {
    "xentop": (xentop, ""),
    "sar": (sar, ""),
    "sadf-json": (sadf, "\n\t\t\t]\n\t\t}\n\t]\n}}\n"),
    "iwl-xml": (iwl_xml, "</iwl>\n"),
    "iwl-console": (iwl_console, ""),
    "perfkit": (perfkit, ""),
    "declared-csv": (declared_csv, ""),
    "declared-csv-long": (declared_csv_long, ""),
    "perfkit-short": (partial(perfkit, rows=20), ""),
}
"""Generator of the content and final bytes, by format (``-short``: fewer rows per page)."""


def write(kind: str, path: Path, size: int, number: int = 0) -> None:
    """Write a file of at least `size` bytes; `number` selects other values."""
    make, end = KINDS[kind]
    with path.open("w", encoding="ascii") as file:
        written = 0
        for part in make(np.random.default_rng(SEED + number)):
            written += file.write(part)
            if written >= size:
                break
        file.write(end)


def peak_memory() -> float:
    """Peak memory of this process in MB.

    Not getrusage, whose value for a new process starts with the size of its parent.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024
