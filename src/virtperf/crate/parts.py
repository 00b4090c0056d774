"""What belongs into a crate: folders and files of a repository, walked without following a link."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from virtperf.core.errors import VirtperfError
from virtperf.core.paths import Layout

FILES = (
    "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "Makefile", "data/metrics.yaml", "params.yaml", "dvc.yaml",
    "dvc.lock", "tolerances.yaml", "environment.yml", "pyproject.toml", "requirements.in", "requirements.lock",
    ".dvcignore", ".editorconfig", ".gitattributes", ".gitignore", ".pre-commit-config.yaml",
)  # fmt: skip
"""Single files, those of them that are there. `.dvc` stays out: it may hold addresses and passwords of remotes."""
FOLDERS = ("src", "tests", "docs", "examples", "benchmarks", ".ci", ".github")
"""Folders that are taken whole."""
WRITTEN = ("published", "measured")
"""Folders below data/ with a folder for each study that people write; taken whole."""
RESULTS = ("reconstructed", "runs", "verdicts")
"""Folders below data/ with a folder for each study that stages write; the files that stand at its top are taken."""
_DEEPEST = 50
"""Levels of folders; what stands deeper is refused where a folder is taken whole."""
_CACHES = frozenset(
    ("__pycache__", ".ipynb_checkpoints", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".DS_Store")
)


@dataclass(frozen=True)
class Folder:
    """A folder of the crate.

    Attributes
    ----------
    path : str
        From the repository's root, with slashes.
    files : tuple of str
        Paths of the files in it, at any depth, from the repository's root; sorted.
    study : str
        The study that it belongs to; empty where it serves several.
    """

    path: str
    files: tuple[str, ...]
    study: str = ""


@dataclass(frozen=True)
class Parts:
    """Everything that goes into a crate; `skipped` are paths that are neither files nor folders (sockets, pipes)."""

    studies: tuple[str, ...]
    folders: tuple[Folder, ...]
    files: tuple[str, ...]
    skipped: tuple[str, ...]

    @property
    def paths(self) -> list[str]:
        """All files, sorted."""
        return sorted({*self.files, *(file for folder in self.folders for file in folder.files)})


def collect(layout: Layout, studies: Sequence[str]) -> Parts:
    """The parts of a crate of these studies; of everything, if they are all that there are.

    Of what the stages wrote, taken are the results and not what fills the disk: neither simulated run folders nor
    samples, only the index of the samples with the hash of every raw file.

    Raises
    ------
    VirtperfError
        A link, whose target may stand outside of the repository, or a name that some system can't unpack.
    """
    root = layout.root
    skipped: list[str] = []

    def folder(
        path: str, wanted: Callable[[str], bool] = lambda _: True, *, study: str = "", deep: bool = True
    ) -> Folder:
        files = (file for file in _start(root, path, skipped, deep=deep) if wanted(file.rpartition("/")[2]))
        return Folder(path, tuple(sorted(files)), study)

    folders = [folder(path) for path in FOLDERS]
    for study in studies:
        folders += [folder(f"data/{kind}/{study}", study=study) for kind in WRITTEN]
        folders += [folder(f"data/{kind}/{study}", _visible, study=study, deep=False) for kind in RESULTS]
        folders.append(folder(f"data/samples/{study}", {"index.json"}.__contains__, study=study, deep=False))
    everything = set(studies) == set(layout.studies())
    shared = {
        "notebooks": {f"{study}.ipynb" for study in studies},
        "build": {f"{study}.ipynb" for study in studies},
        "reports": {name for study in studies for name in pages(study)},
    }
    folders += [folder(path, _visible if everything else names.__contains__) for path, names in shared.items()]
    found = tuple(sorted((f for f in folders if f.files), key=lambda f: f.path))
    files = (file for path in FILES for file in _start(root, path, skipped))
    return Parts(tuple(studies), found, tuple(sorted(files)), tuple(sorted(skipped)))


def pages(study: str) -> tuple[str, ...]:
    """Names of a study's own pages in reports/, the report first."""
    return f"{study}.html", f"quality-{study}.html", f"trail-{study}.html", f"trail-{study}.json"


def _visible(name: str) -> bool:
    """Not what a stage is just about to write."""
    return not name.startswith(".")


def _start(root: Path, path: str, skipped: list[str], *, deep: bool = True) -> Iterator[str]:
    """All files at or below a path, none of whose parents may be a link either."""
    for parent in reversed(Path(path).parents):
        _refuse_link(root, parent.as_posix())
    yield from _walk(root, path, skipped, levels=_DEEPEST + 2 if deep else 1)


def _walk(root: Path, path: str, skipped: list[str], levels: int) -> Iterator[str]:
    _refuse_link(root, path)
    place = root / path
    if place.is_file():
        yield path
    elif place.is_dir():
        if path.count("/") > _DEEPEST:
            raise VirtperfError("folders are nested too deeply", file=path, expected=f"at most {_DEEPEST} levels")
        for name in os.listdir(place) if levels else ():  # noqa: PTH208 - names, as they stand
            if name not in _CACHES and not name.endswith((".pyc", ".egg-info")):
                _check_name(path, name)
                yield from _walk(root, f"{path}/{name}", skipped, levels - 1)
    elif place.exists():
        skipped.append(path)


def _refuse_link(root: Path, path: str) -> None:
    place = root / path
    if path != "." and place.is_symlink():
        raise VirtperfError(
            "a link can't go into a crate, since its target may stand anywhere",
            file=path, found=f"a link to {place.readlink()}",
            remedy="put the file itself in its place (`dvc unprotect` does it for a link into DVC's cache).",
        )  # fmt: skip


def _check_name(folder: str, name: str) -> None:
    if "\\" in name or any(unicodedata.category(c) in {"Cc", "Cs"} for c in name):
        raise VirtperfError(
            "a file has a name that can't be unpacked on every system", file=folder, found=ascii(name),
            expected="UTF-8 without control characters and backslashes", remedy="rename the file.",
        )  # fmt: skip
