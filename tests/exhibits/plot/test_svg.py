"""SVG of figures: themed, titled, unique ids, the same bytes, nothing interpreted."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from virtperf.exhibits.book import Book
from virtperf.exhibits.svg import to_svg

from virtperf.exhibits import style

SVG = "{http://www.w3.org/2000/svg}"


def draw(text: str, prefix: str = "p") -> str:
    with style.house_style():
        figure, (axes,) = style.panels(style.WIDE, left=40, bottom=40)
        axes.plot([0, 1], [0.123456789, 1], color=style.look(0).colour, alpha=0.25)
        axes.set_title(text, color=style.INK)
        return to_svg(figure, prefix=prefix, title=text, description="it rises")


def test_the_same_figure_gives_the_same_bytes() -> None:
    assert draw("a") == draw("a")


def test_text_stays_text_and_is_not_interpreted() -> None:
    drawn = draw("$x_1$ <b>&amp; #010101")
    texts = [t.text for t in ElementTree.fromstring(drawn).iter(f"{SVG}text")]
    assert "$x_1$ <b>&amp; #010101" in texts


def test_colours_follow_the_page() -> None:
    drawn = draw("a")
    assert "currentColor" in drawn and "var(--vp-series-1" in drawn
    assert not [c for c in style.CSS_COLOURS if c in drawn]


def test_no_rule_reaches_beyond_the_drawing() -> None:
    drawn = draw("a")
    assert "<style" not in drawn and "<metadata" not in drawn and "DejaVu" not in drawn and "<!--" not in drawn


def test_opacity_is_not_rounded_like_a_coordinate() -> None:
    assert "opacity:0.25" in draw("a")


def test_title_and_finding_are_for_those_who_do_not_see_the_drawing() -> None:
    root = ElementTree.fromstring(draw("a"))
    assert root.get("role") == "img"
    named = [e.get("id") for e in (root.find(f"{SVG}title"), root.find(f"{SVG}desc")) if e is not None]
    assert root.get("aria-labelledby", "").split() == named


def test_ids_of_two_drawings_differ() -> None:
    one, two = (set(re.findall(r' id="([^"]+)"', draw("a", prefix))) for prefix in ("p", "q"))
    assert one and not one & two


def test_every_reference_has_its_id(book: Book) -> None:
    for exhibit in ("figure-1", "figure-2", "figure-3", "figure-4"):
        html = (book.diagram if exhibit == "figure-1" else book.figure)(exhibit).html
        ids = re.findall(r' id="([^"]+)"', html)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'url\(#([^)]+)\)|<use href="#([^"]+)"', html)) <= {(i, "") for i in ids} | {
            ("", i) for i in ids
        }
