"""Components and connections of one diagram, as `topology` in `study.yaml` writes them.

topology:
  host:
    nodes:
      - {id: client, label: Workload driver}
      - {id: lpar, label: LPAR with 8 CPUs}
      - {id: web, label: Web server, parent: lpar}
    edges: [{from: client, to: web, label: HTTP}]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from virtperf.core.errors import StudyError


@dataclass(frozen=True)
class Node:
    """A component; one that is another's parent is drawn as a frame."""

    id: str
    label: str
    parent: str


@dataclass(frozen=True)
class Edge:
    """A connection."""

    start: str
    end: str
    label: str


@dataclass(frozen=True)
class Diagram:
    """Nodes and edges, checked by `read_diagram`."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def children(self, node_id: str) -> list[Node]:
        """What a container holds; the empty id is the whole diagram."""
        return [n for n in self.nodes if n.parent == node_id]

    def path(self, node_id: str) -> list[str]:
        """A node's id and those of the containers around it, innermost first."""
        parents = {n.id: n.parent for n in self.nodes}
        path = [node_id]
        while parents[path[-1]]:
            path.append(parents[path[-1]])
        return path


def read_diagram(exhibit_id: str, entry: Mapping[str, Any]) -> Diagram:
    """The diagram of one entry of `topology`, checked; raises `StudyError` as `diagram_exhibit` does."""
    try:
        nodes = tuple(Node(str(n["id"]), str(n["label"]), str(n.get("parent", ""))) for n in entry["nodes"])
        edges = tuple(Edge(str(e["from"]), str(e["to"]), str(e.get("label", ""))) for e in entry.get("edges", ()))
    except (KeyError, TypeError) as err:
        raise StudyError(f"the topology of {exhibit_id} lacks {err}", file="study.yaml") from err
    ids = [n.id for n in nodes]
    problem = ""
    for i in ids:
        if ids.count(i) > 1:
            problem = f"{i!r} is given twice"
    for i in [i for e in edges for i in (e.start, e.end)] + [n.parent for n in nodes if n.parent]:
        if i not in ids:
            problem = f"{i!r} is unknown"
    parents = {n.id: n.parent for n in nodes}
    for i in ids if not problem else ():
        above, seen = parents[i], {i}
        while above and not problem:
            problem = f"{i!r} lies within itself" if above in seen else ""
            seen.add(above)
            above = parents[above]
    if problem or not nodes:
        raise StudyError(f"the topology of {exhibit_id}: {problem or 'there are no nodes'}", file="study.yaml")
    return Diagram(nodes, edges)
