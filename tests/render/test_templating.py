"""Text in templates: escaped, and long words may break."""

from __future__ import annotations

import html

from hypothesis import given
from hypothesis import strategies as st

from virtperf.exhibits.wording import printable
from virtperf.render.templating import breakable


@given(st.text())
def test_breakable_text_says_the_same_and_holds_no_markup_of_its_own(text: str) -> None:
    shown = str(breakable(text)).replace("<wbr>", "")
    assert html.unescape(shown) == html.unescape(html.escape(printable(text))) and "<" not in shown


def test_long_words_may_break() -> None:
    assert "<wbr>" in breakable("zvm-throughput-stays-level-after-12-guests")
    assert "<wbr>" not in breakable("throughput stays level")
