"""What busy guests do before xentop starts and beside it, from the raw files, with none of
virtperf's code.

recompute.py [FOLDER]     the folder of the runs (default data/measured/xen-2026)

Prints, for each rate limit and number of busy guests, the rounds of all guests' loops over those of
one guest in the same boot, with the 95 % interval over boots (t, logarithms of the ratios): from
`BEFORE_S`, before the monitor starts, and within the runs' window, in which it takes samples.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from scipy import stats

BEFORE_S = (1.5, 5.0)


def rounds(folder: Path, begin_s: float, end_s: float) -> float:
    """Rounds per second of all guests' loops: each line counts for the part of its interval that is
    from `begin_s` to `end_s`.
    """
    total = 0.0
    for path in folder.glob("guests/busy*/burn.csv"):
        table = pd.read_csv(path)
        begun = (table["t_s"] - table["interval_s"]).clip(lower=begin_s)
        within = (table["t_s"].clip(upper=end_s) - begun).clip(lower=0)
        rates = table["rounds"] / table["interval_s"]
        total += (rates * within).sum() / within.sum()
    return total


def ratio(values: pd.Series) -> tuple[float, float, float]:
    """The mean ratio of the boots with its interval."""
    logs = np.log(values)
    half = stats.t.ppf(0.975, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs))
    mean, low, high = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    return float(mean), float(low), float(high)


def main(folder: str = "data/measured/xen-2026") -> None:
    rows = []
    for path in sorted(Path(folder).glob("overcommit-*/run.yaml")):
        said = yaml.safe_load(path.read_text())
        rows.append(
            {
                "limit": said["factors"]["rate_limit_ms"],
                "guests": said["factors"]["busy_guests"],
                "boot": said["replicate"],
                "before": rounds(path.parent, *BEFORE_S),
                "window": rounds(path.parent, *said["window_s"]),
            }
        )
    table = pd.DataFrame(rows).set_index(["limit", "boot", "guests"])
    print("rate limit; busy guests; part of the run; ratio to one guest with 95 % interval; boots")
    for (limit, guests), _ in table.groupby(["limit", "guests"]):
        for part in ("before", "window"):
            values = table[part].xs(guests, level="guests").xs(limit, level="limit")
            one = table[part].xs(1, level="guests").xs(limit, level="limit")
            mean, low, high = ratio(values / one)
            print(
                f"{limit} ms; {guests}; {part}; "
                f"{100 * mean:.1f} % ({100 * low:.1f} to {100 * high:.1f}); {len(values)}"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
