"""The export: collect, copy, describe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from virtperf.core.errors import VirtperfError
from virtperf.core.paths import Layout
from virtperf.core.yamlio import load_yaml
from virtperf.crate.about import citation, commit, published, software
from virtperf.crate.describe import METADATA, State, metadata
from virtperf.crate.pack import Packed, target
from virtperf.crate.parts import FILES, FOLDERS, Parts, collect, pages


@dataclass(frozen=True)
class Exported:
    """What an export wrote: number of files beside the metadata, their bytes, and what a reader should know."""

    files: int
    size: int
    warnings: tuple[str, ...]


def export(
    layout: Layout, out: Path, *, studies: Sequence[str] = (), date: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Exported:  # fmt: skip
    """Write the state of a repository as an RO-Crate: into a zip file if the name ends so, else into a folder.

    The same state gives the same bytes. Nothing is run: results go in as they stand, and what is missing, or not what
    `dvc.lock` records, is said in the warnings and in the metadata.

    Parameters
    ----------
    studies : sequence of str
        None: all, with the pages over all of them.
    date : str, optional
        Of publication (ISO); without it, `date-released` of CITATION.cff or the date of the commit.

    Raises
    ------
    VirtperfError
        An unknown study, no date, CITATION.cff without title or license, a link or a name that no crate should have, a
        place that is taken or is part of what is exported.
    """
    for study in studies:
        layout.known(study)
    chosen = sorted(set(studies)) or layout.studies()
    _outside(layout.root, out)
    cited = citation(layout.root / "CITATION.cff")
    parts = collect(layout, chosen)
    stands = commit(layout.root, [*FILES, *FOLDERS, "data/published", "data/measured", "notebooks"])
    when = published(date, cited, stands)
    described = {study: load_yaml(layout.published(study) / "study.yaml").data for study in chosen}
    with target(out) as to:
        packed = {}
        for path in parts.paths:
            progress(path)
            packed[path] = to.file(layout.root, path)
        recorded = _recorded(layout, packed)
        known = frozenset(path for path, md5 in recorded.items() if packed[path].md5 == md5)
        state = State(parts, packed, described, cited, stands, when, software(layout.root), known)
        to.text(METADATA, metadata(state))
    told = [*_missing(chosen, packed), *_other(recorded, known), *_skipped(parts)]
    return Exported(len(packed), sum(p.size for p in packed.values()), tuple(told))


def _outside(root: Path, out: Path) -> None:
    """Refuse a place that the next crate would be made of."""
    here, there = root.resolve(), out.resolve()
    taken = [here / name for name in (*FOLDERS, *FILES, "data", "notebooks", "build", "reports", ".git", ".dvc")]
    if there == here or any(there.is_relative_to(place) for place in taken):
        raise VirtperfError(
            "the crate would stand among what it is made of",
            file=out,
            remedy="choose a place outside of these folders.",
        )


def _recorded(layout: Layout, packed: Mapping[str, Packed]) -> dict[str, str]:
    """Hashes that dvc.lock has for files of the crate which stages wrote, by path."""
    path = layout.root / "dvc.lock"
    stages = load_yaml(path).data.get("stages") if path.is_file() else None
    return {
        str(out["path"]): str(out.get("md5"))
        for stage in _mappings(stages.values() if isinstance(stages, dict) else ())
        for out in _mappings(stage.get("outs") or ())
        if out.get("path") in packed
    }


def _mappings(found: Iterable[Any]) -> list[dict[str, Any]]:
    return [item for item in found if isinstance(item, dict)]


def _missing(studies: Sequence[str], packed: Mapping[str, Packed]) -> list[str]:
    found = []
    for study in studies:
        needed = [
            f"data/reconstructed/{study}/points.parquet", f"data/reconstructed/{study}/claims.parquet",
            f"data/samples/{study}/index.json", f"data/runs/{study}/observations.parquet",
            f"data/verdicts/{study}/verdicts.parquet", f"notebooks/{study}.ipynb", f"build/{study}.ipynb",
            *(f"reports/{name}" for name in pages(study)),
        ]  # fmt: skip
        missing = [path for path in needed if path not in packed]
        if missing:
            found.append(f"{study}: the crate has no {', '.join(missing)}; `dvc repro` writes what stages make")
    return found


def _other(recorded: Mapping[str, str], known: frozenset[str]) -> list[str]:
    other = [path for path in recorded if path not in known]
    return [f"not as dvc.lock records them: {', '.join(other)}"] if other else []


def _skipped(parts: Parts) -> list[str]:
    return [f"{path} is neither a file nor a folder and was left out" for path in parts.skipped]
