"""Means, intervals and hypotheses of linux-2026 from the raw files, with none of virtperf's code.

recompute.py [FOLDER] [HYPOTHESES]     the folder of the runs (default data/measured/linux-2026)

Prints, for each condition and quantity, the mean over the runs with its 95 % interval (t,
independent runs), then each hypothesis with its value or its ratio: within blocks, the mean of
log-ratios of runs of one session and replicate; of two sessions, which share no block, the ratio of
their means (Welch). Then how much blocks and sessions vary, and, of runs with windows of 20 s and
more, what their first 4 s say beside the whole window.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy import stats

CPUS = 2
SHORT_S = 4.0
"""Length of the windows of most experiments."""


def kernel_counters(path: Path) -> pd.DataFrame:
    """Snapshots of counters, a row each, with the time of the line above them."""
    rows: list[dict[str, float]] = []
    for line in path.read_text().splitlines():
        if re.fullmatch(r"\d{9,10}(\.\d+)?", line):
            rows.append({"t": float(line)})
        else:
            name, value = line.split()
            rows[-1][name] = float(value)
    return pd.DataFrame(rows)


def counted(folder: Path) -> list[Path]:
    """The run.yaml files of a folder, without runs that are excluded."""
    paths = sorted(folder.glob("*/run.yaml"))
    return [path for path in paths if "\nexcluded:" not in path.read_text()]


class Run:
    """One run folder: quantities of its window, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.info = yaml.safe_load((folder / "run.yaml").read_text())
        self.factors = self.info["factors"]
        start = pd.Timestamp(self.info["start"], tz="UTC").timestamp()
        self.begin, self.end = (start + s for s in self.info["window_s"])
        self.found: dict[str, float] = {}
        self.drivers()
        self.groups()
        self.programs()
        self.host()

    def inside(self, t: pd.Series) -> pd.Series:
        return (t > self.begin) & (t <= self.end)

    def rate(self, path: Path, column: str, scale: float) -> float:
        """Growth per second of a counter between the snapshots that end in the window."""
        table = kernel_counters(path)
        growth = table[column].diff() / table["t"].diff()
        return float(growth[self.inside(table["t"])].mean() * scale)

    def drivers(self) -> None:
        rate, clients = 0.0, 0
        for path in sorted(self.folder.glob("drivers/wrk*")):
            if path.suffix == ".csv":
                continue
            text = path.read_text()
            rate += float(re.search(r"^Requests/sec: +([\d.]+)$", text, re.M)[1])
            clients += int(re.search(r"(\d+) threads and (\d+) connections", text)[2])
        if rate:
            self.found["throughput"] = rate
            think = float(self.factors["think_ms"])
            self.found["response_by_law"] = 1000 * clients / rate - think
        if (path := self.folder / "drivers/vegeta.csv.gz").is_file():
            self.open_loop(path)
        if (path := self.folder / "drivers/jmeter").is_file():
            self.jmeter(path)

    def open_loop(self, path: Path) -> None:
        table = pd.read_csv(io.BytesIO(gzip.decompress(path.read_bytes())), header=None)
        sent, latency, number = table[0] / 1e9, table[2] / 1e6, table[8]
        offered = float(self.factors["rate"])
        intended = number / offered
        intended = intended + (sent - intended).min()
        done = sent + latency / 1000
        chosen = self.inside(done)
        whole = latency + (sent - intended) * 1000
        self.of_seconds(done, latency)
        self.found["response_p50"] = float(latency[chosen].quantile(0.5))
        self.found["response_p99"] = float(latency[chosen].quantile(0.99))
        self.found["response_p99_from_intended_start"] = float(whole[chosen].quantile(0.99))
        self.found["late_p99"] = float(((sent - intended) * 1000)[chosen].quantile(0.99))
        self.found["failed"] = float((table[1] != 200).sum())

    def jmeter(self, path: Path) -> None:
        samples = [s.attrib for s in ET.parse(path).getroot().iter("httpSample")]  # noqa: S314 - our own file
        table = pd.DataFrame(samples)[["ts", "t"]].astype(float)
        self.of_seconds((table["ts"] + table["t"]) / 1000, table["t"])

    def of_seconds(self, done: pd.Series, latency: pd.Series) -> None:
        """Means over seconds that are counted from the first answer and end in the window."""
        first = done.min()
        ends = first + (done - first) // 1 + 1
        seconds = latency.groupby(ends).agg(["size", "mean"])
        seconds = seconds[self.inside(seconds.index.to_series())]
        self.found["response_sampled"] = float(seconds["mean"].mean())
        self.found["throughput"] = float(seconds["size"].mean())

    def groups(self) -> None:
        guests = sorted(self.folder.glob("guests/*/cpu.txt"))
        cpu = 0.0
        parts = {"user": 0.0, "system": 0.0}
        throttled = 0.0
        for path in guests:
            cpu += self.rate(path, "cpuacct.usage", 1e-9)
            parts["user"] += self.rate(path, "cpuacct.usage_user", 1e-9)
            parts["system"] += self.rate(path, "cpuacct.usage_sys", 1e-9)
            throttled += self.rate(path, "throttled_time", 1e-9)
        self.found["cpu_guests"] = 100 * cpu / CPUS
        self.found["throttled"] = throttled
        if "throughput" in self.found and self.factors["test"] != "driver":
            self.found["cpu_per_request"] = 1000 * cpu / self.found["throughput"]
        if (path := self.folder / "drivers/client/cpu.txt").is_file():
            self.found["cpu_drivers"] = 100 * self.rate(path, "cpuacct.usage", 1e-9) / CPUS
        memory = sorted(self.folder.glob("guests/*/memory.txt"))
        if memory:
            self.found["memory_anonymous"] = self.found["memory_file"] = 0.0
            self.found["major_faults"] = 0.0
        for path in memory:
            table = kernel_counters(path)
            chosen = table[self.inside(table["t"])]
            self.found["memory_anonymous"] += float(chosen["rss"].mean() / 2**20)
            self.found["memory_file"] += float(chosen["cache"].mean() / 2**20)
            self.found["major_faults"] += self.rate(path, "pgmajfault", 1.0)
        self.cpu = cpu

    def programs(self) -> None:
        own = [pd.read_csv(path) for path in self.folder.glob("guests/*/workingset.csv")]
        if own:
            # the program's clock starts with it, within some ms of the run's
            low, high = self.info["window_s"]
            rates = []
            for table in own:
                table = table[(table["t_s"] > low) & (table["t_s"] <= high)]
                rates.append((table["transactions"] / table["interval_s"]).mean())
            self.found["transactions"] = float(sum(rates))
        for name, pattern in (("served", "server*.csv"), ("sent", "wrk*.csv")):
            folder = "guests/*" if name == "served" else "drivers"
            tables = [pd.read_csv(path) for path in self.folder.glob(f"{folder}/{pattern}")]
            if tables:
                self.found[name] = float(
                    sum(
                        (t["requests"] / t["interval_s"])[self.inside(t["end_s"])].mean()
                        for t in tables
                    )
                )
        if "served" in self.found:
            self.found["cpu_per_served"] = 1000 * self.cpu / self.found["served"]
        logs = list(self.folder.glob("guests/*/reads_iops.*.log"))
        if logs:
            self.found["reads"] = 0.0
            for path in logs:
                table = pd.read_csv(path, header=None)
                self.found["reads"] += float(table[1][self.inside(table[0] / 1000)].mean())
            totals = [
                json.loads(p.read_text())["jobs"][0]["read"]["iops"]
                for p in self.folder.glob("guests/*/fio.json")
            ]
            self.found["reads_by_fio"] = float(sum(totals))

    def host(self) -> None:
        document = json.loads((self.folder / "host/sadf.json").read_text())
        rows = document["sysstat"]["hosts"][0]["statistics"]
        busy, waiting = [], []
        for row in rows:
            if "cpu-load" not in row:
                continue
            stamp = row["timestamp"]
            t = pd.Timestamp(f"{stamp['date']} {stamp['time']}", tz="UTC").timestamp()
            if self.begin < t <= self.end:
                everything = next(cpu for cpu in row["cpu-load"] if cpu["cpu"] == "all")
                elsewhere = everything["idle"] + everything["iowait"] + everything["steal"]
                busy.append(100 - elsewhere)
                waiting.append(everything["iowait"])
        if busy:
            self.found["cpu_machine"] = float(np.mean(busy))
            self.found["iowait"] = float(np.mean(waiting))


