"""Findings of a study: sentences whose numbers are computed, and checks of these sentences against
what the study's pages show.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import numpy as np

from rawperf.core.errors import StudyError, require_known
from virtperf.core.contrasts import POOLED, Contrast, block_name
from virtperf.core.levels import level_text
from virtperf.core.numbers import (
    as_precise,
    interval,
    join_words,
    plural,
    pretty,
    same_within,
    with_interval,
)
from virtperf.core.provenance import Provenance
from virtperf.core.statistics import two_groups
from virtperf.core.verdicts import AGREED, DISPUTED, EXCLUDED, Verdict
from virtperf.report.claim_words import verdict_words
from virtperf.report.frames import StudyData, allowed
from virtperf.report.number_words import number_words, wrong_origin
from virtperf.report.range_words import is_within_factor
from virtperf.report.run_estimates import contrast_of_means
from virtperf.report.wording import short_number
from virtperf.study.claims import Claim
from virtperf.study.conditions import OWN_SCALE
from virtperf.study.definition import Exhibit, Study
from virtperf.study.parts import EVERY, PLACEHOLDER, Finding, MeasuredNumber, QuantityKind
from virtperf.study.quantities import Quantity, ratio_of_percent
from virtperf.study.study_samples import Terms

PROSE_DIGITS = 3
MAX_TITLE_CHARACTERS = 130  # three lines on a phone
MAX_WORDS = 25  # of a finding, numbers and units included
UTILIZATION_WORDS = ("utiliz", "load", "share", "busy", "idle")
_PROCESSORS = re.compile(r"cpu|processor|\bifl", re.IGNORECASE)
_TYPED = re.compile(r"(?<![\w.])(?<![A-Za-z]-)\d[\d,]*(?:\.\d+)?")
"""A number, but not part of a name: z196, DB2, SHA-1."""
_problem = partial(StudyError, file="study.yaml")


@dataclass(frozen=True)
class StatedNumber:
    """A number of measured runs in a sentence: `text` with its unit, its `interval` ("" for a range
    over runs, and for a single run), and `over`: the number of runs or blocks, and whether the error
    is pooled over conditions. `wide`: whether the interval is so wide that the number alone misleads.
    """

    text: str
    interval: str
    over: str
    wide: bool = False


@dataclass(frozen=True)
class StatedFinding:
    """A finding with its numbers filled in.

    `detail`: the intervals of the measured numbers, in words. `claims`: the claims, or hypotheses,
    that it rests on.
    """

    sentence: str
    numbers: Mapping[str, StatedNumber]
    claims: tuple[Claim, ...]
    detail: str


def state(data: StudyData, finding: Finding, level: float) -> StatedFinding:
    """Fill the numbers into a finding.

    Raises `StudyError` if it names an unknown claim, or a number that a claim does not have; if a
    number was not measured, is not shown on the study's page, or is not that of the plotted means;
    if the runs fall into two groups, which no mean describes; and if its interval exceeds the
    limits given with the sentence, which would then claim more than the runs support.
    """
    known = {claim.id: claim for claim in data.claims or ()}
    derived = {derived.id: derived for derived in data.study.derived}
    claims = tuple(_claim_named(known, name) for name in finding.claims)
    numbers = {
        name: _stated_number(data, name, stated, level) for name, stated in finding.numbers.items()
    }

    def filled(match: re.Match[str]) -> str:
        name, part = match[1], match[2]
        if name in numbers:
            return numbers[name].text
        if name not in known and name in derived:
            return _derived(data, name, part or "")
        return _printed(data, _claim_named(known, name), part or "value")

    parts = [
        f"{join_words(each.interval for each in group)} over {over}"
        for over, group in groupby(
            (each for each in numbers.values() if each.interval), key=lambda each: each.over
        )
    ]
    ranges = [f"{each.text}: {each.over}." for each in numbers.values() if not each.interval]
    return StatedFinding(
        sentence=PLACEHOLDER.sub(filled, " ".join(finding.says.split())),
        numbers=numbers,
        claims=claims,
        detail=" ".join(
            [*([f"{pretty(100 * level)} % CI {'; '.join(parts)}."] if parts else []), *ranges]
        ),
    )


def length_error(sentence: str) -> StudyError | None:
    """Return an error for a finding, with its numbers, that has more words than `MAX_WORDS`."""
    words = sentence.split()
    if len(words) <= MAX_WORDS:
        return None
    return _problem(
        f"findings: a sentence has {len(words)} words",
        expected=f"at most {MAX_WORDS}, numbers and units included",
        found=f"“{' '.join(words)}”",
        remedy="say one thing, or make two findings of it.",
    )


def title(data: StudyData, exhibit: Exhibit, level: float) -> str:
    """What an exhibit shows, in words: the sentences of the claims that its `shows` names, else the
    first finding whose figure it is, and what contradicts it (`contradicted_by`); "" without both, and
    for a measured study without runs.

    Raises `StudyError` if a claim is unknown, if runs of the study itself do not agree with a claim
    that `shows` names, and as `state` does.
    """
    if _lacks_runs(data):
        return ""
    known = {claim.id: claim for claim in data.claims or ()}
    claims = [_claim_named(known, name) for name in exhibit.shows]
    for claim in claims:
        _check_runs_agree(data, exhibit, claim)
    says = " ".join(f"{claim.says.rstrip('.')}." for claim in claims)
    if not claims:
        of_figure = data.study.findings_of(exhibit.id)
        if not of_figure:
            return ""
        stated = state(data, of_figure[0], level)
        says, claims = stated.sentence, list(stated.claims)
        if wide := [number.interval for number in stated.numbers.values() if number.wide]:
            says = f"{says.rstrip('.')} ({pretty(100 * level)} %: {join_words(wide)})."
    return " ".join((says, *contradicted_by(data, claims)))


def below_title(data: StudyData, exhibit: Exhibit, level: float) -> list[str]:
    """Sentences of a figure's findings after the first one: of a figure that is left to orders they say
    what its picture would; [] for a measured study without runs.

    Raises `StudyError` as `state` does.
    """
    of_figure = () if _lacks_runs(data) else data.study.findings_of(exhibit.id)
    return [state(data, finding, level).sentence for finding in of_figure[1:]]


def _lacks_runs(data: StudyData) -> bool:
    """Whether a study's findings wait for its runs."""
    return data.study.kind == "measured" and data.observations.empty


