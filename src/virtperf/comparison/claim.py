"""One claim of a paper, tested on runs of one's own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field

from rawperf.core.errors import ParameterError, RawperfError, StudyError, did_you_mean
from rawperf.core.files import write_atomically
from rawperf.core.model import Level, Model, load_model
from rawperf.registry import build_dictionary
from virtperf.comparison.claim_samples import (
    choose_quantity,
    failure_notes,
    machine_notes,
    needs_single_values,
    own_samples,
    require_comparable,
    run_notes,
)
from virtperf.comparison.own_files import read_declared_forms
from virtperf.comparison.row import Row
from virtperf.comparison.side_reader import read_sides
from virtperf.comparison.sides import (
    Side,
    TableOptions,
    equal_files_note,
    rows_offer,
    side_notes,
)
from virtperf.core.estimate import Estimate
from virtperf.core.numbers import plural
from virtperf.core.paths import Layout
from virtperf.core.shown import Grid, Showable, Shown, finite_values
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.run_values import join_names
from virtperf.study.claim_kinds.base import unit_words
from virtperf.study.claims import Claim, load_claims
from virtperf.study.definition import Study, load_study
from virtperf.study.quantities import Instance, Quantity, quantities_of
from virtperf.verdicts.from_runs import OF_A_HYPOTHESIS, judge_claim
from virtperf.verdicts.regions import Decision

FACTS = ("cpu", "processors", "memory_mb", "kernel", "system", "virtualization")
"""Facts of the runs' machine beside those of the paper's."""
Levels = Level | tuple[Level, ...]
"""A level of all conditions, or one for each of them, in the claim's order."""
MAX_WORDS = 100
WITH_PAPERS = (Layout(Path(__file__).parents[1] / "papers"), Layout(Path(__file__).parents[3]))
"""The papers' claims in a package installed from a wheel, and in the clone of an editable one; a repository
has its own."""


def with_papers(layout: Layout) -> Layout:
    """The layout itself if it has papers, else that of the installed package or of its clone.

    Raises `RawperfError` if neither has any.
    """
    found = next((each for each in (layout, *WITH_PAPERS) if each.published("").is_dir()), None)
    if found is None:
        layout.require()
        raise RawperfError("no claims", file=layout.root, expected="data/published with a paper")
    return found


class ClaimTest(Model):
    """A test of a claim on runs of one's own, as a file beside them: which claim, which of its
    conditions, and the runs for each, relative to the file.
    """

    claim: Annotated[str, Field(pattern=r"^[a-z0-9-]+/[a-z0-9-]+$")]
    runs: Annotated[tuple[str, ...], Field(min_length=1)]
    at: dict[str, Level] = {}
    quantity: str = ""
    where: dict[str, Levels] = {}
    keys: tuple[str, ...] = ()
    input_format: str | None = None
    rows: Literal["repetitions", "runs"] = "repetitions"

    @property
    def settings(self) -> dict[str, Any]:
        """What `claim` takes besides its name and the runs."""
        names = ("at", "quantity", "where", "keys", "input_format", "rows")
        return {name: getattr(self, name) for name in names}

    def write(self, path: Path) -> None:
        """Write it; runs get addresses relative to the file's folder."""
        folder = path.absolute().parent
        runs = [os.path.relpath(Path(run).absolute(), folder) for run in self.runs]
        entry = self.model_dump(exclude_defaults=True) | {"runs": runs}
        write_atomically(path, yaml.safe_dump(entry, sort_keys=False, allow_unicode=True))


def load_test(path: Path) -> ClaimTest:
    """Read such a file; raises `ParameterError` with file and line if it is none."""
    try:
        test, _ = load_model(path, ClaimTest)
    except StudyError as err:
        raise ParameterError(str(err)) from err
    return test.model_copy(update={"runs": tuple(str(path.parent / run) for run in test.runs)})


