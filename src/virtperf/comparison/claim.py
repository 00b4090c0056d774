"""One claim of a paper, tested on runs of one's own."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    option_notes,
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
from virtperf.core.grouping import grouped
from virtperf.core.numbers import join_names, plural
from virtperf.core.paths import Layout
from virtperf.core.shown import Grid, Showable, Shown, json_values
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.study.claim_kinds.base import unit_words
from virtperf.study.claims import Claim, load_claims
from virtperf.study.definition import Study, load_study
from virtperf.study.parts import QuantityKind
from virtperf.study.quantities import Instance, Quantity, quantities_of
from virtperf.verdicts.judgement import OF_A_HYPOTHESIS, judge_claim
from virtperf.verdicts.regions import Decision

FACTS = ("cpu", "processors", "memory_mb", "kernel", "system", "virtualization")
"""Facts of the runs' machine beside those of the paper's."""
Levels = Level | tuple[Level, ...]
"""A level of all conditions, or one for each of them, in the claim's order."""
MAX_WORDS = 100
MOST_LABELS = 2
"""Quantities of a paper that are named where a search finds no claim."""
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
    def kinds(self) -> dict[str, QuantityKind]:
        """The quantities that the claim compares, by name."""
        return {q.name: self.study.quantities[q.name] for q in self.conditions}

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
        """A condition with the labels of its levels that differ from the defaults, or from those of the
        claim's other conditions.
        """
        factors = self.study.factors
        others = [dict(q.at) for q in self.conditions]
        at = [
            f"{factors[name].label}: {factors[name].show(level)}"
            for name, level in quantity.at
            if any(level != x for x in (factors[name].default, *(o.get(name) for o in others)))
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
        raise ParameterError(
            f"{self.name} has {len(self.claim.instances)} sets of conditions, {len(left)} with these levels",
            expected=f"levels of one of them: {join_names(self.sets, ' | ', most=10)}",
            remedy=f"give the levels that tell it apart, such as --at {self.sets[0].replace(' ', ' --at ')}",
        )

    @property
    def sets(self) -> list[str]:
        """Levels that tell apart the sets of conditions that the claim is stated for."""
        taken = [
            {f"{name}={level}" for q in quantities_of(each.parts) for name, level in q.at}
            for each in self.claim.instances
        ]
        return [" ".join(sorted(of - taken[0].intersection(*taken))) for of in taken]


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
    """Claims with all of these words, or words that begin with them, in their id, statement, place or
    quantities, or in the names of formats of which files have these quantities.
    """
    found = all_claims(layout)
    formats = _formats_by_metric(layout)
    texts = [_searched_text(each, formats) for each in found]
    patterns = {word: re.compile(rf"(?<![^\W_]){re.escape(word)}", re.IGNORECASE) for word in words}
    chosen = [
        each
        for each, text in zip(found, texts, strict=True)
        if all(pattern.search(text) for pattern in patterns.values())
    ]
    rows = [(each.name, _cut(each.claim.says), each.limits) for each in chosen]
    notes = []
    if not rows:
        without = [w for w, pattern in patterns.items() if not any(map(pattern.search, texts))]
        notes += [f"no claim has {join_names(without, most=10)}"] if without else []
        labels = grouped(
            (each.study.id, k.label) for each in found for k in each.kinds.values() if k.observed_by
        )
        common = [n for of in labels.values() for n, _ in Counter(of).most_common(MOST_LABELS)]
        notes.append(
            "search for a system, for a tool whose files you have, such as fio or wrk, or for what is "
            f"measured, such as {', '.join(dict.fromkeys(common))}"
        )
    return Shown(
        title="Claims",
        sentences=[f"Claims with all of these words: {len(rows):,}."],
        tables=[Grid(columns=("claim", "says", "allows"), rows=tuple(rows))] if rows else [],
        notes=notes,
        data={
            "claims": [
                {"claim": each.name, "says": each.claim.says, "kind": each.claim.kind}
                for each in chosen
            ]
        },
    )


def _formats_by_metric(layout: Layout) -> dict[str, str]:
    return {
        metric.name: " ".join(metric.formats)
        for metric in build_dictionary(layout.metrics).metrics.values()
    }


def _searched_text(found: FoundClaim, formats: Mapping[str, str]) -> str:
    kinds = found.kinds.values()
    metrics = {s.metric for kind in kinds if kind.observed_by for s in kind.observed_by.sources}
    return " ".join(
        (
            found.name,
            found.claim.says,
            found.place,
            found.claim.kind,
            *(kind.label for kind in kinds),
            *(formats.get(metric, "") for metric in sorted(metrics)),
        )
    )


def described(found: FoundClaim) -> Shown:
    """What a claim says, where, and which conditions a test needs."""
    claim = found.claim
    first = replace(found, claim=claim.model_copy(update={"instances": claim.instances[:1]}))
    rows = [(str(n), first.condition(q)) for n, q in enumerate(first.conditions, start=1)]
    facts = [("kind", claim.kind), ("allows", found.limits), ("section", found.place)]
    if claim.word:
        facts.append(("word", claim.word))
    if claim.reading:
        facts.append(("read as", claim.reading))
    if len(claim.instances) > 1:
        facts.append(
            (
                "one of",
                join_names([f"--at {each.replace(' ', ' --at ')}" for each in found.sets], most=10),
            )
        )
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

    @property
    def own_unit(self) -> str:
        """The unit of differences that a claim about an order shows, which are not converted."""
        units = {side.quantities[self.quantity].unit for side in self.runs if side.quantities}
        is_shown = self.found.claim.is_order and units and units != {""}
        return f", in {units.pop()}" if is_shown else ""

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
                f"quantity of your runs: {self.quantity}{self.own_unit}",
                "that your conditions correspond to the paper's is your assumption",
                *self.notes,
                *(note for side in self.runs for note in failure_notes(side)),
            ],
            data={
                "claim": found.name,
                "verdict": self.verdict,
                "reason": self.note,
                "says": found.claim.says,
                **json_values(self.numbers),
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
        offers = _offered_levels(found, places, layout, input_format, tables, quantity)
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
        kinds = found.kinds
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
        _require_selected(where or {}, sides, chosen)
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
            *option_notes(sides, FACTS),
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


def _require_selected(where: Iterable[str], sides: Sequence[Side], quantity: str) -> None:
    """Raise `ParameterError` for a name of `where` that selects no values of the quantity: a column of
    another part of the files.
    """
    for name in where:
        if not any(name in side.factor_levels | side.levels_of(quantity) for side in sides):
            known = sorted({n for side in sides for n in side.levels_of(quantity)})
            raise ParameterError(
                f"{name} does not tell values of {quantity} apart",
                expected=", ".join(known) or None,
                remedy="give the runs of each condition by a file, a folder or a quoted pattern",
            )


def _offered_levels(
    found: FoundClaim,
    places: Sequence[str | Path],
    layout: Layout,
    input_format: str | None,
    tables: TableOptions,
    quantity: str,
) -> str:
    """How to tell the conditions apart in one place: the factors and keys that have as many levels; ""
    for several places, or if there are none.
    """
    if len(places) != 1:
        return ""
    count = len(found.conditions)
    (side,) = read_sides(places, layout, input_format, tables=tables)
    try:
        keys = side.levels_of(quantity or choose_quantity([side], found.kinds.values()))
    except ParameterError:  # to be chosen by --quantity
        keys = side.key_levels
    known = side.factor_levels | keys
    offered = [
        f"{name} ({join_names(sorted(map(str, levels)), most=6)})"
        for name, levels in sorted(known.items())
        if len(levels - {None}) >= count
    ]
    name = next((n for n in sorted(known) if len(known[n] - {None}) >= count), "")
    option = " ".join([f"--where {name}=LEVEL"] * count)
    return f"give {option}, in this order: {side.name} has {'; '.join(offered)}" if offered else ""


def _cut(text: str) -> str:
    return text if len(text) <= MAX_WORDS else f"{text[: MAX_WORDS - 3]}..."
