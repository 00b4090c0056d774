"""Addresses of runs and their files, ``data/measured/STUDY/RUN/FILE``, patterns too: the same whether
the run is a folder or packed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from rawperf.core.errors import RawperfError
from virtperf.runs.ingest.folder import RunFolder, archives_of, run_folders
from virtperf.runs.ingest.packed import ARCHIVES

PATTERN_MARKS = "*?["


class Addresses:
    """Finds runs and files; packed ones are extracted below `scratch`."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._copies: dict[Path, Path] = {}  # extracted copies, by the folder of runs

    def find(self, written: str) -> list[Path]:
        """List the files and folders of an address or a pattern, by name; those of packed runs are
        copies.

        Raises `RunError` for an archive that can't be read.
        """
        path = Path(written)
        if path.exists():
            return [path]
        parts = path.parts
        first = (
            len(parts) - parts[::-1].index("..") if ".." in parts else len(Path(path.anchor).parts)
        )
        base, parts = Path(*parts[:first]), parts[first:]
        if not parts or _is_pattern(str(base)):
            return []
        matched = base.glob("/".join(parts)) if _is_pattern(written) else ()
        found = {p: p for p in matched if p.name != ARCHIVES or not archives_of(p.parent)}
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            for root in base.glob(above) if _is_pattern(above) else [base / above]:
                if archives_of(root):
                    for copy in self._matching(root, parts[depth], "/".join(parts[depth + 1 :])):
                        found.setdefault(Path(self.address(str(copy))), copy)
        return [found[p] for p in sorted(found)]

    def runs_in(self, root: Path) -> list[Path]:
        """List the packed runs of a folder of runs by name, as copies."""
        return self._matching(root, "*", "")

    def address(self, path: str) -> str:
        """Translate the path of a copy to its address; any other path stays."""
        for root, copy in self._copies.items():
            if Path(path).is_relative_to(copy):
                return str(root / Path(path).relative_to(copy))
        return path

    def _matching(self, root: Path, run: str, inside: str) -> list[Path]:
        found: list[Path] = []
        for folder in run_folders(root):
            if folder.archive is not None and fnmatchcase(folder.name, run):
                copy = self._copy(root, folder)
                found += sorted(copy.glob(inside)) if inside else [copy]
        return found

    def _copy(self, root: Path, folder: RunFolder) -> Path:
        of_root = self._copies.setdefault(root, self._scratch / f"packed-{len(self._copies)}")
        copy = of_root / folder.name
        if not copy.is_dir():
            assert folder.archive is not None
            folder.archive.extract(folder.name, copy)
        return copy


@contextmanager
def opened_file(path: str | Path) -> Iterator[Path]:
    """Provide a file by its address: itself, or of a packed run a copy.

    Errors of the block that name the copy name the address.
    """
    if Path(path).exists() or _is_pattern(str(path)):
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="virtperf-") as scratch:
        addresses = Addresses(Path(scratch))
        found = addresses.find(str(path))
        try:
            yield found[0] if found else Path(path)
        except RawperfError as err:
            raise at_address(err, addresses) from err


def at_address(err: RawperfError, addresses: Addresses) -> RawperfError:
    """Copy an error with the address of its file."""
    file = addresses.address(err.file or "")
    return err.copy_as(type(err), file=file) if file != (err.file or "") else err


def _is_pattern(text: str) -> bool:
    return any(mark in text for mark in PATTERN_MARKS)
