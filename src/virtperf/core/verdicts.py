"""Verdicts on claims, as tables store them and pages show them."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """Verdict on a claim by the paper's other claims, or on a claim or hypothesis by runs."""

    CORROBORATED = "corroborated"
    """The paper's other claims imply it."""
    INDEPENDENT = "independent"
    """They leave it open."""
    CONTRADICTED = "contradicted"
    """They exclude it."""
    DEPENDS = "depends"
    """It depends on which of the others, which contradict each other, are set aside."""
    CONVENTION = "convention"
    """Natural bounds and the scale imply it, whatever is measured."""
    ASSUMED = "assumed"
    """An assumption of ours."""
    OFF = "off"
    """A disabled assumption."""
    HYPOTHESIS = "hypothesis"
    """A hypothesis, which no text judges."""

    REPRODUCED = "reproduced"
    """Runs agree with a claim of a paper."""
    REFUTED = "refuted"
    """Runs exclude it."""
    HOLDS_HERE = "holds here"
    """Runs agree with a hypothesis about one's own machine."""
    FAILS_HERE = "does not hold here"
    """Runs exclude it."""
    VALUE_AGREES = "value agrees"
    """The published data give a number that the claim allows; no interval decides."""
    VALUE_DIFFERS = "value differs"
    """They give a number that it excludes; no interval decides."""
    UNDECIDED = "undecided"
    """Runs neither confirm nor exclude it."""
    NOT_JUDGED = "not judged"
    """Measured on too few machines or sessions, or an assumption of ours."""
    NO_MEASUREMENT = "no measurement"
    """No run tests it."""


DISPUTED = (Verdict.CONTRADICTED, Verdict.DEPENDS)
"""Verdicts of claims that other claims of the paper exclude, or may exclude."""
AGREED = (Verdict.REPRODUCED, Verdict.HOLDS_HERE, Verdict.VALUE_AGREES)
"""Verdicts of runs that agree with a claim or hypothesis."""
EXCLUDED = (Verdict.REFUTED, Verdict.FAILS_HERE, Verdict.VALUE_DIFFERS)
"""Verdicts of runs that exclude it."""
OF_THE_RATIO = "% of the ratio"
"""Unit of the smallest detectable difference where the compared number is a ratio."""
