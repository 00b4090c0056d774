"""Results of a calibration as a page: one table per model, boundary cases separate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from tools.validation.coverage import BAND, COVERAGE, Cell, error
from tools.validation.designs import conditions

TITLES = {
    "scalability": "Universal Scalability Law",
    "robust scalability": "Universal Scalability Law, robust",
    "amdahl": "Amdahl's law",
    "line": "Straight line",
    "breakpoint": "Breakpoint of two pieces",
    "ratio": "Ratio of two means",
    "paired ratio": "Ratio of two means from pairs",
    "contrast": "Contrasts of a formula",
    "ratio over sessions": "Ratio over sessions or machines",
    "stopping": "Sequential stopping",
    "closed network": "Closed network with think time",
    "percentile ratio": "Ratio of a percentile",
    "steady mean": "Mean of a steady state",
    "warm-up": "End of a warm-up",
    "run's mean": "Mean of a run with a warm-up",
    "quantile": "Quantiles of independent samples",
    "verdict": "Verdicts of measured runs",
}
NOTES = {
    "robust scalability": "Huber's M estimator on noise without outliers.",
    "ratio": "`Welch` is the default with the degrees of freedom of Welch and Satterthwaite throughout. The default "
    "has those of Cochran and Cox where they differ by more than a factor of 2.5: no degrees of freedom have nominal "
    "coverage for every ratio of two unknown spreads if one is that of two or three runs, and these intervals are "
    "rather too wide than too narrow.",
    "contrast": "The ratio of two of three conditions, from `models.contrasts` of `smf.ols` with the block as a "
    "factor. In half of the data sets one run is lost.",
    "ratio over sessions": "Sessions are a random effect: they differ in level, and in the ratio of two conditions, "
    "whose typical value is sought. `models.ratios_over` and verdicts over sessions compare the means of each session; "
    "`pairs of runs` counts every pair of runs within a session.",
    "stopping": "Blocks are measured until `models.stop_when` says that the half-width is 2 %, or twenty.",
    "closed network": "Service demand by `models.fit_closed`.",
    "percentile ratio": "The percentile of the values of each run is one number of that run, compared like any other: "
    "the ratio of the means over runs, or the mean of log ratios within blocks. Single "
    "response times are log-normal, with a standard deviation of the logarithm of 0.6.",
    "steady mean": "A slow part in four times its variance of white noise is hardly told from white noise alone in a "
    "window of three of its correlation times. Intervals that contain its mean in 94 % of the data sets are 30 % wider "
    "for every series of white noise, and contain that mean in 99 %.",
    "warm-up": "How late the cut is (mean ± standard deviation, in samples), which error it leaves in the mean (bias "
    "and root mean square, in standard deviations of the noise), and in how many series the method says that they do "
    "not settle. All methods look at the first half for the cut.",
    "run's mean": "The warm-up is sought and cut, and the mean of the rest has its interval, as for the runs of a "
    "study. A tenth of the run is declared as warm-up. Further columns have the coverage of the runs without a flag, "
    "and of those with each flag that a page prints with a mean. A mean after a longer warm-up has no interval.",
    "quantile": "The interval between two order statistics, and the one whose ends are one rank further inside.",
    "verdict": "How many claims are refuted / reproduced, in per cent of the data sets, at the level of 95 %, by the "
    "function that judges a study's runs. The claims, one of each kind, are those of `tools/validation/verdict_study`. "
    "At the limit a claim holds, but only just: the first number is the rate of true claims refuted. Just outside, it "
    "misses its limit by about 0.1 %: the second number is the rate of false claims reproduced. Far outside, the first "
    "number is the power. An error rate above 5 % is marked with !. The limits include the tolerance of printed "
    "numbers. Runs are independent, or stand in blocks that hold one run of each condition, or each condition has "
    "blocks of its own (separate blocks), such as days. Where two noises or numbers of runs are given, the second is "
    "that of every second condition.",
}
WRONG = {
    "true, at the limit": "refuted",
    "false, just outside": "reproduced",
    "false, far outside": "reproduced",
}
"""The erroneous verdict, by the truth of the claim."""
MOST_WRONG = 0.05
BOUNDARY = "Boundary cases"
DESIGNS = "calibration.yaml"
CUT_COLUMNS = ("samples late", "bias of the mean", "RMS error of the mean", "called not steady")
HEAD = """# {title}

