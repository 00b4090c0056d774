"""Adding entries to hand-written YAML keeps comments and order."""

from __future__ import annotations

from pathlib import Path

import pytest

from rawperf.core.errors import StudyError
from rawperf.core.yamlio import load_yaml
from virtperf.study.yaml_edit import append_entry, set_in_entry

FILE = """# of the file
rows:
  - id: one        # the first
    says: >-
      two
      lines

  # of the second
  - {id: two}
  # patterns:
  # - id: three

none: []  # nothing yet
last:
- id: x
"""


def test_entry_is_added_between_comments(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    for key, lines in {
        "rows": '  - {id: two}\n  - id: "new"\n    at: {}\n    to:\n      a: [1]\n  # patterns:',
        "none": 'none:  # nothing yet\n  - id: "new"\n',
        "last": '- id: x\n- id: "new"\n',
        "other": '\nother:\n  - id: "new"\n',
    }.items():
        path.write_text(FILE)
        line = append_entry(path, key, {"id": "new", "at": {}, "to": {"a": [1]}})
        text = path.read_text()
        assert lines in text, key
        assert text.splitlines()[line - 1].lstrip() == '- id: "new"'
        assert all(kept in text for kept in FILE.splitlines() if "none" not in kept)


def test_mapping_is_set_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(FILE)
    for value in ({"a": "1"}, {"b": "2", "c": "3"}):
        set_in_entry(path, "rows", 0, "for", value)
        assert load_yaml(path).data["rows"][0]["for"] == value
    assert (
        '      lines\n    for:\n      b: "2"\n      c: "3"\n\n  # of the second' in path.read_text()
    )
    with pytest.raises(StudyError, match="line 12: the entry is in flow style"):
        set_in_entry(path, "rows", 1, "for", {"a": "1"})
