"""Display names and labels of verdicts; numbers and lists are formatted by `core.numbers`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from virtperf.core.numbers import NO_BREAK, PROSE_SIGNIFICANT, pretty
from virtperf.core.verdicts import Verdict

STATED_ONCE, STATED_REPEATEDLY = "stated once", "stated repeatedly"
IN_CONFLICT, OTHERS_IN_CONFLICT = "in conflict", "others in conflict"
FOLLOWS = "follows from others"

_SHOWN: Mapping[str, str] = {
    Verdict.CORROBORATED: FOLLOWS,
    Verdict.INDEPENDENT: STATED_ONCE,
    Verdict.CONTRADICTED: IN_CONFLICT,
    Verdict.DEPENDS: OTHERS_IN_CONFLICT,
}
"""Display labels of the text verdicts in the stage tables (by the paper's other claims)."""

VERDICT_MEANINGS = {
    FOLLOWS: "the paper's other claims imply it",
    STATED_ONCE: "one place of the paper states it, and its other claims leave it open",
    STATED_REPEATEDLY: "several places of the paper state it, and its other claims leave it open",
    IN_CONFLICT: "the paper's other claims exclude it",
    OTHERS_IN_CONFLICT: "the paper's other claims contradict each other about it: they imply it, exclude it "
    "or leave it open, depending on which of them is set aside",
    Verdict.CONVENTION: "it follows from the scale or from natural limits alone, so it is not judged",
    Verdict.ASSUMED: "an assumption of ours, not a claim of the paper",
    Verdict.OFF: "an assumption of ours that is switched off",
    Verdict.REPRODUCED: "measured runs agree with it",
    Verdict.REFUTED: "measured runs exclude it",
    Verdict.HOLDS_HERE: "measured runs of this study agree with it",
    Verdict.FAILS_HERE: "measured runs of this study exclude it",
    Verdict.VALUE_AGREES: "the published data give a number that it allows; no confidence interval decides",
    Verdict.VALUE_DIFFERS: "the published data give a number that it excludes; no confidence interval decides",
    Verdict.NOT_JUDGED: "measured, but on too few machines or sessions for a verdict over them",
    Verdict.UNDECIDED: "measured runs neither confirm nor exclude it",
    Verdict.NO_MEASUREMENT: "not tested by measured runs yet",
}

OF_MANY = {
    FOLLOWS: "follow from others",
    Verdict.HOLDS_HERE: "hold here",
    Verdict.FAILS_HERE: "do not hold here",
    Verdict.VALUE_AGREES: "values agree",
    Verdict.VALUE_DIFFERS: "values differ",
}
"""Plural forms of verdicts."""
_OF_ONE = {many: one for one, many in OF_MANY.items()}


def shown_verdict(verdict: str, n_places: int = 1) -> str:
    """Display label of a text verdict; `n_places`: places of the paper that state the claim."""
    return (
        STATED_REPEATEDLY
        if verdict == Verdict.INDEPENDENT and n_places > 1
        else _SHOWN.get(verdict, verdict)
    )


def placed_verdict(verdict: str, n_places: int = 1) -> str:
    """Display label for one claim, with the number of places: ``stated repeatedly (3 places)``."""
    shown = shown_verdict(verdict, n_places)
    return f"{shown} ({n_places} places)" if shown == STATED_REPEATEDLY else shown


def verdict_kind(shown: str) -> str:
    """Key of `VERDICT_MEANINGS` for a displayed verdict: singular, without the number of places."""
    word = shown.partition(" (")[0]
    return _OF_ONE.get(word, word)


def short_number(value: float) -> str:
    """Format a number for a sentence."""
    return pretty(value, PROSE_SIGNIFICANT)


def clock(seconds: float) -> str:
    """``3:20``: minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


def wrap_text(text: object, width: int) -> str:
    """Wrap text to lines of at most `width` characters, for labels inside a figure."""
    return (
        "\n".join(textwrap.wrap(str(text), width, break_long_words=True, break_on_hyphens=True))
        or " "
    )


def printable(text: object) -> str:
    """Remove control characters, which neither XML nor a terminal may show."""
    text = str(text)
    if text.isprintable():
        return text
    return "".join(c for c in text if c in f"\n\t{NO_BREAK}" or c.isprintable())


def slug(text: object) -> str:
    """Text as an anchor: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", str(text).lower()).strip("-") or "part"


def trace_key(study: str, exhibit: str, series: str, x: object) -> str:
    """The permanent name of a plotted value: ``zvm/figure-5/xen/12``."""
    if isinstance(x, float) and x.is_integer():  # an integer level in a column with fractions
        x = int(x)
    return "/".join([study, exhibit, slug(series), slug(str(x))])


def exhibit_name(exhibit_id: str, kind: str = "") -> str:
    """``figure-5`` as ``Figure 5``, ``unnumbered-1`` of kind table as ``Unnumbered table 1``."""
    word, _, rest = exhibit_id.partition("-")
    if word == "unnumbered":
        what = "table" if kind == "table" else "figure" if kind else "exhibit"
        return f"Unnumbered {what} {rest}".strip()
    return f"{word.capitalize()} {rest.replace('-', ' ')}".strip()