class Table:
    """All runs, a row each."""

    def __init__(self, folder: Path, defaults: dict[str, object]) -> None:
        runs = [Run(path.parent) for path in counted(folder)]
        self.defaults = defaults
        self.factors = list(defaults)
        self.rows = pd.DataFrame(
            [{**run.factors, "replicate": run.info["replicate"], **run.found} for run in runs]
        )

    def values(self, text: str, also: dict[str, object]) -> pd.Series:
        """A sum of quantities such as `2 * a[x=1] - b`, by session and replicate."""
        total: pd.Series | None = None
        for sign, number, name, levels in re.findall(
            r"([+-]?)\s*(?:([\d.]+)\s*\*\s*)?([a-z_0-9]*[a-z_][a-z_0-9]*)\s*(?:\[([^\]]*)\])?", text
        ):
            at = {**self.defaults, **also}
            for part in filter(None, (p.strip() for p in levels.split(","))):
                factor, level = part.split("=")
                at[factor] = yaml.safe_load(level)
            chosen = self.rows
            for factor, level in at.items():
                chosen = chosen[chosen[factor] == level]
            if chosen.empty or name not in chosen:
                raise KeyError(f"{name} at {at}")
            by_block = chosen.set_index(["session", "replicate"])[name].dropna()
            term = by_block * float(number or 1) * (-1 if sign == "-" else 1)
            total = term if total is None else (total + term).dropna()
        if total is None:
            raise KeyError(text)
        return total


