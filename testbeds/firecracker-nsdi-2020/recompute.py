#!/usr/bin/env python3
"""Every plotted value and every verdict of the study, computed again from the raw files alone.

    python testbeds/firecracker-nsdi-2020/recompute.py data/measured/firecracker-nsdi-2020

It prints JSON: `values`, by quantity and file, each with the ends of its 95 % interval where it has
one, and `verdicts` by machine and claim, with the number that decides. It shares no code with
virtperf and needs nothing but Python: files are split by hand, ranks come from sums of binomial
probabilities, and what a claim allows is written out below. A test compares both.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable
from functools import cache
from itertools import accumulate
from pathlib import Path

MACHINES = ("m5d.metal", "rn.haswell", "rn.nehalem")
SIZES = (128, 256, 512, 1024, 1536, 2048, 3072, 4096, 6144, 8192)
LEVEL = 0.95
TOLERANCE = 0.02
Three = tuple[float, float, float]
"""A value with the ends of its interval; NaN where one run shows none."""


# ---- statistics
# ------------------------------------------------------------------------------------


@cache
def choose(n: int) -> list[float]:
    """Logarithms of the binomial coefficients."""
    every = math.lgamma(n + 1)
    return [every - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1)]


@cache
def cumulative(n: int, p: float) -> list[float]:
    """P(count <= k) of a binomial count, k from 0 to n."""
    yes, no = math.log(p), math.log1p(-p)
    parts = (math.exp(c + k * yes + (n - k) * no) for k, c in enumerate(choose(n)))
    return [min(total, 1.0) for total in accumulate(parts)]


def point(ordered: list[float], p: float) -> float:
    """The smallest value that at least a share `p` of all values does not exceed."""
    return ordered[max(math.ceil(p * len(ordered) - 1e-9), 1) - 1]


def quantile(x: Iterable[float], p: float, level: float = LEVEL) -> Three:
    ordered = sorted(x)
    n, tail = len(ordered), (1 - level) / 2
    at_most = cumulative(n, p)
    lower = sum(1 for each in at_most if each <= tail)
    upper = next((k + 1 for k, each in enumerate(at_most) if each >= 1 - tail), n + 1)
    low = ordered[lower - 1] if lower >= 1 else -math.inf
    high = ordered[upper - 1] if upper <= n else math.inf
    return point(ordered, p), low, high


def spread(x: Iterable[float]) -> Three:
    values = list(x)
    (a, a_low, a_high), (b, b_low, b_high) = (
        quantile(values, p, 1 - (1 - LEVEL) / 2) for p in (0.25, 0.75)
    )
    return b - a, max(b_low - a_high, 0.0), b_high - a_low


@cache
def student(n: int) -> float:
    """Student's t at 97.5 % for n - 1 degrees of freedom, by bisection on its integral."""
    df = n - 1

    def inside(t: float, steps: int = 1000) -> float:
        scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(df * math.pi)
        width = t / steps
        heights = [(1 + (k * width) ** 2 / df) ** (-(df + 1) / 2) for k in range(steps + 1)]
        odd, even = sum(heights[1::2]), sum(heights[2:-1:2])
        return 2 * scale * width / 3 * (heights[0] + 4 * odd + 2 * even + heights[-1])

    low, high = 1.9, 2.2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < LEVEL else (low, middle)
    return (low + high) / 2


def mean(x: Iterable[float]) -> Three:
    values = list(x)
    n = len(values)
    centre = math.fsum(values) / n
    error = math.sqrt(math.fsum((v - centre) ** 2 for v in values) / (n - 1) / n)
    half = student(n) * error
    return centre, centre - half, centre + half


def share(x: Iterable[float], limit: float) -> Three:
    values = list(x)
    n, above = len(values), sum(1 for v in values if v > limit)
    tail = (1 - LEVEL) / 2

    def solve(wanted: Callable[[float], bool]) -> float:
        low, high = 1e-12, 1 - 1e-12
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if wanted(middle) else (low, middle)
        return (low + high) / 2

    low = solve(lambda p: 1 - cumulative(n, p)[above - 1] < tail) if above else 0.0
    high = solve(lambda p: cumulative(n, p)[above] > tail) if above < n else 1.0
    return 100 * above / n, 100 * low, 100 * high


