"""The symbols that an expression can see: root symbols, looked up when asked for, and functions by name."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from flareiac.kernel.lazy_dataclass import dataclass
from flareiac.lang.functions.signature import Builtin
from flareiac.lang.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """``lookup`` answers a root symbol (None: there is none of that name); ``roots`` names those that exist,
    for suggestions.
    """

    lookup: Callable[[str], Value | None] = field(default=lambda _name: None)
    functions: Mapping[str, Builtin] = field(default_factory=dict)
    roots: Callable[[], Iterable[str]] = field(default=lambda: ())

    def child(self, variables: Mapping[str, Value]) -> "Scope":
        """This scope with some symbols in front of it (``each``, ``count``, the names of a ``for``)."""

        def lookup(name: str) -> Value | None:
            value = variables.get(name)
            return value if value is not None else self.lookup(name)

        return Scope(lookup=lookup, functions=self.functions, roots=lambda: [*variables, *self.roots()])
