"""Markdown cells as HTML."""

from __future__ import annotations

from virtperf.report.html.markdown import ContentsEntry, Writer, render_cells


def test_headings_get_unique_anchors() -> None:
    writer = Writer(taken=frozenset({"figure-2"}))
    writer.html("# Figure 2\n\n## A *b* `c` & d\n\n### A b c d")
    assert writer.headings == [
        ContentsEntry(1, "Figure 2", "figure-2-2"),
        ContentsEntry(2, "A b c & d", "a-b-c-d"),
        ContentsEntry(3, "A b c d", "a-b-c-d-2"),
    ]


def test_links_may_target_later_headings_but_not_missing_ones() -> None:
    (first, _), (_, headings) = render_cells(
        ["[on](#later) [off](#gone) [fig](#figure-2)", "## Later"], frozenset({"figure-2"})
    )
    assert '<a href="#later">on</a> off <a href="#figure-2">fig</a>' in first
    assert [heading.anchor for heading in headings] == ["later"]


def test_tables_scroll_in_a_container() -> None:
    html = Writer().html("| a |\n|---|\n| 1 |\n")
    assert html.index('class="vp-scroll"') < html.index("<table>") and html.rstrip().endswith(
        "</table></div>"
    )


def test_code_blocks_are_focusable() -> None:
    assert '<pre tabindex="0"><code' in Writer().html("```\na long line\n```")


def test_raw_html_is_escaped_and_comments_are_removed() -> None:
    html = Writer().html("<b onclick=x>1</b>\n\n<!-- note -->\n\n<div>2</div>")
    assert (
        "<b" not in html
        and "<div>2" not in html
        and "note" not in html
        and "&lt;b onclick=x&gt;" in html
    )
