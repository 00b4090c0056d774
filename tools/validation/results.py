"""Results of a calibration between runs of the command: one row per cell, estimate and method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from tools.validation.coverage import Case, Cell, facts

KEPT = ("cell", "seed", "estimate", "method", "n", "none")
OF_CELL = ("model", "design", "noise", "default", "boundary")
"""Columns that follow from the cell, and are not stored."""


def load(
    path: Path, cells: Sequence[Cell], cases: Mapping[str, Callable[[Cell], Case]], seed: int
) -> pd.DataFrame:
    """Return the stored results of `cells` with this seed, in the form of `coverage.run`; empty
    without a file. Cells are found by their ids, so that a changed cell has no stored result.
    """
    if not path.is_file():
        return pd.DataFrame()
    stored = pd.read_csv(path)
    stored = stored[stored["seed"] == seed]
    rows = []
    for place, cell in enumerate(cells):
        of_cell = stored[stored["cell"] == cell.id]
        if len(of_cell):
            case = cases[cell.model](cell)
            for row in of_cell.drop(columns="seed").to_dict("records"):
                about = facts(place, cell, case, row["estimate"], row["method"])
                rows.append({str(name): value for name, value in row.items()} | about)
    return pd.DataFrame(rows)


def save(path: Path, found: pd.DataFrame, cells: Sequence[Cell], seed: int) -> None:
    """Write results, sorted by the order of `cells`."""
    measures = [name for name in found.columns if name not in (*KEPT, *OF_CELL)]
    table = found.sort_values("cell", kind="stable").assign(seed=seed)
    table["cell"] = [cells[place].id for place in table["cell"]]
    table[[*KEPT, *measures]].to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
