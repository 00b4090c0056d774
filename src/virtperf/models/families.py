"""Which family of curves fits: linear, Amdahl, USL, two pieces, plateau, all with the same
likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.linear import fit_line
from virtperf.models.segmented import fit_segmented
from virtperf.models.usl import fit_usl

FAMILIES: Mapping[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "linear scaling": (fit_usl, {"kind": "linear"}),
    "Amdahl's law": (fit_usl, {"kind": "amdahl"}),
    "USL": (fit_usl, {"kind": "usl"}),
    "straight line": (fit_line, {}),
    "two pieces": (fit_segmented, {"form": "free"}),
    "plateau, then decline": (fit_segmented, {"form": "plateau-decline"}),
    "rise, then plateau": (fit_segmented, {"form": "rise-plateau"}),
}


def compare_families(x: ArrayLike, y: ArrayLike, *, noise: str = "proportional") -> pd.DataFrame:
    """Fit every family to the same rows and compare them.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Positive for the scaling laws.
    noise : {"proportional", "constant"}

    Returns
    -------
    DataFrame
        One row a family, the smallest AICc first: ``family, parameters, rss, aicc, delta`` (AICc
        above the smallest),
        ``weight`` (Akaike's), ``lack_of_fit`` (p-value; NaN without replicates), ``reason`` (why
        there is no fit). AICc is infinite where there are too few rows for it; it then decides
        nothing.
    """
    xs = checks.column(x, "x")
    ys = checks.column(
        y, "y", positive=checks.noise(noise) == "proportional", remedy="take the noise as constant"
    )
    checks.same_length(("x", xs), ("y", ys))
    rows: list[dict[str, Any]] = []
    for name, (fit, settings) in FAMILIES.items():
        try:
            found = fit(xs, ys, noise=noise, **settings)
        except ModelError as err:
            rows.append({"family": name, "reason": err.problem})
            continue
        try:
            lack = found.lack_of_fit().pvalue
        except ModelError:
            lack = np.nan
        rows.append(
            {
                "family": name,
                "parameters": len(found.params),
                "rss": found.rss,
                "aicc": found.aicc,
                "lack_of_fit": lack,
                "reason": "",
            }
        )
    if all(row["reason"] for row in rows):
        raise ModelError(
            f"no family can be fitted: {rows[0]['reason']}", remedy="measure at more points"
        )
    table = pd.DataFrame(
        rows, columns=["family", "parameters", "rss", "aicc", "lack_of_fit", "reason"]
    )
    finite = np.isfinite(table["aicc"].astype(float))
    delta = (table["aicc"] - table["aicc"][finite].min()).where(finite)
    share = np.exp(-delta / 2)
    table = table.assign(delta=delta, weight=share / share.sum())
    return table.sort_values("aicc", kind="stable", ignore_index=True)
