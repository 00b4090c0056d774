"""Histogram buckets: each is an entity, with bounds and unit encoded in its name."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

BUCKET = "bucket"
"""Entity kind of buckets; their values are counts."""
_NUMBER = r"-?(?:inf|[\d.]+(?:e[+-]?\d+)?)"
_NAME = re.compile(
    rf"(?:(?P<owner>.*) )?(?P<lower>{_NUMBER}) to (?P<upper>{_NUMBER}) (?P<unit>[^\s#]+)"
    r"(?P<again>#\d+)?"
)


@dataclass(frozen=True, order=True)
class Bucket:
    """Values from `lower` to `upper`, in `unit`; `owner` is the entity of the histogram."""

    lower: float
    upper: float
    unit: str
    owner: str = ""

    @property
    def name(self) -> str:
        """Entity name: ``vda 128 to 256 us``; an open end is ``inf``."""
        bounds = f"{_format_bound(self.lower)} to {_format_bound(self.upper)} {self.unit}"
        return f"{self.owner} {bounds}".lstrip()


def parse_bucket(entity: str) -> Bucket | None:
    """Parse the name of an entity as a bucket; None if it is not one."""
    match = _NAME.fullmatch(entity)
    if match is None:
        return None
    try:
        lower, upper = float(match["lower"]), float(match["upper"])
    except ValueError:
        return None
    if math.isnan(lower) or math.isnan(upper) or lower > upper:
        return None
    return Bucket(lower, upper, match["unit"], (match["owner"] or "") + (match["again"] or ""))


def _format_bound(bound: float) -> str:
    return f"{bound:.12g}"
