"""Test set-up of a study as described by its paper: machines, guests, workload, procedure; and our
additions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from virtperf.core.grouping import grouped
from virtperf.core.numbers import join_words, plural, pretty
from virtperf.report.kinds import Context, ExhibitKind, note, register
from virtperf.report.records import Block, Grid, Heading, Listing, Paragraph, Record
from virtperf.study.definition import Study

FACT_UNITS = {
    "mb": "MB",
    "gb": "GB",
    "ghz": "GHz",
    "mhz": "MHz",
    "s": "s",
    "ms": "ms",
    "min": "minutes",
    "percent": "%",
}
"""Units by the last word of names in study.yaml."""
NOT_STATED = "not stated"
SPELLED = {
    "vcpus": "virtual CPUs",
    "cpus": "CPUs",
    "xml": "XML",
    "ifls": "IFLs",
    "fcp": "FCP",
    "java": "Java",
    "warmup": "warm-up",
    "dcss": "DCSS",
}


def record(context: Context) -> Record:
    """Build a line on the machines, and tables of machines and guests, and of workload and procedure;
    missing values are "not stated".
    """
    study, written = context.study, context.study.data
    called = display_names(study)
    nets = {name: network.label for name, network in study.networks.items()}
    blocks: list[Block] = list(_machines_in_short(study))
    for part, title in (("machines", "Machines"), ("guests", "Guests"), ("networks", "Networks")):
        if entries := written.get(part):
            entries = {key: _label_networks(entry, nets) for key, entry in entries.items()}
            blocks += [Heading(text=title), _grid(title, entries, called)]
    for part, title in (("workload", "Workload"), ("procedure", "Procedure")):
        values = {k: v for k, v in (written.get(part) or {}).items() if k != "steps"}
        if values:
            rows = tuple(
                (setting_label(name, called), setting_text(name, value, called))
                for name, value in values.items()
            )
            heading = "Value" if study.kind == "measured" else "As stated in the paper"
            blocks += [
                Heading(text=title),
                Grid(label=title, columns=("Setting", heading), rows=rows),
            ]
    if study.procedure.steps:
        blocks += [Heading(text="Steps of a run"), Listing(items=study.procedure.steps)]
    if not blocks:
        blocks.append(
            note(
                "study.yaml has no description of the set-up (machines, guests, workload, procedure)."
            )
        )
    if study.conventions:
        items = tuple(" ".join(text.split()) for text in study.conventions)
        blocks += [Heading(text="Our additions"), Listing(items=items)]
    return register(context, "setup", *blocks)


def _machines_in_short(study: Study) -> Iterator[Block]:
    """A line that names the machines with what each is for; equal ones together."""
    alike = grouped(
        (", ".join([m.machine, *([plural(m.cpus, "CPU")] if m.cpus else [])]), m.label)
        for m in study.machines.values()
    )
    if alike:
        named = [
            f"{join_words(labels)}{', each' * (len(labels) > 1)}: "
            f"{f'machine {machine}' if machine == NOT_STATED else machine}"
            for machine, labels in alike.items()
        ]
        yield Paragraph(words=f"{'; '.join(named)}.")


def display_names(study: Study) -> dict[str, str]:
    """Display names for identifiers: `names` of study.yaml, and the labels of levels."""
    levels = (factor.level_labels.items() for factor in study.factors.values())
    return {str(level): text for labels in levels for level, text in labels} | study.names


def _label_networks(entry: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Copy of an entry with networks replaced by their labels."""
    named_networks = {"networks": [labels.get(name, name) for name in entry.get("networks", ())]}
    return {**entry, **(named_networks if "networks" in entry else {})}


def _grid(title: str, entries: Mapping[str, Mapping[str, Any]], called: Mapping[str, str]) -> Grid:
    """Table with one column an entry, one row a fact stated for any of them; `called` has display
    names.
    """
    facts = dict.fromkeys(name for entry in entries.values() for name in entry if name != "label")
    columns = ("", *(str(entry.get("label", key)) for key, entry in entries.items()))
    rows = [
        (
            setting_label(fact, called),
            *(setting_text(fact, e[fact], called) if fact in e else "" for e in entries.values()),
        )
        for fact in facts
    ]
    filled_rows = tuple(row for row in rows if {*row[1:]} - {"", setting_text("", None)})
    return Grid(label=title, columns=columns, rows=filled_rows)


def setting_label(name: str, called: Mapping[str, str] = MappingProxyType({})) -> str:
    """Display name of a key in study.yaml, without its unit: ``memory_mb`` is ``Memory``; `called`
    has overrides.
    """
    if name in called:
        return called[name]
    words = name.split("_")
    if len(words) > 1 and words[-1] in FACT_UNITS:
        words = words[:-1]
    text = " ".join(SPELLED.get(word, word) for word in words)
    return text[:1].upper() + text[1:]


def setting_text(name: str, value: Any, called: Mapping[str, str] = MappingProxyType({})) -> str:
    """Format a value of study.yaml with the unit in its key's suffix."""
    unit = FACT_UNITS.get(name.rpartition("_")[2], "") if "_" in name else ""
    if value is None:
        return NOT_STATED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{pretty(value)} {unit}".strip()
    if isinstance(value, Mapping):
        return "; ".join(
            f"{setting_label(str(k), called)}: {setting_text(str(k), v, called)}"
            for k, v in value.items()
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) == 2 and all(isinstance(v, int | float) for v in value):
            return f"{pretty(value[0])} to {pretty(value[1])} {unit}".strip()
        return "; ".join(setting_text("", v, called) for v in value) or "none"
    return str(value)


KIND = ExhibitKind("setup", record)
