"""Comparison of the tables of data/reconstructed with the oracle's ranges."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tests.oracle.solver import Range, Text
from tests.oracle.statements import Paper

RELATIVE = 2e-5
"""Tolerance of an end: six printed digits, and the solvers' tolerances."""
SEARCHED = ("usl", "segmented")
"""Kinds of derived numbers without a linear program, which the oracle does not cover."""


def differences(
    paper: Paper, tables: Path, share: float = 1.0, seed: int = 0
) -> tuple[list[str], int]:
    """Numbers of a study that differ from the oracle's, and how many were compared.

    `share`: the share of points and of derived numbers that is drawn, at least one of each.
    """
    texts = {
        "": Text(paper, paper.statements),
        "_text": Text(paper, [s for s in paper.statements if not s.assumed]),
    }
    draw = random.Random(f"{seed} {paper.folder.name}")
    points = pd.read_parquet(tables / "points.parquet").drop_duplicates("quantity")
    stored = {paper.quantity(row["quantity"]): row for row in points.to_dict("records")}
    plotted = paper.points()
    found = [f"{q} is plotted, but has no stored range" for q in plotted if q not in stored]
    found += [f"{q} is stored, but not plotted" for q in stored.keys() - set(plotted)]
    compared = 0
    for quantity in _drawn(draw, [q for q in plotted if q in stored], share):
        for suffix, text in texts.items():
            compared += 1
            found += _compared(
                f"{stored[quantity]['quantity']}{suffix}",
                stored[quantity][f"pieces{suffix}"],
                text.ranges(quantity),
            )
    numbers = paper.numbers()
    rows = pd.read_parquet(tables / "ranges.parquet").to_dict("records")
    if [(n.name, n.gives) for n in numbers] != [(r["derived"], r["gives"]) for r in rows]:
        return [*found, "the derived numbers are not those of study.yaml"], compared
    exact = [pair for pair in zip(numbers, rows, strict=True) if pair[0].kind not in SEARCHED]
    for number, row in _drawn(draw, exact, share):
        for suffix, text in texts.items():
            compared += 1
            name, answer = f"{row['derived']}: {row['label']}{suffix}", text.number(number)
            if number.kind == "argmax":
                if answer != [str(x).strip('"') for x in row[f"levels{suffix}"]]:
                    found.append(f"{name}: {row[f'levels{suffix}']}, expected {answer}")
            else:
                found += _compared(name, row[f"pieces{suffix}"], answer)
    return found, compared


def _drawn(draw: random.Random, items: Sequence[Any], share: float) -> list[Any]:
    count = min(len(items), max(1, round(share * len(items))))
    return [items[k] for k in sorted(draw.sample(range(len(items)), count))]


def _compared(name: str, stored: Sequence[float], expected: Sequence[Range]) -> Iterator[str]:
    """Differences between stored pieces and the union of the oracle's ranges."""
    pieces = _union(expected)
    if len(stored) != len(pieces) or not all(map(_same, stored, pieces)):
        shown = [", ".join(f"{end:.7g}" for end in ends) for ends in (stored, pieces)]
        yield f"{name}: {shown[0]}; expected {shown[1]}"


def _union(ranges: Sequence[Range]) -> list[float]:
    ends: list[float] = []
    for low, high in sorted(ranges):
        if ends and low <= ends[-1] + RELATIVE * max(1.0, abs(ends[-1])):
            ends[-1] = max(ends[-1], high)
        else:
            ends += [low, high]
    return ends


def _same(one: float, other: float) -> bool:
    return one == other or math.isclose(one, other, rel_tol=RELATIVE, abs_tol=RELATIVE)
