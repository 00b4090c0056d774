"""Records as HTML by templates: ids on a page, link targets, numbers as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from rawperf.core.errors import RawperfError
from virtperf.report.html.templating import environment
from virtperf.report.records import (
    RECORD_DIGITS,
    Block,
    Folded,
    Grid,
    Heading,
    Numbers,
    Record,
    Span,
    Words,
    split_tail,
)
from virtperf.report.wording import slug, trace_key


def record_html(
    record: Record,
    *,
    notebook: bool = False,
    repeated: bool = False,
    place: LinkResolver | None = None,
    heading: str = "",
) -> Markup:
    """Render a record on `place`; by default, on a page with this record alone.

    A `notebook` shows the picture itself; to keep the file small, it gets neither collapsed blocks
    nor downloads, since its readers have the data. `repeated`: the page has this picture already,
    so it is embedded as an image, because its ids must be unique on a page. `heading`: the heading
    above, which the caption does not repeat.
    """
    where = place or (NOTEBOOK if notebook else LinkResolver(page_ids=frozenset(ids([record]))))
    blocks, tail = split_tail(record.blocks)
    if record.kind == "setup" and not notebook:
        blocks, tail = _folded_tables(blocks)
    if notebook:
        blocks, tail = (
            [_for_notebook(b) for b in part if not isinstance(b, Folded)] for part in (blocks, tail)
        )
    else:
        blocks, tail = ([_link_traces(b, record) for b in part] for part in (blocks, tail))
    macros: Any = environment().get_template("record.html.j2").module
    picture = "none" if notebook or record.drawing is None else "image" if repeated else "inline"
    titled = ". ".join(filter(None, (record.name, record.title))).rstrip(
        "."
    ) != heading.strip().rstrip(".")
    html = macros.record(
        record,
        titled,
        blocks,
        tail,
        picture,
        notebook,
        address,
        lambda link: where.address(link, record.study),
    )
    return Markup(str(html).strip())  # noqa: S704 (made by our template, which escapes)


def ids(records: Iterable[Record]) -> Iterator[str]:
    """Yield the ids that records put on a page, in order."""
    for record in records:
        yield record.id
        yield from _block_ids(record.blocks)


def make_ids_distinct(records: Iterable[Record], used_ids: Iterable[str] = ()) -> list[Record]:
    """Make ids unique on one page: a record with a taken id gets a numeric suffix.

    A row or a heading with a taken id loses it: links lead to the first one of a name.
    """
    seen = set(used_ids)
    distinct = []
    for record in records:
        name, count = record.id, 1
        while name in seen:
            count += 1
            name = f"{record.id}-{count}"
        seen.add(name)
        distinct.append(
            record.model_copy(
                update={
                    "id": name,
                    "blocks": tuple(_drop_used_ids(b, seen) for b in record.blocks),
                }
            )
        )
    return distinct


def _folded_tables(blocks: Sequence[Block]) -> tuple[list[Block], list[Block]]:
    """Collapse the tables under a heading, each behind its heading, and move them to the end.

    The tables of a set-up are long, and seldom read one after the other.
    """
    visible: list[Block] = []
    folded: list[Block] = []
    for block in blocks:
        above = visible[-1] if visible else None
        if isinstance(block, Grid) and isinstance(above, Heading):
            visible.pop()
            folded.append(Folded(summary=above.text, blocks=(block,)))
        else:
            visible.append(block)
    return visible, folded


def _link_traces(block: Block, record: Record) -> Block:
    """Link the last value in each row of a figure's points to its trace."""
    if isinstance(block, Folded):
        parts = tuple(_link_traces(part, record) for part in block.blocks)
        return block.model_copy(update={"blocks": parts})
    if not isinstance(block, Grid) or not block.points:
        return block
    rows = []
    for cells, (exhibit, series, x, *_) in zip(block.rows, record.numbers[0].rows, strict=True):
        link = f"trace:{trace_key(record.study, str(exhibit), str(series), x)}"
        last = max(k for k, cell in enumerate(cells) if cell)
        value = cells[last]
        words = (Span(text=value, link=link),) if isinstance(value, str) else value
        rows.append((*cells[:last], words, *cells[last + 1 :]))
    return block.model_copy(update={"rows": tuple(rows)})


