"""The tables that a job reads as streams. Pure."""

from dataclasses import dataclass

from flareiac.kernel.data import Attributes, Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamedTable:
    """One input that streams a table, by its address; ``start_from`` is where its first start begins."""

    input: str
    table: str
    start_from: str


def streamed_tables(attributes: Attributes) -> list[StreamedTable]:
    """The tables that a job reads as streams."""
    found = []
    for name, item in attributes["inputs"].items():
        match item:
            case {
                "kind": "stream",
                "source": {"kind": "table", "table": Reference(table), "start_from": start},
            }:
                found.append(StreamedTable(input=name, table=table, start_from=start))
            case _:
                pass
    return found
