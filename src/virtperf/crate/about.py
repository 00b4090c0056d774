"""Who, what and when: citation, commit, software versions, a paper's bibliography."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from virtperf.core.errors import VirtperfError
from virtperf.core.git import git
from virtperf.core.yamlio import load_yaml

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip


@dataclass(frozen=True)
class Author:
    """A person or, where CITATION.cff has only a name, an organization; `id` is an ORCID or empty."""

    name: str
    person: bool
    id: str


@dataclass(frozen=True)
class Citation:
    """What CITATION.cff says; `license` is its SPDX name, texts are empty where it says nothing."""

    title: str
    abstract: str
    license: str
    version: str
    released: str
    address: str
    authors: tuple[Author, ...]


@dataclass(frozen=True)
class Commit:
    """The commit that is checked out: id, date (ISO), and whether the files that are exported differ from it."""

    id: str
    date: str
    changed: bool


def citation(path: Path) -> Citation:
    """Read CITATION.cff.

    Raises
    ------
    VirtperfError
        It is missing or not YAML, or has no title or no license, which a crate must have.
    """
    document = load_yaml(path)
    data = document.data
    for needed in ("title", "license"):
        if not _text(data.get(needed)):
            raise document.error(f"{needed} is missing", remedy="a crate must have one: add it.")
    return Citation(
        _text(data["title"]), _text(data.get("abstract")), _text(data["license"]), _text(data.get("version")),
        _text(data.get("date-released")), _text(data.get("repository-code") or data.get("url")),
        tuple(_author(entry) for entry in data.get("authors") or () if isinstance(entry, dict)),
    )  # fmt: skip


def _author(entry: Mapping[str, Any]) -> Author:
    parts = ("given-names", "name-particle", "family-names", "name-suffix")
    person = " ".join(filter(None, (_text(entry.get(part)) for part in parts)))
    orcid = _text(entry.get("orcid"))
    known = re.fullmatch(r"https://orcid\.org/\d{4}-\d{4}-\d{4}-\d{3}[\dX]", orcid)
    return Author(person or _text(entry.get("name")) or "unnamed", bool(person), orcid if known else "")


def commit(root: Path, paths: list[str]) -> Commit | None:
    """Where the repository stands; None outside of git. `paths` are those that may differ."""
    found = (git(root, "log", "-1", "--format=%H %cs") or "").split()
    if len(found) != 2:
        return None
    return Commit(found[0], found[1], bool(git(root, "status", "--porcelain", "--", *paths)))


def published(given: str | None, cited: Citation, found: Commit | None) -> str:
    """The date of a crate (ISO): the given one, that of CITATION.cff, that of the commit.

    Raises
    ------
    VirtperfError
        There is none; today's would make another crate every day.
    """
    date = given or cited.released or (found.date if found else "")
    try:
        return datetime.date.fromisoformat(date).isoformat()
    except ValueError:
        raise VirtperfError(
            "the crate has no date", found=date or "none of them",
            expected="--date, date-released in CITATION.cff, or a commit's date, as YYYY-MM-DD",
        ) from None  # fmt: skip


def software(root: Path) -> dict[str, str]:
    """Version of every direct dependency, as locked, by name; of Python too, where the lock says it."""
    lock, direct = root / "requirements.lock", root / "requirements.in"
    if not lock.is_file() or not direct.is_file():
        return {}
    text = lock.read_text(encoding="utf-8", errors="replace")
    pins = dict(re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", text, re.M))
    lines = direct.read_text(encoding="utf-8", errors="replace").splitlines()
    names = sorted({line.split("#")[0].strip() for line in lines} & set(pins))
    python = re.search(r"--python-version[ =](\S+)", text)
    return {**({"python": python[1]} if python else {}), **{name: pins[name] for name in names}}


def iso_date(text: Any) -> str:
    """`2009-01` of "January 2009"; empty for anything that isn't one year, month or day."""
    words = _text(text)
    if found := re.fullmatch(rf"({'|'.join(_MONTHS)}) (\d{{4}})", words):
        return f"{found[2]}-{_MONTHS.index(found[1]) + 1:02}"
    return words if re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", words) else ""


def in_words(value: Any) -> str:
    """Anything that YAML can hold, in one line."""
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {in_words(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(in_words(item) for item in value)
    return _text(value)


def _text(value: Any) -> str:
    """A scalar as text, on one line."""
    return "" if value is None else " ".join(str(value).split())
