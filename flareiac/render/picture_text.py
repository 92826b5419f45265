"""Renders a picture of resources: DOT of Graphviz, a Mermaid flowchart, and JSON."""

from flareiac.kernel.data import Json
from flareiac.kernel.records import encode
from flareiac.model.picture import Picture
from flareiac.render.report.escaping import label, line


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


def picture_json(picture: Picture) -> dict[str, Json]:
    """The whole picture as JSON data; ``flareiac/docs/formats/graph.json`` is its schema."""
    document: dict[str, Json] = encode(picture)
    return document


def _quoted(text: str) -> str:
    """A quoted name of DOT, in which a backslash begins an escape."""
    escaped = line(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
