"""A made-up study with every kind of exhibit and all stage files; its names attempt HTML injection."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from virtperf.core import stage_tables
from virtperf.core.estimate import mean_over_runs
from virtperf.core.schema import TableSchema

HOSTILE = "<script>alert(1)</script>"
DOLLARS = "$host_1$ & <b>co</b>"

STUDY = """
study: toy
title: A toy study
n_statements: 7
bibliography: {publisher: nobody}
factors:
  system: {label: system, levels: [a, b], default: a, labels: {a: "<script>alert(1)</script>", b: "$host_1$ & <b>co</b>"}}
  guests: {label: guests, levels: [2, 4, 8, 16]}
  storage: {label: MB storage, levels: [all, 20480, 11264, 10240], default: all}
  cipher: {label: encryption, levels: [none, hardware, software], default: none,
           labels: {none: not encrypted, hardware: hardware encryption}}
quantities:
  throughput:
    label: Throughput
    unit: "% of reference"
    bounds: [0, null]
    references:
      - {at: {system: a, guests: 4}, value: 100}
      - {at: {system: a, guests: 16, storage: 20480}, value: 100}
    observed: {from: [{metric: page_element_throughput, entity_kind: driver}], combine: sum, relative: true}
  utilization: {label: CPU utilization, unit: "%", bounds: [0, 100]}
  resident: {label: Resident memory, unit: MiB, bounds: [0, null]}
exhibits:
  - {id: table-1, kind: table, title: "Guests of <script>alert(1)</script>", section: Setup, table: table-1}
  - id: figure-1
    kind: diagram
    title: Test environment
    section: Setup
    rows:
      - [{id: client, label: "Client <script>alert(1)</script>"}]
      - - id: lpar
          label: "Host <u>1</u>"
          rows: [[{id: web, label: "lnweb[n], 1 CPU"}, {id: app, label: Application server}], [{id: lan, label: Guest LAN}]]
      - [{id: disk, label: Storage server}]
    edges:
      - {from: client, to: web, label: HTTP}
      - {from: web, to: lan, label: ""}
      - {from: app, to: lan, label: ""}
      - {from: lan, to: web}
      - {from: lpar, to: disk, label: "FCP, passed through"}
  - id: figure-2
    kind: line
    title: Throughput over guests
    section: Results
    quantity: throughput
    over: guests
    series:
      - {label: "<script>alert(1)</script>", at: {system: a}, levels: [2, 4, 8, 16]}
      - {label: "$host_1$ & <b>co</b>", at: {system: b}, levels: [2, 4, 8]}
  - id: figure-3
    kind: bar
    title: Utilization by encryption
    quantity: utilization
    over: cipher
    series:
      - {label: System A, at: {system: a, guests: 4}, levels: [none, hardware, software]}
      - {label: System B, at: {system: b, guests: 4}, levels: [none, software]}
  - id: figure-4
    kind: line
    title: Throughput and resident memory over storage
    over: storage
    series:
      - {label: Throughput, quantity: throughput, at: {guests: 16}, levels: [20480, 11264, 10240]}
      - {label: Resident memory, quantity: resident, at: {guests: 16}, levels: [20480, 11264, 10240]}
  - id: figure-5
    kind: timeseries
    title: Throughput over time
    run: {at: {guests: 4}}
    series:
      - {label: "<script>alert(1)</script>", metric: page_element_throughput, entity_kind: driver, unit: 1/s}
      - {label: Memory, metric: resident_memory, entity_kind: guest, unit: MiB}
    marks: [throughput]
errata:
  - "18 test are 18 guests: a word <i>slipped</i>"
derived:
  - {id: gain, kind: ratio, about: [figure-2], label: "{system}: 8 / {guests} guests", of: "throughput[guests=8]", to: throughput,
     for_each: {system: [a, b], guests: [2, 4]}}
  - {id: peak, kind: argmax, about: [figure-2], label: guests at the peak, of: throughput, over: guests, levels: [2, 4, 8, 16]}
  - {id: law, kind: usl, about: [figure-2], label: "<b>A</b>", of: throughput, over: guests, levels: [2, 4, 8, 16],
     gives: {peak_throughput: most throughput, contention: contention}}
  - {id: storage, kind: difference, about: [figure-4], label: 20 GB - 10 GB, of: "throughput[guests=16, storage=20480]",
     to: "throughput[guests=16, storage=10240]"}
  - {id: busy, kind: value, about: [text], label: "b, 4 guests", of: "utilization[system=b, guests=4]"}
