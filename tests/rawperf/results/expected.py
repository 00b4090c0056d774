"""Independent computation of what the readers must read from the samples, by pandas alone.

`python -m tests.rawperf.results.expected` writes samples/expected.json: for each side of a format the mean of each
benchmark over its three files, in the unit of the reader. Nothing of the readers is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd

SAMPLES = Path(__file__).parent / "samples"
Values = dict[str, float]
"""By quantity and keys, joined by "|"."""


def go_bench(path: Path) -> Values:
    rows = [line.split() for line in path.read_text().splitlines() if line.startswith("Benchmark")]
    cells = [
        (f"{unit}|{row[0]}", float(value))
        for row in rows
        for value, unit in zip(row[2::2], row[3::2], strict=True)
    ]
    values = dict_of_means(cells)
    scale = {
        "ns/op": ("time", 1e-9),
        "MB/s": ("throughput", 1e6),
        "B/op": ("memory", 1),
        "allocs/op": ("allocations", 1),
    }
    return (
        {
            f"{scale.get(unit, (unit, 1))[0]}|{name.rpartition('-')[0]}|example.org/sums|{name.rpartition('-')[2]}":
            value * scale.get(unit, (unit, 1))[1]
            for (unit, name), value in ((key.split("|"), value) for key, value in values.items())
        }
    )  # fmt: skip


def dict_of_means(cells: list[tuple[str, float]]) -> dict[str, float]:
    frame = pd.DataFrame(cells, columns=["key", "value"])
    return frame.groupby("key", sort=False)["value"].mean().to_dict()


def hyperfine(path: Path) -> Values:
    results = json.loads(path.read_text())["results"]
    return {
        f"time|{r['command']}|{r['parameters']['n']}": pd.Series(r["times"]).mean() for r in results
    }


def hyperfine_csv(path: Path) -> Values:
    frame = pd.read_csv(path)
    return {f"time|{r.command}|{r.parameter_n}": r.mean for r in frame.itertuples()}


def google_benchmark(path: Path) -> Values:
    frame = pd.DataFrame(json.loads(path.read_text())["benchmarks"])
    frame = frame[frame.run_type == "iteration"]
    return _google(frame.assign(name=frame.run_name))


def google_benchmark_csv(path: Path) -> Values:
    frame = pd.read_csv(path)
    return _google(frame[~frame.name.str.contains("_mean|_median|_stddev|_cv")])


def _google(frame: pd.DataFrame) -> Values:
    assert set(frame.time_unit) == {"ns"}
    columns = {"real_time": ("time", 1e-9), "cpu_time": ("cpu_time", 1e-9), "items_per_second": ("throughput", 1), "bytes_per_second": ("bandwidth", 1), "roots": ("roots", 1)}  # fmt: skip
    means = frame.groupby("name", sort=False)[list(columns)].mean()
    return {
        f"{columns[c][0]}|{name}": value * columns[c][1]
        for name, row in means.iterrows()
        for c, value in row.dropna().items()
    }


def pytest_benchmark(path: Path) -> Values:
    rows = json.loads(path.read_text())["benchmarks"]
    return {
        f"time|{r['fullname'].partition('[')[0]}|{(r['params'] or {'n': ''})['n']}": pd.Series(
            r["stats"]["data"]
        ).mean()
        for r in rows
    }


def jmh(path: Path) -> Values:
    rows = json.loads(path.read_text())
    assert all(r["primaryMetric"]["scoreUnit"] == "ops/us" for r in rows)
    return {
        f"throughput|{r['benchmark']}|thrpt|{r['params']['size']}|1": 1e6
        * pd.DataFrame(r["primaryMetric"]["rawData"]).to_numpy().mean()
        for r in rows
    }


def jmh_csv(path: Path) -> Values:
    frame = pd.read_csv(path)
    assert set(frame.Unit) == {"us/op"}
    return {f"time|{r[1]}|avgt|{r[-1]}|1": r[5] * 1e-6 for r in frame.itertuples()}


def redis_benchmark(path: Path) -> Values:
    frame = pd.read_csv(path).set_index("test")
    scale = {c: (c.replace("_latency_ms", ""), 1e-3) for c in frame.columns if c != "rps"}
    out = {f"throughput|{test}": value for test, value in frame["rps"].items()}
    for column, (word, factor) in scale.items():
        name = "latency" if word == "avg" else f"latency_{word}"
        out |= {f"{name}|{test}": value * factor for test, value in frame[column].items()}
    return out


SCRIPTS: dict[str, Callable[[Path], Values]] = {
    "go-bench": go_bench,
    "google-benchmark": google_benchmark,
    "google-benchmark-csv": google_benchmark_csv,
    "hyperfine": hyperfine,
    "hyperfine-csv": hyperfine_csv,
    "jmh": jmh,
    "jmh-csv": jmh_csv,
    "pytest-benchmark": pytest_benchmark,
    "redis-benchmark": redis_benchmark,
}


def compute() -> dict[str, dict[str, dict[str, float]]]:
    """Means by format, side and key."""
    sides: dict[str, dict[str, dict[str, float]]] = {}
    for name, script in SCRIPTS.items():
        for side in ("a", "b"):
            files = [pd.Series(script(path)) for path in sorted((SAMPLES / name / side).iterdir())]
            mean = pd.concat(files, axis=1).mean(axis=1)
            sides.setdefault(name, {})[side] = {
                key: float(f"{value:.12g}") for key, value in mean.items()
            }
    return sides


if __name__ == "__main__":
    (SAMPLES / "expected.json").write_text(json.dumps(compute(), indent=1, sort_keys=True) + "\n")
