"""The head of a report: the main finding with its figure, further ones, what limits them; folded, what
they rest on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from virtperf.core.grouping import grouped
from virtperf.core.numbers import interval, join_words, plural, pretty
from virtperf.core.verdicts import AGREED, DISPUTED, EXCLUDED, Verdict
from virtperf.report.claim_words import (
    measured_verdict,
    number_unit,
    verdict_counts,
    verdict_words,
)
from virtperf.report.findings import StatedFinding, state
from virtperf.report.frames import StudyData
from virtperf.report.key_numbers import best_known, limits_set, point_precision
from virtperf.report.kinds import Context, ExhibitKind, Figure, find_kind, note, register
from virtperf.report.kinds._figure import drawing
from virtperf.report.kinds.contradictions import (
    as_read,
    contradiction_numbers,
    contradictions_by_origin,
    read_contradictions,
)
from virtperf.report.kinds.quality import warnings_of
from virtperf.report.records import (
    Block,
    Fact,
    Facts,
    Folded,
    Listing,
    Paragraph,
    Record,
    Span,
    Words,
)
from virtperf.report.wording import FOLLOWS, OF_MANY, exhibit_name, short_number, shown_verdict
from virtperf.report.written_for import changes
from virtperf.study.claims import Claim, sentences_and_rows
from virtperf.study.definition import Exhibit
from virtperf.study.parts import Artifact, Finding

VERDICT_WORDS: Mapping[str, str] = {
    Verdict.CONTRADICTED: "In conflict with another claim of the paper",
    Verdict.DEPENDS: "Others in conflict: the paper's other claims contradict each other about it",
    Verdict.INDEPENDENT: "Stated in the paper; its other claims leave it open",
    Verdict.CORROBORATED: "Follows from the paper's other claims",
}
"""Certainty of a finding by the verdict on its claims; the first one present in this order applies.
"""
MAX_FINDINGS = 3  # below the lead; the fold has all
MAX_HYPOTHESES = 8  # hypotheses answered in the head of a report; their own section has all
_ANSWERS = (
    (AGREED, "Hold in the paper's own data ({whose})"),
    (EXCLUDED, "Do not hold in these data"),
    ((Verdict.UNDECIDED,), "Can't be decided by these data"),
    ((Verdict.NO_MEASUREMENT,), "Not in these data"),
)
"""Verdicts by the published data of a paper, and their headings in its report."""


def record(context: Context, figure: Figure | None = None) -> Record:
    """Build the head of a report; `figure` is the picture of the study's headline figure.

    Raises `StudyError` as `findings.state` does.
    """
    data = context.data
    study, measured = data.study, data.study.kind == "measured"
    stated = [
        (finding, state(data, finding, context.level))
        for finding in study.findings
        if not (measured and data.observations.empty)
    ]
    basis: list[Block] = []
    if study.artifact and data.paper_claims:
        basis.append(Listing(items=tuple(_in_the_published_data(data, study.artifact))))
    if stated:
        lead, *others = (_in_short(data, *each, context.level) for each in stated)
        blocks: list[Block] = [Listing(items=(lead,), style="lead")]
        if others:
            blocks.append(Listing(items=tuple(others[:MAX_FINDINGS]), style="findings"))
        basis.append(Listing(items=tuple(_with_basis(context, stated))))
    else:
        blocks = [Paragraph(words=" ".join((study.question or study.summary).split()))]
        if measured and data.paper_claims:
            blocks.append(Listing(items=tuple(_answers(data))))
    if study.caveat:
        blocks.append(Paragraph(words=" ".join(study.caveat.split()), style="small"))
    if not measured:
        link = f"exhibit:synthesis/measured-again-{study.id}"
        tested = Span(text="which claims, if any, on which systems, with what result", link=link)
        blocks.append(Paragraph(words=("Measured again: ", tested, "."), style="small"))
    basis.append(Facts(facts=_facts_of_runs(context) if measured else _facts(context)))
    more_findings = len(stated) - 1 - MAX_FINDINGS
    blocks.append(
        Folded(
            summary=f"{plural(more_findings, 'more finding')}, and what all of them rest on"
            if more_findings > 0
            else "What this rests on",
            blocks=tuple(basis),
        )
    )
    if data.missing:
        blocks.append(
            note(f"Missing files, whose results are not shown: {', '.join(data.missing)}.")
        )
    claims = dict.fromkeys(c for finding in study.findings for c in finding.claims)
    more: dict[str, Any] = {}
    if figure is not None and (headline_figure := _headline_figure(data)) is not None:
        whole = f"{exhibit_name(headline_figure.id, headline_figure.kind)}: {headline_figure.title}"
        more = {"title": whole, **drawing(figure, "summary", whole, whole)}
    return register(context, "summary", *blocks, claims=claims, **more)


def _in_short(data: StudyData, finding: Finding, stated: StatedFinding, level: float) -> Words:
    """A finding, the intervals of its numbers, one word for what it rests on, and what changed since
    it was written.
    """
    intervals = join_words(each.interval for each in stated.numbers.values() if each.interval)
    words, link = evidence(data, stated), ""
    if stated.claims:
        link = f"claim:{stated.claims[0].id}"
    parts: list[str | Span] = [Span(text=stated.sentence, style="strong"), " "]
    if intervals:
        parts += [Span(text=f"{pretty(100 * level)} %: {intervals}", style="small"), " "]
    parts.append(Span(text=words, style="small", link=link))
    if changed := join_words(changes(data, finding, level)):
        parts += [" ", Span(text=f"Since this was written: {changed}.", style="small")]
    return tuple(parts)


def evidence(data: StudyData, stated: StatedFinding) -> str:
    """What a finding rests on, in a word or a few: ``printed``, ``measured``, ``in conflict``."""
    if data.study.kind == "measured":
        return "measured"
    if data.study.artifact:
        return "measured by the authors" if stated.numbers else "printed, tested on their data"
    judged, _ = certainty(data, stated.claims)
    return shown_verdict(judged) if judged in DISPUTED else "printed"


def _with_basis(
    context: Context, stated: Sequence[tuple[Finding, StatedFinding]]
) -> Iterator[Words]:
    """Every finding with its claims and their verdicts."""
    data = context.data
    numbers = contradiction_numbers(data)
    for _, text in stated:
        yield (
            _measured_finding(data, text)
            if data.study.kind == "measured"
            else _finding(data, text, numbers)
        )


def _answers(data: StudyData) -> Iterator[Words]:
    """Hypotheses with their verdicts, in place of findings."""
    for claim in data.paper_claims[:MAX_HYPOTHESES]:
        result = data.result(claim.id)
        reason = f" {result.get('reason') or ''}".rstrip()
        yield (
            Span(text=claim.says, style="strong"),
            " ",
            Span(text=measured_verdict(result), style="verdict"),
            reason,
        )


def draw(context: Context) -> Figure | None:
    """Draw the study's headline figure, else the one with the most precise points."""
    if (headline_figure := _headline_figure(context.data)) is None:
        return None
    if (draws := find_kind(headline_figure).draw) is None:
        return None
    from virtperf.report.plot.theme import narrow_figures

    with narrow_figures():
        return draws(context, headline_figure)


