"""What there is to measure: conditions and files of each experiment, and the difference that each
hypothesis of the study can detect with the planned blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rawperf.core.errors import ModelError
from rawperf.core.model import Level
from virtperf.core.contrasts import Replicates
from virtperf.core.grouping import grouped
from virtperf.measure.definition import PHASES, Experiment
from virtperf.measure.plan import PlannedRun
from virtperf.models.power import detectable_effect, relative_spread
from virtperf.study.claims import Claim
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity, quantities_of

POWER = 0.8


@dataclass(frozen=True)
class ExperimentOverview:
    """The runs of one experiment; `varied` has the levels of each factor that differs."""

    name: str
    runs: tuple[PlannedRun, ...]
    varied: Mapping[str, tuple[Level, ...]]
    fixed: Mapping[str, Level]
    files: tuple[str, ...]

    @property
    def blocks(self) -> int:
        return max(run.replicate for run in self.runs)

    @property
    def conditions(self) -> int:
        return len({tuple(run.levels.values()) for run in self.runs})


def experiment_overviews(runs: Sequence[PlannedRun]) -> Iterator[ExperimentOverview]:
    """Yield each experiment of a plan, in its order."""
    by_name = grouped((run.experiment.name, run) for run in runs)
    for name, of_experiment in by_name.items():
        experiment = of_experiment[0].experiment
        varied = {
            factor: tuple(
                level
                for level in experiment.over[factor]
                if any(run.levels[factor] == level for run in of_experiment)
            )
            for factor in experiment.over
        }
        yield ExperimentOverview(
            name, tuple(of_experiment), varied, experiment.at, declared_files(experiment)
        )


def declared_files(experiment: Experiment) -> tuple[str, ...]:
    """Paths of `output` and `files` of all commands, with their placeholders, each once."""
    commands = [command for phase in PHASES for command in getattr(experiment, phase)]
    paths = (path for c in commands for path in (c.output, *(file.path for file in c.files)))
    return tuple(dict.fromkeys(path for path in paths if path))


@dataclass(frozen=True)
class HypothesisOverview:
    """What a hypothesis compares, and what the planned blocks can detect.

    Parameters
    ----------
    blocks : int
        Planned runs of the condition that has the fewest.
    missing : str
        A quantity of which no run is planned, "" if there is none.
    compared : bool
        Whether conditions are compared; otherwise one condition is compared with numbers.
    cv : float or None
        Coefficient of variation between earlier runs of a condition; None if it is unknown.
    earlier : int
        Number of these runs.
    effect : float or None
        Smallest relative difference of two of the conditions that is detected with a power of
        `POWER`; None if it is unknown.
    """

    id: str
    compares: str
    blocks: int
    missing: str = ""
    compared: bool = True
    cv: float | None = None
    earlier: int = 0
    effect: float | None = None


def hypothesis_overviews(
    study: Study,
    claims: Iterable[Claim],
    runs: Sequence[PlannedRun],
    samples: Mapping[Quantity, Replicates],
) -> Iterator[HypothesisOverview]:
    """Yield what each claim compares; `samples` has the earlier runs of each quantity."""
    planned = Counter(tuple(run.levels[factor] for factor in study.factors) for run in runs)
    for claim in claims:
        instances = [quantities_of(instance.parts) for instance in claim.instances]
        quantities = list(claim.quantities)
        counts = {q: _count(study, q, planned) for q in quantities}
        missing = next((q.key() for q, count in counts.items() if not count), "")
        blocks = min(counts.values(), default=0)
        overview = HypothesisOverview(
            claim.id,
            comparison_text(claim),
            blocks,
            missing,
            any(len(instance) > 1 for instance in instances),
        )
        yield _with_power(overview, _earlier(quantities, samples))


def _count(study: Study, quantity: Quantity, planned: Mapping[tuple[Level, ...], int]) -> int:
    levels = dict(quantity.at)
    observed = study.quantities[quantity.name].observable(levels)
    return planned.get(tuple(levels[factor] for factor in study.factors), 0) if observed else 0


def _earlier(
    quantities: Sequence[Quantity], samples: Mapping[Quantity, Replicates]
) -> list[Replicates]:
    """Earlier runs of the conditions, else of all conditions of the same quantities."""
    known = [samples[q] for q in quantities if q in samples and samples[q].n > 1]
    if not known:
        names = {q.name for q in quantities}
        known = [runs for q, runs in samples.items() if q.name in names and runs.n > 1]
    return [runs for runs in known if (runs.values > 0).all()]


def _with_power(overview: HypothesisOverview, earlier: Sequence[Replicates]) -> HypothesisOverview:
    if overview.missing or not overview.compared or overview.blocks < 2 or not earlier:
        return overview
    try:
        cv, _ = relative_spread(*(runs.values for runs in earlier))
        effect = detectable_effect(overview.blocks, cv=cv, target=POWER)
    except ModelError:  # earlier runs do not differ at all
        return overview
    return replace(overview, cv=cv, earlier=sum(runs.n for runs in earlier), effect=effect)


def comparison_text(claim: Claim) -> str:
    """What a claim compares, in the words of its fields."""
    text = claim.compared_words()
    each = "; ".join(
        f"{factor} {', '.join(map(str, levels))}" for factor, levels in claim.for_each.items()
    )
    return f"{text}, for {each}" if each else text
