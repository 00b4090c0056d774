"""Records as HTML."""

from __future__ import annotations

import pytest

from tests.report.html.site.conftest import Parsed
from tests.report.html.toy_notebook import claims, diagram, estimates, figure, summary, table
from tests.report.toy import HOSTILE
from virtperf.core.provenance import Provenance
from virtperf.report.html.record import LinkResolver, ids, make_ids_distinct, record_html
from virtperf.report.records import Folded, Grid, Listing, Paragraph, Record, Span

RECORDS = [summary(), table(), diagram(), figure(), claims(), estimates()]


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r.id)
@pytest.mark.parametrize("notebook", [False, True])
def test_texts_are_escaped_and_elements_closed(record: Record, notebook: bool) -> None:
    html = record_html(record, notebook=notebook)
    assert HOSTILE not in html and html.startswith("<figure") and html.endswith("</figure>")
    for tag in (
        "figure",
        "table",
        "tr",
        "td",
        "ul",
        "li",
        "details",
        "div",
        "dl",
        "p",
        "a",
        "span",
    ):
        assert html.count(f"<{tag} ") + html.count(f"<{tag}>") == html.count(f"</{tag}>"), tag


def test_notebooks_omit_large_parts() -> None:
    page, notebook = str(record_html(figure())), str(record_html(figure(), notebook=True))
    assert "<svg" in page and "data:text/csv" in page and "<details" in page
    assert not any(part in notebook for part in ("<svg", "data:text/csv", "<details", "data:image"))
    assert "Figure 2" in notebook and "../reports/data-toy.html#figure-2" in notebook


def test_picture_has_a_text_alternative() -> None:
    (picture,) = [
        attrs for _, attrs in Parsed(record_html(figure())).tags if attrs.get("role") == "img"
    ]
    assert picture["aria-label"] == figure().description and picture["tabindex"] == "0"
    (image,) = [a for tag, a in Parsed(record_html(figure(), repeated=True)).tags if tag == "img"]
    assert (
        image["src"].startswith("data:image/svg+xml;base64,")
        and image["alt"] == figure().description
    )


def test_provenance_has_an_explanation() -> None:
    parsed = Parsed(record_html(estimates()))
    (badge,) = [attrs for _, attrs in parsed.tags if "vp-badge" in attrs.get("class", "")]
    assert badge["class"] == "vp-badge vp-measured"
    assert badge["title"] == Provenance.MEASURED.words  # explained once at the head of a report


def test_computed_numbers_link_to_their_source() -> None:
    parsed = Parsed(record_html(estimates(), place=LinkResolver(frozenset({"figure-2"}))))
    assert parsed.links == ["#figure-2", "data-toy.html#run-measured-a-4-r1"]
    assert "Computed from the values of Figure 2 and run measured-a-4-r1." in parsed.text


def test_grid_marks_number_cells_and_row_anchors() -> None:
    parsed = Parsed(record_html(claims()))
    assert [a.get("id") for tag, a in parsed.tags if tag == "tr"] == [
        None,
        "claim-more-at-8",
        "claim-busy",
    ]
    (style,) = [a.get("style") for tag, a in parsed.tags if tag == "table"]
    assert style == "--c2:'Verdict: ';--c3:'About: ';"
    (numbers,) = [a.get("class") for tag, a in Parsed(record_html(table())).tags if tag == "table"]
    assert numbers == "vp-table vp-n2"


def test_span_styles_map_to_elements() -> None:
    styles = {
        "strong": "strong",
        "code": "code",
        "deleted": "del",
        "inserted": "ins",
        "mark": "sup",
    }
    words = tuple(Span(text="x", style=style) for style in styles)
    record = Record(kind="k", id="r", study="toy", title="", blocks=(Paragraph(words=words),))
    tags = [tag for tag, _ in Parsed(record_html(record)).tags]
    assert [tag for tag in tags if tag in styles.values()] == list(styles.values())


def test_caption_does_not_repeat_the_heading() -> None:
    record = figure()
    whole = f"{record.name}. {record.title}"
    alone, below = (
        Parsed(record_html(record, heading=heading)).text
        for heading in ("Figure 1. Another", f"{whole}.")
    )
    assert (
        f"{record.name}. {record.title}" in alone and f"{record.name}. {record.title}" not in below
    )
    assert record.caption in alone and record.caption in below
    bare = record_html(record.model_copy(update={"caption": ""}), heading=whole)
    assert "<figcaption" not in bare


def test_verdict_is_explained_once_per_table() -> None:
    word = (Span(text="in conflict", style="verdict"),)
    grid = Grid(label="g", columns=("a",), rows=((word,), (word,)))
    record = Record(kind="k", id="r", study="toy", title="", blocks=(Paragraph(words=word), grid))
    titles = [
        a.get("title")
        for tag, a in Parsed(record_html(record)).tags
        if "vp-verdict" in a.get("class", "")
    ]
    assert titles == ["the paper's other claims exclude it", None, None]


def test_long_words_may_break() -> None:
    record = Record(
        kind="k",
        id="r",
        study="toy",
        title="",
        blocks=(Paragraph(words="a_rather_long_name/of.a.file"),),
    )
    assert (
        "<wbr>" in record_html(record)
        and "a_rather_long_name/of.a.file" in Parsed(record_html(record)).text
    )


def test_ids_are_made_unique_before_rendering() -> None:
    one, two = make_ids_distinct([claims(), claims()], used_ids=["claim-busy"])
    assert (one.id, two.id) == ("claims-figure-2", "claims-figure-2-2")
    grids = [block for record in (one, two) for block in record.blocks if isinstance(block, Grid)]
    assert [grid.ids for grid in grids] == [("claim-more-at-8", ""), ("", "")]
    names = list(ids([one, two]))
    assert len(names) == len(set(names))


def test_ids_in_folded_blocks_are_unique_too() -> None:
    grid = Grid(label="Notes", columns=("note",), rows=(("a misprint",),), ids=("note-1",))
    folded = Record(
        kind="k", id="r", study="toy", title="", blocks=(Folded(summary="Notes", blocks=(grid,)),)
    )
    one, two = make_ids_distinct([folded, folded])
    assert "note-1" in ids([one]) and "note-1" not in ids([two])


def test_figure_without_a_picture_shows_its_sentences_without_a_click() -> None:
    said = Paragraph(words="Statements of the text:"), Listing(items=("disk is slowest",))
    record = figure().model_copy(update={"drawing": "", "blocks": said, "caption": "0 to 100."})
    shown = str(record_html(record)).partition("<details")[0]
    assert "Statements of the text:" in shown and "disk is slowest" in shown
    assert "0 to 100." not in shown
