"""Text in templates: escaping and line breaks in long words."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from virtperf.core.numbers import NO_BREAK
from virtperf.report.html.templating import bound, breakable, css_string
from virtperf.report.wording import printable


@given(st.text())
def test_breakable_text_is_equal_and_escaped(text: str) -> None:
    plain = str(breakable(text)).replace("<wbr>", "")
    shown = html.unescape(html.escape(bound(printable(text))))
    assert html.unescape(plain) == shown and "<" not in plain


@given(st.text())
def test_css_strings_are_escaped(text: str) -> None:
    quoted = css_string(text)
    assert re.fullmatch(r"'(?:[^'\\\n\r\f;{}<>&\"]|\\[0-9a-f]{1,6} )*'", quoted)
    assert re.sub(
        r"\\([0-9a-f]+) ", lambda found: chr(int(found[1], 16)), quoted[1:-1]
    ) == printable(text)


@pytest.mark.parametrize(
    ("text", "bound_at"),
    [
        ("5 % of 3 ms", [1, 8]),
        ("2 (1 to 3) MiB/s", [10]),
        ("8 sessions, 3 guests", []),
        ("a s", []),
    ],
)
def test_a_number_stays_with_its_unit(text: str, bound_at: list[int]) -> None:
    shown = bound(text)
    assert [k for k, sign in enumerate(shown) if sign == NO_BREAK] == bound_at
    assert shown.replace(NO_BREAK, " ") == text


def test_long_words_may_break() -> None:
    assert "<wbr>" in breakable("zvm-throughput-stays-level-after-12-guests")
    assert "<wbr>" not in breakable("throughput stays level")