def _headline_figure(data: StudyData) -> Exhibit | None:
    first = next((e.id for e in data.study.exhibits if e.series), "")
    name = data.study.headline_figure or best_known(data) or first
    return next((e for e in data.study.exhibits if e.id == name), None)


def _measured_finding(data: StudyData, stated: StatedFinding) -> Words:
    """A finding with the intervals of its numbers, and the hypotheses that it answers with
    verdicts.
    """
    parts: list[str | Span] = [
        Span(text=stated.sentence, style="strong"),
        f" {stated.detail}" if stated.detail else "",
    ]
    for claim in stated.claims:
        parts += [
            " Hypothesis: ",
            Span(text=claim.says, link=f"claim:{claim.id}"),
            " ",
            Span(text=measured_verdict(data.result(claim.id)), style="verdict"),
        ]
    return tuple(part for part in parts if part)


def certainty(data: StudyData, claims: Sequence[Claim]) -> tuple[str, str]:
    """Certainty of a finding by the text: the verdict on its claims that applies, "" without one, and
    its wording.
    """
    from_text = {verdict_words(claim, data.result(claim.id))[0] for claim in claims}
    verdict = next((word for word in VERDICT_WORDS if word in from_text), "")
    differ = "; ".join(_ranges_without(data, claims))
    also = f"; by all its statements, {differ}" if differ else ""
    return verdict, VERDICT_WORDS.get(verdict, "Not judged yet") + also


