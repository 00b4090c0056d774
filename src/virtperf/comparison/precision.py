"""How well a quantity is known while its study is measured, and when its blocks are enough.

    so_far = Precision(layout, "throughput", half_width=0.02, at_most=20)
    so_far.add("a", {"guests": 2}, 1, folder)
    so_far.words("a"), so_far.enough("a", 7)

The rule is that of `virtperf.models.planning.stop_when`, of each condition of an experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rawperf.core.errors import VirtperfError
from virtperf.comparison.judged import condition_text
from virtperf.comparison.sides import RunReader
from virtperf.core.levels import Level
from virtperf.core.paths import Layout
from virtperf.models.planning import Stopping, stop_when

BlockValues = dict[tuple[tuple[str, Level], ...], dict[int, float]]
"""A value of each block, by condition."""


@dataclass
class Precision:
    """The runs of a study so far, a value of `quantity` of each.

    Without `baseline` the interval is that of a condition's mean over blocks, else that of its
    ratio, within blocks, to the condition with these levels. `half_width` is a share of either; a
    quantity that a run does not observe, or that is not positive, has no interval.
    """

    layout: Layout
    quantity: str
    half_width: float = 0.02
    at_most: int = 20
    baseline: Mapping[str, Level] = field(default_factory=dict)
    _values: dict[str, BlockValues] = field(default_factory=dict)
    _reader: RunReader | None = None

    def add(
        self, experiment: str, levels: Mapping[str, Level], block: int, folder: Path
    ) -> VirtperfError | None:
        """Take a run that was measured; returns why it can't be read."""
        reader = self._reader = self._reader or RunReader(self.layout, None, False)
        try:
            run = reader.run(folder)
        except VirtperfError as err:
            return err
        if run is not None and run.values.get(self.quantity, 0.0) > 0:
            known = self._values.setdefault(experiment, {})
            known.setdefault(tuple(levels.items()), {})[block] = run.values[self.quantity]
        return None

    def stopping(self, experiment: str, before: int | None = None) -> dict[str, Stopping]:
        """What the rule says of each condition (of each ratio, where there is a baseline), by its
        name; of blocks `before` one.
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
            condition_text(tuple((n, v) for n, v in condition if n in varied)): stop_when(
                [blocks[k] for k in sorted(blocks)],
                half_width=self.half_width,
                at_most=self.at_most,
            )
            for condition, blocks in values.items()
            if blocks
        }

    def _ratios(self, values: BlockValues) -> BlockValues:
        """Each condition over that with the baseline's levels and else the same ones, within
        blocks.
        """
        found = {}
        for condition, blocks in values.items():
            base = values.get(
                tuple((name, self.baseline.get(name, level)) for name, level in condition), {}
            )
            if base is not blocks:
                common = blocks.keys() & base.keys()
                found[condition] = {k: blocks[k] / base[k] for k in common}
        return found

    def begun(self, experiment: str, block: int) -> bool:
        """Whether a run of a block was measured."""
        return any(block in blocks for blocks in self._values.get(experiment, {}).values())

    def widest(self, found: Mapping[str, Stopping]) -> tuple[str, float, int]:
        """The condition whose interval is the widest, its half-width as a share, its blocks."""
        shares = {
            name: (rule.estimate.high / rule.estimate.low) ** 0.5 - 1
            for name, rule in found.items()
            if rule.blocks > 1
        }
        name = max(shares, key=shares.__getitem__)
        return name, shares[name], found[name].blocks

    def words(self, experiment: str) -> str:
        """How well the quantity is known so far, of the condition that is known worst."""
        found = self.stopping(experiment)
        if not any(rule.blocks > 1 for rule in found.values()):
            return ""
        name, share, blocks = self.widest(found)
        ratio = "ratio of " if self.baseline else ""
        where = f" ({name})" if name else ""
        return f"{ratio}{self.quantity} ±{100 * share:.2g} % after {blocks} blocks{where}"

    def enough(self, experiment: str, block: int) -> str:
        """Why a block need not be measured; nothing where it must be, or has been begun."""
        if self.begun(experiment, block):
            return ""
        found = self.stopping(experiment, before=block)
        if not found or not all(rule.stop for rule in found.values()):
            return ""
        name, share, blocks = self.widest(found)
        of = f"the half-width of {'the ratio of ' * bool(self.baseline)}{self.quantity}"
        worst = f" ({name})" if name else ""
        return f"{blocks} blocks are enough: {of} is at most {100 * share:.2g} %{worst}"
