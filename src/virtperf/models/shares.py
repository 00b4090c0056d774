"""Processor shares of z/VM guests: who gets how much when not everybody can get what they want."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array

KINDS = ("relative", "absolute")
LIMITS = ("none", "soft", "hard")
EXCESS = ("proportional", "largest")
# The largest shares that SET SHARE takes.
MOST = {"relative": 10_000.0, "absolute": 100.0}
# Convention: what absolute shares can claim of the machine (per cent) while guests with relative shares want to run.
ABSOLUTE_CEILING = 99.0


@dataclass(frozen=True)
class Guest:
    """A virtual machine and its claim to the real processors.

    Parameters
    ----------
    name : str
    share : float
        Relative: up to 10,000, the default of z/VM being 100. Absolute: per cent of all real processors.
    kind : {"relative", "absolute"}
    virtual_cpus : int
        A virtual CPU never gets more than one real one.
    limit : float, optional
        Absolute maximum share, per cent of all real processors. (Relative maximum shares are not modelled.)
    limit_kind : {"none", "soft", "hard"}
        LIMITHARD: never above the limit. LIMITSOFT: above it only with what nobody below a limit can use.
    demand : float, optional
        Real processors that the guest would keep busy if it had them; default as many as it has virtual CPUs.

    Raises
    ------
    ModelError
        Naming the guest and the rule that it breaks.
    """

    name: str
    share: float
    kind: str = "relative"
    virtual_cpus: int = 1
    limit: float | None = None
    limit_kind: str = "none"
    demand: float | None = None

    def __post_init__(self) -> None:
        checks.one_of(self.kind, KINDS, f"kind of share of {self.name}")
        checks.one_of(self.limit_kind, LIMITS, f"kind of limit of {self.name}")
        self._within("share", self.share, MOST[self.kind])
        if self.virtual_cpus < 1 or self.virtual_cpus != int(self.virtual_cpus):
            raise ModelError(f"{self.name} needs a whole number of virtual CPUs", found=repr(self.virtual_cpus))
        if (self.limit is None) != (self.limit_kind == "none"):
            raise ModelError(
                f"{self.name} has half a limit",
                expected='both limit and limit_kind ("soft" or "hard"), or neither',
                found=f"{self.limit!r}, {self.limit_kind!r}",
            )
        if self.limit is not None:
            self._within("limit", self.limit, 100.0)
            if self.kind == "absolute" and self.limit < self.share:
                raise ModelError(f"the limit of {self.name} is below its share", found=f"{self.limit!r} %")
        if self.demand is not None and not (math.isfinite(self.demand) and self.demand >= 0):
            raise ModelError(f"the demand of {self.name} must not be negative", found=repr(self.demand))

    def _within(self, what: str, value: float, most: float) -> None:
        if not 0 < value <= most:
            raise ModelError(
                f"the {what} of {self.name} is out of range", expected=f"above 0, at most {most:g}", found=repr(value)
            )

    def ceilings(self, processors: float) -> dict[str, float]:
        """Return what the guest can't exceed on so many real processors, by name: the smallest one binds."""
        most = {"virtual CPUs": float(self.virtual_cpus)}
        if self.demand is not None:
            most["demand"] = self.demand
        if self.limit is not None and self.limit_kind == "hard":
            most["hard limit"] = self.limit / 100 * processors
        return most


