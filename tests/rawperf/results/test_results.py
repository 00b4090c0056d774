"""Result files of benchmark tools, as the tools wrote them: numbers, keys, and damage."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from rawperf.core.errors import FormatError
from rawperf.registry import (
    MIN_CERTAINTY,
    all_formats,
    extract_head,
    formats_with_results,
    sniff,
)
from rawperf.results import ResultTable, read_results
from rawperf.results.formats import RESULT_FORMATS
from rawperf.results.names import split_unit
from rawperf.results.read import recognise_results
from tests.cases import each_case
from tests.rawperf.mutations import mutant
from tests.rawperf.results.expected import SAMPLES, compute
from tests.rawperf.sample_files import SAMPLES as MONITORS
from tests.rawperf.trial import FILE, check_reading, last_line

EXPECTED = json.loads((SAMPLES / "expected.json").read_text())
INPUTS = 30
"""Damaged files per format."""
DAMAGED = "criterion/damaged/new/file"
SAMPLES_OF_MONITORS = sorted(path for path in MONITORS.rglob("*") if path.is_file())
LOGS = {"locust-failures", "locust-history", "pgbench-aggregate", "pgbench-log"}
"""Formats of which a part is a file of its own: numbers of all rows are those of the part."""
FORMATS = [form.name for form in RESULT_FORMATS]


def table(path: Path) -> ResultTable:
    return parse(path.read_bytes(), path.relative_to(SAMPLES).as_posix())


def parse(data: bytes, file: str = "file") -> ResultTable:
    form = recognise_results(extract_head(data))
    assert form is not None
    return read_results(data, file, form)


def means(result: ResultTable) -> dict[str, float]:
    """By quantity and keys, joined by "|"."""
    keys = ["quantity", *result.keys]
    return {
        k if isinstance(k, str) else "|".join(k): v
        for k, v in result.rows.groupby(keys, sort=False)["value"].mean().items()
    }


def files(name: str) -> list[Path]:
    return sorted(path for path in (SAMPLES / name).rglob("*") if path.is_file())


def test_every_format_has_samples() -> None:
    assert set(FORMATS) == {path.name for path in SAMPLES.iterdir() if path.is_dir()}


@each_case("name, path", [(name, path) for name in FORMATS for path in files(name)])
def test_samples_are_recognised_as_their_own_format_alone(name: str, path: Path) -> None:
    head = extract_head(path.read_bytes())
    assert [form.name for form in RESULT_FORMATS if form.recognise(head)] == [name], path


def test_expected_numbers_are_those_of_the_scripts() -> None:
    assert compute() == EXPECTED


@each_case("name", sorted(EXPECTED))
def test_means_equal_an_independent_computation(name: str) -> None:
    for side, expected in EXPECTED[name].items():
        tables = [means(table(path)) for path in files(f"{name}/{side}")]
        for key, value in expected.items():
            assert np.mean([one[key] for one in tables if key in one]) == pytest.approx(
                value, rel=1e-9
            ), key


@each_case("name", FORMATS)
def test_rows_have_lines_and_units(name: str) -> None:
    for path in files(name):
        result, lines = table(path), path.read_text().split("\n")
        assert set(result.quantities) == set(result.rows["quantity"])
        assert np.isfinite(result.rows["value"]).all()
        assert result.rows["line"].between(1, len(lines)).all()


@each_case("name", FORMATS)
def test_damaged_file_gives_numbers_or_an_error_with_its_file(name: str) -> None:
    seeds, read = [path.read_bytes() for path in files(name)], 0
    for number in range(INPUTS):
        data, history = mutant(seeds, number)
        form = next(form for form in RESULT_FORMATS if form.name == name)
        try:
            result = read_results(data, DAMAGED, form)
        except FormatError as error:
            assert error.file == DAMAGED, history
            continue
        except Exception as error:
            pytest.fail(f"{name}, mutant {number} ({history}): {type(error).__name__}: {error}")
        read += 1
        assert np.isfinite(result.rows["value"]).all()
    assert read < INPUTS


@each_case("name", sorted(set(FORMATS) - LOGS))
def test_truncated_file_has_no_other_numbers(name: str) -> None:
    path = files(f"{name}/a")[0]
    whole, data = table(path), path.read_bytes()
    known = set(whole.rows[[*whole.keys, "quantity", "value"]].itertuples(index=False, name=None))
    form = next(form for form in RESULT_FORMATS if form.name == name)
    file = path.relative_to(SAMPLES).as_posix()
    for end in range(len(data) // 2, len(data), max(1, len(data) // 30)):
        try:
            cut = read_results(data[:end], file, form)
        except FormatError as error:
            assert error.file == file
            continue
        if set(cut.keys) == set(whole.keys):
            rows = cut.rows[[*whole.keys, "quantity", "value"]].itertuples(index=False, name=None)
            assert set(rows) <= known or any("truncated" in text for text in cut.warnings), end


@each_case("name", FORMATS)
def test_rawperf_reads_and_lists_them(name: str) -> None:
    path = files(name)[0]
    data = path.read_bytes()
    own = {fmt.name: fmt.sniff(extract_head(data)) for fmt in all_formats().values()}
    rivals = {rival for rival, score in own.items() if score >= MIN_CERTAINTY}
    assert rivals <= {"k6"}  # totals of a run for a study, of the same file
    reading = formats_with_results()[name].read(data, file=f"criterion/of/{FILE}")
    check_reading(reading, last_line(data))
    assert reading.records["value"].tolist() == table(path).rows["value"].tolist()
    assert rivals or sniff(data).name == name


@each_case("path", [path for path in SAMPLES_OF_MONITORS if path.name != "k6-summary.json"])
def test_files_of_monitors_are_no_results(path: Path) -> None:
    assert recognise_results(path.read_bytes()) is None, path


def test_compressed_results_are_read() -> None:
    data = (SAMPLES / "hyperfine/a/r1.json").read_bytes()
    assert parse(gzip.compress(data)).rows.equals(parse(data).rows)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("throughput_mb_s", ("throughput_mb_s", "MB/s")),
        ("read MB/s", ("read MB/s", "MB/s")),
        ("rx_bytes_per_second", ("rx_bytes_per_second", "B/s")),
        ("rx_mbit_s", ("rx_mbit_s", "Mbit/s")),
        ("net_Mb_s", ("net_Mb_s", "")),  # bits or bytes
        ("packets_s", ("packets_s", "")),
        ("boot_s", ("boot", "s")),
        ("bandwidth (MBps)", ("bandwidth", "MB/s")),
        ("bandwidth (Mbps)", ("bandwidth", "Mbit/s")),
        ("bandwidth (kb/sec)", ("bandwidth", "kB/s")),
    ],
)
def test_names_of_rates_are_no_times(name, expected):
    assert split_unit(name) == expected
