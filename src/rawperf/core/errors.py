"""Errors that name the place, what was expected, what was found and what to do, with the names
that are near to one that does not exist.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Self, TypeVar

MAX_LISTED_NAMES = 12  # names that are listed where none is near


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """A remedy in words: ``did you mean 'Xen'?``, or the known names where none is near."""
    names = list(dict.fromkeys(map(str, known)))
    if meant := if_meant(name, names):
        return meant
    if not names:
        return "there is none."
    more = f" and {len(names) - MAX_LISTED_NAMES} more" if len(names) > MAX_LISTED_NAMES else ""
    return f"known are {', '.join(names[:MAX_LISTED_NAMES])}{more}."


def undecodable(err: UnicodeDecodeError) -> dict[str, Any]:
    """Where a text is not what it should be, as parts of an error: the line, and what was found."""
    line = err.object.count(b"\n", 0, err.start) + 1
    return {"line": line, "found": f"the byte 0x{err.object[err.start]:02x}"}


def if_meant(name: object, known: Iterable[object]) -> str:
    """``did you mean 'Xen'?``; "" where no known name is near."""
    lower = {n.lower(): n for n in reversed(list(dict.fromkeys(map(str, known))))}
    close = difflib.get_close_matches(str(name).lower(), lower, n=2, cutoff=0.5)
    return f"did you mean {' or '.join(repr(lower[n]) for n in close)}?" if close else ""


_NO_TEXT = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
"""Characters that only files of programs have; what stands around them is not shown."""
E = TypeVar("E", bound="RawperfError")


class RawperfError(Exception):
    """Base of every error that the package raises on purpose; its parts are attributes.

    - `problem`: what is wrong, in one clause.
    - `file`, `line`: the file that shows it, as the user named it; from 1, or a record's number where
      there are no lines.
    - `expected`, `found`: the rule and what stands there instead.
    - `remedy`: what the user can do about it.
    - `folder`: what `file` is relative to, set where it is known. It is no part of the message, so
      that messages that results keep are the same on every machine; commands name it by `within`.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | PurePath | None = None,
        line: int | None = None,
        expected: str | None = None,
        found: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = None if file is None else str(file)
        self.line = line
        self.expected = expected
        self.found = found
        self.remedy = remedy
        self.folder: Path | None = None
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place = f"{place} line {self.line}".strip()
        problem = "the file is no text here" if _NO_TEXT.search(self.problem) else self.problem
        text = f"{place}: {problem}" if place else problem
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.found is not None:
            text += f"; found {_shorten(self.found)}"
        if self.remedy and not _NO_TEXT.search(self.remedy):
            text = f"{text.removesuffix('.')}. {self.remedy[0].upper()}{self.remedy[1:]}"
        return text

    @property
    def parts(self) -> dict[str, Any]:
        """All parts by name, as the constructor takes them."""
        return {
            name: getattr(self, name)
            for name in ("problem", "file", "line", "expected", "found", "remedy")
        }

    def restated(self, kind: type[E], **parts: Any) -> E:
        """The same as an error of that kind, with some parts replaced; another file is relative to
        no known folder.
        """
        restated = kind(**(self.parts | parts))
        if "file" not in parts:
            restated.folder = self.folder
        return restated

    def within(self, root: Path) -> Self:
        """The same with its file named by its path, from `root` where it is inside."""
        if self.folder is None or self.file is None:
            return self
        path = self.folder / self.file
        place, around = path.absolute(), root.absolute()
        inside = place.is_relative_to(around)
        return self.restated(type(self), file=place.relative_to(around) if inside else path)

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **self.parts), (), {"folder": self.folder}


VirtperfError = RawperfError
"""The same class, by the name that virtperf uses."""

Report = Callable[[RawperfError], None]
"""What a loader tells its problems: `stop`, or the `append` of a list that is to have them all."""


def stop(problem: RawperfError) -> None:
    """Raise the problem, so that the first one ends a load."""
    raise problem


def _shorten(text: str, limit: int = 160) -> str:
    if _NO_TEXT.search(str(text)):
        return "bytes that are no text"
    flat = " ".join(str(text).split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


class FormatError(RawperfError):
    """A raw file does not follow its format."""


class RunError(RawperfError):
    """A run folder is incomplete or contradicts itself."""


class StudyError(RawperfError):
    """A hand-written file of a study is wrong (study.yaml, claims.yaml, a table)."""


class ParameterError(RawperfError):
    """An unknown parameter, a wrong type or a value out of range."""


class ModelError(RawperfError):
    """A model can't be fitted to the data it was given."""
