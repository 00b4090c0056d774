"""Glossary of `docs/glossary.yaml`: the terms used in a text, and links to them."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

from pydantic import Field, model_validator

from rawperf.core.errors import Report, raise_problem
from rawperf.core.model import Model, load_model
from virtperf.report.wording import slug


class Term(Model):
    """A term with its definition; `also` lists other spellings that are matched in texts."""

    term: str = Field(min_length=2)
    also: tuple[str, ...] = ()
    says: str = Field(min_length=10)

    @property
    def anchor(self) -> str:
        """Anchor of the term on the glossary page."""
        return f"term-{slug(self.term)}"


class TermGroup(Model):
    """Terms under one heading."""

    title: str
    terms: tuple[Term, ...] = Field(min_length=1)


class Glossary(Model):
    """All of `docs/glossary.yaml`."""

    groups: tuple[TermGroup, ...] = ()

    @model_validator(mode="after")
    def _unique_spellings(self) -> Glossary:
        spelled = [s for g in self.groups for t in g.terms for s in (t.term, *t.also)]
        if twice := [spelling for spelling in spelled if spelled.count(spelling) > 1]:
            raise ValueError(f"{twice[0]!r} is listed twice")
        return self

    @cached_property
    def _spellings(self) -> dict[str, Term]:
        return {
            spelling: term
            for group in self.groups
            for term in group.terms
            for spelling in (term.term, *term.also)
        }

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        """Pattern of all spellings as whole words, the longest first; a lower-case spelling may
        begin with a capital.
        """
        longest = sorted(self._spellings, key=lambda spelling: (-len(spelling), spelling))
        if not longest:
            return None
        parts = (
            re.escape(s) if s != s.lower() else f"[{s[0]}{s[0].upper()}]{re.escape(s[1:])}"
            for s in longest
        )
        return re.compile(rf"(?<![\w-])(?:{'|'.join(parts)})(?![\w-])")

    def _named(self, spelling: str) -> Term:
        known = self._spellings
        return known.get(spelling) or known[spelling[0].lower() + spelling[1:]]

    def used_in(self, text: str) -> tuple[Term, ...]:
        """The terms that a text uses, in the glossary's order."""
        if self._pattern is None:
            return ()
        used = {self._named(spelling).term for spelling in self._pattern.findall(text)}
        return tuple(term for group in self.groups for term in group.terms if term.term in used)

    def pieces(self, text: str, seen: set[str]) -> list[tuple[str, Term | None]]:
        """Split a text at the first use of each term, a piece with its term; `seen`: terms
        explained earlier on the page, updated in place.
        """
        pieces: list[tuple[str, Term | None]] = []
        end = 0
        for match in self._pattern.finditer(text) if self._pattern is not None else ():
            term = self._named(match[0])
            if term.term in seen:
                continue
            seen.add(term.term)
            pieces += [(text[end : match.start()], None), (match[0], term)]
            end = match.end()
        return [piece for piece in (*pieces, (text[end:], None)) if piece[0]]


EMPTY_GLOSSARY = Glossary()


def load_glossary(path: Path, report: Report = raise_problem) -> Glossary:
    """Read the glossary, empty if there is no file. Raises `StudyError` with file, line and place
    as `load_model` does.
    """
    return load_model(path, Glossary, report)[0] if path.is_file() else EMPTY_GLOSSARY
