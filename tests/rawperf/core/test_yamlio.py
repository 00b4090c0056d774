"""Malicious or malformed YAML is rejected early, with line number, for every kind of file."""

from __future__ import annotations

import pickle

import pytest

from rawperf.core.errors import RawperfError, RunError
from rawperf.core.metrics import load_metrics
from rawperf.core.yamlio import load_yaml
from virtperf.core.params import load_parameters
from virtperf.study.definition import load_study

BOMB = "\n".join(
    ["a0: &a0 [1, 2]"] + [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
)


@pytest.mark.parametrize(
    ("name", "load"),
    [
        ("study.yaml", lambda path: load_study(path.parent)),
        ("metrics.yaml", load_metrics),
        ("params.yaml", load_parameters),
        ("claims.yaml", load_yaml),
    ],
)
def test_alias_bombs_are_rejected_before_construction(tmp_path, name, load):
    (tmp_path / name).write_text(BOMB)
    with pytest.raises(
        RawperfError, match=r"line 6: the file is too large with its aliases .* expanded"
    ):
        load(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &x [*x]", "line 1: the file is too large"),
        ("a: 1\nb: " + "[" * 30 + "]" * 30, "line 2: nested too deeply"),
        ("a: 1\nb: 1" + "0" * 400, "line 2: not valid YAML: a whole number of more than 18 digits"),
        ("a: 0x" + "f" * 30_000, "line 1: not valid YAML: a whole number of more than 18 digits"),
        ("a: 1" + ":59" * 200, "line 1: not valid YAML: a whole number of more than 18 digits"),
        ("a: 1\nb: 2009-13-45", "line 2: .* 2009-13-45 is not a date: month must be in 1..12"),
        ("a: 1\n[1]: 2", "line 2: a list or a mapping in place of a key"),
        ("a: 1\nb: !!bool x", "line 2: not valid YAML: the tag bool"),
        ("a: 1\nb: !!python/name:os.system", "line 2: not valid YAML: the tag os.system"),
        ("a:\n\tb: 1", "line 2: .* Indent with spaces, not with a tab"),
        ("a:\n  b: 1\n\tc: 2", "line 3: .* Indent with spaces, not with a tab"),
        ("a: b: c", "line 1: .* Put a text that contains ': ' in quotes"),
        ("a: \x00", "a character that YAML does not allow"),
    ],
)
def test_unusable_yaml_is_rejected_with_line_number(tmp_path, text, problem):
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(RawperfError, match=problem):
        load_yaml(tmp_path / "x.yaml")


def test_few_aliases_are_accepted(tmp_path):
    (tmp_path / "x.yaml").write_text("a: &x [1, 2]\nb: *x\nc: {d: *x}")
    document = load_yaml(tmp_path / "x.yaml")
    assert document.data == {"a": [1, 2], "b": [1, 2], "c": {"d": [1, 2]}}
    assert document.line("c", "d") == 3


def test_non_utf_8_text_is_rejected(tmp_path):
    (tmp_path / "x.yaml").write_bytes(b"a: 1\nb: \xff")
    with pytest.raises(RawperfError, match=r"x\.yaml line 2: the file is not UTF-8.* Save it as"):
        load_yaml(tmp_path / "x.yaml")


def test_command_errors_show_the_path_and_results_only_the_file_name(tmp_path):
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "x.yaml"
    for content in (b"a: \xff", b"a: 1\na: 2", b"- 1"):
        path.write_bytes(content)
        with pytest.raises(RawperfError) as caught:
            load_yaml(path)
        error = caught.value
        assert str(error).startswith("x.yaml line ")
        assert str(error.relative_to(tmp_path)) == f"data/{error}"
        assert str(pickle.loads(pickle.dumps(error)).relative_to(tmp_path)) == str(
            error.relative_to(tmp_path)
        )
        assert error.relative_to(tmp_path / "elsewhere").file == str(path)
    path.write_text("a: 1")
    error = load_yaml(path).error("wrong", "a")
    assert error.file == "x.yaml" and error.relative_to(tmp_path).file == "data/x.yaml"
    assert error.copy_as(RunError, file="y.yaml").relative_to(tmp_path).file == "y.yaml"
