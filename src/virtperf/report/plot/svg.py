"""A Matplotlib figure as SVG for a page: the same bytes every time, and ids of its own."""

from __future__ import annotations

import io
import re
from collections.abc import Container, Iterable, Iterator
from itertools import groupby, pairwise
from xml.etree import ElementTree as ET

import matplotlib as mpl
from matplotlib.figure import Figure

from virtperf.report.plot.theme import FONT, INK_COLOUR
from virtperf.report.wording import printable

_SVG = "http://www.w3.org/2000/svg"
_HREF = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_FONT = re.compile(r"(font(?:-family)?):[^;]*")
_DECIMALS = re.compile(r"-?\d+\.\d{2,}")
_SIZE = re.compile(r"[\d.]+px")
_COMMANDS = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_NOT_TURNED = re.compile(r"rotate\(-?0(\.0)? [^)]*\)")
_PATH, _TEXT, _USE, _GROUP = (f"{{{_SVG}}}{tag}" for tag in ("path", "text", "use", "g"))
_INHERITED = {f"font-size:{FONT}px", f"fill:{INK_COLOUR}", "text-anchor:start"}
"""What the root element says for all text in it."""


def svg(
    figure: Figure, name: str, *, title: str = "", description: str = "", background: str = ""
) -> str:
    """Draw a figure as one `svg` element: text stays text in the page's font; no date, no metadata,
    no style rules.

    `name` begins every id in it, so that several drawings fit on one page. `title` and
    `description` are for people who do not see the drawing. `background` is a colour behind
        everything, for a file of its own.
    """
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    raw = ET.fromstring(buffer.getvalue())  # noqa: S314 (Matplotlib wrote it)
    width, height = (f"{72 * inches:.0f}" for inches in figure.get_size_inches())
    root = ET.Element(
        f"{{{_SVG}}}svg",
        {
            "class": "vp-drawing",
            "role": "img",
            "viewBox": f"0 0 {width} {height}",
            "width": width,
            "height": height,
            # Matplotlib writes these as a style rule for "*".
            "stroke-linejoin": "round",
            "stroke-linecap": "butt",
            "font-family": "sans-serif",
            "font-size": f"{FONT}px",
            "fill": INK_COLOUR,
        },
    )
    words = [
        (tag, printable(text)) for tag, text in (("title", title), ("desc", description)) if text
    ]
    for tag, text in words:
        ET.SubElement(root, f"{{{_SVG}}}{tag}", {"id": f"{name}_{tag}"}).text = text
    if words:
        root.set("aria-labelledby", " ".join(f"{name}_{tag}" for tag, _ in words))
    if background:
        ET.SubElement(
            root, f"{{{_SVG}}}rect", {"width": "100%", "height": "100%", "fill": background}
        )
    root.extend(_cleaned(raw, name))
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    return ET.tostring(root, encoding="unicode")


def _cleaned(raw: ET.Element, prefix: str) -> list[ET.Element]:
    """The parts of Matplotlib's element without metadata, style rules and fonts.

    Ids to which something refers are numbered behind `prefix`; Matplotlib's own names of clips and
    marks depend on the last bit of a position.
    """
    for parent in raw.iter():
        for child in list(parent):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}style"):
                parent.remove(child)
    for pattern in raw.iter(f"{{{_SVG}}}pattern"):
        shorten(pattern)
    used = {v[1:] for e in raw.iter() for n, v in e.attrib.items() if n == _HREF}
    used |= {name for e in raw.iter() for v in e.attrib.values() for name in _REFERENCE.findall(v)}
    names: dict[str, str] = {}
    axes = {
        element for element in raw.iter() if element.get("id", "").startswith("matplotlib.axis")
    }
    for element in raw.iter():
        own = element.attrib.pop("id", "")
        if own in used:
            names[own] = f"{prefix}_{len(names)}"  # no anchor of a heading has an underscore
            element.set("id", names[own])
    for element in raw.iter():
        if not (element.text or "").strip():
            element.text = None
        element.tail = None
        if _NOT_TURNED.fullmatch(element.get("transform", "")):
            del element.attrib["transform"]
        for name, value in element.attrib.items():
            if name == _HREF:
                value = f"#{names.get(value[1:], value[1:])}" if value.startswith("#") else value
            elif name == "style":
                text = element.tag == _TEXT
                value = _FONT.sub(_inherited, value) if text else value
                parts = (part.strip().replace(": ", ":") for part in value.split(";"))
                value = ";".join(
                    part for part in parts if part and not (text and part in _INHERITED)
                )
            elif name in (
                "d",
                "x",
                "y",
                "transform",
            ):  # a tenth of a pixel is finer than any screen
                value = " ".join(_DECIMALS.sub(_rounded, value).split())
                value = _shorter(value) if name == "d" else value
            element.set(name, _REFERENCE.sub(lambda m: f"url(#{names.get(m[1], m[1])})", value))
        if not element.get("style", "-"):
            del element.attrib["style"]
    return _joined(_unwrapped(raw, axes))


