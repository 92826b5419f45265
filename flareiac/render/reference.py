"""The reference of blocks and functions as Markdown, read from the schemas that also validate. Pure."""

from collections.abc import Iterable, Iterator, Mapping

from flareiac.kernel.data import canonical
from flareiac.sdk.provider import Function, ResourceType
from flareiac.sdk.schema import Attribute, Block, Nesting

START, END = "<!-- reference: generated from the schemas -->", "<!-- end of the reference -->"


def reference(types: Mapping[str, ResourceType], functions: Iterable[Function]) -> str:
    """All block types and the functions that providers add."""
    lines = [START, ""]
    for name, kind in sorted(types.items(), key=lambda item: (item[1].kind, item[0])):
        lines += [f"### `{name}` ({kind.kind})", "", kind.description, ""]
        lines += _table(kind.schema)
        if kind.computed:
            lines += ["", "Computed: " + ", ".join(f"`{key}`" for key in kind.computed) + "."]
        lines.append("")
    lines += ["### Functions", "", *_functions(functions), "", END]
    return "\n".join(lines) + "\n"


def _table(schema: Block) -> list[str]:
    rows = list(_rows(schema, ""))
    return ["| attribute | type | |", "|---|---|---|", *rows]


def _rows(schema: Block, prefix: str) -> Iterator[str]:
    for name, attribute in schema.attributes.items():
        yield f"| `{prefix}{name}` | {attribute.type} | {_text(attribute)} |"
    for name, nested in schema.blocks.items():
        label = ' "name"' if nested.nesting is Nesting.MAP else ""
        often = "" if nested.nesting is Nesting.SINGLE else " (repeated)"
        yield f"| `{prefix}{name}{label} {{}}` | block{often} | {nested.block.description} |"
        yield from _rows(nested.block, f"{prefix}{name}.")
    for group in schema.exactly_one_of:
        yield f"| | | Exactly one of {', '.join(f'`{prefix}{item}`' for item in group)}. |"


def _text(attribute: Attribute) -> str:
    parts = [attribute.description]
    if attribute.required:
        parts.append("Required.")
    if attribute.default is not None:
        parts.append(f"Default: `{canonical(attribute.default)}`.")
    if attribute.effect:
        parts.append(f"Change: {attribute.effect}.")
    return " ".join(part for part in parts if part).replace("|", "\\|")


def _functions(functions: Iterable[Function]) -> list[str]:
    rows = ["| function | result | |", "|---|---|---|"]
    for item in sorted(functions, key=lambda each: each.name):
        names = [name for name, _type in item.parameters] + [f"{name}?" for name, _type in item.optional]
        names += [f"{item.variadic[0]}..."] if item.variadic else []
        rows.append(f"| `{item.name}({', '.join(names)})` | {item.returns} | {item.description} |")
    return rows
