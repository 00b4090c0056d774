"""Element paths of iwlengine's XML files: ``xml_mapping.yaml``, with assumed names, or a user's own."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rawperf.core.errors import RawperfError
from rawperf.core.units import conversion_factor
from rawperf.core.yamlio import load_yaml

MAPPING_VARIABLE = "VIRTPERF_IWL_XML_MAPPING"
SHIPPED_MAPPING = Path(__file__).with_name("xml_mapping.yaml")
HMS = "HH:MM:SS"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Mapping:
    """Paths of the numbers in a document."""

    snapshot: tuple[str, ...]  # element names from the root to the repeated element
    time: str  # path of the elapsed time below the snapshot
    time_unit: str  # a unit of time, or HH:MM:SS
    time_factor: float  # seconds in one printed unit of time
    report: str
    entity_kind: str
    # path below the snapshot -> field name, factor of the printed number
    fields: dict[str, tuple[str, float]]


def load_mapping(path: Path | str) -> Mapping:
    """Read a mapping file; raises `StudyError` (with its line) if it is invalid."""
    path = Path(path)
    return _load_mapping(path, path.stat().st_mtime_ns if path.is_file() else 0)


def mapping_in_use() -> Mapping:
    """Read the mapping that the environment names, else the packaged one."""
    return load_mapping(os.environ.get(MAPPING_VARIABLE) or SHIPPED_MAPPING)


@lru_cache(maxsize=16)
def _load_mapping(path: Path, _version: int) -> Mapping:
    document = load_yaml(path)

    def text(where: tuple[str | int, ...], default: str | None = None) -> str:
        part: Any = document.data
        try:
            for key in where:
                part = part[key]
        except (KeyError, TypeError):
            part = default
        if not isinstance(part, str):
            raise document.error(f"{'/'.join(map(str, where))} is missing or not text", *where)
        return part

    def steps(where: tuple[str | int, ...], attribute: bool = True) -> str:
        path = text(where)
        *above, last = path.split("/")
        if not all(
            NAME.fullmatch(name) for name in (*above, last.removeprefix("@") if attribute else last)
        ):
            raise document.error(
                f"{path!r} is not a path", *where, expected="element names joined by '/'"
            )
        return path

    def factor(where: tuple[str | int, ...], unit: str, to: str) -> float:
        try:
            return conversion_factor(unit, to)
        except RawperfError as err:
            raise document.error(str(err), *where) from err

    if "/" not in text(("snapshot",)):
        raise document.error(
            "snapshot is the root element itself", "snapshot", expected="root/element"
        )
    field_entries = document.data.get("fields")
    if not isinstance(field_entries, list) or not field_entries:
        raise document.error("fields is missing or not a list", "fields")
    fields: dict[str, tuple[str, float]] = {}
    for i in range(len(field_entries)):
        unit = text(("fields", i, "unit"))
        scale = factor(("fields", i, "unit"), unit, text(("fields", i, "to"), unit))
        fields[steps(("fields", i, "path"))] = (text(("fields", i, "field")), scale)
    time_unit = text(("time", "unit"))
    return Mapping(
        snapshot=tuple(steps(("snapshot",), attribute=False).split("/")),
        time=steps(("time", "path")),
        time_unit=time_unit,
        time_factor=1.0 if time_unit == HMS else factor(("time", "unit"), time_unit, "s"),
        report=text(("report",), "snapshot"),
        entity_kind=text(("entity_kind",), "driver"),
        fields=fields,
    )
