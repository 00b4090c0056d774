"""Content-addressed cache of parsed runs."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rawperf import ExternalFormat, all_formats
from rawperf.core.files import hash_file, write_atomically

if TYPE_CHECKING:
    from virtperf.study.definition import Study

SOURCES = ("rawperf", "virtperf/core", "virtperf/runs", "virtperf/study")
"""Code that parsing a run depends on, relative to the folder of both packages; a change of any file
invalidates the cache."""
LIBRARIES = ("defusedxml", "numpy", "pandas", "pyarrow", "pydantic", "pyyaml")
OWN_PACKAGES = ("rawperf", "virtperf")
SETTINGS_PREFIX = "VIRTPERF_"


def content_key(*parts: str) -> str:
    """Hash a list of strings, unambiguously (by JSON encoding)."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def fingerprint(study: Study, metrics: Path) -> str:
    """Hash all inputs of parsing except the run itself: code, libraries, dictionary, study.

    Environment variables of the package that name a file or a folder (user-defined layouts and
    declarations) are included by content, external programs of a format by version.
    """
    source = Path(__file__).parents[3]
    parts = [hash_file(metrics)[0], hash_file(study.folder / "study.yaml")[0]]
    for name in SOURCES:
        files = sorted(
            p for p in (source / name).rglob("*") if p.suffix in (".py", ".yaml", ".json")
        )
        parts += [f"{p.relative_to(source)} {hash_file(p)[0]}" for p in files]
    parts += [f"{name} {metadata.version(name)}" for name in LIBRARIES]
    formats = {
        name: (type(fmt).__module__.partition(".")[0], fmt) for name, fmt in all_formats().items()
    }
    foreign = any(top not in OWN_PACKAGES for top, _ in formats.values())
    distributions = metadata.packages_distributions() if foreign else {}
    for name, (top, fmt) in formats.items():
        owners = sorted(distributions.get(top, ())) if top not in OWN_PACKAGES else []
        outside = fmt.external_version() if isinstance(fmt, ExternalFormat) else ""
        parts.append(f"{name} {[(owner, metadata.version(owner)) for owner in owners]} {outside}")
    for name, value in sorted(os.environ.items()):
        if name.startswith(SETTINGS_PREFIX):
            place = Path(value)
            named = (
                sorted(place.glob("*.yaml"))
                if place.is_dir()
                else [place]
                if place.is_file()
                else []
            )
            parts += [f"{name} {path.name} {hash_file(path)[0]}" for path in named]
    return content_key(*parts)


@dataclass(frozen=True)
class Cache:
    """Cache folder with a JSON entry per key and, optionally, a data file next to it.

    A damaged or incomplete entry counts as a cache miss.
    """

    folder: Path

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the entry of a key; None on a miss, or if its data file is damaged."""
        try:
            stored = json.loads(self._path(key, ".json").read_bytes())
            if stored["file"] is not None and hash_file(self.place(key))[0] != stored["file"]:
                return None
            return stored["entry"]
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, entry: dict[str, Any], *, file: bool = False) -> None:
        """Store an entry; with `file`, its data file has been written to `place`."""
        digest = hash_file(self.place(key))[0] if file else None
        text = json.dumps({"file": digest, "entry": entry}, allow_nan=False)
        write_atomically(self._path(key, ".json"), text)

    def place(self, key: str) -> Path:
        """Path of the data file of a key."""
        return self._path(key, ".parquet")

    def _path(self, key: str, suffix: str) -> Path:
        return self.folder / key[:2] / f"{key}{suffix}"
