"""Quantities of the Universal Scalability Law: the law rewritten in each, for profile likelihood.

Each function solves the law for one coefficient, so that the quantity itself becomes a parameter; the others stay free
inside their bounds. Unit-free ends of a domain (0 for an inverse) stand for "no finite upper limit".
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.profile import Path
from virtperf.models.result import Estimate, t_quantile
from virtperf.models.usl_law import LawResult

METHODS = ("profile", "delta")
LOG_MOST = 700.0  # exp(700) is the largest throughput that is looked at, and stands for infinity
ENDLESS = "no finite upper limit: the data are also compatible with {}"


def peak_load(fit: LawResult, alpha: float, method: str) -> Estimate:
    """Profile of ``v = beta / (1 - alpha) = 1 / N***2``: beta = v (1 - alpha), with (alpha, gamma) free."""
    checks.one_of(method, METHODS, "interval method")
    if fit.kind != "usl":
        raise ModelError(f"{fit.kind} scaling has no peak", remedy='fit kind="usl"')
    a, b, _ = (float(c) for c in fit.coefficients)
    if b < 0 or a >= 1:
        raise ModelError(
            "the fitted curve has no peak", expected="beta >= 0 and alpha < 1", found=f"alpha {a:g}, beta {b:g}"
        )
    v = b / (1 - a)
    if method == "delta":
        if b == 0:
            raise ModelError("the delta method means nothing with beta on its bound", remedy='use method="profile"')
        n = v**-0.5
        return fit.delta(n, np.array([-n / (2 * (1 - a)), -n / (2 * b), 0.0]), alpha)
    found = fit.profile(peak_load_path(fit), alpha, "beta").map(lambda u: u**-0.5 if u > 0 else math.inf)
    return _endless(found, "Amdahl's law, which has no peak")


def peak_load_path(fit: LawResult) -> Path:
    """Return the path of ``v = 1 / N***2`` of a fit with ``alpha < 1``."""
    a, b, g = (float(c) for c in fit.coefficients)

    def embed(c: float, phi: Array) -> tuple[Array, Array]:
        rest = 1 - phi[0]
        return np.array([phi[0], c * rest, phi[1]]), np.array([[1.0, 0.0], [-c, 0.0], [0.0, 1.0]])

    low, high = fit.curve.bounds
    box = np.array([low[0], low[2]]), np.array([1.0, high[2]])
    se = fit.se_of(np.array([b / (1 - a) ** 2, 1 / (1 - a), 0.0]))
    return Path(embed, np.array([a, g]), lambda c: box, b / (1 - a), se, (0.0, math.inf))


def peak_throughput(fit: LawResult, alpha: float, method: str) -> Estimate:
    """Profile of ``log X(N*)`` with ``gamma = X h(alpha, b)``, ``b = sqrt(beta)`` and ``h = N* / (X(N*)/gamma)``.

    ``h = alpha - b**2 + 2 b sqrt(1 - alpha)`` where ``N* > 1``, else 1 (the peak is the first client).
    """
    checks.one_of(method, METHODS, "interval method")
    if fit.kind == "amdahl":
        return asymptote(fit, alpha, method)
    if fit.kind != "usl":
        raise ModelError("linear scaling has no peak", remedy='fit kind="usl"')
    a, b2, g = (float(c) for c in fit.coefficients)
    if b2 < 0 or a > 1:
        raise ModelError(
            "the fitted curve has no peak", expected="beta >= 0 and alpha <= 1", found=f"alpha {a:g}, beta {b2:g}"
        )
    b = math.sqrt(b2)
    h, by_a, by_b = _ceiling(a, b)
    if h <= 0:
        return _endless(
            Estimate(math.inf, _linear_low(fit), math.inf, 1 - alpha, "profile likelihood"), "linear scaling"
        )
    x = g / h
    if method == "delta":
        if b == 0:
            raise ModelError("the delta method means nothing with beta on its bound", remedy='use method="profile"')
        return fit.delta(x, np.array([-x / h * by_a, -x / h * by_b / (2 * b), 1 / h]), alpha)
    # Linear scaling is the limit of an endless peak among loads that were measured.
    path = _linear(fit)
    linear = fit.along(path, 0.0, path.phi).rss
    endless = linear <= fit.rss + t_quantile(fit.df_resid, alpha) ** 2 * fit.scale
    path = peak_throughput_path(fit)
    if endless:
        path = replace(path, domain=(-LOG_MOST, path.value))
    found = fit.profile(path, alpha, "peak throughput")
    high = math.exp(found.high) if found.high < LOG_MOST and not endless else math.inf
    low = math.exp(found.low) if found.low > -LOG_MOST else 0.0
    why = "linear scaling, which has no peak" if endless else "any throughput of a load of one"
    return _endless(Estimate(x, low, high, 1 - alpha, found.method), why)


def peak_throughput_path(fit: LawResult) -> Path:
    """Return the path of ``log X(N*)`` of a fit that has a finite one."""
    a, b, g = (float(c) for c in fit.coefficients)
    b = math.sqrt(b)
    h, by_a, by_b = _ceiling(a, b)

    def embed(c: float, phi: Array) -> tuple[Array, Array]:
        p, q = phi
        top = math.exp(c)
        h, by_p, by_q = _ceiling(p, q)
        tangent = np.array([[1.0, 0.0], [0.0, 2 * q], [top * by_p, top * by_q]])
        return np.array([p, q * q, top * h]), tangent

    box = np.array([fit.curve.bounds[0][0], 0.0]), np.array([1.0, math.inf])
    se = fit.se_of(np.array([-by_a / h, -by_b / (2 * b) / h if b > 0 else 0.0, 1 / g]))
    # Where the curve is nearly linear the error of log X is far too large, and a fit so far away is slow.
    return Path(embed, np.array([a, b]), lambda c: box, math.log(g / h), min(se, 0.25), (-LOG_MOST, LOG_MOST))


def asymptote(fit: LawResult, alpha: float, method: str) -> Estimate:
    """Profile of ``u = alpha / gamma``: alpha = u gamma, with beta and gamma free; ``u = 0`` has no asymptote."""
    checks.one_of(method, METHODS, "interval method")
    if fit.kind == "linear":
        raise ModelError("linear scaling has no asymptote", remedy='fit kind="usl" or kind="amdahl"')
    a, _, g = (float(c) for c in fit.coefficients)
    if method == "delta":
        if a == 0:
            raise ModelError("the delta method means nothing with alpha on its bound", remedy='use method="profile"')
        return fit.delta(g / a, np.array([-g / a**2, 0.0, 1 / a]), alpha)
    found = fit.profile(asymptote_path(fit), alpha, "alpha").map(lambda u: 1 / u if u > 0 else math.inf)
    return _endless(found, "no contention")


def asymptote_path(fit: LawResult) -> Path:
    """Return the path of ``u = alpha / gamma``."""
    a, b, g = (float(c) for c in fit.coefficients)
    rows = [0, 2] if fit.kind == "amdahl" else [0, 1, 2]
    free = slice(1, 2) if fit.kind == "amdahl" else slice(0, 2)

    def embed(c: float, phi: Array) -> tuple[Array, Array]:
        gamma = phi[-1]
        beta = phi[0] if len(phi) == 2 else 0.0
        tangent = np.array([[0.0, c], [1.0, 0.0], [0.0, 1.0]])
        return np.array([c * gamma, beta, gamma])[rows], tangent[rows, free]

    low, _ = fit.curve.bounds

    def bounds(c: float) -> tuple[Array, Array]:
        top = 1 / c if c > 0 else math.inf
        return np.array([low[1] if len(low) == 3 else 0.0, 0.0])[free], np.array([math.inf, top])[free]

    phi = np.array([b, g])[free]
    return Path(embed, phi, bounds, a / g, fit.se_of(np.array([1 / g, 0.0, -a / g**2])), (0.0, math.inf))


def efficiency(fit: LawResult, load: float, alpha: float, method: str) -> Estimate:
    """Profile of ``c = 1/E - 1 = (N - 1)(alpha + beta N)``: alpha = c / (N - 1) - beta N, with beta and gamma free."""
    checks.one_of(method, METHODS, "interval method")
    if not (math.isfinite(load) and load >= 1):
        raise ModelError("efficiency needs a load", expected="a finite number of at least 1", found=repr(load))
    a, b, g = (float(c) for c in fit.coefficients)
    if load == 1 or fit.kind == "linear":
        return Estimate(1.0, 1.0, 1.0, 1 - alpha, "delta" if method == "delta" else "profile likelihood")
    n, more = float(load), float(load) - 1
    cost = more * (a + b * n)
    if method == "delta":
        e = 1 / (1 + cost)
        return fit.delta(e, -(e**2) * np.array([more, more * n, 0.0]), alpha)
    rows = [0, 2] if fit.kind == "amdahl" else [0, 1, 2]
    free = slice(1, 2) if fit.kind == "amdahl" else slice(0, 2)
    tangent = np.array([[-n, 0.0], [1.0, 0.0], [0.0, 1.0]])[rows, free]
    bounded = bool(np.all(np.isfinite(fit.curve.bounds[0])))

    def embed(c: float, phi: Array) -> tuple[Array, Array]:
        beta = phi[0] if len(phi) == 2 else 0.0
        return np.array([c / more - beta * n, beta, phi[-1]])[rows], tangent

    def bounds(c: float) -> tuple[Array, Array]:
        if not bounded:
            return np.array([-math.inf, -math.inf])[free], np.array([math.inf, math.inf])[free]
        # 0 <= alpha <= 1, written as bounds of beta.
        least, most = max(0.0, (c / more - 1) / n), c / more / n
        return np.array([least, 0.0])[free], np.array([max(most, least), math.inf])[free]

    top = more if fit.kind == "amdahl" and bounded else math.inf
    phi = np.array([b, g])[free]
    domain = (0.0 if bounded else -1.0, top)
    path = Path(embed, phi, bounds, cost, fit.se_of(np.array([more, more * n, 0.0])), domain)
    return fit.profile(path, alpha, "efficiency").map(lambda c: 1 / (1 + c) if c > -1 else math.inf)


def _ceiling(a: float, b: float) -> tuple[float, float, float]:
    """Return gamma / X(max(N*, 1)) and its derivatives in alpha and b = sqrt(beta)."""
    rest = math.sqrt(max(1 - a, 0.0))
    if b >= rest:
        return 1.0, 0.0, 0.0
    return a - b * b + 2 * b * rest, 1 - b / rest, -2 * b + 2 * rest


def _linear(fit: LawResult) -> Path:
    """Path of linear scaling: alpha = beta = 0 whatever c is."""
    tangent = np.array([[0.0], [0.0], [1.0]])
    box = np.array([0.0]), np.array([math.inf])
    return Path(
        lambda c, phi: (np.array([0.0, 0.0, phi[0]]), tangent), fit.params[-1:], lambda c: box, 0.0, 0.0, (0, 0)
    )


def _linear_low(fit: LawResult) -> float:
    """Throughput that was observed in any case: a floor of the peak when the best fit is linear scaling."""
    return float(fit.fittedvalues.max())


def _endless(found: Estimate, why: str) -> Estimate:
    if found.high < math.inf:
        return found
    return Estimate(
        found.value, found.low, found.high, found.level, found.method, (*found.warnings, ENDLESS.format(why))
    )