def minus(a: Three, b: Three) -> Three:
    value = a[0] - b[0]
    down = math.hypot(a[0] - a[1], b[2] - b[0])
    up = math.hypot(a[2] - a[0], b[0] - b[1])
    return value, value - down, value + up


def over(a: Three, b: Three) -> Three:
    """A ratio: its ends are where ``a - r b`` reaches from zero, found by bisection."""
    value = a[0] / b[0]

    def end(up: bool) -> float:
        def beyond(r: float) -> bool:
            distance = abs(a[0] - r * b[0])
            of_a = a[2] - a[0] if up else a[0] - a[1]
            of_b = b[0] - b[1] if up else b[2] - b[0]
            return distance > math.hypot(of_a, r * of_b)

        near, far = value, value * (2 if up else 0.5)
        for _ in range(80):
            middle = (near + far) / 2
            near, far = (near, middle) if beyond(middle) else (middle, far)
        return near

    return value, end(False), end(True)


# ---- raw files
# -------------------------------------------------------------------------------------


def read(folder: Path) -> dict[str, Three]:
    """Every value by ``quantity file``; the file is called as the run folder is."""
    found: dict[str, Three] = {}
    for run in sorted(path for path in folder.iterdir() if path.is_dir()):
        _, _, name = run.name.partition(next(m for m in MACHINES if run.name.startswith(m)) + "-")
        if name.startswith("boot-"):
            rows = [line.split() for line in (run / f"{name}.dat").read_text().splitlines()]
            columns = [[int(row[k]) * (1e-3, 1.0)[k] for row in rows] for k in range(len(rows[0]))]
            for kind, column in zip(("boot", "configured"), columns, strict=False):
                found[f"{kind}_median {run.name}"] = quantile(column, 0.5)
                found[f"{kind}_p99 {run.name}"] = quantile(column, 0.99)
                found[f"{kind}_spread {run.name}"] = spread(column)
                found[f"{kind}_mean {run.name}"] = mean(column)
                found[f"{kind}_slow {run.name}"] = share(column, 125.0)
                if kind == "configured":  # logged as 125 ms or more
                    found[f"{kind}_not_faster {run.name}"] = share(column, 124.5)
        elif name.startswith("mem-"):
            size = int(name.rpartition("-")[2])
            writable = total = 0
            for line in (run / f"{name}-pmap.txt").read_text().splitlines():
                cells = line.split()
                if line.startswith("total kB"):
                    total = int(cells[2])
                elif len(cells) > 5 and cells[4].startswith("rw"):
                    writable += int(cells[1])
            found[f"overhead {run.name}"] = one(writable / 1024 - size)
            found[f"overhead_mapped {run.name}"] = one(total / 1024 - size)
        elif name.startswith("fio-"):
            job = json.loads((run / f"{name}.json").read_text())["jobs"][0]
            way = job["write" if "write" in name else "read"]
            found[f"io_rate {run.name}"] = one(way["bw"] * 1024 / 1e6)
            found[f"io_requests {run.name}"] = one(way["iops"])
            p99 = way["clat_ns"]["percentile"]["99.000000"]
            found[f"io_p99 {run.name}"] = one(p99 / 1000)
        elif name.endswith("-ping"):
            lines = (run / f"{name}.txt").read_text().splitlines()
            times = [float(x.split("time=")[1].split()[0]) for x in lines if "bytes from" in x]
            if times:
                found[f"round_trip {run.name}"] = tuple(  # type: ignore[assignment]
                    1000 * v for v in quantile(times, 0.5)
                )
        elif name.startswith("net-") and (
            text := "".join(f.read_text() for f in run.glob("*.json"))
        ):
            sent = json.loads(text)["end"]["sum_sent"]["bits_per_second"]
            found[f"network_rate {run.name}"] = one(sent / 1e9)
    return found


def one(value: float) -> Three:
    return value, math.nan, math.nan


# ---- claims
# ----------------------------------------------------------------------------------------


