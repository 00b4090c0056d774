"""Problems gathered rather than raised, named by their file's path within the repository."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rawperf.core.errors import Report, StudyError, VirtperfError


class Problems:
    """Problems of a repository's hand-written files, which are named relative to its folder."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._found: dict[tuple[str, int, str], VirtperfError] = {}

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[VirtperfError]:
        return iter(
            [problem for _, problem in sorted(self._found.items(), key=lambda item: item[0])]
        )

    def of(self, folder: Path) -> Report:
        """A function that takes problems whose files are named relative to `folder`."""
        return lambda problem: self._add(problem, folder)

    def say(self, problem: str, file: Path, line: int | None = None, **parts: str | None) -> None:
        self._add(StudyError(problem, file=file, line=line, **parts), file.parent)

    @contextmanager
    def caught(self, folder: Path) -> Iterator[None]:
        """Take the problem that ends the block, if one does."""
        try:
            yield
        except VirtperfError as err:
            self._add(err, folder)

    def _add(self, problem: VirtperfError, folder: Path) -> None:
        named = Path(problem.file) if problem.file else Path()
        place = (
            (problem.folder or folder) / named
        ).absolute()  # an absolute path stays itself; a link is named, not followed
        file = (
            str(place.relative_to(self._root)) if place.is_relative_to(self._root) else str(named)
        )
        placed = problem.restated(type(problem), file=file)
        self._found.setdefault((file, problem.line or 0, str(placed)), placed)