def _rounded(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _shorter(shape: str) -> str:
    """A path whose level and upright lines name one coordinate."""
    parts: list[str] = []
    x = y = ""
    for command, values in _COMMANDS.findall(shape):
        at = values.split()
        if command == "L" and len(at) == 2 and (at[0] == x or at[1] == y):
            parts.append(f"V{at[1]}" if at[0] == x else f"H{at[0]}")
        else:
            parts.append(f"{command}{' '.join(at)}")
        if len(at) >= 2:
            x, y = at[-2:]
    return "".join(parts)


def _joined(elements: Iterable[ET.Element]) -> list[ET.Element]:
    """Paths that look alike and follow each other, as one: bars of one series say their style once.

    A path without a shape, which Matplotlib writes where nothing is to be drawn, is left out, and
    so is one without fill and stroke, which it writes behind a figure and its panels.
    """
    kept: list[ET.Element] = []
    for element in elements:
        if element.tag == _PATH and (
            "d" not in element.attrib or element.get("style") == "fill:none"
        ):
            continue
        element[:] = _joined(element)
        if kept and element.tag == kept[-1].tag == _PATH and _look(element) == _look(kept[-1]):
            kept[-1].set("d", f"{kept[-1].get('d')} {element.get('d')}")
        else:
            kept.append(element)
    return list(
        _grouped(_grouped(kept, "style", (_USE, _TEXT)), "clip-path", (_PATH, _GROUP, _USE))
    )


def _grouped(
    elements: Iterable[ET.Element], name: str, tags: Container[str]
) -> Iterator[ET.Element]:
    """Elements of these tags that follow each other with one value of an attribute, in a group that
    says it once.
    """
    for value, alike in groupby(
        elements, key=lambda element: element.get(name) if element.tag in tags else None
    ):
        members = list(alike)
        if value is None or len(members) == 1:
            yield from members
            continue
        group = ET.Element(_GROUP, {name: value})
        for member in members:
            del member.attrib[name]
        group.extend(members)
        yield group


def _look(path: ET.Element) -> dict[str, str]:
    """All attributes but the shape, those of a path that is referred to by its id among them."""
    return {name: value for name, value in path.attrib.items() if name != "d"}


def _unwrapped(parent: ET.Element, axes: Container[ET.Element]) -> Iterator[ET.Element]:
    """The children of an element, those of a group that says nothing in its place; of an axis the
    labels last.
    """
    for child in list(parent):
        inner = list(_unwrapped(child, axes))
        if child in axes:
            inner.sort(key=lambda element: element.tag == _TEXT)
        if child.tag == _GROUP and not child.attrib:
            yield from inner
        else:
            child[:] = inner
            yield child


def _inherited(style: re.Match[str]) -> str:
    """A font's size without its family, which the page sets and text inherits."""
    if style[1] == "font-family":
        return ""
    size = _SIZE.search(style[0])
    weight = "; font-weight: bold" if "bold" in style[0] or "700" in style[0] else ""
    slant = "; font-style: italic" if "italic" in style[0] else ""
    return f"font-size: {size[0]}{weight}{slant}" if size else ""


TILE = 24  # smaller ones make browsers write larger PDFs
_LINE = re.compile(r"M\s*(-?[\d.]+)\s+(-?[\d.]+)\s*L\s*(-?[\d.]+)\s+(-?[\d.]+)")


def shorten(pattern: ET.Element) -> None:
    """Make a pattern's tile `TILE` wide and high, where its lines are level, upright or diagonal,
    and repeat.
    """
    path = pattern.find("{*}path")
    ground = pattern.find("{*}rect")
    shape = "" if path is None else path.get("d", "")
    lines = [tuple(map(float, found)) for found in _LINE.findall(shape)]
    if path is None or ground is None or _LINE.sub("", shape).strip() or not lines:
        return
    offsets: dict[str, set[float]] = {}
    for x, y, to_x, to_y in lines:
        direction, offset = _direction(x, y, to_x, to_y)
        offsets.setdefault(direction, set()).add(offset)
    if "" in offsets or not all(map(_repeats, offsets.values())):
        return
    path.set(
        "d",
        "".join(
            _within(direction, offset) for direction, of in offsets.items() for offset in sorted(of)
        ),
    )
    for element, size in ((pattern, TILE), (ground, TILE + 1)):
        element.attrib |= {"width": str(size), "height": str(size)}


def _direction(x: float, y: float, to_x: float, to_y: float) -> tuple[str, float]:
    """How a line runs, and where: its x, its y, or x + y or y - x; "" for any other slope."""
    if x == to_x:
        return "upright", x
    if y == to_y:
        return "level", y
    if x + y == to_x + to_y:
        return "rising", x + y
    return ("falling", y - x) if y - x == to_y - to_x else ("", 0.0)


def _repeats(offsets: Iterable[float]) -> bool:
    """Whether lines stand equally far apart, so that a tile holds a whole number of them."""
    found = sorted(offsets)
    steps = {round(b - a, 3) for a, b in pairwise(found)}
    return len(steps) == 1 and TILE % steps.pop() == 0


def _within(direction: str, offset: float) -> str:
    """The line across a tile; "" where it is outside."""
    at = f"{offset:g}"
    if direction in ("upright", "level"):
        line = f"M{at} 0V{TILE}" if direction == "upright" else f"M0 {at}H{TILE}"
        return line if 0 <= offset <= TILE else ""
    if direction == "rising":
        return f"M-1 {offset + 1:g}L{offset + 1:g} -1" if 0 <= offset <= 2 * TILE else ""
    return f"M-1 {offset - 1:g}L{TILE + 1} {offset + TILE + 1:g}" if abs(offset) <= TILE else ""
