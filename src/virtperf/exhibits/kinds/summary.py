"""The headline of a report: how much the text pins down, what the verdicts are, what data there is."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import pandas as pd

from virtperf.exhibits.data import StudyData
from virtperf.exhibits.kinds import Context, Kind
from virtperf.exhibits.records import Block, Fact, Facts, Heading, Listing, Numbers, Paragraph, Record, Span, Words
from virtperf.exhibits.text import table_text
from virtperf.exhibits.wording import VERDICTS, plural

TEXT_VERDICTS = ("corroborated", "independent", "contradicted")
MEASURED_VERDICTS = ("reproduced", "refuted", "undecided", "no measurement")
WITHIN = (0.05, 0.10)  # a point counts as pinned down to +-5 % or +-10 % of the middle of its interval


@dataclass(frozen=True)
class Reach:
    """How far the text pins the plotted points down.

    Attributes
    ----------
    points : int
        Plotted points, without those that are 100 by convention.
    within : tuple of int
        Points whose interval is narrower than each of `WITHIN`.
    open_ended : int
        Points without an upper limit.
    """

    points: int
    within: tuple[int, ...]
    open_ended: int


def reach(data: StudyData, *, assumptions: bool = True) -> Reach:
    """Count points by the half-width of their interval relative to its middle, with or without our assumptions."""
    names = ("low", "high") if assumptions else ("low_text", "high_text")
    keys = zip(data.points["exhibit"], data.points["series"], data.points["x"], strict=True)
    limits = dict(zip(keys, zip(*(data.points[n].astype(float) for n in names), strict=True), strict=True))
    free = [
        (exhibit.id, series.label, x)
        for exhibit in data.study.exhibits
        for series, x, quantity in data.study.points(exhibit)
        if (found := data.study.reference_for(quantity)) is None or found[0] != quantity
    ]
    computed = [limits[key] for key in free if key in limits]
    widths = [(high - low) / (high + low) if high > 0 else 0.0 for low, high in computed if math.isfinite(low + high)]
    within = tuple(sum(w <= most for w in widths) for most in WITHIN)
    return Reach(len(free), within, sum(not math.isfinite(high) for _, high in computed))


def record(context: Context) -> Record:
    """The headline box."""
    data = context.data
    claims = [c for c in data.claims or () if not c.assumed]
    assumed = [c for c in data.claims or () if c.assumed]
    used = [c for c in assumed if c.default_on] if context.assumptions else []
    left_out = len(data.claims.not_encoded) if data.claims else 0
    results = [data.result(c.id) for c in claims]
    text = Counter(r.get("text_verdict") for r in results)
    measured = Counter(r.get("measured_verdict") or "no measurement" for r in results)
    runs = data.series.groupby("provenance")["run_id"].nunique()
    given, bare = reach(data, assumptions=context.assumptions), reach(data, assumptions=False)
    simulated = plural(int(runs.get("simulated", 0)), "simulated run")
    ledger = plural(int(data.study.data.get("claims_in_ledger", 0)), "note")
    facts = (
        Fact(
            value=f"{given.within[0]} of {given.points}", label="plotted points pinned down to ±5 % or better",
            note=f"by the text and {plural(len(used), 'assumption')} of ours; without our assumptions: "
                 f"{plural(bare.within[0], 'point')}; {bare.open_ended} are unbounded above",
        ),
        Fact(
            value=str(len(claims)), label="claims of the paper, as relations between numbers",
            note=f"made from {ledger} on the paper; {left_out} notes are not quantitative",
        ),
        Fact(
            value=str(text["contradicted"]), label="claims that the paper contradicts",
            note="listed under Contradictions",
        ),
        Fact(
            value=str(int(runs.get("measured", 0))), label="measured runs",
            note=f"beside {simulated}, which decide nothing",
        ),
    )  # fmt: skip
    blocks: list[Block] = [Paragraph(words=" ".join(str(data.study.data.get("summary", "")).split())),
                           Facts(facts=facts)]  # fmt: skip
    blocks += _counts("From the text alone", {w: text[w] for w in TEXT_VERDICTS})
    blocks += _counts("From measured runs", {w: measured[w] for w in MEASURED_VERDICTS})
    if data.missing:
        files = ", ".join(data.missing)
        blocks.append(Paragraph(words=f"Not there yet, so nothing is shown from it: {files}.", style="note"))
    rows = [[f.label, f.value, f.note] for f in facts]
    rows += [[f"text: {word}", str(text[word]), ""] for word in TEXT_VERDICTS]
    rows += [[f"measured: {word}", str(measured[word]), ""] for word in MEASURED_VERDICTS]
    rows += [["assumptions of ours", str(len(assumed)), ""]]
    columns = ["what", "count", "note"]
    return Record(
        kind="summary", id="summary", study=data.study.id, title="", blocks=tuple(blocks),
        numbers=(Numbers.of(pd.DataFrame(rows, columns=columns), f"{data.study.id}-summary", words=""),),
        text=table_text(columns, rows),
    )  # fmt: skip


def _counts(title: str, counts: dict[str, int]) -> list[Block]:
    items: list[Words] = [
        (Span(text=word, style="verdict"), " ", Span(text=str(count), style="strong"), " ",
         Span(text=VERDICTS[word], style="small"))
        for word, count in counts.items()
    ]  # fmt: skip
    return [Heading(text=title), Listing(items=tuple(items))]


KIND = Kind("summary", record)
