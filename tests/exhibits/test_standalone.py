"""A figure as a file of its own needs no page around it."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from virtperf.core.errors import VirtperfError
from virtperf.exhibits.book import Book
from virtperf.exhibits.standalone import standalone_svg


def test_it_is_well_formed_and_resolves_the_themes_colours(book: Book) -> None:
    text = standalone_svg(book.figure("figure-2"))
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in text
    assert "currentColor" not in text


def test_a_table_has_no_drawing(book: Book) -> None:
    with pytest.raises(VirtperfError, match="no drawing"):
        standalone_svg(book.table("table-1"))
