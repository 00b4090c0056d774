"""Cells of a calibration, read from the file of designs and conditions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rawperf.core.errors import StudyError
from rawperf.core.yamlio import Document
from tools.validation.coverage import Cell
from tools.validation.verdicts import TRUTHS as CLAIMS

VARIED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "noise": ("a list of positive numbers", lambda v: _number(v) and 0 < v < math.inf),
    "correlation": ("a list of numbers from 0 to below 1", lambda v: _number(v) and 0 <= v < 1),
    "claim": ("a list of claims of tools/validation/verdict_study", lambda v: v in CLAIMS),
}
"""Settings given as lists, one cell per value, with the type of the values."""
KNOWN = {
    "model",
    "design",
    "truth",
    "noise",
    "spread",
    "replicates",
    "times",
    "form",
    "ratio",
    "shared",
    "correlation",
    "shape",
    "depth",
    "length",
    "predict",
    "slopes",
    "second_replicates",
    "second_noise",
    "slow",
    "claim",
    "blocks",
    "block_noise",
    "percent",
    "samples",
    "second_correlation",
    "share",
    "interaction",
}
WORDS = {
    "spread": ("constant", "counts", "proportional"),
    "shape": ("none", "step", "ramp", "exponential", "log-normal", "counts"),
}
FORMS = {
    "breakpoint": ("free", "rise-plateau", "plateau-decline"),
    "verdict": ("independent", "blocks", "separate blocks"),
}
COUNTS = ("replicates", "times", "second_replicates", "blocks")
CURVE = ("x", "noise", "spread", "truth")
NEEDS: Mapping[str, tuple[str, ...]] = {
    "scalability": CURVE,
    "amdahl": CURVE,
    "line": CURVE,
    "robust scalability": CURVE,
    "breakpoint": (*CURVE, "form"),
    "contrast": ("noise", "spread", "ratio", "blocks", "block_noise"),
    "ratio over sessions": ("noise", "spread", "ratio", "blocks", "block_noise", "interaction"),
    "stopping": ("noise", "spread"),
    "closed network": CURVE,
    "percentile ratio": ("noise", "spread", "ratio", "percent", "samples"),
    "ratio": ("noise", "spread", "ratio"),
    "paired ratio": ("noise", "spread", "ratio", "shared"),
    "steady mean": ("samples", "correlation"),
    "run's mean": ("samples", "correlation", "shape"),
    "quantile": ("samples", "share", "noise", "spread"),
    "warm-up": ("samples", "correlation", "shape"),
    "verdict": ("noise", "spread", "form", "claim"),
}
"""Required settings of a cell or its design, by model."""
SPREADS = dict.fromkeys(
    (
        "ratio",
        "paired ratio",
        "percentile ratio",
        "ratio over sessions",
        "verdict",
        "contrast",
        "stopping",
        "quantile",
        "closed network",
    ),
    "proportional",
)
"""Models whose case supports one kind of noise only."""
LAW, LINE = ("alpha", "beta", "gamma"), ("intercept", "slope")
TRUTHS: Mapping[str, tuple[str, ...]] = {
    "scalability": LAW,
    "robust scalability": LAW,
    "amdahl": ("alpha", "gamma"),
    "closed network": ("demand", "cv2", "think", "servers"),
    "line": LINE,
    "free": ("breakpoint", "level", "slope1", "slope2"),
    "rise-plateau": ("breakpoint", "level", "slope1"),
    "plateau-decline": ("breakpoint", "level", "slope2"),
}
"""Coefficients of each model's truth; those of a breakpoint depend on the form."""


def expand(document: Document, models: Sequence[str]) -> list[Cell]:
    """Return the cells of a file with ``replicates``, ``designs`` and ``cells``, for the `models`
    that have a case.

    Raises
    ------
    StudyError
        A missing part or setting; an unknown model, design, setting, word or coefficient; a number
        out of range; two equal cells.
    """
    for part, kind in (("replicates", int), ("designs", Mapping), ("cells", list)):
        if not isinstance(document.data.get(part), kind):
            raise document.error(
                f"the designs have no {part!r}", expected="replicates, designs and cells"
            )
    cells: dict[str, tuple[Cell, int]] = {}
    for number in range(1, len(document.data["cells"]) + 1):
        for cell in _cells(document, number, models):
            if cell.id in cells:
                problem = f"cell {number} is the same as cell {cells[cell.id][1]}"
                raise document.error(problem, "cells", number - 1, found=cell.id)
            cells[cell.id] = cell, number
    return [cell for cell, _ in cells.values()]


