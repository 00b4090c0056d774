"""The cells of a calibration from the file that lists designs and conditions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from validation.coverage import Cell
from virtperf.core.errors import ModelError

VARIED = ("noise", "correlation", "relations")
"""Settings that are given as lists: one cell for each value."""
KNOWN = {
    "model", "design", "truth", "noise", "spread", "replicates", "times", "form", "ratio",
    "shared", "margin", "correlation", "shape", "depth", "length", "reason", "predict", "slopes",
    "second_replicates", "slow", "relations",
}  # fmt: skip
WORDS = {
    "spread": ("constant", "proportional"),
    "shape": ("none", "step", "ramp", "exponential", "log-normal"),
}
FORMS = {"breakpoint": ("free", "rise-plateau", "plateau-decline"), "verdict": ("ratio", "chain", "level")}
COUNTS = ("replicates", "times", "second_replicates")
CURVE = ("x", "noise", "spread", "truth")
NEEDS: Mapping[str, tuple[str, ...]] = {
    "scalability": CURVE, "amdahl": CURVE, "cost": CURVE, "line": CURVE, "plane": CURVE,
    "breakpoint": (*CURVE, "form"),
    "ratio": ("noise", "spread", "ratio"), "paired ratio": ("noise", "spread", "ratio", "shared"),
    "equivalence": ("noise", "spread", "margin"), "steady mean": ("samples", "correlation"),
    "warm-up": ("samples", "correlation", "shape"), "verdict": ("noise", "spread", "form", "relations"),
}  # fmt: skip
"""What a cell of each model or its design has to say."""
SPREADS = dict.fromkeys(("ratio", "paired ratio", "equivalence", "verdict"), "proportional")
"""Models whose case draws one kind of noise only."""
LAW, LINE = ("alpha", "beta", "gamma"), ("intercept", "slope")
TRUTHS: Mapping[str, tuple[str, ...]] = {
    "scalability": LAW, "amdahl": ("alpha", "gamma"), "cost": ("alpha", "beta", "demand"),
    "line": LINE, "plane": ("intercept", "slope 1", "slope 2"),
    "free": ("breakpoint", "level", "slope1", "slope2"), "rise-plateau": ("breakpoint", "level", "slope1"),
    "plateau-decline": ("breakpoint", "level", "slope2"),
}  # fmt: skip
"""The coefficients of each model's truth; those of a breakpoint depend on the form."""


def expand(
    document: Mapping[str, Any],
    models: Sequence[str],
    *,
    file: str | None = None,
    line: Callable[..., int] | None = None,
) -> list[Cell]:
    """Return the cells of a file with ``replicates``, ``designs`` and ``cells``.

    Parameters
    ----------
    document : mapping
        As in `calibration.yaml`.
    models : sequence of str
        Models that have a case.
    file : str, optional
        Name that errors give the document.
    line : callable, optional
        The line on which a part stands, by its path: ``line("cells", 3, "noise")``.

    Raises
    ------
    ModelError
        A part or a setting that is missing; a model, design, setting, word or coefficient that is not known; a number
        out of range; two cells that are the same.
    """
    place = _File(document, file, line)
    for part, kind in (("replicates", int), ("designs", Mapping), ("cells", list)):
        if not isinstance(place.data.get(part), kind):
            raise place.error(f"the designs have no {part!r}", expected="replicates, designs and cells")
    cells: dict[str, tuple[Cell, int]] = {}
    for number, entry in enumerate(place.data["cells"], 1):
        for cell in _cells(place, entry, number, models):
            if cell.id in cells:
                raise place.error(f"cell {number} is the same as cell {cells[cell.id][1]}", number, found=cell.id)
            cells[cell.id] = cell, number
    return [cell for cell, _ in cells.values()]


class _File:
    """The designs, and where their parts stand."""

    def __init__(self, data: Mapping[str, Any], name: str | None, line: Callable[..., int] | None) -> None:
        self.data, self.name, self.line = data, name, line

    def error(self, problem: str, number: int = 0, setting: str = "", **parts: str) -> ModelError:
        """An error of a cell, by its number from 1, or of the file as a whole."""
        where: tuple[str | int, ...] = ("cells", number - 1, *([setting] if setting else [])) if number else ()
        line = self.line(*where) if self.line else None
        return ModelError(problem, file=self.name, line=line, expected=parts.get("expected"), found=parts.get("found"))


