"""Exceptions with location, expected and found values and a remedy; suggestion of similar names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Self, TypeVar

MAX_LISTED_NAMES = 12  # listed if none is similar
KNOWN_NAMES = "known names: "


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Suggest similar names: ``did you mean 'Xen'?``; list the known names if none is similar."""
    names = [name for name in dict.fromkeys(map(str, known)) if name]
    if suggestion := suggest_similar(name, names):
        return suggestion
    if not names:
        return "none is defined."
    more = f" and {len(names) - MAX_LISTED_NAMES} more" if len(names) > MAX_LISTED_NAMES else ""
    return f"{KNOWN_NAMES}{', '.join(names[:MAX_LISTED_NAMES])}{more}."


def _repeats(remedy: str | None, expected: str | None) -> bool:
    """Whether a remedy of `did_you_mean` only lists names that `expected` lists too."""
    if expected is None or remedy is None or not remedy.startswith(KNOWN_NAMES):
        return False
    names = re.sub(r"( and \d+ more)?\.$", "", remedy.removeprefix(KNOWN_NAMES))
    return all(name in expected for name in names.split(", "))


def decode_error_parts(err: UnicodeDecodeError) -> dict[str, Any]:
    """Line and offending byte of a `UnicodeDecodeError`, as keyword arguments of an error."""
    line = err.object.count(b"\n", 0, err.start) + 1
    return {"line": line, "found": f"the byte 0x{err.object[err.start]:02x}"}


def suggest_similar(name: object, known: Iterable[object]) -> str:
    """Suggest similar names: ``did you mean 'Xen'?``; "" if no known name is similar."""
    names_by_lower = {n.lower(): n for n in reversed(list(dict.fromkeys(map(str, known))))}
    matches = difflib.get_close_matches(str(name).lower(), names_by_lower, n=2, cutoff=0.5)
    return (
        f"did you mean {' or '.join(repr(names_by_lower[n]) for n in matches)}?" if matches else ""
    )


_BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
"""Control characters that occur in binary files only; text that contains them is not shown."""
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Characters that steer a terminal, turn the direction of writing or can't be encoded."""
E = TypeVar("E", bound="RawperfError")


def visible(text: object) -> str:
    """Text for a message: characters that steer a terminal, as in ``a\\x1b[31m.txt``, are escaped."""
    return _INVISIBLE.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


class RawperfError(Exception):
    """Base class of all errors that the package raises on purpose; its parts are attributes.

    - `problem`: the problem in one clause.
    - `file`, `line`: the file, as the user named it, and the line from 1, or the record number of a
      file without lines.
    - `expected`, `found`: the rule, and the content found instead.
    - `remedy`: an action for the user.
    - `folder`: base folder of `file`, if known. It is not part of the message, so that messages
      stored in results are the same on every machine; commands add it by `relative_to`.
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
        self.remedy = None if _repeats(remedy, expected) else remedy
        self.folder: Path | None = None
        super().__init__(self._message())

    def _message(self) -> str:
        location = (self.file or "").replace("\n", r"\n").replace("\t", r"\t")
        if self.line is not None:
            location = f"{location} line {self.line}".strip()
        problem = "the file has binary data here" if _BINARY.search(self.problem) else self.problem
        text = f"{location}: {problem}" if location else problem
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.found is not None:
            text += f"; found {_shorten(self.found)}"
        if self.remedy and not _BINARY.search(self.remedy):
            text = f"{text.removesuffix('.')}. {self.remedy[0].upper()}{self.remedy[1:]}"
        return visible(text)

    @property
    def parts(self) -> dict[str, Any]:
        """All parts by name, as keyword arguments of the constructor."""
        return {
            name: getattr(self, name)
            for name in ("problem", "file", "line", "expected", "found", "remedy")
        }

    def copy_as(self, kind: type[E], **parts: Any) -> E:
        """Copy the error as another class with some parts replaced; a new `file` drops `folder`."""
        copy = kind(**(self.parts | parts))
        if "file" not in parts:
            copy.folder = self.folder
        return copy

    def relative_to(self, root: Path) -> Self:
        """Copy the error with the path of its file, relative to `root` if inside it."""
        if self.folder is None or self.file is None:
            return self
        path = self.folder / self.file
        absolute, base = path.absolute(), root.absolute()
        is_inside = absolute.is_relative_to(base)
        return self.copy_as(type(self), file=absolute.relative_to(base) if is_inside else path)

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **self.parts), (), {"folder": self.folder}


Report = Callable[[RawperfError], None]
"""Callback for a loader's problems: `raise_problem`, or `append` of a list to collect them all."""


def raise_problem(problem: RawperfError) -> None:
    """Raise the problem, so that loading ends at the first one."""
    raise problem


MAX_FOUND_LENGTH = 160


def _shorten(text: str) -> str:
    if _BINARY.search(str(text)):
        return "binary data"
    flat = " ".join(str(text).split())
    return flat if len(flat) <= MAX_FOUND_LENGTH else f"{flat[: MAX_FOUND_LENGTH - 1]}…"


def require_known(
    name: object,
    known: Collection[object],
    problem: str,
    error: Callable[..., RawperfError] = RawperfError,
    **parts: Any,
) -> None:
    """Raise an error with similar names, and with other `parts`, if a name is not a known one."""
    if name not in known:
        raise error(problem, remedy=did_you_mean(name, known), **parts)


class FormatError(RawperfError):
    """A raw file does not follow its format."""


class FileReader:
    """Base class of what reads one file, `file`, and builds the errors of its lines."""

    file: str

    def error(
        self,
        problem: str,
        line: int | None = None,
        expected: str | None = None,
        found: str | None = None,
        remedy: str | None = None,
    ) -> FormatError:
        """Build the error of a line of the file, from 1; None or 0 if the line is unknown."""
        place = int(line) if line else None
        return FormatError(
            problem, file=self.file, line=place, expected=expected, found=found, remedy=remedy
        )


class RunError(RawperfError):
    """A run folder is incomplete or contradicts itself."""


class StudyError(RawperfError):
    """A hand-written file of a study is wrong (study.yaml, claims.yaml, a table)."""


class ParameterError(RawperfError):
    """An unknown parameter, a wrong type or a value out of range."""


class ModelError(RawperfError):
    """A model can't be fitted to the data it was given."""
