"""Text in templates: escaped, and long words may break."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from virtperf.report.html.templating import breakable, css_string
from virtperf.report.wording import printable


@given(st.text())
def test_breakable_text_says_the_same_and_holds_no_markup_of_its_own(text: str) -> None:
    shown = str(breakable(text)).replace("<wbr>", "")
    assert html.unescape(shown) == html.unescape(html.escape(printable(text))) and "<" not in shown


@given(st.text())
def test_a_string_of_a_style_ends_where_it_should(text: str) -> None:
    shown = css_string(text)
    assert re.fullmatch(r"'(?:[^'\\\n\r\f;{}<>&\"]|\\[0-9a-f]{1,6} )*'", shown)
    assert re.sub(
        r"\\([0-9a-f]+) ", lambda found: chr(int(found[1], 16)), shown[1:-1]
    ) == printable(text)


def test_long_words_may_break() -> None:
    assert "<wbr>" in breakable("zvm-throughput-stays-level-after-12-guests")
    assert "<wbr>" not in breakable("throughput stays level")
