"""Units and their conversion factors."""

from __future__ import annotations

from rawperf.core.errors import RawperfError

Dimension = tuple[int, int]
"""Exponents of time and of information."""

_DIMENSIONS: dict[Dimension, str] = {
    (0, 0): "number",
    (1, 0): "time",
    (0, 1): "information",
    (-1, 0): "rate",
    (-1, 1): "information rate",
}

_UNITS: dict[Dimension, dict[str, float]] = {
    (0, 0): {
        "1": 1.0,
        "count": 1.0,
        "%": 0.01,
        "processors": 1.0,
        "CPUs": 1.0,
        "IFLs": 1.0,
        "s/s": 1.0,
        "ms/s": 1e-3,
        "us/s": 1e-6,
        "ns/s": 1e-9,
    },
    (1, 0): {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0},
    # base unit: byte; the k of kernel tools is 1024, MB of storage listings is 1024 squared
    (0, 1): {
        "B": 1.0,
        "KiB": 1024.0,
        "MiB": 1024.0**2,
        "GiB": 1024.0**3,
        "kB": 1000.0,
        "MB": 1000.0**2,
        "GB": 1000.0**3,
        "pages": 4096.0,
        "sectors": 512.0,
        "bit": 0.125,
        "kbit": 125.0,
        "Mbit": 125.0e3,
        "Gbit": 125.0e6,
    },
    (-1, 0): {"1/s": 1.0, "1/min": 1 / 60},
    (-1, 1): {
        "B/s": 1.0,
        "KiB/s": 1024.0,
        "MiB/s": 1024.0**2,
        "GiB/s": 1024.0**3,
        "kB/s": 1000.0,
        "MB/s": 1000.0**2,
        "GB/s": 1000.0**3,
        "pages/s": 4096.0,
        "sectors/s": 512.0,
        "bit/s": 0.125,
        "kbit/s": 125.0,
        "Mbit/s": 125.0e3,
        "Gbit/s": 125.0e6,
    },
}
_UNITS_BY_NAME = {
    unit: (dimension, factor)
    for dimension, units in _UNITS.items()
    for unit, factor in units.items()
}

_RATES = {"count": "1/s", "s": "s/s"}


def conversion_factor(source: str, target: str, *, per: str = "1") -> float:
    """Factor that converts unit `source`, divided by unit `per`, into unit `target`.

    ``"%"`` is a hundredth: 100 % of one processor is 1 in ``"processors"``. Raises `RawperfError`
    for an unknown unit, and for two units of different dimensions.
    """
    divided = source if per == "1" else f"{source} per {per}"
    parsed_units = [_lookup_unit(unit) for unit in (source, per, target)]
    for unit, parsed in zip((source, per, target), parsed_units, strict=True):
        if parsed is None:
            raise RawperfError(
                f"no conversion is known from {divided!r} to {target!r}",
                found=f"the unknown unit {unit!r}",
                expected=f"one of {', '.join(sorted(_UNITS_BY_NAME))}, or a rate of counted items, such as requests/s",
            )
    (dimension, factor), (per_dimension, divisor), (expected, base) = (
        parsed for parsed in parsed_units if parsed
    )
    dimension = (dimension[0] - per_dimension[0], dimension[1] - per_dimension[1])
    if dimension != expected:
        measures = _DIMENSIONS.get(dimension, "something else")
        raise RawperfError(
            f"{divided!r} measures {measures}, {target!r} measures {_DIMENSIONS[expected]}: no conversion exists"
        )
    return factor / divisor / base


def _lookup_unit(unit: str) -> tuple[Dimension, float] | None:
    """Dimension and factor of a unit; counted items, such as ``requests/s``, are a rate."""
    counted, slash, time = unit.rpartition("/")
    if unit not in _UNITS_BY_NAME and slash and counted.isalpha() and counted not in _UNITS_BY_NAME:
        return _UNITS_BY_NAME.get(f"1/{time}")
    return _UNITS_BY_NAME.get(unit)


_BASE_UNITS = {(1, 0): "s", (0, 1): "B", (-1, 0): "1/s", (-1, 1): "B/s"}


def measured_by(unit: str) -> str:
    """What a unit measures, such as ``time`` or ``information rate``; "" for an unknown unit."""
    known = _lookup_unit(unit)
    return _DIMENSIONS.get(known[0], "") if known else ""


def is_unit(unit: str) -> bool:
    """Whether a unit is known; ``requests/s`` is, as a rate of counted items."""
    return _lookup_unit(unit) is not None


def base_unit(unit: str) -> str:
    """Unit to which all units of the same dimension are converted: ``"ms"`` gives ``"s"``.

    Plain numbers, counted items such as ``requests/s``, and unknown units stay as they are.
    """
    parsed = _UNITS_BY_NAME.get(unit)
    return _BASE_UNITS.get(parsed[0], unit) if parsed else unit


def rate_unit(unit: str) -> str:
    """Unit of a counter's rate: ``"KiB"`` gives ``"KiB/s"``; raises `RawperfError` if it has none."""
    rate = _RATES.get(unit, f"{unit}/s")
    if rate not in _UNITS_BY_NAME:
        raise RawperfError(
            f"a counter in {unit!r} has no rate",
            expected="count, s, B, KiB, MiB, pages, sectors or bit",
            remedy="write kind: gauge beside the unit if the number is a rate already, or a value "
            "at one time; a counter grows from sample to sample.",
        )
    return rate