def shares(
    frame: pd.DataFrame, *, guest: str, share: str, processors: float = 1.0, demand: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """What guests get by their relative shares, with and without the error in the distribution of excess share.

    Parameters
    ----------
    frame : DataFrame
        One row a guest: its name in the column `guest`, its relative share (of z/VM) or weight (of Xen) in `share`.
    processors : float
        Real processors. Every guest can use all of them.
    demand : mapping of str to float, optional
        Processors that a guest wants; those that are not named want all.

    Returns
    -------
    DataFrame
        The rows of `frame`, which keep what they say of their origin, with `entitled`, `proportional` and `largest` in
        per cent of one processor: the normalized share, and what each guest gets by either rule of `allocate`.

    Raises
    ------
    ModelError
        A column that is missing, a demand of a guest that is not there, or as `Guest` and `allocate` do.
    """
    for column in (guest, share):
        checks.one_of(column, tuple(map(str, frame.columns)), "column of the frame")
    names, wanted = [str(name) for name in frame[guest]], dict(demand or {})
    for name in wanted:
        checks.one_of(name, tuple(names), "guest with a demand")
    cpus = math.ceil(processors)
    guests = [
        Guest(name, float(value), virtual_cpus=cpus, demand=wanted.get(name))
        for name, value in zip(names, frame[share], strict=True)
    ]
    got = {rule: allocate(guests, processors, excess=rule) for rule in EXCESS}
    return frame.assign(
        entitled=100 * got["proportional"]["entitlement"].to_numpy(),
        **{rule: 100 * table["allocation"].to_numpy() for rule, table in got.items()},
    )


def allocate(
    guests: Sequence[Guest],
    processors: float,
    *,
    excess: str = "proportional",
    absolute_ceiling: float = ABSOLUTE_CEILING,
) -> pd.DataFrame:
    """Distribute the real processors over guests as their shares demand, in the long run.

    Shares count among the guests that want to run (demand above 0). An absolute share is its percentage of the machine
    (all of them scaled down together if they exceed `absolute_ceiling`, or 100 without relative shares); relative
    shares divide the rest. That is the entitlement. What a guest can't use, because of its demand, its number of
    virtual CPUs or its limit, goes to the others in proportion to their entitlements, until the processors or the
    wishes are exhausted: each gets ``min(ceiling, level x entitlement)`` with one level for all. What is left when all
    are at a ceiling or a soft limit goes to those at a soft limit, again in proportion.

    Parameters
    ----------
    guests : sequence of Guest
        Of different names.
    processors : float
        Real processors that are there for guests.
    excess : {"proportional", "largest"}
        Who gets what others can't use: all in proportion to their entitlements, or, as z/VM did by an error, the guest
        of the largest entitlement that wants more, then the next. Convention: of equal ones the first.
    absolute_ceiling : float
        Per cent.

    Returns
    -------
    DataFrame
        One row a guest, in the given order: ``guest``; ``entitlement``, ``allocation`` and ``per_virtual_cpu`` in real
        processors (the virtual CPUs of a guest are taken as equally busy); ``percent`` of all real processors;
        ``bound_by``: what keeps it from having more ("share", "soft limit" or a ceiling). The attribute
        ``attrs["unused"]`` is the rest of the processors.

    Raises
    ------
    ModelError
        For no guests, equal names, or a number of processors that is not positive.

    Notes
    -----
    The rule is the declared intent of z/VM ("CP Scheduler Improvements", z/VM 6.4 performance report, for the excess).
    Real dispatching differs in the short run. `excess="largest"` is the error that "z/VM performance update" (2011)
    describes by one example; that the largest entitlement decides is our reading of it, since no rule is printed.
    """
    checks.one_of(excess, EXCESS, "excess")
    _check(guests, processors, absolute_ceiling)
    most = [guest.ceilings(processors) for guest in guests]
    ceiling = np.array([min(m.values()) for m in most])
    entitled = _entitlements(guests, ceiling > 0, processors, absolute_ceiling)
    soft = np.array([g.limit / 100 * processors if g.limit and g.limit_kind == "soft" else math.inf for g in guests])
    below = np.minimum(ceiling, soft)
    got = fill(below, entitled, processors) if excess == "proportional" else _in_turn(below, entitled, processors)
    left = max(processors - math.fsum(got), 0.0)
    # Processors are left only if all are at a ceiling or a soft limit: only the latter have room.
    total = got + fill(ceiling - got, entitled, left)
    reason = [
        min(m, key=lambda name: m[name]) if x >= c * (1 - 1e-12) else "soft limit" if x >= s * (1 - 1e-12) else "share"
        for m, x, c, s in zip(most, total, ceiling, soft, strict=True)
    ]
    table = pd.DataFrame(
        {
            "guest": [guest.name for guest in guests],
            "entitlement": entitled,
            "allocation": total,
            "per_virtual_cpu": total / np.array([guest.virtual_cpus for guest in guests]),
            "percent": 100 * total / processors,
            "bound_by": reason,
        }
    )
    table.attrs["unused"] = max(processors - math.fsum(total), 0.0)
    return table


def fill(ceilings: Array, weights: Array, total: float) -> Array:
    """Return ``min(ceiling, level x weight)`` with the level at which the sum is `total` (water-filling).

    Parameters
    ----------
    ceilings, weights : ndarray, shape (n,)
        Not negative; a weight of zero gets nothing.
    total : float
        If the ceilings sum to less, everybody is at the ceiling.
    """
    out = np.zeros(len(ceilings))
    open_ = np.flatnonzero((weights > 0) & (ceilings > 0))
    # In the order in which a rising level reaches the ceilings; the level above the ones reached follows from the rest.
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
    """Everybody's entitlement up to the ceiling; the rest in order of entitlements, each to the ceiling."""
    out = np.minimum(ceilings, entitled)
    for place in np.argsort(-entitled, kind="stable"):
        if entitled[place] > 0:
            out[place] += min(ceilings[place] - out[place], max(total - math.fsum(out), 0.0))
    return out


def _entitlements(guests: Sequence[Guest], running: np.ndarray, processors: float, absolute_ceiling: float) -> Array:
    share = np.array([guest.share for guest in guests]) * running
    absolute = np.array([guest.kind == "absolute" for guest in guests])
    relative = math.fsum(share[~absolute])
    claimed = math.fsum(share[absolute])
    most = absolute_ceiling if relative > 0 else 100.0
    if claimed > most:
        share = np.where(absolute, share * (most / claimed), share)
        claimed = most
    part = share / 100
    if relative > 0:
        part = np.where(absolute, part, share / relative * (1 - claimed / 100))
    return np.asarray(part * processors)


def _check(guests: Sequence[Guest], processors: float, absolute_ceiling: float) -> None:
    if not guests:
        raise ModelError("there are no guests", expected="at least one")
    names = [guest.name for guest in guests]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ModelError(f"several guests are named {twice[0]!r}", expected="different names")
    if not (math.isfinite(processors) and processors > 0):
        raise ModelError("the number of processors must be positive", found=repr(processors))
    if not 0 < absolute_ceiling <= 100:
        raise ModelError(
            "the ceiling of absolute shares is out of range", expected="0 to 100", found=repr(absolute_ceiling)
        )