def contradicted_by(data: StudyData, claims: Iterable[Claim]) -> Iterator[str]:
    """Yield sentences on what contradicts the claims of a title: other claims of the paper, unless
    the title states all claims of a conflict or every conflict follows from how we read words, and
    runs that others made of its set-up. Findings say in their own words what the study's own runs
    exclude.
    """
    by_id = {claim.id: claim for claim in claims}
    verdicts = [verdict_words(claim, data.result(claim.id)) for claim in by_id.values()]
    by_text = {word for word, _ in verdicts}
    entries = [
        entry
        for entry in data.contradictions.get("contradictions", ())
        if any(not by_id.keys().isdisjoint(conflict) for conflict in entry["conflicts"])
    ]
    conflicts = (conflict for entry in entries for conflict in entry["conflicts"])
    told = any(by_id.keys() >= {*conflict} for conflict in conflicts)
    by_readings = entries and all(entry.get("readings") for entry in entries)
    if not told and not by_readings:
        yield from [words for verdict, words in _CONFLICTS.items() if verdict in by_text][:1]
    if not _has_own_runs(data) and any(word in EXCLUDED for _, word in verdicts):
        yield "Measured runs refute this."


_CONFLICTS = {
    Verdict.CONTRADICTED: "Other claims conflict with this.",
    Verdict.DEPENDS: "Other claims disagree on this.",
}
"""What a title says of a verdict of the text."""


