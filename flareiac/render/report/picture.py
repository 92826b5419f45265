"""The lineage of a report as SVG, of which each node that changes leads to its change. Pure."""

from collections.abc import Mapping
from typing import Final

from flareiac.render.report.escaping import line
from flareiac.render.report.layers import Place, placed
from flareiac.render.report.lineage import Lineage, Node
from flareiac.render.report.markup import Html, element, link_to, raw
from flareiac.sdk.changes import Relation

SVG_XML: Final = "http://www.w3.org/2000/svg"
"""The name of SVG in XML, which a picture outside of a page needs."""
_ROW: Final = 34
_HEIGHT: Final = 24
_GAP: Final = 56
_SIGN: Final = 7.3
"""The width of a character of the font, whose size is 12 pixels."""
_PADDING: Final = 10
_MARGIN: Final = 8
_LONGEST: Final = 36
_ASIDE: Final = (Relation.LOOKS_UP, Relation.KEEPS_STATE_IN)


def picture(lineage: Lineage, kinds: Mapping[str, str], *, style: str = "") -> Html:
    """The picture. ``kinds`` by address: the class of the look of a node that changes. ``style``: rules of
    its own, where no page has some for it.
    """
    addresses = [node.address for node in lineage.nodes]
    links = [(link.source, link.target) for link in lineage.links]
    layout = placed(addresses, links)
    columns = _columns(layout.places)
    boxes = {address: _box(address, columns, layout.places[address]) for address in addresses}
    numbers = {address: number for number, address in enumerate(addresses)}
    width = max(left + wide for left, wide in columns) + _MARGIN
    height = layout.rows * _ROW + _MARGIN
    lines = [
        element(
            "path",
            d=_path(boxes[link.source], boxes[link.target], layout.bends[link.source, link.target], columns),
            class_="aside" if link.relation in _ASIDE else "flow",
            data_ends=f"{numbers[link.source]} {numbers[link.target]}",
            marker_end="url(#arrow)",
        )
        for link in lineage.links
        if link.source != link.target
    ]
    nodes = [
        _node(node, boxes[node.address], kinds.get(node.address, ""), numbers[node.address])
        for node in lineage.nodes
    ]
    return element(
        "svg",
        raw("style", style) if style else None,
        _arrow(),
        element("g", *lines, class_="links"),
        element("g", *nodes, class_="nodes"),
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=round(width),
        height=round(height),
        xmlns=SVG_XML,
        role="group",
        aria_label=f"Lineage of {len(addresses)} resources",
    )


def _columns(places: Mapping[str, Place]) -> list[tuple[float, float]]:
    """The left side and the width of each layer."""
    columns: list[tuple[float, float]] = []
    left = float(_MARGIN)
    for layer in range(max((layer for layer, _ in places.values()), default=0) + 1):
        lengths = [len(_label(address)) for address, (at, _) in places.items() if at == layer]
        wide = max(lengths, default=0) * _SIGN + 2 * _PADDING
        columns.append((left, wide))
        left += wide + _GAP
    return columns


def _box(address: str, columns: list[tuple[float, float]], place: Place) -> tuple[float, float, float]:
    """Left side, middle in height, and width."""
    layer, row = place
    return columns[layer][0], _height(row), len(_label(address)) * _SIGN + 2 * _PADDING


def _height(row: float) -> float:
    return _MARGIN + _HEIGHT / 2 + row * _ROW


def _path(
    source: tuple[float, float, float],
    target: tuple[float, float, float],
    bends: list[Place],
    columns: list[tuple[float, float]],
) -> str:
    """From the right side of the source to the left side of the target, straight through the layers
    between.
    """
    backward = source[0] >= target[0]
    x, y = source[0] + (0 if backward else source[2]), source[1]
    path = f"M{x:.0f} {y:.0f}"
    for layer, row in bends:
        left, wide = columns[layer]
        near, far = (left + wide, left) if backward else (left, left + wide)
        path += f"{_curve((x, y), (near, _height(row)))}H{far:.0f}"
        x, y = far, _height(row)
    return path + _curve((x, y), (target[0] + (target[2] + 2 if backward else -2), target[1]))


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    middle = (start[0] + end[0]) / 2
    return f"C{middle:.0f} {start[1]:.0f} {middle:.0f} {end[1]:.0f} {end[0]:.0f} {end[1]:.0f}"


def _node(node: Node, box: tuple[float, float, float], kind: str, number: int) -> Html:
    left, middle, wide = box
    label = _label(node.address)
    inside = [
        element("title", f"{line(node.address)}{f': {node.reason}' if node.reason else ''}"),
        element(
            "rect", x=round(left), y=round(middle - _HEIGHT / 2), width=round(wide), height=_HEIGHT, rx=4
        ),
        element(
            "text",
            label,
            x=round(left + _PADDING),
            y=round(middle + 4),
            # Signs of other scripts are wider than those of the font.
            textLength=None if label.isascii() else round(wide - 2 * _PADDING),
            lengthAdjust=None if label.isascii() else "spacingAndGlyphs",
        ),
    ]
    if node.reason:
        return element("a", *inside, href=link_to(node.address), class_=f"node {kind}", data_node=str(number))
    return element("g", *inside, class_="node", data_node=str(number))


def _label(address: str) -> str:
    """The address in so few signs, its beginning and its end."""
    text = line(address)
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[: half - 1]}\u2026{text[-half:]}"


def _arrow() -> Html:
    return element(
        "defs",
        element(
            "marker",
            element("path", d="M0 0L8 4L0 8z"),
            id="arrow",
            viewBox="0 0 8 8",
            refX="8",
            refY="4",
            markerWidth="7",
            markerHeight="7",
            orient="auto",
        ),
    )
