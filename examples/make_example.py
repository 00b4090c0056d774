"""Write the example run folder `zvm-xen-2009/example-xen-9`: `python examples/make_example.py`.

Everything in it is made up, with a fixed seed, to show what a run folder looks like. Nothing was measured; nothing is
taken from the paper but the shape of the setup: three triplets of guests on Xen with eight processors.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from rawperf import RECORD_COLUMNS, Reading, get_writer

SEED = 20090109
START, DAY_START = (
    "2009-01-09T14:00:00",
    1231509600.0,
)  # the same moment, in seconds since 1970 by the same clock
DURATION, BEGIN, END = 1200, 300, 900
STEP, MINUTE = 10, 60
CLIENTS = 4
GUESTS = {
    "lnweb": (0.55, 750, 1),
    "lnwas": (1.10, 2048, 2),
    "lnudb": (0.35, 1800, 1),
}  # processors, MiB, virtual CPUs

RUN_YAML = f"""\
# A made-up run. `provenance: example` keeps it out of every verdict.
study: zvm-xen-2009
run: example-xen-9
provenance: example
factors: {{test: scaling, system: xen, guests: 9}}     # other factors are at the study's defaults
replicate: 1
start: {START}        # clock of the system under test; t = 0
duration_s: {DURATION}
warmup_s: {BEGIN}
window_s: [{BEGIN}, {END}]
clients: {3 * CLIENTS}
think_time_s: 0
processors: 8
tools: {{xentop: "3.1", sysstat: "7.0"}}
notes: Invented for documentation.
files:
  # status lines carry no time: the first one after 10 s, then every 10 s
  - {{path: drivers/triplet1.log, start_s: {STEP}, interval_s: {STEP}}}
  - {{path: drivers/triplet2.log, start_s: {STEP}, interval_s: {STEP}}}
  - {{path: drivers/triplet3.log, start_s: {STEP}, interval_s: {STEP}}}
  # netstat -s carries no time either
  - {{path: guests/lnweb1/netstat-begin.txt, format: netstat, at_s: {BEGIN}}}
  - {{path: guests/lnweb1/netstat-end.txt, format: netstat, at_s: {END}}}
  # xentop.txt and the sar.txt of guests need no entry: they are recognised, and say when they were written
"""

README = """\
# example-xen-9: a made-up run

Nothing in this folder was measured. `examples/make_example.py` invented it, with a fixed seed, to show what a run
folder holds and to have something to try the tools on. Its `run.yaml` says `provenance: example`: reports show such
runs only where a parameter asks for them, and they never count in a verdict.

What `docs/run-folders.md` explains can be seen here: driver logs without a clock, xentop with a time of day, sar with
dates, netstat snapshots from the two ends of the window.
"""


def main(target: Path) -> None:
    """Write the folder."""
    rng = np.random.default_rng(SEED)
    files = {"run.yaml": RUN_YAML.encode(), "README.md": README.encode(), "xentop.txt": xentop(rng)}
    for n in (1, 2, 3):
        files[f"drivers/triplet{n}.log"] = driver(rng)
    for guest in GUESTS:
        files[f"guests/{guest}1/sar.txt"] = sar(rng, guest)
    files["guests/lnweb1/netstat-begin.txt"] = netstat(BEGIN)
    files["guests/lnweb1/netstat-end.txt"] = netstat(END)
    for name, data in files.items():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def records(
    report: str, kind: str, entities: list[str], t: np.ndarray, fields: dict[str, np.ndarray]
) -> pd.DataFrame:
    """Records in a tool's order: by time, entity, field; `fields` broadcast to (times, entities)."""
    shape = (len(t), len(entities), len(fields))
    values = np.stack(
        [np.broadcast_to(np.asarray(v, float), shape[:2]) for v in fields.values()], axis=2
    )
    at = np.indices(shape).reshape(3, -1)
    frame = pd.DataFrame(
        {
            "report": report,
            "entity_kind": kind,
            "entity": np.array(entities, dtype=object)[at[1]],
            "field": np.array(list(fields), dtype=object)[at[2]],
            "t": np.asarray(t, float)[at[0]],
            "value": values.ravel(),
        }
    )
    return frame.loc[frame["value"].notna(), list(RECORD_COLUMNS)].reset_index(drop=True)


