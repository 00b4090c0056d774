"""How many digits of certified results the models reach: NIST's nonlinear and linear regression sets.

A reference is one JSON file of `tests/reference`, read as a dictionary: ``model`` ("nist" for the nonlinear sets,
"linear"), ``options`` (``set`` and ``level``, and ``starts`` or the form of the model), ``x``, ``y``, ``expected`` with
``params`` and ``bse``, and ``rtol``, the relative errors that are allowed. A ``reason`` says why one of them is large.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from validation.nist import curve
from virtperf.core.errors import ModelError, VirtperfError
from virtperf.core.files import write_atomically
from virtperf.models.checks import Array
from virtperf.models.linear import LinearResult, fit_line, fit_linear, fit_polynomial
from virtperf.models.nls import NLSResult, fit_nls

ROOT = Path(__file__).parent.parent
Reference = dict[str, Any]
CERTIFIED = {"nist": 11, "linear": 15}  # models with the digits that NIST certifies
QUANTITIES = ("params", "bse")
LEVELS = ("Lower", "Average", "Higher")
KEYS = ("options", "x", "y", "expected", "rtol")
HEAD = """\
# Certified digits

NIST certifies the results of some regression problems that are hard to compute (Statistical Reference Datasets). A
number below counts the leading digits that a fit shares with the certified result,
`-log10(|found - certified| / |certified|)`, for a certified zero `-log10(|found|)`: those of the worst parameter, and
of the worst standard deviation (SD). NIST certifies 11 digits of nonlinear problems and 15 of linear ones; more do not
count.

`python -m validation.certify` writes this page from the files in `tests/reference`. The tests repeat the fits: no set
may fall below its required digits, and the page must agree with a new one within half a digit. Only the last
certified digit, and the sets with a note, may differ more from machine to machine.
"""


def matching_digits(found: ArrayLike, expected: ArrayLike, most: float = 16.0) -> Array:
    """Return the matching digits of each element, ``-log10(|found - expected| / |expected|)``, at most `most`.

    For an expected zero the error is absolute. NaN has no digits.
    """
    found, expected = np.atleast_1d(np.asarray(found, float)), np.atleast_1d(np.asarray(expected, float))
    error = np.abs(found - expected) / np.where(expected == 0, 1.0, np.abs(expected))
    return np.minimum(-np.log10(np.maximum(error, 1e-300)), most)


def required_digits(reference: Reference, quantity: str) -> float:
    """Return the digits that the file's tolerance of a quantity stands for."""
    rtol = reference["rtol"]
    return -math.log10(rtol.get(quantity, rtol["default"]))


def fit_nonlinear(reference: Reference, start: int) -> NLSResult:
    """Fit a nonlinear set from one of its starts (counted from 0); a ``response`` of "log(y)" takes logarithms."""
    options, y = reference["options"], np.asarray(reference["y"], dtype=float)
    form = curve(options["set"], len(options["starts"][start]))
    response = np.log(y) if options.get("response") == "log(y)" else y
    return fit_nls(form, reference["x"], response, [options["starts"][start]])


def fit_linear_set(reference: Reference) -> LinearResult:
    """Fit a linear reference.

    Its options hold the ``names`` of the columns of x, or a ``degree``: 0 for a line through the origin, 1 for a
    straight line, else a polynomial.
    """
    options, x, y = reference["options"], reference["x"], reference["y"]
    if "names" in options:
        return fit_linear(x, y, options["names"])
    if options["degree"] == 0:
        return fit_linear(np.asarray(x, dtype=float)[:, None], y, ["slope"])
    if options["degree"] == 1:
        return fit_line(x, y, cov_type=options.get("cov_type", "nonrobust"))
    return fit_polynomial(x, y, options["degree"])


def digits(reference: Reference) -> pd.DataFrame:
    """Fit a certified set from each of its starts and count the matching digits.

    Parameters
    ----------
    reference : dict

    Returns
    -------
    DataFrame
        One row a start and certified number: ``start`` (from 1; a linear set has one), ``quantity`` ("params" or
        "bse"), ``name`` of the parameter, ``found``, ``certified``, ``digits`` (from 0 to what NIST certifies). A start
        from which no fit arrives has NaN for found and no digits.
    """
    model, expected = reference["model"], reference["expected"]
    linear = model == "linear"
    rows = []
    for start in range(1 if linear else len(reference["options"]["starts"])):
        try:
            fit = fit_linear_set(reference) if linear else fit_nonlinear(reference, start)
            found = {"params": fit.params, "bse": fit.bse}
        except ModelError:
            found = {q: np.full(len(expected[q]), math.nan) for q in QUANTITIES}
        for q in QUANTITIES:
            matching = np.nan_to_num(matching_digits(found[q], expected[q], CERTIFIED[model]), nan=0.0)
            for k, (value, certified, d) in enumerate(zip(found[q], expected[q], matching, strict=True)):
                rows.append((start + 1, q, f"b{k + 1 - linear}", value, certified, max(float(d), 0.0)))
    return pd.DataFrame(rows, columns=["start", "quantity", "name", "found", "certified", "digits"])


