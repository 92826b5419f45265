"""Makes values of a type from nothing but the type: of a union one for each member, of a record as many as
its fields need. Pure.
"""

import types
from collections.abc import Mapping
from enum import Enum
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from flareiac.kernel.records import stored_fields
from flareiac.sdk.table_tasks import Work
from flareiac_spark_runtime.sources.files.resolved import ResolvedFiles
from flareiac_spark_runtime.sources.resolved import ResolvedSource

_DEEPEST: Final = 4
"""Records that hold records of their own kind end here."""
_LEAVES: Final[Mapping[Any, list[Any]]] = {
    str: ["", "text"],
    int: [0, 7],
    float: [0.5, 7],
    bool: [True, False],
    types.NoneType: [None],
    Any: [None, {"a": [1, "b"]}],
}


def samples(kind: Any, depth: int = 0) -> list[Any]:
    """At least one value."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return samples(parts[0], depth)
    if origin in (Union, types.UnionType):
        members = parts if depth < _DEEPEST else parts[-1:]
        return [value for part in members for value in samples(part, depth)]
    if origin is NotRequired:
        return samples(parts[0], depth)
    if origin is Literal:
        return list(parts)
    if origin is tuple:
        return [(), tuple(samples(parts[0], depth + 1))] if depth < _DEEPEST else [()]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return [{}, {"table.a": samples(parts[1], depth + 1)[-1]}] if depth < _DEEPEST else [{}]
    if kind in _LEAVES:
        return _LEAVES[kind]
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True)
        some = {name: samples(hint, depth + 1) for name, hint in hints.items()}
        return [{name: values[end] for name, values in some.items()} for end in (0, -1)]
    if issubclass(kind, Enum):
        return list(kind)
    if kind is Work:
        return [Work(data={"kind": "compaction"})]
    return _records(ResolvedFiles if kind is ResolvedSource else kind, depth)


def _records(kind: Any, depth: int) -> list[Any]:
    values = {field.name: samples(field.kind, depth + 1) for field in stored_fields(kind).values()}
    count = max(map(len, values.values()), default=1)
    return [
        kind(**{name: some[number % len(some)] for name, some in values.items()}) for number in range(count)
    ]
