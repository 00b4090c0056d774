"""Diagrams: nothing overlaps, everything lies within its container, edges reach their boxes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virtperf.core.errors import StudyError
from virtperf.exhibits.arrange import Rect
from virtperf.exhibits.layout import crosses, ends, lay_out
from virtperf.exhibits.topology import Diagram, Edge, Node, read_diagram

NESTED = Diagram(
    (Node("client", "Client", ""), Node("host", "A host", ""), Node("vm", "Hypervisor", "host"), Node("web", "Web", "vm"),
     Node("app", "Application server", "vm"), Node("disk", "Disks", "")),
    (Edge("client", "web", "HTTP"), Edge("web", "app", ""), Edge("app", "web", "back"), Edge("vm", "disk", "FCP")),
)  # fmt: skip


def apart(a: Rect, b: Rect) -> bool:
    return a[0] + a[2] <= b[0] or b[0] + b[2] <= a[0] or a[1] + a[3] <= b[1] or b[1] + b[3] <= a[1]


def within(inner: Rect, outer: Rect) -> bool:
    slack = 1e-6
    return (
        inner[0] >= outer[0] - slack and inner[1] >= outer[1] - slack
        and inner[0] + inner[2] <= outer[0] + outer[2] + slack and inner[1] + inner[3] <= outer[1] + outer[3] + slack
    )  # fmt: skip


def check(diagram: Diagram, width: float) -> None:
    layout = lay_out(diagram, width)
    whole = (0.0, 0.0, layout.width, layout.height)
    for node in diagram.nodes:
        rect = layout.rects[node.id]
        assert within(rect, layout.rects[node.parent] if node.parent else whole)
        for other in diagram.nodes:
            if other.id < node.id and node.id not in diagram.path(other.id) and other.id not in diagram.path(node.id):
                assert apart(rect, layout.rects[other.id]), (node.id, other.id)


@pytest.mark.parametrize("width", [340, 680])
def test_boxes_lie_within_their_containers_and_apart(width: int) -> None:
    check(NESTED, width)
    assert lay_out(NESTED, width).width <= width


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_diagram_is_laid_out(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 7))
    nodes = tuple(
        Node(
            f"n{k}",
            data.draw(st.text("ab c", max_size=30)),
            data.draw(st.sampled_from(["", *(f"n{j}" for j in range(k))])),
        )
        for k in range(count)
    )
    pairs = st.tuples(st.sampled_from([n.id for n in nodes]), st.sampled_from([n.id for n in nodes]))
    edges = tuple(Edge(a, b, "x") for a, b in data.draw(st.lists(pairs, max_size=6)))
    check(Diagram(nodes, edges), 340)


def test_an_edge_ends_on_the_borders_of_its_boxes() -> None:
    layout = lay_out(NESTED, 680)
    x1, y1, x2, y2 = ends(layout, NESTED.edges[0])
    for x, y, box in ((x1, y1, "client"), (x2, y2, "web")):
        left, top, width, height = layout.rects[box]
        on = (abs(x - left), abs(x - left - width), abs(y - top), abs(y - top - height))
        assert min(on) < 1e-6 and within((x, y, 0, 0), layout.rects[box])


def test_a_line_through_a_box_is_noticed() -> None:
    box = (10.0, 10.0, 10.0, 10.0)
    assert crosses((0, 15, 30, 15), box)
    assert crosses((0, 0, 30, 30), box)
    assert not crosses((0, 5, 30, 5), box)
    assert not crosses((0, 15, 5, 15), box)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"nodes": [{"id": "a", "label": "A"}], "edges": [{"from": "a", "to": "b"}]}, "'b' is unknown"),
        ({"nodes": [{"id": "a", "label": "A"}] * 2}, "given twice"),
        (
            {"nodes": [{"id": "a", "label": "A", "parent": "b"}, {"id": "b", "label": "B", "parent": "a"}]},
            "within itself",
        ),
        ({"nodes": []}, "no nodes"),
        ({"nodes": [{"id": "a"}]}, "lacks 'label'"),
    ],
)
def test_a_wrong_topology_is_refused(entry: dict[str, object], problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        read_diagram("figure-1", entry)
