"""False alarms and missed changes of `virtperf history`: `python -m validation.histories
[HISTORIES]`.

Histories of 40 revisions with noise of 2 % and autocorrelation 0, 0.3 and 0.5: the share with an
alarm if nothing changes; the share in which a drop of 5 % after revision 40 is found within three
further revisions; and the same for a drop in the middle.
"""

from __future__ import annotations

import sys

import numpy as np

from virtperf.comparison.changes import ALPHA_NEWEST, NEWEST, _simulate_histories, changes

REVISIONS, NOISE, FALL, SEED = 40, 0.02, 0.95, 7


def main(count: int) -> None:
    rng = np.random.default_rng(SEED)
    for autocorrelation in (0.0, 0.3, 0.5):
        rows = np.exp(NOISE * _simulate_histories(REVISIONS + NEWEST, autocorrelation, count, rng))
        none = newest = directed = within = within_directed = middle = 0
        for row in rows:
            found = changes(row[:REVISIONS])
            called = found.p is not None and found.p <= ALPHA_NEWEST
            newest += called
            none += called or bool(found.steps)
            directed += _seen(row[:REVISIONS], "higher") or bool(found.steps)
            fallen = row.copy()
            fallen[REVISIONS:] *= FALL
            revisions = [fallen[: REVISIONS + more] for more in range(1, NEWEST + 1)]
            within += any(map(_seen, revisions))
            within_directed += any(_seen(revision, "higher") for revision in revisions)
            half = row[:REVISIONS].copy()
            half[REVISIONS // 2 :] *= FALL
            middle += bool(changes(half).steps)
        counts = (none, newest, directed, within, within_directed, middle)
        shares = [100 * found / count for found in counts]
        print(
            f"autocorrelation {autocorrelation}: {shares[0]:.1f} % with a change that is none "
            f"({shares[1]:.1f} % at the newest; {shares[2]:.1f} % where higher is better), found within "
            f"{NEWEST} revisions {shares[3]:.1f} % ({shares[4]:.1f} % where higher is better), in the "
            f"middle {shares[5]:.1f} % ({count} histories)",
            flush=True,
        )


def _seen(row: np.ndarray, better: str = "") -> bool:
    found = changes(row.tolist(), better=better)
    return found.p is not None and found.p <= ALPHA_NEWEST


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
