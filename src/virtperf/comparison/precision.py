"""Sequential stopping: the precision reached while a study is measured.

    so_far = Precision(layout, "throughput", half_width=0.02, at_most=20)
    so_far.add("a", {"guests": 2}, 1, folder)
    so_far.words("a"), so_far.enough("a", 7)

The stopping rule is `virtperf.models.planning.stop_when`, for each condition of an experiment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from rawperf.core.errors import RawperfError
from virtperf.core.levels import Level
from virtperf.core.numbers import pretty
from virtperf.core.paths import Layout
from virtperf.models.planning import Stopping, stop_when
from virtperf.runs.ingest.folder import RunFolder
from virtperf.runs.run_reader import RunReader
from virtperf.runs.run_values import key_text

BlockValues = dict[tuple[tuple[str, Level], ...], dict[int, float]]
"""Values by condition and block."""


@dataclass
class Precision:
    """Running precision of `quantity` over the runs of a study.

    Without `baseline` the interval is that of a condition's mean over blocks, otherwise that of its
    ratio, within blocks, to the condition with the baseline's levels. `half_width` is relative to
    either; a quantity that is not observed, or not positive, has no interval.
    """

    layout: Layout
    quantity: str
    half_width: float = 0.02
    at_most: int = 20
    baseline: Mapping[str, Level] = field(default_factory=dict)
    _values: dict[str, BlockValues] = field(default_factory=dict)
    _reader: RunReader | None = None

    def add(
        self, experiment: str, levels: Mapping[str, Level], block: int, folder: RunFolder
    ) -> RawperfError | None:
        """Add a measured run; returns the error if it can't be read."""
        reader = self._reader = self._reader or RunReader(self.layout)
        try:
            with folder.opened() as path:
                run = reader.run(path)
        except RawperfError as err:
            return err
        value = math.nan if run is None else run.value(self.quantity)
        if value > 0:
            known = self._values.setdefault(experiment, {})
            known.setdefault(tuple(levels.items()), {})[block] = value
        return None

    def stopping(self, experiment: str, before: int | None = None) -> dict[str, Stopping]:
        """Apply the stopping rule to each condition (to each ratio with a baseline), by name,
        optionally only to blocks `before` one.
        """
        values = {
            condition: {k: v for k, v in blocks.items() if before is None or k < before}
            for condition, blocks in self._values.get(experiment, {}).items()
        }
        if self.baseline:
            values = self._ratios(values)
        varied = {
            name
            for name in dict(next(iter(values), ()))
            if len({dict(condition).get(name) for condition in values}) > 1
        }
        return {
            key_text(tuple((n, v) for n, v in condition if n in varied)): stop_when(
                [blocks[k] for k in sorted(blocks)],
                half_width=self.half_width,
                at_most=self.at_most,
            )
            for condition, blocks in values.items()
            if blocks
        }

    def _ratios(self, values: BlockValues) -> BlockValues:
        """Within-block ratios of each condition to the one with the baseline's levels and otherwise
        equal levels.
        """
        ratios = {}
        for condition, blocks in values.items():
            base = values.get(
                tuple((name, self.baseline.get(name, level)) for name, level in condition), {}
            )
            if base is not blocks:
                common = blocks.keys() & base.keys()
                ratios[condition] = {k: blocks[k] / base[k] for k in common}
        return ratios

    def begun(self, experiment: str, block: int) -> bool:
        """Whether any run of a block has been measured."""
        return any(block in blocks for blocks in self._values.get(experiment, {}).values())

    def widest(self, rules: Mapping[str, Stopping]) -> tuple[str, float, int]:
        """Return the condition with the widest interval, its relative half-width, its blocks."""
        shares = {
            name: (rule.estimate.high / rule.estimate.low) ** 0.5 - 1
            for name, rule in rules.items()
            if rule.blocks > 1
        }
        name = max(shares, key=shares.__getitem__)
        return name, shares[name], rules[name].blocks

    def words(self, experiment: str) -> str:
        """Describe the precision so far, for the least precise condition."""
        rules = self.stopping(experiment)
        if not any(rule.blocks > 1 for rule in rules.values()):
            return ""
        name, share, blocks = self.widest(rules)
        ratio = "ratio of " if self.baseline else ""
        where = f" ({name})" if name else ""
        return f"{ratio}{self.quantity} ±{pretty(100 * share, 2)} % after {blocks} blocks{where}"

    def enough(self, experiment: str, block: int) -> str:
        """Describe why a block can be skipped; "" if it is needed or already started."""
        if self.begun(experiment, block):
            return ""
        rules = self.stopping(experiment, before=block)
        if not rules or not all(rule.stop for rule in rules.values()):
            return ""
        name, share, blocks = self.widest(rules)
        of = f"the half-width of {'the ratio of ' * bool(self.baseline)}{self.quantity}"
        worst = f" ({name})" if name else ""
        return f"{blocks} blocks are enough: {of} is at most {pretty(100 * share, 2)} %{worst}"
