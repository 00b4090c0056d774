"""A paper's claims as structured relations between quantities, loaded from `claims.yaml` and validated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from virtperf.core.errors import Report, StudyError, stop
from virtperf.core.yamlio import Document, load_yaml
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression, Level
from virtperf.study.tabulated import tabulated

KINDS = (
    "value", "ratio", "difference", "percent_change", "range", "ordering", "argmax", "argmin", "monotone", "linear",
    "concave", "equivalence", "sum", "response_law",
)  # fmt: skip

NUMBERED = ("value", "ratio", "difference", "percent_change", "range")
"""Kinds that speak of one number with limits."""


@dataclass(frozen=True)
class Instance:
    """One concrete relation of a claim (a claim that holds `for_each` of some levels has several).

    Attributes
    ----------
    parts : tuple of Expression
        value, range: (of,); ratio, difference, percent_change, equivalence: (of, to); ordering: ascending;
        argmax, argmin: the winner, then the others; monotone, linear, concave: along the axis; sum: the total, then
        its parts; response_law: (response time, throughput).
    axis : tuple of float
        The axis positions of `parts` for linear and concave.
    """

    parts: tuple[Expression, ...]
    axis: tuple[float, ...] = ()


@dataclass(frozen=True)
class Claim:
    """One statement of the paper, or one assumption of ours.

    Attributes
    ----------
    id, kind, says : str
        `says` is our own wording.
    exhibits : tuple of str
        The exhibits that it speaks of.
    sections, ledger : tuple of str
        Where the paper says it (several times, perhaps), and the reading notes' ids.
    low, high : float
        Limits of the relation's number that the printed precision implies (level, ratio, difference or percent).
    value : float or None
        The printed number.
    strict : bool
        Whether an ordering must be visible (by the quantity's resolution).
    direction : str
        increasing, decreasing, nonincreasing or nondecreasing (monotone).
    margin : float
        Relative margin of an equivalence or of linearity.
    assumed : bool
        An assumption of ours, switchable.
    reading, note : str
        How a vague word was turned into numbers, where it was; any other remark.
    instances : tuple of Instance
    """

    id: str
    kind: str
    says: str
    exhibits: tuple[str, ...]
    sections: tuple[str, ...]
    ledger: tuple[str, ...]
    low: float
    high: float
    value: float | None
    strict: bool
    direction: str
    margin: float
    assumed: bool
    default_on: bool
    conflicts: tuple[str, ...]
    reading: str
    note: str
    why: str
    instances: tuple[Instance, ...]
    line: int
    constant: float = 0.0

    @property
    def statements(self) -> int:
        """How many times the paper says it."""
        return max(1, len(self.ledger))


@dataclass(frozen=True)
class Claims:
    """All claims of a study, and what was left out of them with the reason."""

    claims: tuple[Claim, ...]
    not_encoded: Mapping[str, str]
    document: Document

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    def __getitem__(self, claim_id: str) -> Claim:
        return next(c for c in self.claims if c.id == claim_id)

    def about(self, exhibit_id: str) -> tuple[Claim, ...]:
        """The claims that speak of an exhibit."""
        return tuple(c for c in self.claims if exhibit_id in c.exhibits)

    def active(self, off: tuple[str, ...] = ()) -> tuple[Claim, ...]:
        """The paper's claims and the assumptions that are switched on.

        `off` names assumptions to switch off; ``"all"`` switches off every one. A leading ``+`` switches one on that
        is off by default.
        """
        on = {name[1:] for name in off if name.startswith("+")}
        return tuple(
            c
            for c in self.claims
            if not c.assumed or ((c.default_on or c.id in on) and c.id not in off and "all" not in off) or c.id in on
        )


def load_claims(study: Study, report: Report = stop) -> Claims:
    """Load and validate `claims.yaml` of a study.

    Parameters
    ----------
    study : Study
    report : callable, optional
        Told of every problem that leaves something to load, so that all can be listed.

    Raises
    ------
    StudyError
        With file and line: against the schema, an unknown quantity, factor, level, exhibit or claim id, an id given
        twice, limits that exclude the printed value.
    """
    document = load_yaml(study.folder / "claims.yaml", "claims")
    exhibits = {exhibit.id for exhibit in study.exhibits} | {"text"}
    loaded: list[Claim] = []
    entries: list[tuple[tuple[str, int], dict[str, Any]]] = []
    try:
        entries += tabulated(study, document)
    except StudyError as err:
        report(err)
    for part in ("claims", "assumptions"):
        entries += [((part, i), e) for i, e in enumerate(document.data.get(part, ()))]
    ids = [entry["id"] for _, entry in entries]
    for where, entry in entries:
        if ids.count(entry["id"]) > 1:
            report(document.error(f"the id {entry['id']!r} is given twice", *where, "id"))
        for exhibit in entry.get("about", ()):
            if exhibit not in exhibits:
                report(
                    document.error(
                        f"unknown exhibit {exhibit!r}", *where, "about", expected="an id of study.yaml, or text"
                    )
                )
        for other in entry.get("conflicts", ()):
            if other not in ids:
                report(document.error(f"conflicts names {other!r}, which is no claim", *where, "conflicts"))
        try:
            loaded.append(_claim(study, entry, assumed=where[0] == "assumptions", line=document.line(*where)))
        except (ValueError, KeyError) as err:
            problem = f"{entry['kind']} needs {err}" if isinstance(err, KeyError) else str(err)
            report(document.error(f"claim {entry['id']!r}: {problem}", *where))
    not_encoded = {
        ledger: entry["reason"] for entry in document.data.get("not_encoded", ()) for ledger in _tuple(entry["ledger"])
    }
    return Claims(tuple(loaded), not_encoded, document)


def _claim(study: Study, entry: Mapping[str, Any], *, assumed: bool, line: int) -> Claim:
    value = entry.get("value")
    low, high = entry.get("low"), entry.get("high")
    if value is not None and "half_width" in entry:
        low = value - entry["half_width"] if low is None else low
        high = value + entry["half_width"] if high is None else high
    if entry["kind"] in NUMBERED and low is None and high is None:
        raise ValueError("no limits: give value and half_width (what the printed precision implies), or low, or high")
    low = -float("inf") if low is None else float(low)
    high = float("inf") if high is None else float(high)
    if low > high or (value is not None and not low <= value <= high and "half_width" in entry):
        raise ValueError(f"the limits {low:g} to {high:g} exclude the printed value {value}")
    return Claim(
        id=entry["id"], kind=entry["kind"], says=entry["says"], exhibits=tuple(entry.get("about", ())),
        sections=_tuple(entry.get("section", ())), ledger=_tuple(entry.get("ledger", ())), low=low, high=high,
        value=None if value is None else float(value), strict=entry.get("strict", True),
        direction=entry.get("direction", ""), margin=float(entry.get("margin", 0)), assumed=assumed,
        default_on=entry.get("enabled", True), conflicts=tuple(entry.get("conflicts", ())),
        reading=entry.get("reading", ""), note=entry.get("note", ""),
        why=entry.get("why", ""), instances=_instances(study, entry), line=line,
        constant=float(entry.get("constant", 0)),
    )  # fmt: skip


def _instances(study: Study, entry: Mapping[str, Any]) -> tuple[Instance, ...]:
    each = entry.get("for_each", {})
    combos = [dict(zip(each, combo, strict=True)) for combo in product(*each.values())]
    return tuple(_instance(study, entry, also) for also in combos)


def _instance(study: Study, entry: Mapping[str, Any], also: Mapping[str, Level]) -> Instance:
    kind = entry["kind"]
    if kind in ("value", "range"):
        return Instance((study.expression(entry["of"], also),))
    if kind in ("ratio", "difference", "percent_change", "equivalence"):
        return Instance((study.expression(entry["of"], also), study.expression(entry["to"], also)))
    if kind == "ordering":
        return Instance(tuple(study.expression(text, also) for text in entry["order"]))
    if kind == "sum":
        return Instance(tuple(study.expression(text, also) for text in [entry["of"], *entry["parts"]]))
    if kind == "response_law":
        return Instance((study.expression(entry["of"], also), study.expression(entry["to"], also)),
                        (float(also.get(entry["over"], 0)),))  # fmt: skip
    over, levels = entry["over"], entry["levels"]
    if kind in ("argmax", "argmin"):
        if entry["at"] not in levels:
            raise ValueError(f"at: {entry['at']} is not among the levels")
        levels = [entry["at"], *(level for level in levels if level != entry["at"])]
    parts = tuple(study.expression(entry["of"], {**also, over: level}) for level in levels)
    numeric = all(isinstance(level, int | float) for level in levels)
    return Instance(parts, tuple(float(level) for level in levels) if numeric else ())


def _tuple(value: str | list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