"""

CLAIMS = """
study: toy
claims:
  - {id: more-at-8, kind: percent_change, says: "<script>alert(1)</script> gains 66 % from 4 to 8 guests", about: [figure-2],
     section: Results / Throughput, ledger: [a, b], of: "throughput[guests=8]", to: "throughput[guests=4]", value: 66, half_width: 0.5}
  - {id: best-at-8, kind: argmax, says: System A peaks at 8 guests, about: [figure-2], section: Summary, ledger: c,
     of: throughput, over: guests, levels: [2, 4, 8, 16], at: 8}
  - {id: flat, kind: equivalence, says: Nothing is lost at 16 guests, about: [figure-2, text], section: Summary, ledger: d,
     of: "throughput[guests=16]", to: "throughput[guests=8]", margin: 0.02, reading: "nothing means within 2 %"}
  - {id: busy, kind: value, says: Hardware encryption needs 80 %, about: [figure-3], section: Results, ledger: e,
     of: "utilization[guests=4, cipher=hardware]", value: 80, half_width: 0.5}
assumptions:
  - {id: bends-down, kind: concave, says: Throughput bends downwards, why: "queues only grow & never shrink",
     of: throughput, over: guests, levels: [2, 4, 8, 16]}
not_encoded:
  - {ledger: f, reason: a sentence without any quantity}
