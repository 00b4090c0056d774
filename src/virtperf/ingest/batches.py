"""Records of many files translated into metrics together: a call takes as long as some thousand records do."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from virtperf.core.metrics import WHOLE, MetricDictionary
from virtperf.formats import Reading
from virtperf.ingest.gathered import Gathered
from virtperf.ingest.runs import RawFile

ENOUGH = 1 << 15
"""Records that are translated at once, unless one part of a file has more or there are no more."""

# Entities with a name of their own in a run; others (cpu 0, eth0, sda) are called "owner/name".
_NAMED = ("domain", "driver", "guest", "processor")


@dataclass
class _Held:
    """Parts of files of one format: their records, times, lines and files."""

    parts: list[tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]] = field(default_factory=list)
    snapshots: set[int] = field(default_factory=set)
    records: int = 0


class Batches:
    """Parts of the raw files of a run on their way to `Gathered`.

    Parameters
    ----------
    files : sequence of RawFile
    dictionary : MetricDictionary
    gathered : Gathered
        Takes what is translated; of one format in the order in which it was given.
    """

    def __init__(self, files: list[RawFile], dictionary: MetricDictionary, gathered: Gathered) -> None:
        self._owners = [(str(file.entity), str(file.entity_kind)) for file in files]
        self._dictionary, self._gathered = dictionary, gathered
        self._held: dict[str, _Held] = {}

    def add(self, block: Reading, seconds: np.ndarray, number: int, name: str) -> None:
        """Take a part of a file.

        Parameters
        ----------
        block : Reading
        seconds : ndarray, shape (records,)
            Its times on the run's clock.
        number : int
            Of the file.
        name : str
            Its format.
        """
        held = self._held.setdefault(name, _Held())
        lines = np.zeros(len(seconds), dtype=np.int64) if block.lines is None else block.lines
        held.parts.append((block.records, seconds, lines, np.full(len(seconds), number)))
        if block.clock == "none":
            held.snapshots.add(number)
        held.records += len(seconds)
        if held.records >= ENOUGH:
            self._translate(name, held)

    def end(self) -> None:
        """Translate what is left."""
        for name, held in self._held.items():
            self._translate(name, held)

    def _translate(self, name: str, held: _Held) -> None:
        if not held.parts:
            return
        parts = [part[0] for part in held.parts]
        records = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
        t, line, file = (np.concatenate([part[k] for part in held.parts]) for k in (1, 2, 3))
        records = records.assign(t=t, line=line, file=file)
        held.parts, held.records = [], 0
        found = self._dictionary.named(records, name)
        self._gathered.add(found, name, list(self._held).index(name), held.snapshots, self._owned)

    def _owned(self, file: int, kind: str, entity: str) -> tuple[str, str]:
        """Kind and name of an entity within the run: a file's owner stands for what the tool leaves unnamed."""
        owner, own_kind = self._owners[file]
        if not entity:
            return (own_kind if kind == WHOLE else kind), owner
        part = owner and own_kind != WHOLE and kind not in _NAMED
        return kind, f"{owner}/{entity}" if part else entity
