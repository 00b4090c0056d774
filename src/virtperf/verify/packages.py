"""Versions of the packages that decide results, beside those that the repository pins."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

PACKAGES = (
    "virtperf", "numpy", "pandas", "scipy", "statsmodels", "cvxpy", "highspy", "matplotlib", "seaborn", "pyarrow",
    "pyyaml", "defusedxml", "pydantic", "papermill", "ipykernel", "nbconvert", "nbformat", "jinja2", "pygments",
    "mistune",
)  # fmt: skip
_PIN = re.compile(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", re.M)


@dataclass(frozen=True)
class Used:
    """A package's version and the one that `requirements.lock` pins; empty where it is unknown."""

    name: str
    version: str
    pinned: str

    @property
    def as_pinned(self) -> bool:
        """Whether it is the pinned one, or nothing is pinned."""
        return self.pinned in ("", self.version)


def packages(root: Path) -> list[Used]:
    """Python and the packages that read, compute, draw or write what is compared."""
    lock = root / "requirements.lock"
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    pins = {name.lower().replace("_", "-"): pinned for name, pinned in _PIN.findall(text)}
    found = [Used("python", platform.python_version(), "")]
    for name in PACKAGES:
        try:
            found.append(Used(name, metadata.version(name), pins.get(name, "")))
        except metadata.PackageNotFoundError:
            found.append(Used(name, "", pins.get(name, "")))
    return found
