"""Identification of files that no format reads: the tool or the kind of file, and what to do."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from rawperf.core.yamlio import load_yaml

NAMED_TOOL = "it looks like"
"""Beginning of a problem that names the tool or the kind of file."""
MAX_SHOWN = 160
"""Characters of a heading or message that an error shows."""
_COMPRESSION_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"PK\3\4": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x1f\x9d": "compress",
}
LFS_POINTER = b"version https://git-lfs."
"""Beginning of a file of which Git LFS has the content."""
_DECLARE = "declare its lines, see docs/formats/declared.md"
"""What `remedy: declare` stands for."""
UTF16_PROBLEM = "the file is encoded as UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE"
"""Problem and remedy of a file in UTF-16."""


def is_utf16(head: bytes) -> bool:
    """Whether a file's head is UTF-16 text, with a byte order mark or mostly Latin."""
    return head[:2] in (b"\xff\xfe", b"\xfe\xff") or (
        head[1::2].count(0) > len(head) // 4 and head[::2].count(0) == 0
    )


@cache
def _outputs() -> tuple[tuple[str, re.Pattern[bytes], str], ...]:
    """Name, pattern and remedy of each output in unsupported.yaml."""
    entries = load_yaml(Path(__file__).with_name("unsupported.yaml")).data["outputs"]
    return tuple(
        (
            entry["name"],
            re.compile(entry["pattern"].encode(), re.M),
            _DECLARE if entry.get("remedy") == "declare" else entry.get("remedy", ""),
        )
        for entry in entries
    )


def identify_unsupported(head: bytes) -> tuple[str, str]:
    """Identify an unsupported file from its first 8 KiB: problem and remedy, or "" twice."""
    if not head.strip():
        return (
            "the file is empty",
            "collect the run again; the tool may have written to standard error",
        )
    compression = next(
        (name for magic, name in _COMPRESSION_MAGIC.items() if head.startswith(magic)), None
    )
    if compression:
        return (
            f"the file is compressed with {compression}",
            "decompress it, or compress it with gzip, xz or zstd",
        )
    if is_utf16(head):
        return UTF16_PROBLEM
    for name, pattern, remedy in _outputs():
        match = pattern.search(head)
        if match:
            said = (match.groupdict().get("said") or b"").decode("utf-8", "replace").strip()
            if said:
                return f"{NAMED_TOOL} {name}: {said[:MAX_SHOWN]}", remedy
            return f"{NAMED_TOOL} {name}, which has no reader", remedy
    binary_remedy = (
        "keep the tool's text output; for z/VM monitor data (MONWRITE), the listing of the "
        "Performance Toolkit"
    )
    return ("the file is binary", binary_remedy) if b"\0" in head else ("", "")
