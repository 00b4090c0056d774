"""Recompute the means of kernels-2026 that are plotted, and the numbers of its hypotheses, from the raw files alone.

    python3 testbeds/kernels/recompute.py [data/measured/kernels-2026]

Nothing of virtperf is used, and none of the tables that the testbed computed (guests.csv, host.csv): only what the
kernels and the guests' tool printed.
"""

from __future__ import annotations

import csv
import re
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

Numbers = dict[str, float]
MIB_KIB = 1024


def factors(run: Path) -> dict[str, str]:
    """The run's levels, from its run.yaml."""
    text = (run / "run.yaml").read_text()
    found = re.search(r"(?m)^factors: \{(.*?)\}", text, re.DOTALL)
    assert found, f"{run}/run.yaml has no factors"
    pairs = (pair.split(":", 1) for pair in found[1].replace("\n", " ").split(","))
    return {name.strip(): level.strip().strip("'\"") for name, level in pairs}


def line_of(path: Path, name: str, separator: str = ":") -> int:
    """The number behind a name, of /proc/meminfo, /proc/vmstat or a counter of merged pages."""
    found = re.search(rf"(?m)^{name}{separator}? +(\d+)", path.read_text())
    assert found, f"{path} has no line {name}"
    return int(found[1])


def memory_kib(path: Path) -> int:
    """Proportional set size of the guest's memory: the first one of the file."""
    return line_of(path, "Pss")


def guests(run: Path) -> list[Path]:
    return sorted((run / "guests").iterdir())


def words(path: Path) -> list[list[float]]:
    """Numbers of a file's lines, each up to the first word that is none."""
    rows = []
    for line in path.read_text().splitlines():
        row = []
        for word in line.split():
            if not re.fullmatch(r"\d+(\.\d+)?", word):
                break
            row.append(float(word))
        rows.append(row)
    return rows


def fincore_kib(path: Path) -> int:
    return sum(int(line.split()[0]) for line in path.read_text().splitlines()[1:]) // 1024


def dcss(run: Path, _: dict[str, str]) -> Numbers:
    on_host = {
        moment: sum(memory_kib(guest / f"smaps-{moment}.txt") for guest in guests(run))
        + fincore_kib(run / f"fincore-{moment}.txt")
        for moment in ("before", "after")
    }
    reads = [words(guest / "reads.txt") for guest in guests(run)]
    cached = [
        line_of(guest / "meminfo-after.txt", "Cached")
        - line_of(guest / "meminfo-before.txt", "Cached")
        for guest in guests(run)
    ]
    return {
        "host_data MiB": (on_host["after"] - on_host["before"]) / MIB_KIB,
        "guest_data MiB": statistics.mean(cached) / MIB_KIB,
        "first_read s": statistics.mean(read[0][0] for read in reads),
        "second_read s": statistics.mean(read[1][0] for read in reads),
        "first_faults": statistics.mean(read[0][2] for read in reads),
        "first_major": statistics.mean(read[0][3] for read in reads),
        "second_faults": statistics.mean(read[1][2] for read in reads),
    }


def overcommit(run: Path, _: dict[str, str]) -> Numbers:
    returned: list[float] = []
    sums: dict[str, int] = defaultdict(int)
    for guest in guests(run):
        at = {
            moment: memory_kib(guest / f"smaps-{moment}.txt")
            for moment in ("started", "touched", "freed", "again")
        }
        grown, back = at["touched"] - at["started"], at["touched"] - at["freed"]
        returned.append(100 * back / grown)
        for moment, kib in at.items():
            sums[moment] += kib
    return {
        "returned %": statistics.mean(returned),
        **{
            f"{moment}_memory MiB": sums[moment] / MIB_KIB
            for moment in ("touched", "freed", "again")
        },
    }


def shares(run: Path, _: dict[str, str]) -> Numbers:
    with (run / "usage.csv").open() as file:
        rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
    used = [last - first for first, last in zip(rows[0][1:], rows[-1][1:], strict=True)]
    names = ("got_first %", "got_second %", "got_third %", "got_fourth %")
    return {name: 100 * part / sum(used) for name, part in zip(names, used, strict=True)}