def interval(values: pd.Series) -> tuple[float, float, float]:
    mean, n = float(values.mean()), len(values)
    if n < 2:
        return mean, math.nan, math.nan
    half = float(stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / math.sqrt(n))
    return mean, mean - half, mean + half


def combinations(each: dict[str, list[object]]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = [{}]
    for factor, levels in each.items():
        found = [{**known, factor: level} for known in found for level in levels]
    return found


def hypotheses(table: Table, path: Path) -> None:
    print("\nhypothesis; condition; ratio within blocks (or value) with 95 % interval; blocks")
    for said in yaml.safe_load(path.read_text())["hypotheses"]:
        for also in combinations(said.get("for_each", {})):
            where = ", ".join(f"{f}={v}" for f, v in also.items())
            try:
                pairs = []
                if "order" in said:
                    pairs = [(said["order"][1], said["order"][0], also)]
                elif "over" in said:
                    others = [lv for lv in said["levels"] if lv != said.get("at")]
                    levels = [
                        ({**also, said["over"]: said.get("at")}, {**also, said["over"]: other})
                        for other in others
                    ]
                    for winner, other in levels:
                        of = table.values(said["of"], winner)
                        to = table.values(said["of"], other)
                        report(said["id"], f"{said['at']} / {other[said['over']]}", of, to)
                    continue
                elif "to" in said:
                    pairs = [(said["of"], said["to"], also)]
                else:
                    value = interval(table.values(said["of"], also))
                    print(
                        f"{said['id']}; {where}; value {value[0]:.5g} ({value[1]:.5g} to {value[2]:.5g})"
                    )
                for of, to, levels in pairs:
                    report(said["id"], where, table.values(of, levels), table.values(to, levels))
            except KeyError as err:
                print(f"{said['id']}; {where}; no runs: {err}")


def report(name: str, where: str, of: pd.Series, to: pd.Series) -> None:
    ratio = np.log((of / to).dropna())
    mean, low, high = np.exp(interval(ratio)) if len(ratio) else independent(of, to)
    print(f"{name}; {where}; ratio {mean:.4f} ({low:.4f} to {high:.4f}); {len(ratio)}")


def independent(of: pd.Series, to: pd.Series) -> tuple[float, float, float]:
    """The ratio of two means of runs that share no block, with a spread for each."""
    ratio = of.mean() / to.mean()
    parts = [(x.std(ddof=1) / x.mean()) ** 2 / len(x) for x in (of, to)]
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(x) - 1) for part, x in zip(parts, (of, to), strict=True)
    )
    half = stats.t.ppf(0.975, freedom) * math.sqrt(sum(parts))
    return ratio, ratio * math.exp(-half), ratio * math.exp(half)


def seconds(folder: Path, run: dict[str, Any]) -> tuple[str, list[pd.Series]] | None:
    """The quantity that a run logs every second, and a series of its rates for each server, guest,
    reader or driver, indexed by seconds since the window began.
    """
    start = pd.Timestamp(run["start"], tz="UTC").timestamp()
    low, high = run["window_s"]
    columns: list[pd.Series] = []
    for name, pattern in (
        ("transactions", "guests/*/workingset.csv"),
        ("served", "guests/*/server*.csv"),
        ("reads", "guests/*/reads_iops.*.log"),
        ("sent", "drivers/wrk*.csv"),
    ):
        for path in sorted(folder.glob(pattern)):
            if name == "transactions":
                table = pd.read_csv(path)
                t, rate = table["t_s"] - low, table["transactions"] / table["interval_s"]
            elif name == "reads":
                table = pd.read_csv(path, header=None)
                t, rate = table[0] / 1000 - start - low, table[1]
            else:
                table = pd.read_csv(path)
                t, rate = table["end_s"] - start - low, table["requests"] / table["interval_s"]
            inside = (t > 0) & (t <= high - low)
            columns.append(pd.Series(rate[inside].to_numpy(), t[inside].to_numpy()))
        if columns:
            return name, columns
    return None


