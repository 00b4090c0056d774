"""How many digits of certified results the models reach: NIST's linear regression sets.

A reference is one JSON file of `tests/reference`, read as a dictionary: ``model`` ("linear"),
``options`` (``set`` and
``level``, and the form of the model), ``x``, ``y``, ``expected`` with ``params`` and ``bse``, and
``rtol``, the allowed relative errors. A ``reason`` says why one of them is large.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError, VirtperfError
from rawperf.core.files import write_atomically
from virtperf.models.checks import Array
from virtperf.models.linear import LinearResult, fit_line, fit_linear, fit_polynomial

ROOT = Path(__file__).parent.parent
Reference = dict[str, Any]
CERTIFIED = 15  # digits
QUANTITIES = ("params", "bse")
LEVELS = ("Lower", "Average", "Higher")
KEYS = ("options", "x", "y", "expected", "rtol")
HEAD = """\
# Certified digits

NIST certifies the results of some linear regression problems that are hard to compute (Statistical Reference
Datasets). A number below counts the leading digits that a fit shares with the certified result,
`-log10(|found - certified| / |certified|)`, for a certified zero `-log10(|found|)`: those of the worst parameter, and
of the worst standard deviation (SD). NIST certifies 15 digits; more do not count.

`python -m validation.certify` writes this page from the files in `tests/reference`. The tests repeat the fits: no set
may fall below its required digits, and the page must agree with a new one within half a digit. Only the last
certified digit, and the sets with a note, may differ more from machine to machine.
"""


def matching_digits(found: ArrayLike, expected: ArrayLike, most: float = 16.0) -> Array:
    """Return the matching digits of each element, ``-log10(|found - expected| / |expected|)``, at
    most `most`.

    For an expected zero the error is absolute. NaN has no digits.
    """
    found, expected = (
        np.atleast_1d(np.asarray(found, float)),
        np.atleast_1d(np.asarray(expected, float)),
    )
    error = np.abs(found - expected) / np.where(expected == 0, 1.0, np.abs(expected))
    return np.minimum(-np.log10(np.maximum(error, 1e-300)), most)


def required_digits(reference: Reference, quantity: str) -> float:
    """Return the digits that the file's tolerance of a quantity stands for."""
    rtol = reference["rtol"]
    return -math.log10(rtol.get(quantity, rtol["default"]))


def fit_linear_set(reference: Reference) -> LinearResult:
    """Fit a linear reference.

    Its options hold the ``names`` of the columns of x, or a ``degree``: 0 for a line through the
    origin, 1 for a straight line, else a polynomial.
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
    """Fit a certified set and count the matching digits.

    Returns
    -------
    DataFrame
        One row a certified number: ``quantity`` ("params" or "bse"), ``name`` of the parameter,
        ``found``,
        ``certified``, ``digits`` (from 0 to what NIST certifies).
    """
    expected, fit = reference["expected"], fit_linear_set(reference)
    rows = []
    for q in QUANTITIES:
        found = getattr(fit, q)
        matching = np.nan_to_num(matching_digits(found, expected[q], CERTIFIED), nan=0.0)
        for k, (value, certified, d) in enumerate(zip(found, expected[q], matching, strict=True)):
            rows.append((q, f"b{k}", value, certified, max(float(d), 0.0)))
    return pd.DataFrame(rows, columns=["quantity", "name", "found", "certified", "digits"])


def certified_references(folder: Path) -> list[Reference]:
    """Return NIST's sets among the files of a folder, from lower to higher difficulty.

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
            raise ModelError(
                "the reference can't be read", file=path, expected="a JSON file", found=str(err)
            ) from err
        if not isinstance(reference, dict) or reference.get("authority") != "certified by NIST":
            continue
        if reference.get("model") == "linear":
            missing = [key for key in KEYS if key not in reference]
            missing += [key for key in ("set", "level") if key not in reference.get("options", {})]
            if missing:
                raise ModelError(
                    "the certified set is incomplete", file=path, expected=", ".join(missing)
                )
            found.append(reference)
    if not found:
        raise ModelError(
            "no certified reference is there",
            file=folder,
            expected="JSON files with the authority of NIST",
            remedy="name the folder of references",
        )
    return sorted(
        found, key=lambda r: (LEVELS.index(r["options"]["level"]), r["options"]["set"].lower())
    )


def certified_table(folder: Path) -> str:
    """Return the digits reached for each certified set of a folder as Markdown: a table, with
    notes.
    """
    chosen, solved = certified_references(folder), 0
    heads = [
        "set",
        "difficulty",
        "rows",
        "coefficients",
        "parameters",
        "SDs",
        "required (parameters / SDs)",
    ]
    rows = [heads, ["---"] * 2 + ["---:"] * 5]
    for reference in chosen:
        options, required = (
            reference["options"],
            [required_digits(reference, q) for q in QUANTITIES],
        )
        reached = digits(reference).groupby("quantity")["digits"].min()[list(QUANTITIES)].tolist()
        solved += all(d >= wanted for d, wanted in zip(reached, required, strict=True))
        size = [str(len(reference["y"])), str(len(reference["expected"]["params"]))]
        wanted = " / ".join(f"{d:.0f}" for d in required)
        rows.append(
            [
                options["set"],
                options["level"].lower(),
                *size,
                *(f"{d:.1f}" for d in reached),
                wanted,
            ]
        )
    lines = [f"{solved} of {len(chosen)} sets have their required digits.", ""]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    notes = [f"- {r['options']['set']}: {r['reason']}" for r in chosen if "reason" in r]
    return "\n".join([*lines, *(["", *notes] if notes else [])]) + "\n"


def certified_page(folder: Path) -> str:
    """Return the page of certified digits: what they mean, how to make it again, and
    `certified_table`.
    """
    return f"{HEAD}\n{certified_table(folder)}"


@click.command()
@click.option(
    "--reference",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=ROOT / "tests" / "reference",
    help="Folder of reference files.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=ROOT / "docs" / "certified-digits.md",
)
def certify(reference: Path, output: Path) -> None:
    """Fit NIST's certified regression problems and write how many digits are reached."""
    try:
        write_atomically(output, certified_page(reference))
    except VirtperfError as err:
        raise click.ClickException(str(err)) from err
    click.echo(f"{output}: {len(certified_references(reference))} certified sets")


if __name__ == "__main__":
    certify()
