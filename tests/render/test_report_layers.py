"""The places of nodes in the picture of a lineage."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from flareiac.render.report.layers import placed

NAMES = [f"n{number}" for number in range(12)]
LINKS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=30)


@given(LINKS)
def test_nodes_of_any_graph_stand_apart_and_each_link_is_drawn(links: list[tuple[str, str]]) -> None:
    found = placed(NAMES, links)
    assert set(found.places) == set(NAMES)
    assert set(found.bends) == {link for link in links if link[0] != link[1]}
    by_layer: dict[int, list[float]] = {}
    for layer, row in found.places.values():
        assert 0 <= row <= found.rows
        by_layer.setdefault(layer, []).append(row)
    for rows in by_layer.values():
        rows.sort()
        assert all(below - above > 1 - 1e-9 for above, below in pairwise(rows))
    for (source, target), bends in found.bends.items():
        layers = [found.places[source][0], *(layer for layer, _ in bends), found.places[target][0]]
        steps = {after - before for before, after in pairwise(layers)}
        assert steps in ({1}, {-1}), "each step of a link is to the layer beside"


@given(LINKS)
def test_without_cycles_all_links_lead_to_the_right(links: list[tuple[str, str]]) -> None:
    forward = [(a, b) if NAMES.index(a) < NAMES.index(b) else (b, a) for a, b in links if a != b]
    places = placed(NAMES, forward).places
    assert all(places[source][0] < places[target][0] for source, target in forward)


def test_a_chain_is_a_straight_line_and_parts_are_below_each_other() -> None:
    found = placed(["a", "b", "c", "x", "y"], [("a", "b"), ("b", "c"), ("x", "y")])
    assert [found.places[name] for name in "abc"] == [(0, 0.0), (1, 0.0), (2, 0.0)]
    assert found.places["x"][1] == found.places["y"][1] >= 1