def _check_runs_agree(data: StudyData, exhibit: Exhibit, claim: Claim) -> None:
    """Check that the study's own runs, which an exhibit shows, agree with the claim of its title."""
    _, by_runs = verdict_words(claim, data.result(claim.id))
    if _has_own_runs(data) and by_runs not in AGREED:
        raise _problem(
            f"{exhibit.id}: the runs do not support the title that `shows` gives it",
            expected=f"runs that agree with {claim.id}: {' or '.join(AGREED)}",
            found=by_runs,
            remedy="name another claim, or state what the runs show in a finding with this `figure`.",
        )


def _has_own_runs(data: StudyData) -> bool:
    """Whether a study's runs are its own: measured for it, or published with its paper."""
    return data.study.kind == "measured" or data.study.artifact is not None


def _claim_named(known: Mapping[str, Claim], name: str) -> Claim:
    require_known(name, known, f"findings: there is no claim {name!r}", _problem)
    return known[name]


def _printed(data: StudyData, claim: Claim, part: str) -> str:
    """Printed number of a claim with its unit: its `value`, a limit, or a coefficient of a rule."""
    limits = {"value": claim.value, "low": claim.low, "high": claim.high}
    is_coefficient = part in claim.coefficients
    value = claim.coefficients.get(part, limits.get(part))
    if value is None or not math.isfinite(value):
        raise _problem(
            f"findings: the claim {claim.id} has no number"
            if part == "value"
            else f"findings: the claim {claim.id} has no {part}",
            expected=f"a claim with `{part}`",
            found="{" + claim.id + (f".{part}" if part != "value" else "") + "}",
        )
    return f"{pretty(abs(value))}{'' if is_coefficient else claim.unit_suffix(data.study)}"


def _derived(data: StudyData, name: str, gives: str) -> str:
    """Range of a derived number by the text, with its unit: ``56.5 to 61.5 s``."""
    rows = data.ranges[(data.ranges["derived"] == name) & (data.ranges["gives"] == gives)]
    ends = list(rows["pieces_text"].iloc[0]) if len(rows) == 1 else []
    if not ends or not all(map(math.isfinite, ends)):
        raise _problem(
            f"findings: the derived number {name} has no closed range",
            expected="one number with an upper and a lower limit",
            found=f"{len(rows)} numbers"
            if len(rows) != 1
            else f"{allowed(ends)} ({', '.join(rows['label'])})",
        )
    unit = str(rows["unit"].iloc[0])
    texts = [
        [short_number(end) for end in pair] for pair in zip(ends[::2], ends[1::2], strict=True)
    ]
    words = " or ".join(low if low == high else f"{low} to {high}" for low, high in texts)
    return words if unit in ("", "1") else f"{words} {unit}"


# ---- numbers of measured runs


def _stated_number(
    data: StudyData, name: str, stated: MeasuredNumber, level: float
) -> StatedNumber:
    of, to = _sides(data, stated)
    _check_shown(data, name, (*of, *to))
    contrast = _contrast(data, of, to, level)
    found = contrast.estimate(level)
    ends = found.low, found.high
    scale, shift = _SCALES[stated.show]
    if stated.mean:
        for quantity in (*of, *to):
            if error := two_groups_error(data, quantity):
                raise error
    else:
        ends = _range_over_units(data, name, of, to)
    value, low, high = (scale * v + shift for v in (contrast.value, *ends))
    if not (stated.low <= low and high <= stated.high):
        raise _problem(
            f"findings: the runs do not support the limits given for {name}",
            expected=f"a {100 * level:g} % interval within {interval(stated.low, stated.high)}",
            found=with_interval(value, low, high) if stated.mean else interval(low, high),
            remedy="adapt the sentence and its limits to the interval, or measure more runs.",
        )
    if stated.show == "change" and low < 0:
        value, low, high = -value, -high, -low
    unit = _unit(data, stated)
    runs = plural(contrast.n, block_name(contrast.design) or _replicate(data, (*of, *to)))
    if not stated.mean and low == high:
        return StatedNumber(f"{_number_text(value, low, high)}{unit}", "", f"{runs}, no interval")
    if not stated.mean:
        ends_of_range = f"{pretty(low, 2)} to {pretty(high, 2)}{unit}"
        return StatedNumber(ends_of_range, "", f"range over {runs}, which fall into two groups")
    text = _number_text(value, low, high)
    _check_plotted(data, name, text, stated, (value, low, high))
    if POOLED in contrast.design:
        runs += " (pooled error)"
    no_change = (scale + shift,) if to else ()
    shown_ends = interval_text(value, low, high, unit, beside=no_change)
    return StatedNumber(
        f"{text}{unit}", shown_ends, runs, low >= 0 and not is_within_factor(low, high)
    )