def _cells(file: _File, entry: Any, number: int, models: Sequence[str]) -> list[Cell]:
    if not isinstance(entry, Mapping):
        raise file.error(f"cell {number} is not a mapping", number, expected="model, design and settings")

    def known(value: object, allowed: Sequence[str], what: str, setting: str) -> None:
        if value not in allowed:
            expected = f"one of {', '.join(allowed)}"
            raise file.error(
                f"cell {number}: {what} is not known", number, setting, expected=expected, found=repr(value)
            )

    def design(key: str) -> Mapping[str, Any]:
        known(entry.get(key), sorted(file.data["designs"]), key, key)
        return file.data["designs"][entry[key]]

    known(entry.get("model"), models, "model", "model")
    for key in entry:
        known(key, sorted(KNOWN), "setting", key)
    words = WORDS | ({"spread": (SPREADS[entry["model"]],)} if entry["model"] in SPREADS else {})
    words |= {"form": FORMS.get(entry["model"], ())}
    for name, allowed in words.items():
        if name in entry:
            known(entry[name], allowed, name, name)
    settings = {"replicates": file.data["replicates"], **design("design"), **entry}
    for name in NEEDS.get(entry["model"], ()):
        if name not in settings:
            raise file.error(f"cell {number}: {entry['model']} needs {name!r}", number)
    for name in COUNTS:
        if name in settings and not (isinstance(settings[name], int) and settings[name] >= 1):
            found = repr(settings[name])
            raise file.error(f"cell {number}: {name} is no count", number, name, expected="at least 1", found=found)
    truths = TRUTHS.get(entry["form"] if entry["model"] == "breakpoint" else entry["model"])
    truth = entry.get("truth")
    if truths and "truth" in entry and (not isinstance(truth, Mapping) or set(truth) != set(truths)):
        raise file.error(f"cell {number}: truth has other coefficients", number, "truth",
                         expected=f"exactly {', '.join(truths)}", found=repr(truth))  # fmt: skip
    varied = [name for name in VARIED if name in entry]
    for name in varied:
        _check_list(file, number, name, entry[name])
    made = []
    for values in itertools.product(*(entry[name] for name in varied)):
        chosen = {**settings, **dict(zip(varied, values, strict=True))}
        for key in ("model", "design", "source"):
            chosen.pop(key, None)
        made.append(Cell(entry["model"], entry["design"], float(chosen.pop("noise", 0.0)), chosen))
    return made


def _check_list(file: _File, number: int, name: str, values: object) -> None:
    """A noise is positive, a correlation at least 0 and below 1, a number of relations a count."""
    expected, allowed = {
        "noise": ("a list of positive numbers", lambda v: 0 < v < math.inf),
        "correlation": ("a list of numbers from 0 to below 1", lambda v: 0 <= v < 1),
        "relations": ("a list of counts", lambda v: isinstance(v, int) and v >= 1),
    }[name]
    if not isinstance(values, list) or not values or not all(isinstance(v, int | float) and allowed(v) for v in values):
        raise file.error(
            f"cell {number}: {name} is no list of levels", number, name, expected=expected, found=repr(values)
        )


def conditions(cell: Cell) -> str:
    """Return what is special about a cell, in words: what the truth is, the noise, how many runs."""
    s = cell.settings
    parts = [str(s[name]) for name in ("form", "shape") if name in s]
    parts += [f"{name} {s[name]:g}" for name in ("depth", "length", "ratio", "margin") if name in s]
    parts += [", ".join(f"{name} {value:g}" for name, value in s[key].items()) for key in ("truth",) if key in s]
    if "shared" in s:
        parts.append(f"{100 * s['shared']:g} % in common")
    if "relations" in s:
        parts.append(f"{s['relations']} comparison{'s' if s['relations'] > 1 else ''}")
    if "correlation" in s:
        slow = f" of a slow part and {s['slow']:g} times its variance in white noise" if "slow" in s else ""
        parts.append(f"{s['samples']} samples, correlation {s['correlation']:g}{slow}")
    else:
        runs = f"{s['replicates']} run{'s' if s['replicates'] > 1 else ''}"
        runs += f" against {s['second_replicates']}" if "second_replicates" in s else ""
        parts.append(f"{100 * cell.noise:g} % noise, {s['spread']}; {runs}")
    return "; ".join(parts)