Written by `{command}`, seed {seed}. Designs, truths and noise are in
`tools/validation/{designs}`, the numbers in `docs/{numbers}`. Each table says how many data sets a cell has.

A number is the percentage of data sets whose 95 % interval contains the true value, ± its Monte Carlo standard error;
the number after the slash is the same for 90 % intervals. A number in brackets is the number of data sets with an
interval or with the flag in question, if others have none. **Bold** is the default method of the estimate: its
coverage should be between {low:g} and {high:g} and is marked with ! if it is not. Some correct intervals are outside
this band by Monte Carlo error alone, so coverages within two standard errors of it are counted separately. The columns
"constant" and "proportional" name the noise model of the fit; if the noise is proportional, the fit with constant
noise is listed for comparison.

In a boundary case, the true value of a coefficient is on its bound or within three expected standard errors of it. The
estimate is then often the bound itself, and no interval has its nominal coverage throughout (Self and Liang 1987,
*JASA* 82). These cases are listed separately and are not counted.
"""


def page(
    found: pd.DataFrame,
    cells: Sequence[Cell],
    document: Mapping[str, Any],
    seed: int,
    designs: str = DESIGNS,
) -> str:
    """Return the results of `coverage.run` for `cells` as a Markdown page; `document` is the file
    with the designs, `designs` its name.
    """
    command = "python -m tools.validation.calibrate"
    if designs != DESIGNS:
        command += f" --designs tools/validation/{designs} -o docs/{Path(designs).stem}.md"
    parts = [
        HEAD.format(
            title=document.get("title", "Calibration of intervals"),
            command=command,
            designs=designs,
            numbers=Path(designs).with_suffix(".csv").name,
            seed=seed,
            low=100 * BAND[0],
            high=100 * BAND[1],
        )
    ]
    parts.append(_summary(found, cells))
    for model in dict.fromkeys(c.model for c in cells):
        rows = found[found["model"] == model]
        if rows.empty:  # not simulated yet
            continue
        parts.append(f"## {TITLES[model]}\n")
        if model in NOTES:
            parts.append(NOTES[model] + "\n")
        parts.append(_data_sets(rows))
        apart = rows["boundary"] != ""
        if (~apart).any():
            parts.append(_table(rows[~apart], cells))
        if apart.any():
            parts.append(f"### {BOUNDARY}\n")
            parts.append(_table(rows[apart], cells))
    lines = ["## Designs\n", "| design | x | where it occurs |", "|---|---|---|"]
    for name, design in document["designs"].items():
        x = design.get("x", "")
        texts = "; ".join(" and ".join(map(str, v)) if isinstance(v, list) else str(v) for v in x)
        lines.append(f"| {name} | {texts} | {design['source']} |")
    parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def outside(found: pd.DataFrame) -> pd.DataFrame:
    """Return rows of default methods away from boundaries whose 95 % intervals do not have nominal
    coverage.
    """
    rows = judged(found)
    return rows[~rows["cover95"].between(*BAND)]


def judged(found: pd.DataFrame) -> pd.DataFrame:
    """Return the rows subject to the band: coverages of default methods away from boundaries."""
    if "cover95" not in found:
        return found.iloc[:0].assign(cover95=math.nan)
    return found[found["default"] & (found["boundary"] == "") & found["cover95"].notna()]


def _summary(found: pd.DataFrame, cells: Sequence[Cell]) -> str:
    total, wrong = len(judged(found)), outside(found)
    near = wrong[[_near(row) for row in wrong.to_dict("records")]]
    lines = [
        f"Of {total} coverages of default methods away from boundaries, {total - len(wrong)} lie in that band and "
        f"{len(near)} within two standard errors of it. The others:"
    ]
    for row in wrong.drop(near.index).to_dict("records"):
        cell = cells[row["cell"]]
        lines.append(
            f"- {TITLES[cell.model]}, {cell.design} ({conditions(cell)}), {row['estimate']}: "
            f"{_percent(row)}{_alternatives(found, row)}."
        )
    return "\n".join(lines) + "\n" + _verdicts(found, cells)


def _percent(row: Mapping[Any, Any]) -> str:
    return f"{100 * row['cover95']:.1f} % (±{100 * error(row['cover95'], int(row['n'])):.1f})"


def _alternatives(found: pd.DataFrame, row: Mapping[Any, Any]) -> str:
    """Coverage of the other methods for the same data sets."""
    same = (found["cell"] == row["cell"]) & (found["estimate"] == row["estimate"])
    others = found[same & (found["method"] != row["method"]) & found["cover95"].notna()]
    listed = [f"{other['method']} {_percent(other)}" for other in others.to_dict("records")]
    return f"; on the same data sets {', '.join(listed)}" if listed else ""


def _data_sets(rows: pd.DataFrame) -> str:
    """How many data sets the cells of a model have."""
    sizes = rows.assign(size=rows["n"] + rows["none"]).groupby("cell")["size"].max()
    least, most = int(sizes.min()), int(sizes.max())
    return f"{least:,}{f' to {most:,}' if most > least else ''} data sets a cell.\n"


def _verdicts(found: pd.DataFrame, cells: Sequence[Cell]) -> str:
    """The largest rate of wrong verdicts per kind of noise."""
    rows = found[found["model"] == "verdict"].to_dict("records")
    kinds = [cells[row["cell"]].settings.get("shape", "normal") for row in rows]
    lines = []
    for kind in dict.fromkeys(kinds):
        worst = max(
            row[WRONG[row["estimate"]]] for row, of in zip(rows, kinds, strict=True) if of == kind
        )
        lines.append(
            f"With {kind} noise at most {100 * worst:.1f} % of the verdicts of a cell are wrong."
        )
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def _near(row: Mapping[Any, Any]) -> bool:
    """Whether a coverage outside the band may be inside within Monte Carlo error."""
    gap = max(BAND[0] - row["cover95"], row["cover95"] - BAND[1])
    return gap <= 2 * error(sum(BAND) / 2, int(row["n"]))


def columns(rows: pd.DataFrame) -> list[str]:
    """Return the header of one model's table."""
    cut = "late" in rows and rows["late"].notna().any()
    return [
        "design",
        "conditions",
        "method",
        *(CUT_COLUMNS if cut else dict.fromkeys(rows["estimate"])),
    ]