def _replicate(data: StudyData, named: Iterable[Quantity]) -> str:
    """What the spread of a number is over: samples of one run, or runs."""
    means = (data.mean(quantity, Provenance.MEASURED, OWN_SCALE) for quantity in named)
    return "sample" if any(mean is not None and mean.of_samples for mean in means) else "run"


_SCALES = {"value": (1.0, 0.0), "percent": (100.0, 0.0), "change": (100.0, -100.0)}
"""Factor and shift from a ratio to the number shown."""


def _sides(data: StudyData, stated: MeasuredNumber) -> tuple[Terms, Terms]:
    of, to = (
        {q: c for c, q in data.study.expression(text).terms} if text else {}
        for text in (stated.of, stated.to)
    )
    return of, to


def _contrast(data: StudyData, of: Terms, to: Terms, level: float) -> Contrast:
    """Ratio of the plotted means, or `of` alone."""
    return contrast_of_means(data.samples(Provenance.MEASURED), of, to, level)


def interval_text(
    value: float, low: float, high: float, unit: str, *, beside: Iterable[float] = ()
) -> str:
    """Format the interval of a number, with the fewest digits from four that tell its ends apart,
    and from the numbers `beside` it: ``2.9 to 3.1 MiB``.
    """
    if low == high:
        return "no spread"
    for digits in range(PROSE_DIGITS + 1, PROSE_DIGITS + 9):
        _, first, last = as_precise(value, low, high, digits=digits, beside=beside)
        if first != last:
            break
    return f"{first} to {last}{unit}"


def _number_text(value: float, low: float, high: float) -> str:
    """Format a number with as many digits as its interval supports, at most `PROSE_DIGITS`."""
    precise = as_precise(value, low, high)[0]
    digits = sum(c.isdigit() for c in precise.lstrip("0."))
    if digits <= PROSE_DIGITS:
        return precise
    return as_precise(value, low, high, digits=PROSE_DIGITS)[0]


def _check_shown(data: StudyData, name: str, named: Iterable[Quantity]) -> None:
    """Check that a number's quantities were measured, and are in a figure or a derived number."""
    samples = data.samples(Provenance.MEASURED)
    if missing := [q.key() for q in named if q not in samples]:
        raise _problem(
            f"findings: no measured run for the number {name}",
            found=", ".join(missing),
            remedy="name measured conditions; virtperf runs reads new runs.",
        )
    pooled = data.study.pooled_factor
    every = {pooled.name: EVERY} if pooled else {}  # whose figures have a mark for each level
    if hidden := [q.key() for q in named if not {q, q.moved(every)} & data.shown]:
        raise _problem(
            f"findings: no exhibit shows the number {name}",
            expected="quantities that a figure plots, or that a derived number compares",
            found=", ".join(hidden),
        )


def two_groups_error(data: StudyData, quantity: Quantity) -> StudyError | None:
    """Return an error if the measured runs of a quantity fall into two groups."""
    groups = two_groups(data.samples(Provenance.MEASURED)[quantity].units.tolist())
    if groups is None:
        return None
    return _problem(
        f"findings: no mean describes {data.study.show(quantity)}: its runs fall into two groups",
        found=" and ".join(interval(float(g[0]), float(g[-1])) for g in groups),
        remedy="give the range over its runs by `mean: false`, or say what separates the groups.",
    )


