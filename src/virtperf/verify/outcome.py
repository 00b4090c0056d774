"""What a comparison of two places found, and the same as JSON."""

from __future__ import annotations

import math
import platform
import re
from collections import Counter
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from virtperf.verify.compare import IDENTICAL, STATUSES, Change, Tolerances
from virtperf.verify.files import File, Finding
from virtperf.verify.items import KINDS, Item
from virtperf.verify.replay import Place

PACKAGES = (
    "virtperf",
    "numpy",
    "pandas",
    "scipy",
    "statsmodels",
    "cvxpy",
    "highspy",
    "matplotlib",
    "seaborn",
    "pyarrow",
    "pyyaml",
    "defusedxml",
    "pydantic",
    "papermill",
    "ipykernel",
    "nbconvert",
    "nbformat",
    "jinja2",
    "pygments",
    "mistune",
)
"""Packages that read, compute, draw or write what is compared."""
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", re.M)


@dataclass(frozen=True)
class Used:
    """A package's version and the one that `requirements.lock` pins; empty where it is unknown."""

    name: str
    version: str
    pinned: str


def packages(root: Path) -> list[Used]:
    """Python and `PACKAGES`."""
    lock = root / "requirements.lock"
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    pins = {name.lower().replace("_", "-"): pinned for name, pinned in _PIN.findall(text)}
    found = [Used("python", platform.python_version(), "")]
    for name in PACKAGES:
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = ""
        found.append(Used(name, version, pins.get(name, "")))
    return found


@dataclass(frozen=True)
class Outcome:
    """Two places compared."""

    old: Place
    new: Place
    changes: dict[str, list[Change]]  # of every study the items of its tables and records
    files: list[File]
    findings: list[Finding]  # what is wrong with files that are stored
    packages: list[Used]
    tolerances: Tolerances

    def counts(self, study: str) -> Counter[str]:
        """Items of a study by status."""
        return Counter(change.status for change in self.changes[study])

    def affected(self, study: str) -> dict[str, int]:
        """Tables and exhibits of a study that changed beyond tolerance, with the number of items
        that did.
        """
        return dict(
            Counter(change.item.place for change in self.changes[study] if not change.agrees)
        )

    @property
    def other_packages(self) -> list[Used]:
        """Packages that have not the pinned version."""
        return [package for package in self.packages if package.pinned not in ("", package.version)]

    @property
    def agrees(self) -> bool:
        """Whether everything is identical or within tolerance, and nothing is wrong with stored
        files.
        """
        same = all(change.agrees for changes in self.changes.values() for change in changes)
        return same and all(file.agrees for file in self.files) and not self.findings

    def document(self, command: str) -> dict[str, Any]:
        """The outcome as JSON holds it; the same outcome gives the same document."""
        return {
            "schema": f"virtperf-{command}/2",
            "agrees": self.agrees,
            "old": {"name": self.old.name, "commit": self.old.commit},
            "new": {"name": self.new.name, "commit": self.new.commit},
            "packages": {p.name: {"version": p.version, "pinned": p.pinned} for p in self.packages},
            "tolerances": {kind: self.tolerances[kind].model_dump() for kind in KINDS},
            "studies": [
                {
                    "study": study,
                    "counts": {status: self.counts(study)[status] for status in STATUSES},
                    "affected": self.affected(study),
                    "items": [_change(change) for change in changes if change.status != IDENTICAL],
                }
                for study, changes in self.changes.items()
            ],
            "files": {
                status: [asdict(f) for f in self.files if f.status == status]
                for status in STATUSES[1:]
            },
            "identical_files": sum(file.status == IDENTICAL for file in self.files),
            "findings": [asdict(finding) for finding in self.findings],
        }


def _change(change: Change) -> dict[str, Any]:
    item = change.item
    return {
        "place": item.place,
        "label": item.label,
        "field": item.field,
        "status": change.status,
        "widths": _number(change.widths),
        "old": _value(change.old),
        "new": _value(change.new),
    }


def _value(item: Item | None) -> float | str | None:
    if item is None or isinstance(item.value, str):
        return None if item is None else item.value
    return _number(item.value)


def _number(value: float) -> float | str | None:
    """JSON has neither NaN, which becomes null, nor infinity, which becomes a word."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else "infinite" if value > 0 else "-infinite"
