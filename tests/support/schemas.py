"""Reads schemas, for tests that hold them against what the program does."""

from collections.abc import Iterator

from flareiac.sdk.on_change import OnChange
from flareiac.sdk.schema import Block


def changes_of(block: Block, prefix: str = "") -> Iterator[tuple[str, OnChange | None]]:
    """Every attribute that users may write, by its path, with what a change of it does."""
    for name, attribute in block.attributes.items():
        if not attribute.computed:
            yield prefix + name, attribute.on_change
    for name, nested in block.blocks.items():
        yield from changes_of(nested.block, f"{prefix}{name}.")