"""

TABLE = 'Guest,# CPUs,Memory [MB]\n"<script>alert(1)</script>",1,"1,024"\nlnwas,2,81921\nlnudb,1,\n'
CORRECTIONS = "table,row,column,printed,corrected,reason\ntable-1,lnwas,Memory [MB],81921,8192,a footnote mark stuck to it\n"
_A, _B = HOSTILE, DOLLARS

INFINITE = math.inf
POINTS = [
    # exhibit, series, x, quantity, low, high, low_text, high_text, low_by, high_by
    ("figure-2", _A, 2, "throughput", 45, 60, 10, 90, ["bends-down"], []),
    ("figure-2", _A, 4, "throughput", 100, 100, 100, 100, [], []),
    ("figure-2", _A, 8, "throughput", 165.5, 166.5, 165.5, 166.5, ["more-at-8"], ["more-at-8"]),
    ("figure-2", _A, 16, "throughput", 162.7, 166.5, 162.7, 166.5, ["flat"], ["best-at-8", "flat"]),
    ("figure-2", _B, 2, "throughput", 40, INFINITE, 20, INFINITE, ["bends-down"], []),
    ("figure-2", _B, 4, "throughput", 60, 140, 30, 180, ["bends-down"], ["best-at-8"]),
    ("figure-2", _B, 8, "throughput", 70, INFINITE, 0, INFINITE, ["bends-down"], []),
    ("figure-3", "System A", "none", "utilization", 55, 70, 55, 70, [], []),
    ("figure-3", "System A", "hardware", "utilization", 79.5, 80.5, 79.5, 80.5, ["busy"], ["busy"]),
    ("figure-3", "System A", "software", "utilization", 90, 100, 80, 100, ["busy"], []),
    ("figure-3", "System B", "none", "utilization", 30, 50, 30, 50, [], []),
    ("figure-3", "System B", "software", "utilization", 50, 70, 50, 70, [], []),
    ("figure-4", "Throughput", 20480, "throughput", 100, 100, 100, 100, [], []),
    ("figure-4", "Throughput", 11264, "throughput", 100.5, 103, 100.5, 103, [], []),
    ("figure-4", "Throughput", 10240, "throughput", 97, 99, 97, 99, [], []),
    ("figure-4", "Resident memory", 20480, "resident", 11318, 11318, 11318, 11318, [], []),
    ("figure-4", "Resident memory", 11264, "resident", 10894, 10894, 10894, 10894, [], []),
    ("figure-4", "Resident memory", 10240, "resident", 9878, 9878, 9878, 9878, [], []),
    ("figure-5", "Throughput", "a", "throughput", 90, 110, 80, 120, ["more-at-8"], ["best-at-8"]),
]

RANGES = [
    # derived, gives, label, kind, unit, pieces, pieces_text, levels, levels_text, method, data_sets, note, printed
    (
        "gain",
        "",
        f"{_A}: 8 / 2 guests",
        "ratio",
        "",
        [2.77, 3.7],
        [1.8, 16.6],
        [],
        [],
        "exact",
        0,
        "",
        [],
    ),
    (
        "gain",
        "",
        f"{_A}: 8 / 4 guests",
        "ratio",
        "",
        [1.655, 1.665],
        [1.655, 1.665],
        [],
        [],
        "exact",
        0,
        "",
        [1.66],
    ),
    (
        "gain",
        "",
        f"{_B}: 8 / 2 guests",
        "ratio",
        "",
        [1.001, INFINITE],
        [0, INFINITE],
        [],
        [],
        "exact",
        0,
        "",
        [],
    ),
    (
        "gain",
        "",
        f"{_B}: 8 / 4 guests",
        "ratio",
        "",
        [0.4, 0.5, 2, 3],
        [0, 3],
        [],
        [],
        "exact",
        0,
        "",
        [],
    ),
    (
        "peak",
        "",
        "guests at the peak",
        "argmax",
        "guests",
        [8, 8],
        [8, 16],
        ["8"],
        ["8", "16"],
        "exact",
        0,
        "remark",
        [],
    ),
    (
        "law",
        "peak_throughput",
        "<b>A</b>: most throughput",
        "usl",
        "% of reference",
        [160, 170],
        [150, INFINITE],
        [],
        [],
        "searched",
        1200,
        "",
        [],
    ),
    (
        "law",
        "contention",
        "<b>A</b>: contention",
        "usl",
        "",
        [0, 0.3],
        [0, 1],
        [],
        [],
        "searched",
        1200,
        "",
        [],
    ),
    (
        "storage",
        "",
        "20 GB - 10 GB",
        "difference",
        "% of reference",
        [1, 3],
        [1, 3],
        [],
        [],
        "exact",
        0,
        "",
        [],
    ),
    ("busy", "", "b, 4 guests", "value", "%", [30, 50], [30, 50], [], [], "exact", 0, "", []),
]

# provenance, system, guests, cipher, quantity, values of three replicates
RUNS = [
    ("measured", "a", 4, "none", "throughput", (98, 100, 102)),
    ("measured", "a", 8, "none", "throughput", (150, 152, 154)),
    ("measured", "b", 4, "none", "utilization", (44, 45, 46)),
    ("example", "a", 2, "none", "throughput", (70, 75, 80)),
]


def build(root: Path, *, stages: bool = True) -> Path:
    """Write the toy study below `root`/data and return that folder; without `stages` only hand-written files."""
    data = root / "data"
    published = data / "published" / "toy"
    (published / "tables").mkdir(parents=True)
    (published / "study.yaml").write_text(STUDY, encoding="utf-8")
    (published / "claims.yaml").write_text(CLAIMS, encoding="utf-8")
    (published / "tables" / "table-1.csv").write_text(TABLE, encoding="utf-8")
    (published / "tables" / "corrections.csv").write_text(CORRECTIONS, encoding="utf-8")
    if stages:
        _stages(data)
    return data


def _of_the_text(setters: list[str]) -> list[str]:
    """The claims that set a limit without assumptions."""
    return [claim for claim in setters if claim != "bends-down"]


def _stages(data: Path) -> None:
    reconstructed, runs = data / "reconstructed" / "toy", data / "runs" / "toy"
    samples, verdicts = data / "samples" / "toy", data / "verdicts" / "toy"
    for folder in (reconstructed, runs, samples, verdicts):
        folder.mkdir(parents=True)
    write(
        stage_tables.POINTS,
        [
            (*row[:8], list(row[4:6]), list(row[6:8]), *row[8:], *map(_of_the_text, row[8:]))
            for row in POINTS
        ],
        reconstructed,
    )
    write(stage_tables.RANGES, [_range(row) for row in RANGES], reconstructed)
    none = math.nan
    write(
        stage_tables.CLAIMS,
        [
            (
                "more-at-8",
                "percent_change",
                "corroborated",
                "corroborated",
                66,
                65.5,
                66.5,
                60,
                70,
                0.4,
                ["flat"],
                False,
            ),
            (
                "best-at-8",
                "argmax",
                "independent",
                "independent",
                none,
                none,
                none,
                -math.inf,
                math.inf,
                0.1,
                [],
                False,
            ),
            (
                "flat",
                "equivalence",
                "contradicted",
                "contradicted",
                none,
                none,
                none,
                -math.inf,
                math.inf,
                0.2,
                ["more-at-8"],
                True,
            ),
            (
                "busy",
                "value",
                "independent",
                "independent",
                80,
                79.5,
                80.5,
                55,
                math.inf,
                0.0,
                [],
                False,
            ),
            (
                "bends-down",
                "concave",
                "assumed",
                "assumed",
                none,
                none,
                none,
                -math.inf,
                math.inf,
                0.5,
                [],
                False,
            ),
        ],
        reconstructed,
    )
    write(stage_tables.READINGS, [], reconstructed)
    found = {
        "dropped": ["flat"],
        "contradictions": [
            {"conflicts": [["more-at-8", "flat"]], "always": ["flat"], "choices": []}
        ],
    }
    (reconstructed / "contradictions.json").write_text(json.dumps(found))
    rows = [
        _observed(p, s, g, c, q, float(v), k)
        for p, s, g, c, q, values in RUNS
        for k, v in enumerate(values, 1)
    ]
    write(stage_tables.OBSERVATIONS, rows, runs)
    write(stage_tables.SERIES, [_series(row) for row in rows], runs)
    write(stage_tables.MEANS, _means(rows), runs)
    write(stage_tables.LINEAGE, [_lineage(row) for row in rows], runs)
    lines = [
        (run, HOSTILE_FILE, line, heading, text)
        for run in dict.fromkeys(row["run_id"] for row in rows)
        for line, heading, text in RAW_LINES
    ]
    write(stage_tables.RAW_LINES, lines, runs)
    write(
        stage_tables.TIMELINES,
        [
            ("figure-5", series, unit, "measured", "measured-a-4-r1", 10.0 * k, value + k % 3)
            for series, unit, value in ((HOSTILE, "1/s", 100.0), ("Memory", "MiB", 256.0))
            for k in range(1, 31)
        ],
        runs,
    )
    write(
        stage_tables.THUMBNAILS,
        [
            (row["run_id"], row["metric"], step, 30.0 * step, 100.0 + step % 3)
            for row in rows
            for step in range(30)
        ],
        runs,
    )
    write(
        stage_tables.AUDITS,
        [
            (
                "measured-a-8-r1",
                "measured",
                "little's law",
                0.9,
                1.0,
                0.98,
                1.02,
                "failed",
                HOSTILE,
            ),
            ("measured-a-4-r1", "measured", "stationary", 1, 1, 1, 1, "ok", ""),
        ],
        runs,
    )
    index = {
        "runs": [_index_entry(row) for row in rows],
        "quarantined": [
            {
                "run": "bad-r1",
                "root": "measured",
                "file": "sar.txt",
                "line": 12,
                "problem": HOSTILE,
                "expected": "19 columns",
                "found": "17",
                "remedy": "collect it again",
            }
        ],
    }
    (samples / "index.json").write_text(json.dumps(index))
    write(
        stage_tables.VERDICTS,
        [
            (
                "more-at-8",
                "corroborated",
                "refuted",
                52,
                48,
                56,
                65.5,
                66.5,
                none,
                6.5,
                "% of the ratio",
                "the interval lies below the printed limits",
            ),
            (
                "best-at-8",
                "independent",
                "undecided",
                *[none] * 7,
                "",
                "16 guests were not measured",
            ),
            ("flat", "contradicted", "no measurement", *[none] * 7, "", ""),
            ("busy", "independent", "no measurement", *[none] * 7, "", ""),
        ],
        verdicts,
    )
    write(stage_tables.DISTRIBUTIONS, [], runs)
    write(stage_tables.VERDICTS_BY_LEVEL, [], verdicts)
    write(stage_tables.VERDICTS_READ, [], verdicts)


FACTORS = ("system", "guests", "storage", "cipher")


def write(
    table: TableSchema, rows: Sequence[Sequence[Any] | Mapping[str, Any]], folder: Path
) -> None:
    """Write rows as a stage table with the toy study's factors."""
    columns = list(table.kinds(FACTORS))
    table.write(pd.DataFrame(list(rows), columns=columns), folder / table.file, FACTORS)


