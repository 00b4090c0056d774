"""The page of an executed notebook: self-contained, safe, navigable, reproducible."""

from __future__ import annotations

import base64
import copy
import hashlib
import html
import re
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from rawperf.core.errors import RawperfError
from tests.cases import each_case
from tests.records import read_records
from tests.report.html.toy_notebook import diagram, figure, summary, table
from virtperf.report.glossary import Glossary
from virtperf.report.html import templating
from virtperf.report.html.report import render, to_html
from virtperf.report.records import MIME
from virtperf.study.definition import load_study


class Elements(HTMLParser):
    """All start tags with attributes, in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def values(self, name: str) -> list[str]:
        return [value for _, attrs in self.tags if (value := attrs.get(name))]


@pytest.fixture(scope="module")
def page(notebook: NotebookNode) -> str:
    return to_html(notebook)


@pytest.fixture(scope="module")
def elements(page: str) -> Elements:
    return Elements(page)


def test_equal_notebooks_give_equal_bytes(notebook: NotebookNode, page: str) -> None:
    assert to_html(copy.deepcopy(notebook)) == page


def test_page_loads_no_external_resources(elements: Elements) -> None:
    for tag, attrs in elements.tags:
        if tag != "a":
            for name in ("src", "href", "data", "poster", "srcset"):
                assert (attrs.get(name) or "#").startswith(("#", "data:")), (tag, attrs)
        assert tag not in ("iframe", "object", "embed", "base", "form")
    assert not re.search(
        r"@import|url\((?!#)", "".join(re.findall(r"<style>.*?</style>", to_text(elements), re.S))
    )


def to_text(elements: Elements) -> str:
    return elements.rawdata


def test_policy_allows_only_the_page_script(page: str, elements: Elements) -> None:
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    policy = next(
        a["content"] for t, a in elements.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert (
        policy is not None
        and "default-src 'none'" in policy
        and f"script-src 'sha256-{digest}'" in policy
    )
    assert "connect-src" not in policy and "unsafe-eval" not in policy


def test_no_event_handler_attributes(elements: Elements) -> None:
    for _, attrs in elements.tags:
        assert not [name for name in attrs if name.startswith("on")]
        assert not (attrs.get("href") or "").lower().startswith("javascript:")


def test_ids_are_unique_and_links_have_targets(elements: Elements) -> None:
    ids = elements.values("id")
    assert len(ids) == len(set(ids))
    targets = {href[1:] for href in elements.values("href") if href.startswith("#")}
    assert targets <= set(ids)
    labels = {i for value in elements.values("aria-labelledby") for i in value.split()}
    assert labels <= set(ids)


def test_exhibit_keeps_its_anchor(elements: Elements) -> None:
    # The heading "### Figure 2" would get the same anchor; the figure takes precedence.
    tags = {attrs.get("id"): tag for tag, attrs in elements.tags}
    assert tags["figure-2"] == "figure" and tags["figure-2-3"] == "h3"
    assert tags["table-1"] == "figure" and tags["claim-more-at-8"] == "tr"


def test_contents_list_the_headings(page: str) -> None:
    begin = page.index('<nav class="vp-contents')
    contents = page[begin : page.index("</nav>", begin)]
    assert re.findall(r">([^<]+)</a>", contents[contents.index("<ol") :]) == [
        "Setup",
        "Results",
        "Figure 2",
        "Figure 3. Utilization of CPU",
        "Registers",
    ]


def test_text_from_files_and_cells_is_escaped(page: str) -> None:
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert") > 10
    assert "\x1b" not in page


def test_code_is_folded_but_present(page: str, elements: Elements) -> None:
    # an exhibit has the code of its cell in its details; other cells have a fold of their own
    tags = [tag for tag, attrs in elements.tags if attrs.get("class") == "vp-source"]
    assert sorted(set(tags)) == ["details", "div"] and len(tags) == page.count('class="vp-code"')
    assert not [a for tag, a in elements.tags if tag == "details" and "open" in a]
    code = html.unescape(re.sub(r"<[^>]*>", "", page[page.index('class="vp-code"') :]))
    assert 'study.show("figure-2")' in code


def test_link_without_target_becomes_plain_text(page: str) -> None:
    main = page[page.index("<main") :]
    assert (
        '<a href="#figure-2">Figure 2</a>' in main and '<a href="#claim-busy">another</a>' in main
    )
    assert (
        "#figure-9" not in main
        and "Figure 9 " in main
        and "claims-toy.html#claim-nowhere" in main  # a page that this one does not know
        and ">gone</a></td>" in main
    )
    assert '<a href="#results">the results</a>' in main and "and nothing." in main


def test_exhibit_shown_twice_gets_a_second_id(page: str, elements: Elements) -> None:
    tags = {attrs.get("id"): tag for tag, attrs in elements.tags}
    assert tags["figure-2"] == "figure" and tags["figure-2-2"] == "figure"
    assert page.count('id="figure-2-axes"') == 1 and "data:image/svg+xml;base64," in page
    assert page.count('id="claim-busy"') == 1


def test_links_point_to_trace_and_run_pages(elements: Elements) -> None:
    links = elements.values("href")
    assert "data-toy.html#figure-2" in links and "data-toy.html#run-measured-a-4-r1" in links


def test_notebook_only_output_is_omitted(page: str) -> None:
    assert page.count("It rises until") == 3 and "../reports/" not in page


def test_record_of_another_version_is_reported(tmp_path: Path, notebook: NotebookNode) -> None:
    other = copy.deepcopy(notebook)
    del other.cells[2].outputs[0]["data"][MIME]["kind"]
    nbformat.write(other, tmp_path / "in.ipynb")
    with pytest.raises(
        RawperfError, match=r"in\.ipynb: an exhibit is not a valid record of this version: kind"
    ):
        render(tmp_path / "in.ipynb", tmp_path / "out.html")


def test_records_round_trip(tmp_path: Path, notebook: NotebookNode) -> None:
    nbformat.write(notebook, tmp_path / "in.ipynb")
    assert read_records(tmp_path / "in.ipynb")[:4] == [summary(), table(), diagram(), figure()]


def test_pictures_become_images_with_alt_text() -> None:
    data = {"image/svg+xml": "<svg><script>alert(1)</script></svg>", "text/plain": "a <figure>"}
    page = to_html(
        new_notebook(cells=[new_code_cell("x", outputs=[new_output("display_data", data=data)])])
    )
    assert 'src="data:image/svg+xml;base64,' in page and 'alt="a &lt;figure&gt;"' in page
    assert "<script>alert" not in page


def test_user_html_keeps_tables_but_no_scripts_or_requests() -> None:
    html = (
        '<div><style scoped>.dataframe {}</style><table border="1" class="dataframe"><tr>'
        '<th style="text-align: right; background: url(http://x)" onclick="f()">a</th></tr></table>'
        '<script>alert(1)</script><img src="http://x"><a href="java&#10;script:f()">b</a>'
        "<iframe src=x></iframe><form action=x><input></form></div><script>never closed"
    )
    data = {"text/html": html, "text/plain": "a"}
    page = to_html(
        new_notebook(cells=[new_code_cell("x", outputs=[new_output("display_data", data=data)])])
    )
    main = page[page.index("<main") : page.index("</main>")]
    assert '<th style="text-align: right;">a</th>' in main and 'tabindex="0"' in main
    for gone in (
        "script",
        "onclick",
        "http:",
        "<img",
        "iframe",
        "<form",
        "<input",
        ".dataframe",
        "closed",
    ):
        assert gone not in main


@each_case(
    ("source", "expected"),
    [
        ("[a](javascript:alert(1))", "<p>a</p>"),
        ("![p](https://example.org/p.png)", "[p]"),
        ("<!-- for authors -->", ""),
        ("<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
    ],
)
def test_markdown_is_sanitised(source: str, expected: str) -> None:
    page = to_html(new_notebook(cells=[new_markdown_cell(source)]))
    main = page[page.index("<main") : page.index("</main>")]
    assert expected in main
    assert "javascript:" not in main and "<img" not in main and "authors" not in main


def test_title_replaces_the_first_heading() -> None:
    cells = [new_markdown_cell("# EXAMPLE of a title\n\nText."), new_markdown_cell("## Part")]
    page = to_html(new_notebook(cells=cells), title="Caches of 2 *sizes* <b>")
    assert "EXAMPLE" not in page and ">Part" in page
    assert "Caches of 2 *sizes* &lt;b&gt;" in page[page.index("<h1") : page.index("</h1>")]
    assert "EXAMPLE of a title" in to_html(new_notebook(cells=cells))


def test_page_without_heading_gets_its_title() -> None:
    page = to_html(new_notebook(cells=[new_markdown_cell("text")]), title="A <title>")
    assert "<h1>A &lt;title&gt;</h1>" in page and "<title>A &lt;title&gt;</title>" in page


def test_report_has_site_and_study_navigation(notebook: NotebookNode, root: Path) -> None:
    study = load_study(root / "data" / "published" / "zvm-xen-2009")
    links = Elements(to_html(notebook, study=study, name="zvm-xen-2009.html")).values("href")
    assert set(templating.PAGES) <= set(links)
    assert {
        "claims-zvm-xen-2009.html",
        "zvm-xen-2009.html",
        "data-zvm-xen-2009.html",
    } <= set(links)
    alone = Elements(to_html(notebook, name="synthesis.html"))
    assert alone.values("aria-current") == ["page"]
    assert "claims-zvm-xen-2009.html" not in alone.values("href")


def test_glossary_terms_are_explained_on_the_page() -> None:
    term = {"term": "IFL", "also": ["IFLs"], "says": "A processor for <Linux>."}
    glossary = Glossary.model_validate({"groups": [{"title": "Words", "terms": [term]}]})
    cells = [new_markdown_cell("A load of 8.8 IFLs."), new_code_cell("IFL = 1")]
    page = to_html(new_notebook(cells=cells), glossary=glossary)
    assert "1 technical term on this page" in page and "A processor for &lt;Linux&gt;." in page
    assert "methods.html#term-ifl" in page
    code_only = to_html(new_notebook(cells=cells[1:]), glossary=glossary)
    assert "of the field" not in code_only


def test_render_writes_the_page(tmp_path: Path, notebook: NotebookNode) -> None:
    nbformat.write(notebook, tmp_path / "in.ipynb")
    out = render(tmp_path / "in.ipynb", tmp_path / "reports" / "toy.html", title="Toy")
    assert "<title>Toy</title>" in out.read_text(encoding="utf-8")


def test_rendering_errors_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notebook: NotebookNode
) -> None:
    with pytest.raises(RawperfError, match="missing"):
        render(tmp_path / "none.ipynb", tmp_path / "out.html")
    (tmp_path / "bad.ipynb").write_text("{not json")
    with pytest.raises(RawperfError, match="not a notebook"):
        render(tmp_path / "bad.ipynb", tmp_path / "out.html")
    failed = new_notebook(
        cells=[
            new_code_cell("1/0", outputs=[new_output("error", ename="E", evalue="v", traceback=[])])
        ]
    )
    nbformat.write(failed, tmp_path / "failed.ipynb")
    with pytest.raises(RawperfError, match="cell 1 failed with E: v"):
        render(tmp_path / "failed.ipynb", tmp_path / "out.html")
    monkeypatch.setattr(templating, "LIMIT_BYTES", 1000)
    nbformat.write(notebook, tmp_path / "in.ipynb")
    with pytest.raises(RawperfError, match="too large"):
        render(tmp_path / "in.ipynb", tmp_path / "out.html")
    assert not (tmp_path / "out.html").exists()
