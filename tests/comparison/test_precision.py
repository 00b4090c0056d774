"""Precision of the least precise condition, and the stopping rule over blocks."""

from __future__ import annotations

import pytest

from rawperf.core.errors import RawperfError
from virtperf.comparison import precision as module
from virtperf.comparison.precision import Precision
from virtperf.core.numbers import pretty
from virtperf.core.paths import Layout
from virtperf.models.planning import stop_when
from virtperf.runs.ingest.folder import RunFolder
from virtperf.runs.run_values import RunValues

STEADY = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2, 100.1, 99.9]
DRIFT = [1.0, 1.3, 0.8, 1.2, 0.9, 1.1, 1.0, 1.4]


@pytest.fixture
def so_far(tmp_path, monkeypatch):
    """Runs whose folder name is their throughput; run "none" cannot be read."""

    def read(_, path):
        if path.name == "none":
            raise RawperfError("no run.yaml", file=path)
        return RunValues(path.name, {("throughput", ()): float(path.name)})

    monkeypatch.setattr(module.RunReader, "run", read)

    def made(blocks, **fields):
        found = Precision(Layout(tmp_path), "throughput", **fields)
        for block in range(1, blocks + 1):
            slow = DRIFT[block - 1]
            for guests, level in ((1, 50.0), (2, STEADY[block - 1])):
                folder = tmp_path / str(slow * level)
                assert (
                    found.add("a", {"guests": guests, "think_ms": 0}, block, RunFolder(folder))
                    is None
                )
        return found

    return made


def test_ratios_within_blocks_stop_earlier_than_means(so_far, tmp_path):
    means, ratios = so_far(7), so_far(7, baseline={"guests": 1})
    rule = stop_when([s / 50 for s in STEADY[:7]])
    share = 100 * ((rule.estimate.high / rule.estimate.low) ** 0.5 - 1)
    assert ratios.words("a") == f"ratio of throughput ±{pretty(share, 2)} % after 7 blocks"
    assert ratios.enough("a", 8) == (
        f"7 blocks are enough: the half-width of the ratio of throughput is at most {pretty(share, 2)} %"
    )
    assert (means.enough("a", 8), means.words("a")[-10:]) == ("", "(guests=2)")
    assert float(means.words("a").split("±")[1].split(" ")[0]) > 10


def test_wide_interval_is_printed_without_exponent(so_far, monkeypatch):
    means = so_far(7)
    monkeypatch.setattr(means, "widest", lambda rules: ("guests=2", 3.0, 2))
    assert means.words("a") == "throughput ±300 % after 2 blocks (guests=2)"


def test_no_early_stop_before_six_complete_blocks(so_far, tmp_path):
    assert so_far(5, baseline={"guests": 1}).enough("a", 6) == ""
    found = so_far(6, baseline={"guests": 1})
    assert found.enough("a", 7)
    assert found.enough("other", 7) == ""
    found.add("a", {"guests": 1, "think_ms": 0}, 7, RunFolder(tmp_path / "40.0"))
    assert found.enough("a", 7) == ""  # the block is incomplete
    assert found.enough("a", 8)  # and, if it stays incomplete, six blocks are still enough
    assert "no run.yaml" in str(found.add("a", {"guests": 2}, 7, RunFolder(tmp_path / "none")))
    assert so_far(1).words("a") == ""
    assert Precision(found.layout, "latency").words("a") == ""
