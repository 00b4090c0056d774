"""The curves of NIST's Statistical Reference Datasets for nonlinear regression, with analytic Jacobians.

https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml; `CURVES` has one entry for each of the 27 sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from virtperf.core.errors import ModelError
from virtperf.models.checks import Array
from virtperf.models.nls import Curve

Both = Callable[[Array, Array], tuple[Array, list[Array]]]
"""``(x, b) -> values, columns of the Jacobian``: the two share most of their terms."""


def _saturation(x: Array, b: Array) -> tuple[Array, list[Array]]:
    rise = -np.expm1(-b[1] * x)
    return b[0] * rise, [rise, b[0] * x * np.exp(-b[1] * x)]


def _misra1b(x: Array, b: Array) -> tuple[Array, list[Array]]:
    base = 1 + b[1] * x / 2
    rise = 1 - base**-2
    return b[0] * rise, [rise, b[0] * x * base**-3]


def _misra1c(x: Array, b: Array) -> tuple[Array, list[Array]]:
    base = 1 + 2 * b[1] * x
    rise = 1 - base**-0.5
    return b[0] * rise, [rise, b[0] * x * base**-1.5]


def _misra1d(x: Array, b: Array) -> tuple[Array, list[Array]]:
    base = 1 + b[1] * x
    rise = b[1] * x / base
    return b[0] * rise, [rise, b[0] * x / base**2]


def _power(x: Array, b: Array) -> tuple[Array, list[Array]]:
    power = x ** b[1]
    return b[0] * power, [power, b[0] * power * np.log(x)]


def _bennett5(x: Array, b: Array) -> tuple[Array, list[Array]]:
    base = b[1] + x
    power = base ** (-1 / b[2])
    y = b[0] * power
    return y, [power, -y / (b[2] * base), y * np.log(base) / b[2] ** 2]


def _chwirut(x: Array, b: Array) -> tuple[Array, list[Array]]:
    under = b[1] + b[2] * x
    y = np.exp(-b[0] * x) / under
    return y, [-x * y, -y / under, -x * y / under]


def _exponentials(x: Array, b: Array) -> tuple[Array, list[Array]]:
    """Sum of ``b[k] exp(-b[k + 1] x)`` over even k."""
    columns = []
    for size, rate in zip(b[::2], b[1::2], strict=True):
        decay = np.exp(-rate * x)
        columns += [decay, -size * x * decay]
    return sum(size * c for size, c in zip(b[::2], columns[::2], strict=True)), columns


def _mgh17(x: Array, b: Array) -> tuple[Array, list[Array]]:
    first, second = np.exp(-x * b[3]), np.exp(-x * b[4])
    y = b[0] + b[1] * first + b[2] * second
    return y, [np.ones_like(x), first, second, -b[1] * x * first, -b[2] * x * second]


def _mgh10(x: Array, b: Array) -> tuple[Array, list[Array]]:
    under = x + b[2]
    growth = np.exp(b[1] / under)
    y = b[0] * growth
    return y, [growth, y / under, -y * b[1] / under**2]


def _gauss(x: Array, b: Array) -> tuple[Array, list[Array]]:
    """A decaying base line and two bells."""
    base = np.exp(-b[1] * x)
    y, columns = b[0] * base, [base, -b[0] * x * base]
    for height, centre, width in (b[2:5], b[5:8]):
        z = (x - centre) / width
        bell = np.exp(-(z**2))
        y = y + height * bell
        columns += [bell, 2 * height * bell * z / width, 2 * height * bell * z**2 / width]
    return y, columns


def _eckerle4(x: Array, b: Array) -> tuple[Array, list[Array]]:
    z = (x - b[2]) / b[1]
    bell = np.exp(-0.5 * z**2) / b[1]
    y = b[0] * bell
    return y, [bell, y * (z**2 - 1) / b[1], y * z / b[1]]


def _enso(x: Array, b: Array) -> tuple[Array, list[Array]]:
    """A year of 12 months and two cycles of unknown length."""
    year = 2 * np.pi * x / 12
    y = b[0] + b[1] * np.cos(year) + b[2] * np.sin(year)
    columns = [np.ones_like(x), np.cos(year), np.sin(year)]
    for period, even, odd in (b[3:6], b[6:9]):
        turn = 2 * np.pi * x / period
        cos, sin = np.cos(turn), np.sin(turn)
        y = y + even * cos + odd * sin
        columns += [turn / period * (even * sin - odd * cos), cos, sin]
    return y, columns


def _roszman1(x: Array, b: Array) -> tuple[Array, list[Array]]:
    under = x - b[3]
    bend = math.pi * (under**2 + b[2] ** 2)
    y = b[0] - b[1] * x - np.arctan(b[2] / under) / math.pi
    return y, [np.ones_like(x), -x, -under / bend, -b[2] / bend]


def _nelson(x: Array, b: Array) -> tuple[Array, list[Array]]:
    time, temperature = x.T
    wear = time * np.exp(-b[2] * temperature)
    return b[0] - b[1] * wear, [np.ones_like(time), -wear, b[1] * temperature * wear]


def _mgh09(x: Array, b: Array) -> tuple[Array, list[Array]]:
    over, under = x * x + x * b[1], x * x + x * b[2] + b[3]
    y = b[0] * over / under
    return y, [over / under, b[0] * x / under, -y * x / under, -y / under]


def _rational(x: Array, b: Array) -> tuple[Array, list[Array]]:
    """Two polynomials of the same degree, of which the lower one begins with 1."""
    degree = len(b) // 2
    powers = [x**k for k in range(degree + 1)]
    over = sum(c * p for c, p in zip(b[: degree + 1], powers, strict=True))
    under = 1 + sum(c * p for c, p in zip(b[degree + 1 :], powers[1:], strict=True))
    y = over / under
    return y, [*(p / under for p in powers), *(-y * p / under for p in powers[1:])]


def _rat42(x: Array, b: Array) -> tuple[Array, list[Array]]:
    e = np.exp(b[1] - b[2] * x)
    slope = b[0] * e / (1 + e) ** 2
    return b[0] / (1 + e), [1 / (1 + e), -slope, slope * x]


def _rat43(x: Array, b: Array) -> tuple[Array, list[Array]]:
    e = np.exp(b[1] - b[2] * x)
    y = b[0] / (1 + e) ** (1 / b[3])
    slope = y * e / (b[3] * (1 + e))
    return y, [y / b[0], -slope, slope * x, y * np.log1p(e) / b[3] ** 2]


CURVES: dict[str, tuple[str, Both]] = {
    "Bennett5": ("b1 (b2 + x)**(-1/b3)", _bennett5),
    "BoxBOD": ("b1 (1 - exp(-b2 x))", _saturation),
    "Chwirut1": ("exp(-b1 x)/(b2 + b3 x)", _chwirut),
    "Chwirut2": ("exp(-b1 x)/(b2 + b3 x)", _chwirut),
    "DanWood": ("b1 x**b2", _power),
    "ENSO": ("b1 + a year + two cycles of lengths b4 and b7", _enso),
    "Eckerle4": ("(b1/b2) exp(-((x - b3)/b2)**2/2)", _eckerle4),
    "Gauss1": ("b1 exp(-b2 x) + two bells", _gauss),
    "Gauss2": ("b1 exp(-b2 x) + two bells", _gauss),
    "Gauss3": ("b1 exp(-b2 x) + two bells", _gauss),
    "Hahn1": ("cubic/cubic", _rational),
    "Kirby2": ("quadratic/quadratic", _rational),
    "Lanczos1": ("three exponentials", _exponentials),
    "Lanczos2": ("three exponentials", _exponentials),
    "Lanczos3": ("three exponentials", _exponentials),
    "MGH09": ("b1 (x**2 + b2 x)/(x**2 + b3 x + b4)", _mgh09),
    "MGH10": ("b1 exp(b2/(x + b3))", _mgh10),
    "MGH17": ("b1 + b2 exp(-b4 x) + b3 exp(-b5 x)", _mgh17),
    "Misra1a": ("b1 (1 - exp(-b2 x))", _saturation),
    "Misra1b": ("b1 (1 - (1 + b2 x/2)**-2)", _misra1b),
    "Misra1c": ("b1 (1 - (1 + 2 b2 x)**-0.5)", _misra1c),
    "Misra1d": ("b1 b2 x/(1 + b2 x)", _misra1d),
    "Nelson": ("log(y) = b1 - b2 x1 exp(-b3 x2)", _nelson),
    "Rat42": ("b1/(1 + exp(b2 - b3 x))", _rat42),
    "Rat43": ("b1/(1 + exp(b2 - b3 x))**(1/b4)", _rat43),
    "Roszman1": ("b1 - b2 x - arctan(b3/(x - b4))/pi", _roszman1),
    "Thurber": ("cubic/cubic", _rational),
}


def curve(name: str, size: int) -> Curve:
    """Return the curve of a set with its parameters ``b1, b2, ...``.

    Parameters
    ----------
    name : str
        NIST's name of the set.
    size : int
        Number of parameters.

    Raises
    ------
    ModelError
        If NIST has no such set.
    """
    if name not in CURVES:
        raise ModelError(f"NIST has no nonlinear set {name}", expected=", ".join(CURVES))
    formula, both = CURVES[name]
    return Curve(
        f"{name}: {formula}",
        tuple(f"b{k + 1}" for k in range(size)),
        lambda x, b: both(x, b)[0],
        lambda x, b: np.column_stack(both(x, b)[1]),
    )
