"""Writes an attribute that only one instance of a block takes. Pure.

A block with ``count`` or ``for_each`` is written once, so a line to paste for one instance must leave the
others as they are.
"""

from flareiac.kernel.addresses import parse_address, render_key


def line(address: object, name: str, value: int | str, otherwise: int | None = None) -> str:
    """``NAME = VALUE`` to paste into the block of an address; its other instances keep ``otherwise``."""
    parsed = parse_address(str(address))
    key = parsed.key if parsed is not None else None
    if key is None:
        return f"{name} = {_written(value)}"
    condition = f"count.index == {key}" if isinstance(key, int) else f"each.key == {_written(key)}"
    return f"{name} = {condition} ? {_written(value)} : {'null' if otherwise is None else otherwise}"


def _written(value: int | str) -> str:
    return (
        str(value)
        if isinstance(value, int)
        else render_key(value)[1:-1].replace("${", "$${").replace("%{", "%%{")
    )
