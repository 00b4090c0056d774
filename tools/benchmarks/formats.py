"""Readers compared with other libraries that parse the same bytes: `tools/benchmarks/formats.py
[MEGABYTES] [FORMAT ...]`. With `--page` before these it writes the table into docs/performance.md,
with the commit and the machine. With `--bar` it writes `ratios.json`, speed ratios for short files
in one process.

Every measurement is a separate process on one core: the minimum CPU time of several repetitions,
and the peak memory. See docs/performance.md.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import iterparse

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.benchmarks.raw_files import KINDS, peak_memory, write

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
SOURCES = ("src/rawperf", "tools/benchmarks/formats.py", "tools/benchmarks/raw_files.py")
"""What the table measures."""
BEGIN, END = "<!-- measured.", "<!-- end of what was measured -->"
BLOCK = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.S)
MEGABYTES, TURNS = 50, 3
BAR = Path(__file__).with_name("ratios.json")
NO_LIBRARY = "split lines"
"""Libraries without a threshold: their time is so short that background load decides."""
SHORT, SHORT_TURNS = 6_000_000, 5
"""File size and repetitions for `--bar`."""


DECLARED_CSV = """
name: declared-csv
reads: csv
time: {field: time}
entity: {kind: driver, name: host}
%sfields:
  - {field: users, metric: clients, unit: count}
  - {field: tps, metric: throughput, unit: 1/s}
  - {field: millis, metric: response_time, unit: ms}
  - {field: cpu}
