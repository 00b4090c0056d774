"""Parameters: unknown names, wrong types and out-of-range values are rejected with advice."""

from __future__ import annotations

import pytest

from rawperf.core.errors import ParameterError, RawperfError
from virtperf.core.params import load_parameters, notebook_parameters


def load(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    return load_parameters(path)


def test_parameters_of_this_repository_are_valid(root):
    assert load_parameters(root / "params.yaml").level == 0.95


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed: 1\nlevle: 0.9\n", "line 2: unknown key 'levle'. Did you mean 'level'?"),
        ("seed: 1\nlevel: 95\n", "line 2: level: wrong value; expected less than 1; found 95"),
        ("seed: -1\n", "line 1: seed: wrong value; expected greater than or equal to 0; found -1"),
        (
            "seed: 1\nreconstruct:\n  reading: strict\n",
            "line 3: reconstruct: unknown key 'reading'. Did you mean 'readings'?",
        ),
        (
            "seed: 1\nreport: {assumptions: perhaps}\n",
            "report/assumptions: wrong value; expected true or false; found 'perhaps'",
        ),
    ],
)
def test_mistakes_are_reported_with_line_number(tmp_path, text, message):
    with pytest.raises(RawperfError, match=message.replace("?", r"\?").replace(".", r"\.")):
        load(tmp_path, text)


def test_invalid_notebook_parameter_name_is_rejected():
    with pytest.raises(ParameterError, match="Did you mean 'show_examples'"):
        notebook_parameters({"show_example": True})
