"""Reading of a file of results: that of a known benchmark tool, or a plain table."""

from __future__ import annotations

import io
from dataclasses import replace
from functools import cache
from importlib import import_module

from rawperf.pieces import decompress_stream, read_whole_file
from rawperf.registry import extract_head
from rawperf.results.table import ResultFormat, ResultTable

MODULES: tuple[str, ...] = (
    "hyperfine",
    "go_bench",
    "google_benchmark",
    "pytest_benchmark",
    "jmh",
    "criterion",
    "redis_benchmark",
    "pgbench",
    "ycsb",
    "locust",
    "memtier",
    "k6",
    "netperf",
    "hammerdb",
    "phoronix",
    "perf_kvm",
)
"""Modules of this package with a `FORMATS` tuple, in order of recognition."""


@cache
def result_formats() -> tuple[ResultFormat, ...]:
    """All known formats of benchmark tools."""
    modules = (import_module(f"rawperf.results.{name}") for name in MODULES)
    return tuple(form for module in modules for form in module.FORMATS)


def recognise_results(data: bytes) -> ResultFormat | None:
    """Recognise the tool of a result file by its first bytes; None if it is of no known tool."""
    head = extract_head(data)
    return next((form for form in result_formats() if form.recognise(head)), None)


def read_results(data: bytes, file: str, form: ResultFormat) -> ResultTable:
    """Read a result file of a tool, perhaps compressed; raises `FormatError` with file and line."""
    plain = read_whole_file(decompress_stream(io.BytesIO(data), file=file), form.name, file)
    table = form.parse(plain, file=file)
    note = (f"{file}: {form.note}",) if form.note else ()
    return replace(table, warnings=(*table.warnings, *note))
