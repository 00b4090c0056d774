"""Files that no format reads: the declaration that a draft suggests reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from rawperf.tidy import read
from virtperf.artifact.inspection import inspect_file

VMS = {"host": "a", "vms": [{"name": "v1", "boot_ms": 120.5, "rss": 4}, {"boot_ms": 98, "rss": 5}]}


@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        ({"clean": 2849.5, "cpu": {"user": 28984.2}, "name": "llfree"}, [2849.5]),
        (VMS, [120.5, 98, 4, 5]),
        ({"a/b": [{"x": 1}, {"x": 2}, {"x": 3}], "few": [{"y": 1}]}, [1, 2, 3]),
    ],
)
def test_a_suggested_declaration_of_json_reads_the_file(
    tmp_path: Path, content: object, numbers: list[float]
) -> None:
    path = tmp_path / "times_0.json"
    path.write_text(json.dumps(content))
    found = inspect_file(tmp_path, path.name, path.stat().st_size)
    assert found.kind == "unread" and found.start
    declaration = tmp_path / "mine.yaml"
    declaration.write_text(yaml.safe_dump(yaml.safe_load(found.start)))
    assert read(path, format=str(declaration))["value"].tolist() == numbers


@pytest.mark.parametrize("text", ["[1, 2", '{"name": "only text"}', "[]", "[[[[[[[{}]]]]]]]"])
def test_json_without_numbers_or_damaged_has_no_declaration(tmp_path: Path, text: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(text)
    assert not inspect_file(tmp_path, path.name, path.stat().st_size).start