def _table(rows: pd.DataFrame, cells: Sequence[Cell]) -> str:
    head = columns(rows)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for _, group in rows.groupby(["cell", "method"], sort=False):
        first = group.iloc[0]
        cell, method = cells[first["cell"]], first["method"]
        if head[3:] == list(CUT_COLUMNS):
            values = _cut(first)
        else:
            cell_of = _rates if cell.model == "verdict" else _coverage
            cells_by_estimate = {str(row["estimate"]): cell_of(row) for _, row in group.iterrows()}
            values = [cells_by_estimate.get(name, "") for name in head[3:]]
        note = f"; {first['boundary']}" if first["boundary"] else ""
        suffix = f"; {first['estimate']}" if cell.model == "warm-up" else ""
        name = f"**{method}**" if group["default"].any() else method
        lines.append(
            "| " + " | ".join([cell.design, conditions(cell) + suffix + note, name, *values]) + " |"
        )
    return "\n".join(lines) + "\n"


def _coverage(row: pd.Series) -> str:
    n = int(row["n"])
    if n == 0:
        return "no interval"
    two = " / ".join(
        f"{100 * row[m]:.1f}\u00a0±{100 * error(row[m], n):.1f}" for m in reversed(COVERAGE)
    )
    wrong = row["default"] and not row["boundary"] and not BAND[0] <= row["cover95"] <= BAND[1]
    return two + (f" ({n:,})" if row["none"] else "") + (" !" if wrong else "")


def _rates(row: pd.Series) -> str:
    two = (
        f"{100 * row[m]:.1f}\u00a0±{100 * error(row[m], int(row['n'])):.1f}"
        for m in ("refuted", "reproduced")
    )
    return " / ".join(two) + (" !" if row[WRONG[row["estimate"]]] > MOST_WRONG else "")


def _cut(row: pd.Series) -> list[str]:
    spread = math.sqrt(max(row["late squared"] - row["late"] ** 2, 0.0))
    return [
        f"{row['late']:+.1f} ± {spread:.1f}",
        f"{row['bias']:+.3f}",
        f"{math.sqrt(row['bias squared']):.3f}",
        f"{100 * row['not steady']:.1f} %",
    ]
