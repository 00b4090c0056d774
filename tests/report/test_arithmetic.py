"""Relations as text, checked against the rows used in computation."""

from __future__ import annotations

from pathlib import Path

import pytest

from virtperf.report.claim_words import MAX_SHOWN_RELATIONS, relations
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study
from virtperf.study.quantities import quantities_of

STUDY = """
study: toy
title: A toy study
n_statements: 1
bibliography: {publisher: nobody}
factors:
  guests: {label: guests, levels: [1, 2, 3], default: 1}
quantities:
  rate: {label: Rate, unit: pages/s, bounds: [0, null]}
  wait: {label: Response time, unit: s, bounds: [0, null]}
exhibits:
  - {id: table-1, kind: table, title: Numbers, section: Setup, table: table-1}
"""
WRITTEN = {
    "kind: value, of: rate, value: 10, half_width: 0.5": "Rate: 9.5 to 10.5\u00a0pages/s",
    'kind: ratio, of: "rate[guests=2]", to: rate, low: 1.5, high: 2': "Rate (2 guests) ÷ Rate: 1.5 to 2",
    'kind: ratio, of: rate, to: "rate[guests=2] + rate[guests=3]", low: 0.1': (
        "Rate ÷ (Rate (2 guests) + Rate (3 guests)): 0.1 or more"
    ),
    'kind: difference, of: "rate[guests=2]", to: rate, low: 1, high: 2': (
        "Rate (2 guests) − Rate: 1 to 2\u00a0pages/s"
    ),
    'kind: percent_change, of: "rate[guests=2]", to: rate, value: -10, half_width: 0.5': (
        "100 × (Rate (2 guests) ÷ Rate − 1): −10.5 to −9.5\u00a0%"
    ),
    'kind: equivalence, of: "rate[guests=2]", to: rate, margin: 0.05': "Rate (2 guests) ÷ Rate: 0.9524 to 1.05",
    'kind: ordering, order: [rate, "rate[guests=2]"]': "Rate < Rate (2 guests)",
    'kind: sum, of: "rate[guests=3]", parts: [rate, "rate[guests=2]"]': "Rate (3 guests) = Rate + Rate (2 guests)",
    "kind: monotone, of: rate, over: guests, levels: [1, 2, 3], direction: nonincreasing": (
        "Rate ≥ Rate (2 guests) ≥ Rate (3 guests)"
    ),
}


@pytest.mark.parametrize("entry", WRITTEN)
def test_relation_is_written_out(tmp_path: Path, entry: str) -> None:
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "study.yaml").write_text(STUDY)
    (folder / "claims.yaml").write_text(
        "study: toy\nnot_encoded: []\nclaims:\n"
        f"  - {{id: one, {entry}, says: Something, about: [table-1], section: Setup, ledger: c1}}\n"
    )
    study = load_study(folder)
    (claim,) = load_claims(study)
    assert relations(claim, study) == [WRITTEN[entry]]


def test_every_kind_of_claim_names_all_its_quantities(root: Path) -> None:
    kinds = set()
    for folder in sorted((root / "data" / "published").iterdir()):
        study = load_study(folder)
        for claim in load_claims(study):
            kinds.add(claim.kind)
            written = relations(claim, study)
            for instance, text in zip(claim.instances[:MAX_SHOWN_RELATIONS], written, strict=False):
                assert all(study.show(q) in text for q in quantities_of(instance.parts)), claim.id
    assert kinds >= {
        "argmax",
        "argmin",
        "linear",
        "concave",
        "rule",
        "sum",
        "ordering",
    }


def test_relations_of_the_requested_quantity_come_first(root: Path) -> None:
    study = load_study(root / "data" / "published" / "zvm-xen-2009")
    claim = max(load_claims(study), key=lambda c: len(c.instances))
    last = claim.instances[-1]
    asked = relations(
        claim, study, quantities_of(last.parts) - quantities_of(claim.instances[0].parts)
    )
    assert asked[0] in relations(claim.model_copy(update={"instances": (last,)}), study)
    assert asked[-1].startswith("and ")