def _check_plotted(
    data: StudyData,
    name: str,
    text: str,
    stated: MeasuredNumber,
    shown: tuple[float, float, float],
) -> None:
    """Check that the means of the figures give the same number: in its printed digits, or within a
    part of its interval that is small.
    """
    means = {
        q: mean.value
        for q in {q for side in _sides(data, stated) for q in side}
        if (mean := data.mean(q, Provenance.MEASURED, OWN_SCALE)) is not None
    }
    of, to = _sides(data, stated)
    over, under = (sum(c * means.get(q, math.nan) for q, c in side.items()) for side in (of, to))
    scale, shift = _SCALES[stated.show]
    plotted = scale * (over / under if to else over) + shift
    plotted = abs(plotted) if stated.show == "change" else plotted
    value, *ends = shown
    again = _number_text(plotted, *(plotted + (end - value) for end in ends))
    if again != text and not same_within(value, plotted, (ends[0], ends[1])):
        raise _problem(
            f"findings: the number {name} is not that of the plotted means",
            expected=again,
            found=text,
            remedy="measure both sides in the same blocks, or compare conditions that have them.",
        )


def _range_over_units(data: StudyData, name: str, of: Terms, to: Terms) -> tuple[float, float]:
    """Smallest and largest number of the blocks common to all conditions; without blocks, of single
    runs of one condition, or of conditions with one run each.
    """
    samples = data.samples(Provenance.MEASURED)
    sides = {q: samples[q] for q in (*of, *to)}
    if len(sides) == 1 and not to:
        ((quantity, factor),) = of.items()
        values = factor * sides[quantity].units
        return float(values.min()), float(values.max())
    common = set.intersection(*(set(side.by_block) for side in sides.values())) - {""}
    by_block = {q: side.by_block for q, side in sides.items()}
    if not common and all(len(side.units) == 1 for side in sides.values()):
        by_block = {q: {"": float(side.units[0])} for q, side in sides.items()}
        common = {""}
    if not common:
        raise _problem(
            f"findings: the conditions of the number {name} have no block in common",
            remedy="a range over blocks (`mean: false`) needs both sides in each block.",
        )
    values = np.array(
        [
            sum(c * by_block[q][block] for q, c in of.items())
            / (sum(c * by_block[q][block] for q, c in to.items()) if to else 1.0)
            for block in sorted(common)
        ]
    )
    return float(values.min()), float(values.max())


def _unit(data: StudyData, stated: MeasuredNumber) -> str:
    if stated.show != "value":
        return " %"
    (_, quantity), *_ = data.study.expression(stated.of).terms
    unit = data.study.quantities[quantity.name].unit
    return "" if stated.to or unit in ("1", "count") else f" {unit}"


# ---- checks of the sentences


def problems(data: StudyData, finding: Finding, level: float) -> Iterator[StudyError]:
    """Yield what is wrong with a finding, beyond the errors of `state`.

    - A number that is typed: results are placeholders, so that they follow from claims or runs; only
      levels of the compared conditions, names, and numbers of the claims' own statements are typed.
    - A utilization presented as use: at two conditions that may differ in length, a ratio of
      utilizations is no ratio of processor time.
    - A printed number outside the range that the page gives for it, without a verdict that says so.
    - A ratio in words ("twice", "a third") that no ratio of the evidence supports.
    - A measured number called printed, or a printed one called measured.
    """
    known = {claim.id: claim for claim in data.claims or ()}
    claims = [known[name] for name in finding.claims if name in known]
    yield from _typed_numbers(data, finding, claims)
    quoted = [known[name] for name, _ in finding.quoted if name in known]
    compared = [i for claim in quoted if claim.of_reference for i in claim.instances]
    sides = [_sides(data, number) for number in finding.numbers.values() if number.to]
    for terms in (
        *([q for part in instance.parts for _, q in part.terms] for instance in compared),
        *([*of, *to] for of, to in sides),
    ):
        if error := utilization_error(data.study, terms, finding.says):
            yield error
    for claim in quoted:
        yield from outside_page(data, claim)
    evidence = list({claim.id: claim for claim in [*claims, *quoted]}.values())
    ratios = _evidence_ratios(data, finding, evidence, level)
    yield from unsupported_words(
        finding.says, [*(claim.says for claim in evidence), *_condition_texts(data)], ratios
    )
    for place in PLACEHOLDER.finditer(finding.says):
        if word := wrong_origin(finding.says, place, measured=place[1] in finding.numbers):
            yield _problem(
                f"findings: the number {place[1]} stands beside the word “{word}”",
                expected="printed numbers and ranges of a text, and measured numbers, called what they are",
            )


