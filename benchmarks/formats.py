"""Readers of large text files against plain line-by-line parsers that make the same table; see benchmarks/README.md."""

import gc
import re
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from virtperf.formats.base import RECORD_COLUMNS, Reading, Writer
from virtperf.formats.iwl.console import FORMAT as IWL_CONSOLE
from virtperf.formats.iwl.console import STATUS_FIELDS
from virtperf.formats.sar.read import FORMAT as SAR
from virtperf.formats.xentop.read import FORMAT as XENTOP
from virtperf.formats.xentop.write import COLUMNS

ROWS, ENTITIES, REPEATS, SEED = 30_000, 10, 3, 20090101
CPU_FIELDS = ("%user", "%nice", "%system", "%iowait", "%steal", "%idle")
STATUS = re.compile(
    r"# clients (\d+)/(\d+) \| rd (\S+) MB/s \| wr (\S+) MB/s \| pg (\d+) \| web err (\d+)"
    r" \| resp avg = (\S+) \| pg elem/s = (\S+)"
)
Rows = Iterator[tuple[str, str, str, str, float, float]]


def records(
    report: str, kind: str, names: list[str], fields: tuple[str, ...], t: np.ndarray, value: np.ndarray
) -> pd.DataFrame:
    """Records of `value`, shape (samples, entities, fields), in file order."""
    entity = np.tile(np.repeat(np.array(names, dtype=object), len(fields)), len(t))
    field = np.tile(np.array(fields, dtype=object), len(t) * len(names))
    columns = (report, kind, entity, field, np.repeat(t, len(names) * len(fields)), value.ravel())
    return pd.DataFrame(dict(zip(RECORD_COLUMNS, columns, strict=True)))


def xentop_reading(rng: np.random.Generator) -> Reading:
    fields, domains = COLUMNS, ["Domain-0", *(f"guest{i}" for i in range(1, ENTITIES))]
    value = rng.integers(0, 100_000, (ROWS // ENTITIES, ENTITIES, len(fields))).astype(float)
    value[:, :, [name.endswith("(%)") for name in fields]] /= 10
    table = records("", "domain", domains, fields, np.arange(len(value), dtype=float), value)
    no_limit = (table["entity"] == "Domain-0") & table["field"].str.startswith("MAXMEM")
    no_difference = (table["t"] == 0) & (table["field"] == "CPU(%)")  # xentop prints 0.0 in its first sample
    return Reading(table[~no_limit & ~no_difference].reset_index(drop=True), "sample", {"columns": "17"})


def sar_reading(rng: np.random.Generator) -> Reading:
    cpus = ["all", *map(str, range(ENTITIES - 1))]
    value = rng.integers(0, 10_001, (ROWS // ENTITIES, ENTITIES, len(CPU_FIELDS))) / 100
    t = datetime(2009, 1, 1, 12, tzinfo=UTC).timestamp() + 10.0 * np.arange(1, len(value) + 1)  # past a midnight
    return Reading(records("cpu", "cpu", cpus, CPU_FIELDS, t, value), "absolute", {"host": "guest1"})


def iwl_reading(rng: np.random.Generator) -> Reading:
    value = rng.integers(0, 10_000, (ROWS, 1, len(STATUS_FIELDS))).astype(float)
    value[:, 0, [STATUS_FIELDS.index(name) for name in ("rd", "wr", "resp avg", "pg elem/s")]] /= 1000
    value[:, 0, STATUS_FIELDS.index("pg")] = np.arange(ROWS)  # a counter
    return Reading(records("status", "driver", [""], STATUS_FIELDS, np.arange(ROWS, dtype=float), value), "sample")


def plain_xentop(data: bytes) -> Rows:
    fields, t, before, now = [], -1.0, set(), set()
    for line in data.decode().splitlines():
        name, _, *cells = line.replace("no limit", "n/a").split()
        if name == "NAME":
            fields, t, before, now = cells, t + 1, now, set()
            continue
        now.add(name)
        for field, cell in zip(fields, cells, strict=True):
            if cell != "n/a" and (field != "CPU(%)" or name in before):
                yield "", "domain", name, field, t, float(cell)


def plain_sar(data: bytes) -> Rows:
    first, _, heading, *lines = data.decode().splitlines()
    midnight = datetime.fromisoformat(f"{first.split()[3]}T00:00Z").timestamp()
    fields, previous = heading.split()[2:], 0
    for line in lines:
        clock, cpu, *cells = line.split()
        now = int(clock[:2]) * 3600 + int(clock[3:5]) * 60 + int(clock[6:])
        midnight, previous = midnight + 86400 * (now < previous), now
        for field, cell in zip(fields, cells, strict=True):
            yield "cpu", "cpu", cpu, field, midnight + now, float(cell)


def plain_iwl(data: bytes) -> Rows:
    for t, line in enumerate(data.decode().splitlines()):
        for field, cell in zip(STATUS_FIELDS, STATUS.fullmatch(line).groups(), strict=True):
            yield "status", "driver", "", field, float(t), float(cell)


def ratio(form: Writer, made: Reading, plain: Callable[[bytes], Rows]) -> float:
    """Best time of the plain parser over that of the reader; AssertionError if either changes what was written."""
    data, best = form.write(made), [np.inf, np.inf]
    for _ in range(REPEATS):
        tables = []
        for k, parse in enumerate((form.read, lambda text: pd.DataFrame(plain(text), columns=list(RECORD_COLUMNS)))):
            gc.collect()
            start = time.perf_counter()
            tables.append(parse(data))
            best[k] = min(best[k], time.perf_counter() - start)
    for table in (tables[0].records, tables[1]):
        pd.testing.assert_frame_equal(table, made.records, check_exact=True)
    return best[1] / best[0]


if __name__ == "__main__":
    rng, found = np.random.default_rng(SEED), []
    print(f"{'format':<12s}{'rows':>8s}{'ratio':>8s}")
    makers, parsers = (xentop_reading, sar_reading, iwl_reading), (plain_xentop, plain_sar, plain_iwl)
    for form, make, plain in zip((XENTOP, SAR, IWL_CONSOLE), makers, parsers, strict=True):
        found.append(ratio(form, make(rng), plain))
        print(f"{form.name:<12s}{ROWS:>8d}{found[-1]:>8.1f}", flush=True)
    sys.exit(min(found) <= 1)
