"""Lengths of the pages with folds closed, in screens and on paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser.conftest import NOTEBOOKS, PAGES, REPORTS, SharedPage

pytestmark = pytest.mark.browser

SCREENS = {"published": 15, "measured": 15, "example": 15, "synthesis": 10}
"""By kind of notebook."""
MANY_EXHIBITS = {"zvm63-overcommit-2014": 20}  # 30 exhibits
STUDY_PAGES = ("claims-", "data-")
MAX_STUDY_PAGE = 10
MAX_PRINTED_PAGES = 20  # of A4, for each study
_PAGE = re.compile(rb"/Type\s*/Page\b")


def most_screens(file: Path) -> int | None:
    """Most screens of a page at 1280 x 900; None for pages without a bar."""
    if file.stem in NOTEBOOKS:
        study = file.stem.removeprefix("example-")
        return MANY_EXHIBITS.get(study, SCREENS[NOTEBOOKS[file.stem]])
    return MAX_STUDY_PAGE if file.stem.startswith(STUDY_PAGES) else None


@pytest.mark.parametrize(("width", "height", "times"), [(1280, 900, 1), (390, 844, 2)])
def test_pages_are_short(look: SharedPage, width: int, height: int, times: int) -> None:
    bars = {file: bar for file in PAGES if (bar := most_screens(file)) is not None}
    assert len(bars) > 10, "there are no reports: `virtperf pipeline` first"
    found = {}
    for file in bars:
        page = look(file, width=width).page
        found[file.name] = page.evaluate("document.documentElement.scrollHeight") / height
    long = {f.name: round(found[f.name], 1) for f in bars if found[f.name] > times * bars[f]}
    assert long == {}


def test_studies_print_on_few_pages(look: SharedPage) -> None:
    printed = {
        file.name: len(_PAGE.findall(look(file).page.pdf(prefer_css_page_size=True)))
        for file in REPORTS
    }
    assert min(printed.values()) > 0, "pages of a PDF file can't be counted in this form"
    assert {name: count for name, count in printed.items() if count > MAX_PRINTED_PAGES} == {}
