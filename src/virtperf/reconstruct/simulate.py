"""The numbers of a simulated run: what the driver, the host and every guest would show, sample by sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from virtperf.params import ReconstructParameters
from virtperf.reconstruct.plan import RunPlan
from virtperf.reconstruct.series import autocorrelated, ramped, share_noise


@dataclass(frozen=True)
class SimulatedRun:
    """A run's time series.

    Attributes
    ----------
    status_t : ndarray, shape (n,)
        Seconds of the driver's status lines.
    throughput, response : dict of str to ndarray, shape (n,)
        Page elements per second and seconds, by driver.
    monitor_t : ndarray, shape (m,)
        Ends of the monitor's intervals, seconds.
    processors : ndarray, shape (m, processors)
        Busy share of every real processor.
    hypervisor : ndarray, shape (m,)
        Processors' worth of time that no guest is charged for.
    guest_cpu : dict of str to ndarray, shape (m,)
        Processors' worth of time of every guest.
    """

    status_t: np.ndarray
    throughput: Mapping[str, np.ndarray]
    response: Mapping[str, np.ndarray]
    monitor_t: np.ndarray
    processors: np.ndarray
    hypervisor: np.ndarray
    guest_cpu: Mapping[str, np.ndarray]


def simulate(plan: RunPlan, raw: Mapping[str, Any], parameters: ReconstructParameters, seed: int) -> SimulatedRun:
    """Draw a run around its truth; the same seed and run id give the same numbers.

    Throughput approaches its level through a warm-up ramp, with autocorrelated noise; response time moves against it
    so that the number of clients stays constant (closed loop). Replicates differ by a common factor.
    """
    rng = np.random.default_rng([seed, *plan.run_id.encode()])
    replicate = np.exp(parameters.run_cv * rng.standard_normal())
    step = raw["status_interval_s"]
    status_t = np.arange(step, raw["duration_s"] + step / 2, step, dtype=float)
    each = plan.throughput / len(plan.drivers)
    throughput, response = {}, {}
    for driver in plan.drivers:
        noise = np.exp(parameters.sample_cv * autocorrelated(rng, len(status_t), parameters.autocorrelation))
        throughput[driver] = ramped(status_t, each * replicate, parameters.ramp_s) * noise
        response[driver] = plan.response_s * each / throughput[driver]

    begin, end = raw["window_s"]
    monitor_t = np.arange(begin + raw["monitor_interval_s"], end + 1, raw["monitor_interval_s"], dtype=float)
    count = raw["hosts"][plan.levels[raw["hosts"]["factor"]]]["processors"]
    # averages over a minute carry less noise than the driver's ten seconds
    cv = parameters.sample_cv * np.sqrt(step / raw["monitor_interval_s"])
    share = plan.truth["cpu_utilization"] / 100
    total = share_noise(share, cv, autocorrelated(rng, len(monitor_t), parameters.autocorrelation))
    processors = _uneven(rng, total, count, cv)
    busy = processors.sum(axis=1)
    hypervisor = raw["conventions"]["hypervisor_share"]["value"] * busy
    weights = np.array([guest.vcpus for guest in plan.guests], dtype=float)
    guest_cpu = np.outer(busy - hypervisor, weights / weights.sum())
    return SimulatedRun(
        status_t, throughput, response, monitor_t, processors, hypervisor,
        {guest.name: guest_cpu[:, i] for i, guest in enumerate(plan.guests)},
    )  # fmt: skip


def _uneven(rng: np.random.Generator, total: np.ndarray, count: int, cv: float) -> np.ndarray:
    """Shares of `count` processors that scatter around the total's, each within [0, 1], with exactly that mean."""
    noise = rng.standard_normal((len(total), count))
    noise -= noise.mean(axis=1, keepdims=True)
    room = np.minimum(total, 1 - total)[:, None]
    return total[:, None] + np.clip(cv * noise, -1, 1) * room / max(1.0, float(np.abs(cv * noise).max(initial=0)))
