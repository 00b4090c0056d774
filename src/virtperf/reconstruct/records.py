"""Records of raw formats, built column by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from virtperf.formats.base import RECORD_COLUMNS


def records(
    report: str, entity_kind: str, entities: Sequence[str], t: np.ndarray, fields: Mapping[str, np.ndarray]
) -> pd.DataFrame:
    """Records in the order in which tools print: by time, then entity, then field.

    Parameters
    ----------
    entities : sequence of str, length e
    t : ndarray, shape (m,)
    fields : mapping of str to ndarray, shape (m, e)
        NaN where the tool prints nothing.
    """
    values = np.stack([np.broadcast_to(v, (len(t), len(entities))) for v in fields.values()], axis=2)
    index = np.indices(values.shape).reshape(3, -1)
    frame = pd.DataFrame({
        "report": report,
        "entity_kind": entity_kind,
        "entity": np.array(entities, dtype=object)[index[1]],
        "field": np.array(list(fields), dtype=object)[index[2]],
        "t": np.asarray(t, dtype=float)[index[0]],
        "value": values.ravel(),
    })  # fmt: skip
    return frame.loc[frame["value"].notna(), list(RECORD_COLUMNS)].reset_index(drop=True)