def unsupported_words(
    says: str, texts: Iterable[str], ratios: Iterable[tuple[float, float]]
) -> Iterator[StudyError]:
    """Yield an error for each ratio in words that is in none of `texts`, the statements that the
    sentence rests on, and describes none of the `ratios` between two limits. NaN limits are unknown.
    """
    known = {word.text for text in texts for word in number_words(text)}
    ends = list(ratios)
    if any(math.isnan(end) for pair in ends for end in pair):
        return  # before the stages have run
    for word in number_words(PLACEHOLDER.sub("{}", says)):
        if word.text not in known and not any(word.describes(*pair) for pair in ends):
            yield _problem(
                f"findings: nothing supports the words “{word.text}”",
                expected=f"a ratio of {interval(word.low, word.high)} between two numbers of the evidence",
                found=join_words([interval(*pair) for pair in ends]) or "no ratio",
                remedy="state the number, or name the claim that says so in rests_on.",
            )


def _evidence_ratios(
    data: StudyData, finding: Finding, claims: Iterable[Claim], level: float
) -> Iterator[tuple[float, float]]:
    """Yield the limits of ratios: those that claims state or runs measured, quotients of the other
    numbers in the sentence, and its derived numbers.
    """
    values = []
    quoted = {name for name, _ in finding.quoted}
    for claim in claims:
        result = data.result(claim.id)
        low, high = (float(result.get(end, math.nan)) for end in ("low", "high"))
        if claim.of_reference:
            as_ratio = ratio_of_percent if claim.in_percent else float
            yield as_ratio(low), as_ratio(high)
        elif claim.prints_level and claim.id in quoted:
            unit = claim.unit_suffix(data.study)
            values.append((unit, low, high))
            if "%" in unit:
                yield low / 100, high / 100
    for name in quoted:
        rows = data.ranges[data.ranges["derived"] == name]
        for pieces, unit in zip(rows["pieces_text"], rows["unit"], strict=True):
            if unit in ("", "1") and len(pieces):
                yield float(pieces[0]), float(pieces[-1])
    for stated in finding.numbers.values():
        of, to = _sides(data, stated)
        if not data.samples(Provenance.MEASURED).keys() >= {*of, *to}:
            continue  # `state` names what was not measured
        found = _contrast(data, of, to, level).estimate(level)
        if to:
            yield found.low, found.high
        else:
            values.append((_unit(data, stated), found.low, found.high))
    for unit, low, high in values:
        yield from ((low / b, high / a) for other, a, b in values if other == unit and a > 0)


def _condition_texts(data: StudyData) -> Iterator[str]:
    """Yield what a study says of its conditions: labels of factors, levels and exhibits."""
    for factor in data.study.factors.values():
        yield from (factor.label, *factor.level_labels.values())
    yield from (exhibit.title for exhibit in data.study.exhibits)


