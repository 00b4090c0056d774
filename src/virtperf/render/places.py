"""Where a record is shown, and so what its links lead to."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from virtperf.core.errors import VirtperfError
from virtperf.exhibits.wording import slug

KINDS = ("#", "claim:", "exhibit:", "trace:", "run:", "rehearsal:", "https://", "http://")


def trace_place(key: str) -> str:
    """The anchor of a key on its study's trace page: the key without the study's name."""
    return slug(key.partition("/")[2])


@dataclass(frozen=True)
class Place:
    """A page or a notebook, from which `folder` leads to the reports.

    `known` are the ids on this page: a link to an exhibit or a claim that is not among them is none. `elsewhere`:
    exhibits and claims stand on another page, the study's report. `listed` are claims whose links lead to the page of
    all claims.
    """

    known: frozenset[str] = frozenset()
    folder: str = ""
    elsewhere: bool = False
    listed: frozenset[str] = frozenset()

    def address(self, link: str, study: str) -> str:
        """The address of a link within a record of a study; "" where it leads nowhere."""
        kind, _, rest = link.partition(":")
        if not link or link.startswith(("https://", "http://")):
            return link
        if link.startswith("#"):
            return self._anchor(link[1:], study)
        if kind == "claim" and rest in self.listed:
            return f"{self.folder}{quote(f'claims-{study}')}.html#{quote(f'claim-{rest}')}"
        if kind in ("claim", "exhibit") and "/" in rest:
            of, _, name = rest.partition("/")
            return f"{self.folder}{quote(of)}.html#{quote(f'claim-{name}' if kind == 'claim' else name)}"
        if kind in ("claim", "exhibit"):
            return self._anchor(f"claim-{rest}" if kind == "claim" else rest, study)
        if kind == "trace":
            of, _, _ = rest.partition("/")
            return f"{self.folder}{quote(f'trace-{of}')}.html#{trace_place(rest)}"
        if kind == "rehearsal":
            return f"{self.folder}{quote(f'rehearsal-{rest}')}.html"
        if kind == "run":
            return f"{self.folder}{quote(f'quality-{study}')}.html#run-{quote(rest)}" if study else ""
        raise VirtperfError(f"a link of no known kind: {link!r}", expected=f"one that begins with {' or '.join(KINDS)}")

    def _anchor(self, anchor: str, study: str) -> str:
        if self.elsewhere:
            return f"{self.folder}{quote(study)}.html#{quote(anchor)}" if study else ""
        return f"#{quote(anchor)}" if anchor in self.known else ""


NOTEBOOK = Place(folder="../reports/", elsewhere=True)
"""A notebook stands in a folder beside the reports."""
