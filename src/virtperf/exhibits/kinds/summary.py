"""The headline of a report: how much the text pins down, what the verdicts are, what data there is."""

from __future__ import annotations

from virtperf.exhibits.claim_words import verdict_counts
from virtperf.exhibits.key_numbers import MEASURED_VERDICTS, TEXT_VERDICTS, reach
from virtperf.exhibits.kinds import Context, Kind, note, register
from virtperf.exhibits.records import Block, Fact, Facts, Heading, Listing, Paragraph, Record, Span, Words
from virtperf.exhibits.wording import VERDICTS, plural


def record(context: Context) -> Record:
    """The headline box."""
    data = context.data
    used = [c for c in data.claims or () if c.assumed and c.default_on and context.assumptions]
    left_out = len(data.claims.not_encoded) if data.claims else 0
    text, measured = verdict_counts(data)
    runs = data.series.groupby("provenance")["run_id"].nunique()
    given, bare = reach(data, assumptions=context.assumptions), reach(data, assumptions=False)
    simulated = plural(int(runs.get("simulated", 0)), "simulated run")
    ledger = plural(int(data.study.data.get("claims_in_ledger", 0)), "note")
    alone = f"{plural(bare.within[0], 'point')}; {bare.open_ended} are unbounded above"
    facts = (
        Fact(
            value=f"{given.within[0]} of {given.points}", label="plotted points pinned down to ±5 % or better",
            note=f"by the text and {plural(len(used), 'assumption')} of ours; without our assumptions: {alone}"
                 if used else f"by the text alone; {plural(bare.open_ended, 'point is', 'points are')} unbounded above",
        ),
        Fact(
            value=str(len(data.paper_claims)), label="claims of the paper, as relations between numbers",
            note=f"made from {ledger} on the paper; "
                 f"{plural(left_out, 'note is', 'notes are')} not quantitative",
        ),
        Fact(
            value=str(text["contradicted"]), label="claims that the paper contradicts elsewhere",
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
        blocks.append(note(f"Not there yet, so nothing is shown from it: {files}."))
    return register(context, "summary", *blocks)


def _counts(title: str, counts: dict[str, int]) -> list[Block]:
    items: list[Words] = [
        (Span(text=word, style="verdict"), " ", Span(text=str(count), style="strong"), " ",
         Span(text=VERDICTS[word], style="small"))
        for word, count in counts.items()
    ]  # fmt: skip
    return [Heading(text=title), Listing(items=tuple(items))]


KIND = Kind("summary", record)
