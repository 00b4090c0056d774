"""A table of significance tests: what each one asks, its statistic and its p-value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from virtperf.exhibits.kinds import Context, Kind, analysis
from virtperf.exhibits.origins import one_origin
from virtperf.exhibits.records import Grid, Record
from virtperf.exhibits.wording import pretty

_COLUMNS = ["test", "null", "F", "df_num", "df_denom", "p"]


def record(context: Context, tests: Mapping[str, Any], *, title: str) -> Record:
    """F tests (`virtperf.models.result.FTest`, or `Missing`) by label, one a row.

    A p-value below one minus the study's level rejects the null hypothesis. Raises `ProvenanceError` where a test has
    no origin, or one that is not true of this study.
    """
    origin = one_origin(context.data, tests)
    rows, csv = [], []
    for label, test in tests.items():
        if not test.available:
            rows.append((label, "not available", "", test.reason))
            csv.append({"test": label, "null": ""})
            continue
        p = "below 0.0001" if test.pvalue < 1e-4 else f"= {pretty(test.pvalue, 3)}"
        said = "rejected" if test.pvalue < 1 - context.level else "not rejected"
        statistic = f"F({pretty(test.df_num)}, {pretty(test.df_denom)}) = {pretty(test.statistic, 3)}"
        rows.append((label, test.null, f"{statistic}, p {p}", said))
        csv.append({"test": label, "null": test.null, "F": test.statistic, "df_num": test.df_num,
                    "df_denom": test.df_denom, "p": test.pvalue})  # fmt: skip
    columns = ("Test", "Null hypothesis", "Statistic", f"At the {pretty(100 * (1 - context.level), 2)} % level")
    numbers = pd.DataFrame(csv, columns=_COLUMNS)
    return analysis(context, "tests", title, origin, numbers, Grid(label=title, columns=columns, rows=tuple(rows)))


KIND = Kind("tests", record)