def long_windows(folder: Path) -> None:
    """The first 4 s of long windows over the whole, and the change over the window by a straight
    line as a share of its mean, each with its interval over the runs of a condition.
    """
    rows = []
    for path in counted(folder):
        run = yaml.safe_load(path.read_text())
        low, high = run["window_s"]
        if high - low < 5 * SHORT_S or (found := seconds(path.parent, run)) is None:
            continue
        name, columns = found
        whole = sum(rates.mean() for rates in columns)
        first = sum(rates[rates.index <= SHORT_S].mean() for rates in columns)
        slope = sum(stats.linregress(rates.index, rates).slope for rates in columns)
        condition = re.sub(r"-r\d+$", "", run["run"])
        rows.append((condition, name, first / whole, slope * (high - low) / whole))
    if not rows:
        return
    print("\nfirst 4 s / whole window; change over the window, %; each with 95 % interval; runs")
    table = pd.DataFrame(rows, columns=["condition", "name", "first", "change"])
    for (condition, name), group in table.groupby(["condition", "name"], sort=True):
        first = np.exp(interval(np.log(group["first"])))
        change = 100 * np.array(interval(group["change"]))
        print(
            f"{condition}; {name}; {first[0]:.4f} ({first[1]:.4f} to {first[2]:.4f}); "
            f"{change[0]:.2f} ({change[1]:.2f} to {change[2]:.2f}); {len(group)}"
        )


def sessions(table: Table) -> None:
    """Standard deviations of blocks within a session and of sessions, of the experiment that most
    have whole, by the analysis of variance of log throughput.
    """
    print("\nspread of throughput; conditions; of blocks within a session; between sessions, %")
    rows = table.rows[table.rows["test"].eq("cpu")]
    whole = rows.groupby("session")[["guests", "think_ms"]].apply(
        lambda g: len(g.drop_duplicates())
    )
    rows = rows[rows["session"].isin(whole.index[whole == whole.max()])]
    for name, chosen in (
        ("level", rows.assign(log=np.log(rows["throughput"]))),
        ("ratio to 2 guests", to_two_guests(rows)),
    ):
        groups = chosen.groupby(["guests", "think_ms", "session"])["log"]
        within = float(groups.var(ddof=1).mean())
        between = float(groups.mean().groupby(["guests", "think_ms"]).var(ddof=1).mean())
        blocks = int(groups.size().min())
        added = max(between - within / blocks, 0.0)
        found = f"{100 * math.sqrt(within):.2f}; {100 * math.sqrt(added):.2f}"
        conditions = len(chosen[["guests", "think_ms"]].drop_duplicates())
        print(f"{name}; {conditions}; {found}")


def to_two_guests(rows: pd.DataFrame) -> pd.DataFrame:
    """Logarithms of the ratios to two guests of the same block."""
    keys = ["think_ms", "session", "replicate"]
    two = rows[rows["guests"].eq(2)].set_index(keys)["throughput"].rename("two")
    others = rows[rows["guests"].ne(2)].join(two, on=keys)
    return others.assign(log=np.log(others["throughput"] / others["two"]))


def main(folder: str = "data/measured/linux-2026", file: str = "") -> None:
    study = yaml.safe_load((Path(folder) / "study.yaml").read_text())
    defaults = {name: factor["default"] for name, factor in study["factors"].items()}
    table = Table(Path(folder), defaults)
    named = [c for c in table.rows.columns if c not in (*table.factors, "replicate")]
    keys = [f for f in table.factors if table.rows[f].nunique() > 1]
    print("condition; quantity; mean with 95 % interval; runs; coefficient of variation")
    for condition, group in table.rows.groupby(keys, sort=True):
        words = " ".join(
            f"{f}={v}" for f, v in zip(keys, condition, strict=True) if v != defaults[f]
        )
        for name in named:
            values = group[name].dropna()
            if len(values):
                mean, low, high = interval(values)
                spread = values.std(ddof=1) / mean if len(values) > 1 and mean else math.nan
                print(
                    f"{words}; {name}; {mean:.5g} ({low:.5g} to {high:.5g}); {len(values)}; {spread:.3f}"
                )
    hypotheses(table, Path(file or Path(folder) / "hypotheses.yaml"))
    if table.rows["session"].nunique() > 1:
        sessions(table)
    long_windows(Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
