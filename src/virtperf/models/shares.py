"""Relative processor shares of guests: who gets how much when not everybody can get what they
want.
"""

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
"""The largest relative share that SET SHARE of z/VM takes."""


@dataclass(frozen=True)
class GuestShare:
    """A virtual machine and its claim to the real processors.

    Parameters
    ----------
    share : float
        Relative, up to 10,000; the default of z/VM is 100.
    virtual_cpus : int
        A virtual CPU never gets more than one real one.
    demand : float, optional
        Real processors that the guest would keep busy if it had them; default as many as it has
        virtual CPUs.
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
                f"{self.name} needs a whole number of virtual CPUs", found=repr(self.virtual_cpus)
            )
        if self.demand is not None and not (math.isfinite(self.demand) and self.demand >= 0):
            raise ModelError(
                f"the demand of {self.name} must not be negative", found=repr(self.demand)
            )

    @property
    def ceiling(self) -> float:
        """Real processors that the guest can't exceed."""
        return min(float(self.virtual_cpus), math.inf if self.demand is None else self.demand)


def shares(
    frame: pd.DataFrame,
    *,
    guest: str,
    share: str,
    processors: float = 1.0,
    demand: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """What guests get by their relative shares, with and without the error in the distribution of
    excess share.

    Parameters
    ----------
    frame : DataFrame
        One row a guest: its name in the column `guest`, its relative share (of z/VM) or weight (of
        Xen) in `share`.
    processors : float
        Real processors. Every guest can use all of them.
    demand : mapping of str to float, optional
        Processors that a guest wants; those that are not named want all.

    Returns
    -------
    DataFrame
        The rows of `frame`, which keep what they say of their origin, with `entitled`,
        `proportional` and `largest` in per cent of one processor: the normalized share, and what
        each guest gets by either rule of `allocate`.

    Raises
    ------
    ModelError
        A column that is missing, a demand of a guest that is not there, or as `Guest` and
        `allocate` do.
    """
    for column in (guest, share):
        checks.one_of(column, tuple(map(str, frame.columns)), "column of the frame")
    names, wanted = [str(name) for name in frame[guest]], demand or {}
    for name in wanted:
        checks.one_of(name, tuple(names), "guest with a demand")
    cpus = math.ceil(processors)
    values = frame[share].astype(float)
    guests = [
        GuestShare(name, value, cpus, wanted.get(name))
        for name, value in zip(names, values, strict=True)
    ]
    got = {rule: allocate(guests, processors, excess=rule) for rule in EXCESS_RULES}
    return frame.assign(
        entitled=100 * got["proportional"]["entitlement"].to_numpy(),
        **{rule: 100 * table["allocation"].to_numpy() for rule, table in got.items()},
    )


def allocate(
    guests: Sequence[GuestShare], processors: float, *, excess: str = "proportional"
) -> pd.DataFrame:
    """Distribute the real processors over guests of different names as their shares demand, in the
    long run.

    Shares count among the guests that want to run (demand above 0): relative to their sum, they are
    the entitlements. What a guest can't use, because of its demand or its number of virtual CPUs,
    goes to the others in proportion to their entitlements, until the processors or the wishes are
    exhausted: each gets ``min(ceiling, level x entitlement)`` with one level for all.

    Parameters
    ----------
    excess : {"proportional", "largest"}
        Who gets what others can't use: all in proportion to their entitlements, or, as z/VM did by
        an error, the guest of the largest entitlement that wants more, then the next. Convention:
        of equal ones the first.

    Returns
    -------
    DataFrame
        One row a guest, in the given order: ``guest``; ``entitlement`` and ``allocation`` in real
        processors.

    Notes
    -----
    The rule is the declared intent of z/VM ("CP Scheduler Improvements", z/VM 6.4 performance
    report, for the excess). Real dispatching differs in the short run. `excess="largest"` is the
    error that "z/VM performance update" (2011) describes by one example; that the largest
    entitlement decides is our reading of it, since no rule is printed.
    """
    checks.one_of(excess, EXCESS_RULES, "excess")
    names = [guest.name for guest in guests]
    if not guests:
        raise ModelError("there are no guests", expected="at least one")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ModelError(f"several guests are named {twice[0]!r}", expected="different names")
    if not (math.isfinite(processors) and processors > 0):
        raise ModelError("the number of processors must be positive", found=repr(processors))
    ceiling = np.array([guest.ceiling for guest in guests])
    share = np.array([guest.share for guest in guests]) * (ceiling > 0)
    entitled = share / (math.fsum(share) or 1.0) * processors
    got = (
        fill(ceiling, entitled, processors)
        if excess == "proportional"
        else _in_turn(ceiling, entitled, processors)
    )
    return pd.DataFrame({"guest": names, "entitlement": entitled, "allocation": got})


def fill(ceilings: Array, weights: Array, total: float) -> Array:
    """Return ``min(ceiling, level x weight)`` with the level at which the sum is `total`
    (water-filling).

    Parameters
    ----------
    ceilings, weights : ndarray, shape (n,)
        Not negative; a weight of zero gets nothing.
    total : float
        If the ceilings sum to less, everybody is at the ceiling.
    """
    out = np.zeros(len(ceilings))
    open_ = np.flatnonzero((weights > 0) & (ceilings > 0))
    # In the order in which a rising level reaches the ceilings; the level above the ones reached
    # follows from the rest.
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


def _in_turn(ceilings: Array, entitled: Array, total: float) -> Array:
    """Everybody's entitlement up to the ceiling; the rest in order of entitlements, each to the
    ceiling.
    """
    out = np.minimum(ceilings, entitled)
    for place in np.argsort(-entitled, kind="stable"):
        if entitled[place] > 0:
            out[place] += min(ceilings[place] - out[place], max(total - math.fsum(out), 0.0))
    return out
