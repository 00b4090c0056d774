"""The colours of figures and pages, once for all: plots draw the light ones, pages swap them in the
dark theme.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """A colour of light pages and the one that takes its place on dark pages."""

    light: str
    dark: str


SERIES_COLOURS = (
    Colour("#0072b2", "#56b4e9"),
    Colour("#d55e00", "#f0883e"),
    Colour("#00805d", "#2fc795"),
    Colour("#aa4499", "#dd8fd0"),
    Colour("#8a6d00", "#d9c15a"),
    Colour("#56779b", "#a3bdd6"),
)
"""One colour a system (Okabe and Ito's, darkened until text in them can be read on white)."""
INK = Colour("#1f2328", "#e7e5e0")
MUTED = Colour("#565b61", "#a9adb3")
GRID = Colour("#dcdcd6", "#3a3f45")
SURFACE = Colour("#fdfdfb", "#14171a")
WHITE = Colour("#ffffff", "#14171a")

VARIABLES = {
    "surface": SURFACE,
    "ink": INK,
    "muted": MUTED,
    "grid": GRID,
    **{f"series-{k}": colour for k, colour in enumerate(SERIES_COLOURS, 1)},
}
"""By the name of the variable in the style of pages."""
FIGURE_COLOURS = {"white": WHITE, "black": Colour("#000000", INK.dark), **VARIABLES}
"""Every colour that a figure may draw with and that has to change on a dark page."""
