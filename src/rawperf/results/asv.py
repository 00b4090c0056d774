"""Results of airspeed velocity (asv): ``results/MACHINE/COMMIT-ENVIRONMENT.json``, of asv 0.5 and later.

The kind of a benchmark is the beginning of its function's name, as in asv_runner's `name_regex`. The
names of parameters and the units of ``track_`` benchmarks are in another file of asv, benchmarks.json.

Source: asv/results.py of asv 0.6.6, asv_runner 0.3.
"""

from __future__ import annotations

import math
import re
from itertools import product

from rawperf.results.parsing import Node
from rawperf.results.result_table import Quantity, ResultBuilder

_KINDS = {
    r"(?:time|timeraw)_.+|Time(?:raw)?[A-Z_].+": Quantity("time", "s", "lower"),
    r"mem_.+|Mem[A-Z_].+": Quantity("memory", "B", "lower"),
    r"peakmem_.+|PeakMem[A-Z_].+": Quantity("peak_memory", "B", "lower"),
    r".*": Quantity("tracked"),
}
_VERSION = 2
_SETTINGS = {"commit": "commit_hash", "environment": "env_name"} | {
    name: f"params/{name}" for name in ("machine", "cpu", "os")
}


def parse_asv(builder: ResultBuilder, data: bytes) -> None:
    """Read each benchmark at each combination of its parameters; a result of null has failed, one of
    NaN was skipped.
    """
    skipped: list[str] = []
    document = builder.document(data)
    if document["version"].value != _VERSION:
        raise document["version"].error("is another version of the layout", f"{_VERSION}")
    columns = [node.text() for node in document["result_columns"].elements()]
    for name, result in document["results"].members().items():
        cells = dict(zip(columns, result.elements(), strict=False))
        _add_benchmark(builder, name, result, cells, skipped)
        if version := cells.get("version"):
            builder.add_setting(f"code of {name}", str(version.value)[:12])
    builder.add_settings(document, _SETTINGS)
    builder.left_out = {"stats_*, samples": "the result is their median"}
    builder.left_out |= dict.fromkeys(skipped, "skipped")
    builder.repeats = "process"


def _add_benchmark(
    builder: ResultBuilder,
    name: str,
    result: Node,
    cells: dict[str, Node],
    skipped: list[str],
) -> None:
    """Add the results of a benchmark, in the order of the product of its parameters."""
    missing = [column for column in ("result", "params") if column not in cells]
    if missing:
        raise result.error(f"has no {missing[0]}", "result and params")
    levels = [[level.text() for level in of.elements()] for of in cells["params"].elements()]
    function = name.rpartition(".")[2]
    quantity = next(kind for form, kind in _KINDS.items() if re.fullmatch(form, function))
    if cells["result"].value is None:  # the benchmark failed as a whole
        builder.add_failure({"benchmark": name}, failed=True, field="result", line=result.line)
        return
    values, points = cells["result"].elements(), list(product(*levels))
    if len(values) != len(points):
        raise cells["result"].error(
            f"has {len(values)} numbers", f"{len(points)}, one for each combination of parameters"
        )
    for point, node in zip(points, values, strict=True):
        keys = {"benchmark": name} | {f"param{n}": text for n, text in enumerate(point, 1)}
        if isinstance(node.value, float) and math.isnan(node.value):
            skipped.append(" ".join(keys.values()))
            continue
        is_failed = node.value is None
        builder.add_failure(keys, failed=is_failed, field="result", line=node.line)
        if not is_failed:
            builder.add_node(keys, quantity, node, "result")