def _for_notebook(block: Block) -> Block:
    """Simplify a table for a notebook: no collapsed text in cells, no anchors, no cards on phones."""
    if not isinstance(block, Grid):
        return block

    def unfolded(words: Words) -> Words:
        if isinstance(words, str):
            return words
        return tuple(word for word in words if isinstance(word, str) or word.style != "folded")

    rows = tuple(tuple(map(unfolded, row)) for row in block.rows)
    return block.model_copy(update={"rows": rows, "ids": (), "stacks": False})


def _block_ids(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Grid):
            yield from filter(None, block.ids)
        elif isinstance(block, Folded):
            yield from _block_ids(block.blocks)


def _drop_used_ids(block: Block, used_ids: set[str]) -> Block:
    """Drop taken ids of a block, and register its own as taken."""

    def free(name: str) -> str:
        if not name or name in used_ids:
            return ""
        used_ids.add(name)
        return name

    if isinstance(block, Grid) and block.ids:
        return block.model_copy(update={"ids": tuple(map(free, block.ids))})
    if isinstance(block, Folded):
        return block.model_copy(
            update={"blocks": tuple(_drop_used_ids(part, used_ids) for part in block.blocks)}
        )
    return block


LINK_PREFIXES = ("#", "claim:", "exhibit:", "trace:", "run:", "https://", "http://")


def trace_anchor(key: str) -> str:
    """Anchor of a key on its study's trace page: the key without the study's name."""
    return slug(key.partition("/")[2])


@dataclass(frozen=True)
class LinkResolver:
    """Resolves links relative to a page or a notebook; `folder` is the path to the reports.

    `page_ids`: ids on this page; links to other exhibits or claims are dropped. `is_other_page`:
    exhibits and claims are on another page, the study's report. `listed_claims`: claims linked to
    the page of all claims; `fallback_claims`: claims linked there unless this page shows them.
    `prefix`: start of the names of pages of runs and traces, in the same folder as those of the
    study itself.
    """

    page_ids: frozenset[str] = frozenset()
    folder: str = ""
    is_other_page: bool = False
    listed_claims: frozenset[str] = frozenset()
    fallback_claims: frozenset[str] = frozenset()
    prefix: str = ""

    def address(self, link: str, study: str) -> str:
        """URL of a link within a record of a study; "" without a target."""
        kind, _, rest = link.partition(":")
        if not link or link.startswith(("https://", "http://")):
            return link
        if link.startswith("#"):
            return self._anchor(link[1:], study)
        unseen = rest in self.fallback_claims and f"claim-{rest}" not in self.page_ids
        if kind == "claim" and (rest in self.listed_claims or unseen):
            return f"{self.folder}{quote(f'claims-{study}')}.html#{quote(f'claim-{rest}')}"
        if kind in ("claim", "exhibit") and "/" in rest:
            of, _, name = rest.partition("/")
            return f"{self.folder}{quote(of)}.html#{quote(f'claim-{name}' if kind == 'claim' else name)}"
        if kind in ("claim", "exhibit"):
            return self._anchor(f"claim-{rest}" if kind == "claim" else rest, study)
        if kind == "trace":
            of, _, _ = rest.partition("/")
            return f"{self.folder}{quote(f'trace-{self.prefix}{of}')}.html#{trace_anchor(rest)}"
        if kind == "run":
            return (
                f"{self.folder}{quote(f'quality-{self.prefix}{study}')}.html#run-{quote(rest)}"
                if study
                else ""
            )
        raise RawperfError(
            f"unknown kind of link: {link!r}",
            expected=f"a link that begins with {' or '.join(LINK_PREFIXES)}",
        )

    def _anchor(self, anchor: str, study: str) -> str:
        if self.is_other_page:
            return f"{self.folder}{quote(study)}.html#{quote(anchor)}" if study else ""
        return f"#{quote(anchor)}" if anchor in self.page_ids else ""


NOTEBOOK = LinkResolver(
    folder="../reports/", is_other_page=True
)  # notebooks are in a sibling folder


_SAFE = "/,;:=[]()*!"  # not percent-encoded in URLs, which keeps pages small
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(numbers: Numbers) -> str:
    """A table as CSV text: `RECORD_DIGITS` significant digits, ``\\n`` line ends, missing values empty.

    Text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(column) for column in numbers.columns])
    writer.writerows([_cell(value) for value in row] for row in numbers.rows)
    return out.getvalue()


def _cell(value: str | int | float | bool | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return f"{value:.{RECORD_DIGITS}g}" if isinstance(value, float) else str(value)


def address(numbers: Numbers) -> str:
    """The CSV as a ``data:`` URL."""
    return f"data:text/csv;charset=utf-8,{quote(to_csv(numbers), safe=_SAFE)}"