"""
DECLARATIONS = {
    "declared-csv": DECLARED_CSV % "",
    "declared-csv-long": DECLARED_CSV % "names: field\nvalue: value\n",
}


def ours(name: str) -> Callable[[Path], int]:
    from rawperf import get_format, read_blocks

    if name in DECLARATIONS:
        return partial(to_parquet, DECLARATIONS[name])

    form = get_format(name.removesuffix("-short"))

    def run(path: Path) -> int:
        with path.open("rb") as stream:
            return sum(len(block.records) for block in read_blocks(form, stream, file=path.name))

    return run


def to_parquet(text: str, path: Path) -> int:
    """The work of `rawperf read -o FILE.parquet`."""
    from rawperf.tidy import open_raw, write_parquet

    declaration = path.with_suffix(".yaml")
    declaration.write_text(text, encoding="utf-8")
    with (
        open_raw(path, declaration) as raw,
        path.with_suffix(".parquet").open("wb") as out,
    ):
        write_parquet(raw.tables(categorical=True), out)
        return out.tell()


def pandas_melt(path: Path) -> int:
    import pandas as pd

    fields = ["users", "tps", "millis", "cpu"]
    table = pd.read_csv(path).melt(["time", "host"], fields, var_name="field")
    table.to_parquet(path.with_suffix(".pandas.parquet"), index=False)
    return len(table)


def pandas_long(path: Path) -> int:
    import pandas as pd

    table = pd.read_csv(path)
    table.to_parquet(path.with_suffix(".pandas.parquet"), index=False)
    return len(table)


def pandas_same_melt(path: Path) -> int:
    import pandas as pd

    wide = pd.read_csv(path)
    wide["line"] = range(2, len(wide) + 2)
    table = wide.melt(["time", "host", "line"], ["users", "tps", "millis", "cpu"], "field")
    return _same_table(table.sort_values("line", kind="stable"), path)


def pandas_same_long(path: Path) -> int:
    import pandas as pd

    table = pd.read_csv(path)
    table["line"] = range(2, len(table) + 2)
    return _same_table(table, path)


def _same_table(table: Any, path: Path) -> int:
    """Add the columns of `rawperf read` that the file does not have, and write them all."""
    metrics = {"users": "clients", "tps": "throughput", "millis": "response_time"}
    units = {"users": "count", "tps": "1/s", "millis": "s"}
    factors = {"users": 1.0, "tps": 1.0, "millis": 1e-3}
    field = table["field"]
    texts = {
        "report": "",
        "entity_kind": "driver",
        "metric": field.map(metrics).fillna(""),
        "metric_unit": field.map(units).fillna(""),
        "kind": field.map(dict.fromkeys(metrics, "gauge")).fillna(""),
    }
    table = table.assign(metric_value=table["value"] * field.map(factors), **texts)
    table.to_parquet(path.with_suffix(".pandas.parquet"), index=False)
    return len(table)


def pandas_texts(path: Path) -> int:
    import pandas as pd

    return pd.read_csv(path, sep=r"\s+", header=None, names=range(24), engine="c", dtype=str).size


def pandas_guessed(path: Path) -> int:
    import pandas as pd

    return pd.read_csv(
        path, sep=r"\s+", header=None, names=range(24), engine="c", low_memory=False
    ).size


def pandas_fixed(path: Path) -> int:
    import pandas as pd

    from rawperf.zvm.perfkit.layout import load_layouts, locate_columns

    layout = load_layouts()["FCX112"][0]
    cells = locate_columns(layout, layout.heading) or ()
    return pd.read_fwf(
        path, colspecs=[(cell.start, cell.end) for cell in cells], header=None, dtype=str
    ).size


def json_loads(path: Path) -> int:
    return len(json.loads(path.read_bytes())["sysstat"]["hosts"][0]["statistics"])


def orjson_loads(path: Path) -> int:
    import orjson

    return len(orjson.loads(path.read_bytes())["sysstat"]["hosts"][0]["statistics"])


def iterparse_standard(path: Path) -> int:
    count = 0
    for _, element in iterparse(path):  # noqa: S314 - the benchmark wrote the file itself
        count += 1
        if element.tag == "snapshot":
            element.clear()
    return count


def iterparse_lxml(path: Path) -> int:
    from lxml.etree import iterparse as parse

    count = 0
    for _, element in parse(str(path)):
        count += 1
        if element.tag == "snapshot":
            element.clear()
    return count


def split_lines(path: Path) -> int:
    with path.open(encoding="utf-8") as file:
        return sum(len(line.split()) for line in file)


LIBRARIES: dict[str, dict[str, Callable[[Path], int]]] = {
    "xentop": {
        "pandas, texts": pandas_texts,
        "pandas, guessing": pandas_guessed,
        "split lines": split_lines,
    },
    "sar": {
        "pandas, texts": pandas_texts,
        "pandas, guessing": pandas_guessed,
        "split lines": split_lines,
    },
    "sadf-json": {"json": json_loads, "orjson": orjson_loads},
    "iwl-xml": {"iterparse of lxml": iterparse_lxml, "iterparse": iterparse_standard},
    "iwl-console": {"pandas, texts": pandas_texts, "split lines": split_lines},
    "declared-csv": {
        "pandas, melt and Parquet": pandas_melt,
        "pandas, the same table": pandas_same_melt,
    },
    "declared-csv-long": {
        "pandas and Parquet": pandas_long,
        "pandas, the same table": pandas_same_long,
    },
    "perfkit": {"pandas, fixed widths": pandas_fixed, "split lines": split_lines},
    "perfkit-short": {"pandas, fixed widths": pandas_fixed, "split lines": split_lines},
}


def one(name: str, library: str, path: Path) -> None:
    """Measure in this process; print seconds and MB."""
    run = LIBRARIES[name][library] if library else ours(name)
    best = min(_seconds(run, path) for _ in range(TURNS))
    print(json.dumps([best, peak_memory()]))


def _seconds(run: Callable[[Path], int], path: Path) -> float:
    start = time.process_time()
    run(path)
    return time.process_time() - start


def ratios(name: str) -> dict[str, float]:
    """Speed-up over each library for a short file, measured in a subprocess.

    Both sides alternate, and the minimum of several repetitions counts, so that background load
    affects both. Libraries that are not installed are skipped.
    """
    return dict(_child("--ratios", name))


def _short(name: str, path: Path) -> dict[str, float]:
    write(name, path, SHORT)
    runs = {"": ours(name), **LIBRARIES[name]}
    best: dict[str, float] = {}
    for _ in range(SHORT_TURNS):
        for library, run in list(runs.items()):
            try:
                best[library] = min(best.get(library, float("inf")), _seconds(run, path))
            except ModuleNotFoundError:
                del runs[library]
    own = best.pop("")
    return {library: round(seconds / own, 2) for library, seconds in best.items()}


def _child(*arguments: str) -> Any:
    """Output of this script on one core; None if it needs a library that is not installed."""
    alone = os.environ | dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS"), "1"
    )
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=alone, check=False)  # noqa: S603
    if done.returncode and "ModuleNotFoundError" in done.stderr:
        return None
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def measured(name: str, library: str, path: Path) -> tuple[float, float] | None:
    """Seconds and MB of a process that reads a file; None if the library is not installed."""
    found = _child("--one", name, library, str(path))
    return None if found is None else (found[0], found[1])


def main() -> int:
    """Print a table."""
    if {"-h", "--help"} & {*sys.argv[1:]}:
        print(__doc__)
        return 0
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2], sys.argv[3], Path(sys.argv[4]))
        return 0
    if sys.argv[1:2] == ["--ratios"]:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(_short(sys.argv[2], Path(folder) / "log")))
        return 0
    if sys.argv[1:] == ["--bar"]:
        bar = {
            name: {library: r for library, r in ratios(name).items() if library != NO_LIBRARY}
            for name in KINDS
        }
        BAR.write_text(json.dumps(bar, indent=2) + "\n", encoding="utf-8")
        return 0
    to_page = sys.argv[1:2] == ["--page"]
    arguments = sys.argv[2:] if to_page else sys.argv[1:]
    lines = []
    for line in table(int(arguments[0]) if arguments else MEGABYTES, arguments[1:] or list(KINDS)):
        lines.append(line)
        print(line, flush=True)
    if to_page:
        write_block(PAGE, lines, f"--page {' '.join(arguments)}".strip())
    return 0


def table(megabytes: int, names: list[str]) -> Iterator[str]:
    """Rows of a Markdown table, each as soon as it is measured."""
    yield "| file | read by | MB/s | speed of virtperf relative to it | peak memory, MB |"
    yield "|---|---|---|---|---|"
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            path = Path(folder) / name
            write(name, path, megabytes * 1_000_000)
            size = path.stat().st_size / 1e6
            found = measured(name, "", path)
            assert found is not None
            yield f"| {name} | virtperf | {size / found[0]:.0f} | | {found[1]:.0f} |"
            for library in LIBRARIES[name]:
                other = measured(name, library, path)
                if other is not None:
                    ratio = other[0] / found[0]
                    yield f"| | {library} | {size / other[0]:.0f} | {ratio:.2f} | {other[1]:.0f} |"
            path.unlink()


def write_block(page: Path, lines: list[str], arguments: str) -> None:
    """Replace the measured block of a page: command, commit and machine, then the table.

    Raises `ValueError` if files of `SOURCES` have changes without a commit: the block would name
    code that gave other numbers.
    """
    if git("status", "--porcelain", "--", *SOURCES):
        raise ValueError(
            f"commit the changes of {', '.join(SOURCES)} first: the page names a commit"
        )
    commit = git("log", "-1", "--format=%h", "--abbrev=9", "--", *SOURCES)
    machine = f"{os.cpu_count()} x {processor()}, Python {platform.python_version()}"
    text = page.read_text(encoding="utf-8")
    command = f"`python tools/benchmarks/formats.py {arguments}`"
    head = f"{BEGIN} Written by {command}, readers of commit {commit}, {machine}. -->"
    shown = f"Measured by {command} with the readers of commit {commit} on {machine}."
    block = "\n".join([head, shown, "", *lines, "", END])
    page.write_text(BLOCK.sub(lambda _: block, text, count=1), encoding="utf-8")


def changed_since(text: str) -> str:
    """Sentence for a page whose measured readers have changed since; "" if they have not, or if that
    can't be told: without a repository, or in a shallow clone that lacks the commit.
    """
    block = BLOCK.search(text)
    named = re.search(r"readers of commit ([0-9a-f]{7,40})", block[0]) if block else None
    if not block or not named:
        return (
            "It is not known which readers were measured: the table names no commit."
            if block
            else ""
        )
    try:
        count = int(git("rev-list", "--count", f"{named[1]}..HEAD", "--", *SOURCES))
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"Since then, {count} commits have changed what was measured." if count else ""


def git(*arguments: str) -> str:
    """Output of Git in the repository; raises `OSError` or `CalledProcessError` without one."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


def processor() -> str:
    """Model of the processor."""
    from cpuinfo import get_cpu_info

    return str(get_cpu_info().get("brand_raw") or platform.machine())


if __name__ == "__main__":
    sys.exit(main())
