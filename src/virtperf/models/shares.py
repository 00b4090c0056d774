"""Proportional-share allocation of processors to guests under contention."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array

EXCESS_RULES = ("proportional", "largest")
MAX_SHARE = 10_000.0
"""Maximum relative share accepted by SET SHARE of z/VM."""


@dataclass(frozen=True)
class GuestShare:
    """A virtual machine with its share of the real processors.

    Parameters
    ----------
    share : float
        Relative, up to 10,000; the default of z/VM is 100.
    virtual_cpus : int
        Each virtual CPU uses at most one real one.
    demand : float, optional
        Real processors the guest would use without contention; default: its number of virtual
        CPUs.
    """

    name: str
    share: float
    virtual_cpus: int = 1
    demand: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.share <= MAX_SHARE:
            raise ModelError(
                f"the share of {self.name} is out of range",
                expected=f"above 0, at most {MAX_SHARE:g}",
                found=repr(self.share),
            )
        if self.virtual_cpus < 1 or self.virtual_cpus != int(self.virtual_cpus):
            raise ModelError(
                f"the number of virtual CPUs of {self.name} must be a positive integer",
                found=repr(self.virtual_cpus),
            )
        if self.demand is not None and not (math.isfinite(self.demand) and self.demand >= 0):
            raise ModelError(
                f"the demand of {self.name} must not be negative", found=repr(self.demand)
            )

    @property
    def ceiling(self) -> float:
        """Upper bound of the guest's allocation, in real processors."""
        return min(float(self.virtual_cpus), math.inf if self.demand is None else self.demand)


def shares(
    frame: pd.DataFrame,
    *,
    guest: str,
    share: str,
    processors: float = 1.0,
    demand: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Allocate processors to guests by relative shares, with and without z/VM's error in the
    distribution of excess share.

    Parameters
    ----------
    frame : DataFrame
        One row per guest: its name in the column `guest`, its relative share (of z/VM) or weight
        (of Xen) in `share`.
    processors : float
        Number of real processors. Every guest can use all of them.
    demand : mapping of str to float, optional
        Processors demanded by a guest; default all.

    Returns
    -------
    DataFrame
        The rows of `frame`, including their columns of origin, with `entitled`, `proportional` and
        `largest` in per cent of one processor: the normalized share, and the allocation under each
        rule of `allocate`.

    Raises
    ------
    ModelError
        A missing column, a demand of an unknown guest, or as raised by `GuestShare` and `allocate`.
    """
    for column in (guest, share):
        checks.require_one_of(column, tuple(map(str, frame.columns)), "column of the frame")
    names, demands = [str(name) for name in frame[guest]], demand or {}
    for name in demands:
        checks.require_one_of(name, tuple(names), "guest with a demand")
    cpus = math.ceil(processors)
    values = frame[share].astype(float)
    guests = [
        GuestShare(name, value, cpus, demands.get(name))
        for name, value in zip(names, values, strict=True)
    ]
    allocated = {rule: allocate(guests, processors, excess=rule) for rule in EXCESS_RULES}
    return frame.assign(
        entitled=100 * allocated["proportional"]["entitlement"].to_numpy(),
        **{rule: 100 * table["allocation"].to_numpy() for rule, table in allocated.items()},
    )


def allocate(
    guests: Sequence[GuestShare], processors: float, *, excess: str = "proportional"
) -> pd.DataFrame:
    """Compute the long-run allocation of real processors to guests (with distinct names).

    Shares are normalized over the guests that want to run (demand above 0): these are the
    entitlements. Capacity that a guest can't use, because of its demand or its number of virtual
    CPUs, goes to the others in proportion to their entitlements, until the processors or the
    demands are exhausted: each gets ``min(ceiling, level x entitlement)`` with a common level.

    Parameters
    ----------
    excess : {"proportional", "largest"}
        Distribution of unused shares: in proportion to entitlements, or, by an error in z/VM, to
        the guest with the largest entitlement that wants more, then the next. Convention: ties go
        to the first.

    Returns
    -------
    DataFrame
        One row per guest, in the given order: ``guest``; ``entitlement`` and ``allocation`` in
        real processors.

    Notes
    -----
    The rule is the declared intent of z/VM ("CP Scheduler Improvements", z/VM 6.4 performance
    report, for the excess). Real dispatching differs in the short run. `excess="largest"` is the
    error described by one example in "z/VM performance update" (2011); the choice of the largest
    entitlement is our reading of it, since no rule is printed.
    """
    checks.require_one_of(excess, EXCESS_RULES, "excess")
    names = [guest.name for guest in guests]
    if not guests:
        raise ModelError("there are no guests", expected="at least one")
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ModelError(f"several guests are named {duplicates[0]!r}", expected="different names")
    if not (math.isfinite(processors) and processors > 0):
        raise ModelError("the number of processors must be positive", found=repr(processors))
    ceiling = np.array([guest.ceiling for guest in guests])
    share = np.array([guest.share for guest in guests]) * (ceiling > 0)
    entitled = share / (math.fsum(share) or 1.0) * processors
    allocated = (
        fill(ceiling, entitled, processors)
        if excess == "proportional"
        else _largest_first(ceiling, entitled, processors)
    )
    return pd.DataFrame({"guest": names, "entitlement": entitled, "allocation": allocated})


def fill(ceilings: Array, weights: Array, total: float) -> Array:
    """Water-filling: return ``min(ceiling, level x weight)`` with the level at which the sum is
    `total`.

    Parameters
    ----------
    ceilings, weights : ndarray, shape (n,)
        Not negative; a weight of zero gets nothing.
    total : float
        If the ceilings sum to less, the result equals the ceilings.
    """
    out = np.zeros(len(ceilings))
    open_ = np.flatnonzero((weights > 0) & (ceilings > 0))
    # In the order in which a rising level reaches the ceilings; the level follows from the
    # remaining total and weights.
    order = open_[np.argsort(ceilings[open_] / weights[open_], kind="stable")]
    rest = total
    for i, place in enumerate(order):
        level = rest / math.fsum(weights[order[i:]])
        if level * weights[place] < ceilings[place]:
            out[order[i:]] = level * weights[order[i:]]
            break
        out[place] = ceilings[place]
        rest -= ceilings[place]
    return out


def _largest_first(ceilings: Array, entitled: Array, total: float) -> Array:
    """Allocate entitlements up to the ceilings; the rest in order of entitlements, each up to its
    ceiling.
    """
    out = np.minimum(ceilings, entitled)
    for place in np.argsort(-entitled, kind="stable"):
        if entitled[place] > 0:
            out[place] += min(ceilings[place] - out[place], max(total - math.fsum(out), 0.0))
    return out