@dataclass(frozen=True)
class FoundClaim:
    """A claim with its study; `name` is what commands take: ``paper/claim``."""

    study: Study
    claim: Claim

    @property
    def name(self) -> str:
        return f"{self.study.id}/{self.claim.id}"

    @property
    def conditions(self) -> list[Quantity]:
        """Conditions that the claim compares, in its order."""
        return list(self.claim.quantities)

    @property
    def place(self) -> str:
        """Section of the paper."""
        return "; ".join(self.claim.sections)

    @property
    def limits(self) -> str:
        """What the claim allows, in words."""
        if self.claim.is_order:
            return "this order"
        words = self.claim.limit_words()
        if self.claim.unit_cancels or words.endswith("%"):
            return words
        return words + unit_words(self.study, self.claim.instances[0])

    def condition(self, quantity: Quantity) -> str:
        """A condition with the labels of its levels that differ from the defaults."""
        factors = self.study.factors
        at = [
            f"{factors[name].label}: {factors[name].show(level)}"
            for name, level in quantity.at
            if level != factors[name].default
        ]
        label = self.study.quantities[quantity.name].label
        return f"{label} ({'; '.join(at)})" if at else label

    def at(self, levels: Mapping[str, Level]) -> FoundClaim:
        """The claim at these levels: of a claim for several levels, one instance is left.

        Raises `ParameterError` if none or several are left.
        """

        def fits(instance: Instance) -> bool:
            return all(
                any(dict(q.at).get(name) == level for q in quantities_of(instance.parts))
                for name, level in levels.items()
            )

        left = [each for each in self.claim.instances if fits(each)]
        if len(left) == 1:
            return replace(self, claim=self.claim.model_copy(update={"instances": (left[0],)}))
        options = [
            "; ".join(self.condition(q) for part in each.parts for _, q in part.terms)
            for each in self.claim.instances[:10]
        ]
        taken = [
            {f"{name}={level}" for q in quantities_of(each.parts) for name, level in q.at}
            for each in self.claim.instances
        ]
        apart = sorted(taken[0] - taken[0].intersection(*taken))
        raise ParameterError(
            f"{self.name} has {len(self.claim.instances)} sets of conditions, {len(left)} with these levels",
            expected="levels of one of them",
            found=" | ".join(options),
            remedy=f"give the levels that tell it apart, such as --at {' --at '.join(apart)}",
        )


def all_claims(layout: Layout) -> list[FoundClaim]:
    """Claims of all papers of the repository, without assumptions."""
    found = []
    for folder in sorted(with_papers(layout).published("").iterdir()):
        if (folder / "claims.yaml").is_file():
            study = load_study(folder)
            found += [FoundClaim(study, claim) for claim in load_claims(study) if not claim.assumed]
    return found


def find_claim(layout: Layout, name: str) -> FoundClaim:
    """The claim ``paper/claim``; raises `ParameterError` with similar names."""
    study_id, _, claim_id = name.partition("/")
    layout = with_papers(layout)
    folder = layout.published(study_id)
    if not (folder / "claims.yaml").is_file():
        papers = sorted(p.parent.name for p in layout.published("").glob("*/claims.yaml"))
        raise ParameterError(
            f"unknown paper {study_id!r}",
            expected=f"PAPER/CLAIM, with one of {', '.join(papers)}",
            remedy=did_you_mean(study_id, papers),
        )
    study = load_study(folder)
    claims = {claim.id: claim for claim in load_claims(study) if not claim.assumed}
    if claim_id not in claims:
        raise ParameterError(
            f"{study_id} has no claim {claim_id!r}",
            remedy=did_you_mean(claim_id, claims) or "virtperf claim list WORDS searches them",
        )
    return FoundClaim(study, claims[claim_id])


def listed(layout: Layout, words: Sequence[str]) -> Shown:
    """Claims whose id, statement or place has all of these words."""
    rows = []
    data = []
    for found in all_claims(layout):
        text = f"{found.name} {found.claim.says} {found.place} {found.claim.kind}".lower()
        if all(word.lower() in text for word in words):
            rows.append((found.name, _cut(found.claim.says), found.limits))
            data.append({"claim": found.name, "says": found.claim.says, "kind": found.claim.kind})
    return Shown(
        title="Claims",
        sentences=[f"Claims with all of these words: {len(rows):,}."],
        tables=[Grid(columns=("claim", "says", "allows"), rows=tuple(rows))] if rows else [],
        notes=[],
        data={"claims": data},
    )


def described(found: FoundClaim) -> Shown:
    """What a claim says, where, and which conditions a test needs."""
    claim = found.claim
    rows = [(str(n), found.condition(q)) for n, q in enumerate(found.conditions, start=1)]
    facts = [("kind", claim.kind), ("allows", found.limits), ("section", found.place)]
    if claim.word:
        facts.append(("word", claim.word))
    if claim.reading:
        facts.append(("read as", claim.reading))
    facts += [("machine", f"{m.label}: {m.machine}") for m in found.study.machines.values()]
    return Shown(
        title=found.name,
        sentences=[claim.says, f"{found.study.title}."],
        tables=[
            Grid(columns=("", ""), rows=tuple(facts)),
            Grid(label="A test needs runs of", columns=("", "condition"), rows=tuple(rows)),
        ],
        notes=[],
        data={"claim": found.name, "says": claim.says, "conditions": [row[1] for row in rows]},
    )


