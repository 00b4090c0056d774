"""Fixtures: the toy study with an executed notebook, as input of the site."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

from tests.report import toy
from tests.report.html.toy_notebook import of_study
from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.loaded import load_study

PARAMETERS = Parameters(seed=1)


@pytest.fixture(scope="session")
def layout(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Layout:
    """A repository with the toy study, all stages run."""
    folder = tmp_path_factory.mktemp("site")
    data = toy.build(folder)
    (folder / "build").mkdir()
    nbformat.write(of_study(load_study("toy", data)), folder / "build" / "toy.ipynb")
    return Layout(folder)


@pytest.fixture(scope="session")
def facts(layout: Layout) -> StudyFacts:
    """The site's data of the toy study."""
    return StudyFacts(layout, PARAMETERS, "toy")


class Parsed(HTMLParser):
    """A parsed page: tags with attributes, ids, links and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag != "wbr":  # a possible line break in a long word
            self.words.append(" ")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def ids(self) -> list[str]:
        """All ids in document order."""
        return [attrs["id"] for _, attrs in self.tags if "id" in attrs]

    @property
    def links(self) -> list[str]:
        """Targets of all links."""
        return [attrs["href"] for tag, attrs in self.tags if tag == "a" and "href" in attrs]

    @property
    def text(self) -> str:
        """All text, with single spaces."""
        return " ".join("".join(self.words).split())