def _ranges_without(data: StudyData, claims: Iterable[Claim]) -> Iterator[str]:
    """Derived numbers whose range excludes the number that one of the claims prints for them."""
    of = {(row["derived"], row["label"]): row for row in data.ranges.to_dict("records")}
    for derivation in data.derivations:
        row = of.get((derivation.derived.id, derivation.label))
        if row is None or not len(row["printed"]):
            continue
        low, high = row["low_text"], row["high_text"]
        stated = [c for c in claims if any(i.parts == derivation.parts for i in c.instances)]
        if stated and not all(low <= number <= high for number in row["printed"]):
            unit = f" {derivation.unit}" if derivation.unit else ""
            yield f"{derivation.label}: {interval(low, high, unit)}"


def _finding(data: StudyData, stated: StatedFinding, numbers: dict[str, list[int]]) -> Words:
    """A finding with its certainty and links to its claims."""
    claims = stated.claims
    source = "the published data" if data.study.artifact else "measured runs"
    if not claims:
        words = f" Computed from {source}; no claim states it."
        return (Span(text=stated.sentence, style="strong"), words)
    verdict, words = certainty(data, claims)
    if stated.numbers:
        words = f"Its numbers are computed from {source}. Its claims: {words[0].lower()}{words[1:]}"
    parts: list[str | Span] = [Span(text=stated.sentence, style="strong"), f" {words}"]
    against = {n for claim in claims for n in numbers.get(claim.id, ()) if verdict in DISPUTED}
    for k, number in enumerate(sorted(against)):
        parts += [
            ", " if k else " (",
            Span(text=f"contradiction {number}", link=f"#contradiction-{number}"),
        ]
    parts.append("). " if against else ". ")
    verdicts = (verdict_words(claim, data.result(claim.id))[1] for claim in claims)
    measured = dict.fromkeys(word for word in verdicts if word != Verdict.NO_MEASUREMENT)
    if measured:
        parts.append(f"{source[0].upper()}{source[1:]}: {join_words(measured)}. ")
    parts.append("Rests on " if len(claims) == 1 else f"Rests on {len(claims)} claims: ")
    for k, claim in enumerate(claims):
        words = "one claim" if len(claims) == 1 else str(k + 1)
        parts += [", " if k else "", Span(text=words, link=f"claim:{claim.id}")]
    return (*parts, ".")


def _in_the_published_data(data: StudyData, artifact: Artifact) -> Iterator[Words]:
    """Claims that hold in the data published by the paper's authors, claims that do not, and claims
    that the data can't decide.
    """
    by_word = grouped(
        (verdict_words(claim, data.result(claim.id))[1], claim) for claim in data.paper_claims
    )
    for words, lead in _ANSWERS:
        claims = [(claim, word) for word in words for claim in by_word.get(word, ())]
        if not claims:
            continue
        every = plural(len(data.paper_claims), "claim")
        counted = f"{lead.format(whose=artifact.words)}: {len(claims)} of {every}"
        kinds = join_words(
            f"{len(by_word[word])} {'whose ' if word.startswith('value ') else ''}{word}"
            for word in words
            if word in by_word
        )
        parts: list[str | Span] = [Span(text=counted, style="strong")]
        if words == _ANSWERS[0][0]:
            sentences, rows = sentences_and_rows(data.paper_claims)
            source = plural(sentences, "sentence") + (f" and {rows} table rows" if rows else "")
            parts.append(f" ({kinds}). The {every} are from {source} of the paper.")
            recalled = sum(claim.taken_from == "memory" for claim, _ in claims)
            if recalled:
                parts.append(
                    f" Of those that hold, {recalled} were written from memory with the data at hand:"
                    " their agreement is weak evidence."
                )
        else:
            if len(words) > 1:
                parts.append(f" ({kinds})")
            for place, (claim, _) in enumerate(claims):
                sentence = Span(text=claim.says.rstrip("."), link=f"claim:{claim.id}")
                parts += ["; " if place else ": ", sentence, _number_of_the_data(data, claim)]
            parts.append(".")
            if Verdict.VALUE_DIFFERS in words and Verdict.VALUE_DIFFERS in by_word:
                parts.append(
                    " A value that differs is outside what the claim allows, but no interval decides:"
                    " there is none, or it overlaps what is allowed."
                )
        yield tuple(parts)


