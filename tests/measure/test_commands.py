"""Values in commands: each stays one argument and is never parsed by a shell."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virtperf.measure.commands import calls, filled_command
from virtperf.measure.definition import Command

# program arguments may contain anything but NUL
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=30)


def call(entry, **values):
    (one,) = calls("setup", (Command.model_validate(entry),), values)
    return one


@given(TEXTS, TEXTS)
def test_value_stays_one_argument(a, b):
    assert call("prog -x '{a} {b}' --y={b}", a=a, b=b).argv == (
        "prog",
        "-x",
        f"{a} {b}",
        f"--y={b}",
    )
    assert call(["prog", "{a}{{}}", 1], a=a, b=b).argv == ("prog", f"{a}{{}}", "1")


def test_shell_text_is_unchanged_and_values_are_variables():
    for value in (
        "a b",
        "$(touch x)",
        "`touch x`",
        "'; touch x; '",
        '"; touch x; "',
        "a\nb",
        "*",
        "-n",
        "{b}",
    ):
        made = call({"run": 'printf %s "$value{a}"', "shell": True}, value=value)
        assert made.argv == ("sh", "-c", 'printf %s "$value{a}"')
        environment = {"PATH": os.environ["PATH"], **made.variables}
        out = subprocess.run(made.argv, env=environment, capture_output=True, check=True).stdout
        assert out.decode() == f"{value}{{a}}"


def test_repeated_commands_are_numbered():
    command = Command.model_validate(
        {
            "run": "w {n}",
            "count": "guests",
            "output": "g{n}/w.csv",
            "files": [{"path": "g{n}/w.csv", "entity": "g{n}", "interval_s": 0.5}],
        }
    )
    made = list(calls("workload", (command, Command.model_validate("other")), {"guests": 2}))
    assert [(c.name, c.argv, c.output) for c in made] == [
        ("workload-1", ("w", "1"), "g1/w.csv"),
        ("workload-2", ("w", "2"), "g2/w.csv"),
        ("workload-3", ("other",), None),
    ]
    assert made[1].files == ({"path": "g2/w.csv", "entity": "g2", "interval_s": 0.5},)
    assert list(calls("workload", (command,), {"guests": 0})) == []


@pytest.mark.parametrize("level", ["../x", "/x", "a/../../x", ".hidden", "a/.b/c", ""])
def test_value_cannot_move_a_path_out_of_the_run_folder(level):
    for entry in ({"run": "x", "output": "{level}"}, {"run": "x", "files": [{"path": "{level}"}]}):
        with pytest.raises(ValueError, match="not a valid path of a raw file"):
            call(entry, level=level)


@pytest.mark.parametrize("text", ["{x", "x}", "{}", "{0}", "{a.b}", "{a[0]}", "{a:>9}", "{a!r}"])
def test_invalid_placeholder_is_rejected(text):
    with pytest.raises(ValueError):
        filled_command(text, {"a": 1})
