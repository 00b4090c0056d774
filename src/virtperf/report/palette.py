"""Colour palette of figures and pages: plots use the light colours, the dark theme replaces them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """A colour of the light theme and its counterpart in the dark theme."""

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
"""Colour cycle of systems: Okabe and Ito's palette, darkened until text is legible on white."""
GREYS = (
    Colour("#33383e", "#e2e4e7"),
    Colour("#979da4", "#868d94"),
    Colour("#6b7178", "#b3b8bd"),
    Colour("#b4b9be", "#717880"),
)
"""Shades of series that are no system, such as the steps of one: a hue would name a system."""
GREY = -1  # of a series in a shade of `GREYS`, in place of its position in the cycle
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
    **{f"grey-{k}": colour for k, colour in enumerate(GREYS, 1)},
}
"""By name of the CSS variable."""
FIGURE_COLOURS = {"white": WHITE, "black": Colour("#000000", INK.dark), **VARIABLES}
"""All colours that figures may use and the dark theme replaces."""
