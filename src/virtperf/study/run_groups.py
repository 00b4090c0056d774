"""Comparability of runs: groups by protocol and machine.

Averaged or compared runs must agree in both, apart from differences that the study declares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from virtperf.core.grouping import grouped
from virtperf.core.numbers import join_names
from virtperf.study.definition import Study

PROTOCOL = "protocol"
"""Key of `machine_may_differ` for the settings of measure.yaml and the files used by commands."""
NOT_RECORDED = "not recorded"
MEASURE_SETTINGS = "settings of measure.yaml"
MAX_LISTED_RUNS = 4
AA_LABELS = ("a", "b")
"""Prefixes of the run names of an A/A test, `virtperf measure --aa`."""

RunEntry = Mapping[str, Any]
"""A run, from the index of samples or from a loaded `run.yaml` in JSON types."""
FACT_COLUMNS = ("run_id", "factors", "machine", "tools", "protocol")
"""Fields of a run that this module uses."""


@dataclass(frozen=True)
class FactDifference:
    """A fact that differs between runs which are averaged or compared.

    `fact`: the key of `machine_may_differ` that allows it; `what`: its description. `runs`: run ids
        by value; `group`: what the runs have in common.
    """

    fact: str
    what: str
    group: str
    runs: Mapping[str, tuple[str, ...]]

    @property
    def words(self) -> str:
        values = "; ".join(
            f"{value} in {join_names(runs, most=MAX_LISTED_RUNS)}"
            for value, runs in self.runs.items()
        )
        return f"{self.group} differ in {self.what}: {values}"

    @property
    def remedy(self) -> str:
        """Remedy for the user."""
        declare = (
            ""
            if self.fact == PROTOCOL
            else f"make {self.fact} a factor, set machine_factor to a factor in which they differ, "
        )
        return (
            f"remove the runs of one kind and measure them again, {declare}"
            f"or give a reason under machine_may_differ in study.yaml: {{{self.fact}: ...}}"
        )


def fact_differences(study: Study, entries: Iterable[RunEntry]) -> list[FactDifference]:
    """Find undeclared differences between runs of one experiment.

    Runs without a recorded experiment are compared within their condition. Runs without a recorded
    fact are left out of its comparison, except for the protocol: "not recorded" is a value of its
    own.
    """
    known = list(entries)
    experiments = sorted({p["experiment"] for e in known if (p := e.get("protocol"))})
    differences: dict[tuple[str, str, str], dict[str, dict[str, None]]] = {}
    for name, group in _groups(known, experiments):
        for fact, what, values in _facts(study, group):
            if fact in study.machine_may_differ or len(values) < 2:
                continue
            runs_by_value = differences.setdefault((name, fact, what), {})
            for value, runs in values.items():
                runs_by_value.setdefault(value, {}).update(dict.fromkeys(runs))
    return [
        FactDifference(
            fact,
            what,
            f"runs of experiment {name}" if name else "runs of the same condition",
            {value: tuple(runs) for value, runs in values.items()},
        )
        for (name, fact, what), values in differences.items()
    ]


def facts_of(entry: RunEntry) -> set[str]:
    """Keys of `machine_may_differ` that are applicable to a run."""
    host = {"host"} if (entry.get("protocol") or {}).get("host") else set()
    return {PROTOCOL, *host, *(entry.get("machine") or {}), *(entry.get("tools") or {})}


def _groups(
    entries: Sequence[RunEntry], experiments: Sequence[str]
) -> Iterator[tuple[str, list[RunEntry]]]:
    """Group runs that are averaged or compared: by experiment if known, else by condition."""
    groups: dict[tuple[str, str], list[RunEntry]] = {}
    for entry in entries:
        name = experiment_of(entry, experiments)
        condition = "" if name else repr(sorted(entry["factors"].items()))
        groups.setdefault((name, condition), []).append(entry)
    for (name, _), group in groups.items():
        yield name, group


def experiment_of(entry: RunEntry, experiments: Sequence[str]) -> str:
    """The recorded experiment of a run, else the longest of these names that prefixes its id."""
    if entry.get("protocol"):
        return str(entry["protocol"]["experiment"])
    fits = [name for name in experiments if f"{entry['run_id']}-".startswith(f"{name}-")]
    return max(fits, key=len, default="")


def _facts(
    study: Study, group: Sequence[RunEntry]
) -> Iterator[tuple[str, str, dict[str, list[str]]]]:
    """Iterate over a group's facts: key in `machine_may_differ`, description, runs by value."""
    yield PROTOCOL, PROTOCOL, _by_value(group, _recorded)
    recorded = [entry for entry in group if entry.get("protocol")]
    yield PROTOCOL, MEASURE_SETTINGS, _by_value(recorded, lambda e: e["protocol"]["settings"])
    for path in sorted({path for entry in recorded for path in entry["protocol"]["files"]}):
        values = _by_value(recorded, lambda e, path=path: e["protocol"]["files"].get(path))
        yield PROTOCOL, path, values
    declared = [
        name
        for name in study.factors
        if name == study.machine_factor
        or any(name in (e.get(kind) or {}) for e in group for kind in ("machine", "tools"))
    ]
    levels = grouped((repr([e["factors"].get(n) for n in declared]), e) for e in group)
    for part in levels.values():
        yield "host", "host", _by_value(part, lambda e: (e.get("protocol") or {}).get("host"))
        for kind in ("machine", "tools"):
            names = dict.fromkeys(name for entry in part for name in entry.get(kind) or {})
            for name in names:
                what = name if kind == "machine" else f"the version of {name}"
                values = _by_value(
                    part, lambda e, kind=kind, name=name: (e.get(kind) or {}).get(name)
                )
                yield name, what, values


