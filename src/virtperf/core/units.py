"""Units: one place where a number changes its unit."""

from __future__ import annotations

from virtperf.core.errors import VirtperfError

_KIND_AND_FACTOR: dict[str, tuple[str, float]] = {
    # fraction-like: the base is 1
    "1": ("number", 1.0),
    "count": ("number", 1.0),
    "%": ("number", 0.01),
    "processors": ("number", 1.0),
    "s/s": ("number", 1.0),
    # time: the base is the second
    "s": ("time", 1.0),
    "ms": ("time", 1e-3),
    "us": ("time", 1e-6),
    "ns": ("time", 1e-9),
    "min": ("time", 60.0),
    # information: the base is the byte; the k of kernel tools is 1024, MB of storage listings is 1024 squared
    "B": ("information", 1.0),
    "KiB": ("information", 1024.0),
    "MiB": ("information", 1024.0**2),
    "GiB": ("information", 1024.0**3),
    "kB": ("information", 1000.0),
    "MB": ("information", 1000.0**2),
    "pages": ("information", 4096.0),
    "sectors": ("information", 512.0),
    # rates: the base is one a second
    "1/s": ("rate", 1.0),
    "1/min": ("rate", 1 / 60),
    "B/s": ("information rate", 1.0),
    "KiB/s": ("information rate", 1024.0),
    "MiB/s": ("information rate", 1024.0**2),
    "pages/s": ("information rate", 4096.0),
    "sectors/s": ("information rate", 512.0),
}

_RATES = {"count": "1/s", "s": "s/s"}


def conversion_factor(source: str, target: str) -> float:
    """What a number in unit `source` is multiplied by to be in unit `target`.

    ``"%"`` is a hundredth: 100 % of one processor is 1 in ``"processors"``.

    Raises
    ------
    VirtperfError
        When a unit is unknown or the two measure different things.
    """
    for unit in (source, target):
        if unit not in _KIND_AND_FACTOR:
            raise VirtperfError(f"unknown unit {unit!r}", expected=f"one of {', '.join(sorted(_KIND_AND_FACTOR))}")
    (kind, factor), (target_kind, target_factor) = _KIND_AND_FACTOR[source], _KIND_AND_FACTOR[target]
    if kind != target_kind:
        raise VirtperfError(f"{source!r} measures {kind}, {target!r} measures {target_kind}: no conversion exists")
    return factor / target_factor


def rate_unit(unit: str) -> str:
    """The unit of a counter's growth per second: ``"KiB"`` gives ``"KiB/s"``, ``"count"`` gives ``"1/s"``.

    Raises
    ------
    VirtperfError
        When no such rate is known.
    """
    rate = _RATES.get(unit, f"{unit}/s")
    if rate not in _KIND_AND_FACTOR:
        raise VirtperfError(f"a counter in {unit!r} has no rate", expected="count, s, B, KiB, MiB, pages or sectors")
    return rate
