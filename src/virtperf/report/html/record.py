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
from virtperf.core.numbers import join_words
from virtperf.report.html.templating import environment
from virtperf.report.records import (
    RECORD_DIGITS,
    Block,
    Diagram,
    Facts,
    Folded,
    Grid,
    Heading,
    Listing,
    Numbers,
    Paragraph,
    Record,
    is_link,
    is_long,
    split_tail,
)
from virtperf.report.wording import slug

DETAILS = "Details"
LONG_CAPTION = 140  # characters; a longer caption repeats the values that are drawn


def record_html(
    record: Record,
    *,
    notebook: bool = False,
    repeated: bool = False,
    place: LinkResolver | None = None,
    heading: str = "",
    code: Markup | None = None,
) -> Markup:
    """Render a record on `place`; by default, on a page with this record alone.

    A page shows the picture and what it says; everything else is behind one click. A `notebook`
    shows the picture itself; to keep the file small, it gets neither collapsed blocks nor
    downloads, since its readers have the data. `repeated`: the page has this picture already, so it
    is embedded as an image, because its ids must be unique on a page. `heading`: the heading above,
    which the caption does not repeat. `code`: the source of the cell that shows the record.
    """
    where = place or (NOTEBOOK if notebook else LinkResolver(page_ids=frozenset(ids([record]))))
    label = DETAILS
    if notebook:
        shown, more = (
            [_for_notebook(b) for b in part if not isinstance(b, Folded)]
            for part in split_tail(record.blocks)
        )
    else:
        shown, more = split_details(record.blocks, record)
        label, more = _name_details(record, shown, more)
    macros: Any = environment().get_template("record.html.j2").module
    picture = "none" if notebook or not record.drawing else "image" if repeated else "inline"
    told = notebook or (
        len(record.caption) <= LONG_CAPTION
        and not record.shows
        and not _is_told_in_sentences(record)
        and record.kind not in _INTERVALS
    )
    titled = ". ".join(filter(None, (record.name, record.title))).rstrip(
        "."
    ) != heading.strip().rstrip(".")
    html = macros.record(
        record,
        titled,
        bool(record.caption) and told,
        shown,
        more,
        label,
        picture,
        notebook,
        address,
        code,
        lambda link: where.address(link, record.study),
    )
    return Markup(str(html).strip())  # noqa: S704 (made by our template, which escapes)


_HEADS = ("summary", "synthesis")
"""Kinds of records that tell something beside their picture."""
_FIGURES = ("line", "bar")
_INTERVALS = ("estimates", "ranges")
"""Kinds of records whose caption is about units and intervals."""


def split_details(blocks: Iterable[Block], record: Record) -> tuple[list[Block], list[Block]]:
    """Split the blocks of a record into those that a page shows, and those behind one click: long
    tables, collapsed blocks, links, small remarks, and everything below a heading.
    """
    shown: list[Block] = []
    more: list[Block] = []
    for block in blocks:
        below = any(isinstance(other, Heading) for other in more)
        (shown if not below and _is_open(block, record) else more).append(block)
    return shown, more


def _is_told_in_sentences(record: Record) -> bool:
    """Whether a figure has sentences in place of a picture."""
    return record.kind in _FIGURES and not record.drawing


def _is_open(block: Block, record: Record) -> bool:
    drawn = bool(record.drawing)
    if isinstance(block, Grid):
        return not drawn and not is_long(record.kind, block)
    if isinstance(block, Paragraph | Listing):
        if is_link(block):
            return record.kind == "claims"
        if record.name or (drawn and record.kind not in _HEADS):
            # the words of a count of verdicts are no sentence on the figure
            sentence = isinstance(block, Paragraph) and isinstance(block.words, str)
            plain = isinstance(block, Listing) or (sentence and block.style == "plain")
            said = _is_told_in_sentences(record) and plain
            return said or (block.style == "note" and record.kind != "table")
        return block.style != "small" or record.kind == "summary"
    return isinstance(block, Diagram | Facts)


def _name_details(
    record: Record, shown: Sequence[Block], more: list[Block]
) -> tuple[str, list[Block]]:
    """Label of the fold, and its blocks; the only collapsed block of the head of a report names
    it, and so do the headings of a record that shows nothing else.
    """
    folded = [block for block in more if isinstance(block, Folded)]
    if record.kind == "summary" and len(folded) == 1:
        unnamed = folded[0].model_copy(update={"summary": ""})
        return folded[0].summary, [unnamed if b is folded[0] else b for b in more]
    headings = [block.text for block in more if isinstance(block, Heading)]
    headings = headings or [block.summary for block in folded]
    if headings and not (shown or record.name or record.drawing):
        return join_words([headings[0], *(h[:1].lower() + h[1:] for h in headings[1:])]), more
    return DETAILS, more


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


def _for_notebook(block: Block) -> Block:
    """Simplify a table for a notebook: no anchors, no cards on phones."""
    if not isinstance(block, Grid):
        return block
    return block.model_copy(update={"ids": (), "stacks": False})


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


LINK_PREFIXES = ("#", "claim:", "claims:", "exhibit:", "trace:", "run:", "https://", "http://")


def trace_anchor(key: str) -> str:
    """Anchor of a key on its study's page of data: the key without the study's name."""
    return slug(key.partition("/")[2])


@dataclass(frozen=True)
class LinkResolver:
    """Resolves links relative to a page or a notebook; `folder` is the path to the reports.

    `page_ids`: ids on this page; a claim that it does not show is on the page of claims, links to
    other exhibits are dropped. `is_other_page`: exhibits are on another page, the study's report.
    `prefix`: start of the names of pages of data, in the same folder as those of the study itself.
    """

    page_ids: frozenset[str] = frozenset()
    folder: str = ""
    is_other_page: bool = False
    prefix: str = ""

    def address(self, link: str, study: str) -> str:
        """URL of a link within a record of a study; "" without a target."""
        kind, _, rest = link.partition(":")
        if not link or link.startswith(("https://", "http://")):
            return link
        if link.startswith("#"):
            return self._anchor(link[1:], study)
        of, _, name = rest.partition("/") if "/" in rest else (study, "", rest)
        if kind == "trace":
            return self._page(f"data-{self.prefix}{of}", trace_anchor(rest))
        if kind == "exhibit" and of == study:
            return self._anchor(name, study)
        if kind == "exhibit":
            return self._page(of, name)
        if kind == "claim":
            here = of == study and f"claim-{name}" in self.page_ids
            return self._page("" if here else f"claims-{of}", f"claim-{name}") if of else ""
        if kind == "claims":
            return self._page(f"claims-{of}", "all" if name == "all" else f"exhibit={name}")
        if kind == "run":
            return self._page(f"data-{self.prefix}{study}", f"run-{rest}") if study else ""
        raise RawperfError(
            f"unknown kind of link: {link!r}",
            expected=f"a link that begins with {' or '.join(LINK_PREFIXES)}",
        )

    def _page(self, name: str, anchor: str) -> str:
        """Address of a place on a page, on this one without a `name`."""
        file = f"{self.folder}{quote(name)}.html" if name else ""
        return f"{file}#{quote(anchor, safe='=')}"

    def _anchor(self, anchor: str, study: str) -> str:
        if self.is_other_page:
            return self._page(study, anchor) if study else ""
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
