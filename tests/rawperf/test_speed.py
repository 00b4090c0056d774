"""The readers of long files are about as fast as they were, measured by libraries that read the same bytes."""

from __future__ import annotations

import json
import time

import pytest

from benchmarks.formats import BAR, LIBRARIES, ratios
from benchmarks.raw_files import KINDS

FALLEN = 2 / 3


def test_the_bar_has_every_file() -> None:
    bar = json.loads(BAR.read_text())
    assert list(bar) == list(KINDS)
    assert all(found and found.keys() <= LIBRARIES[name].keys() for name, found in bar.items())


@pytest.mark.parametrize("name", KINDS)
def test_no_ratio_has_fallen_by_a_third(name: str) -> None:
    bar = json.loads(BAR.read_text())[name]
    for pause_s in (0, 1, 5, 10):  # what else the machine does passes
        time.sleep(pause_s)
        found = ratios(name)
        assert found.keys() & bar.keys()
        slower = {
            k: (found[k], bar[k]) for k in found.keys() & bar.keys() if found[k] < FALLEN * bar[k]
        }
        if not slower:
            break
    assert not slower, "measured, and as benchmarks/ratios.json has it"
