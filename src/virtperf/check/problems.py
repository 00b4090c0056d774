"""Collector of problems, with file paths relative to the repository."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rawperf.core.errors import RawperfError, Report, StudyError


class Problems:
    """Problems of a repository's hand-written files, with paths relative to its root."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._found: dict[tuple[str, int, str], RawperfError] = {}

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[RawperfError]:
        return iter(
            [problem for _, problem in sorted(self._found.items(), key=lambda item: item[0])]
        )

    def reporter(self, folder: Path) -> Report:
        """Reporting function for problems with files relative to `folder`."""
        return lambda problem: self._add(problem, folder)

    def add(self, problem: str, file: Path, line: int | None = None, **parts: str | None) -> None:
        self._add(StudyError(problem, file=file, line=line, **parts), file.parent)

    @contextmanager
    def collected(self, folder: Path) -> Iterator[None]:
        """Context manager that collects a `RawperfError` raised in its block."""
        try:
            yield
        except RawperfError as err:
            self._add(err, folder)

    def _add(self, problem: RawperfError, folder: Path) -> None:
        named = Path(problem.file) if problem.file else Path()
        # an absolute path stays unchanged; symbolic links are not resolved
        place = ((problem.folder or folder) / named).absolute()
        file = (
            str(place.relative_to(self._root)) if place.is_relative_to(self._root) else str(named)
        )
        placed = problem.copy_as(type(problem), file=file)
        self._found.setdefault((file, problem.line or 0, str(placed)), placed)
