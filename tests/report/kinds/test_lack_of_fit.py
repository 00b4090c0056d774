"""Warnings of a fit that misses its means."""

from __future__ import annotations

import pandas as pd

from virtperf import models
from virtperf.report.kinds.estimates import add_lack_of_fit


def runs(means: dict[int, float]) -> pd.DataFrame:
    """Three runs per level, one per cent apart."""
    rows = [(x, mean * (1 + off)) for x, mean in means.items() for off in (-0.01, 0.0, 0.01)]
    return pd.DataFrame(rows, columns=["guests", "value"]).assign(
        provenance="measured", series="web"
    )


def warnings(means: dict[int, float]) -> tuple[str, ...]:
    fit = models.usl("value ~ guests", runs(means), by="series")["web"]
    return tuple(add_lack_of_fit(fit.estimate("gamma"), fit, 0.05).warnings)


def test_rejected_usl_fit_reports_its_misfit():
    [warning] = warnings({1: 100.0, 2: 200.0, 3: 200.0, 4: 200.0, 8: 200.0})
    assert warning.startswith("lack of fit: the curve misses a mean by ")
    assert warning.endswith("more than the spread of the runs explains (p below 0.0001)")


def test_accepted_usl_fit_has_no_warning():
    law = {n: 100 * n / (1 + 0.05 * (n - 1) + 0.01 * n * (n - 1)) for n in (1, 2, 3, 4, 8)}
    assert warnings(law) == ()
