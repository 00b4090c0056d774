"""A Matplotlib figure as SVG for a web page: themed, titled, with ids of its own, the same bytes every time."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from virtperf.exhibits import style
from virtperf.exhibits.svg_compact import compact
from virtperf.exhibits.wording import escape, printable

_FONT = re.compile(r"font-family: [^;\"]*(?:'[^']*'[^;\"]*)*;?\s*")
_SHORT_FONT = re.compile(r"font: ((?:[a-z]+ )*)(\d+(?:\.\d+)?px) [^;\"]*(;?)")
_COORDINATE = re.compile(r"-?\d+\.\d+")
_GEOMETRY = re.compile(r' (?:d|x|y|width|height|transform)="[^"]*"')
_NO_ROTATION = re.compile(r' transform="rotate\(-?0(?:\.0+)? [^)]*\)"')


def to_svg(figure: Figure, *, prefix: str, title: str, description: str, kind: str = "wide") -> str:
    """Draw a figure as one `svg` element.

    Parameters
    ----------
    figure : Figure
        Drawn within `style.house_style`, in its sentinel colours.
    prefix : str
        Begins every id, so that several drawings fit on one page.
    title, description : str
        For people who do not see the drawing: its name, and the finding.
    kind : {"wide", "narrow"}
        The narrow drawing is hidden until the page's style sheet shows it on a phone.

    Returns
    -------
    str
        Coordinates rounded to a tenth of a pixel; no date, no metadata, no global style rules.
    """
    FigureCanvasSVG(figure)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    raw = buffer.getvalue()
    body = raw[raw.index("<svg") :]
    body = body[body.index(">") + 1 : body.rindex("</svg>")]
    # Matplotlib's style rule is for "*" and would reach the whole page; the root element carries it instead.
    body = re.sub(
        r"<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>|<!--.*?-->", "", body, flags=re.DOTALL
    )
    body = _markup(body, _shorten)
    body = compact(_own_ids(_flatten(body), prefix))
    width, height = (round(72 * inches) for inches in figure.get_size_inches())
    shown = "block" if kind == "wide" else "none"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="vp-drawing vp-{kind}" role="img" '
        f'viewBox="0 0 {width} {height}" aria-labelledby="{prefix}-title {prefix}-desc" '
        f'style="display:{shown};width:100%;max-width:{width}px;height:auto;stroke-linejoin:round;stroke-linecap:butt;'
        f'font-family:var(--vp-sans, sans-serif)">'
        f'<title id="{prefix}-title">{escape(printable(title))}</title>'
        f'<desc id="{prefix}-desc">{escape(printable(description))}</desc>{body}</svg>'
    )


def _markup(body: str, change: Callable[[str], str]) -> str:
    """Apply `change` to every tag, never to the text between tags."""
    return re.sub(r"<[^>]*>", lambda m: change(m[0]), re.sub(r">\s+<", "><", body.strip()))


def _shorten(tag: str) -> str:
    tag = _NO_ROTATION.sub("", tag.replace("\n", " ").replace("xlink:href", "href"))
    tag = _FONT.sub("", tag)
    tag = _SHORT_FONT.sub(_font_parts, tag)
    tag = _GEOMETRY.sub(lambda m: _COORDINATE.sub(_rounded, m[0]), tag)
    tag = re.sub(r"\s+", " ", tag).replace(' "', '"').replace(": ", ":").replace("; ", ";")
    for sentinel, colour in style.CSS_COLOURS.items():
        tag = tag.replace(sentinel, colour)
    return tag


def _rounded(match: re.Match[str]) -> str:
    text = f"{float(match[0]):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _font_parts(match: re.Match[str]) -> str:
    weight = "font-weight:bold;" if "bold" in match[1] or "700" in match[1] else ""
    return f"{weight}font-size:{match[2]}{match[3]}"


def _flatten(body: str) -> str:
    """Drop groups that say nothing and shapes that nobody sees."""
    body = re.sub(r' id="(?:[a-zA-Z._]*_\d+|[a-zA-Z]+Collection_\d+)"', "", body)
    body = re.sub(r'<path d="[^"]*" style="fill:none"/>', "", body)
    kept: list[bool] = []
    parts: list[str] = []
    for part in re.split(r"(</?g(?: [^>]*)?/?>)", body):
        if part == "</g>":
            if kept.pop():
                parts.append(part)
        elif part.startswith(("<g>", "<g ")) and not part.endswith("/>"):
            kept.append(part != "<g>")
            if kept[-1]:
                parts.append(part)
        elif not part.startswith("<g/"):
            parts.append(part)
    return "".join(parts)


def _own_ids(body: str, prefix: str) -> str:
    """Drop ids that nothing refers to; give the others names that begin with `prefix`."""
    used = dict.fromkeys(re.findall(r'(?:url\(#|href="#)([^")]+)', body))
    names = {old: f"{prefix}-{k}" for k, old in enumerate(used)}
    body = re.sub(r' id="([^"]*)"', lambda m: f' id="{names[m[1]]}"' if m[1] in names else "", body)
    body = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{names[m[1]]})", body)
    return re.sub(r'href="#([^"]+)"', lambda m: f'href="#{names[m[1]]}"', body)
