"""Fixture that runs commands as a user does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from virtperf.cli import main

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `virtperf` in an empty folder and check its exit status."""
    monkeypatch.chdir(tmp_path)

    def call(*command: str, status: int = 0, stdin: str | bytes | None = None) -> Result:
        result = CliRunner().invoke(main, list(command), input=stdin)
        if result.exit_code != status or not isinstance(result.exception, SystemExit | None):
            raise AssertionError(
                f"virtperf {' '.join(command)}: {result.output}"
            ) from result.exception
        return result

    return call
