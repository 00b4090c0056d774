"""The cells of a calibration from the file that lists designs and conditions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from virtperf.errors import ModelError
from virtperf.models.calibrate import Cell

VARIED = ("noise", "correlation")
"""Settings that are given as lists: one cell for each value."""
KNOWN = {
    "model", "design", "second_design", "truth", "second", "noise", "spread", "replicates", "times", "form", "ratio",
    "shared", "margin", "correlation", "shape", "depth", "length", "bootstrap", "reason",
}  # fmt: skip


def expand(document: Mapping[str, Any], models: Sequence[str]) -> list[Cell]:
    """Return the cells of a file with ``replicates``, ``designs`` and ``cells``.

    Parameters
    ----------
    document : mapping
        As in `data/calibration.yaml`.
    models : sequence of str
        Models that have a case.

    Raises
    ------
    ModelError
        A part that is missing; a model, a design or a setting that is not known; two cells that are the same.
    """
    for part in ("replicates", "designs", "cells"):
        if part not in document:
            raise ModelError(f"the designs have no {part!r}", expected="replicates, designs and cells")
    cells: list[Cell] = []
    for number, entry in enumerate(document["cells"], 1):
        where = f"cell {number}"
        _known(entry.get("model"), models, f"{where}: model")
        for key in entry:
            _known(key, sorted(KNOWN), f"{where}: setting")
        settings = {"replicates": document["replicates"], **_design(document, entry, "design", where), **entry}
        if "second_design" in entry:
            settings["second_x"] = _design(document, entry, "second_design", where)["x"]
        varied = [name for name in VARIED if name in entry]
        for values in itertools.product(*(entry[name] for name in varied)):
            chosen = {**settings, **dict(zip(varied, values, strict=True))}
            for key in ("model", "design", "second_design", "source"):
                chosen.pop(key, None)
            cells.append(Cell(entry["model"], entry["design"], float(chosen.pop("noise", 0.0)), chosen))
    twice = [c.id for c in cells if [d.id for d in cells].count(c.id) > 1]
    if twice:
        raise ModelError(f"two cells are the same: {twice[0]}")
    return cells


def conditions(cell: Cell) -> str:
    """Return what is special about a cell, in words: what the truth is, the noise, how many runs."""
    s = cell.settings
    parts = [str(s[name]) for name in ("form", "shape") if name in s]
    parts += [f"{name} {s[name]:g}" for name in ("depth", "length", "ratio", "margin") if name in s]
    parts += [", ".join(f"{name} {value:g}" for name, value in s[key].items()) for key in ("truth",) if key in s]
    if "second" in s:
        parts.append("against " + ", ".join(f"{name} {value:g}" for name, value in s["second"].items()))
    if "shared" in s:
        parts.append(f"{100 * s['shared']:g} % in common")
    if "correlation" in s:
        parts.append(f"{s['samples']} samples, correlation {s['correlation']:g}")
    else:
        runs = f"{s['replicates']} run{'s' if s['replicates'] > 1 else ''}"
        parts.append(f"{100 * cell.noise:g} % noise, {s['spread']}; {runs}")
    return "; ".join(parts)


def _design(document: Mapping[str, Any], entry: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    _known(entry.get(key), sorted(document["designs"]), f"{where}: {key}")
    return document["designs"][entry[key]]


def _known(value: object, allowed: Sequence[str], what: str) -> None:
    if value not in allowed:
        raise ModelError(f"{what} is not known", expected=f"one of {', '.join(allowed)}", found=repr(value))
