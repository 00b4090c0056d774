"""Results of pyperf: ``-o FILE`` and ``--append FILE``.

A worker process is a run, its values are repetitions within it. Warm-ups and calibrations are left out.

Source: pyperf's documentation of its JSON format, version 1.0.
"""

from __future__ import annotations

from rawperf.results.parsing import Node
from rawperf.results.result_table import Quantity, ResultBuilder

UNITS = {
    "second": Quantity("time", "s", "lower"),
    "byte": Quantity("memory", "B", "lower"),
    "integer": Quantity("value"),
}
"""Quantities by pyperf's units."""


_SETTINGS = {
    "version": "metadata/perf_version",
    "host": "metadata/hostname",
    "python": "metadata/python_version",
    "platform": "metadata/platform",
    "CPU": "metadata/cpu_model_name",
    "CPU affinity": "metadata/cpu_affinity",
}


def parse_pyperf(builder: ResultBuilder, data: bytes) -> None:
    """Read the values of each worker process."""
    document = builder.document(data)
    for node in (document, *document["benchmarks"].elements()):
        builder.add_settings(node, _SETTINGS)
    benchmarks = document["benchmarks"].elements()
    if not benchmarks:
        raise document["benchmarks"].error("is empty", "a result for each benchmark")
    for benchmark in benchmarks:
        # metadata that all benchmarks of a file share stand in the document
        name = _metadata(benchmark, "name") or _metadata(document, "name")
        unit = _metadata(benchmark, "unit") or _metadata(document, "unit")
        if unit is not None and unit.text() not in UNITS:
            raise unit.error("is no unit of pyperf", ", ".join(UNITS))
        quantity = UNITS[unit.text() if unit is not None else "second"]
        keys = {"benchmark": name.text()} if name is not None else {}
        with_values = [run for run in benchmark["runs"].elements() if run.get("values")]
        for run, process in enumerate(with_values):
            for node in process["values"].elements():
                builder.add_node(keys, quantity, node, "values", run=run)


def _metadata(node: Node, name: str) -> Node | None:
    metadata = node.get("metadata")
    return metadata.get(name) if metadata is not None else None
