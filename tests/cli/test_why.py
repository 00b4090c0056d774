"""What `virtperf why` prints; tests/test_changes.py asks DVC itself."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Run
from virtperf.changes import Change

FOUND = [
    Change("data/in.csv", "modified", "--- a/data/in.csv\n+++ b/data/in.csv\n-1\t2\n+1\t3\x1b[31m"),
    Change("seed", "1 -> 2"),
    Change("src/module.py", "deleted", "-import this"),
]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Change]:
    changes: list[Change] = []
    monkeypatch.setattr("virtperf.changes.changes", lambda root, stage: changes)
    return changes


def test_inputs_come_first_and_their_differences_last(run: Run, found: list[Change]) -> None:
    found += FOUND
    assert run("why", "judge@toy").output.splitlines() == [
        "judge@toy would run, since these changed:", "  data/in.csv: modified", "  seed: 1 -> 2",
        "  src/module.py: deleted", "", "--- a/data/in.csv", "+++ b/data/in.csv", "-1    2", "+1    3 [31m", "",
        "-import this",
    ]  # fmt: skip
    assert "import this" not in run("why", "judge@toy", "--no-diff").output


def test_nothing_changed(run: Run, found: list[Change]) -> None:
    assert run("why", "judge@toy").output == "judge@toy: nothing has changed since it ran last\n"