def _cells(document: Document, number: int, models: Sequence[str]) -> Iterator[Cell]:
    entry, place = document.data["cells"][number - 1], ("cells", number - 1)
    if not isinstance(entry, Mapping):
        raise document.error(
            f"cell {number} is not a mapping", *place, expected="model, design and settings"
        )

    def error(problem: str, *setting: str, **parts: str) -> StudyError:
        return document.error(f"cell {number}: {problem}", *place, *setting, **parts)

    def known(value: object, allowed: Sequence[str], what: str, setting: str) -> None:
        if value not in allowed:
            expected = f"one of {', '.join(allowed)}"
            raise error(f"{what} is not known", setting, expected=expected, found=repr(value))

    def design(key: str) -> Mapping[str, Any]:
        known(entry.get(key), sorted(document.data["designs"]), key, key)
        return document.data["designs"][entry[key]]

    known(entry.get("model"), models, "model", "model")
    for key in entry:
        known(key, sorted(KNOWN), "setting", key)
    model = entry["model"]
    words = (
        WORDS
        | ({"spread": (SPREADS[model],)} if model in SPREADS else {})
        | {"form": FORMS.get(model, ())}
    )
    for name, allowed in words.items():
        if name in entry:
            known(entry[name], allowed, name, name)
    settings = {"replicates": document.data["replicates"], **design("design"), **entry}
    if missing := [name for name in NEEDS.get(model, ()) if name not in settings]:
        raise error(f"{model} needs {missing[0]!r}")
    for name in COUNTS:
        if name in settings and not (isinstance(settings[name], int) and settings[name] >= 1):
            raise error(
                f"{name} is no count", name, expected="at least 1", found=repr(settings[name])
            )
    truths = TRUTHS.get(entry["form"] if model == "breakpoint" else model, ())
    truth = entry.get("truth")
    if (
        truths
        and "truth" in entry
        and not (isinstance(truth, Mapping) and set(truth) == set(truths))
    ):
        expected = f"exactly {', '.join(truths)}"
        raise error("truth has other coefficients", "truth", expected=expected, found=repr(truth))
    varied = [name for name in VARIED if name in entry]
    for name in varied:
        values, (expected, fits) = entry[name], VARIED[name]
        if not (isinstance(values, list) and values and all(map(fits, values))):
            raise error(f"{name} is no list of levels", name, expected=expected, found=repr(values))
    for values in itertools.product(*(entry[name] for name in varied)):
        chosen = {**settings, **dict(zip(varied, values, strict=True))}
        for key in ("model", "design", "source"):
            chosen.pop(key, None)
        yield Cell(model, entry["design"], float(chosen.pop("noise", 0.0)), chosen)


def _number(value: object) -> bool:
    return isinstance(value, int | float)


def conditions(cell: Cell) -> str:
    """Return the special properties of a cell in words: true values, noise, number of runs."""
    s = cell.settings
    parts = [str(s[name]) for name in ("claim", "form", "shape") if name in s]
    parts += [f"{name} {s[name]:g}" for name in ("depth", "length", "ratio") if name in s]
    parts += [
        ", ".join(f"{name} {value:g}" for name, value in s[key].items())
        for key in ("truth",)
        if key in s
    ]
    if "shared" in s:
        parts.append(f"{100 * s['shared']:g} % in common")
    if "correlation" in s:
        slow = (
            f" of a slow part and {s['slow']:g} times its variance in white noise"
            if "slow" in s
            else ""
        )
        more = f", filtered by {s['second_correlation']:g}" if "second_correlation" in s else ""
        parts.append(f"{s['samples']} samples, correlation {s['correlation']:g}{more}{slow}")
    elif "share" in s and "samples" in s:
        parts.append(f"{100 * s['share']:g}th percentile of {s['samples']} independent samples")
    else:
        runs = f"{s['replicates']} run{'s' if s['replicates'] > 1 else ''}"
        runs += f" against {s['second_replicates']}" if "second_replicates" in s else ""
        other = f" against {100 * s['second_noise']:g}" if "second_noise" in s else ""
        if "blocks" in s:
            runs = (
                f"{s['blocks']} blocks that differ by {100 * s['block_noise']:g} %, {runs} in each"
            )
        if "interaction" in s:
            runs += f", with ratios that differ by {100 * s['interaction']:g} %"
        if "percent" in s:
            parts.append(f"p{s['percent']:g} of {s['samples']} values a run")
        parts.append(f"{100 * cell.noise:g}{other} % noise, {s['spread']}; {runs}")
    return "; ".join(parts)
