"""What formats that are read part by part have in common."""

from __future__ import annotations

import io

from virtperf.formats.base import Reading, Streaming, joined


class InParts:
    """Reads a whole file as its parts together."""

    def read(self: Streaming, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a whole file; raises `FormatError` as `blocks` does."""
        return joined(self.blocks(io.BytesIO(data), file=file))
