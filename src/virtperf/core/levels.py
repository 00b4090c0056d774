"""Serialization of factor levels to text and back: the one codec for files, claims and the command
line.
"""

from __future__ import annotations

import json
import re
from typing import Any

Level = str | int | float

_WHOLE = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def parse_level(text: str) -> Level:
    """Parse a level: ``12`` is an int, ``12.5`` a float, ``zvm`` and the quoted ``"12"`` a str."""
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
    """Format a level; the inverse of `parse_level`."""
    if not isinstance(level, str):
        return str(level.item() if hasattr(level, "item") else level)
    return level if parse_level(level) == level else json.dumps(level, ensure_ascii=False)