def _number_of_the_data(data: StudyData, claim: Claim) -> str:
    """Estimate from the published data, ``(the data: 146 ms)``; "" without one."""
    estimate = float(data.result(claim.id).get("estimate", math.nan))
    if not math.isfinite(estimate):
        return ""
    unit = "" if claim.is_order else number_unit(claim, data.study)
    return f" (the data: {short_number(estimate)}{unit})"


def _facts(context: Context) -> tuple[Fact, ...]:
    data = context.data
    used = limits_set(data) if context.assumptions else {}
    text, measured = verdict_counts(data)
    with_assumptions, text_alone = (
        point_precision(data, assumptions=context.assumptions),
        point_precision(data, assumptions=False),
    )
    judged = sum(n for word, n in measured.items() if word != Verdict.NO_MEASUREMENT)
    runs = data.series[data.series["provenance"] == "measured"]["run_id"].nunique()
    sentences, rows = sentences_and_rows(data.paper_claims)
    source = f"{plural(sentences, 'sentence')}{f' and {rows} table rows' if rows else ''}"
    alone = (
        f"without our {plural(len(used), 'assumption')}: {text_alone.within[0]}; " if used else ""
    )
    known = Fact(
        value=f"{with_assumptions.within[0]} of {with_assumptions.points}",
        label="plotted points known to ±5 % or better",
        note=f"{alone}{text_alone.open_ended} have no upper limit in the text",
    )
    contradictions = contradictions_by_origin(data)
    more = contradictions["reading"]
    from_readings = f"{more} more from our readings of words; " if more else ""
    # with published data, a text that prints none of the values is not a defect
    facts = () if data.study.artifact and not with_assumptions.within[0] else (known,)
    return (
        *facts,
        Fact(
            value=str(contradictions["paper"]),
            label="contradictions among the paper's claims"
            f"{as_read(contradictions['paper'], read_contradictions(data))}",
            note=f"{from_readings}{source}, encoded as {plural(len(data.paper_claims), 'claim')}; "
            f"{text[FOLLOWS]} {OF_MANY[FOLLOWS]}",
        ),
        Fact(
            value=str(runs),
            label=f"runs {data.study.artifact.words}"
            if data.study.artifact
            else "measured runs of this set-up",
            note=f"{plural(judged, 'claim')} tested by them"
            if runs
            else "runs of other set-ups: Measured again",
        ),
    )


def _facts_of_runs(context: Context) -> tuple[Fact, ...]:
    data = context.data
    runs = data.index.get("runs", ())
    by = data.study.pooled_factor
    pooled = {run["factors"].get(by.name) for run in runs} if by else set()
    conditions = {
        str(sorted((k, v) for k, v in run["factors"].items() if not by or k != by.name))
        for run in runs
    }
    on = f" on {plural(len(pooled), by.label)}" if by else ""
    warned = sum(1 for run in runs if warnings_of(run))
    out = sum(len(data.index.get(part, ())) for part in ("quarantined", "excluded"))
    words = Counter(measured_verdict(data.result(claim.id)) for claim in data.paper_claims)
    facts = [
        Fact(
            value=str(len(runs)),
            label="measured runs",
            note=f"of {plural(len(conditions), 'condition')}{on}",
        ),
        Fact(
            value=str(warned),
            label="runs with a warning",
            note=f"{plural(out, 'run')} excluded; see Data quality",
        ),
    ]
    if words:
        counts = join_words(
            f"{n} {word if n == 1 else OF_MANY.get(word, word)}"
            for word, n in sorted(words.items())
        )
        facts.append(Fact(value=str(sum(words.values())), label="hypotheses", note=counts))
    return tuple(facts)


KIND = ExhibitKind("summary", record, draw=draw)
