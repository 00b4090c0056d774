"""Means, intervals and hypotheses of linux-2026 from the raw files, without virtperf.

python testbeds/linux/recompute.py [FOLDER]

FOLDER is data/measured/linux-2026, with packed runs (runs/*.zip) or run folders.
"""

from __future__ import annotations

import io
import json
import math
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy import stats

CPUS = 2
LEVEL = 0.95
FEWEST_MACHINES = 3
Files = dict[str, bytes]


def run_files(folder: Path) -> Iterator[Files]:
    """The files of every run, by their paths in the run."""
    for path in sorted(folder.glob("*/run.yaml")):
        inside = (p for p in path.parent.rglob("*") if p.is_file())
        yield {p.relative_to(path.parent).as_posix(): p.read_bytes() for p in inside}
    for path in sorted(folder.glob("runs/*.zip")):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            for run in sorted({name.split("/")[0] for name in names}):
                of_run = [n for n in names if n.startswith(f"{run}/") and not n.endswith("/")]
                yield {n.removeprefix(f"{run}/"): archive.read(n) for n in of_run}


class Run:
    """One run: its factors and the values of its quantities."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.info: dict[str, Any] = yaml.safe_load(files["run.yaml"])
        self.start = pd.Timestamp(self.info["start"], tz="UTC").timestamp()
        self.begin, self.end = (self.start + t for t in self.info["window_s"])
        self.found: dict[str, float] = {}
        for measure in (self.clients, self.groups, self.memory, self.programs, self.host):
            measure()

    def table(self, name: str, **options: Any) -> pd.DataFrame:
        return pd.read_csv(io.BytesIO(self.files[name]), **options)

    def weights(self, ends: pd.Series, length: Any = 1.0) -> np.ndarray:
        """How many seconds of each interval lie in the window."""
        high = np.minimum(ends, self.end)
        low = np.maximum(ends - length, self.begin)
        return np.maximum(high - low, 0.0).to_numpy()

    def mean(self, values: pd.Series, ends: pd.Series, length: Any = 1.0) -> float:
        return float(np.average(values, weights=self.weights(ends, length)))

    def rate(self, times: pd.Series, counter: pd.Series) -> float:
        """Increase a second over the window of a counter that is read now and then."""
        ends = np.clip([self.begin, self.end], times.min(), times.max())
        low, high = np.interp(ends, times, counter)
        return float((high - low) / (ends[1] - ends[0]))

    def clients(self) -> None:
        if "drivers/wrk.csv" not in self.files:
            return
        table = self.table("drivers/wrk.csv")
        answered = waiting = 0.0
        for _, rows in table.groupby("server"):
            answered += self.mean(rows["answered"], rows["end_s"])
            waiting += self.mean(rows["waiting"], rows["end_s"])
        self.found["throughput"] = answered
        self.found["response"] = 1000 * waiting / answered
        think = self.info["think_time_s"]
        self.found["law"] = answered * (waiting / answered + think) / self.info["clients"]

    def groups(self) -> None:
        table = self.table("guests/cpu.csv")
        rates = {
            group: self.rate(rows["time_s"], rows["usage_ns"]) / 1e9
            for group, rows in table.groupby("group")
        }
        drivers = rates.pop("client", math.nan)
        self.found["cpu_guests"] = 100 * sum(rates.values()) / CPUS
        self.found["cpu_drivers"] = 100 * drivers / CPUS
        if "throughput" in self.found:
            self.found["cpu_per_request"] = 1000 * sum(rates.values()) / self.found["throughput"]

    def memory(self) -> None:
        if "guests/memory.csv" not in self.files:
            return
        groups = [rows for _, rows in self.table("guests/memory.csv").groupby("group")]
        self.found["major_faults"] = sum(self.rate(g["time_s"], g["major_faults"]) for g in groups)
        self.found["memory_file"] = sum(
            self.mean(g["file_bytes"], g["time_s"], g["time_s"].diff()) / 2**20
            for g in (g.iloc[1:].assign(time_s=g["time_s"]) for g in groups)
        )

    def programs(self) -> None:
        if "guests/guest1.csv" in self.files:
            table = self.table("guests/guest1.csv")
            rates = table["transactions"] / table["interval_s"]
            ends = self.start + table["t_s"]
            self.found["transactions"] = self.mean(rates, ends, table["interval_s"])
        logs = sorted(name for name in self.files if "_iops" in name)
        if logs:
            tables = [self.table(name, header=None) for name in logs]
            self.found["reads"] = sum(self.mean(t[1], t[0] / 1000) for t in tables)
            totals = [json.loads(self.files[f"guests/fio{n + 1}.json"]) for n in range(len(logs))]
            self.found["reads_by_fio"] = sum(t["jobs"][0]["read"]["iops"] for t in totals)

    def host(self) -> None:
        document = json.loads(self.files["host/sadf.json"])
        rows = [r for r in document["sysstat"]["hosts"][0]["statistics"] if "cpu-load" in r]
        stamps = [f"{r['timestamp']['date']} {r['timestamp']['time']}" for r in rows]
        ends = pd.Series([pd.Timestamp(text, tz="UTC").timestamp() for text in stamps])
        everything = [next(c for c in r["cpu-load"] if c["cpu"] == "all") for r in rows]
        busy = pd.Series([100 - c["idle"] - c["iowait"] - c["steal"] for c in everything])
        self.found["cpu_machine"] = self.mean(busy, ends)


class Table:
    """All runs, a row each."""

    def __init__(self, folder: Path, defaults: dict[str, Any]) -> None:
        runs = [Run(files) for files in run_files(folder)]
        self.rows = pd.DataFrame(
            [{**r.info["factors"], "replicate": r.info["replicate"], **r.found} for r in runs]
        )
        self.defaults = {name: level for name, level in defaults.items() if name != "session"}

    def side(self, text: str) -> pd.Series:
        """A quantity such as `throughput[guests=8]`, by session and replicate."""
        name, _, levels = text.rstrip("]").partition("[")
        at = dict(self.defaults)
        for part in filter(None, levels.split(",")):
            factor, level = part.strip().split("=")
            at[factor] = yaml.safe_load(level)
        chosen = self.rows
        for factor, level in at.items():
            chosen = chosen[chosen[factor] == level]
        return chosen.set_index(["session", "replicate"])[name].dropna()


def interval(values: pd.Series) -> tuple[float, float, float]:
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return mean, math.nan, math.nan
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * float(values.std(ddof=1)) / math.sqrt(n)
    return mean, mean - half, mean + half


def ratio(of: pd.Series, to: pd.Series) -> tuple[float, float, float]:
    """With several machines, the ratios of their means; with one, the ratios of its blocks."""
    if of.index.get_level_values("session").nunique() > 1:
        of, to = (side.groupby("session").mean() for side in (of, to))
    low, value, high = sorted(interval(np.log(of / to).dropna()))
    return math.exp(value), math.exp(low), math.exp(high)


def means(table: Table) -> None:
    print("condition; quantity; mean with 95 % interval over machines (over runs of one); runs")
    factors = list(table.defaults)
    named = [c for c in table.rows.columns if c not in (*factors, "session", "replicate")]
    for condition, group in table.rows.groupby(factors, sort=True):
        pairs = zip(factors, condition, strict=True)
        words = " ".join(f"{f}={v}" for f, v in pairs if v != table.defaults[f])
        for name in named:
            values = group.set_index("session")[name].dropna()
            if values.empty:
                continue
            several = values.index.nunique() > 1
            units = values.groupby("session").mean() if several else values
            mean, low, high = interval(units)
            print(f"{words}; {name}; {mean:.6g} ({low:.6g} to {high:.6g}); {len(values)}")


def hypotheses(table: Table, path: Path) -> None:
    machines = table.rows["session"].nunique()
    print(f"\nhypothesis; ratio with 95 % interval; {machines} machine(s)")
    for said in yaml.safe_load(path.read_text())["hypotheses"]:
        of, to = (said["of"], said["to"]) if "of" in said else said["order"][::-1]
        found = ratio(table.side(of), table.side(to))
        print(f"{said['id']}; {found[0]:.5f} ({found[1]:.5f} to {found[2]:.5f})")
        for session, rows in table.side(of).groupby("session"):
            other = table.side(to)
            alone = ratio(rows, other[other.index.get_level_values("session") == session])
            print(f"  machine {session}: {alone[0]:.5f} ({alone[1]:.5f} to {alone[2]:.5f})")
    if machines < FEWEST_MACHINES:
        print(f"not judged: at least {FEWEST_MACHINES} machines are needed")


def law(table: Table) -> None:
    """Throughput times response and think time, over the clients: 1 by the response-time law."""
    found = table.rows["law"].dropna()
    print(f"\nresponse-time law: {found.min():.4f} to {found.max():.4f} in {len(found)} runs")


def main(folder: str = "data/measured/linux-2026") -> None:
    study = yaml.safe_load((Path(folder) / "study.yaml").read_text())
    defaults = {name: factor["default"] for name, factor in study["factors"].items()}
    table = Table(Path(folder), defaults)
    means(table)
    hypotheses(table, Path(folder) / "hypotheses.yaml")
    law(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
