"""A short run of `validation.kills`: the smallest study, killed at one moment."""

from __future__ import annotations

from pathlib import Path

import pytest

from validation import kills


@pytest.mark.slow
def test_a_killed_pipeline_goes_on_by_itself(root: Path) -> None:
    with kills.clone(root) as copy:
        assert kills.disturbed(copy, "public-overcommit", 1, seed=3) == []
        before = kills.fingerprint(copy)
        assert (
            "reports/public-overcommit.html" in before
            and "pipelines/public-overcommit/dvc.lock" in before
        )
        (copy / "reports" / "public-overcommit.html").write_text("other")
        assert kills.fingerprint(copy) != before
