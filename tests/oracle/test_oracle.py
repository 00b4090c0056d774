"""The stored ranges of papers equal those of the oracle, in a part that is drawn by a fixed seed.

`python -m tests.oracle` compares all of them.
"""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.oracle.compare import differences
from tests.oracle.solver import Text
from tests.oracle.statements import Paper

PAPERS = sorted(path.parent for path in (ROOT / "data" / "published").glob("*/claims.yaml"))
TABLES = ROOT / "data" / "reconstructed"
SHARE, SEED = 0.08, 20090131
SMALL = "zvm-update-2011"


@pytest.mark.parametrize("folder", PAPERS, ids=lambda folder: folder.name)
def test_drawn_ranges_equal_the_oracle(folder):
    tables = TABLES / folder.name
    assert (tables / "ranges.parquet").exists(), "the pipeline has not run: `virtperf pipeline`"
    found, compared = differences(Paper(folder), tables, SHARE, SEED)
    assert compared
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("table", "column"), [("points", "pieces_text"), ("ranges", "pieces")])
def test_a_wrong_range_is_found(tmp_path, table, column):
    tables = tmp_path / table
    shutil.copytree(TABLES / SMALL, tables)
    path = tables / f"{table}.parquet"
    stored = pd.read_parquet(path)
    if table == "ranges":
        stored = stored.assign(
            **{column: [[*p[:-1], p[-1] * 1.001 + 0.001] for p in stored[column]]}
        )
    else:
        stored[column] = [np.array([p[0] - 0.01, *p[1:]]) for p in stored[column]]
    stored.to_parquet(path)
    found, _ = differences(Paper(ROOT / "data" / "published" / SMALL), tables, SHARE, SEED)
    assert found


def test_oracle_imports_nothing_of_the_package():
    for path in Path(__file__).parent.glob("*.py"):
        if path.name.startswith("test_"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in getattr(node, "names", [])]
            module = getattr(node, "module", "") or ""
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert not any(n.startswith(("virtperf", "rawperf")) for n in [module, *names]), (
                    path
                )


STUDY = """
study: small
factors: {guests: {levels: [1, 2, 3], default: 1}}
quantities: {rate: {label: Rate, unit: x, references: [{at: {guests: 3}, value: 100}]}}
exhibits: [{id: figure-1, kind: line, quantity: rate, over: guests, series: [{label: a, levels: [1, 2, 3]}]}]
"""
CLAIMS = """
study: small
claims:
  - {id: one, kind: value, of: "rate[guests=1]", value: 40, half_width: 1}
  - {id: other, kind: value, of: "rate[guests=1]", value: 60, half_width: 1}
  - {id: double, kind: ratio, of: "rate[guests=2]", to: rate, word: twice}
assumptions:
  - {id: ours, kind: range, of: "rate[guests=2]", high: 10, says: x, why: y}
"""


def test_ranges_by_hand(tmp_path):
    folder = tmp_path / "published" / "small"
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(STUDY)
    (folder / "claims.yaml").write_text(CLAIMS)
    shutil.copy(ROOT / "data" / "readings.yaml", tmp_path)
    paper = Paper(folder)
    text = Text(paper, paper.statements)  # the assumption is in conflict with both resolutions
    assert sorted(text.ranges(paper.quantity("rate"))) == [(39, 41), (59, 61)]
    lows, highs = zip(*sorted(text.ranges(paper.quantity("rate[guests=2]"))), strict=True)
    assert lows == pytest.approx((39 * 1.6667, 59 * 1.6667))
    assert highs == pytest.approx((41 * 2.4, 61 * 2.4))
    assert text.ranges(paper.quantity("rate[guests=3]")) == [(100, 100)]
