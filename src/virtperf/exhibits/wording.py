"""Numbers, intervals and names as a reader sees them: one place that rounds."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable

SIGNIFICANT = 4  # digits that exhibits print; digits before the decimal point are never dropped
NO_BREAK = "\u00a0"
PROSE_SIGNIFICANT = 3  # in captions, where nobody computes on

VERDICTS = {
    "corroborated": "the paper's other claims imply it",
    "independent": "the paper's other claims leave it open",
    "contradicted": "the paper's other claims exclude it",
    "depends": "it depends on which of the paper's other claims is set aside, since they contradict each other",
    "convention": "it follows from the scale or from natural limits alone, so it is not judged",
    "assumed": "an assumption of ours, not a claim of the paper",
    "off": "an assumption of ours that is switched off",
    "reproduced": "measured runs agree with it",
    "refuted": "measured runs exclude it",
    "undecided": "measured runs neither confirm nor exclude it",
    "no measurement": "not yet tested by measurement",
}


def number(value: float | None, digits: int = SIGNIFICANT) -> str:
    """A number in plain ASCII, rounded to `digits` significant digits: ``66``, ``65.9``, ``11264``, ``0.001234``."""
    if value is None or math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size > 14 or size < -9:
        return f"{value:.{digits - 1}e}"
    text = f"{value:.{max(0, digits - 1 - size)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def pretty(value: float | None, digits: int = SIGNIFICANT) -> str:
    """`number` with a true minus sign and thousands separators, for prose and cells."""
    text = number(value, digits)
    if text in ("n/a", "inf", "-inf"):
        return {"n/a": "not known", "inf": "unbounded", "-inf": "unbounded"}[text]
    sign, body = ("−", text[1:]) if text.startswith("-") else ("", text)
    whole, dot, rest = body.partition(".")
    return f"{sign}{int(whole):,}{dot}{rest}" if whole.isdigit() else sign + body


def interval(low: float, high: float, unit: str = "") -> str:
    """An interval in words: ``40 to 52 %``, ``40 % or more``, ``at most 52``, ``exactly 100``, ``anything``."""
    no_low, no_high = _absent(low), _absent(high)
    if no_low and no_high:
        return "anything"
    if no_high:
        return f"{pretty(low)}{unit} or more"
    if no_low:
        return f"at most {pretty(high)}{unit}"
    if pretty(low) == pretty(high):
        same = math.isclose(low, high, rel_tol=1e-9, abs_tol=1e-12)
        return f"{'exactly' if same else 'about'} {pretty(low)}{unit}"
    return f"{pretty(low)} to {pretty(high)}{unit}"


def as_precise(value: float, low: float, high: float) -> tuple[str, str, str]:
    """A value and its limits, all with the decimals that the interval's half width deserves.

    Of a half width from 1 to 3 (times a power of ten) two digits count, of a larger one the first: 12.345 from 11.9
    to 12.8 is ``12.3``, from 12.2 to 12.5 ``12.35``. A value without finite limits has three significant digits.
    """
    ends = [v for v in (low, high) if not _absent(v)]
    width = max((abs(v - value) for v in ends), default=0.0)
    if not math.isfinite(value) or width <= 1e-9 * abs(value):
        return tuple(pretty(v, PROSE_SIGNIFICANT) for v in (value, low, high))  # type: ignore[return-value]
    decimals = min(max(0, 1 - math.floor(math.log10(width / 3) + 1)), 9)
    cells = []
    for v in (value, low, high):
        text = pretty(v) if _absent(v) else f"{v:,.{decimals}f}".replace("-", "−")
        cells.append(text if re.search("[1-9]", text) else text.lstrip("−"))
    return cells[0], cells[1], cells[2]


def _absent(value: float) -> bool:
    return math.isnan(value) or math.isinf(value)


def joined(parts: Iterable[str]) -> str:
    """``a, b and c``."""
    items = list(parts)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def plural(count: int, one: str, many: str = "") -> str:
    """``1 run``, ``3 runs``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def clock(seconds: float) -> str:
    """``3:20``: minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


def wrapped(text: object, width: int) -> str:
    """Text in lines of at most `width` characters, for labels inside a figure."""
    return "\n".join(textwrap.wrap(str(text), width, break_long_words=True, break_on_hyphens=True)) or " "


def printable(text: object) -> str:
    """Text without control characters, which neither XML nor a terminal may show."""
    return "".join(c for c in str(text) if c in f"\n\t{NO_BREAK}" or c.isprintable())


def slug(text: object) -> str:
    """Text as an anchor: lower case, words joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", str(text).lower()).strip("-") or "part"


def exhibit_name(exhibit_id: str, kind: str = "") -> str:
    """``figure-5`` as ``Figure 5``, ``unnumbered-1`` as ``Unnumbered table 1``."""
    word, _, rest = exhibit_id.partition("-")
    if word == "unnumbered":
        return f"Unnumbered {kind or 'exhibit'} {rest}".strip()
    return f"{word.capitalize()} {rest.replace('-', ' ')}".strip()
