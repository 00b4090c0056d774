"""Derived numbers, declared under `derived` of study.yaml: ratios, slopes, peaks, fitted models.

A declaration is expanded over the levels of its `for_each`, and some kinds have several results;
each is one `Derivation`.
"""

from __future__ import annotations

from virtperf.study.definition import Study
from virtperf.study.derived_kinds.base import Derivation


def derivations(study: Study) -> list[Derivation]:
    """All derived numbers of a study, in the order of study.yaml."""
    return [derivation for derived in study.derived for derivation in derived.expand(study)]
