"""Tables as plain text, which tests compare and terminals show."""

from __future__ import annotations

from collections.abc import Sequence

from virtperf.exhibits.wording import printable

LONGEST = 44  # characters of a cell


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned, long cells shortened."""

    def flat(cell: str) -> str:
        one = " ".join(printable(cell).split())
        return one if len(one) <= LONGEST else f"{one[: LONGEST - 3]}..."

    grid = [[flat(c) for c in columns], *([flat(c) for c in row] for row in rows)]
    widths = [max(len(row[k]) for row in grid) for k in range(len(columns))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in grid]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])
