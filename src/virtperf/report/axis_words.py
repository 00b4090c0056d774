"""Axis metadata: labels with units, tick labels, natural bounds; plain values attached to frames."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from virtperf.core.numbers import join_words, pretty
from virtperf.report.palette import GREY, SERIES_COLOURS
from virtperf.report.wording import printable
from virtperf.study.definition import Exhibit, Factor, Study
from virtperf.study.quantities import Level, Quantity

if TYPE_CHECKING:
    import pandas as pd


class AxisWords(dict[str, Any]):
    """Axis metadata as in `axis_metadata`, each part perhaps empty; deep copies return the same object,
    since pandas deep-copies `DataFrame.attrs`.
    """

    def __deepcopy__(self, _: object) -> AxisWords:
        return self

    @classmethod
    def of(cls, frames: Iterable[pd.DataFrame], labels: Mapping[str, str]) -> AxisWords:
        """Metadata of the first frame with any; `labels` have precedence."""
        known: Mapping[str, Any]
        known = next(filter(None, (frame.attrs.get("axes") for frame in frames)), {})
        parts = {name: known.get(name, {}) for name in _PARTS}
        return cls(parts | {"labels": {**parts["labels"], **labels}})

    def panel(self, quantity: object) -> str:
        """Panel of a quantity: its own, or one shared with others of its unit."""
        return str(self["panels"].get(str(quantity), quantity))

    def label(self, name: object) -> str:
        """Label of a column, or of a panel."""
        return printable(self["labels"].get(str(name), name))


_PARTS = ("labels", "levels", "bounds", "panels", "colours")
_STOP_WORDS = {"of", "the", "a", "an", "by", "in", "to", "for", "with"}
"""Stop words stripped from the end of a common label prefix."""
_AMOUNT = re.compile(r"^(bytes|%(?= of )|[KMG]i?B) (?:of )?(?!the |per )(.+)$")
"""Factor whose label begins with its unit, for use after a number: ``512 GiB real memory``."""


def axis_metadata(study: Study, figure: Exhibit) -> AxisWords:
    """Axis metadata of a figure, for ``frame.attrs["axes"]``.

    labels: label with the unit of each factor, quantity and panel; levels: levels of the factor in
    axis order, each with its tick label; bounds: natural [low, high] of each quantity and panel;
    panels: quantity to the panel shared by the quantities of its unit; colours: series label to
    palette index.
    """
    at = study.points(figure)
    factor = study.axis(figure)
    shown = list(dict.fromkeys(level for _, level, _ in at))
    if not all(isinstance(level, int | float) for level in shown):
        shown.sort(key=factor.levels.index)
    names = list(dict.fromkeys(quantity.name for _, _, quantity in at))
    label = _AMOUNT.sub(r"\2, \1", printable(factor.label))
    labels = {factor.name: label[:1].upper() + label[1:]}
    bounds = {name: [study.quantities[name].low, study.quantities[name].high] for name in names}
    by_unit: dict[str, list[str]] = {}
    for name in names:
        unit, words = (
            unit_words(study, name, [q for _, _, q in at if q.name == name]),
            study.quantities[name].label,
        )
        labels[name] = printable(words if unit == "1" else f"{words}, {unit}")
        by_unit.setdefault(unit, []).append(name)
    panels: dict[str, str] = {}
    for unit, shared in by_unit.items():
        if len(shared) > 1:
            panel = " ".join(shared)
            panels |= dict.fromkeys(shared, panel)
            quantity_labels = list(dict.fromkeys(study.quantities[name].label for name in shared))
            parts = zip(
                *([part.rstrip(",") for part in label.split()] for label in quantity_labels),
                strict=False,
            )
            same = [part[0] for part in takewhile(lambda part: len(set(part)) == 1, parts)]
            while same and same[-1] in _STOP_WORDS:  # "CPU of the", common to guests and drivers
                same.pop()
            labels[panel] = f"{' '.join(same) or _joined(quantity_labels)}, {unit}"
            bounds[panel] = [
                min(bounds[name][0] for name in shared),
                max(bounds[name][1] for name in shared),
            ]
    if axis := figure.spec.get("axis"):
        labels |= dict.fromkeys([*panels.values()] or names, str(axis))
    levels = {factor.name: [(level, tick_label(factor, level)) for level in shown]}
    return AxisWords(
        labels=labels, levels=levels, bounds=bounds, panels=panels, colours=colours(study)
    )


def _joined(labels: Sequence[str]) -> str:
    """Join labels, with a common noun written once: ``Minor and Major faults``."""
    pairs = [label.split() for label in labels]
    if all(len(pair) == 2 for pair in pairs) and len({noun for _, noun in pairs}) == 1:
        return f"{join_words([first for first, _ in pairs])} {pairs[0][1]}"
    return join_words(labels)


def tick_label(factor: Factor, level: Level) -> str:
    """A level as a tick label; numbers with thousands separators."""
    if level in factor.level_labels or isinstance(level, str):
        return printable(factor.show(level))
    return pretty(float(level), 6)


def level_words(factor: Factor, level: Level) -> str:
    """A level within a sentence: ``12 guests``, ``20,480 MB central storage``, ``hardware
    encryption``.
    """
    text = tick_label(factor, level)
    return text if isinstance(level, str) else f"{text} {factor.noun(level)}"


def unit_words(study: Study, name: str, points: Sequence[Quantity]) -> str:
    """Unit of a quantity: ``% of the memory touched`` with `share_of`; ``% of reference`` names the
    reference point: ``% of z/VM at 12 guests``.

    The reference is the one that agrees with one of the figure's points in most factors. Its
    description names the factors that vary in the figure or differ from all of its points.
    """
    kind = study.quantities[name]
    if kind.share_of:
        return f"{kind.unit} of {kind.share_of}"
    if not kind.references or "reference" not in kind.unit:
        return kind.unit
    references = [study.quantity_at(name, at) for at, _ in kind.references]

    def agreement(reference: Quantity) -> int:
        return max(
            (sum(x == y for x, y in zip(reference.at, q.at, strict=True)) for q in points),
            default=0,
        )

    nearest = max(references, key=agreement)
    texts: list[str] = []
    numbers: list[str] = []
    for factor_name, level in nearest.at:
        if {level} == {q.level(factor_name) for q in points}:
            continue
        factor = study.factors[factor_name]
        (texts if isinstance(level, str) else numbers).append(level_words(factor, level))
    words = ", ".join(texts) if texts else "the value" if numbers else "this point"
    words += f" at {join_words(numbers)}" if numbers else ""
    return kind.unit.replace("reference", words)


def colours(study: Study) -> dict[str, int]:
    """Palette index of every series label, in order of first appearance, by greedy graph colouring;
    ``colour:`` in study.yaml names a label with the same colour. Figures that show an order only come
    last: most have no picture, and need no colour.

    Labels of one figure have different colours while the palette lasts, then repeated colours with
    other marks (`plot.theme.series_style`). Among the free colours the least used one is taken. A
    study that declares `colours` has only these, and `GREY`.
    """
    figures = [
        [(s["label"], s.get("colour") or s["label"]) for s in e.spec.get("series", ())]
        for e in sorted(study.exhibits, key=lambda e: bool(e.spec.get("order")))
    ]
    if study.colours:
        longest = sorted(study.colours, key=len, reverse=True)
        return {
            label: next((study.colours[n] for n in longest if system.startswith(n)), GREY)
            for figure in figures
            for label, system in figure
        }
    beside: dict[str, set[str]] = defaultdict(set)
    for figure in figures:
        for _, system in figure:
            beside[system] |= {other for _, other in figure} - {system}
    assigned: dict[str, int] = {}
    for system in dict.fromkeys(system for figure in figures for _, system in figure):
        adjacent, used = (
            {assigned.get(other) for other in beside[system]},
            Counter(assigned.values()),
        )
        assigned[system] = min(
            range(len(SERIES_COLOURS) ** 2),
            key=lambda k: (k in adjacent, k // len(SERIES_COLOURS), used[k], k),
        )
    return {label: assigned[system] for figure in figures for label, system in figure}


def rarest_colour(study: Study) -> int:
    """Palette index of the colour that the fewest series of a study have, for a picture without a
    series.
    """
    used = Counter(colours(study).values())
    return min(range(len(SERIES_COLOURS)), key=lambda k: used[k])
