"""Text in templates: escaping and line breaks in long words."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from virtperf.report.html.templating import breakable, css_string
from virtperf.report.wording import printable


@given(st.text())
def test_breakable_text_is_equal_and_escaped(text: str) -> None:
    plain = str(breakable(text)).replace("<wbr>", "")
    assert html.unescape(plain) == html.unescape(html.escape(printable(text))) and "<" not in plain


@given(st.text())
def test_css_strings_are_escaped(text: str) -> None:
    quoted = css_string(text)
    assert re.fullmatch(r"'(?:[^'\\\n\r\f;{}<>&\"]|\\[0-9a-f]{1,6} )*'", quoted)
    assert re.sub(
        r"\\([0-9a-f]+) ", lambda found: chr(int(found[1], 16)), quoted[1:-1]
    ) == printable(text)


def test_long_words_may_break() -> None:
    assert "<wbr>" in breakable("zvm-throughput-stays-level-after-12-guests")
    assert "<wbr>" not in breakable("throughput stays level")
