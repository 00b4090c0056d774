"""A crate's metadata: every file and folder, the papers, the provenances, and which run of the pipeline made what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from rocrate.model import ComputerLanguage, ContextEntity, Entity
from rocrate.rocrate import ROCrate

from virtperf.crate import words
from virtperf.crate.about import Citation, Commit, in_words, iso_date
from virtperf.crate.pack import Packed
from virtperf.crate.parts import Folder, Parts, pages

VERSION = "1.1"
"""Of the RO-Crate specification: the newest one that the profiles of workflow runs are written for."""
METADATA = "ro-crate-metadata.json"
_PROFILES = (
    ("https://w3id.org/ro/wfrun/process/0.5", "Process Run Crate", "0.5"),
    ("https://w3id.org/ro/wfrun/workflow/0.5", "Workflow Run Crate", "0.5"),
    ("https://w3id.org/workflowhub/workflow-ro-crate/1.0", "Workflow RO-Crate", "1.0"),
)
_SHA256 = "https://w3id.org/ro/terms/workflow-run#sha256"


@dataclass(frozen=True)
class State:
    """What a crate is made of, beside its files.

    Attributes
    ----------
    studies : dict
        Content of each study's study.yaml, by id.
    software : dict
        Versions by name.
    recorded : set of str
        Paths that are exactly what `dvc.lock` says the pipeline wrote.
    """

    parts: Parts
    packed: Mapping[str, Packed]
    studies: Mapping[str, Mapping[str, Any]]
    citation: Citation
    commit: Commit | None
    date: str
    software: Mapping[str, str]
    recorded: frozenset[str]


def metadata(state: State) -> bytes:
    """The text of `ro-crate-metadata.json`; the same for the same state."""
    crate = ROCrate(version=VERSION)
    crate.metadata.extra_terms["sha256"] = _SHA256
    _head(crate, state)
    software = _software(crate, state)
    collections = {study: _study(crate, study, data) for study, data in state.studies.items()}
    files = {path: _file(crate, packed) for path, packed in sorted(state.packed.items()) if path != "dvc.yaml"}
    workflow = _workflow(crate, state, software)
    if workflow is not None:
        files["dvc.yaml"] = workflow
    folders = {f.path: _folder(crate, f, files, collections, state) for f in state.parts.folders}
    _link(collections, folders, files)
    if workflow is not None:
        _runs(crate, state, workflow, files, folders)
    return b"".join(chunk for _, chunk in crate.metadata.stream()) + b"\n"


def _head(crate: ROCrate, state: State) -> None:
    """The crate itself: what it is, whose, on which terms."""
    cited, root = state.citation, crate.root_dataset
    crate.name, crate.datePublished = cited.title, state.date
    titles = "; ".join(f"{study}: {_title(study, data)}" for study, data in state.studies.items())
    crate.description = f"{cited.abstract or cited.title} Studies: {titles or 'none'}."
    licensed = f"https://spdx.org/licenses/{quote(cited.license)}"
    crate.license = _add(crate, licensed, "CreativeWork", name=cited.license, description=f"SPDX {cited.license}")
    authors = [
        _add(crate, a.id or f"#author-{n}", "Person" if a.person else "Organization", name=a.name)
        for n, a in enumerate(cited.authors, 1)
    ]
    if authors:
        root["author"] = _one(authors)
    if cited.version:
        root["version"] = cited.version
    root["conformsTo"] = [
        _add(crate, at, "CreativeWork", name=name, version=version) for at, name, version in _PROFILES
    ]
    terms = [
        _add(crate, f"#provenance-{name}", "DefinedTerm", name=name, description=text)
        for name, text in words.PROVENANCES.items()
    ]
    scheme = _add(crate, "#provenance", "DefinedTermSet", name="How a value came about", hasDefinedTerm=terms)
    root.append_to("mentions", scheme)


def _software(crate: ROCrate, state: State) -> Entity:
    """virtperf with what it needs, in the versions of requirements.lock."""
    needs = [
        _add(crate, f"#software-{quote(name)}", "SoftwareApplication", name=name, softwareVersion=version)
        for name, version in state.software.items()
    ]
    cited = state.citation
    found = _add(crate, "#virtperf", "SoftwareApplication", name="virtperf", softwareVersion=cited.version or "unknown")
    if cited.address:
        found["url"] = cited.address
    if needs:
        found["softwareRequirements"] = _one(needs)
    crate.root_dataset.append_to("mentions", found)
    return found


def _title(study: str, data: Mapping[str, Any]) -> str:
    return in_words(data.get("title")) or study


def _study(crate: ROCrate, study: str, data: Mapping[str, Any]) -> Entity:
    """A study with its paper."""
    said = data.get("bibliography")
    paper = said if isinstance(said, Mapping) else {}
    found = _add(crate, f"#paper-{quote(study)}", "CreativeWork", name=_title(study, data))
    date = iso_date(paper.get("published"))
    given = {
        "author": paper.get("authors"), "publisher": paper.get("publisher"), "identifier": paper.get("number"),
        "datePublished": date, "description": paper,
    }  # fmt: skip
    for name, value in given.items():
        if value:
            found[name] = in_words(value)
    crate.root_dataset.append_to("citation", found)
    collection = _add(crate, f"#study-{quote(study)}", "Collection", name=_title(study, data), isBasedOn=found)
    if data.get("summary"):
        collection["description"] = in_words(data["summary"])
    crate.root_dataset.append_to("mentions", collection)
    return collection


def _file(crate: ROCrate, packed: Packed) -> Entity:
    found = crate.add_file(dest_path=packed.path, properties=_properties(packed))
    if packed.path == "README.md":
        found["about"] = crate.root_dataset
    if packed.path == "dvc.lock":
        found["description"] = "Record of the last run of every stage: hashes of its inputs and outputs."
    return found


def _properties(packed: Packed) -> dict[str, Any]:
    return {
        "name": packed.path.rpartition("/")[2], "encodingFormat": words.media_type(packed.path),
        "contentSize": str(packed.size), "sha256": packed.sha256,
    }  # fmt: skip


def _workflow(crate: ROCrate, state: State, software: Entity) -> Entity | None:
    """dvc.yaml, the pipeline that every result comes from."""
    if "dvc.yaml" not in state.packed:
        return None
    language = ComputerLanguage(
        crate, "#dvc", {"name": "DVC", "url": "https://dvc.org", "version": state.software.get("dvc", "unknown")}
    )
    crate.add(language)
    properties = _properties(state.packed["dvc.yaml"]) | {"name": "The pipeline: its stages, inputs and outputs"}
    found = crate.add_workflow(dest_path="dvc.yaml", main=True, lang=language, properties=properties)
    found["hasPart"] = software
    if state.citation.version:
        found["version"] = state.citation.version
    return found


def _folder(
    crate: ROCrate, folder: Folder, files: Mapping[str, Entity], collections: Mapping[str, Entity], state: State
) -> Entity:
    found = crate.add_dataset(dest_path=folder.path)
    kind = words.kind(folder.path)
    found["name"] = f"{kind}, {_title(folder.study, state.studies[folder.study])}" if folder.study else kind
    found["description"] = words.description(folder.path)
    found["hasPart"] = _one([files[path] for path in folder.files])
    if folder.study:
        found["isPartOf"] = collections[folder.study]
    if kind in words.PROVENANCES:
        found["measurementTechnique"] = crate.get(f"#provenance-{kind}")
    if folder.path == "src" and state.commit is not None:
        found["version"] = state.commit.id
        if state.commit.changed:
            found["description"] += " Files of this crate differ from the commit that is given as version."
    return found


def _link(collections: Mapping[str, Entity], folders: Mapping[str, Entity], files: Mapping[str, Entity]) -> None:
    """Tell each study what belongs to it."""
    for study, collection in collections.items():
        own = [*_of(folders, [f"data/{kind}/{study}" for kind in _INPUTS + _OUTPUTS])]
        own += _of(files, [f"notebooks/{study}.ipynb", *_made(study)])
        if own:
            collection["hasPart"] = _one(own)


_INPUTS = ("published", "measured")
_OUTPUTS = ("reconstructed", "samples", "runs", "verdicts")


def _made(study: str) -> list[str]:
    return [f"build/{study}.ipynb", *(f"reports/{name}" for name in pages(study))]


def _of(found: Mapping[str, Entity], paths: Sequence[str]) -> list[Entity]:
    return [found[path] for path in paths if path in found]


def _runs(
    crate: ROCrate, state: State, workflow: Entity, files: Mapping[str, Entity], folders: Mapping[str, Entity]
) -> None:
    """One action per study with everything that the pipeline wrote for it, one for the pages over all studies."""
    shared = ["params.yaml", "data/metrics.yaml"]
    made = {study: _made(study) for study in state.studies}
    for study, paths in made.items():
        inputs = _of(folders, [f"data/{kind}/{study}" for kind in _INPUTS] + ["src"])
        inputs += _of(files, [f"notebooks/{study}.ipynb", *shared])
        results = _of(folders, [f"data/{kind}/{study}" for kind in _OUTPUTS]) + _of(files, paths)
        _action(crate, f"Stages of {study}", f"#run-{quote(study)}", workflow, inputs, results, _told(state, paths))
    own = {path for paths in made.values() for path in paths}
    rest = [path for path in sorted(files) if path.startswith("reports/") and path not in own]
    inputs = _of(folders, [f"data/{kind}/{study}" for study in made for kind in (*_INPUTS, *_OUTPUTS)] + ["src"])
    inputs += _of(files, ["docs/methods.md", *shared])
    _action(crate, "Pages over all studies", "#run-site", workflow, inputs, _of(files, rest), _told(state, rest))


def _action(
    crate: ROCrate, name: str, at: str, workflow: Entity, inputs: list[Entity], results: list[Entity], told: str
) -> None:
    if not results:
        return
    properties = {"name": name, "description": told, "actionStatus": "http://schema.org/CompletedActionStatus"}
    action = crate.add_action(workflow, at, object=_one(inputs), result=_one(results), properties=properties)
    crate.root_dataset.append_to("mentions", action)


def _told(state: State, paths: Sequence[str]) -> str:
    """Whether dvc.lock records the pages, which is all that the crate knows of the run."""
    there = [path for path in paths if path in state.packed]
    other = [path for path in there if path not in state.recorded]
    if not other:
        return "dvc.lock records exactly these pages." if there else "No page of it is in the crate."
    return f"dvc.lock has no record of these files, or one of other versions of them: {', '.join(other)}."


def _one(found: list[Entity]) -> Entity | list[Entity]:
    """A list of one as that one, as the specification recommends."""
    return found[0] if len(found) == 1 else found


def _add(crate: ROCrate, identifier: str, kind: str, **properties: Any) -> Entity:
    return crate.add(ContextEntity(crate, identifier, properties={"@type": kind, **properties}))
