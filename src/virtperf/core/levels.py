"""Levels of factors as text and back: the one codec of the project, for files, for claims and for
the command line.
"""

from __future__ import annotations

import json
import re
from typing import Any

Level = str | int | float

_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def parse_level(text: str) -> Level:
    """The level that a text stands for: ``12`` an int, ``12.5`` a float, ``zvm`` a str; so is
    ``"12"`` in quotes.
    """
    text = text.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return str(json.loads(text))
        except ValueError:
            return text
    return text


def level_text(level: Any) -> str:
    """The text from which `parse_level` makes the same level again."""
    if not isinstance(level, str):
        return str(level.item() if hasattr(level, "item") else level)
    return level if parse_level(level) == level else json.dumps(level, ensure_ascii=False)
