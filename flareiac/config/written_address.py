"""Addresses as blocks spell them: ``table.orders``, ``module.sales["eu"].table.orders``. Pure."""

from collections.abc import Callable
from typing import TypeAlias

from flareiac.kernel.addresses import InstanceKey, render_key
from flareiac.lang.syntax import Expression, GetAttribute, Index, Node, Variable

ReadKey: TypeAlias = Callable[[Expression], InstanceKey]
"""The function that reads the expression between brackets; None where it is no key."""


def written_address(expression: Node, key_of: ReadKey) -> str | None:
    """The address that an expression spells, keys included; None where it spells none."""
    match expression:
        case Variable(name=name):
            return name
        case GetAttribute(source=source, name=name):
            before = written_address(source, key_of)
            return None if before is None else f"{before}.{name}"
        case Index(source=source, key=key):
            before, value = written_address(source, key_of), key_of(key)
            return None if before is None or value is None else f"{before}{render_key(value)}"
        case _:
            return None
