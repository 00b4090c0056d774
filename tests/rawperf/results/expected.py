"""Independent computation of what the readers must read from the samples, by pandas alone.

`python -m tests.rawperf.results.expected` writes samples/expected.json: for each side of a format the mean of each
benchmark over its three files, in the unit of the reader. Nothing of the readers is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

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


def pyperf(path: Path) -> Values:
    document = json.loads(path.read_text())
    values = [v for run in document["benchmarks"][0]["runs"] for v in run.get("values", [])]
    return {f"time|{document['metadata']['name']}": pd.Series(values).mean()}


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


def ycsb(path: Path) -> Values:
    frame = pd.read_csv(path, header=None, names=["op", "label", "value"], skipinitialspace=True)
    rows = {(row.op.strip("[]"), row.label): row.value for row in frame.itertuples()}
    names = {"AverageLatency(us)": "latency", "95thPercentileLatency(us)": "latency_p95"}
    return {"throughput|OVERALL": rows["OVERALL", "Throughput(ops/sec)"]} | {
        f"{names[label]}|{op}": value * 1e-6
        for (op, label), value in rows.items()
        if label in names and op in ("READ", "UPDATE", "SCAN")
    }


def pgbench(path: Path) -> Values:
    text = path.read_text()
    keys = "look.sql|1|simple|2|1"
    return {
        f"throughput|{keys}": float(text.partition("tps = ")[2].split()[0]),
        f"latency|{keys}": float(text.partition("latency average = ")[2].split()[0]) / 1000,
    }


def pgbench_log(path: Path) -> Values:
    frame = pd.read_csv(path, sep=" ", header=None)
    end = frame[4] + frame[5] / 1e6
    span = end.max() - (end - frame[2] / 1e6).min()
    return {"latency": frame[2].mean() / 1e6, "throughput": len(frame) / span, "failure_rate": 0.0}


def pgbench_aggregate(path: Path) -> Values:
    frame = pd.read_csv(path, sep=" ", header=None)
    values = {"latency": frame[2].sum() / frame[1].sum() / 1e6}
    inner = frame.iloc[1:-1]
    span = frame[0].iloc[-1] - frame[0].iloc[1]
    return values | {"throughput": inner[1].sum() / span}


def memtier(path: Path) -> Values:
    lines = [line.split() for line in path.read_text().splitlines()]
    rows = {
        words[0]: words[1:]
        for words in lines
        if words[:1] and words[0] in ("Sets", "Gets", "Totals")
    }
    return {f"throughput|{name}": float(row[0]) for name, row in rows.items()} | {
        f"latency|{name}": float(row[3]) / 1e3 for name, row in rows.items()
    }


def memtier_json(path: Path) -> Values:
    stats = json.loads(path.read_text())["ALL STATS"]
    return {f"throughput|{name}": stats[name]["Ops/sec"] for name in ("Sets", "Gets", "Totals")} | {
        f"latency|{name}": stats[name]["Average Latency"] / 1e3 for name in ("Sets", "Gets")
    }


def locust(path: Path) -> Values:
    frame = pd.read_csv(path, keep_default_na=False)
    values = {}
    for row in frame.to_dict("records"):
        key = f"{row['Type']}|{row['Name']}"
        values[f"throughput|{key}"] = float(row["Requests/s"]) - float(row["Failures/s"])
        values[f"response_time|{key}"] = float(row["Average Response Time"]) / 1e3
        values[f"failure_rate|{key}"] = int(row["Failure Count"]) / int(row["Request Count"])
        values[f"response_time_p95|{key}"] = float(row["95%"]) / 1e3
    return values


def locust_history(path: Path) -> Values:
    frame = pd.read_csv(path, keep_default_na=False)
    first, last = frame.iloc[0], frame.iloc[-1]
    served = frame["Total Request Count"].astype(int) - frame["Total Failure Count"].astype(int)
    span = int(last["Timestamp"]) - int(first["Timestamp"])
    return {
        "throughput||Aggregated": (served.iloc[-1] - served.iloc[0]) / span,
        "response_time||Aggregated": float(last["Total Average Response Time"]) / 1e3,
    }


def locust_failures(path: Path) -> Values:
    return {"failures||Aggregated|": float(pd.read_csv(path)["Occurrences"].sum())}


def criterion_estimates(path: Path) -> Values:
    place = "/".join(path.parts[path.parts.index("criterion") + 1 : -2])
    return {f"time|{place}": json.loads(path.read_text())["mean"]["point_estimate"] * 1e-9}


def criterion_sample(path: Path) -> Values:
    place = "/".join(path.parts[path.parts.index("criterion") + 1 : -2])
    sample = json.loads(path.read_text())
    return {
        f"time|{place}": (pd.Series(sample["times"]) / pd.Series(sample["iters"])).mean() * 1e-9
    }


def criterion_raw(path: Path) -> Values:
    frame = pd.read_csv(path)
    return {"time|roots/1000": (frame.sample_measured_value / frame.iteration_count).mean() * 1e-9}


def netperf(path: Path) -> Values:
    lines = path.read_text().splitlines()
    if path.name.startswith("rr"):
        values = dict(line.split("=") for line in lines if "=" in line)
        assert values["THROUGHPUT_UNITS"] == "Trans/s"
        return {
            "throughput|TCP REQUEST/RESPONSE": float(values["THROUGHPUT"]),
            "latency|TCP REQUEST/RESPONSE": float(values["MEAN_LATENCY"]) / 1e6,
        }
    size, _, throughput = lines[-1].split()[2:]
    return {f"throughput|TCP STREAM|{size}": float(throughput) * 1e6 / 8}


def cargo_criterion(path: Path) -> Values:
    frame = pd.read_json(path, lines=True)
    frame = frame[frame.reason == "benchmark-complete"]
    times = frame[["id", "measured_values", "iteration_count"]].explode(
        ["measured_values", "iteration_count"]
    )
    means = (times.measured_values / times.iteration_count).groupby(times.id).mean()
    return {f"time|{name}": value * 1e-9 for name, value in means.items()}


def phoronix(path: Path) -> Values:
    found: Values = {}
    for result in ElementTree.parse(path).getroot().iter("Result"):
        title, text, scale = (
            result.findtext(name) or "" for name in ("Title", "Description", "Scale")
        )
        for entry in result.iter("Entry"):
            trials = pd.Series((entry.findtext("RawString") or "").split(":")).astype(float)
            key = f"{title}|{text}|{entry.findtext('Identifier')}"
            name = {"Seconds": "time", "MB/s": "MB/s (higher is better)"}[scale]
            found[f"{name}|{key}"] = trials.mean() * (1e6 if scale == "MB/s" else 1)
    return found


def hammerdb(path: Path) -> Values:
    words = path.read_text().partition("achieved ")[2].split()
    return {
        "throughput|PostgreSQL|2": float(words[0]) / 60,
        "transaction_rate|PostgreSQL|2": float(words[3]) / 60,
    }


def perf_kvm_stat(path: Path) -> Values:
    rows = [line.split() for line in path.read_text().splitlines() if "( +-" in line]
    keys = [f"all VMs, all VCPUs|{row[0]}" for row in rows]
    return {f"exits|{key}": float(row[1]) for key, row in zip(keys, rows, strict=True)} | {
        f"exit_time|{key}": float(row[6].removesuffix("us")) * 1e-6
        for key, row in zip(keys, rows, strict=True)
    }


def k6(path: Path) -> Values:
    metrics = json.loads(path.read_text())["metrics"]
    failed = metrics["http_req_failed"]["value"]
    trend = metrics["http_req_duration{expected_response:true}"]
    return {
        "throughput|": metrics["http_reqs"]["rate"] * (1 - failed),
        "response_time|": trend["avg"] / 1e3,
        "response_time_p95|": trend["p(95)"] / 1e3,
        "failure_rate|": failed,
        "checkout_wait|": metrics["checkout_wait"]["avg"],
        "orders|": metrics["orders"]["rate"],
    }


def asv(path: Path) -> Values:
    found = json.loads(path.read_text())["results"]
    n, kind = found["b.Suite.time_f"][1]
    times = pd.Series(found["b.Suite.time_f"][0], pd.MultiIndex.from_product([n, kind]))
    return {f"time|b.Suite.time_f|{i}|{k}": value for (i, k), value in times.items()} | {
        "memory|b.mem_l||": found["b.mem_l"][0][0],
        "tracked|b.track_size||": found["b.track_size"][0][0],
        "failures|b.Half.time_h|2|": 1.0,
        "failures|b.time_broken||": 1.0,
    }


def oha(path: Path) -> Values:
    found = json.loads(path.read_text())
    codes = pd.Series(found["statusCodeDistribution"])
    served = codes[codes.index.astype(int) < 400].sum()
    return {
        "throughput": served / found["summary"]["total"],
        "failure_rate": 1 - served / codes.sum(),
        "response_time": found["summary"]["average"],
        "response_time_p95": found["latencyPercentiles"]["p95"],
    }


def bombardier(path: Path) -> Values:
    result = json.loads(path.read_text())["result"]
    served = result["req2xx"] + result["req3xx"]
    return {
        "throughput": served / result["timeTakenSeconds"],
        "failure_rate": 1
        - served / (served + result["req4xx"] + result["req5xx"] + result["others"]),
        "response_time": result["latency"]["mean"] / 1e6,
        "response_time_p99": result["latency"]["percentiles"]["99"] / 1e6,
    }


def gatling(path: Path) -> Values:
    found = json.loads(path.read_text())
    (request,) = found["contents"].values()
    each = {"All Requests": found["stats"], request["name"]: request["stats"]}
    frame = pd.json_normalize(each.values()).set_index(pd.Index(each))
    values = {
        "throughput": frame["meanNumberOfRequestsPerSecond.ok"],
        "failure_rate": frame["numberOfRequests.ko"] / frame["numberOfRequests.total"],
        "response_time": frame["meanResponseTime.ok"] / 1e3,
    }
    return {f"{name}|{of}": v for name, column in values.items() for of, v in column.items()}


def autocannon(path: Path) -> Values:
    found = json.loads(path.read_text())
    return {
        "throughput": found["2xx"] / found["duration"],
        "failure_rate": 1 - found["2xx"] / (found["requests"]["total"] + found["errors"]),
        "response_time": found["latency"]["average"] / 1e3,
        "response_time_p99": found["latency"]["p99"] / 1e3,
    }


SCRIPTS: dict[str, Callable[[Path], Values]] = {
    "asv": asv,
    "autocannon": autocannon,
    "bombardier": bombardier,
    "cargo-criterion": cargo_criterion,
    "criterion-estimates": criterion_estimates,
    "criterion-raw": criterion_raw,
    "criterion-sample": criterion_sample,
    "gatling": gatling,
    "go-bench": go_bench,
    "google-benchmark": google_benchmark,
    "google-benchmark-csv": google_benchmark_csv,
    "hammerdb": hammerdb,
    "hyperfine": hyperfine,
    "hyperfine-csv": hyperfine_csv,
    "jmh": jmh,
    "jmh-csv": jmh_csv,
    "k6-summary": k6,
    "locust": locust,
    "locust-failures": locust_failures,
    "locust-history": locust_history,
    "memtier": memtier,
    "memtier-json": memtier_json,
    "netperf": netperf,
    "oha": oha,
    "perf-kvm-stat": perf_kvm_stat,
    "pgbench": pgbench,
    "pgbench-aggregate": pgbench_aggregate,
    "pgbench-log": pgbench_log,
    "phoronix": phoronix,
    "pyperf": pyperf,
    "pytest-benchmark": pytest_benchmark,
    "redis-benchmark": redis_benchmark,
    "ycsb": ycsb,
}


def compute() -> dict[str, dict[str, dict[str, float]]]:
    """Means by format, side and key."""
    sides: dict[str, dict[str, dict[str, float]]] = {}
    for name, script in SCRIPTS.items():
        for side in ("a", "b"):
            files = [
                pd.Series(script(path)) for path in sorted((SAMPLES / name / side).rglob("*.*"))
            ]
            mean = pd.concat(files, axis=1).mean(axis=1)
            sides.setdefault(name, {})[side] = {
                key: float(f"{value:.12g}") for key, value in mean.items()
            }
    return sides


if __name__ == "__main__":
    (SAMPLES / "expected.json").write_text(json.dumps(compute(), indent=1, sort_keys=True) + "\n")