def driver(rng: np.random.Generator) -> bytes:
    """A driver's console log: a closed loop of four clients, warm after about two minutes."""
    t = np.arange(STEP, DURATION + 1, STEP)
    response = 0.025 * (1 + 2 * np.exp(-t / 40)) * np.exp(0.02 * rng.standard_normal(len(t)))
    response = np.round(response, 3)
    throughput = np.round(CLIENTS / response, 3)
    elements = np.round(np.cumsum(throughput * STEP))
    status = records(
        "status",
        "driver",
        [""],
        np.arange(len(t)),
        {
            name: np.reshape(value, (-1, 1))
            for name, value in {
                "clients": np.full(len(t), CLIENTS),
                "clients max": np.full(len(t), CLIENTS),
                "rd": np.round(throughput * 6 / 1024, 4),
                "wr": np.round(throughput / 4096, 4),
                "pg": elements,
                "web err": np.zeros(len(t)),
                "resp avg": response,
                "pg elem/s": throughput,
            }.items()
        },
    )
    total = float(elements[-1])
    summary = records(
        "summary",
        "driver",
        [""],
        np.array([np.nan]),
        {
            name: np.array([[value]])
            for name, value in {
                "Run time": DURATION,
                "Clients completed": 0,
                "Clients completed max": CLIENTS,
                "Page elements": total,
                "Page element throughput": round(total / DURATION, 3),
                "Network I/O errors": 0,
                "Web server errors": 0,
                "HTTP avg. page element response time": round(
                    float((response * throughput).sum() / throughput.sum()), 3
                ),
            }.items()
        },
    )
    reading = Reading(
        pd.concat([status, summary], ignore_index=True), "sample", {"time limit": str(DURATION)}
    )
    return get_writer("iwl-console").write(reading)


def xentop(rng: np.random.Generator) -> bytes:
    """`xentop -b -d 60 -i 10`, begun with the window; the first sample has no CPU(%)."""
    names = ["Domain-0", *(f"{guest}{n}" for n in (1, 2, 3) for guest in GUESTS)]
    mean = np.array([0.45, *(GUESTS[guest][0] for _ in range(3) for guest in GUESTS)])
    used = mean * np.exp(0.02 * rng.standard_normal((9, len(names))))
    seconds = np.floor(np.vstack([mean * BEGIN, mean * BEGIN + np.cumsum(used * MINUTE, axis=0)]))
    kib = 1024 * np.array([1024, *(GUESTS[guest][1] for _ in range(3) for guest in GUESTS)])
    guests = np.arange(len(names)) > 0
    sent = np.outer(np.arange(10), np.where(guests, 65536, 0))
    reading = Reading(
        records(
            "",
            "domain",
            names,
            14 * 3600 + BEGIN + MINUTE * np.arange(10),
            {
                "CPU(sec)": seconds,
                "CPU(%)": np.vstack([np.full(len(names), np.nan), np.round(100 * used, 1)]),
                "MEM(k)": kib,
                "MEM(%)": np.round(100 * kib / (24576 * 1024), 1),
                "MAXMEM(k)": kib,
                "MAXMEM(%)": np.round(100 * kib / (24576 * 1024), 1),
                "VCPUS": np.array([8, *(GUESTS[guest][2] for _ in range(3) for guest in GUESTS)]),
                "NETS": guests,
                "NETTX(k)": sent,
                "NETRX(k)": sent // 8,
                "VBDS": guests,
                "VBD_OO": np.zeros(len(names)),
                "VBD_RD": np.zeros(len(names)),
                "VBD_WR": np.outer(np.arange(10), np.where(guests, 120, 0)),
                "SSID": np.zeros(len(names)),
            },
        ),
        "time-of-day",
        {
            "columns": "17",
            "summary": "yes",
            "xen_version": "3.1",
            "cpus": "8",
            "cpu_mhz": "3500",
            "mem_total_k": str(24576 * 1024),
        },
    )
    return get_writer("xentop").write(reading)


def sar(rng: np.random.Generator, guest: str) -> bytes:
    """`sar 60 10` over the window."""
    busy, _, vcpus = GUESTS[guest]
    used = 100 * busy / vcpus * np.exp(0.02 * rng.standard_normal(10))
    user, system = np.round(0.7 * used, 2), np.round(0.25 * used, 2)
    steal = np.round(0.05 * used, 2)
    fields = {
        "%user": user,
        "%nice": 0 * user,
        "%system": system,
        "%iowait": 0 * user,
        "%steal": steal,
        "%idle": np.round(100 - user - system - steal, 2),
    }
    t = DAY_START + BEGIN + MINUTE * np.arange(1, 11)
    frame = records(
        "cpu", "cpu", ["all"], t, {name: value[:, None] for name, value in fields.items()}
    )
    info = {"kernel": "2.6.18", "host": f"{guest}1", "date": START[:10], "cpus": str(vcpus)}
    return get_writer("sar").write(Reading(frame, "absolute", info))


def netstat(at: int) -> bytes:
    """`netstat -s` at one end of the window; counters since the guest was booted."""
    counts = {
        "Ip": {"total packets received": 900, "requests sent out": 880},
        "Tcp": {
            "active connection openings": 2,
            "passive connection openings": 3,
            "segments received": 860,
            "segments sent out": 840,
            "segments retransmitted": 1,
        },
    }
    parts = [
        records(
            section,
            "host",
            [""],
            np.array([np.nan]),
            {k: np.array([[v * (5000 + at)]]) for k, v in rows.items()},
        )
        for section, rows in counts.items()
    ]
    return get_writer("netstat").write(Reading(pd.concat(parts, ignore_index=True), "none"))


if __name__ == "__main__":
    here = Path(__file__).resolve().parent / "zvm-xen-2009" / "example-xen-9"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
