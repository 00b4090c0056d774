"""Formats of other packages: what is refused when they are loaded."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pandas as pd
import pytest

from rawperf import registry
from rawperf.base import RECORD_COLUMNS, ParsedFile
from rawperf.core.errors import StudyError
from rawperf.recognition import SNIFFS, Recognised


class Mine:
    name = "mine"
    title = "my own format"

    def sniff(self, head: bytes) -> float:
        return 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> ParsedFile:
        raise NotImplementedError


@pytest.fixture
def load(monkeypatch):
    """Register one more entry point, by name, which names an object of a module."""

    def loaded(name="mine", value="their_format:FORMAT", **objects):
        module = ModuleType("their_format")
        vars(module).update(objects)
        monkeypatch.setitem(sys.modules, "their_format", module)
        points = [
            EntryPoint("sar", "rawperf.sar.read:FORMAT", "rawperf"),
            EntryPoint(name, value, "rawperf"),
        ]
        monkeypatch.setattr(registry, "entry_points", lambda group: points)
        return registry.registered_formats.__wrapped__()

    return loaded


def test_format_of_another_package_is_found(load):
    own = Mine()
    assert load(FORMAT=own)["mine"] is own


@pytest.mark.parametrize(
    ("point", "found", "problem"),
    [
        ({}, None, "'mine', their_format:FORMAT, can't be imported: .* no attribute 'FORMAT'"),
        ({"value": "no_such_module:FORMAT"}, Mine(), "can't be imported: No module named"),
        ({}, Mine, "is not a format; expected an object .*; found a class"),
        ({}, 3, "is not a format; .*; found no name, no title, no sniff, no read"),
        ({"name": "other"}, Mine(), "another name than its entry point; expected 'other'"),
    ],
)
def test_unusable_format_is_refused_with_its_entry_point(load, point, found, problem):
    with pytest.raises(StudyError, match=problem):
        load(**point, **({} if found is None else {"FORMAT": found}))


def test_two_formats_of_one_name_are_refused(load):
    own = Mine()
    own.name = "sar"
    with pytest.raises(StudyError, match="two packages provide a format 'sar'"):
        load(name="sar", FORMAT=own)


@pytest.mark.parametrize(
    ("columns", "clock", "lines", "problem"),
    [
        (RECORD_COLUMNS, "clock", None, "clock 'clock': expected one of absolute"),
        (RECORD_COLUMNS[:-1], "none", None, "records have no column value"),
        (RECORD_COLUMNS, "none", [1, 2], "2 lines of 0 records"),
    ],
)
def test_malformed_reading_is_refused(columns, clock, lines, problem):
    with pytest.raises(ValueError, match=problem):
        ParsedFile(pd.DataFrame(columns=list(columns)), clock, lines=lines)


def test_formats_of_the_package_are_recognised_without_their_readers():
    own = {p.name for p in registry.entry_points(group="rawperf") if p.value.startswith("rawperf.")}
    assert own == SNIFFS.keys()
    for name in own:
        assert isinstance(registry.get_format(name), Recognised), name


def test_recognition_imports_only_the_reader_of_the_file():
    code = """
import subprocess
import sys
from rawperf import sniff
before = {*sys.modules}
form = sniff(b"procs ---memory---\\n r  b   swpd   free\\n")
print(form.name, *sorted(name for name in {*sys.modules} - before if name.startswith("rawperf.")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = ["rawperf.listing", "rawperf.sar", "rawperf.sar.sysstat_table", "rawperf.vmstat"]
    assert done.stdout.split() == ["vmstat", *modules]