def _recorded(entry: RunEntry) -> str:
    return "recorded" if entry.get("protocol") else NOT_RECORDED


def _by_value(group: Iterable[RunEntry], value: Any) -> dict[str, list[str]]:
    facts = ((value(entry), str(entry["run_id"])) for entry in group)
    return grouped((str(fact), run) for fact, run in facts if fact is not None)


@dataclass(frozen=True)
class RunGroup:
    """Runs of one experiment with the same protocol on the same machine."""

    experiment: str
    protocol: str
    commits: tuple[str, ...]
    machine: Mapping[str, Any]
    host: str
    boots: int
    runs: tuple[str, ...]


def run_groups(entries: Iterable[RunEntry]) -> list[RunGroup]:
    """Group runs by experiment, protocol and machine, in order of first occurrence."""
    known = list(entries)
    experiments = sorted({p["experiment"] for e in known if (p := e.get("protocol"))})
    groups: dict[tuple[str, ...], list[RunEntry]] = {}
    for entry in known:
        protocol = entry.get("protocol") or {}
        key = (
            experiment_of(entry, experiments),
            protocol.get("fingerprint", ""),
            protocol.get("host") or "",
            repr(sorted((entry.get("machine") or {}).items())),
            repr(sorted((entry.get("tools") or {}).items())),
        )
        groups.setdefault(key, []).append(entry)
    return [
        RunGroup(
            key[0],
            key[1] or NOT_RECORDED,
            tuple(dict.fromkeys(c for e in group if (c := _protocol_text(e, "commit")))),
            group[0].get("machine") or {},
            key[2],
            len({boot for e in group if (boot := _protocol_text(e, "boot"))}),
            tuple(str(entry["run_id"]) for entry in group),
        )
        for key, group in groups.items()
    ]


def _protocol_text(entry: RunEntry, name: str) -> str:
    protocol = entry.get("protocol") or {}
    text = str(protocol.get(name) or "")
    return (
        f"{text} (uncommitted changes)" if name == "commit" and text and protocol["dirty"] else text
    )
