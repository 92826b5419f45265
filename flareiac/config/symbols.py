"""The names that expressions may use: ``var``, ``local``, ``path``, ``flareiac`` and every resource; and what
a block refers to.
"""

from collections.abc import Callable, Iterator, Mapping

from flareiac.kernel import codes
from flareiac.kernel.diagnostics import Diagnostics, did_you_mean
from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.references import Traversal
from flareiac.lang.values import Value

BUILT_IN_ROOTS = ("var", "local", "path", "flareiac", "each", "count", "self", "module", "data")


@dataclass(frozen=True, slots=True)
class LazyNames(Mapping[str, Value]):
    """The members of a root symbol; each is made when it is asked for.

    ``missing``: what a name stands for that is not declared. ``check_declared`` has complained about it once,
    so that nothing else does.
    """

    names: Mapping[str, object]
    make: Callable[[str], Value]
    missing: Value | None = None

    def __getitem__(self, name: str) -> Value:
        if name in self.names:
            return self.make(name)
        if self.missing is None:
            raise KeyError(name)
        return self.missing

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def kind_and_name(node: str) -> tuple[str, str]:
    """The two parts of a node: ``table`` and ``orders``, ``var`` and ``x``, ``data.table`` and ``raw``."""
    kind, _, name = node.partition(".")
    if kind == "data":
        inner, _, name = name.partition(".")
        kind = f"data.{inner}"
    return kind, name


def node_of(traversal: Traversal, types: Mapping[str, object]) -> str | None:
    """The node of the configuration that a traversal needs (``var.x``, ``table.orders``, ``data.table.raw``),
    or None if it needs none.
    """
    if traversal.root == "data":
        parts = traversal.steps[:2]
        known = len(parts) == 2 and isinstance(parts[1], str) and f"data.{parts[0]}" in types
        return f"data.{parts[0]}.{parts[1]}" if known else None
    if traversal.root not in ("var", "local", "module") and traversal.root not in types:
        return None
    if not traversal.steps or not isinstance(traversal.steps[0], str):
        return None
    return f"{traversal.root}.{traversal.steps[0]}"


def check_declared(
    traversals: list[Traversal],
    known: Mapping[str, object],
    types: Mapping[str, object],
    diagnostics: Diagnostics,
) -> bool:
    """Complains about references to what is not declared; True if all is well."""
    good = True
    for traversal in traversals:
        node = node_of(traversal, types)
        if node is None or node in known:
            continue
        good = False
        kind, missing = kind_and_name(node)
        hint = did_you_mean(missing, [name for other, name in map(kind_and_name, known) if other == kind])
        declare = _declaration(kind, missing)
        diagnostics.error(
            codes.NOT_DECLARED,
            f"Nothing in this module declares {node}. Write {declare}.{hint}",
            subject=traversal.span,
        )
    return good


def _declaration(root: str, name: str) -> str:
    if root == "var":
        return f'variable "{name}" {{}}'
    if root == "local":
        return f"locals {{ {name} = ... }}"
    if root == "module":
        return f'module "{name}" {{ source = ... }}'
    if root.startswith("data."):
        return f'data "{root.removeprefix("data.")}" "{name}" {{ ... }}'
    return f'{root} "{name}" {{ ... }}'
