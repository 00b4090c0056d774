"""Statements of a paper as linear rows, read from study.yaml, claims.yaml and readings.yaml."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import yaml

Quantity = tuple[str, tuple[str, ...]]
"""Name, and the text of the level of every factor in the study's order."""
Sum = dict[Quantity, float]
INF = math.inf


@dataclass(frozen=True)
class Row:
    """``sum of coefficient x quantity <= bound``, stated by a claim."""

    claim: str
    terms: Sum
    bound: float


@dataclass
class Statement:
    """A claim, or an assumption of ours: its rows, the sentences that state it, and its means."""

    id: str
    assumed: bool
    sentences: frozenset[str]
    rows: list[Row] = field(default_factory=list)
    means: list[tuple[Sum, list[tuple[Quantity, Quantity]]]] = field(default_factory=list)


@dataclass(frozen=True)
class Number:
    """A derived number: `parts` and `axis` as its kind needs them."""

    name: str
    gives: str
    kind: str
    parts: list[Sum]
    axis: list[float]
    levels: list[str]


def level_text(level: Any) -> str:
    """Text of a level, the same for `2` and `2.0`."""
    if isinstance(level, bool):
        return "on" if level else "off"
    text = str(level).strip().strip('"')
    try:
        return f"{float(text):g}" if "e" not in text.lower() else text
    except ValueError:
        return text


