"""What a new study's files still say in place of the paper: no mistake, but nothing to publish either."""

from __future__ import annotations

import json
import re
from pathlib import Path

from virtperf.core.paths import Layout
from virtperf.exhibits.wording import plural

_MARK = re.compile(r"\bEXAMPLE\b")


def placeholders(layout: Layout, studies: list[str]) -> str:
    """Which files still say EXAMPLE and on how many lines, comments left out; "" where none does."""
    counts: dict[str, int] = {}
    for study in studies:
        folder, notebook = layout.definition(study), layout.notebook(study)
        for path in [*sorted(folder.rglob("*.yaml")), *sorted(folder.rglob("*.csv")), notebook]:
            if count := sum(bool(_MARK.search(line)) for line in _lines(path)):
                counts[path.relative_to(layout.root).as_posix()] = count
    if not counts:
        return ""
    total = sum(counts.values())
    verb = "says" if total == 1 else "say"
    files = ", ".join(f"{path} ({count})" for path, count in counts.items())
    return f"{plural(total, 'line')} still {verb} EXAMPLE, to be replaced: {files}."


def _lines(path: Path) -> list[str]:
    """A file's lines without comments; a notebook's are its cells'. Files that can't be read are problems elsewhere."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
            return text.splitlines()
    except (OSError, ValueError, LookupError, TypeError):
        return []
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]
