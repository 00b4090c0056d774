"""Near names: what somebody probably meant who wrote a name that is none."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

MAX_LISTED_NAMES = 12  # names that are listed where none is near


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """A remedy in words: ``did you mean 'Xen'?``, or the known names where none is near."""
    names = list(dict.fromkeys(map(str, known)))
    lower = {n.lower(): n for n in reversed(names)}
    close = difflib.get_close_matches(str(name).lower(), lower, n=2, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(repr(lower[n]) for n in close)}?"
    if not names:
        return "there is none."
    more = f" and {len(names) - MAX_LISTED_NAMES} more" if len(names) > MAX_LISTED_NAMES else ""
    return f"known are {', '.join(names[:MAX_LISTED_NAMES])}{more}."
