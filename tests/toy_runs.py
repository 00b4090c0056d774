"""A toy study with run folders and small raw files in real formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from virtperf.study.definition import Study, load_study

STUDY = """\
study: toy
title: A toy
bibliography: {}
n_statements: 0
factors:
  test: {levels: [load, memory], default: load}
  system: {levels: [a, b]}
  guests: {levels: [1, 2, 3]}
quantities:
  throughput:
    label: Throughput
    unit: "% of reference"
    references:
      - {at: {test: load, system: a, guests: 1}, value: 100}
      - {at: {test: memory, system: a, guests: 3}, value: 100}
    observed:
      from: [{metric: page_element_throughput, entity_kind: driver}]
      combine: sum
      relative: true
  load:
    label: Load
    unit: "%"
    observed:
      from: [{metric: processor_busy, entity_kind: processor}, {metric: guest_cpu, entity_kind: domain}]
      combine: sum
      cpus: 8
  planned: {label: Planned, unit: CPUs}
exhibits: []
"""


def toy_study(folder: Path) -> Study:
    """The toy study, in ``folder/toy``."""
    (folder / "toy").mkdir(parents=True)
    (folder / "toy" / "study.yaml").write_text(STUDY)
    return load_study(folder / "toy")


def write_run(
    root: Path, name: str = "r1", raw: dict[str, bytes] | None = None, **fields: object
) -> Path:
    """A run folder with the raw files `raw`; `fields` override those of run.yaml, None removes one."""
    folder = root / name
    folder.mkdir(parents=True)
    head: dict[str, object] = {
        "study": "toy",
        "run": name,
        "provenance": "measured",
        "factors": {"system": "a", "guests": 1},
        "replicate": 1,
        "start": "2009-01-09T14:00:00",
        "duration_s": 1200,
        "warmup_s": 300,
        "window_s": [300, 900],
    }
    head = {k: v for k, v in (head | fields).items() if v is not None}
    (folder / "run.yaml").write_text(yaml.safe_dump(head, sort_keys=False))
    for path, data in (raw if raw is not None else {"d1.log": console(seed=name)}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    if raw is None and "files" not in fields:
        head["files"] = [{"path": "d1.log", "entity": "d1", "start_s": 10, "interval_s": 10}]
        (folder / "run.yaml").write_text(yaml.safe_dump(head, sort_keys=False))
    return folder


def console(
    rate: float = 100.0, n: int = 120, clients: int = 4, ramp_s: float = 40.0, seed: str = "x"
) -> bytes:
    """Status lines every 10 s of a closed loop without think time: clients = rate x response time."""
    rng = np.random.default_rng(list(seed.encode()))
    t = 10.0 * np.arange(1, n + 1)
    x = rate * -np.expm1(-t / ramp_s) * np.exp(0.02 * rng.standard_normal(n))
    pages = np.cumsum(10 * x)
    return "".join(
        f"# clients {clients}/{clients} | rd 0.1000 MB/s | wr 0.0100 MB/s | pg {p:.0f} | web err 0"
        f" | resp avg = {clients / v:.6f} | pg elem/s = {v:.3f}\n"
        for p, v in zip(pages, x, strict=True)
    ).encode()


def netstat(received: int, retransmitted: int = 0) -> bytes:
    """A snapshot; like the tool's output, without zero counters."""
    again = f"    {retransmitted} segments retransmited\n" if retransmitted else ""
    text = f"Tcp:\n    5 active connections openings\n    {received} segments received\n{again}"
    return text.encode()


def xentop(
    cpu: dict[str, list[float]],
    seconds: dict[str, list[int]],
    interval: int = 60,
    start: str = "14:05",
) -> bytes:
    """Samples with summary lines; `cpu` in percent and `seconds` by domain, one value per sample."""
    hour, minute = map(int, start.split(":"))
    lines = []
    samples = len(next(iter(cpu.values())))
    for i in range(samples):
        at = hour * 3600 + minute * 60 + i * interval
        clock = f"{at // 3600 % 24:02d}:{at // 60 % 60:02d}:{at % 60:02d}"
        lines += [
            f"xentop - {clock}   Xen 3.1",
            f"{len(cpu)} domains: 1 running, 1 blocked, 0 paused, 0 crashed, 0 dying, 0 shutdown ",
            "Mem: 8388608k total, 8388608k used, 0k free    CPUs: 8 @ 3500MHz",
            "      NAME  STATE   CPU(sec) CPU(%)     MEM(k) MEM(%)  MAXMEM(k) MAXMEM(%) VCPUS NETS NETTX(k) NETRX(k)"
            " VBDS   VBD_OO   VBD_RD   VBD_WR SSID",
        ]
        lines += [
            f"{name:>10} --b--- {seconds[name][i]:10d} {cpu[name][i]:6.1f}    1048576   12.5    1048576      12.5     2"
            f"    1 {100 * i:8d} {10 * i:8d}    1        0 {5 * i:8d}        0    0"
            for name in cpu
        ]
    return "".join(line + "\n" for line in lines).encode()


def sar(rows: int = 10, day: str = "2009-01-09", first_minute: int = 6) -> bytes:
    """Minutes of `sar -u` for all processors and one of them, from 14:06 on."""
    text = f"Linux 2.6.18 (guest) \t{day}\n\n14:{first_minute - 1:02d}:00        CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
    for i in range(rows):
        for cpu in ("all", "  0"):
            text += f"14:{first_minute + i:02d}:00        {cpu}     40.00      0.00     10.00      0.00      5.00     45.00\n"
    return text.encode()
