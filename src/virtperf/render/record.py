"""Records as HTML, by templates; the ids that a record puts on a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from markupsafe import Markup

from virtperf.exhibits.records import Block, Folded, Grid, Paragraph, Record, Span, Words
from virtperf.render import downloads
from virtperf.render.places import NOTEBOOK, Place
from virtperf.render.templating import environment


def record_html(
    record: Record, *, notebook: bool = False, repeated: bool = False, place: Place | None = None, heading: str = ""
) -> Markup:
    """A record's markup on `place`; without one, on a page that holds this record alone.

    A `notebook` shows the picture itself, and to keep the file small it has neither folded blocks nor downloads: who
    has the notebook has the data. `repeated`: the page has this picture already, so that it goes in as an image, since
    the ids in it may stand on a page only once. `heading` is what stands above it: a caption does not repeat it.
    """
    where = place or (NOTEBOOK if notebook else Place(known=frozenset(ids([record]))))
    blocks, tail = _split(record.blocks)
    if notebook:
        blocks, tail = ([_short(b) for b in part if not isinstance(b, Folded)] for part in (blocks, tail))
    macros: Any = environment().get_template("record.html.j2").module
    picture = "none" if notebook or record.drawing is None else "image" if repeated else "inline"
    titled = ". ".join(filter(None, (record.name, record.title))).rstrip(".") != heading.strip().rstrip(".")
    html = macros.record(
        record, titled, blocks, tail, picture, notebook, downloads.address,
        lambda link: where.address(link, record.study),
    )  # fmt: skip
    return Markup(str(html).strip())  # noqa: S704 (made by our template, which escapes)


def ids(records: Iterable[Record]) -> Iterator[str]:
    """The ids that records put on a page, in order."""
    for record in records:
        yield record.id
        yield from _block_ids(record.blocks)


def distinct(records: Iterable[Record], taken: Iterable[str] = ()) -> list[Record]:
    """The records with ids that are unique on one page: one whose id is taken gets a number behind it.

    A row or a heading whose id is taken has none: the first one of a name is where its links lead.
    """
    seen = set(taken)
    made = []
    for record in records:
        name, count = record.id, 1
        while name in seen:
            count += 1
            name = f"{record.id}-{count}"
        seen.add(name)
        made.append(record.model_copy(update={"id": name, "blocks": tuple(_free(b, seen) for b in record.blocks)}))
    return made


def _split(blocks: Sequence[Block]) -> tuple[Sequence[Block], Sequence[Block]]:
    """The blocks, and the folded ones and links at the end, which stand in one line with the downloads."""
    end = len(blocks)
    while end and (isinstance(blocks[end - 1], Folded) or _only_link(blocks[end - 1])):
        end -= 1
    return blocks[:end], blocks[end:]


def _short(block: Block) -> Block:
    """A table as a notebook shows it: nothing folded in its cells, no anchors, no cards on phones."""
    if not isinstance(block, Grid):
        return block

    def unfolded(words: Words) -> Words:
        if isinstance(words, str):
            return words
        return tuple(word for word in words if isinstance(word, str) or word.style != "folded")

    rows = tuple(tuple(map(unfolded, row)) for row in block.rows)
    return block.model_copy(update={"rows": rows, "ids": (), "stacks": False})


def _only_link(block: Block) -> bool:
    if not isinstance(block, Paragraph) or isinstance(block.words, str) or len(block.words) != 1:
        return False
    (word,) = block.words
    return isinstance(word, Span) and bool(word.link)


def _block_ids(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Grid):
            yield from filter(None, block.ids)
        elif isinstance(block, Folded):
            yield from _block_ids(block.blocks)


def _free(block: Block, seen: set[str]) -> Block:
    """The block without ids that are taken; its own are taken from now on."""

    def free(name: str) -> str:
        if not name or name in seen:
            return ""
        seen.add(name)
        return name

    if isinstance(block, Grid) and block.ids:
        return block.model_copy(update={"ids": tuple(map(free, block.ids))})
    if isinstance(block, Folded):
        return block.model_copy(update={"blocks": tuple(_free(part, seen) for part in block.blocks)})
    return block
