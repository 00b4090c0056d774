"""A table of significance tests: what each one asks, its statistic and its p-value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from virtperf.exhibits import display
from virtperf.exhibits.attempt import Unavailable
from virtperf.exhibits.display import Shown, Table
from virtperf.exhibits.wording import escape, number, pretty, printable, slug


def hypotheses_exhibit(
    tests: Mapping[str, Any], *, title: str, provenance: str, level: float, study: str, of: Sequence[str] = ()
) -> Shown:
    """F tests, one a row.

    Parameters
    ----------
    tests : mapping
        Label to `virtperf.models.result.FTest`, or to `Unavailable`.
    level : float
        A p-value below ``1 - level`` is called against the null hypothesis.
    """
    rows, text, csv = [], [], []
    for label, test in tests.items():
        if isinstance(test, Unavailable):
            rows.append((label, "not available", "", printable(test.reason)))
            text.append([label, "n/a", "n/a", "n/a"])
            csv.append({"test": label, "null": "", "F": None, "df_num": None, "df_denom": None, "p": None})
            continue
        p = "below 0.0001" if test.pvalue < 1e-4 else pretty(test.pvalue, 3)
        said = "speaks against it" if test.pvalue < 1 - level else "does not speak against it"
        statistic = f"F({pretty(test.df_num)}, {pretty(test.df_denom)}) = {pretty(test.statistic, 3)}"
        rows.append((label, f"{test.null}", f"{statistic}, p {'' if p.startswith('below') else '= '}{p}", said))
        text.append([label, number(test.statistic, 3), "<1e-4" if test.pvalue < 1e-4 else number(test.pvalue, 3), said])
        csv.append({"test": label, "null": test.null, "F": test.statistic, "df_num": test.df_num,
                    "df_denom": test.df_denom, "p": test.pvalue})  # fmt: skip
    anchor = slug(title)
    columns = ("Test", "Null hypothesis", "Statistic", f"At {pretty(100 * (1 - level), 2)} % the data")
    table = Table(columns, tuple(rows))
    html = (
        f'<section class="vp-estimates" id="{escape(anchor)}"><h4>{escape(printable(title))}</h4>'
        f"{display.table_html(table, title)}{display.badges([provenance])}{display.origin(study, of)}"
        f'<p class="vp-links">{display.download(pd.DataFrame(csv), f"{study}-{anchor}")}</p></section>'
    )
    return Shown(html, f"{title}\n{display.table_text(['test', 'F', 'p', 'data'], text)}")
