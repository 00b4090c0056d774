"""Key/value pages of the Performance Toolkit (FCX102, FCX103): two independent columns of label and
value.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial

from rawperf.core.errors import FormatError
from rawperf.perfkit.layout import Column, ReportLayout
from rawperf.perfkit.page import LONGEST_LINE
from rawperf.perfkit.values import NUMBER, number

DEFAULT_SIZE = "MiB"
_UNITS = r"(?:kB|MB|GB|TB|[ ]?B|K|M|G|%|/s|s)?"
VALUE = rf"(?:{NUMBER}(?:\.[0-9]{{0,9}})?{_UNITS}|\.[0-9]{{1,9}}{_UNITS}|-{{2,}}|\.{{2,}})"


@lru_cache(maxsize=32)
def _patterns(layout: ReportLayout) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What an item looks like, known labels before others, and what may stand without a number."""
    labels = sorted(
        {item.name for section in layout.sections for item in section.items},
        key=lambda label: (-len(label), label),
    )
    known = "|".join(map(re.escape, labels)) or r"(?!)"
    values = rf"[ ]+({VALUE})" * max(1, len(layout.values))
    empty = (
        "|".join(map(re.escape, (*layout.empty, *(s.title for s in layout.sections if s.title))))
        or r"(?!)"
    )
    item = rf"(?:(?:{empty})[ ]+)?((?:{known})|[A-Za-z]\S*(?:[ ]\S+){{0,12}}?){values}(?=\s|$)"
    return (
        re.compile(item),
        re.compile(rf"(?:{known})(?=\s|$)"),
        re.compile(rf"(?:{empty})(?=\s|$)"),
    )


def read_items(
    layout: ReportLayout, body: list[tuple[int, str]], file: str
) -> list[tuple[int, str, float]]:
    """Line, field and value of every item that has a value, of the numbered lines below a page's
    header.

    Raises `FormatError`: a number without a label, a known label twice, a number in a foreign unit.
    """
    item, known, empty = _patterns(layout)
    fields = {
        (section.side, column.name): column
        for section in layout.sections
        for column in section.items
    }
    found: list[tuple[int, str, float]] = []
    taken: set[str] = set()
    right = _right_column(layout, body)
    for line_number, line in body:
        error = partial(FormatError, file=file, line=line_number)
        if len(line) > LONGEST_LINE:
            raise error("a line is too long", expected=f"{LONGEST_LINE} characters")
        left_over = line
        for place, match in enumerate(item.finditer(line)):
            start = match.start(1)
            left_over = (
                left_over[: match.start()]
                + " " * (match.end() - match.start())
                + left_over[match.end() :]
            )
            side = "right" if place or start >= right else "left"
            label = match[1]
            begins = known.match(label)
            if begins is not None and begins.end() < len(label):
                raise error("a damaged item", expected="a label and its value", found=label)
            columns, count = _columns(layout, fields, side, label), 1
            while columns[0].field in taken:
                count += 1
                if columns[0].known:
                    raise error("an item is given twice on one page", found=label)
                columns = _columns(layout, fields, side, f"{label} ({count})")
            for column, text in zip(columns, match.groups()[1:], strict=True):
                glued = "1/s" if text.endswith("/s") else text[-1] if text[-1] in "%s" else "1"
                unit = column.unit or (DEFAULT_SIZE if text.rstrip().endswith("B") else glued)
                value = number(text, unit)
                if value is None:
                    raise error(f"{column.field!r} in a foreign unit", expected=unit, found=text)
                taken.add(column.field)
                if value == value:  # not NaN
                    found.append((line_number, column.field, value))
        # between items stand labels without a value and titles; a number there lost its label
        for part in re.split(r"[ ]{2,}", left_over.strip()):
            lost = any(token[0].isdigit() or re.fullmatch(VALUE, token) for token in part.split())
            if lost and not known.fullmatch(part) and not empty.fullmatch(part):
                raise error("a damaged item", expected="a label and its value", found=part)
    return found


def _right_column(layout: ReportLayout, body: list[tuple[int, str]]) -> int:
    """Where the right column's titles begin; beyond every line when the page has lost its
    spacing.
    """
    titles = [
        section.title for section in layout.sections if section.side == "right" and section.title
    ]
    places = [(line, line.find(title)) for _, line in body for title in titles]
    return min(
        (at for line, at in places if at > 1 and line[at - 2 : at] == "  "), default=LONGEST_LINE
    )


def _columns(
    layout: ReportLayout, fields: dict[tuple[str, str], Column], side: str, label: str
) -> list[Column]:
    """What the numbers behind a label are; a unit of "" is not known."""
    if layout.values:
        return [Column(label, f"{label} {name}", unit, known=False) for name, unit in layout.values]
    other = "left" if side == "right" else "right"
    return [
        fields.get((side, label))
        or fields.get((other, label))
        or Column(label, label, "", known=False)
    ]