def _typed_numbers(
    data: StudyData, finding: Finding, claims: Iterable[Claim]
) -> Iterator[StudyError]:
    study = data.study
    claims = list(claims)
    evidence = {q for c in claims for q in c.quantities}
    evidence |= {q for n in finding.numbers.values() for side in _sides(data, n) for q in side}
    levels = {level for q in evidence for _, level in q.at}
    levels |= {level for claim in claims for level in claim.named_levels}
    conditions = typed_tokens(map(level_text, levels))
    conditions |= typed_tokens(
        label for f in study.factors.values() for label in (f.label, *f.level_labels.values())
    )
    conditions |= typed_tokens(study.quantities[q.name].label for q in evidence)
    software = (str(text) for of in study.software.values() for text in of.values())
    names = typed_tokens([str(study.data.get("title", "")), *study.systems.values(), *software])
    statements = typed_tokens(claim.says for claim in claims)
    for token in typed_tokens([PLACEHOLDER.sub(" ", finding.says)]):
        if token in conditions:
            continue
        written = next(filter(None, (_number_of(c, token) for c in claims)), "")
        if not written and token in names | statements:
            continue
        yield _problem(
            f"findings: the number {token} is typed, not computed",
            expected="a level of the compared conditions, or a number in the statement of a claim that "
            "the finding rests on",
            remedy=f"write {{{written}}}."
            if written
            else "name the claim that prints it in braces, or compute it under `numbers`.",
        )


def typed_tokens(texts: Iterable[str]) -> set[str]:
    """Return the numbers in texts, without thousands separators."""
    return {match.replace(",", "").rstrip(".") for text in texts for match in _TYPED.findall(text)}


def _number_of(claim: Claim, token: str) -> str:
    """Placeholder for the number of a claim that is typed; "" for another number."""
    numbers: dict[str, float | None] = {claim.id: claim.value}
    numbers |= {f"{claim.id}.{name}": number for name, number in claim.coefficients.items()}
    typed = float(token)
    return next(
        (name for name, v in numbers.items() if v is not None and math.isclose(abs(v), typed)), ""
    )


def is_utilization(kind: QuantityKind) -> bool:
    """Whether a quantity is the share of time for which processors are in use: not an amount."""
    share = (
        kind.unit == "%" or kind.unit.startswith("% of one") or bool(_PROCESSORS.search(kind.unit))
    )
    return share and bool(_PROCESSORS.search(f"{kind.label} {kind.unit}"))


def utilization_error(study: Study, terms: Sequence[Quantity], says: str) -> StudyError | None:
    """Return an error if a sentence presents a ratio of utilizations at different conditions as one of
    processor time.
    """
    names = {quantity.name for quantity in terms}
    named = any(word in says.lower() for word in UTILIZATION_WORDS)
    shares = all(is_utilization(study.quantities[name]) for name in names)
    if named or not shares or len({quantity.at for quantity in terms}) < 2:
        return None
    label = study.quantities[min(names)].label
    return _problem(
        f"findings: a change of “{label}” is stated without the word utilization or load",
        found=" ".join(says.split()),
        remedy="say that it is a utilization: with another run time the processor time differs.",
    )


def outside_page(data: StudyData, claim: Claim) -> Iterator[StudyError]:
    """Yield an error if the printed value of a claim is outside the range by the text of a point
    that plots it.

    Where derived numbers exclude it, the head of the report says so (`kinds.summary.certainty`).
    """
    disputed = verdict_words(claim, data.result(claim.id))[0] in DISPUTED
    if not claim.prints_level or claim.assumed or disputed:
        return
    of_claim = {
        q for i in claim.instances for p in i.parts if len(p.terms) == 1 for _, q in p.terms
    }
    rows = {
        (row["exhibit"], row["series"], row["x"]): row for row in data.points.to_dict("records")
    }
    for exhibit in data.study.exhibits:
        for series, x, quantity in data.study.points(exhibit):
            row = rows.get((exhibit.id, series.label, x))
            if quantity not in of_claim or row is None or not len(row["pieces_text"]):
                continue
            pieces = row["pieces_text"]
            near = 1e-6 * max(map(abs, filter(math.isfinite, pieces)), default=0.0)
            pairs = zip(pieces[::2], pieces[1::2], strict=True)
            if not any(
                claim.low <= end + near and start - near <= claim.high for start, end in pairs
            ):
                yield _problem(
                    f"findings: the number of {claim.id} lies outside the page's own range",
                    expected=allowed(pieces),
                    found=interval(claim.low, claim.high),
                    remedy="state both, or rest the finding on the claims that contradict each other.",
                )
                return
