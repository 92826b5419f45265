"""Renders a picture of resources: DOT of Graphviz, a Mermaid flowchart, SVG and JSON."""

from typing import Final

from flareiac.kernel.data import Json
from flareiac.kernel.records import encode
from flareiac.model.picture import Picture
from flareiac.render.report.escaping import label, line
from flareiac.render.report.lineage import Lineage, Node
from flareiac.render.report.picture import SVG_XML
from flareiac.render.report.picture import picture as drawn
from flareiac.sdk.changes import Relation
from flareiac.sdk.data_flow import Link

_STYLE: Final = (
    "text{font:12px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328}"
    "rect{fill:#f6f8fa;stroke:#8c959f}"
    ".links path{fill:none;stroke:#59636e;stroke-width:1.2}"
    ".links .aside{stroke-dasharray:4 4}"
    "marker path{fill:#59636e}"
    "@media (prefers-color-scheme:dark){text{fill:#f0f6fc}rect{fill:#151b23;stroke:#656c76}"
    ".links path{stroke:#9198a1}marker path{fill:#9198a1}}"
)

_REFERS: Final = Relation.STREAMS_FROM
"""An arrow without a label is drawn as that of the closest relation."""


def dot(picture: Picture) -> str:
    """A digraph; nodes are named by their addresses."""
    lines = ["digraph {", f"  rankdir = {picture.direction}", '  node [shape = "box"]']
    lines += [f"  {_quoted(node.address)}" for node in picture.nodes]
    lines += [
        f"  {_quoted(arrow.source)} -> {_quoted(arrow.target)}"
        + (f" [label = {_quoted(arrow.label)}]" if arrow.label else "")
        for arrow in picture.arrows
    ]
    return "\n".join([*lines, "}"]) + "\n"


def mermaid(picture: Picture) -> str:
    """A flowchart; nodes are numbered, as an address is no name in Mermaid."""
    numbers = {node.address: f"n{number}" for number, node in enumerate(picture.nodes)}
    lines = [f"flowchart {picture.direction}"]
    lines += [f"  {numbers[node.address]}[{label(node.address)}]" for node in picture.nodes]
    lines += [
        f"  {numbers[arrow.source]} -->{f'|{label(arrow.label)}|' if arrow.label else ''} "
        f"{numbers[arrow.target]}"
        for arrow in picture.arrows
    ]
    return "\n".join(lines) + "\n"


def svg(picture: Picture) -> str:
    """A picture that needs no other file, for light and dark pages."""
    if not picture.nodes:
        return f'<svg xmlns="{SVG_XML}" width="0" height="0"></svg>\n'
    content = Lineage(
        nodes=tuple(Node(address=node.address, type=node.type) for node in picture.nodes),
        links=tuple(
            Link(source=arrow.source, target=arrow.target, relation=Relation(arrow.label or _REFERS))
            for arrow in picture.arrows
        ),
    )
    return f"{drawn(content, {}, style=_STYLE)}\n"


def picture_json(picture: Picture) -> dict[str, Json]:
    """The whole picture as JSON data; ``flareiac/docs/formats/graph.json`` is its schema."""
    document: dict[str, Json] = encode(picture)
    return document


def _quoted(text: str) -> str:
    """A quoted name of DOT, in which a backslash begins an escape."""
    escaped = line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