def change(data: Path, table: TableSchema, where: Mapping[str, Any], **cells: Any) -> None:
    """Overwrite cells in matching rows of data/runs/toy."""
    folder = data / "runs" / "toy"
    frame = table.read(folder / table.file, FACTORS)
    chosen = pd.Series(True, index=frame.index)
    for name, value in where.items():
        chosen &= frame[name] == value
    assert chosen.any()
    for name, value in cells.items():
        frame.loc[chosen, name] = value
    table.write(frame, folder / table.file, FACTORS)


def _range(row: Sequence[Any]) -> dict[str, Any]:
    has_claim = (
        "derived",
        "gives",
        "label",
        "kind",
        "unit",
        "pieces",
        "pieces_text",
        "levels",
        "levels_text",
        "method",
        "data_sets",
        "note",
        "printed",
    )
    cells = dict(zip(has_claim, row, strict=True))
    ends = {
        name: cells[pieces][k]
        for pieces, names in (
            ("pieces", ("low", "high")),
            ("pieces_text", ("low_text", "high_text")),
        )
        for k, name in zip((0, -1), names, strict=True)
    }
    return cells | ends | {"exhibits": ["figure-2"]}


def _observed(
    provenance: str,
    system: str,
    guests: int,
    cipher: str,
    quantity: str,
    value: float,
    replicate: int,
) -> dict[str, Any]:
    throughput = quantity == "throughput"
    own = 3.0 * value if throughput else value
    return {
        "run_id": f"{provenance}-{system}-{guests}-r{replicate}",
        "provenance": provenance,
        "replicate": replicate,
        "block": "",
        "day": "2026-01-05",
        "system": system,
        "guests": guests,
        "storage": "all",
        "cipher": cipher,
        "quantity": quantity,
        "value": own,
        "se": 1.0,
        "df": 9.0,
        "low": own - 2,
        "high": own + 2,
        "n": 20,
        "method": "cosine",
        "begin_s": 60.0,
        "relative": value if throughput else math.nan,
        "relative_se": 0.3 if throughput else math.nan,
        "relative_df": 9.0 if throughput else math.nan,
        "metric": "page_element_throughput" if throughput else "guest_cpu",
        "source": "iwl-console",
        "entity_kind": "driver" if throughput else "guest",
        "entities": 1,
        "stationarity": "constant",
        "note": "",
    }


