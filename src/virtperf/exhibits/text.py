"""Records as plain text, which terminals show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from virtperf.exhibits.records import Block, Diagram, Facts, Folded, Grid, Heading, Listing, Paragraph, Record, Words
from virtperf.exhibits.wording import printable

LONGEST = 36  # characters of a cell


def record_text(record: Record) -> str:
    """A record's title, caption and blocks; remarks in small type and whatever opens within a cell are left out."""
    title = ". ".join(filter(None, (record.name, record.title)))
    return "\n".join(filter(None, (title, record.caption, *_lines(record.blocks))))


def _lines(blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Paragraph():
                yield words_text(block.words) if block.style != "small" else ""
            case Heading():
                yield block.text
            case Listing():
                yield from (f"- {words_text(item)}" for item in block.items)
            case Grid():
                rows = [[words_text(cell) for cell in row] for row in block.rows]
                if block.ids:  # names that a reader may use: `claim-more-at-8`
                    yield table_text(
                        ("id", *block.columns), [[i, *row] for i, row in zip(block.ids, rows, strict=True)]
                    )
                else:
                    yield table_text(block.columns, rows)
            case Facts():
                yield table_text(("value", "what"), [[fact.value, fact.label] for fact in block.facts])
            case Diagram():
                yield table_text(("from", "to", "connection"), block.edges)
            case Folded():
                yield from _lines(block.blocks)


def words_text(words: Words) -> str:
    """The text of words, without what stands below them in small type or opens on a click."""
    if isinstance(words, str):
        return words
    return "".join(w if isinstance(w, str) else _FORMS.get(w.style, "{}").format(w.text) for w in words)


_FORMS = {"small": "", "folded": "", "deleted": "[printed: {}]", "mark": "[{}]"}


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned, long cells shortened."""

    def flat(cell: str) -> str:
        one = " ".join(printable(cell).split())
        return one if len(one) <= LONGEST else f"{one[: LONGEST - 3]}..."

    grid = [[flat(c) for c in columns], *([flat(c) for c in row] for row in rows)]
    widths = [max(len(row[k]) for row in grid) for k in range(len(columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