def stacking(run: Path, _: dict[str, str]) -> Numbers:
    busy, requests = 0.0, 8 * 400
    for guest in guests(run):
        rows = words(guest / "requests.txt")
        (begin, idle), (end, idle_then) = rows[0], rows[-1]
        busy += (end - begin) - (idle_then - idle)
    memory = sum(memory_kib(guest / "smaps.txt") for guest in guests(run))
    return {"server_memory MiB": memory / MIB_KIB / 8, "request_time ms": 1000 * busy / requests}


def swap(run: Path, _: dict[str, str]) -> Numbers:
    guest = guests(run)[0]
    cpu, _minor, major = words(guest / "work.txt")[0]
    grown = line_of(guest / "vmstat-after.txt", "pswpin", "") - line_of(
        guest / "vmstat-before.txt", "pswpin", ""
    )
    return {"swap_cpu s": cpu, "swap_faults": major, "swapped_in": grown}


def table(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def gvisor(run: Path, levels: dict[str, str]) -> Numbers:
    if (run / "tool.txt").is_file():
        rate = words(run / "tool.txt")[0][0] / 6  # of six seconds
    else:
        found = re.search(r"(?m)^Requests/sec: +([\d.]+)$", (run / "wrk.txt").read_text())
        assert found, f"{run}/wrk.txt has no rate"
        rate = float(found[1])
    if not (run / "processes.csv").is_file():
        return {"rate 1/s": rate}
    memory = sum(float(row["pss_kib"]) for row in table(run / "processes.csv"))
    return {"rate 1/s": rate, "load_memory MiB": memory / MIB_KIB}


def host_seconds(run: Path) -> float:
    """Processor time of the host that the control groups of all guests used."""
    return sum(float(row["host_cpu_s"]) for row in table(run / "usage.csv"))


def cpus(run: Path, _: dict[str, str]) -> Numbers:
    done = [words(guest / "churn.txt")[0] for guest in guests(run)]
    return {
        "work_by_host 1/s": sum(rounds for rounds, _, _ in done) / host_seconds(run),
        "work_by_own_clock 1/s": statistics.mean(rounds / own for rounds, _, own in done),
    }


def locks(run: Path, _: dict[str, str]) -> Numbers:
    rounds = sum(words(guest / "race.txt")[0][0] for guest in guests(run))
    return {"locked_work 1/s": rounds / host_seconds(run)}


def interface(path: Path, name: str = "eth0") -> list[list[int]]:
    """Counters of an interface each time that /proc/net/dev was printed: received first, then sent."""
    lines = [line.partition(":") for line in path.read_text().splitlines()]
    return [[int(word) for word in rest.split()] for head, _, rest in lines if head.strip() == name]


def network(run: Path, _: dict[str, str]) -> Numbers:
    numbers: Numbers = {}
    for guest in guests(run):
        lines = [line.split() for line in (guest / "stream.txt").read_text().splitlines()]
        begun, *_, ended = (
            [float(word) for word in line]
            for line in lines
            if len(line) == 2 and all(re.fullmatch(r"\d+\.\d\d", word) for word in line)
        )
        busy = (ended[0] - begun[0]) - (ended[1] - begun[1])
        if guest.name == "guest2":
            numbers["receive_cpu ms"] = 1000 * busy / 32
            continue
        first, last = interface(guest / "stream.txt")
        numbers |= {
            "send_cpu ms": 1000 * busy / 32,
            "packets": (last[9] - first[9]) / 32,
            "additional %": 100 * ((last[8] - first[8]) / (32 << 20) - 1),
        }
    return numbers


def veth(run: Path, _: dict[str, str]) -> Numbers:
    (first,), (last,) = (interface(run / f"dev-{moment}.txt") for moment in ("before", "after"))
    cpu = sum(words(run / f"{end}.txt")[0][1] for end in ("send", "sink"))
    return {"veth_cpu s": cpu / 2, "veth_packets": (last[9] - first[9]) / 2048}


TESTS: dict[str, tuple[Callable[[Path, dict[str, str]], Numbers], tuple[str, ...]]] = {
    "dcss": (dcss, ("guests", "data")),
    "overcommit": (overcommit, ("touched_mb", "means")),
    "shares": (shares, ("fourth",)),
    "stacking": (stacking, ("guests", "merging")),
    "swap": (swap, ("memory_percent", "device")),
    "gvisor": (gvisor, ("load", "isolation")),
    "cpus": (cpus, ("guests",)),
    "locks": (locks, ("locking", "guests")),
    "network": (network, ("path", "mtu")),
    "veth": (veth, ("mtu", "offload")),
}


def block(run: Path) -> str:
    """The run's block, "" if the run is excluded."""
    text = (run / "run.yaml").read_text()
    found = re.search(r"(?m)^replicate: (\d+)$", text)
    assert found, f"{run}/run.yaml has no replicate"
    return "" if re.search(r"(?m)^excluded:", text) else found[1]


Found = dict[tuple[str, ...], dict[str, dict[str, float]]]
"""Values by test and levels, quantity and block."""


def all_values(study: Path) -> Found:
    """Values of all runs that are not excluded."""
    found: Found = defaultdict(lambda: defaultdict(dict))
    for file in sorted(study.glob("*/run.yaml")):
        if not (of_block := block(file.parent)):
            continue
        levels = factors(file.parent)
        if levels["test"] not in TESTS:
            continue
        values, names = TESTS[levels["test"]]
        for quantity, value in values(file.parent, levels).items():
            found[levels["test"], *(levels[name] for name in names)][quantity][of_block] = value
    return found


class Values:
    """Numbers from the values of all runs."""

    def __init__(self, found: Found) -> None:
        self.found = found

    def mean(self, quantity: str, *condition: str) -> float:
        return statistics.mean(self.found[condition][quantity].values())

    def ratio(self, quantity: str, of: tuple[str, ...], to: tuple[str, ...]) -> float:
        """The geometric mean of the ratios within blocks that both conditions have."""
        above, below = self.found[of][quantity], self.found[to][quantity]
        return statistics.geometric_mean(above[b] / below[b] for b in above.keys() & below.keys())


def hypotheses(mean: Callable[..., float]) -> list[tuple[str, float, str]]:
    """Name, number and what was expected, of each hypothesis that is a number."""
    rows = [
        (
            f"merging-saves-as-much {n}",
            mean("host_data MiB", "dcss", n, "disk-ksm")
            / mean("host_data MiB", "dcss", n, "segment"),
            "0.91 to 1.1",
        )
        for n in ("2", "4", "6")
    ]
    rows += [
        (
            f"reporting-returns-all {touched}",
            mean("returned %", "overcommit", touched, "reporting"),
            "95 to 100",
        )
        for touched in ("80", "160")
    ]
    rows += [
        ("share-of-100-is-17", mean("got_first %", "shares", "busy"), "16.5 to 17.5"),
        ("share-of-200-is-33", mean("got_third %", "shares", "busy"), "32.5 to 33.5"),
    ]
    rows += [
        (
            f"excess-by-share {fourth}",
            mean("got_third %", "shares", fourth) / mean("got_first %", "shares", fourth),
            "1.96 to 2.04",
        )
        for fourth in ("pulses", "idle")
    ]
    rows += [
        (
            "stacking-changes-no-memory",
            mean("server_memory MiB", "stacking", "8", "on")
            / mean("server_memory MiB", "stacking", "1", "on"),
            "0.95 to 1.05",
        ),
        (
            "stacking-raises-cpu",
            mean("request_time ms", "stacking", "1", "off")
            / mean("request_time ms", "stacking", "8", "off"),
            "> 1",
        ),
    ]
    rows += [
        (
            f"disk-is-dearest {percent}",
            mean("swap_cpu s", "swap", percent, "disk")
            / mean("swap_cpu s", "swap", percent, "segment"),
            "> 1",
        )
        for percent in ("60", "80")
    ]
    return rows


def gvisor_hypotheses(values: Values) -> list[tuple[str, float, str]]:
    def ratio(load: str, isolation: str) -> float:
        return values.ratio("rate 1/s", ("gvisor", load, isolation), ("gvisor", load, "bare"))

    return [
        ("computing-costs-nothing", ratio("loops", "gvisor"), "0.95 to 1.05"),
        ("system-calls-cost-most", ratio("calls", "gvisor"), "< 0.1"),
        ("compressed-pages-keep-half", ratio("gzip", "gvisor"), "> 0.5"),
        ("encrypted-files-keep-half", ratio("encrypt", "gvisor"), "> 0.5"),
    ] + [
        (f"group-costs-nothing {load}", ratio(load, "group"), "0.95 to 1.05")
        for load in ("calls", "loops", "page", "gzip", "encrypt")
    ]


def cpus_hypotheses(values: Values) -> list[tuple[str, float, str]]:
    of_one = values.ratio("work_by_host 1/s", ("cpus", "8"), ("cpus", "1"))
    return [("overcommitment-costs-little", of_one, "0.91 to 1.1")]


def locks_hypotheses(values: Values) -> list[tuple[str, float, str]]:
    def ratio(of: tuple[str, str], to: tuple[str, str]) -> float:
        return values.ratio("locked_work 1/s", ("locks", *of), ("locks", *to))

    return [
        ("lock-costs-work", ratio(("shared", "2"), ("shared", "1")), "< 1"),
        *(
            (f"without-lock-nothing-is-lost {n}", ratio(("own", n), ("own", "1")), "0.91 to 1.1")
            for n in ("2", "4")
        ),
        (
            "one-virtual-processor-loses-nothing",
            ratio(("single", "4"), ("single", "1")),
            "0.91 to 1.1",
        ),
        ("second-virtual-processor-costs", ratio(("shared", "4"), ("single", "4")), "< 1"),
    ]


def network_hypotheses(values: Values) -> list[tuple[str, float, str]]:
    def send(of: tuple[str, str], to: tuple[str, str]) -> float:
        return values.ratio("send_cpu ms", ("network", *of), ("network", *to))

    return [
        (f"jumbo-is-key-on-both-paths {path}", send((path, "8992"), (path, "1492")), "< 0.8")
        for path in ("guest", "host")
    ] + [
        (f"host-costs-as-a-guest {mtu}", send(("host", mtu), ("guest", mtu)), "0.91 to 1.1")
        for mtu in ("1492", "8992")
    ]


def veth_hypotheses(values: Values) -> list[tuple[str, float, str]]:
    def ratio(of: str, to: str, offload: str) -> float:
        return values.ratio("veth_cpu s", ("veth", of, offload), ("veth", to, offload))

    return [
        ("offload-hides-the-mtu", ratio("1492", "8992", "on"), "0.83 to 1.2"),
        ("without-offload-the-mtu-counts", ratio("8992", "1492", "off"), "< 1"),
    ]


MORE_HYPOTHESES = {
    "network": network_hypotheses,
    "gvisor": gvisor_hypotheses,
    "cpus": cpus_hypotheses,
    "locks": locks_hypotheses,
    "veth": veth_hypotheses,
}


def main() -> int:
    here = Path(__file__).resolve().parents[2] / "data/measured/kernels-2026"
    values = all_values(Path(sys.argv[1]) if len(sys.argv) > 1 else here)
    for condition, quantities in sorted(values.items()):
        for quantity, by_block in quantities.items():
            runs = list(by_block.values())
            spread = statistics.stdev(runs) if len(runs) > 1 else float("nan")
            print(
                f"{' '.join(condition):<28} {quantity:<20} {statistics.mean(runs):12.5f} s {spread:9.5f} n {len(runs)}"
            )

    print("\nhypotheses")
    by_condition = Values(values)
    judged = hypotheses(by_condition.mean)
    measured = {condition[0] for condition in values}
    for test, more in MORE_HYPOTHESES.items():
        if test in measured:
            judged += more(by_condition)
    for name, number, expected in judged:
        print(f"{name:<40} {number:12.5f}  expected {expected}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
