"""Addresses of resource instances: ``table.orders``, ``job.sessions["eu"]``, ``module.sales.table.orders``,
``data.table.raw``.
"""

import re
from functools import total_ordering
from typing import Final, TypeAlias

from flareiac.kernel.lazy_dataclass import dataclass

InstanceKey: TypeAlias = str | int | None

NAME_RULE: Final = (
    "A name begins with a letter or an underscore and has letters, digits, underscores and dashes only."
)
_NAME: Final = r"[^\W\d][\w-]*"
_STEP: Final = re.compile(rf'({_NAME})(?:\[(?:([0-9]{{1,9}})|"((?:[^"\\]|\\.)*)")\])?(?:\.|\Z)', re.DOTALL)


def is_name(text: str) -> bool:
    """Returns True if a text is a name (``NAME_RULE``): the label of a block has to be one, so that every
    address can be read again.
    """
    return re.fullmatch(_NAME, text) is not None


@total_ordering
@dataclass(frozen=True, slots=True)
class ModuleStep:
    """One module call on the way to a resource."""

    name: str
    key: InstanceKey = None

    def __str__(self) -> str:
        return f"module.{self.name}{render_key(self.key)}"

    def __lt__(self, other: "ModuleStep") -> bool:
        return (self.name, _key_order(self.key)) < (other.name, _key_order(other.key))


@total_ordering
@dataclass(frozen=True, slots=True)
class Address:
    """The address of one instance. ``key`` is set for ``count`` (int) and ``for_each`` (str); ``type`` may be
    two words, ``data.table``.
    """

    type: str
    name: str
    key: InstanceKey = None
    module: tuple[ModuleStep, ...] = ()

    def __str__(self) -> str:
        prefix = f"{module_text(self.module)}." if self.module else ""
        return f"{prefix}{self.type}.{self.name}{render_key(self.key)}"

    @property
    def block(self) -> "Address":
        """The address of the block that this instance comes from (without its key)."""
        return Address(self.type, self.name, None, self.module)

    def __lt__(self, other: "Address") -> bool:
        return self._order() < other._order()

    def _order(self) -> tuple[object, ...]:
        return (self.module, self.type, self.name, _key_order(self.key))


def module_text(steps: tuple[ModuleStep, ...]) -> str:
    """``module.sales["eu"].module.raw``; an empty text for the root module."""
    return ".".join(map(str, steps))


def render_key(key: InstanceKey) -> str:
    """``[0]``, ``["eu"]`` or an empty text."""
    if key is None:
        return ""
    if isinstance(key, int):
        return f"[{key}]"
    quoted = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{quoted}"]'


def parse_address(text: str) -> Address | None:
    """The address that a text spells, or None if it spells none."""
    steps = _steps(text)
    if steps is None:
        return None
    module: list[ModuleStep] = []
    while len(steps) > 2 and steps[0] == ("module", None):
        module.append(ModuleStep(*steps[1]))
        steps = steps[2:]
    kind = steps[0][0]
    if len(steps) == 3 and steps[0] == ("data", None):
        kind, steps = f"data.{steps[1][0]}", [steps[1], steps[2]]
    if len(steps) != 2 or steps[0][1] is not None:
        return None
    return Address(kind, steps[1][0], steps[1][1], tuple(module))


def parse_module(text: str) -> tuple[ModuleStep, ...] | None:
    """The calls of modules that a text spells (``module.sales["eu"].module.raw``), or None if it spells
    something else.
    """
    steps = _steps(text)
    if steps is None or len(steps) % 2 or any(step != ("module", None) for step in steps[::2]):
        return None
    return tuple(ModuleStep(*step) for step in steps[1::2])


def _steps(text: str) -> list[tuple[str, InstanceKey]] | None:
    """The names between the dots, each with the key behind it; None where a text is not made of such."""
    steps: list[tuple[str, InstanceKey]] = []
    at = 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            return None
        number, quoted = match.group(2), match.group(3)
        key: InstanceKey = int(number) if number is not None else None
        if quoted is not None:
            key = re.sub(r"(?s)\\(.)", r"\1", quoted)
        steps.append((match.group(1), key))
        at = match.end()
    return None if not steps or text.endswith(".") else steps


def block_address(text: str) -> str:
    """The address of the block that an instance comes from: without the key at its end."""
    parsed = parse_address(text) if text.endswith("]") else None
    return str(parsed.block) if parsed else text


def instance_label(text: str) -> str:
    """The label of the block that an address names, with the key of the instance: ``orders["eu"]``."""
    parsed = parse_address(text)
    return f"{parsed.name}{render_key(parsed.key)}" if parsed else text.rpartition(".")[2]


def block_type(text: str) -> str:
    """The type of the resource that an address names: ``table``, ``data.table``."""
    parsed = parse_address(text)
    return parsed.type if parsed else text.split(".")[0]


def _key_order(key: InstanceKey) -> tuple[int, int, str]:
    if key is None:
        return (0, 0, "")
    if isinstance(key, int):
        return (1, key, "")
    return (2, 0, key)