@dataclass(frozen=True)
class ClaimVerdict(Row, Showable):
    """Verdict on a claim by runs of one's own, a side for each condition.

    `quantity` is that of the runs, `note` the reason of the verdict; `numbers` are those of the table
    of verdicts.
    """

    found: FoundClaim = field(kw_only=True)
    decision: Decision = field(kw_only=True)
    runs: tuple[Side, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def shown(self) -> Shown:
        """The verdict, the conditions with their runs, and the facts of both machines."""
        found = self.found
        conditions = [
            (found.condition(q), side.name, str(len(side.runs)))
            for q, side in zip(found.conditions, self.runs, strict=True)
        ]
        paper = [(f"paper: {m.label}", m.machine) for m in found.study.machines.values()]
        ours = {
            name: ", ".join(sorted(values))
            for name in FACTS
            if (values := {each for side in self.runs for each in side.facts.get(name, ())})
        }
        facts = [*paper, *((f"here: {name}", text) for name, text in ours.items())]
        tables = [
            Grid(
                columns=("the paper's condition", "your runs", "number"),
                rows=tuple(conditions),
                numeric=(2,),
            )
        ]
        if facts:
            tables.append(Grid(label="Machines", columns=("machine", ""), rows=tuple(facts)))
        return Shown(
            title=f"{found.name} on one's own runs",
            sentences=[found.claim.says, f"{self.verdict}: {self.note}."],
            tables=tables,
            notes=[
                f"quantity of your runs: {self.quantity}",
                "that your conditions correspond to the paper's is your assumption",
                *self.notes,
                *(note for side in self.runs for note in failure_notes(side)),
            ],
            data={
                "claim": found.name,
                "verdict": self.verdict,
                "reason": self.note,
                "says": found.claim.says,
                **finite_values(self.numbers),
                "sides": [side.name for side in self.runs],
                "facts": ours,
            },
        )


def claim(
    name: str | FoundClaim,
    *places: str | Path,
    at: Mapping[str, Level] | None = None,
    quantity: str = "",
    where: Mapping[str, Levels] | None = None,
    keys: Sequence[str] = (),
    input_format: str | None = None,
    rows: Literal["repetitions", "runs"] = "repetitions",
    level: float = 0.95,
    root: str | Path = ".",
) -> ClaimVerdict:
    """Test the claim ``paper/claim`` on runs of one's own, as ``virtperf claim test``: one place for each
    condition, in the claim's order; or one place with the runs of all conditions, which `where` tells
    apart: ``where={"system": ("xen", "kvm")}`` has a level for each condition.

    A place is what `comparison.side_reader.read_sides` reads; `quantity` is that of the runs which
    corresponds to the paper's, by default the one with the same name, the metric by which the paper's
    study observes it, or the only one. A statistic of single values, such as a percentile, is computed
    from those of each run; `rows` says whether repeated rows of a table are repetitions within a run,
    or runs. Files in a form that the paper's study declares for its own raw files are read as these
    are, each as a run of the condition, unless a quantity, `where`, a format or `rows` is given. `at`
    chooses one of the conditions that the claim is stated for.

    Raises
    ------
    ParameterError
        An unknown claim, one that is stated for several sets of conditions, another number of places
        or levels than that of the conditions, an unknown quantity, or one with several values in a run.
    RawperfError
        Runs can't be read, one is given twice, or the claim is relative to a condition that it does not
        name.
    """
    layout = Layout(Path(root))
    found = find_claim(layout, name) if isinstance(name, str) else name
    if at or len(found.claim.instances) > 1:
        found = found.at(at or {})
    conditions = found.conditions
    needed = "; ".join(f"{n}. {found.condition(q)}" for n, q in enumerate(conditions, 1))
    levels = _levels_of_conditions(where or {}, len(conditions), needed)
    tables = TableOptions(tuple(keys), rows_are_runs=rows == "runs")
    if len(places) == 1 and any(isinstance(of, (tuple, list)) for of in (where or {}).values()):
        places *= len(conditions)
    if len(places) != len(conditions):
        offers = _offered_levels(places, len(conditions), layout, input_format, tables)
        raise ParameterError(
            f"{found.name} compares {plural(len(conditions), 'condition')}, and "
            f"{plural(len(places), 'place')} {'is' if len(places) == 1 else 'are'} given",
            expected=f"runs of {needed}",
            remedy=offers
            or "give one folder, file or pattern for each, in this order; quote patterns, such as "
            "'a-*.json'. If one file has all, --where NAME=LEVEL once for each condition tells them apart",
        )
    study = found.study.model_copy(update={"artifact": None})  # the runs are not the authors'
    notes: list[str] = []
    declared, offer = None, ""
    if not (quantity or where or keys or input_format or rows == "runs"):
        declared = read_declared_forms(study, conditions, places, layout, level)
    if declared is not None:
        samples, sides = declared
        chosen = "as the paper's study defines it"
        for condition, place in zip(conditions, places, strict=True):
            if condition not in samples:
                raise ParameterError(
                    f"{place} has no {found.condition(condition)}",
                    expected=f"runs of {needed}",
                    remedy="give them in this order",
                )
        notes = equal_files_note(sides) if len({q.name for q in conditions}) == 1 else []
    else:
        kinds = {q.name: study.quantities[q.name] for q in conditions}
        if len({kind.unit for kind in kinds.values()}) > 1:
            raise ParameterError(
                f"{found.name} compares {join_names(sorted(kinds))}, which have different units",
                expected="a claim that compares conditions of one quantity, or files in the paper's own form",
            )
        of_single_values = needs_single_values(kinds.values())
        sides = read_sides(
            places,
            layout,
            input_format,
            levels,
            tables=tables,
            singles=of_single_values,
        )
        chosen = quantity or choose_quantity(sides, kinds.values())
        dictionary = build_dictionary(layout.metrics, study_inputs(study))
        for side in sides:
            if chosen in side.quantity_names:
                require_comparable(chosen, side, kinds.values(), dictionary)
        pairs = [(q, kinds[q.name]) for q in conditions]
        samples, computed = own_samples(found.claim, pairs, sides, chosen, level)
        offer = "" if of_single_values else rows_offer(sides, tables)
        notes = [
            *equal_files_note(sides, chosen),
            *side_notes(sides, [side.name for side in sides]),
            *machine_notes(sides, FACTS),
            *run_notes(sides, [samples[q] for q in conditions], chosen),
            *computed,
        ]
    decision, row = judge_claim(study, found.claim, samples, level)
    if decision is Decision.UNMEASURED:
        raise RawperfError(
            f"{found.name} is about a share of the paper's own reference condition, which it does not name",
            remedy="choose a claim that compares two conditions: virtperf claim list WORDS",
        )
    if decision is Decision.UNDECIDED and offer:
        notes.append(offer)
    numbers = {name: value for name, value in row.items() if isinstance(value, float)}
    estimate = None
    if "estimate" in numbers:
        ends = (numbers["estimate_low"], numbers["estimate_high"])
        estimate = Estimate(numbers["estimate"], *ends, level, "runs")
    return ClaimVerdict(
        chosen,
        verdict=OF_A_HYPOTHESIS[decision],
        estimate=estimate,
        note=row["reason"],
        found=found,
        decision=decision,
        runs=tuple(sides),
        numbers=numbers,
        notes=tuple(notes),
    )


def _levels_of_conditions(
    where: Mapping[str, Levels], count: int, needed: str
) -> list[dict[str, Level]]:
    """The levels for each of `count` conditions.

    Raises `ParameterError` for a name with another number of levels.
    """
    for name, levels in where.items():
        if isinstance(levels, (tuple, list)) and len(levels) != count:
            raise ParameterError(
                f"{name} has {plural(len(levels), 'level')}: {', '.join(map(str, levels))}",
                expected=f"one for all conditions, or one for each of the {count}: {needed}",
            )
    return [
        {n: of[number] if isinstance(of, (tuple, list)) else of for n, of in where.items()}
        for number in range(count)
    ]


def _offered_levels(
    places: Sequence[str | Path],
    count: int,
    layout: Layout,
    input_format: str | None,
    tables: TableOptions,
) -> str:
    """How to tell `count` conditions apart in one place: the factors and keys that have as many levels;
    "" for several places, or if there are none.
    """
    if len(places) != 1:
        return ""
    (side,) = read_sides(places, layout, input_format, tables=tables)
    known = side.factor_levels | side.key_levels
    found = [
        f"{name} ({join_names(sorted(map(str, levels)), most=6)})"
        for name, levels in sorted(known.items())
        if len(levels - {None}) >= count
    ]
    name = next((n for n in sorted(known) if len(known[n] - {None}) >= count), "")
    option = " ".join([f"--where {name}=LEVEL"] * count)
    return f"give {option}, in this order: {side.name} has {'; '.join(found)}" if found else ""


def _cut(text: str) -> str:
    return text if len(text) <= MAX_WORDS else f"{text[: MAX_WORDS - 3]}..."