def about(value: float, half: float = 0.0) -> tuple[float, float]:
    return min(value / 1.05, value - half), max(value * 1.05, value + half)


def wider(low: float, high: float) -> tuple[float, float]:
    return low - TOLERANCE * abs(low), high + TOLERANCE * abs(high)


def verdicts(values: dict[str, Three], machine: str) -> dict[str, dict[str, object]]:
    def get(quantity: str, file: str) -> Three | None:
        return values.get(f"{quantity} {machine}-{file}")

    found: dict[str, dict[str, object]] = {}

    def judge(claim: str, numbers: list[Three | None], low: float, high: float) -> None:
        known = [number for number in numbers if number is not None]
        if not known:
            found[claim] = {"verdict": "no measurement"}
            return
        intervals = [
            number for number in known if math.isfinite(number[0]) and number[1] == number[1]
        ]
        inside = [low <= number[0] <= high for number in known]
        whole = len(known) == len(numbers)
        if any(number[1] > high or number[2] < low for number in intervals):
            word = "refuted"
        elif len(intervals) == len(numbers) and all(
            low <= number[1] and number[2] <= high for number in intervals
        ):
            word = "reproduced"
        elif not whole:
            word = "undecided"
        else:
            word = "value agrees" if all(inside) else "value differs"
        worst = max(known, key=lambda number: max(number[0] - high, low - number[0]))
        found[claim] = {"verdict": word, "number": worst[0]}

    def both(make: Callable[[Three, Three], Three], *pair: Three | None) -> Three | None:
        a, b = pair
        return None if a is None or b is None else make(a, b)

    def order(claim: str, pairs: list[tuple[Three | None, Three | None]]) -> None:
        """The first of each pair is the smaller; limits that a strict order leaves are 0."""
        judge(claim, [both(lambda a, b: minus(b, a), a, b) for a, b in pairs], 0.0, math.inf)

    def between(claim: str, a: Three | None, b: Three | None, low: float, high: float) -> None:
        """A difference: 2 % of its limits is allowed beyond them."""
        judge(claim, [both(minus, a, b)], *wider(low, high))

    def overhead(system: str, sizes: tuple[int, ...] = SIZES) -> list[Three | None]:
        return [get("overhead", f"mem-{system}-{size}") for size in sizes]

    less = 1 / 1.001  # "less than" and "over" leave a step of a thousandth, as the readings have it
    fc, chv, qemu = "boot-serial-fc-api", "boot-serial-chv", "boot-serial-qboot"
    judge("overhead-below-5", overhead("fc"), -math.inf, 5 * less)
    judge("less-than-125-ms", [get("configured_p99", fc)], -math.inf, 125 * less)
    at_50 = "boot-parallel-50-fc-api"
    judge("less-than-125-ms-at-50", [get("configured_p99", at_50)], -math.inf, 125 * less)
    judge("created-per-second", [None], -math.inf, 150)
    smallest = [
        (a, b) for s in ("chv", "qemu") for a, b in zip(overhead("fc"), overhead(s), strict=True)
    ]
    order("overhead-smallest", smallest)
    judge("overhead-fc", overhead("fc"), *wider(*about(3, 0.5)))
    judge("overhead-cloudhv", overhead("chv"), *wider(*about(13, 0.5)))
    largest = [
        (b, a) for s in ("chv", "fc") for a, b in zip(overhead("qemu"), overhead(s), strict=True)
    ]
    order("overhead-largest", largest)
    judge("overhead-qemu", overhead("qemu", SIZES[1:]), *wider(*about(131, 0.5)))
    judge("overhead-qemu-128", overhead("qemu", SIZES[:1]), *wider(*about(131, 0.5)))
    order("fc-faster", [(get("configured_median", fc), get("boot_median", qemu))])
    order("cloudhv-faster", [(get("boot_median", chv), get("boot_median", qemu))])
    order("fc-tighter", [(get("configured_spread", fc), get("boot_spread", qemu))])
    order("cloudhv-tighter", [(get("boot_spread", chv), get("boot_spread", qemu))])
    twice = 1.6667, 2.4  # words without a printed number get no tolerance
    judge("fc-twice", [both(over, get("boot_median", qemu), get("configured_median", fc))], *twice)
    judge("cloudhv-twice", [both(over, get("boot_median", qemu), get("boot_median", chv))], *twice)
    slightly = 1 / 1.15, 1 / 1.001
    ratio = both(over, get("boot_median", chv), get("configured_median", fc))
    judge("cloudhv-slightly-faster", [ratio], *slightly)
    judge("fc-p99-at-50", [get("configured_p99", at_50)], *wider(145.5, 146.5))
    judge("cloudhv-p99-at-50", [get("boot_p99", "boot-parallel-50-chv")], *wider(157.5, 158.5))
    judge(
        "fc-p99-at-100", [get("configured_p99", "boot-parallel-100-fc-api")], *wider(152.5, 153.5)
    )
    network = get("configured_mean", "boot-serial-fc-net-api")
    between("network-fc", network, get("configured_mean", fc), *about(20, 2.5))
    network = get("boot_mean", "boot-serial-chv-net")
    between("network-cloudhv", network, get("boot_mean", chv), *about(20, 2.5))
    network = get("boot_mean", "boot-serial-qboot-net")
    between("network-qemu", network, get("boot_mean", qemu), *about(35, 2.5))
    judge(
        "metal-read-iops",
        [get("io_requests", "fio-metal-rand-read-4k")],
        340_000 * 1.001,
        math.inf,
    )
    judge("fc-read-iops", [get("io_requests", "fio-fc-rand-read-4k")], *wider(*about(13_000, 500)))
    judge(
        "cloudhv-read-iops",
        [get("io_requests", "fio-chv-rand-read-4k")],
        *wider(*about(13_000, 500)),
    )
    rates = [get("io_rate", f"fio-{s}-rand-read-4k") for s in ("fc", "chv")]
    judge("limited-read-rate", rates, *wider(*about(52, 0.5)))
    between(
        "slower-reads",
        get("io_p99", "fio-fc-rand-read-4k-qd1"),
        get("io_p99", "fio-metal-rand-read-4k-qd1"),
        48.5,
        49.5,
    )
    ratios = [
        both(
            lambda a, b: one(a[0] / b[0]),
            get("io_p99", f"fio-fc-rand-{way}-128k-qd1"),
            get("io_p99", f"fio-metal-rand-{way}-128k-qd1"),
        )
        for way in ("read", "write")
    ]
    judge("large-blocks", ratios, 2 * 1.001, math.inf)
    metal = get("io_rate", "fio-metal-rand-write-128k")
    order(
        "writes-above-metal",
        [(metal, get("io_rate", f"fio-{s}-rand-write-128k")) for s in ("fc", "chv")],
    )
    printed = {
        "loopback-1-rx": ("localhost-rx-01", 44.14),
        "loopback-10-rx": ("localhost-rx-10", 46.92),
        "fc-1-rx": ("fc-rx-01", 15.61),
        "fc-10-rx": ("fc-rx-10", 15.13),
        "fc-1-tx": ("fc-tx-01", 14.15),
        "fc-10-tx": ("fc-tx-10", 14.87),
        "cloudhv-1-rx": ("chv-rx-01", 23.12),
        "qemu-1-rx": ("qemu-rx-01", 23.76),
    }
    for claim, (file, number) in printed.items():
        judge(claim, [get("network_rate", f"net-{file}")], *wider(number - 0.005, number + 0.005))
    streams = ("rx-01", "tx-01", "rx-10", "tx-10")
    rates = [get("network_rate", f"net-fc-{s}") for s in streams]
    known = [rate[0] for rate in rates if rate is not None]
    mean = (sum(known) / 4, math.nan, math.nan) if len(known) == 4 else None
    judge("fc-about-15", [mean], *wider(*about(15, 0.5)))
    for claim, system in (("qemu-more", "qemu"), ("cloudhv-more", "chv")):
        others = [get("network_rate", f"net-{system}-{s}") for s in streams]
        order(claim, list(zip(rates, others, strict=True)))
    return found


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    values = read(Path(sys.argv[1]))
    told = {machine: verdicts(values, machine) for machine in MACHINES}
    json.dump({"values": values, "verdicts": told}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