class Paper:
    """The statements of one paper, and the numbers that are asked of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.study = yaml.safe_load((folder / "study.yaml").read_text())
        self.file = yaml.safe_load((folder / "claims.yaml").read_text())
        readings = folder.parent.parent / "readings.yaml"
        self.words = _words(yaml.safe_load(readings.read_text())["words"])
        self.factors = self.study["factors"]
        self.statements = list(self._statements())

    # ---- quantities

    def quantity(self, text: str, also: Mapping[str, Any] | None = None) -> Quantity:
        name, _, inside = text.strip().rstrip("]").partition("[")
        levels = dict(also or {})
        for part in filter(None, (p.strip() for p in inside.split(","))):
            factor, _, level = part.partition("=")
            levels[factor.strip()] = level
        return self.at(name.strip(), levels)

    def at(self, name: str, levels: Mapping[str, Any]) -> Quantity:
        filled = [levels.get(f, spec.get("default")) for f, spec in self.factors.items()]
        assert None not in filled, (name, levels)
        assert set(levels) <= set(self.factors), (name, levels)
        return name, tuple(map(level_text, filled))

    def sum(self, text: str, also: Mapping[str, Any] | None = None) -> Sum:
        total: Sum = {}
        for sign, factor, part in re.findall(
            r"([+-]?)\s*(\d+(?:\.\d+)?)?\s*\*?\s*([a-z]\w*\s*(?:\[[^]]*\])?)", text
        ):
            value = (-1.0 if sign == "-" else 1.0) * float(factor or 1)
            q = self.quantity(part, also)
            total[q] = total.get(q, 0.0) + value
        return total

    def bounds(self, quantity: Quantity) -> tuple[float, float]:
        """Natural bounds; equal for a reference point."""
        kind = self.study["quantities"][quantity[0]]
        for reference in kind.get("references", ()):
            if self.at(quantity[0], reference.get("at", {})) == quantity:
                return float(reference["value"]), float(reference["value"])
        low, high = kind.get("bounds", (0.0, None))
        return (-INF if low is None else float(low)), (INF if high is None else float(high))

    def resolution(self, of: Sum) -> float:
        name = next(iter(of))[0]
        return float(self.study["quantities"][name].get("resolution", 0.0))

    # ---- claims

    def _statements(self) -> Iterator[Statement]:
        for entry in self.file.get("tables") or ():
            yield from (self._statement(cell) for cell in self._cells(entry))
        for entry in self.file.get("claims") or ():
            yield self._statement(entry)
        for entry in self.file.get("assumptions") or ():
            if entry.get("enabled", True):
                yield self._statement(entry, assumed=True)

    def _cells(self, entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        path = self.folder / "tables" / f"{entry['table']}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for number, cells in enumerate(rows, 1):
            renamed = {
                f: {level_text(k): v for k, v in names.items()}
                for f, names in entry.get("levels", {}).items()
            }
            at = {f: level_text(cells[column]) for f, column in entry.get("key", {}).items()}
            at = {f: renamed.get(f, {}).get(level, level) for f, level in at.items()}
            for column, quantity in entry["columns"].items():
                if cells[column] == "":
                    continue
                yield {
                    "id": f"{entry['table']}|{column}|{number}|{quantity}",
                    "kind": "value",
                    "of": quantity,
                    "for_each": {f: [level] for f, level in at.items()},
                    "value": float(cells[column].replace(",", "")),
                    "half_width": entry["half_width"],
                    "sentence": f"{entry['table']} row {number}",
                }

    def _statement(self, claim: Mapping[str, Any], *, assumed: bool = False) -> Statement:
        keys = claim.get("sentence", ())
        keys = [keys] if isinstance(keys, str) else keys
        sentences = {f"{claim['id']} in {k}" if re.search(r"\brow\b", k) else k for k in keys}
        own = frozenset() if assumed else frozenset(sentences or {claim["id"]})
        found = Statement(claim["id"], assumed, own)
        limits = self._limits(claim)
        for also in _combinations(claim.get("for_each", {})):
            if claim["kind"] == "relative_mean":
                found.means.append(self._mean(claim, also))
                continue
            found.rows += [
                Row(claim["id"], {q: c for q, c in terms.items() if c}, bound)
                for terms, bound in self._relation(claim, also, limits)
            ]
        return found

    def _mean(self, claim: Mapping[str, Any], also: Mapping[str, Any]) -> Any:
        other = {**also, **claim["relative_to"]}
        pairs = [(self.quantity(p, also), self.quantity(p, other)) for p in claim["parts"]]
        return self.sum(claim["of"], also), pairs

    def _limits(self, claim: Mapping[str, Any]) -> tuple[float, float, float]:
        """Lower and upper limit of the claim's number, and its margin."""
        value, half = claim.get("value"), claim.get("half_width")
        if claim.get("word") and claim["kind"] != "rule":
            return self._read(claim["word"], claim["kind"], value, half or 0.0)
        low, high = -INF, INF
        if value is not None and half is not None:
            low, high = value - half, value + half
        return claim.get("low", low), claim.get("high", high), claim.get("margin", 0.0)

    def _read(
        self, name: str, kind: str, value: float | None, room: float
    ) -> tuple[float, float, float]:
        of, number, low, high = self.words[name]
        if of == "reference":
            if kind in ("ordering", "argmax", "argmin", "monotone"):
                return -INF, INF, 0.0
            if kind in ("equivalence", "linear"):
                return -INF, INF, high - 1
            if kind == "ratio":
                return low or -INF, high, 0.0
            return (100 * (low - 1) if low else -INF), 100 * (high - 1), 0.0
        value = number if value is None else value
        low, high = low / (number or 1.0), high / (number or 1.0)
        ends = [low * abs(value) if low else -INF, high * abs(value)]
        if value < 0:
            ends = [-ends[1], -ends[0]]
        if room:
            ends = [min(ends[0], value - room), max(ends[1], value + room)]
        return ends[0], ends[1], 0.0

    def _relation(
        self,
        claim: Mapping[str, Any],
        also: Mapping[str, Any],
        limits: tuple[float, float, float],
    ) -> Iterator[tuple[Sum, float]]:
        kind, (low, high, margin) = claim["kind"], limits
        if kind in ("value", "range"):
            yield from _between(self.sum(claim["of"], also), low, high)
        elif kind in ("ratio", "percent_change", "equivalence"):
            if kind == "percent_change":
                low, high = 1 + low / 100, 1 + high / 100
            if kind == "equivalence":
                low, high = 1 / (1 + margin), 1 + margin
            of, to = self.sum(claim["of"], also), self.sum(claim["to"], also)
            yield from _times(of, to, low, high)
        elif kind == "difference":
            of = plus(self.sum(claim["of"], also), self.sum(claim["to"], also), -1)
            yield from _between(of, low, high)
        elif kind == "sum":
            of = self.sum(claim["of"], also)
            for part in claim["parts"]:
                of = plus(of, self.sum(part, also), -1)
            yield from _between(of, *((low, high) if math.isfinite(low) else (0.0, 0.0)))
        elif kind == "ordering":
            order = [self.sum(text, also) for text in claim["order"]]
            yield from self._ascending(pairwise(order), strict=claim.get("strict", True))
        else:
            yield from self._over_levels(claim, also, margin)

    def _over_levels(
        self, claim: Mapping[str, Any], also: Mapping[str, Any], margin: float
    ) -> Iterator[tuple[Sum, float]]:
        kind, levels = claim["kind"], claim["levels"]
        parts = [self.sum(claim["of"], {**also, claim["over"]: level}) for level in levels]
        if kind in ("argmax", "argmin"):
            at = [level_text(x) for x in levels].index(level_text(claim["at"]))
            pairs = [
                (part, parts[at]) if kind == "argmax" else (parts[at], part)
                for k, part in enumerate(parts)
                if k != at
            ]
            yield from self._ascending(pairs, strict=claim.get("strict", True))
        elif kind == "monotone":
            rising = claim["direction"] in ("increasing", "nondecreasing")
            strict = claim["direction"] in ("increasing", "decreasing")
            yield from self._ascending(pairwise(parts if rising else parts[::-1]), strict=strict)
        elif kind == "rule":
            half = claim["intercept_half_width"], claim["slope_half_width"]
            for part, x in zip(parts, levels, strict=True):
                value, room = claim["intercept"] + claim["slope"] * x, half[0] + half[1] * abs(x)
                ends = (value - room, value + room)
                if claim.get("word"):
                    ends = self._read(claim["word"], "value", value, room)[:2]
                yield from _between(part, *ends)
        elif kind in ("linear", "concave"):
            slopes = [
                plus({q: c / (b - a) for q, c in right.items()}, left, -1 / (b - a))
                for (left, right), (a, b) in zip(pairwise(parts), pairwise(levels), strict=True)
            ]
            if kind == "concave":
                yield from ((plus(later, earlier, -1), 0.0) for earlier, later in pairwise(slopes))
                return
            for earlier, later in combinations(slopes, 2) if margin else pairwise(slopes):
                yield from _times(later, earlier, 1 / (1 + margin), 1 + margin)
        else:
            raise AssertionError(kind)

    def _ascending(self, pairs: Any, *, strict: bool) -> Iterator[tuple[Sum, float]]:
        for smaller, larger in pairs:
            step = self.resolution(smaller) if strict else 0.0
            yield plus(smaller, larger, -1), -step

    # ---- what is asked

    def points(self) -> list[Quantity]:
        """Plotted points, each once."""
        found: dict[Quantity, None] = {}
        first, factor = next(iter(self.factors.items()))
        for exhibit in self.study["exhibits"]:
            for name in exhibit.get("marks", ()):
                at = exhibit.get("run", {}).get("at", {})
                default = factor.get("default")
                level = at.get(first, factor["levels"][0] if default is None else default)
                found[self.at(name, {**at, first: level})] = None
            for series in exhibit.get("series", ()) if exhibit["kind"] != "timeseries" else ():
                name = series.get("quantity") or exhibit["quantity"]
                over = series.get("over") or exhibit["over"]
                for level in series["levels"]:
                    found[self.at(name, {**series.get("at", {}), over: level})] = None
        return list(found)

    def numbers(self) -> list[Number]:
        """Derived numbers in the order of study.yaml."""
        found = []
        for entry in self.study.get("derived", ()):
            for also in _combinations(entry.get("for_each", {})):
                levels = entry.get("levels", ())
                if levels:
                    parts = [self.sum(entry["of"], {**also, entry["over"]: x}) for x in levels]
                else:
                    parts = [self.sum(entry[k], also) for k in ("of", "to") if entry.get(k)]
                curve = entry["kind"] in ("line", "usl", "segmented")
                axis = [entry["dividend"] / x if entry.get("dividend") else x for x in levels]
                for gives in entry["gives"] if curve else [""]:
                    texts = [level_text(level) for level in levels]
                    found.append(
                        Number(
                            entry["id"], gives, entry["kind"], parts, axis if curve else [], texts
                        )
                    )
        return found