def _series(row: Mapping[str, Any]) -> dict[str, Any]:
    same = {name: row[name] for name in stage_tables.SERIES.kinds(FACTORS) if name in row}
    return same | {
        "entity": "driver-1",
        "unit": "1/s",
        "declared_warmup_s": 60.0,
        "warmup_s": 60.0,
        "flags": "",
    }


def _means(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    found = []
    frame = pd.DataFrame(rows)
    for key, group in frame.groupby(["quantity", *FACTORS, "provenance"], sort=True):
        for scale, value, se, df in (
            ("own", "value", "se", "df"),
            ("relative", "relative", "relative_se", "relative_df"),
        ):
            if group[value].isna().all():
                continue
            mean = mean_over_runs(list(group[value]), list(group[se]), list(group[df]), level=0.95)
            facts = {
                name: getattr(mean, name)
                for name in ("value", "se", "df", "low", "high", "level", "n", "method")
            }
            found.append(
                dict(zip(("quantity", *FACTORS, "provenance"), key, strict=True))
                | facts
                | {
                    "scale": scale,
                    "runs": sorted(group["run_id"]),
                }
            )
    return found


def _lineage(row: Mapping[str, Any]) -> dict[str, Any]:
    """Thirty samples at 10 to 300 s on lines 2 to 31; the window is from 60 s to 260 s."""
    return {
        **{name: row[name] for name in ("run_id", "quantity", "metric", "source", "entity_kind")},
        "entities": ["driver-1"],
        "role": "of",
        "begin_s": 60.0,
        "end_s": 260.0,
        "file": HOSTILE_FILE,
        "first_line": 8,
        "last_line": 27,
        "samples": 20,
    }


RAW_LINES = (
    (1, 0, "time</pre><script>alert(4)</script> count"),
    (8, 1, "70 \\x1b[31m<b>2</b>"),
    (27, 1, "260 3"),
)
HOSTILE_FILE = "drivers/<img src=x onerror=alert(3)>.log"


def _index_entry(row: dict) -> dict:
    """A run as listed by the ingest stage; one run has a hostile warning."""
    warned = [f"{HOSTILE} was cut"] if row["run_id"] == "measured-a-4-r1" else []
    file = {
        "path": HOSTILE_FILE,
        "format": "iwl-console",
        "bytes": 1234,
        "samples": 30,
        "sha256": "00",
        "warnings": [],
    }
    return {
        "run_id": row["run_id"],
        "provenance": row["provenance"],
        "replicate": row["replicate"],
        "factors": {name: row[name] for name in ("system", "guests", "storage", "cipher")},
        "duration_s": 300.0,
        "warmup_s": 60.0,
        "window_s": [60.0, 260.0],
        "samples": 45,
        "metrics": ["page_element_throughput"],
        "files": [file],
        "warnings": warned,
    }
