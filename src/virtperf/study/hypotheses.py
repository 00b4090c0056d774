"""Hypotheses of a measured study: relations between its quantities, some from papers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rawperf.core.errors import RawperfError, Report, StudyError, did_you_mean, raise_problem
from rawperf.core.model import Model, load_model, problems
from virtperf.core.params import WordReading
from virtperf.study.claim_kinds import CLAIM_KINDS, parse_claim
from virtperf.study.claim_kinds.base import Claim
from virtperf.study.claims import Claims, ClaimsFile, load_claims, resolve_claims
from virtperf.study.definition import Study, load_study
from virtperf.study.digests import HYPOTHESES_FILE

INHERITED = ("kind", "value", "half_width", "low", "high", "margin", "direction", "strict")
"""Fields that a hypothesis inherits from the repeated claim unless it sets them."""


class HypothesesFile(Model):
    """Schema of `hypotheses.yaml`."""

    study: str
    hypotheses: tuple[dict[str, Any], ...]


def study_claims(
    study: Study, report: Report = raise_problem, *, reading: WordReading = "default"
) -> Claims:
    """Claims of a paper, or hypotheses of a measured study.

    Raises as `load_claims` and `load_hypotheses`.
    """
    load = load_hypotheses if study.kind == "measured" else load_claims
    return load(study, report, reading=reading)


def reread_claims(study: Study, claims: Claims, reading: WordReading) -> Claims:
    """The result of `study_claims` under another reading; claims of papers are not parsed again."""
    if study.kind != "measured":
        return claims.reread(study, reading)
    papers = {
        folder: (paper, paper_claims.reread(paper, reading))
        for folder, (paper, paper_claims) in claims.papers.items()
    }
    return load_hypotheses(study, reading=reading, papers=papers)


def load_hypotheses(
    study: Study,
    report: Report = raise_problem,
    *,
    reading: WordReading = "default",
    papers: Mapping[Path, tuple[Study, Claims]] | None = None,
) -> Claims:
    """Load the hypotheses of a measured study, as `load_claims` does for a paper.

    Raises `StudyError` also if a repeated claim does not exist.

    `papers`: cache of loaded papers and claims, by folder.
    """
    file, document = load_model(study.folder / HYPOTHESES_FILE, HypothesesFile, report)
    entries: list[tuple[tuple[str, int], Claim]] = []
    loaded = dict(papers or {})
    for position, written in enumerate(file.hypotheses):
        where = ("hypotheses", position)
        try:
            inherited = _inherited_fields(study, written, reading, loaded)
            fields = {**inherited, **written}
            hypothesis = parse_claim(fields)
            if hypothesis.origin is not None and not hypothesis.reading:
                raise StudyError(
                    "the correspondence to the paper's quantities is not stated",
                    expected="a sentence in `reading`",
                )
            entries.append((where, hypothesis))
        except ValidationError as err:
            kind = CLAIM_KINDS.get(str(fields.get("kind")), Claim)
            for problem in problems(err, kind, document, *where):
                report(problem)
        except RawperfError as err:
            if err.folder not in (None, document.path.parent):  # an invalid file of the paper
                report(err)
                continue
            parts = {"expected": err.expected, "remedy": err.remedy}
            report(
                document.error(
                    err.problem, *where, **{name: part for name, part in parts.items() if part}
                )
            )
    empty = ClaimsFile(study=file.study)
    hypotheses = resolve_claims(study, entries, document, report, reading)
    return Claims(hypotheses, reading, {}, empty, document, loaded)


def _inherited_fields(
    study: Study,
    written: Mapping[str, Any],
    reading: WordReading,
    papers: dict[Path, tuple[Study, Claims]],
) -> dict[str, Any]:
    """Fields that a hypothesis inherits from the paper's claim, as far as its kind uses them.

    Empty if the entry names no claim, or is malformed. `papers`: cache of loaded papers.
    """
    origin = written.get("from")
    if not isinstance(origin, dict) or not {"study", "claim"} <= origin.keys():
        return {}
    folder = study.folder.parent.parent / "published" / str(origin["study"])
    if not (folder / "study.yaml").is_file():
        known = [p.parent.name for p in folder.parent.glob("*/study.yaml")]
        raise StudyError(
            f"unknown paper {origin['study']!r}", remedy=did_you_mean(origin["study"], known)
        )
    if folder not in papers:
        paper = load_study(folder)
        papers[folder] = paper, load_claims(paper, reading=reading)
    claims = {claim.id: claim for claim in papers[folder][1]}
    if origin["claim"] not in claims:
        raise StudyError(
            f"{origin['study']} has no claim {origin['claim']!r}",
            remedy=did_you_mean(origin["claim"], claims),
        )
    claim = claims[origin["claim"]]
    limited = {"low", "high"} if claim.low > -float("inf") or claim.high < float("inf") else set()
    kind = CLAIM_KINDS.get(str(written.get("kind", claim.kind)))
    used = {"kind"} | (kind.relation_fields() if kind else frozenset())
    inherited = {
        name: getattr(claim, name)
        for name in INHERITED
        if name in used & (claim.model_fields_set | limited)
    }
    finite = {
        name: v
        for name, v in inherited.items()
        if not (isinstance(v, float) and abs(v) == float("inf"))
    }
    return {**finite, "<repeats>": claim.says}