def _combinations(each: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(each, combination, strict=True)) for combination in product(*each.values())]


def plus(one: Sum, other: Sum, weight: float) -> Sum:
    total = dict(one)
    for q, c in other.items():
        total[q] = total.get(q, 0.0) + weight * c
    return total


def _between(of: Sum, low: float, high: float) -> Iterator[tuple[Sum, float]]:
    if math.isfinite(high):
        yield of, high
    if math.isfinite(low):
        yield {q: -c for q, c in of.items()}, -low


def _times(of: Sum, to: Sum, low: float, high: float) -> Iterator[tuple[Sum, float]]:
    """``low x to <= of <= high x to``."""
    if math.isfinite(high):
        yield plus(of, to, -high), 0.0
    if math.isfinite(low):
        yield plus({q: -c for q, c in of.items()}, to, low), 0.0


def _words(entries: Mapping[str, Any]) -> dict[str, tuple[str, float | None, float, float]]:
    """Limits of every word and synonym, by default: (of, number, low, high)."""
    own = {}
    for name, entry in entries.items():
        if "inverse" in entry:
            continue
        limits = entry["default"]
        if isinstance(limits, int | float):
            limits = [1 / limits, limits]
        low, high = limits
        own[name] = (entry["of"], entry.get("number"), low or 0.0, INF if high is None else high)
    found = {}
    for name, entry in entries.items():
        word = own.get(name)
        if word is None:
            of, number, low, high = own[entry["inverse"]]
            turned = (0.0 if math.isinf(high) else 1 / high), (1 / low if low else INF)
            word = (of, None if number is None else 1 / number, *turned)
        found |= dict.fromkeys((name, *entry.get("also", ())), word)
    return found