def certified_references(folder: Path) -> list[Reference]:
    """Return NIST's sets among the files of a folder, nonlinear ones first, from lower to higher difficulty.

    Raises
    ------
    ModelError
        If a file is no reference, or none is certified by NIST.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            reference = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as err:
            raise ModelError("the reference can't be read", file=path, expected="a JSON file", found=str(err)) from err
        if not isinstance(reference, dict) or reference.get("authority") != "certified by NIST":
            continue
        if reference.get("model") in CERTIFIED:
            missing = [key for key in KEYS if key not in reference]
            missing += [key for key in ("set", "level") if key not in reference.get("options", {})]
            if missing:
                raise ModelError("the certified set is incomplete", file=path, expected=", ".join(missing))
            found.append(reference)
    if not found:
        raise ModelError(
            "no certified reference is there", file=folder, expected="JSON files with the authority of NIST",
            remedy="name the folder of references",
        )  # fmt: skip
    return sorted(found, key=_order)


def _order(reference: Reference) -> tuple[int, int, str]:
    options = reference["options"]
    return list(CERTIFIED).index(reference["model"]), LEVELS.index(options["level"]), options["set"].lower()


def certified_table(folder: Path) -> str:
    """Return the digits reached for each certified set of a folder as Markdown: a table for each kind, with notes."""
    references = certified_references(folder)
    parts = []
    for model, title, starts in (("nist", "Nonlinear regression", 2), ("linear", "Linear regression", 1)):
        chosen = [r for r in references if r["model"] == model]
        if not chosen:
            continue
        measured = [_least(reference) for reference in chosen]
        solved = sum(_meets(r, least) for r, least in zip(chosen, measured, strict=True))
        where = " from both starts" if starts > 1 else ""
        ways = [f"start {k + 1}: " for k in range(starts)] if starts > 1 else [""]
        heads = [f"{way}{what}" for way in ways for what in ("parameters", "SDs")]
        lines = [
            f"## {title}",
            "",
            f"{solved} of {len(chosen)} sets have their required digits{where}.",
            "",
            _row(["set", "difficulty", "rows", "coefficients", *heads, "required (parameters / SDs)"]),
            _row(["---"] * 2 + ["---:"] * (len(heads) + 3)),
            *(_line(reference, least) for reference, least in zip(chosen, measured, strict=True)),
        ]
        notes = [f"- {r['options']['set']}: {r['reason']}" for r in chosen if "reason" in r]
        parts.append("\n".join([*lines, *(["", *notes] if notes else [])]) + "\n")
    return "\n".join(parts)


def certified_page(folder: Path) -> str:
    """Return the page of certified digits: what they mean, how to make it again, and `certified_table`."""
    return f"{HEAD}\n{certified_table(folder)}"


def _least(reference: Reference) -> list[float]:
    """The fewest digits of each start: of the parameters, of the standard deviations."""
    grouped = digits(reference).groupby(["start", "quantity"])["digits"].min()
    starts = sorted(set(grouped.index.get_level_values("start")))
    return [float(grouped[start, q]) for start in starts for q in QUANTITIES]


def _meets(reference: Reference, least: Sequence[float]) -> bool:
    return all(d >= required_digits(reference, QUANTITIES[k % 2]) for k, d in enumerate(least))


def _line(reference: Reference, least: Sequence[float]) -> str:
    options, expected = reference["options"], reference["expected"]
    required = " / ".join(f"{required_digits(reference, q):.0f}" for q in QUANTITIES)
    size = [str(len(reference["y"])), str(len(expected["params"]))]
    return _row([options["set"], options["level"].lower(), *size, *(f"{d:.1f}" for d in least), required])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


@click.command()
@click.option("--reference", type=click.Path(exists=True, file_okay=False, path_type=Path),
              default=ROOT / "tests" / "reference", help="Folder of reference files.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path),
              default=ROOT / "docs" / "certified-digits.md")  # fmt: skip
def certify(reference: Path, output: Path) -> None:
    """Fit NIST's certified regression problems and write how many digits are reached."""
    try:
        write_atomically(output, certified_page(reference))
    except VirtperfError as err:
        raise click.ClickException(str(err)) from err
    click.echo(f"{output}: {len(certified_references(reference))} certified sets")


if __name__ == "__main__":
    certify()
