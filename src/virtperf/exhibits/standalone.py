"""A figure's drawing as an SVG file of its own, for a README or a slide."""

from __future__ import annotations

import re

from virtperf.core.errors import VirtperfError
from virtperf.exhibits.display import Shown

_VARIABLE = re.compile(r"var\(--[\w-]+, ?((?:[^()]|\([^()]*\))*)\)")


def standalone_svg(shown: Shown) -> str:
    """The first (wide) drawing of a figure on white paper, with the light theme's colours written in.

    Raises
    ------
    VirtperfError
        The exhibit has no drawing.
    """
    found = re.search(r"<svg\b.*?</svg>", shown.html, re.S)
    if found is None:
        raise VirtperfError("this exhibit has no drawing")
    svg = found[0]
    while _VARIABLE.search(svg):
        svg = _VARIABLE.sub(r"\1", svg)
    svg = svg.replace("currentColor", "#1f2328")
    head, rest = svg.split(">", 1)
    if "xmlns=" not in head:
        head += ' xmlns="http://www.w3.org/2000/svg"'
    return f'{head}><rect width="100%" height="100%" fill="#fff"/>{rest}\n'
